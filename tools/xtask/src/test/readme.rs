//! Runs the examples in the repository's README, in the documentation pages, and in each package's README, exactly as they
//! are written.

use std::{fs, path::Path};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use xshell::{Shell, cmd};

use super::rust;
use crate::workspace;

type RunFn = fn(&Shell, &[String], &Path) -> Result<()>;

const RUST: (&str, RunFn) = ("rust", run_rust_blocks);
const PYTHON: (&str, RunFn) = ("python", run_python_blocks);
const JAVASCRIPT: (&str, RunFn) = ("js", run_javascript_blocks);

const ALL: [(&str, RunFn); 3] = [RUST, PYTHON, JAVASCRIPT];

/// The language of Rust examples that are compiled but not run, because they need a server.
const COMPILED_RUST: &str = "rust no_run";

/// The folder of the guide, whose examples exist in all languages.
const GUIDE: &str = "docs/guide";

/// The READMEs, each with the languages in which it must have examples.
const READMES: [(&str, &[(&str, RunFn)]); 10] = [
    ("README.md", &ALL),
    ("docs/columns.md", &[PYTHON, JAVASCRIPT]),
    ("docs/integrations/bundlers.md", &[JAVASCRIPT]),
    ("docs/integrations/graphql.md", &[JAVASCRIPT]),
    ("docs/integrations/prisma.md", &[JAVASCRIPT]),
    ("docs/integrations/validation.md", &[JAVASCRIPT]),
    ("docs/public-ids.md", &ALL),
    ("core/README.md", &[RUST]),
    ("packages/python/README.md", &[PYTHON]),
    ("packages/js/README.md", &[JAVASCRIPT]),
];

/// The README of the leases crate. Its first shell block and first Rust block show new users how to generate IDs.
const LEASE_README: &str = "lease/README.md";

/// Checks that every fenced code block runs on its own.
pub fn check(shell: &Shell) -> Result<()> {
    let guide = check_guide(shell)?;
    let guide = guide.iter().map(|page| (page.as_str(), &ALL[..]));
    for (readme, languages) in READMES.into_iter().chain(guide.clone()) {
        let text = fs::read_to_string(workspace::root().join(readme))?;
        for (language, run) in languages {
            let blocks = blocks(&text, language);
            ensure!(
                !blocks.is_empty(),
                "expected an example in {language}, found none in {readme}"
            );
            let folder = tempfile::tempdir()?;
            run(shell, &blocks, folder.path())?;
            let compiled =
                if *language == RUST.0 { self::blocks(&text, COMPILED_RUST) } else { vec![] };
            if !compiled.is_empty() {
                test_rust_blocks(shell, &compiled, "```no_run\n", folder.path())?;
            }
            println!("{readme}: {} examples in {language}", blocks.len());
        }
    }
    Ok(())
}

/// Checks the guide's pages and returns the faults. A section with an example must have the example in all languages.
pub fn check_guide(shell: &Shell) -> Result<Vec<String>> {
    let mut pages = Vec::new();
    for file in shell.read_dir(workspace::root().join(GUIDE))? {
        let name = file.file_name().context("expected a name")?.to_string_lossy().into_owned();
        let page = format!("{GUIDE}/{name}");
        let lacking = incomplete_sections(&fs::read_to_string(&file)?);
        ensure!(lacking.is_empty(), "{page}: expected every language under {}", lacking.join(", "));
        pages.push(page);
    }
    ensure!(!pages.is_empty(), "expected pages in {GUIDE}, found none");
    Ok(pages)
}

/// Returns the headings of sections that have an example in some languages but not in all.
fn incomplete_sections(page: &str) -> Vec<String> {
    let is_lacking = |section: &&str| {
        let has = ALL.map(|(language, _)| {
            let is_compiled = language == RUST.0 && !blocks(section, COMPILED_RUST).is_empty();
            is_compiled || !blocks(section, language).is_empty()
        });
        has.contains(&true) && has.contains(&false)
    };
    let heading = |section: &str| section.lines().next().unwrap_or_default().to_owned();
    page.split("\n## ").filter(is_lacking).map(heading).collect()
}

/// Tests a new user's project. Runs the command in the leases README, but with the crate's folder instead of a registry.
/// Then runs the README's unmodified program twice, with the same lease file.
pub fn test_new_project(shell: &Shell) -> Result<()> {
    let text = fs::read_to_string(workspace::root().join(LEASE_README))?;
    let first = |language| blocks(&text, language).into_iter().next();
    let (add, main) = first("sh").zip(first("rust no_run")).context("expected two blocks")?;
    let lease = workspace::root().join("lease");
    let add: Vec<_> = add.trim().strip_prefix("cargo ").unwrap_or_default().split(' ').collect();
    ensure!(
        add.first() == Some(&"add"),
        "expected `cargo add`, found another command in {LEASE_README}"
    );
    // The folder must be on a disk, because leases cannot be stored on a RAM disk. The system's folder for temporary files
    // cannot be used, because it may be on a RAM disk.
    let folder = tempfile::tempdir_in(workspace::target())?;
    let _apart = shell.push_env("CARGO_TARGET_DIR", workspace::target().join("newcomer"));
    let _there = shell.push_dir(folder.path());
    shell.write_file(
        "Cargo.toml",
        "[package]\nname = \"newcomer\"\nedition = \"2024\"\n[workspace]\n",
    )?;
    shell.write_file("src/main.rs", main)?;
    // Use the workspace's versions, so that a new release of a dependency does not change the result.
    shell.copy_file(workspace::root().join("Cargo.lock"), "Cargo.lock")?;
    cmd!(shell, "cargo {add...} --quiet --path {lease}").run()?;
    let ids = [(); 2].map(|()| cmd!(shell, "cargo run --quiet").read());
    let [first, second] = ids;
    let (first, second) = (first?, second?);
    ensure!(first.len() == 16 && first < second, "expected two IDs, found {first} and {second}");
    ensure!(folder.path().join("leases.db").exists(), "expected a file of leases, found none");
    println!("{LEASE_README}: {first} and {second}");
    Ok(())
}

