//! The recorded results of all rows, and the tables that show them in `docs/project/storm.md`.

use std::{
    collections::BTreeMap,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result as Outcome};
use serde::{Deserialize, Serialize};

use crate::{
    report,
    rows::{self, root},
    storms::STORMS,
    verdict::Verdict,
};

/// The verdict on a storm, or the reason why the storm has no verdict.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(untagged)]
pub enum StormResult {
    /// The verdict on the storm.
    Verdict(Box<Verdict>),
    /// The reason why the storm has no verdict.
    Failed(String),
}

impl From<Result<Verdict, String>> for StormResult {
    fn from(verdict: Result<Verdict, String>) -> Self {
        verdict.map_or_else(Self::Failed, |verdict| Self::Verdict(Box::new(verdict)))
    }
}

/// The verdicts on one setup of a library.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct RowResult {
    /// The library's version.
    pub version: String,
    /// The date on which the storms were run.
    pub date: String,
    /// The verdicts, keyed by storm.
    pub verdicts: BTreeMap<String, StormResult>,
}

/// All results, keyed by row and setup.
#[derive(Debug, Default, Deserialize, Serialize)]
pub struct Results(BTreeMap<String, BTreeMap<String, RowResult>>);

const PAGE: &str = "docs/project/storm.md";
const TABLE_MARKERS: [&str; 2] = ["<!-- Results: begin -->\n", "<!-- Results: end -->\n"];

fn file() -> PathBuf {
    root().join("tests/storm/results.json")
}

impl Results {
    /// Reads the recorded results.
    pub fn read() -> Outcome<Self> {
        let text = fs::read_to_string(file()).unwrap_or_else(|_| "{}".to_owned());
        serde_json::from_str(&text).with_context(|| format!("in {}", file().display()))
    }

    /// Stores the results and updates the tables in `docs/project/storm.md`.
    pub fn write(&self) -> Outcome<()> {
        let page = root().join(PAGE);
        report::write(self)?;
        replace_file(&file(), &(serde_json::to_string_pretty(self)? + "\n"))?;
        replace_file(&page, &self.update_page(&fs::read_to_string(&page)?)?)
    }

    /// Returns the page with its tables regenerated from these results.
    pub fn update_page(&self, page: &str) -> Outcome<String> {
        let marks = || format!("expected the marks of the results in {PAGE}");
        let (before, rest) = page.split_once(TABLE_MARKERS[0]).with_context(marks)?;
        let (_, after) = rest.split_once(TABLE_MARKERS[1]).with_context(marks)?;
        Ok([before, TABLE_MARKERS[0], &self.tables(), TABLE_MARKERS[1], after].concat())
    }

    /// Returns all rows, each with its results keyed by setup.
    pub fn rows(&self) -> impl Iterator<Item = (&String, &BTreeMap<String, RowResult>)> {
        self.0.iter()
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
                let is_documented =
                    row.as_ref().is_some_and(|row| row.is_documented(set_up, storm.name));
                let cell = duplicates(result.verdicts.get(storm.name), is_documented);
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
        text += "| row | version | date | sorted per thread | sorted per generator | not ahead |\n";
        text += "|---|---|---|---|---|---|\n";
        for Line { row, set_up, result: RowResult { version, date, verdicts } } in
            self.result_lines()
        {
            write!(text, "| `{row}` {set_up} | {version} | {date} |").unwrap();
            (1..4).for_each(|rule| write!(text, " {} |", broken_storms(verdicts, rule)).unwrap());
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

/// Returns the number of duplicates. Appends `*` if calls failed, and `†` if the library documents the limitation that
/// causes the duplicates.
fn duplicates(found: Option<&StormResult>, is_documented: bool) -> String {
    match found {
        None => "–".to_owned(),
        Some(StormResult::Failed(_)) => "none".to_owned(),
        Some(StormResult::Verdict(verdict)) => {
            let failed = if verdict.errors.is_empty() { "" } else { "*" };
            let mark = if is_documented && verdict.distinct.count > 0 { "†" } else { "" };
            format!("{}{failed}{mark}", verdict.distinct.count)
        }
    }
}

/// Returns the names of the storms in which a rule was broken.
fn broken_storms(verdicts: &BTreeMap<String, StormResult>, rule: usize) -> String {
    let rules = verdicts.iter().filter_map(|(storm, found)| match found {
        StormResult::Verdict(verdict) => Some((storm.as_str(), verdict.rules()[rule].1?.count)),
        StormResult::Failed(_) => None,
    });
    let rules: Vec<_> = rules.collect();
    if rules.is_empty() {
        return "–".to_owned();
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
        let renewed = Results::read().unwrap().update_page(&page).unwrap();
        assert!(page == renewed, "run: cargo xtask storm page");
    }

    #[test]
    fn the_reports_show_the_recorded_results() {
        for (name, text) in report::all_reports(&Results::read().unwrap()).unwrap() {
            let file = root().join(report::FOLDER).join(name + ".md");
            assert!(fs::read_to_string(file).unwrap() == text, "run: cargo xtask storm page");
        }
    }
}
