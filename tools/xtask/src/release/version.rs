//! Checks that the same version is used everywhere, and lists the changes that must be made before this version can be
//! published.

use std::fs;

use anyhow::{Context, Result, ensure};
use xshell::{Shell, cmd};

use crate::{test::tidy, workspace};

/// Part of the repository's placeholder address. The placeholder is used until the real address is set.
const PLACEHOLDER: &str = ".invalid/";

/// The version that is being released.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Fails if files in the repository contain different version numbers, or if the change log has no entry for the version.
pub fn check() -> Result<()> {
    let faults = tidy::versions()?;
    ensure!(faults.is_empty(), "expected one version: {}", faults.join("; "));
    let (heading, text) = entry()?;
    println!("version {VERSION}: {heading}, {} lines of changes", text.lines().count());
    Ok(())
}

/// Returns the heading and the text of this version's entry in the change log.
fn entry() -> Result<(String, String)> {
    let changes = fs::read_to_string(workspace::root().join("CHANGELOG.md"))?;
    first_entry_of(&changes, VERSION)
        .with_context(|| format!("expected {VERSION} first in CHANGELOG.md"))
}

/// Returns the heading and the text of the first entry, if the entry belongs to the version and is not empty.
fn first_entry_of(changes: &str, version: &str) -> Option<(String, String)> {
    let entry = changes.split("\n## ").nth(1)?;
    let (heading, text) = entry.split_once('\n')?;
    let is_it = heading.split([',', ' ']).next() == Some(version) && !text.trim().is_empty();
    is_it.then(|| (heading.to_owned(), text.to_owned()))
}

/// Returns the changes that must be made before this version can be published under a tag.
pub fn version_obstacles(shell: &Shell, tag: Option<&str>) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let (heading, _) = entry()?;
    if heading.ends_with("unreleased") {
        found.push(format!("CHANGELOG.md: \"{heading}\": write the date"));
    }
    let cargo = fs::read_to_string(workspace::root().join("Cargo.toml"))?;
    if cargo.contains(PLACEHOLDER) {
        found.push("Cargo.toml: the public address is a placeholder".to_owned());
    }
    if let Some(tag) = tag.filter(|tag| *tag != format!("v{VERSION}")) {
        found.push(format!("expected the tag v{VERSION}, found {tag}"));
    }
    let changed = cmd!(shell, "git status --porcelain").quiet().read()?;
    found.extend(changed.lines().map(|line| format!("not committed: {line}")));
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::first_entry_of;

    #[test]
    fn only_the_first_entry_counts_and_it_must_describe_the_version() {
        let changes = "# Changes\n\n## 0.2.0, unreleased\n\nNew.\n\n## 0.1.0\n\nFirst.\n";
        assert_eq!(first_entry_of(changes, "0.2.0").unwrap().0, "0.2.0, unreleased");
        assert!(
            first_entry_of(changes, "0.1.0").is_none() && first_entry_of(changes, "0.2").is_none()
        );
        assert!(first_entry_of("# Changes\n\n## 0.2.0\n\n\n## 0.1.0\n", "0.2.0").is_none());
    }
}
