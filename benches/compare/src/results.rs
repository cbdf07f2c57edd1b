//! What a run has found, as it is written to and read from JSON.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::common::stats;
use crate::machine::Environment;

/// Changes when older files can no longer be read.
const SCHEMA: u32 = 1;

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Run {
    pub(crate) schema: u32,
    pub(crate) quick: bool,
    pub(crate) environment: Environment,
    pub(crate) tables: Vec<Table>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Table {
    /// `experiment/variant`.
    pub(crate) id: String,
    pub(crate) title: String,
    /// What to know when reading it.
    pub(crate) note: String,
    /// The names of the values, the most important first. Less is better, in all of them.
    pub(crate) columns: Vec<String>,
    pub(crate) rounds: usize,
    /// The share of all CPU time that the hypervisor took.
    pub(crate) steal: f64,
    /// The share of all CPU time that other programs used.
    pub(crate) others: f64,
    pub(crate) rows: Vec<Row>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) class: String,
    pub(crate) ours: bool,
    /// By column.
    pub(crate) values: BTreeMap<String, Value>,
    /// By name: shares of the sample and nanoseconds.
    pub(crate) curves: BTreeMap<String, Vec<(f64, f64)>>,
    /// Rounds that were not used, because of steal.
    pub(crate) discarded: usize,
    /// Why there is nothing.
    pub(crate) missing: Option<String>,
}

/// A median and its 95 % interval.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Value {
    pub(crate) median: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) n: usize,
}

impl From<stats::Estimate> for Value {
    fn from(from: stats::Estimate) -> Self {
        Value { median: from.median, low: from.low, high: from.high, n: from.n }
    }
}

impl Value {
    /// Whether it is below `other`, beyond what chance explains. From fewer than six rounds nobody can tell.
    pub(crate) fn is_surely_below(self, other: Value) -> bool {
        self.n >= 6 && other.n >= 6 && self.high < other.low
    }
}

impl Row {
    pub(crate) fn value(&self, column: &str) -> Option<Value> {
        self.values.get(column).copied()
    }
}

impl Table {
    /// The value of the most important column.
    pub(crate) fn main_value(&self, row: &str) -> Option<Value> {
        self.row(row)?.value(self.columns.first()?)
    }

    pub(crate) fn row(&self, name: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.name == name)
    }

    /// The rows that have the most important value, the best first.
    pub(crate) fn ranking(&self) -> Vec<(&Row, Value)> {
        let column = self.columns.first().map_or("", String::as_str);
        let mut rows: Vec<_> = self.rows.iter().filter_map(|row| Some((row, row.value(column)?))).collect();
        rows.sort_by(|a, b| a.1.median.total_cmp(&b.1.median));
        rows
    }
}

/// Whether the file can be written. What it holds stays.
pub(crate) fn check_writable(path: &Path) -> Result<(), String> {
    let file = fs::OpenOptions::new().append(true).create(true).open(path);
    file.map(drop).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

impl Run {
    pub(crate) fn new(quick: bool, environment: Environment, tables: Vec<Table>) -> Self {
        Run { schema: SCHEMA, quick, environment, tables }
    }

    pub(crate) fn table(&self, id: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.id == id)
    }

    pub(crate) fn read(path: &str) -> Result<Self, String> {
        let text = fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
        let run: Run =
            serde_json::from_str(&text).map_err(|error| format!("{path}: not a result: {error}"))?;
        if run.schema != SCHEMA {
            return Err(format!("{path}: schema {}, and this program reads {SCHEMA}", run.schema));
        }
        Ok(run)
    }

    pub(crate) fn write(&self, path: &str) -> Result<(), String> {
        let text = serde_json::to_string(self).map_err(|error| format!("{path}: {error}"))?;
        fs::write(path, text + "\n").map_err(|error| format!("{path}: {error}"))
    }
}
