//! Checks rules that no compiler enforces. For example, each module may use only certain other modules, links must work,
//! the version number must be the same in all places, and no file may contain machine-specific paths.

use std::{collections::BTreeSet, fs};

use anyhow::{Context, Result, ensure};
use xshell::{Shell, cmd};

use super::{instruction_sets, oldest_rust, pages};
use crate::{artefacts::page, mutants, safety, workspace};

/// The modules that formats with default partitions may use.
const MODULES_USABLE_WITH_PARTITIONS: [&str; 10] = [
    "arch",
    "base32",
    "clock",
    "entropy",
    "fork",
    "format",
    "generator",
    "integrations",
    "sequence",
    "sync",
];

/// The allowed dependencies between the modules of the core. Each entry contains a module and the modules that it may use,
/// besides itself, `error` and `narrow`. An unlisted module may use only these three.
const ALLOWED_DEPENDENCIES: [(&str, &[&str]); 17] = [
    ("format", &[]),
    ("integrations", &[]),
    // Kernels process only bytes and words, so they need no other module.
    ("arch", &[]),
    ("base32", &["arch", "format"]),
    ("sparx64", &["arch"]),
    ("public", &["format", "sparx64"]),
    ("sequence", &["sync"]),
    ("fork", &["entropy", "sync"]),
    // Counter readings are tied to the process, so the clock must detect forks.
    ("clock", &["fork"]),
    ("generator", &["clock", "fork", "format", "sequence", "sync"]),
    ("sno", &MODULES_USABLE_WITH_PARTITIONS),
    (
        "randflake",
        &["arch", "base32", "clock", "format", "generator", "integrations", "sequence", "sparx64"],
    ),
    ("hotguid", &MODULES_USABLE_WITH_PARTITIONS),
    ("uuid7", &MODULES_USABLE_WITH_PARTITIONS),
    // This module contains unit tests of whole generators.
    ("interruptions", &["clock", "fork", "hotguid", "sno", "sync"]),
    ("layout", &["clock", "format", "generator", "integrations", "sequence"]),
    (
        "lib",
        &[
            "arch",
            "base32",
            "clock",
            "entropy",
            "error",
            "fork",
            "format",
            "generator",
            "hotguid",
            "layout",
            "public",
            "randflake",
            "sequence",
            "sno",
            "sparx64",
            "sync",
            "uuid7",
        ],
    ),
];

/// A text file in the repository, with its path relative to the root.
struct Source {
    path: String,
    text: String,
}

pub fn check() -> Result<()> {
    let sources = sources()?;
    let texts = || sources.iter().map(|source| (&*source.path, &*source.text));
    let mut faults: Vec<String> = sources.iter().flat_map(forbidden_imports).collect();
    faults.extend(sources.iter().flat_map(find_local_paths));
    faults.extend(sources.iter().filter_map(find_direct_atomics));
    faults.extend(versions()?);
    faults.extend(oldest_rust::pages_with_other_version()?);
    faults.extend(page::faults()?);
    faults.extend(safety::faults()?);
    faults.extend(mutants::outdated_mutants()?);
    faults.extend(pages::faults(texts())?);
    faults.extend(instruction_sets::faults(texts()));
    ensure!(faults.is_empty(), "{} faults:\n  {}", faults.len(), faults.join("\n  "));
    println!("{} files", sources.len());
    Ok(())
}

/// Returns the text files that git tracks, and the untracked text files that git does not ignore.
fn sources() -> Result<Vec<Source>> {
    let shell = Shell::new()?;
    shell.change_dir(workspace::root());
    let listed = cmd!(shell, "git ls-files --cached --others --exclude-standard").quiet().read()?;
    let read = |path: &str| fs::read_to_string(workspace::root().join(path)).ok();
    let sources: Vec<_> = listed
        .lines()
        .filter_map(|path| Some(Source { path: path.to_owned(), text: read(path)? }))
        .collect();
    ensure!(!sources.is_empty(), "expected files that git knows, found none");
    Ok(sources)
}

/// Returns a message for each module that a source file of the core uses although it must not use the module.
fn forbidden_imports(source: &Source) -> Vec<String> {
    let Some(module) =
        source.path.strip_prefix("core/src/").and_then(|path| path.strip_suffix(".rs"))
    else {
        return Vec::new();
    };
    let module = module.split('/').next().unwrap_or_default();
    let allowed = ALLOWED_DEPENDENCIES
        .iter()
        .find(|(name, _)| *name == module)
        .map_or(&[][..], |(_, allowed)| allowed);
    used_modules(without_tests(&source.text))
        .into_iter()
        .filter(|used| {
            used != module
                && !["error", "narrow"].contains(&used.as_str())
                && !allowed.contains(&used.as_str())
        })
        .map(|used| format!("{}: {module} must not use {used}", source.path))
        .collect()
}

/// Returns the crate's modules that a file refers to with a `crate::` path. Skips items that the crate root exports from
/// `error`, `generator` and other modules.
fn used_modules(text: &str) -> BTreeSet<String> {
    let code: String = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .flat_map(|line| [line, "\n"])
        .collect();
    let names = code.split("crate::").skip(1).flat_map(names_in_path);
    names.filter(|name| name.starts_with(|c: char| c.is_ascii_lowercase())).collect()
}

