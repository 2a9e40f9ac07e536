//! Runs the tests with each of the listed faults. The test suite must catch every fault.

use std::{
    collections::HashSet,
    env::consts::{DLL_PREFIX, DLL_SUFFIX},
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use xshell::{Cmd, Shell, cmd};

use crate::workspace;

/// The maximum time for compiling a fault and its tests, in seconds.
const COMPILE_SECONDS: &str = "1200";

/// The maximum time for a fault's tests, in seconds. Tests that take longer count as having detected the fault. Without a
/// fault, the longest tests take a minute.
const TEST_SECONDS: &str = "300";

/// The lists of faults, with the tests that must detect them.
const LISTS: [(&str, TestSuite); 3] = [
    ("tests/mutants/mutants.toml", TestSuite::Rust),
    ("tests/mutants/python.toml", TestSuite::Python),
    ("tests/mutants/javascript.toml", TestSuite::JavaScript),
];

/// The test suite that must detect the faults in a list. The suite is built without optimization.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum TestSuite {
    /// `cargo test` of a package.
    #[default]
    Rust,
    /// `pytest` in `packages/python`.
    Python,
    /// `node --test` in `packages/js`.
    JavaScript,
}

#[derive(Deserialize)]
struct List {
    mutant: Vec<Mutant>,
}

#[derive(Deserialize)]
struct Edit {
    find: String,
    replace: String,
}

/// A fault, and the tests that must detect it.
#[derive(Deserialize)]
struct Mutant {
    name: String,
    file: String,
    #[serde(flatten)]
    edit: Edit,
    #[serde(default)]
    also: Vec<Edit>,
    checker: Option<String>,
    /// The package whose tests run, or `None` for the core.
    package: Option<String>,
    arguments: Vec<String>,
    #[serde(skip)]
    tests: TestSuite,
    #[serde(skip)]
    list: &'static str,
}

/// The outcome of a mutant.
enum Outcome {
    Caught,
    /// The mutant's tests timed out.
    Endless,
    Survived,
    /// The mutated code does not compile, so the mutant is not counted.
    Broken,
}

/// Returns the faults in all lists.
fn load() -> Result<Vec<Mutant>> {
    let mut all = Vec::new();
    for (list, tests) in LISTS {
        let text = fs::read_to_string(workspace::root().join(list))?;
        let List { mutant } = toml::from_str(&text).context(list)?;
        all.extend(mutant.into_iter().map(|mutant| Mutant { tests, list, ..mutant }));
    }
    Ok(all)
}

/// Returns a message for each outdated fault. A fault is outdated if it can no longer be applied because its file was
/// edited, if it inserts a name that does not occur in any source file, or if its arguments select no test.
pub fn outdated_mutants() -> Result<Vec<String>> {
    let sources = sources()?;
    let known: HashSet<_> = sources.iter().flat_map(|(_, source)| names(source)).collect();
    let of = |mutant: &Mutant| -> Result<Option<String>> {
        let text = fs::read_to_string(workspace::root().join(&mutant.file))
            .with_context(|| mutant.file.clone())?;
        let fault = mutant.mutated_text(&text).err().map(|fault| fault.to_string());
        let unknown = names(&mutant.edit.replace).find(|name| !known.contains(name));
        let fault = fault.or_else(|| Some(format!("no source contains the name {}", unknown?)));
        let fault = fault
            .or_else(|| Some(format!("no test matches {}", mutant.unmatched_filter(&sources)?)));
        Ok(fault.map(|fault| format!("{}: {}: {fault}", mutant.list, mutant.name)))
    };
    load()?.iter().filter_map(|mutant| of(mutant).transpose()).collect()
}

/// Returns the path and the text of each source file in the repository.
fn sources() -> Result<Vec<(String, String)>> {
    let shell = workspace::shell()?;
    let files = cmd!(shell, "git ls-files *.rs *.ts *.mjs *.py *.pyi *.c").quiet().read()?;
    let read = |file: &str| {
        let text = fs::read_to_string(workspace::root().join(file)).ok()?;
        Some((file.to_owned(), text))
    };
    Ok(files.lines().filter_map(read).collect())
}

/// Returns the identifiers in source code of any language. Skips numbers and identifiers that begin with an underscore.
fn names(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic()))
}

