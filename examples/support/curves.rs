//! Percentile curves: the share of a sample on an axis that gives the tail room, the times on a logarithmic one.
//!
//! Nothing but `plotters` is needed here, so that other programs can include this file.

use std::error::Error;
use std::path::Path;

use plotters::prelude::*;

/// A line of the plot.
pub(crate) struct Curve {
    pub(crate) label: String,
    /// Shares of the sample below 1, and times in microseconds.
    pub(crate) points: Vec<(f64, f64)>,
    /// Drawn thicker, and on top.
    pub(crate) strong: bool,
}

const SIZE: (u32, u32) = (960, 540);
const LEGEND: u32 = 270;

/// Draws `curves` into an SVG file. Those without points are left out.
pub(crate) fn draw(path: &Path, title: &str, axis: &str, curves: &[Curve]) -> Result<(), Box<dyn Error>> {
    let place = |&(share, time): &(f64, f64)| (one_in(share), time);
    let points: Vec<(f64, f64)> = curves.iter().flat_map(|curve| curve.points.iter().map(place)).collect();
    let most = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max);
    let right = most(&mut points.iter().map(|point| point.0)).max(20.0);
    let top = most(&mut points.iter().map(|point| point.1)).max(1.0) * 1.3;
    let bottom = points.iter().map(|point| point.1).fold(top, f64::min);
    let bottom = decade_below(bottom);

    let root = SVGBackend::new(path, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let (plot, legend) = root.split_horizontally(SIZE.0 - LEGEND);
    let mut chart = ChartBuilder::on(&plot)
        .caption(title, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(44)
        .y_label_area_size(64)
        .build_cartesian_2d((2f64..right).log_scale(), (bottom..top).log_scale())?;
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .x_desc("share of the notifications, from 50 %")
        .y_desc(axis)
        .x_label_formatter(&|n| if has_room(*n, right) { percent(*n) } else { String::new() })
        .y_label_formatter(&|time| sparse(*time))
        .y_labels(24)
        .label_style(("sans-serif", 14))
        .draw()?;
    let mut ordered: Vec<(usize, &Curve)> = curves.iter().enumerate().collect();
    ordered.sort_by_key(|(_, curve)| curve.strong);
    for &(i, curve) in &ordered {
        let style = style(i, curve.strong);
        chart.draw_series(LineSeries::new(curve.points.iter().map(place), style))?;
        chart.draw_series(curve.points.iter().map(|point| Circle::new(place(point), 3, style.filled())))?;
    }
    let labels: Vec<(&str, ShapeStyle)> =
        curves.iter().enumerate().map(|(i, curve)| (curve.label.as_str(), style(i, curve.strong))).collect();
    draw_legend(&legend, &labels)?;
    root.present()?;
    Ok(())
}

/// Where a share is on the axis: one in so many is beyond it.
fn one_in(share: f64) -> f64 {
    1.0 / (1.0 - share).max(1e-9)
}

/// Where the axis is short, its grid is so fine that labels would cover each other.
fn has_room(one_in: f64, right: f64) -> bool {
    let mantissa = one_in / 10f64.powf((one_in * 1.000_001).log10().floor());
    mantissa < 1.01 || mantissa < 2.01 && right < 300.0
}

fn percent(one_in: f64) -> String {
    format!("{} %", plain(100.0 * (1.0 - 1.0 / one_in)))
}

/// The power of ten below: `plotters` draws the ticks of a logarithmic axis from its first power of ten on.
pub(crate) fn decade_below(value: f64) -> f64 {
    10f64.powf(value.max(1e-3).log10().floor())
}

/// Only 1, 2 and 5, of every power of ten: the others would stand too close.
pub(crate) fn sparse(value: f64) -> String {
    let text = plain(value);
    let first = text.trim_start_matches(['0', '.']).chars().next();
    if matches!(first, Some('1' | '2' | '5')) { text } else { String::new() }
}

/// Without zeros that say nothing.
fn plain(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Colours that differ, also for most of those who see fewer.
pub(crate) fn style(i: usize, strong: bool) -> ShapeStyle {
    const COLOURS: [(u8, u8, u8); 10] = [
        (0xd6, 0x27, 0x28),
        (0x1f, 0x77, 0xb4),
        (0x2c, 0xa0, 0x2c),
        (0xff, 0x7f, 0x0e),
        (0x94, 0x67, 0xbd),
        (0x8c, 0x56, 0x4b),
        (0xe3, 0x77, 0xc2),
        (0x7f, 0x7f, 0x7f),
        (0xbc, 0xbd, 0x22),
        (0x17, 0xbe, 0xcf),
    ];
    let (red, green, blue) = COLOURS[i % COLOURS.len()];
    RGBColor(red, green, blue).stroke_width(if strong { 4 } else { 2 })
}

/// A line and a name for each, from the top.
pub(crate) fn draw_legend<B: DrawingBackend>(
    area: &DrawingArea<B, plotters::coord::Shift>,
    labels: &[(&str, ShapeStyle)],
) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
    let mut y = 52;
    for (label, style) in labels {
        area.draw(&PathElement::new(vec![(4, y), (28, y)], *style))?;
        area.draw(&Text::new((*label).to_owned(), (36, y - 7), ("sans-serif", 14)))?;
        y += 24;
    }
    Ok(())
}
