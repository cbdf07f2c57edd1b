//! Tests that documents name.

use std::fs;
use std::path::Path;

/// Checks that `file` is a path under `tests`, or from the root on, without its ending, and has that test.
#[track_caller]
pub(crate) fn exists(file: &str, test: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let paths = [root.join("tests").join(file), root.join(file)];
    let source = paths.iter().find_map(|path| fs::read_to_string(path.with_extension("rs")).ok());
    let source = source.unwrap_or_else(|| panic!("there is no file for `{file}::{test}`"));
    assert!(source.contains(&format!("fn {test}(")), "{file}.rs has no `{test}`");
}
