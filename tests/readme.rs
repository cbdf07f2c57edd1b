//! What the README shows is what is there.

use std::fs;
use std::path::Path;

#[path = "support/named.rs"]
mod named;

use named::exists;

const README: &str = include_str!("../README.md");

#[test]
fn the_first_code_of_the_readme_is_the_jack_worker_example() {
    let (_, rest) = README.split_once("```rust\n").unwrap();
    let (code, _) = rest.split_once("```\n").unwrap();
    assert_eq!(code, include_str!("../examples/jack_worker.rs"));
    assert!(code.lines().count() <= 60);
}

#[test]
fn the_readme_and_the_crates_front_page_guarantee_the_same_functions() {
    let functions = |text: &str, line_start: &str| -> Vec<String> {
        let table = text.lines().map(|line| line.trim_start_matches("//! "));
        let rows = table.skip_while(|line| !line.starts_with(line_start)).skip(2);
        rows.map_while(|row| row.strip_prefix("| ").and_then(|row| row.split_once(" |")))
            .map(|(function, _)| function.replace(['[', ']', '`', ' '], ""))
            .take_while(|function| !function.contains("everythingelse"))
            .collect()
    };
    let promised = functions(include_str!("../src/lib.rs"), "| function");
    let proven = functions(README, "| function");
    assert!(!promised.is_empty());
    for function in &promised {
        assert!(proven.contains(function), "the README does not say how `{function}` is proven");
    }
}

/// The cells of the rows of the table in `text` that starts with the column `first`.
fn table<'a>(text: &'a str, first: &str) -> Vec<Vec<&'a str>> {
    let head = format!("| {first} |");
    let rows = text.lines().skip_while(|line| !line.starts_with(&head)).skip(2);
    let rows = rows.take_while(|line| line.starts_with('|'));
    rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

/// Every second piece is in backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

#[test]
fn each_guarantee_has_its_proof_and_each_proof_its_guarantee() {
    let mut guaranteed: Vec<&str> = table(README, "function").iter().map(|row| row[0]).collect();
    assert_eq!(guaranteed.pop(), Some("everything else"));
    let beside = README.lines().find_map(|line| line.strip_prefix("Besides, for all of these: "));
    let beside = beside.expect("the README has promises beside the table").trim_end_matches('.');
    guaranteed.extend(beside.split("; ").map(|promise| promise.trim_end_matches(" (all but the rings)")));
    let proven: Vec<&str> = table(README, "promise").iter().map(|row| row[0]).collect();
    assert!(guaranteed.len() > 8);
    assert_eq!(proven, guaranteed);
}

#[test]
fn each_proof_names_tests_and_stages_that_exist() {
    let script = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(".ci/run")).unwrap();
    for row in table(README, "promise") {
        let [promise, check, command] = row[..] else { panic!("not three cells: {row:?}") };
        let tests: Vec<(&str, &str)> = quoted(check).filter_map(|name| name.split_once("::")).collect();
        assert!(!tests.is_empty(), "no test is named for {promise}");
        tests.into_iter().for_each(|(file, test)| exists(file, test));
        let commands: Vec<&str> = quoted(command).collect();
        let [command] = commands[..] else { panic!("not one command for {promise}") };
        let stages = command.strip_prefix(".ci/run ").expect("a command is stages of .ci/run");
        for stage in stages.split(' ') {
            assert!(
                script.contains(&format!("\nstage_{stage}() {{\n")),
                "{promise}: there is no stage {stage}"
            );
        }
    }
}

/// The methods of `of` in the source of a file.
fn methods<'a>(source: &'a str, of: &str) -> Vec<&'a str> {
    let (_, rest) = source.split_once(&format!("\nimpl<T> {of}<T> {{\n")).expect("the type is there");
    let (block, _) = rest.split_once("\n}\n").expect("the block ends");
    block.split("\n    pub fn ").skip(1).map(|text| text.split(['(', '<']).next().unwrap()).collect()
}

#[test]
fn each_function_that_is_guaranteed_runs_under_the_realtime_sanitizer() {
    let run = include_str!("../.ci/sanitize/src/realtime.rs");
    let mut calls = Vec::new();
    for row in table(README, "function") {
        for name in quoted(row[0]) {
            let name = name.rsplit("::").next().unwrap();
            match name {
                "Clone" => calls.extend(["notifier.clone()".to_owned(), "stopper.clone()".to_owned()]),
                "Drop" => calls.extend(["drop(notifier)".to_owned(), "drop(stopper)".to_owned()]),
                "RtProducer" | "RtConsumer" => {}
                _ if name.starts_with(char::is_lowercase) => calls.push(format!(".{name}(")),
                // The types of those.
                _ => assert!(["Notifier", "Stopper"].contains(&name), "{name} is not looked for"),
            }
        }
    }
    let producer = methods(include_str!("../src/ring/capture.rs"), "RtProducer");
    let consumer = methods(include_str!("../src/ring/playback.rs"), "RtConsumer");
    assert!(producer.len() > 8 && consumer.len() > 8);
    calls.extend(producer.iter().map(|method| format!("producer.{method}(")));
    calls.extend(consumer.iter().map(|method| format!("consumer.{method}(")));
    assert!(calls.len() > 25);
    for call in calls {
        assert!(run.contains(&call), "the sanitizer does not see {call}");
    }
}