/// Returns the first segment of a path such as `a::b`, or of each path in a group such as `{a::b, c::{d, e}}`.
fn names_in_path(path: &str) -> Vec<String> {
    let name = |text: &str| -> String {
        text.trim_start().chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect()
    };
    let Some(group) = path.strip_prefix('{') else {
        return vec![name(path)];
    };
    let mut names = vec![name(group)];
    let mut depth = 0;
    for (index, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => names.push(name(&group[index + 1..])),
            _ => {}
        }
    }
    names
}

/// Returns the part of a file's text before its unit tests.
fn without_tests(text: &str) -> &str {
    let tests = ["\n#[cfg(test)]\nmod ", "\n#[cfg(all(test"]
        .iter()
        .filter_map(|start| text.find(start))
        .min();
    tests.map_or(text, |start| &text[..start])
}

/// Returns the machine-specific paths and host names that a file contains.
fn find_local_paths(source: &Source) -> Vec<String> {
    // Join these strings at run time, so that this file does not contain the strings that it searches for.
    let foreign = [
        ["/wo", "rk/"],
        ["/ro", "ot/"],
        ["/ho", "me/"],
        ["registry.npm", "js"],
        ["pypi.", "org"],
        ["static.", "crates.io"],
    ];
    let found = foreign
        .map(|halves| halves.concat())
        .into_iter()
        .filter(|text| source.text.contains(text.as_str()));
    found.map(|text| format!("{}: names {text}", source.path)).collect()
}

/// Returns the locations where a version number differs from the workspace's version.
pub fn versions() -> Result<Vec<String>> {
    let cargo: toml::Table = read_file("Cargo.toml")?.parse()?;
    let workspace = &cargo["workspace"];
    let ours =
        workspace["package"]["version"].as_str().context("expected a version in Cargo.toml")?;
    let npm = |path: &str| -> Result<String> {
        let package: serde_json::Value = serde_json::from_str(&read_file(path)?)?;
        Ok(package["version"].as_str().unwrap_or("none").to_owned())
    };
    let mut named = vec![("packages/js/package.json", npm("packages/js/package.json")?)];
    named.push(("packages/js/package-lock.json", npm("packages/js/package-lock.json")?));
    let dependencies =
        workspace["dependencies"].as_table().context("expected dependencies in Cargo.toml")?;
    let own = dependencies.values().filter(|dependency| dependency.get("path").is_some());
    named.extend(own.map(|dependency| {
        ("Cargo.toml", dependency["version"].as_str().unwrap_or("none").replace('=', ""))
    }));
    let others = named.into_iter().filter(|(_, version)| version != ours);
    Ok(others.map(|(path, version)| format!("{path}: version {version}, not {ours}")).collect())
}

fn read_file(path: &str) -> Result<String> {
    fs::read_to_string(workspace::root().join(path)).with_context(|| format!("cannot read {path}"))
}

/// Returns a fault if a file of the core uses atomics that the model checker cannot replace. Clocks, CPU detection, and the
/// `fork()` hooks are exempt, because no model contains them.
fn find_direct_atomics(source: &Source) -> Option<String> {
    const EXEMPT_PATHS: [&str; 5] = ["sync.rs", "sync/", "clock", "arch/level.rs", "fork/unix.rs"];
    let path = source.path.strip_prefix("core/src/")?;
    let text = without_tests(&source.text);
    let is_past = ["sync::atomic", "portable_atomic"].iter().any(|door| text.contains(door))
        && text.contains("Atomic");
    let is_fault = is_past && !EXEMPT_PATHS.iter().any(|start| path.starts_with(start));
    is_fault.then(|| format!("{}: atomics must come from crate::sync", source.path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source { path: path.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn names_are_found_in_paths_and_groups() {
        let text = "use crate::{Error, base32::{scalar, Text}, sync::Ordering};\nlet a = crate::arch::detect();\n// crate::no\npub use crate::shown::A;";
        assert_eq!(
            used_modules(text).into_iter().collect::<Vec<_>>(),
            ["arch", "base32", "shown", "sync"]
        );
    }

    #[test]
    fn a_backward_dependency_is_a_fault_except_in_tests() {
        let back = source(
            "core/src/sequence/per_tick.rs",
            "use crate::{clock::Clock, sync::AtomicU64};\n",
        );
        assert_eq!(
            forbidden_imports(&back),
            ["core/src/sequence/per_tick.rs: sequence must not use clock"]
        );
        let tests = source(
            "core/src/base32.rs",
            "use crate::arch;\n#[cfg(test)]\nmod tests { use crate::sno; }\n",
        );
        assert!(forbidden_imports(&tests).is_empty());
    }

    #[test]
    fn atomics_hidden_from_the_models_are_faults() {
        let (past, through) =
            ("use core::sync::atomic::AtomicU64;", "use crate::sync::{AtomicU64, Ordering};");
        assert!(find_direct_atomics(&source("core/src/sno/a.rs", past)).is_some());
        for (path, text) in [("core/src/sno/a.rs", through), ("core/src/clock/a.rs", past)] {
            assert!(find_direct_atomics(&source(path, text)).is_none());
        }
    }

    #[test]
    fn local_paths_are_faults() {
        let path = ["/ho", "me/someone"].concat();
        assert_eq!(find_local_paths(&source("README.md", &path)).len(), 1);
        assert!(find_local_paths(&source("README.md", "core/src")).is_empty());
    }
}