/// Runs all mutants whose name, file or list contains one of the filters. All of them must be caught.
pub fn run(filters: &[String]) -> Result<()> {
    let (list, tree) = (load()?, copy_tree()?);
    let (mut caught, mut others) = (0, 0);
    let matches_filters = |it: &&Mutant| {
        [&it.name, &it.file, it.list].iter().any(|it| super::matches_filters(filters, it))
    };
    let meant: Vec<_> = list.iter().filter(matches_filters).collect();
    if meant.iter().any(|mutant| mutant.tests == TestSuite::JavaScript) {
        build_javascript(&tree)?;
    }
    for mutant in meant {
        let fate = mutant.run(&tree).with_context(|| mutant.name.clone())?;
        let word = match fate {
            Outcome::Caught => "caught",
            Outcome::Endless => "caught by never ending",
            Outcome::Survived => "SURVIVED",
            Outcome::Broken => "DOES NOT COMPILE",
        };
        println!("{word}: {}", mutant.name);
        *if matches!(fate, Outcome::Caught | Outcome::Endless) {
            &mut caught
        } else {
            &mut others
        } += 1;
    }
    println!("{caught} caught, {others} not");
    ensure!(others == 0, "a fault was not caught");
    Ok(())
}

/// Creates a fresh copy of the tracked files, including uncommitted changes.
fn copy_tree() -> Result<PathBuf> {
    let (shell, tree) = (workspace::shell()?, workspace::target().join("mutants/tree"));
    shell.remove_path(&tree)?;
    shell.create_dir(&tree)?;
    let files = cmd!(shell, "git ls-files").read()?;
    for file in files.lines() {
        let (from, to) = (workspace::root().join(file), tree.join(file));
        fs::create_dir_all(to.parent().context("a file in a folder")?)?;
        fs::copy(from, to)?;
    }
    Ok(tree)
}

/// Builds the npm package of the copied tree. The faults change the package's scripts and addon, but not its wasm modules.
fn build_javascript(tree: &Path) -> Result<()> {
    let (shell, package) = (Shell::new()?, "packages/js");
    let tools = workspace::root().join(package).join("node_modules");
    shell.change_dir(tree.join(package));
    cmd!(shell, "ln -s {tools} node_modules").run()?;
    let build = cmd!(shell, "npm run --silent build -- --dev");
    Ok(build.env("CARGO_TARGET_DIR", target("javascript")).run()?)
}

impl Mutant {
    fn run(&self, tree: &Path) -> Result<Outcome> {
        let file = tree.join(&self.file);
        let original = fs::read_to_string(&file)?;
        fs::write(&file, self.mutated_text(&original)?)?;
        let fate = self.test(tree);
        fs::write(&file, original)?;
        fate
    }

    /// Returns the file's text with the fault applied.
    fn mutated_text(&self, original: &str) -> Result<String> {
        let mut edits = std::iter::once(&self.edit).chain(&self.also);
        edits.try_fold(original.to_owned(), |text, edit| {
            let found = text.matches(&edit.find).count();
            ensure!(found == 1, "expected its place once in {}, found it {found} times", self.file);
            Ok(text.replace(&edit.find, &edit.replace))
        })
    }

    /// Returns a filter that cannot match the name of a test, because the selected Cargo target contains no such
    /// identifier outside of comments. Without this check, such a filter would only be noticed when the mutant survives.
    fn unmatched_filter(&self, sources: &[(String, String)]) -> Option<&str> {
        let is_selected = |path: &str| match self.target() {
            [_, test] => path.contains(&format!("/tests/{test}")),
            [_] => path.contains("/src/"),
            _ => true,
        };
        let code = || sources.iter().filter(|(path, _)| is_selected(path));
        let lines = || {
            code()
                .flat_map(|(_, text)| text.lines())
                .filter(|line| !line.trim_start().starts_with("//"))
        };
        let occurs = |part: &str| {
            code().any(|(path, _)| path.contains(part))
                || lines().flat_map(names).any(|name| name.contains(part))
        };
        let mut filters = self.arguments[self.target().len()..].iter().map(String::as_str);
        filters.find(|filter| {
            self.tests == TestSuite::Rust
                && !filter.starts_with('-')
                && !filter.split("::").all(occurs)
        })
    }

    fn test(&self, tree: &Path) -> Result<Outcome> {
        let shell = Shell::new()?;
        shell.change_dir(tree.join(self.folder()));
        let compiles = succeeds_in_time(self.compile_command(&shell))?;
        if !compiles
            .with_context(|| format!("expected a compiled fault within {COMPILE_SECONDS} s"))?
        {
            return Ok(Outcome::Broken);
        }
        if self.tests == TestSuite::Python {
            let library = format!("{DLL_PREFIX}_polyflake{DLL_SUFFIX}");
            let library = target("python").join("debug").join(library);
            shell.copy_file(library, "src/polyflake/_polyflake.abi3.so")?;
        }
        Ok(match succeeds_in_time(self.test_command(&shell))? {
            Some(true) => Outcome::Survived,
            Some(false) => Outcome::Caught,
            None => Outcome::Endless,
        })
    }

