//! The pages that people read: an entry for each error code, dated decisions, links that lead somewhere, a front page of a few screens.

use std::{collections::BTreeSet, fs, path::Path};

use anyhow::Result;

use crate::workspace;

const FRONT: &str = "README.md";
/// The most lines of the front page.
const LONGEST_FRONT: usize = 120;

/// Each code of `api.toml` has one section here, under its own name.
const ERRORS: &str = "docs/errors.md";

/// Each entry here begins with its date, and is in the contents.
const DECISIONS: &str = "docs/decisions.md";

/// Faults of the pages with these paths and texts.
pub(super) fn faults<'s>(files: impl Iterator<Item = (&'s str, &'s str)>) -> Result<Vec<String>> {
    let api: toml::Table =
        fs::read_to_string(workspace::root().join("packages/api.toml"))?.parse()?;
    let tables = [Some(&api["errors"]), api["lease"].get("errors")];
    let tables = tables.into_iter().flatten().filter_map(toml::Value::as_table);
    let codes: BTreeSet<_> = tables.flat_map(toml::Table::keys).map(String::as_str).collect();
    let mut faults = Vec::new();
    for (path, text) in files.filter(|(path, _)| is_page(path)) {
        faults.extend(broken_links(path, text));
        if path == ERRORS {
            faults.extend(unexplained(text, &codes));
        }
        if path == DECISIONS {
            faults.extend(undated(text));
        }
        if path == FRONT && text.lines().count() > LONGEST_FRONT {
            let lines = text.lines().count();
            faults.push(format!("{FRONT}: expected at most {LONGEST_FRONT} lines, found {lines}"));
        }
    }
    Ok(faults)
}

/// Returns whether a file is read in the repository: the packages' files are read elsewhere, and `address` has rules for them.
fn is_page(path: &str) -> bool {
    let is_markdown = Path::new(path).extension().is_some_and(|end| end == "md");
    is_markdown && !path.starts_with("packages/") && !path.starts_with("core/")
}

/// Codes without a section, and sections of no code.
fn unexplained(text: &str, codes: &BTreeSet<&str>) -> Vec<String> {
    let heading = |line: &'_ str| -> Option<String> {
        Some(line.strip_prefix("## `")?.strip_suffix('`')?.to_owned())
    };
    let sections: BTreeSet<_> = text.lines().filter_map(heading).collect();
    let sections: BTreeSet<_> = sections.iter().map(String::as_str).collect();
    let differing = codes.symmetric_difference(&sections);
    differing
        .map(|code| format!("{ERRORS}: {code} is on one side of it and api.toml only"))
        .collect()
}

/// Entries without a date, and entries that the contents do not have in their order.
fn undated(text: &str) -> Vec<String> {
    let lines: Vec<_> = text.lines().collect();
    let entries = (0..lines.len()).filter_map(|at| Some((at, lines[at].strip_prefix("### ")?)));
    let is_dated = |at: usize| lines.get(at + 2).is_some_and(|line| begins_with_a_date(line));
    let mut faults: Vec<_> = entries
        .clone()
        .filter(|(at, _)| !is_dated(*at))
        .map(|(_, title)| format!("{DECISIONS}: expected a date at the beginning of '{title}'"))
        .collect();
    let contents = lines.iter().filter_map(|line| line.strip_prefix("  - [")?.split_once("](#"));
    if !contents.map(|(title, _)| title).eq(entries.map(|(_, title)| title)) {
        faults.push(format!("{DECISIONS}: expected contents that list all entries in their order"));
    }
    faults
}

fn begins_with_a_date(line: &str) -> bool {
    let is_like = |(found, like): (u8, &u8)| match like {
        b'0' => found.is_ascii_digit(),
        other => found == *other,
    };
    line.len() > 10 && line.bytes().zip(b"0000-00-00").all(is_like)
}

/// Links to files that are not there.
fn broken_links(path: &str, text: &str) -> Vec<String> {
    let folder = Path::new(path).parent().unwrap_or(Path::new(""));
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    let files = targets.map(|(target, _)| target.split('#').next().unwrap_or_default());
    let is_file = |target: &&str| {
        !target.is_empty() && !target.contains(|c: char| c.is_whitespace() || ":<>(\"'".contains(c))
    };
    let is_there = |target: &str| workspace::root().join(folder).join(target).exists();
    let broken = files.filter(is_file).filter(|target| !is_there(target));
    broken.map(|target| format!("{path}: {target} leads nowhere")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_code_has_a_section_and_each_section_a_code() {
        let codes = BTreeSet::from(["a", "b"]);
        assert!(unexplained("## `a`\ntext\n## `b`\n", &codes).is_empty());
        assert_eq!(unexplained("## `a`\n## `c`\n", &codes).len(), 2);
    }

    #[test]
    fn links_are_followed_from_the_page_that_they_are_in() {
        assert!(
            broken_links("docs/a.md", "[b](errors.md#code) [c](../README.md) [d](#e)").is_empty()
        );
        assert_eq!(broken_links("docs/a.md", "[b](README.md) [c](../errors.md)").len(), 2);
    }

    #[test]
    fn decisions_are_dated_and_in_the_contents() {
        let page = "- [A](#a)\n  - [Why?](#why)\n\n## A\n\n### Why?\n\n2026-11-20. Since.\n";
        assert_eq!(undated(page), [""; 0]);
        assert_eq!(undated(&page.replace("2026-11-20. ", "")).len(), 1);
        assert_eq!(undated(&page.replace("### Why?", "### Why not?")).len(), 1);
    }

    #[test]
    fn a_front_page_that_is_too_long_is_found() {
        let long = "a\n".repeat(LONGEST_FRONT + 1);
        assert_eq!(faults([(FRONT, &*long)].into_iter()).unwrap().len(), 1);
        assert_eq!(faults([(FRONT, &long[2..])].into_iter()).unwrap(), [""; 0]);
    }
}
