//! The project's public address: one line of Cargo.toml, from which all packages have their metadata and links.

use std::{fs, path::Path};

use anyhow::{Context, Result};
use xshell::{Shell, cmd};

use crate::workspace;

/// The branch that links into the repository name.
const BRANCH: &str = "/blob/main/";

/// READMEs that are read outside the repository, where only full addresses work.
const TRAVELLING: [&str; 3] =
    ["core/README.md", "packages/python/README.md", "packages/js/README.md"];

/// Lines that name the address, by file and beginning.
const METADATA: [(&str, &str); 8] = [
    ("packages/python/pyproject.toml", "Homepage"),
    ("packages/python/pyproject.toml", "Documentation"),
    ("packages/python/pyproject.toml", "Repository"),
    ("packages/python/pyproject.toml", "Changelog"),
    ("packages/python/pyproject.toml", "Issues"),
    ("packages/js/package.json", "\"homepage\""),
    ("packages/js/package.json", "\"bugs\""),
    ("packages/js/package.json", "\"url\""),
];

/// Replaces the address in the packages by the one in Cargo.toml.
pub fn main() -> Result<()> {
    let (wanted, found) = (wanted()?, found()?);
    let shell = Shell::new()?;
    shell.change_dir(workspace::root());
    let files =
        cmd!(shell, "git grep --name-only --fixed-strings {found}").ignore_status().read()?;
    for path in files.lines().map(|file| workspace::root().join(file)) {
        let text = fs::read_to_string(&path)?;
        fs::write(&path, text.replace(&found, &wanted))?;
        println!("{}", path.display());
    }
    Ok(())
}

/// The address in Cargo.toml.
fn wanted() -> Result<String> {
    let cargo: toml::Table = read("Cargo.toml")?.parse()?;
    let address = cargo["workspace"]["package"]["repository"].as_str();
    Ok(address.context("expected a repository in Cargo.toml")?.to_owned())
}

/// The address that the packages name.
fn found() -> Result<String> {
    let package: serde_json::Value = serde_json::from_str(&read("packages/js/package.json")?)?;
    let address = package["repository"]["url"].as_str();
    let address = address.context("expected a repository in packages/js/package.json")?;
    Ok(address.trim_start_matches("git+").trim_end_matches(".git").to_owned())
}

/// Faults for tidy: another address in a package, and broken links.
pub fn faults() -> Result<Vec<String>> {
    let (wanted, found) = (wanted()?, found()?);
    let mut faults = Vec::new();
    if wanted != found {
        faults.push(format!("packages name {found}, not {wanted}: run `cargo xtask address`"));
    }
    for (file, key) in METADATA {
        let text = read(file)?;
        let named = text.lines().filter(|line| line.trim_start().starts_with(key));
        let other = named.filter(|line| !line.contains(&wanted));
        faults.extend(other.map(|line| format!("{file}: {} is not of {wanted}", line.trim())));
    }
    for readme in TRAVELLING {
        let text = read(readme)?;
        let broken = links(&text).filter(|link| !leads(link, &wanted));
        faults.extend(
            broken.map(|link| format!("{readme}: {link} leads nowhere outside the repository")),
        );
    }
    Ok(faults)
}

/// The targets of a Markdown text's links.
fn links(markdown: &str) -> impl Iterator<Item = &str> {
    markdown.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(link, _)| link)
}

/// A link that readers of a registry's page can follow: a full address, and if it is ours, to a file that is there.
fn leads(link: &str, address: &str) -> bool {
    match link.strip_prefix(address) {
        Some(rest) => rest.strip_prefix(BRANCH).is_none_or(is_here),
        None => link.starts_with("https://") || link.starts_with('#'),
    }
}

fn is_here(link: &str) -> bool {
    let path = link.split('#').next().unwrap_or_default();
    path.is_empty() || workspace::root().join(Path::new(path)).exists()
}

fn read(path: &str) -> Result<String> {
    fs::read_to_string(workspace::root().join(path)).with_context(|| format!("cannot read {path}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_found() {
        let text = "see [a](one.md) and ![b](https://two/three#four), (not this)";
        assert_eq!(links(text).collect::<Vec<_>>(), ["one.md", "https://two/three#four"]);
    }

    #[test]
    fn links_lead_to_what_is_there() {
        let lead = |link| leads(link, "https://ours/polyflake");
        assert!(lead("https://ours/polyflake"));
        assert!(lead("https://ours/polyflake/blob/main/Cargo.toml#L1"));
        assert!(!lead("https://ours/polyflake/blob/main/cargo.md"));
        assert!(lead("https://theirs/anything") && lead("#here"));
        assert!(!lead("docs/formats.md") && !lead("http://plain"));
    }
}
