//! The report: a Markdown file with all tables, and plots beside it.

pub(crate) mod bars;
pub(crate) mod claims;
#[path = "../../../../examples/support/curves.rs"]
pub(crate) mod curves;
pub(crate) mod lines;
pub(crate) mod markdown;
pub(crate) mod plots;
pub(crate) mod standing;

use std::fs;
use std::path::Path;

use crate::results::{self, Run};

/// Whether a report can be written there.
pub(crate) fn check_writable(directory: &str) -> Result<(), String> {
    fs::create_dir_all(directory).map_err(|error| format!("{directory}: {error}"))?;
    results::check_writable(&Path::new(directory).join("results.json"))
}

/// Writes `README.md`, `results.json` and the plots into `directory`.
pub(crate) fn write(run: &Run, directory: &str) -> Result<(), String> {
    let path = |name: &str| Path::new(directory).join(name);
    run.write(&path("results.json").to_string_lossy())?;
    let plots = plots::draw(run, Path::new(directory))?;
    let text = markdown::report(run, &plots);
    let readme = path("README.md");
    fs::write(&readme, text).map_err(|error| format!("{}: {error}", readme.display()))
}

/// Three significant digits, for people.
pub(crate) fn show(value: f64) -> String {
    match value.abs() {
        0.0 => "0".into(),
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        v if v >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}
