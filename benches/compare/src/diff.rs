//! Two results side by side.

use std::fmt::Write;

use crate::report::markdown::grid;
use crate::report::show;
use crate::results::{Run, Table};

/// What changed from one run to the other, table by table, by the first column. Surely changed is what has intervals
/// that do not touch.
pub(crate) fn report(old: &Run, new: &Run) -> String {
    let mut text = String::new();
    for (before, after) in old.environment.lines().iter().zip(new.environment.lines()) {
        if before.1 != after.1 {
            let _ = writeln!(text, "{}: {} → {}", before.0, before.1, after.1);
        }
    }
    let (mut better, mut worse, mut same) = (0, 0, 0);
    for after in &new.tables {
        let Some(before) = old.table(&after.id) else { continue };
        let rows = compare(before, after);
        better += rows.iter().filter(|row| row[4] == "better").count();
        worse += rows.iter().filter(|row| row[4] == "WORSE").count();
        same += rows.iter().filter(|row| row[4] == "=").count();
        if !rows.is_empty() {
            let column = after.columns.first().cloned().unwrap_or_default();
            let head = [column, "old".into(), "new".into(), "new/old".into(), String::new()];
            let _ = write!(text, "\n## {}\n\n{}", after.title, grid(&head, &rows, &[1, 2, 3]));
        }
    }
    let _ = writeln!(
        text,
        "\n{better} surely better, {worse} surely worse, {same} within their intervals, or from too few rounds."
    );
    text
}

fn compare(before: &Table, after: &Table) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for (row, new) in after.ranking() {
        let Some(old) = before.main_value(&row.name) else { continue };
        let verdict = match (new.is_surely_below(old), old.is_surely_below(new)) {
            (true, _) => "better",
            (_, true) => "WORSE",
            _ => "=",
        };
        let ratio = format!("{:.2}", new.median / old.median);
        rows.push(vec![row.name.clone(), show(old.median), show(new.median), ratio, verdict.into()]);
    }
    rows
}
