//! Which plots belong to a run.

use std::error::Error;
use std::path::Path;

use super::bars::{self, Bar, Kind};
use super::curves::{self, Curve};
use super::lines::{self, Line};
use crate::results::{Run, Table};

type Drawn = Result<(), Box<dyn Error>>;

/// Who is in plots that have no room for all.
const MAIN: [&str; 10] = [
    "rt-notify Waiter",
    "rt-notify Waiter, Periodic",
    "rt-notify PollWaiter, eventfd",
    "POSIX sem_t",
    "pthread mutex + cond",
    "pipe + poll",
    "eventfd + poll",
    "std park + flag",
    "C++20 counting_semaphore",
    "std channel",
];

/// Draws all plots. Returns, for each, the table that it belongs to, its title and its file's name.
pub(crate) fn draw(run: &Run, directory: &Path) -> Result<Vec<(String, String, String)>, String> {
    let mut drawn = Vec::new();
    let mut add = |id: &str, title: &str, draw: &dyn Fn(&Path) -> Drawn| {
        let file = format!("{}.svg", id.replace('/', "-"));
        draw(&directory.join(&file)).map_err(|error| format!("{file}: {error}"))?;
        drawn.push((id.to_owned(), title.to_owned(), file));
        Ok::<(), String>(())
    };
    for table in &run.tables {
        let kind = table.id.split('/').next().unwrap_or_default();
        match kind {
            "ping-pong" | "uncontended" | "notify" | "locks" | "rings" | "rings-paced"
                if !table.ranking().is_empty() =>
            {
                add(&table.id, &table.title, &|path| draw_bars(path, table))?;
            }
            "period" => {
                let curves = period_curves(table);
                if !curves.is_empty() {
                    let axis = "µs until the waiter runs";
                    add(&table.id, &table.title, &|path| curves::draw(path, &table.title, axis, &curves))?;
                }
            }
            _ => {}
        }
    }
    for (family, title, across) in [
        ("notifiers", "Several notifiers, one waiter", "notifiers"),
        ("pairs", "Time to make a pair", "pairs"),
        ("waiters", "One semaphore, several waiters", "waiters"),
    ] {
        let tables: Vec<(f64, &Table)> =
            run.tables.iter().filter_map(|table| number(table, family)).collect();
        if let [(_, first), ..] = tables[..] {
            let column = first.columns.first().map_or("", String::as_str);
            let lines = scaling_lines(&tables);
            add(&first.id, title, &|path| lines::draw(path, title, [across, column], &lines))?;
        }
    }
    Ok(drawn)
}

fn draw_bars(path: &Path, table: &Table) -> Drawn {
    let ranking = table.ranking();
    let bar = |&(row, value): &(&crate::results::Row, _)| Bar {
        label: row.name.clone(),
        value,
        kind: Kind::of(&row.class, row.ours),
    };
    let bars: Vec<Bar> = ranking.iter().filter(|(row, _)| row.class != "floor").map(bar).collect();
    let floor = ranking.iter().find(|(row, _)| row.class == "floor");
    let floor = floor.map(|(row, value)| (row.name.as_str(), value.median));
    bars::draw(path, &table.title, table.columns.first().map_or("", String::as_str), &bars, floor)
}

fn period_curves(table: &Table) -> Vec<Curve> {
    let curve = |name: &str| {
        let row = table.row(name)?;
        let points = row.curves.get("wake")?;
        let points: Vec<(f64, f64)> = points
            .iter()
            .filter(|(share, _)| *share < 1.0)
            .map(|&(share, ns)| (share, ns / 1000.0))
            .collect();
        (!points.is_empty()).then(|| Curve { label: row.name.clone(), points, strong: row.ours })
    };
    MAIN.into_iter().filter_map(curve).collect()
}

/// The number of a table of the family.
fn number<'a>(table: &'a Table, family: &str) -> Option<(f64, &'a Table)> {
    let (name, number) = table.id.split_once('/')?;
    (name == family).then_some((number.parse().ok()?, table))
}

fn scaling_lines(tables: &[(f64, &Table)]) -> Vec<Line> {
    let all = || tables.iter().flat_map(|(_, table)| &table.rows);
    let few = all().map(|row| &row.name).collect::<std::collections::BTreeSet<_>>().len() <= MAIN.len();
    let mut names: Vec<&str> = Vec::new();
    for row in all() {
        if (few || MAIN.contains(&row.name.as_str())) && !names.contains(&row.name.as_str()) {
            names.push(&row.name);
        }
    }
    let line = |name: &str| {
        let points = tables.iter().filter_map(|(n, table)| Some((*n, table.main_value(name)?.median)));
        let strong = all().any(|row| row.name == name && row.ours);
        Line { label: name.to_owned(), points: points.collect(), strong }
    };
    names.into_iter().map(line).filter(|line| !line.points.is_empty()).collect()
}
