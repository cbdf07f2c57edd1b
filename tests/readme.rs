//! What the README shows is what is there.

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
