//! The recorded results of all rows, and the tables that show them in `docs/storm.md`.

use std::{
    collections::BTreeMap,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result as Outcome};
use serde::{Deserialize, Serialize};

use crate::{rows::root, storms::STORMS, verdict::Verdict};

/// The verdict on a storm, or the reason why there is none.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(untagged)]
pub enum Found {
    /// The verdict.
    Verdict(Box<Verdict>),
    /// The reason.
    Failed(String),
}

impl From<Result<Verdict, String>> for Found {
    fn from(verdict: Result<Verdict, String>) -> Self {
        verdict.map_or_else(Self::Failed, |verdict| Self::Verdict(Box::new(verdict)))
    }
}

/// The verdicts on a set-up of a library.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct RowResult {
    /// The library's version.
    pub version: String,
    /// When the storms ran.
    pub date: String,
    /// The verdicts by storm.
    pub verdicts: BTreeMap<String, Found>,
}

/// All results, by row and set-up.
#[derive(Debug, Default, Deserialize, Serialize)]
pub struct Results(BTreeMap<String, BTreeMap<String, RowResult>>);

const PAGE: &str = "docs/storm.md";
const MARKS: [&str; 2] = ["<!-- Results: begin -->\n", "<!-- Results: end -->\n"];

fn file() -> PathBuf {
    root().join("tests/storm/results.json")
}

impl Results {
    /// Reads the recorded results.
    pub fn read() -> Outcome<Self> {
        let text = fs::read_to_string(file()).unwrap_or_else(|_| "{}".to_owned());
        serde_json::from_str(&text).with_context(|| format!("in {}", file().display()))
    }

    /// Records the results, and writes them into the page.
    pub fn write(&self) -> Outcome<()> {
        let page = root().join(PAGE);
        replace(&file(), &(serde_json::to_string_pretty(self)? + "\n"))?;
        replace(&page, &self.in_page(&fs::read_to_string(&page)?)?)
    }

    /// Returns the page with the tables of these results.
    pub fn in_page(&self, page: &str) -> Outcome<String> {
        let marks = || format!("expected the marks of the results in {PAGE}");
        let (before, rest) = page.split_once(MARKS[0]).with_context(marks)?;
        let (_, after) = rest.split_once(MARKS[1]).with_context(marks)?;
        Ok([before, MARKS[0], &self.tables(), MARKS[1], after].concat())
    }

    /// Sets the results of a row.
    pub fn set(&mut self, row: &str, results: BTreeMap<String, RowResult>) {
        self.0.insert(row.to_owned(), results);
    }

    fn tables(&self) -> String {
        let mut text = "| row |".to_owned();
        STORMS.iter().for_each(|storm| write!(text, " {} |", storm.name).unwrap());
        writeln!(text, "\n|---|{}", "---|".repeat(STORMS.len())).unwrap();
        for (name, result) in self.lines() {
            write!(text, "| {name} |").unwrap();
            for storm in &STORMS {
                write!(text, " {} |", duplicates(result.verdicts.get(storm.name))).unwrap();
            }
            text.push('\n');
        }
        text += "\nThe other rules, and the storms in which they were broken:\n\n";
        text += "| row | version | date | sorted per thread | sorted per generator | not ahead |\n";
        text += "|---|---|---|---|---|---|\n";
        for (name, RowResult { version, date, verdicts }) in self.lines() {
            write!(text, "| {name} | {version} | {date} |").unwrap();
            (1..4).for_each(|rule| write!(text, " {} |", broken(verdicts, rule)).unwrap());
            text.push('\n');
        }
        text
    }

    /// The results with the names of their lines.
    fn lines(&self) -> impl Iterator<Item = (String, &RowResult)> {
        self.0.iter().flat_map(|(row, set_ups)| {
            set_ups.iter().map(move |(set_up, result)| (format!("`{row}` {set_up}"), result))
        })
    }
}

/// Writes a file at once, because other rows may run at the same time.
fn replace(file: &Path, text: &str) -> Outcome<()> {
    let beside = file.with_extension("new");
    fs::write(&beside, text)?;
    Ok(fs::rename(beside, file)?)
}

/// The number of duplicates, and a mark if calls failed.
fn duplicates(found: Option<&Found>) -> String {
    match found {
        None => "–".to_owned(),
        Some(Found::Failed(_)) => "none".to_owned(),
        Some(Found::Verdict(verdict)) => {
            let mark = if verdict.errors.is_empty() { "" } else { "*" };
            format!("{}{mark}", verdict.distinct.count)
        }
    }
}

/// The storms in which a rule was broken.
fn broken(verdicts: &BTreeMap<String, Found>, rule: usize) -> String {
    let rules = verdicts.iter().filter_map(|(storm, found)| match found {
        Found::Verdict(verdict) => Some((storm.as_str(), verdict.rules()[rule].1?.count)),
        Found::Failed(_) => None,
    });
    let rules: Vec<_> = rules.collect();
    if rules.is_empty() {
        return "not checked".to_owned();
    }
    let storms: Vec<_> = rules.iter().filter(|(_, count)| *count > 0).map(|(it, _)| *it).collect();
    if storms.is_empty() { "kept".to_owned() } else { storms.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_shows_the_recorded_results() {
        let page = fs::read_to_string(root().join(PAGE)).unwrap();
        let renewed = Results::read().unwrap().in_page(&page).unwrap();
        assert!(page == renewed, "run: cargo xtask storm page");
    }
}