/// Returns the contents of the fenced code blocks in a language.
fn blocks(markdown: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}");
    let mut blocks = Vec::new();
    let mut lines = markdown.lines();
    while lines.by_ref().any(|line| line.trim() == fence) {
        let block = lines.by_ref().take_while(|line| line.trim() != "```");
        blocks.push(block.flat_map(|line| [line, "\n"]).collect());
    }
    blocks
}

fn run_rust_blocks(shell: &Shell, blocks: &[String], folder: &Path) -> Result<()> {
    test_rust_blocks(shell, blocks, "```\n", folder)
}

/// Writes the code blocks with a fence to a Markdown file, and runs the file's documentation tests with rustdoc. Adds a
/// hidden last line to each block, so that the block may use `?`.
fn test_rust_blocks(shell: &Shell, blocks: &[String], fence: &str, folder: &Path) -> Result<()> {
    let tests: String = blocks
        .iter()
        .flat_map(|block| [fence, block, "# Ok::<(), Box<dyn std::error::Error>>(())\n```\n"])
        .collect();
    let file = folder.join("README.md");
    fs::write(&file, tests)?;
    let libraries = libraries(shell)?;
    let dependencies = workspace::target().join("debug/deps");
    cmd!(shell, "rustdoc --test {file} --edition 2024 {libraries...} -L {dependencies}").run()?;
    Ok(())
}

/// Returns rustdoc's arguments for the crates that the examples use. Cargo builds these crates when it compiles the tests
/// of `rust::tested_members`.
fn libraries(shell: &Shell) -> Result<Vec<String>> {
    const README_CRATES: [&str; 5] =
        ["polyflake", "polyflake_lease", "serde", "serde_json", "uuid"];
    let members = rust::tested_members();
    let built = cmd!(shell, "cargo test --quiet {members...} --no-run --message-format json");
    let built = built.read()?;
    let messages = built.lines().map(serde_json::from_str).collect::<Result<Vec<Value>, _>>()?;
    let file_of = |name: &str| {
        let is_it = |message: &&Value| {
            message["target"]["name"] == name && message["target"]["kind"] == json!(["lib"])
        };
        let message = messages.iter().find(is_it)?;
        let mut files = message["filenames"].as_array()?.iter().filter_map(Value::as_str);
        let library =
            files.find(|file| Path::new(file).extension().is_some_and(|end| end == "rlib"));
        library.map(|file| format!("{name}={file}"))
    };
    let mut arguments = Vec::new();
    for name in README_CRATES {
        let file = file_of(name).with_context(|| format!("cargo built no {name}"))?;
        arguments.extend(["--extern".to_owned(), file]);
    }
    Ok(arguments)
}

fn run_python_blocks(shell: &Shell, blocks: &[String], folder: &Path) -> Result<()> {
    let (python, file) = (workspace::python(), folder.join("example.py"));
    for block in blocks {
        fs::write(&file, block)?;
        cmd!(shell, "{python} -P {file}").run()?;
    }
    Ok(())
}

/// Runs the blocks in the folder `tests`, where the package's name resolves to the package that was built here.
fn run_javascript_blocks(shell: &Shell, blocks: &[String], _: &Path) -> Result<()> {
    let tests = workspace::root().join("tests");
    for block in blocks {
        let file = tempfile::Builder::new().suffix(".mjs").tempfile_in(&tests)?;
        fs::write(file.path(), block)?;
        let path = file.path();
        cmd!(shell, "node {path}").run()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_section_that_omits_a_language_is_incomplete() {
        let block = |language: &str| format!("```{language}\n1\n```\n");
        let all = block("rust") + &block("python") + &block("js");
        let page = format!("# a\n{all}\n## b\ntext\n## c\n{}\n## d\n{all}", block("python"));
        assert_eq!(super::incomplete_sections(&page), ["c"]);
        let compiled = page.replace("```rust\n", "```rust no_run\n");
        assert_eq!(super::incomplete_sections(&compiled), ["c"]);
    }

    #[test]
    fn code_blocks_of_one_language_are_found() {
        let text = "a\n```js\none\n\ntwo\n```\n```python\nthree\n```\n```js\nfour\n```\n";
        assert_eq!(super::blocks(text, "js"), ["one\n\ntwo\n", "four\n"]);
        assert_eq!(super::blocks(text, "rust"), [""; 0]);
    }
}
