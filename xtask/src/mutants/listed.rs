//! Deliberate faults, each of which the suite must catch.

use std::{fs, path::Path};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use xshell::{Shell, cmd};

use crate::workspace;

/// The longest time that compiling a fault and its tests may take, in seconds.
const COMPILING: &str = "1200";

/// The longest time that the tests of a fault may take: tests that never end have noticed it. The longest without a fault take a minute.
const TESTING: &str = "300";

/// The members of the copied workspace.
const MEMBERS: &str =
    r#"members = ["clock", "columns", "core", "lease", "tests/conformance/runner", "xtask"]"#;

/// The files of the copied workspace: its members, and files that their tests read.
const FILES: [&str; 13] = [
    "Cargo.lock",
    "Cargo.toml",
    "clock",
    "columns",
    "core",
    "docs",
    "lease",
    "packages/api.toml",
    "packages/js/src",
    "tests/conformance/runner",
    "tests/soak",
    "tests/vectors",
    "xtask",
];

#[derive(Deserialize)]
struct List {
    mutant: Vec<Mutant>,
}

#[derive(Deserialize)]
struct Edit {
    find: String,
    replace: String,
}

/// A fault, and the tests that must notice it.
#[derive(Deserialize)]
struct Mutant {
    name: String,
    file: String,
    #[serde(flatten)]
    edit: Edit,
    #[serde(default)]
    also: Vec<Edit>,
    checker: Option<String>,
    /// The package whose tests run, where it is not the core.
    package: Option<String>,
    arguments: Vec<String>,
}

/// The fate of a mutant.
enum Fate {
    Caught,
    /// Its tests did not end in time.
    Endless,
    Survived,
    /// Does not count: it does not compile.
    Broken,
}

impl List {
    fn read() -> Result<Self> {
        let text = fs::read_to_string(workspace::root().join("tests/mutants/mutants.toml"))?;
        Ok(toml::from_str(&text)?)
    }
}

/// The faults that fit their file no more, since it was edited.
pub fn stale() -> Result<Vec<String>> {
    let of = |mutant: &Mutant| -> Result<Option<String>> {
        let text = fs::read_to_string(workspace::root().join(&mutant.file))?;
        let fault = mutant.edited(&text).err();
        Ok(fault.map(|fault| format!("tests/mutants/mutants.toml: {}: {fault}", mutant.name)))
    };
    List::read()?.mutant.iter().filter_map(|mutant| of(mutant).transpose()).collect()
}

/// Runs all mutants whose name or file contains `filter`; returns `true` if all were caught.
pub fn run(filter: &str) -> Result<bool> {
    let list = List::read()?;
    let tree = copy_of_the_tree()?;
    let (mut caught, mut others) = (0, 0);
    let is_meant = |it: &&Mutant| it.name.contains(filter) || it.file.contains(filter);
    for mutant in list.mutant.iter().filter(is_meant) {
        let fate = mutant.run(&tree).with_context(|| mutant.name.clone())?;
        let word = match fate {
            Fate::Caught => "caught",
            Fate::Endless => "caught by never ending",
            Fate::Survived => "SURVIVED",
            Fate::Broken => "DOES NOT COMPILE",
        };
        println!("{word}: {}", mutant.name);
        *if matches!(fate, Fate::Caught | Fate::Endless) { &mut caught } else { &mut others } += 1;
    }
    println!("{caught} caught, {others} not");
    Ok(others == 0)
}

/// A fresh copy of the tracked files, with uncommitted changes.
fn copy_of_the_tree() -> Result<std::path::PathBuf> {
    let (shell, tree) = (workspace::shell()?, workspace::target().join("mutants/tree"));
    shell.remove_path(&tree)?;
    shell.create_dir(&tree)?;
    let files = cmd!(shell, "git ls-files {FILES...}").read()?;
    for file in files.lines() {
        let (from, to) = (workspace::root().join(file), tree.join(file));
        fs::create_dir_all(to.parent().context("a file in a folder")?)?;
        fs::copy(from, to)?;
    }
    let manifest = fs::read_to_string(workspace::root().join("Cargo.toml"))?;
    let members =
        manifest.lines().map(|line| if line.starts_with("members = ") { MEMBERS } else { line });
    fs::write(tree.join("Cargo.toml"), members.collect::<Vec<_>>().join("\n"))?;
    Ok(tree)
}

impl Mutant {
    fn run(&self, tree: &Path) -> Result<Fate> {
        let file = tree.join(&self.file);
        let original = fs::read_to_string(&file)?;
        fs::write(&file, self.edited(&original)?)?;
        let fate = self.test(tree);
        fs::write(&file, original)?;
        fate
    }

    /// The file's text with the fault.
    fn edited(&self, original: &str) -> Result<String> {
        let mut edits = std::iter::once(&self.edit).chain(&self.also);
        edits.try_fold(original.to_owned(), |text, edit| {
            let found = text.matches(&edit.find).count();
            ensure!(found == 1, "expected its place once in {}, found it {found} times", self.file);
            Ok(text.replace(&edit.find, &edit.replace))
        })
    }

    fn test(&self, tree: &Path) -> Result<Fate> {
        let shell = Shell::new()?;
        shell.change_dir(tree);
        let compiles = self.passes(&shell, &["--no-run"], COMPILING)?;
        if !compiles.with_context(|| format!("expected a compiled fault within {COMPILING} s"))? {
            return Ok(Fate::Broken);
        }
        Ok(match self.passes(&shell, &[], TESTING)? {
            Some(true) => Fate::Survived,
            Some(false) => Fate::Caught,
            None => Fate::Endless,
        })
    }

    /// Returns whether the tests are compiled or pass; `None` if they do not end in time.
    fn passes(&self, shell: &Shell, more: &[&str], longest: &str) -> Result<Option<bool>> {
        let kind = self.checker.as_deref().unwrap_or("plain");
        let package = self.package.as_deref().unwrap_or("polyflake");
        let release = self.checker.as_ref().map(|_| "--release");
        let (target, arguments) = (workspace::target().join("mutants").join(kind), &self.arguments);
        // What the tests started is killed with them.
        let limited = ["--kill-after", "10", longest];
        let tests = cmd!(
            shell,
            "timeout {limited...} cargo test --quiet --package {package} --all-features"
        )
        .args(release)
        .args(more)
        .args(arguments)
        .env("CARGO_TARGET_DIR", target);
        let tests = match &self.checker {
            Some(checker) => tests.env("RUSTFLAGS", format!("--cfg {checker}")),
            None => tests,
        };
        let status = tests.quiet().ignore_status().output()?.status;
        Ok(match status.code() {
            Some(124) | None => None,
            code => Some(code == Some(0)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_stands_once_in_its_file() {
        let edit = Edit { find: "a".to_owned(), replace: "c".to_owned() };
        let also = vec![Edit { find: "c".to_owned(), replace: "d".to_owned() }];
        let (name, file) = ("a fault".to_owned(), "a.rs".to_owned());
        let mutant =
            Mutant { name, file, edit, also, checker: None, package: None, arguments: vec![] };
        assert_eq!(mutant.edited("a b").unwrap(), "d b");
        for text in ["b", "a a", "a c"] {
            assert!(mutant.edited(text).is_err(), "{text}");
        }
    }
}
