//! Lists the crates that the binaries contain. Writes their licenses into `THIRD-PARTY.md`, which every package includes,
//! and creates the packages' bills of materials.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::PathBuf,
};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde_json::{Value, json};
use xshell::{Shell, cmd};

use crate::{artefacts::platforms, workspace};

/// The path of the license file, relative to the root.
const FILE: &str = "THIRD-PARTY.md";

const INTRODUCTION: &str = "# What the binaries carry

Written by `cargo xtask licences`: the crates that are compiled into the Python wheels, the addons for Node and the wasm modules, each
under a licence that its authors offer, and the standard library of Rust (MIT or Apache-2.0, the Rust project's contributors).
";

const PROGRAM_INTRODUCTION: &str = "# What the program carries

The crates that are compiled into it, each under a licence that its authors offer, and the standard library of Rust (MIT or
Apache-2.0, the Rust project's contributors).
";

/// The possible names of license files, in order of preference. If a crate contains several of these files, the first one
/// is used.
const LICENCE_FILE_NAMES: [&str; 6] =
    ["LICENSE-MIT", "LICENSE-MIT.md", "LICENSE", "LICENSE.md", "LICENSE.txt", "LICENSE-APACHE"];

/// A third-party crate, with its version and license.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Crate {
    name: String,
    version: String,
    licence: String,
}

/// Writes the license file.
pub fn main() -> Result<()> {
    let shell = workspace::shell()?;
    Ok(fs::write(workspace::root().join(FILE), expected_text(&shell)?)?)
}

/// Returns the license file for the packages of the `polyflake` program, which contain many more crates than the other
/// packages.
pub fn program_licences(shell: &Shell, crates: &BTreeSet<Crate>) -> Result<String> {
    page(shell, PROGRAM_INTRODUCTION, crates)
}

/// Fails if the license file is outdated.
pub fn check(shell: &Shell) -> Result<()> {
    let found = fs::read_to_string(workspace::root().join(FILE))?;
    ensure!(found == expected_text(shell)?, "{FILE} is stale: run `cargo xtask licences`");
    Ok(())
}

/// Returns the third-party crates that a package includes when it is compiled for a target.
pub fn dependencies_of(shell: &Shell, package: &str, target: &str) -> Result<BTreeSet<Crate>> {
    let options = ["--quiet", "--locked", "--prefix", "none", "--no-dedupe", "--format", "{p}|{l}"];
    let edges = ["--edges", "normal,no-proc-macro", "--target", target];
    let listed = cmd!(shell, "cargo tree --package {package} {options...} {edges...}").quiet();
    let listed = listed.read()?;
    // In this list, the lines for crates of this workspace contain a path in parentheses after the version.
    let others = listed.lines().filter(|line| !line.contains(" ("));
    others
        .map(|line| parse_crate(line).with_context(|| format!("expected a crate, found {line}")))
        .collect()
}

/// Reads a crate from a line such as `name v1.2.3|MIT`.
fn parse_crate(line: &str) -> Option<Crate> {
    let (name, rest) = line.split_once(" v")?;
    let (version, licence) = rest.split_once('|')?;
    let [name, version] = [name, version].map(str::to_owned);
    Some(Crate { name, version, licence: licence.replace('/', " OR ") })
}

/// Returns all crates that any binary contains.
fn all_dependencies(shell: &Shell) -> Result<BTreeSet<Crate>> {
    let mut all = dependencies_of(shell, "polyflake-wasm", "wasm32-unknown-unknown")?;
    for platform in platforms::all_platforms()? {
        for package in ["polyflake-python", "polyflake-node"] {
            all.extend(dependencies_of(shell, package, &platform.target)?);
        }
    }
    Ok(all)
}

fn expected_text(shell: &Shell) -> Result<String> {
    page(shell, INTRODUCTION, &all_dependencies(shell)?)
}

fn page(shell: &Shell, introduction: &str, crates: &BTreeSet<Crate>) -> Result<String> {
    let packages = packages(shell)?;
    let mut by_text: BTreeMap<String, Vec<&Crate>> = BTreeMap::new();
    for one in crates {
        let is_it = |package: &&Package| package.name == one.name && package.version == one.version;
        let package = packages.iter().find(is_it);
        let package = package.with_context(|| format!("expected the sources of {}", one.name))?;
        by_text.entry(licence_text(one, package)?).or_default().push(one);
    }
    let rows = crates
        .iter()
        .map(|Crate { name, version, licence }| format!("| {name} | {version} | {licence} |\n"));
    let table: String = rows.collect();
    let texts = by_text.into_iter().map(|(text, crates)| {
        let names: Vec<_> = crates.iter().map(|one| &*one.name).collect();
        format!("\n## {}\n\n```text\n{}\n```\n", names.join(", "), text.trim())
    });
    let texts: String = texts.collect();
    Ok(format!("{introduction}\n| crate | version | licence |\n|---|---|---|\n{table}{texts}"))
}

/// Returns the license text from a crate's folder, without trailing spaces. If an MIT crate has no license file, returns
/// the MIT license text with the authors from the crate's manifest.
fn licence_text(one: &Crate, package: &Package) -> Result<String> {
    let folder = package.manifest_path.parent().context("expected a folder")?;
    let found = LICENCE_FILE_NAMES.iter().map(|name| folder.join(name)).find(|file| file.is_file());
    let text = if let Some(file) = found {
        fs::read_to_string(file)?
    } else {
        ensure!(one.licence.contains("MIT"), "expected a licence in {}", folder.display());
        let ours = fs::read_to_string(workspace::root().join("LICENSE-MIT"))?;
        let authors = package.authors.join(", ");
        let lines = ours.lines().map(|line| {
            if line.starts_with("Copyright") {
                format!("Copyright (c) {authors}")
            } else {
                line.to_owned()
            }
        });
        lines.collect::<Vec<_>>().join("\n")
    };
    // The character tables of one crate have a separate license.
    let more = fs::read_to_string(folder.join("LICENSE-UNICODE")).unwrap_or_default();
    let text = format!("{}\n\n{more}", text.trim());
    Ok(text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n"))
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    manifest_path: PathBuf,
    authors: Vec<String>,
}

/// Returns all crates in the lock file.
fn packages(shell: &Shell) -> Result<Vec<Package>> {
    let said = cmd!(shell, "cargo metadata --quiet --locked --format-version 1").quiet().read()?;
    let metadata: Metadata = serde_json::from_str(&said)?;
    Ok(metadata.packages)
}

/// Returns a package's bill of materials in `CycloneDX` format. The bill contains no timestamp and no machine name, so that
/// the same sources produce the same file.
pub fn bill_of_materials(package: &str, crates: &BTreeSet<Crate>) -> Value {
    let version = env!("CARGO_PKG_VERSION");
    let (address, name) = (format!("{package}@{version}"), package.rsplit('/').next());
    let component = |one: &Crate| {
        let address = format!("pkg:cargo/{}@{}", one.name, one.version);
        json!({
            "type": "library",
            "bom-ref": address,
            "name": one.name,
            "version": one.version,
            "licenses": [{ "expression": one.licence }],
            "purl": address,
        })
    };
    json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": { "component": {
            "type": "library",
            "bom-ref": address,
            "name": name,
            "version": version,
            "licenses": [{ "expression": "MIT OR Apache-2.0" }],
            "purl": address,
        } },
        "components": crates.iter().map(component).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_are_parsed_from_lines() {
        let found = parse_crate("zerocopy v0.8.63|MIT/Apache-2.0").unwrap();
        assert_eq!((&*found.name, &*found.version), ("zerocopy", "0.8.63"));
        assert_eq!(found.licence, "MIT OR Apache-2.0");
        assert_eq!(parse_crate("nothing"), None);
    }

    #[test]
    fn a_bill_of_materials_lists_each_crate_without_a_timestamp() {
        let crates = BTreeSet::from([parse_crate("libc v0.2.191|MIT").unwrap()]);
        let bill = bill_of_materials("pkg:npm/polyflake", &crates);
        assert_eq!(bill["metadata"]["component"]["name"], "polyflake");
        assert_eq!(bill["components"][0]["purl"], "pkg:cargo/libc@0.2.191");
        assert_eq!(bill["metadata"].get("timestamp"), None);
    }
}
