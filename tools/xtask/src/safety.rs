//! Maintains the table of results in `docs/safety.md`. Runs checks, records their results with the date, and writes the
//! table.

use std::{collections::BTreeMap, fmt::Write, fs, process::Command};

use anyhow::{Context, Result, bail, ensure};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::workspace;

const PAGE: &str = "docs/safety.md";
const CHECKS_PATH: &str = "tests/safety/checks.toml";
const RESULTS_PATH: &str = "tests/safety/results.json";
const TABLE_MARKERS: [&str; 2] = ["<!-- Figures: begin -->\n", "<!-- Figures: end -->\n"];

#[derive(clap::Args)]
pub struct Options {
    /// The names of checks in tests/safety/checks.toml; without names, only the table is written
    names: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Checks {
    check: Vec<Check>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Check {
    name: String,
    what: String,
    /// The shell command, which runs in the root.
    run: String,
    /// The words that identify the numbers to be recorded from the output. A number precedes its word, or follows the word
    /// and a colon.
    #[serde(default)]
    counts: Vec<String>,
    /// A string that identifies the output line with the figures. If this string is set, the whole line is recorded, and
    /// `counts` is not used.
    line: Option<String>,
}

#[derive(Deserialize, Serialize)]
struct Outcome {
    figures: String,
    date: String,
}

type Results = BTreeMap<String, Outcome>;

pub fn main(options: &Options) -> Result<()> {
    let (checks, mut results) = (checks()?, results()?);
    for name in &options.names {
        let check = checks.iter().find(|check| check.name == *name);
        let check =
            check.with_context(|| format!("expected a check of {CHECKS_PATH}, found {name}"))?;
        let date = Timestamp::now().strftime("%Y-%m-%d").to_string();
        results.insert(name.clone(), Outcome { figures: check.run()?, date });
        let text = serde_json::to_string_pretty(&results)? + "\n";
        fs::write(workspace::root().join(RESULTS_PATH), text)?;
    }
    Ok(fs::write(workspace::root().join(PAGE), with_table(&page()?, &table(&checks, &results))?)?)
}

/// Returns the faults that the `tidy` step reports: results of unknown checks, and a page that does not show the recorded
/// results.
pub fn faults() -> Result<Vec<String>> {
    let (checks, results, page) = (checks()?, results()?, page()?);
    let is_known = |name: &&String| checks.iter().any(|check| check.name == **name);
    let unknown = results.keys().filter(|name| !is_known(name));
    let mut faults: Vec<_> = unknown
        .map(|name| format!("{RESULTS_PATH}: expected a check of {CHECKS_PATH}, found {name}"))
        .collect();
    if with_table(&page, &table(&checks, &results))? != page {
        faults.push(format!(
            "{PAGE}: expected the results of {RESULTS_PATH}; run: cargo xtask safety"
        ));
    }
    Ok(faults)
}

fn page() -> Result<String> {
    Ok(fs::read_to_string(workspace::root().join(PAGE))?)
}

fn checks() -> Result<Vec<Check>> {
    let text = fs::read_to_string(workspace::root().join(CHECKS_PATH))?;
    Ok(toml::from_str::<Checks>(&text)?.check)
}

fn results() -> Result<Results> {
    Ok(serde_json::from_str(&fs::read_to_string(workspace::root().join(RESULTS_PATH))?)?)
}

fn with_table(page: &str, table: &str) -> Result<String> {
    let marks = || format!("expected the marks of the figures in {PAGE}");
    let (before, rest) = page.split_once(TABLE_MARKERS[0]).with_context(marks)?;
    let (_, after) = rest.split_once(TABLE_MARKERS[1]).with_context(marks)?;
    Ok([before, TABLE_MARKERS[0], table, TABLE_MARKERS[1], after].concat())
}

fn table(checks: &[Check], results: &Results) -> String {
    let mut text = "| check | what it runs | figures | date |\n|---|---|---|---|\n".to_owned();
    for Check { name, what, .. } in checks {
        let outcome = results.get(name);
        let [figures, date] =
            outcome.map_or(["–"; 2], |outcome| [&*outcome.figures, &*outcome.date]);
        let _ = writeln!(text, "| `{name}` | {what} | {figures} | {date} |");
    }
    text
}

impl Check {
    /// Runs the check and returns its result. Fails if the check fails.
    fn run(&self) -> Result<String> {
        println!("$ {}", self.run);
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{{ {}; }} 2>&1", self.run)]).current_dir(workspace::root());
        let output = command.output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        ensure!(output.status.success(), "{} failed:\n{text}", self.name);
        if let Some(part) = &self.line {
            let line = text.lines().rfind(|line| line.contains(part));
            let line = line.with_context(|| format!("expected {part:?} in the output:\n{text}"))?;
            return Ok(line.trim().to_owned());
        }
        let figures = self.counts.iter().map(|word| match count(&text, word) {
            Some(number) => {
                Ok(format!("{} {}", with_thousands_separators(number), word.replace("ids", "IDs")))
            }
            None => bail!("expected a number of {word} in the output of {}:\n{text}", self.name),
        });
        Ok(figures.collect::<Result<Vec<_>>>()?.join(", "))
    }
}

/// Returns the sum of the numbers that precede a word, or that follow the word and a colon.
fn count(text: &str, word: &str) -> Option<u64> {
    let is_edge = |character: char| !character.is_alphanumeric();
    let tokens: Vec<_> = text.split_whitespace().collect();
    let number = |index: usize| tokens.get(index)?.trim_matches(is_edge).parse().ok();
    let found = tokens.iter().enumerate().filter(|(_, token)| token.trim_matches(is_edge) == word);
    let numbers = found.filter_map(|(index, token)| {
        number(if token.ends_with(':') { index + 1 } else { index.checked_sub(1)? })
    });
    numbers.fold(None, |sum: Option<u64>, number: u64| Some(sum.unwrap_or(0) + number))
}

/// Formats a number with commas as thousands separators.
fn with_thousands_separators(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_next_to_a_word_are_summed() {
        let text = "sno: 1000 IDs, 2 given out twice\nnext: 5000 IDs\nTotals { ids: 40150, explicit_ids: 7 }";
        assert_eq!(count(text, "IDs"), Some(6000));
        assert_eq!(count(text, "ids"), Some(40_150));
        assert_eq!(count(text, "grants"), None);
    }

    #[test]
    fn thousands_are_grouped() {
        assert_eq!(
            [7, 999, 1000, 27_836_510].map(with_thousands_separators),
            ["7", "999", "1,000", "27,836,510"]
        );
    }
}