    /// Returns the folder in which the tests run.
    const fn folder(&self) -> &'static str {
        match self.tests {
            TestSuite::Rust => ".",
            TestSuite::Python => "packages/python",
            TestSuite::JavaScript => "packages/js",
        }
    }

    /// Returns the command that compiles a mutant.
    fn compile_command<'s>(&self, shell: &'s Shell) -> Cmd<'s> {
        let with_limits = with_timeout(shell, COMPILE_SECONDS);
        match self.tests {
            TestSuite::Rust => self.cargo_test(with_limits).arg("--no-run").args(self.target()),
            TestSuite::Python => with_limits
                .args(["cargo", "build", "--quiet", "--package", "polyflake-python"])
                .args(["--features", "pyo3/abi3-py311"])
                .env("PYO3_PYTHON", workspace::python())
                .env("CARGO_TARGET_DIR", target("python")),
            TestSuite::JavaScript => with_limits
                .args(["npm", "run", "--silent", "build", "--", "native", "script", "--dev"])
                .env("CARGO_TARGET_DIR", target("javascript")),
        }
    }

    /// Returns the arguments that select one Cargo target, without the filters that select tests within the target.
    fn target(&self) -> &[String] {
        match self.arguments.first().map(String::as_str) {
            Some("--test") => &self.arguments[..2],
            Some("--lib") => &self.arguments[..1],
            _ => &[],
        }
    }

    /// Returns the command that runs the tests.
    fn test_command<'s>(&self, shell: &'s Shell) -> Cmd<'s> {
        let with_limits = with_timeout(shell, TEST_SECONDS);
        match self.tests {
            TestSuite::Rust => self.cargo_test(with_limits).args(&self.arguments),
            TestSuite::Python => with_limits
                .arg(workspace::python())
                .args(["-m", "pytest", "--exitfirst", "-p", "no:cacheprovider"])
                .args(&self.arguments)
                .env("PYTHONPATH", shell.current_dir().join("src")),
            TestSuite::JavaScript => with_limits.args(["node", "--test"]).args(&self.arguments),
        }
    }

    /// Returns a `cargo test` command, and the arguments that select the targets to compile.
    fn cargo_test<'s>(&self, with_limits: Cmd<'s>) -> Cmd<'s> {
        let kind = self.checker.as_deref().unwrap_or("plain");
        let package = self.package.as_deref().unwrap_or("polyflake");
        // The core needs no `--all-features` option, because its tests enable the features that they use.
        let features = (package != "polyflake").then_some("--all-features");
        let tests = with_limits
            .args(["cargo", "test", "--quiet", "--package", package])
            .args(features)
            .args(self.checker.as_ref().map(|_| "--release"))
            .env("CARGO_TARGET_DIR", target(kind));
        match &self.checker {
            Some(checker) => tests.env("RUSTFLAGS", format!("--cfg {checker}")),
            None => tests,
        }
    }
}

/// Returns the target directory for builds of mutated code.
fn target(kind: &str) -> PathBuf {
    workspace::target().join("mutants").join(kind)
}

/// Returns a `timeout` command, to which the caller appends the command to run. When the time limit (in seconds) is
/// reached, the command and all processes that it started are killed.
fn with_timeout<'s>(shell: &'s Shell, longest: &str) -> Cmd<'s> {
    cmd!(shell, "timeout --kill-after 10 {longest}")
}

/// Returns whether a command succeeds, or `None` if it times out.
fn succeeds_in_time(command: Cmd<'_>) -> Result<Option<bool>> {
    let command = command.quiet().ignore_status();
    Ok(match command.output()?.status.code() {
        Some(124) | None => None,
        code => Some(code == Some(0)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_must_match_once_in_its_file() {
        let edit = Edit { find: "a".to_owned(), replace: "c".to_owned() };
        let also = vec![Edit { find: "c".to_owned(), replace: "d".to_owned() }];
        let (name, file) = ("a fault".to_owned(), "a.rs".to_owned());
        let (checker, package, arguments) = (None, None, vec![]);
        let (tests, list) = (TestSuite::Rust, "a list");
        let mutant = Mutant { name, file, edit, also, checker, package, arguments, tests, list };
        assert_eq!(mutant.mutated_text("a b").unwrap(), "d b");
        for text in ["b", "a a", "a c"] {
            assert!(mutant.mutated_text(text).is_err(), "{text}");
        }
    }
}
