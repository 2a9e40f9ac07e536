//! The recorded results of all rows, and the tables that show them in `docs/project/storm.md`.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result as Outcome};
use serde::{Deserialize, Serialize};

use crate::{
    rows::{self, Row, root},
    storms::{STORMS, Storm},
    verdict::Verdict,
};

/// What the storms found in one setup of a library. A list names the storms in which a rule was broken in any run.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RowResult {
    /// The library's version.
    pub version: String,
    /// The date on which the storms were run.
    pub date: String,
    /// How often each storm was run.
    pub runs: u32,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    duplicates: Storms,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    unsorted_in_threads: Storms,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    unsorted_in_generator: Storms,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    ahead_of_clock: Storms,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    failed_calls: Storms,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    no_verdict: Storms,
}

type Storms = BTreeSet<String>;

impl RowResult {
    /// Returns the result of a setup before any storm has run.
    #[must_use]
    pub fn new(version: String, date: String, runs: u32) -> Self {
        Self { version, date, runs, ..Self::default() }
    }

    /// Adds the verdict on one run of a storm, or `None` if the run has no verdict.
    pub fn add(&mut self, storm: &str, verdict: Option<&Verdict>) {
        let Some(verdict) = verdict else {
            self.no_verdict.insert(storm.to_owned());
            return;
        };
        let is_broken = verdict.rules().map(|(_, rule)| rule.is_some_and(|rule| rule.count > 0));
        let lists = [
            &mut self.duplicates,
            &mut self.unsorted_in_threads,
            &mut self.unsorted_in_generator,
            &mut self.ahead_of_clock,
            &mut self.failed_calls,
        ];
        let is_broken = is_broken.into_iter().chain([!verdict.errors.is_empty()]);
        for (list, _) in lists.into_iter().zip(is_broken).filter(|(_, is_broken)| *is_broken) {
            list.insert(storm.to_owned());
        }
    }
}

impl RowResult {
    /// Returns the cell of the comparison for several storms.
    fn summarize(&self, storms: &[&str], row: Option<&Row>) -> &'static str {
        let is_run = |storm: &&Storm| row.is_some_and(|row| row.supports_storm(storm));
        let run: Vec<_> =
            STORMS.iter().filter(|it| storms.contains(&it.name)).filter(is_run).collect();
        let contains = |list: &Storms| run.iter().any(|storm| list.contains(storm.name));
        match run.is_empty() {
            true => "–",
            _ if contains(&self.duplicates) => "repeats",
            _ if contains(&self.no_verdict) => "stops",
            _ if contains(&self.failed_calls) => "unique; calls fail",
            _ => "unique",
        }
    }
}

/// All results, keyed by row and setup.
#[derive(Debug, Default, Deserialize, Serialize)]
pub struct Results(BTreeMap<String, BTreeMap<String, RowResult>>);

const PAGE: &str = "docs/project/storm.md";
const COMPARISON: &str = "docs/comparison.md";

/// The generators that the comparison shows, in two groups: without a configuration, and with a worker ID that differs
/// between processes.
const COMPARED: [&[(&str, &str)]; 2] = [
    &[
        ("polyflake-rust", "sno"),
        ("polyflake-rust", "uuid7"),
        ("polyflake-rust", "hotguid"),
        ("polyflake-node", "sno"),
        ("fast-uuid-v7", "default"),
        ("nanoid", "default"),
        ("pymongo", "default"),
        ("python-ulid", "default"),
        ("ulid-js", "default"),
        ("ulid-rust", "default"),
        ("uuid-js", "default"),
        ("uuid-rust", "default"),
        ("uuid-utils", "default"),
        ("xid", "default"),
    ],
    &[
        ("polyflake-rust", "sno-worker"),
        ("polyflake-rust", "layout-worker"),
        ("nodejs-snowflake", "workers"),
        ("rs-snowflake", "workers"),
        ("snowflake-id", "workers"),
        ("sonyflake-py", "workers"),
        ("sonyflake-rust", "workers"),
    ],
];

