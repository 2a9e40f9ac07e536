//! Compares the public APIs with those of the last release.
//!
//! Before 1.0, a minor version may break an API if its entry in CHANGELOG.md lists the removed names. A patch version may
//! not break an API.

use std::{collections::BTreeSet, fs};

use anyhow::{Context, Result, ensure};
use toml::{Table, Value};
use xshell::{Shell, cmd};

use super::version::VERSION;
use crate::{tools, workspace};

const NAMES_PATH: &str = "packages/api.toml";

/// Compares the public APIs of all languages with those of the newest tag, and returns the tag. Returns `None` for the
/// first release.
pub fn compare(shell: &Shell) -> Result<Option<String>> {
    let tags = cmd!(shell, "git tag --list v* --sort=-version:refname").quiet().read()?;
    let own = format!("v{VERSION}");
    let Some(last) = tags.lines().find(|tag| **tag != own) else {
        println!("interface: the first release, so there is nothing to compare it with");
        return Ok(None);
    };
    check_names(shell, last)?;
    if is_patch(last) {
        check_python(shell, last)?;
    }
    check_rust(shell, last)?;
    println!("interface: compared with {last}");
    Ok(Some(last.to_owned()))
}

/// Returns whether the version differs from the tag's version only in the last number.
fn is_patch(tag: &str) -> bool {
    let but_last = |version: &str| version.rsplit_once('.').map(|(most, _)| most.to_owned());
    but_last(tag.trim_start_matches('v')) == but_last(VERSION)
}

/// Fails if a name was removed and the change log does not mention it, or if a patch release removes a name.
fn check_names(shell: &Shell, last: &str) -> Result<()> {
    let before = cmd!(shell, "git show {last}:{NAMES_PATH}").quiet().read()?;
    let now = fs::read_to_string(workspace::root().join(NAMES_PATH))?;
    let changes = fs::read_to_string(workspace::root().join("CHANGELOG.md"))?;
    let entry = changes.split("\n## ").nth(1).context("expected an entry in CHANGELOG.md")?;
    let faults = unexplained_changes(&before.parse()?, &now.parse()?, entry, is_patch(last));
    ensure!(faults.is_empty(), "names of {last} are gone: {}", faults.join(", "));
    Ok(())
}

fn unexplained_changes(before: &Table, now: &Table, entry: &str, is_patch: bool) -> Vec<String> {
    let now = qualified_names(now);
    let removed_names = qualified_names(before).into_iter().filter(|path| !now.contains(path));
    let is_explained = |path: &String| {
        let name = path.rsplit('.').next().unwrap_or_default();
        !is_patch && entry.contains(&format!("`{name}"))
    };
    removed_names.filter(|path| !is_explained(path)).collect()
}

/// Returns the qualified names in the table. A table that contains a `summary` describes one name, so it is not searched
/// for further names.
fn qualified_names(table: &Table) -> BTreeSet<String> {
    let inside = |(name, value): (&String, &Value)| match value {
        Value::Table(inner) if !inner.contains_key("summary") => {
            qualified_names(inner).into_iter().map(|path| format!("{name}.{path}")).collect()
        }
        Value::Array(names) => {
            let names = names.iter().filter_map(Value::as_str);
            names.map(|inner| format!("{name}.{inner}")).collect()
        }
        _ => vec![name.clone()],
    };
    table.iter().flat_map(inside).collect()
}

/// Compares the Python package's stubs and sources with those of the last release.
fn check_python(shell: &Shell, last: &str) -> Result<()> {
    let python = tools::release_python(shell)?;
    let options = ["--search", "packages/python/src", "--against", last];
    Ok(cmd!(shell, "{python} -m griffe check polyflake {options...}").run()?)
}

/// Compares the crates' documentation with that of the last release.
fn check_rust(shell: &Shell, last: &str) -> Result<()> {
    tools::install(shell, &tools::SEMVER)?;
    let packages = workspace::libraries(shell)?;
    let packages = packages.iter().flat_map(|name| ["--package", name]);
    Ok(cmd!(shell, "cargo semver-checks --baseline-rev {last} {packages...}").run()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn removed_names(now: &str, entry: &str, is_patch: bool) -> Vec<String> {
        let before = "[sno]\nparse = \"Parses.\"\nnew = { summary = \"Creates.\", in = [\"js\"] }\n[guide]\nsno = [\"parse\"]";
        unexplained_changes(&before.parse().unwrap(), &now.parse().unwrap(), entry, is_patch)
    }

    #[test]
    fn names_may_be_added_and_described_differently() {
        let now = "[sno]\nparse = \"Reads.\"\nnew = \"Creates.\"\nmore = \"More.\"\n[guide]\nsno = [\"parse\"]";
        assert!(removed_names(now, "", true).is_empty());
    }

    #[test]
    fn a_missing_name_must_be_explained_and_a_patch_may_remove_none() {
        let now = "[sno]\nnew = \"Creates.\"\n[guide]\nsno = [\"parse\"]";
        assert_eq!(removed_names(now, "", false), ["sno.parse"]);
        assert_eq!(removed_names(now, "`parse` is now `read`", true), ["sno.parse"]);
        assert!(removed_names(now, "`parse` is now `read`", false).is_empty());
    }
}
