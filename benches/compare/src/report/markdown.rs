//! Tables as Markdown, aligned so that they can be read in a terminal as well.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{claims, show, standing};
use crate::results::{Row, Run, Table};
use crate::rings;

/// The mechanism that the others are given as multiples of: the first that the table has.
const REFERENCES: [&str; 2] = ["rt-notify Waiter", "rt-notify ring"];

/// The whole report. `plots`: title and file name, by table.
pub(crate) fn report(run: &Run, plots: &[(String, String, String)]) -> String {
    let mut text = String::from("# rt-notify beside the other ways to wake a thread\n\n");
    if run.quick {
        text += "**A quick run: too short to conclude anything from.**\n\n";
    }
    text += "Medians over rounds, and in brackets the interval that holds the true median with 95 % confidence. In \
             every round all mechanisms take their turn, in an order drawn anew. Every notification is accounted for: \
             a wake-up that is lost, doubled or without its data is an error, not a number. Less is better.\n\n\
             Like all benchmarks, these say something about one machine on one day.\n\n";
    text += &environment(run);
    text += "\n## What the project promises\n\n";
    text += &claims::check(run).iter().fold(String::new(), |text, claim| text + &format!("- {claim}\n"));
    text +=
        &rings::claims::check(run).iter().fold(String::new(), |text, claim| text + &format!("- {claim}\n"));
    text += "\n## Where a peer is better\n\n";
    text += &standing::report(run);
    for table in &run.tables {
        let _ = write!(text, "\n## {}\n\n", table.title);
        for (_, title, file) in plots.iter().filter(|(id, ..)| *id == table.id) {
            let _ = write!(text, "![{title}]({file})\n\n");
        }
        text += &self::table(table);
    }
    text
}

pub(crate) fn environment(run: &Run) -> String {
    let rows: Vec<Vec<String>> =
        run.environment.lines().into_iter().map(|(name, value)| vec![name.into(), value]).collect();
    grid(&["machine".into(), String::new()], &rows, &[])
}

pub(crate) fn table(table: &Table) -> String {
    let mut head = vec![String::new(), "class".into()];
    head.extend(table.columns.iter().cloned());
    let measured = |name| Some((name, table.main_value(name).filter(|value| value.median > 0.0)?));
    let reference = REFERENCES.into_iter().find_map(measured);
    if let Some((name, _)) = reference {
        head.push(format!("× {name}"));
    }
    let mut rows = Vec::new();
    for (row, value) in table.ranking() {
        let name = if row.ours { format!("**{}**", row.name) } else { row.name.clone() };
        let mut cells = vec![name, row.class.clone()];
        cells.extend(table.columns.iter().map(|column| cell(row, column)));
        if let Some((_, reference)) = reference {
            cells.push(format!("{:.2}", value.median / reference.median));
        }
        rows.push(cells);
    }
    let right: Vec<usize> = (2..head.len()).collect();
    let mut text = format!("{}\n\n", table.note);
    text += &grid(&head, &rows, &right);
    let discarded: usize = table.rows.iter().map(|row| row.discarded).sum();
    let _ = writeln!(
        text,
        "\n{} rounds; {discarded} samples of {} not used because of steal. Meanwhile the hypervisor took {:.1} % of \
         the CPU time, and other programs {:.1} %.",
        table.rounds,
        discarded + table.rows.iter().filter_map(used).sum::<usize>(),
        table.steal * 100.0,
        table.others * 100.0,
    );
    let mut missing: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for row in &table.rows {
        if let Some(reason) = &row.missing {
            missing.entry(reason).or_default().push(&row.name);
        }
    }
    for (reason, names) in missing {
        let _ = writeln!(text, "\nNot measured: {} ({reason}).", names.join("; "));
    }
    text
}

fn used(row: &Row) -> Option<usize> {
    row.values.values().map(|value| value.n).max()
}

fn cell(row: &Row, column: &str) -> String {
    row.value(column).map_or_else(
        || "–".into(),
        |value| format!("{} ({}…{})", show(value.median), show(value.low), show(value.high)),
    )
}

/// A Markdown table whose columns line up. `right`: those aligned to the right.
pub(crate) fn grid(head: &[String], rows: &[Vec<String>], right: &[usize]) -> String {
    let width = |i: usize| {
        let cells = rows.iter().map(|row| &row[i]).chain([&head[i]]);
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0).max(3)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let line = |cells: &[String]| {
        let cells = cells.iter().enumerate().map(|(i, cell)| {
            let width = widths[i];
            if right.contains(&i) { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
        });
        format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
    };
    let rule = |i: usize, width: usize| {
        if right.contains(&i) { format!("{}:", "-".repeat(width - 1)) } else { "-".repeat(width) }
    };
    let rules: Vec<String> = widths.iter().enumerate().map(|(i, &width)| rule(i, width)).collect();
    let mut text = line(head) + &line(&rules);
    text.extend(rows.iter().map(|row| line(row)));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let cell = |text: &str| text.to_owned();
        let text = grid(&[cell("a"), cell("µs")], &[vec![cell("long"), cell("1")]], &[1]);
        assert_eq!(text, "| a    |  µs |\n| ---- | --: |\n| long |   1 |\n");
    }
}