/// The columns of the comparison: a name, and the storms in which no ID may repeat.
const COLUMNS: [(&str, &[&str]); 7] = [
    ("threads", &["threads"]),
    ("processes", &["processes", "prefork", "pause"]),
    ("forks", &["fork", "raw-fork"]),
    ("restarts", &["kill", "restart"]),
    ("clock set back", &["rollback", "steps"]),
    ("copied process", &["image"]),
    ("two equal hosts", &["hosts"]),
];
const INTRODUCTION: &str = "# Written by `cargo xtask storm rows`. For each set-up, the storms in which a rule was broken in any of the runs.\n";
const TABLE_MARKERS: [&str; 2] = ["<!-- Results: begin -->\n", "<!-- Results: end -->\n"];

fn file() -> PathBuf {
    root().join("tests/storm/results.toml")
}

impl Results {
    /// Reads the recorded results.
    pub fn read() -> Outcome<Self> {
        let text = fs::read_to_string(file())?;
        toml::from_str(&text).with_context(|| format!("in {}", file().display()))
    }

    /// Stores the results and updates the tables in `docs/project/storm.md`.
    pub fn write(&self) -> Outcome<()> {
        replace_file(&file(), &format!("{INTRODUCTION}\n{}", toml::to_string(self)?))?;
        self.pages()?.into_iter().try_for_each(|(page, text)| replace_file(&page, &text))
    }

    /// Returns the pages with their tables regenerated from these results.
    fn pages(&self) -> Outcome<[(PathBuf, String); 2]> {
        let update = |page: &str, tables: &str| -> Outcome<(PathBuf, String)> {
            let path = root().join(page);
            let text = fs::read_to_string(&path)?;
            let marks = || format!("expected the marks of the results in {page}");
            let (before, rest) = text.split_once(TABLE_MARKERS[0]).with_context(marks)?;
            let (_, after) = rest.split_once(TABLE_MARKERS[1]).with_context(marks)?;
            Ok((path, [before, TABLE_MARKERS[0], tables, TABLE_MARKERS[1], after].concat()))
        };
        Ok([update(PAGE, &self.tables())?, update(COMPARISON, &self.comparison())?])
    }

    /// Returns the tables that compare the best-known generators.
    fn comparison(&self) -> String {
        let heads = ["no configuration", "a worker ID for each process"];
        let mut text = String::new();
        for (head, lines) in heads.iter().zip(COMPARED) {
            write!(text, "| {head} | version |").unwrap();
            COLUMNS.iter().for_each(|(name, _)| write!(text, " {name} |").unwrap());
            writeln!(text, "\n|---|---|{}", "---|".repeat(COLUMNS.len())).unwrap();
            for (row, set_up) in lines {
                let Some(result) = self.0.get(*row).and_then(|set_ups| set_ups.get(*set_up)) else {
                    continue;
                };
                let is_named = *set_up == "default" || *set_up == "workers";
                let name = if is_named { String::new() } else { format!(" {set_up}") };
                write!(text, "| `{row}`{name} | {} |", result.version).unwrap();
                let read = rows::read(row).ok();
                for (_, storms) in COLUMNS {
                    write!(text, " {} |", result.summarize(storms, read.as_ref())).unwrap();
                }
                text.push('\n');
            }
            text.push('\n');
        }
        text
    }

    /// Sets the results of a row.
    pub fn set(&mut self, row: &str, results: BTreeMap<String, RowResult>) {
        self.0.insert(row.to_owned(), results);
    }

    fn tables(&self) -> String {
        [&self.duplicates(), "\n", &self.documented_rules(), "\n", &self.other_rules()]
            .map(String::from)
            .concat()
    }

