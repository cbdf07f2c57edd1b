//! Bars with intervals on a logarithmic axis, and a line for the floor.

use std::error::Error;
use std::path::Path;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::curves::{decade_below, sparse};
use super::show;
use crate::results::Value;

pub(crate) struct Bar {
    pub(crate) label: String,
    pub(crate) value: Value,
    pub(crate) kind: Kind,
}

/// What decides a bar's colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Ours,
    Blocking,
    Spinning,
    Descriptor,
    Other,
}

impl Kind {
    pub(crate) fn of(class: &str, ours: bool) -> Self {
        match class {
            _ if ours => Kind::Ours,
            "blocking" => Kind::Blocking,
            "spinning" => Kind::Spinning,
            "descriptor" => Kind::Descriptor,
            _ => Kind::Other,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Kind::Ours => "rt-notify",
            Kind::Blocking => "blocking",
            Kind::Spinning => "spinning",
            Kind::Descriptor => "descriptor",
            Kind::Other => "other",
        }
    }

    fn colour(self) -> RGBColor {
        match self {
            Kind::Ours => RGBColor(0xd6, 0x27, 0x28),
            Kind::Blocking => RGBColor(0x6b, 0x9b, 0xd1),
            Kind::Spinning => RGBColor(0xc9, 0xa2, 0x27),
            Kind::Descriptor => RGBColor(0x6a, 0xb1, 0x87),
            Kind::Other => RGBColor(0x99, 0x99, 0x99),
        }
    }
}

const WIDTH: u32 = 960;
const ROW: u32 = 21;
const NAMES: u32 = 330;
const HEAD: u32 = 64;
const FOOT: u32 = 56;

/// Draws `bars`, from the top, into an SVG file. `floor`: its name and value.
pub(crate) fn draw(
    path: &Path,
    title: &str,
    axis: &str,
    bars: &[Bar],
    floor: Option<(&str, f64)>,
) -> Result<(), Box<dyn Error>> {
    let rows = u32::try_from(bars.len())?;
    let values = || bars.iter().map(|bar| bar.value.median).chain(floor.map(|floor| floor.1));
    let low = decade_below(values().fold(f64::MAX, f64::min) / 1.2);
    let high = bars.iter().map(|bar| bar.value.high).fold(low, f64::max) * 1.8;

    let root = SVGBackend::new(path, (WIDTH, HEAD + rows * ROW + FOOT)).into_drawing_area();
    root.fill(&WHITE)?;
    let heading = ("sans-serif", 18).into_text_style(&root);
    root.draw_text(title, &heading, (16, 12))?;
    draw_kinds(&root, bars)?;
    let (_, below) = root.split_vertically(HEAD);
    let mut chart = ChartBuilder::on(&below)
        .margin_right(20)
        .x_label_area_size(FOOT)
        .y_label_area_size(NAMES)
        .build_cartesian_2d((low..high).log_scale(), 0f64..f64::from(rows))?;
    chart
        .configure_mesh()
        .disable_y_mesh()
        .disable_y_axis()
        .light_line_style(WHITE)
        .x_desc(axis)
        .x_labels(24)
        .x_label_formatter(&|value| sparse(*value))
        .label_style(("sans-serif", 14))
        .draw()?;

    let text = ("sans-serif", 13).into_text_style(&root);
    let beside = text.pos(Pos::new(HPos::Left, VPos::Center));
    let before = text.pos(Pos::new(HPos::Right, VPos::Center));
    if let Some((name, value)) = floor {
        let line = vec![(value, 0.0), (value, f64::from(rows))];
        chart.draw_series([PathElement::new(line, RGBColor(0x77, 0x77, 0x77).stroke_width(1))])?;
        let (x, y) = chart.backend_coord(&(value, f64::from(rows)));
        let above = text.pos(Pos::new(HPos::Left, VPos::Bottom));
        root.draw_text(&format!("floor: {name}, {}", show(value)), &above, (x, y - 3))?;
    }
    for (row, bar) in (0..rows).zip(bars) {
        let middle = f64::from(rows - row) - 0.5;
        let Value { median, low: least, high: most, .. } = bar.value;
        let corners = [(low, middle - 0.36), (median, middle + 0.36)];
        chart.draw_series([Rectangle::new(corners, bar.kind.colour().filled())])?;
        let whisker = vec![(least.max(low), middle), (most, middle)];
        chart.draw_series([PathElement::new(whisker, BLACK.stroke_width(1))])?;
        let (left, y) = chart.backend_coord(&(low, middle));
        let (right, _) = chart.backend_coord(&(most.max(median), middle));
        root.draw_text(&bar.label, &before, (left - 6, y))?;
        root.draw_text(&show(median), &beside, (right + 5, y))?;
    }
    root.present()?;
    Ok(())
}

/// Which colour is which, for those that there are.
fn draw_kinds<B: DrawingBackend>(
    root: &DrawingArea<B, plotters::coord::Shift>,
    bars: &[Bar],
) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
    let mut x = 16;
    for kind in [Kind::Ours, Kind::Blocking, Kind::Descriptor, Kind::Spinning, Kind::Other] {
        if bars.iter().any(|bar| bar.kind == kind) {
            root.draw(&Rectangle::new([(x, 42), (x + 12, 54)], kind.colour().filled()))?;
            root.draw(&Text::new(kind.name(), (x + 17, 42), ("sans-serif", 13)))?;
            x += 100;
        }
    }
    Ok(())
}
