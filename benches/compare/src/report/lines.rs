//! How something grows with a number: both axes logarithmic.

use std::error::Error;
use std::path::Path;

use plotters::prelude::*;

use super::curves::{decade_below, draw_legend, sparse, style};

/// A line of the plot.
pub(crate) struct Line {
    pub(crate) label: String,
    pub(crate) points: Vec<(f64, f64)>,
    /// Drawn thicker, and on top.
    pub(crate) strong: bool,
}

const SIZE: (u32, u32) = (960, 480);
const LEGEND: u32 = 270;

/// Draws `lines` into an SVG file.
pub(crate) fn draw(path: &Path, title: &str, axes: [&str; 2], lines: &[Line]) -> Result<(), Box<dyn Error>> {
    let points: Vec<(f64, f64)> = lines.iter().flat_map(|line| line.points.iter().copied()).collect();
    let right = points.iter().map(|point| point.0).fold(2.0, f64::max);
    let top = points.iter().map(|point| point.1).fold(1e-3, f64::max) * 1.3;
    let bottom = points.iter().map(|point| point.1).fold(top, f64::min);
    let bottom = decade_below(bottom);

    let root = SVGBackend::new(path, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let (plot, legend) = root.split_horizontally(SIZE.0 - LEGEND);
    let mut chart = ChartBuilder::on(&plot)
        .caption(title, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(44)
        .y_label_area_size(72)
        .build_cartesian_2d((1f64..right).log_scale().base(2.0), (bottom..top).log_scale())?;
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .x_desc(axes[0])
        .y_desc(axes[1])
        .x_label_formatter(&|number| format!("{number:.0}"))
        .y_label_formatter(&|value| sparse(*value))
        .y_labels(24)
        .label_style(("sans-serif", 14))
        .draw()?;
    let mut ordered: Vec<(usize, &Line)> = lines.iter().enumerate().collect();
    ordered.sort_by_key(|(_, line)| line.strong);
    for &(i, line) in &ordered {
        let style = style(i, line.strong);
        chart.draw_series(LineSeries::new(line.points.iter().copied(), style))?;
        chart.draw_series(line.points.iter().map(|&point| Circle::new(point, 3, style.filled())))?;
    }
    let labels: Vec<(&str, ShapeStyle)> =
        lines.iter().enumerate().map(|(i, line)| (line.label.as_str(), style(i, line.strong))).collect();
    draw_legend(&legend, &labels)?;
    root.present()?;
    Ok(())
}
