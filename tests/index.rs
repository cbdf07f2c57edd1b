//! The index of known faults in `README.md` stays complete, and names tests that exist.

use std::collections::BTreeSet;

#[path = "support/named.rs"]
mod named;

use named::exists;

const CASES: u32 = 57;

#[test]
fn the_index_is_complete_and_names_tests_that_exist() {
    let index = include_str!("README.md");
    let mut seen = BTreeSet::new();
    for row in index.lines().filter(|line| line.starts_with("| A")) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [case, fault, kept_out_by] = cells[..] else { panic!("not three cells: {row}") };
        assert!(seen.insert(case), "{case} is there twice");
        assert!(!fault.is_empty() && !kept_out_by.is_empty(), "{case} says nothing");
    }
    let all: BTreeSet<String> = (1..=CASES).map(|n| format!("A{n:02}")).collect();
    assert!(seen.iter().copied().eq(all.iter().map(String::as_str)), "{seen:?}");

    let mut names = 0;
    // Every second piece is in backticks.
    for quoted in index.split('`').skip(1).step_by(2) {
        if let Some((file, test)) = quoted.split_once("::") {
            exists(file, test);
            names += 1;
        }
    }
    assert!(names > 50, "only {names} names were found");
}