    /// Returns the table of duplicates.
    fn duplicates(&self) -> String {
        let mut text = "| row |".to_owned();
        STORMS.iter().for_each(|storm| write!(text, " {} |", storm.name).unwrap());
        writeln!(text, "\n|---|{}", "---|".repeat(STORMS.len())).unwrap();
        for Line { row, set_up, result } in self.result_lines() {
            write!(text, "| `{row}` {set_up} |").unwrap();
            let row = rows::read(row).ok();
            for storm in &STORMS {
                let is_run = row.as_ref().is_some_and(|row| row.supports_storm(storm));
                let is_documented =
                    row.as_ref().is_some_and(|row| row.is_documented(set_up, storm.name));
                let cell = if is_run {
                    duplicates(result, storm.name, is_documented)
                } else {
                    "–".to_owned()
                };
                write!(text, " {cell} |").unwrap();
            }
            text.push('\n');
        }
        text
    }

    /// Returns the section about the rules that the libraries document.
    fn documented_rules(&self) -> String {
        let mut text = String::new();
        for Line { row, set_up, .. } in self.result_lines() {
            let read = rows::read(row).ok();
            for (note, storms) in read.iter().flat_map(|row| row.documented_statements(set_up)) {
                writeln!(text, "- `{row}` {set_up}†, {}: {note}", storms.join(", ")).unwrap();
            }
        }
        text
    }

    /// Returns the table of storms in which the other rules were broken.
    fn other_rules(&self) -> String {
        let mut text = "The other rules, and the storms in which they were broken:\n\n".to_owned();
        text += "| row | version | date | runs | sorted per thread | sorted per generator | not ahead |\n";
        text += "|---|---|---|---|---|---|---|\n";
        for Line { row, set_up, result } in self.result_lines() {
            let RowResult { version, date, runs, .. } = result;
            let format = rows::read(row).and_then(|row| row.format_of(set_up)).unwrap_or_default();
            let rules = [
                (format.order.is_some(), &result.unsorted_in_threads),
                (format.order.is_some(), &result.unsorted_in_generator),
                (format.time.is_some(), &result.ahead_of_clock),
            ];
            write!(text, "| `{row}` {set_up} | {version} | {date} | {runs} |").unwrap();
            for (is_checked, storms) in rules {
                let names = storms.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
                let cell = match (is_checked, names.as_str()) {
                    (false, _) => "–",
                    (true, "") => "kept",
                    (true, names) => names,
                };
                write!(text, " {cell} |").unwrap();
            }
            text.push('\n');
        }
        text
    }

    fn result_lines(&self) -> impl Iterator<Item = Line<'_>> {
        self.0.iter().flat_map(|(row, set_ups)| {
            set_ups.iter().map(move |(set_up, result)| Line { row, set_up, result })
        })
    }
}

/// The results of one setup, which form a line of a table.
struct Line<'r> {
    row: &'r str,
    set_up: &'r str,
    result: &'r RowResult,
}

/// Replaces a file atomically, because another process may read or write the results at the same time.
pub(crate) fn replace_file(file: &Path, text: &str) -> Outcome<()> {
    let beside = file.with_extension("new");
    fs::write(&beside, text)?;
    Ok(fs::rename(beside, file)?)
}

/// Returns whether a storm found duplicates. Appends `*` if calls failed, and `†` if the library documents the limitation
/// that causes the duplicates.
fn duplicates(result: &RowResult, storm: &str, is_documented: bool) -> String {
    if result.no_verdict.contains(storm) {
        return "no verdict".to_owned();
    }
    let failed = if result.failed_calls.contains(storm) { "*" } else { "" };
    match (result.duplicates.contains(storm), is_documented) {
        (false, _) => format!("none{failed}"),
        (true, false) => format!("some{failed}"),
        (true, true) => format!("some{failed}†"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_show_the_recorded_results() {
        for (page, renewed) in Results::read().unwrap().pages().unwrap() {
            assert!(fs::read_to_string(page).unwrap() == renewed, "run: cargo xtask storm page");
        }
    }
}
