//! Writes reports into `tests/storm/reports`, for the maintainers of libraries that returned duplicate IDs. The reports
//! state how the storms were run and what they found. The program does not submit the reports.

use std::{collections::BTreeMap, fmt::Write, fs};

use anyhow::Result;

use crate::{
    results::{Results, RowResult, StormResult, replace_file},
    rows::{self, Row, root},
    storms::{STORMS, Storm},
    verdict::Verdict,
};

/// The folder that contains the reports.
pub const FOLDER: &str = "tests/storm/reports";

/// Storms in which a generator cannot detect that another generator produces the same IDs. Duplicates in these storms are
/// not reported.
const UNAVOIDABLE_STORMS: [&str; 2] = ["hosts", "image"];

/// Writes the reports of all rows.
pub fn write(results: &Results) -> Result<()> {
    fs::create_dir_all(root().join(FOLDER))?;
    for (name, text) in all_reports(results)? {
        replace_file(&root().join(FOLDER).join(name + ".md"), &text)?;
    }
    Ok(())
}

/// Returns the reports, keyed by row name.
pub fn all_reports(results: &Results) -> Result<BTreeMap<String, String>> {
    let mut reports = BTreeMap::new();
    for (name, set_ups) in results.rows() {
        let row = rows::read(name)?;
        let part = |(set_up, result): (&String, &RowResult)| set_up_section(&row, set_up, result);
        let text: String = set_ups.iter().map(part).collect();
        if !text.is_empty() && row.package != "polyflake" {
            let head = format!("# {}: repeated IDs\n", row.package);
            let repeat = format!("\nTo repeat: `cargo xtask storm rows {name}`.\n");
            let cause = if row.cause.is_empty() { "" } else { "\n" };
            let parts = [&head, &text, cause, &row.cause, cause, &repeat];
            reports.insert(name.clone(), parts.map(String::from).concat());
        }
    }
    Ok(reports)
}

/// Returns the report section about one setup, or an empty string if there are no results to report.
fn set_up_section(row: &Row, set_up: &str, result: &RowResult) -> String {
    let RowResult { version, verdicts, date } = result;
    let is_reported = |storm: &&Storm| {
        !UNAVOIDABLE_STORMS.contains(&storm.name) && !row.is_documented(set_up, storm.name)
    };
    let found = STORMS.iter().filter(is_reported).filter_map(|storm| {
        let StormResult::Verdict(verdict) = verdicts.get(storm.name)? else { return None };
        (verdict.distinct.count > 0).then(|| verdict_line(storm, verdict))
    });
    let found: String = found.collect();
    if found.is_empty() {
        return found;
    }
    let (language, code) = (&row.language, row.code(set_up));
    let mut text = format!("\nVersion {version}, on Linux, {date}. The generator:\n\n");
    write!(text, "```{language}\n{code}\n```\n\n{found}").unwrap();
    text
}

/// Returns the report line that states the result of one storm.
fn verdict_line(storm: &Storm, verdict: &Verdict) -> String {
    let (count, ids) = (verdict.distinct.count, verdict.ids);
    let first = verdict.distinct.first.as_deref().unwrap_or_default();
    let (name, what) = (storm.name, storm.what);
    format!(
        "- {name} ({what}): {count} of {ids} IDs were equal to an earlier one. First: {first}.\n"
    )
}
