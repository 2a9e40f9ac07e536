//! The examples of README.md, run as they are written.

use std::{fs, path::Path};

use anyhow::{Result, ensure};
use xshell::{Shell, cmd};

use crate::workspace;

/// Every fenced block of Rust, Python and JavaScript must run.
pub fn check(shell: &Shell) -> Result<()> {
    let readme = fs::read_to_string(workspace::root().join("README.md"))?;
    let folder = tempfile::tempdir()?;
    rust(shell, &readme, folder.path())?;
    for (language, run) in
        [("python", python as fn(&Shell, &Path) -> Result<()>), ("js", javascript)]
    {
        let blocks = blocks(&readme, language);
        ensure!(!blocks.is_empty(), "expected an example in {language}, found none in README.md");
        for (index, block) in blocks.iter().enumerate() {
            let file = folder.path().join(format!("example_{index}.{language}"));
            fs::write(&file, block)?;
            run(shell, &file)?;
        }
        println!("{language}: {} examples", blocks.len());
    }
    Ok(())
}

/// The contents of the fenced blocks of a language.
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

/// rustdoc runs the blocks of a Markdown file as tests. Each may use `?`, so each gets a hidden last line.
fn rust(shell: &Shell, readme: &str, folder: &Path) -> Result<()> {
    let blocks = blocks(readme, "rust");
    ensure!(!blocks.is_empty(), "expected an example in rust, found none in README.md");
    let tests: String = blocks
        .iter()
        .flat_map(|block| ["```\n", block, "# Ok::<(), polyflake::Error>(())\n```\n"])
        .collect();
    let file = folder.join("README.md");
    fs::write(&file, tests)?;
    cmd!(shell, "cargo build --quiet --package polyflake --features serde").run()?;
    let built = workspace::target().join("debug");
    let (library, dependencies) = (built.join("libpolyflake.rlib"), built.join("deps"));
    cmd!(
        shell,
        "rustdoc --test {file} --edition 2024 --extern polyflake={library} -L {dependencies}"
    )
    .run()?;
    Ok(())
}

fn python(shell: &Shell, file: &Path) -> Result<()> {
    let python = workspace::python();
    Ok(cmd!(shell, "{python} -P {file}").run()?)
}

/// From where the package's name leads to what was built here.
fn javascript(shell: &Shell, file: &Path) -> Result<()> {
    let there =
        tempfile::Builder::new().suffix(".mjs").tempfile_in(workspace::root().join("tests"))?;
    fs::copy(file, there.path())?;
    let path = there.path();
    Ok(cmd!(shell, "node {path}").run()?)
}

#[cfg(test)]
mod tests {
    #[test]
    fn blocks_of_one_language_are_found() {
        let text = "a\n```js\none\n\ntwo\n```\n```python\nthree\n```\n```js\nfour\n```\n";
        assert_eq!(super::blocks(text, "js"), ["one\n\ntwo\n", "four\n"]);
        assert_eq!(super::blocks(text, "rust"), [""; 0]);
    }
}
