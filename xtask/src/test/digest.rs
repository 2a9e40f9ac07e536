//! Digests of the repository's files, by git.

use std::{
    io::Write,
    process::{Command, Stdio},
};

use anyhow::{Context, Result, ensure};
use xshell::{Shell, cmd};

use crate::workspace;

/// A digest of the files under these paths, as git names paths, that git has or would add.
pub fn of_files(shell: &Shell, paths: &[&str]) -> Result<String> {
    let options = ["--cached", "--others", "--exclude-standard", "--"];
    let listed = cmd!(shell, "git ls-files {options...} {paths...}").quiet().read()?;
    let there = |path: &&str| workspace::root().join(path).is_file();
    let mut files: Vec<_> = listed.lines().filter(there).collect();
    // Git lists untracked files first.
    files.sort_unstable();
    let hashes = hash(&["--stdin-paths"], &files.join("\n"))?;
    let named: Vec<_> =
        files.iter().zip(hashes.lines()).map(|(file, hash)| format!("{hash} {file}")).collect();
    of_text(&named.join("\n"))
}

/// A digest of a text.
pub fn of_text(text: &str) -> Result<String> {
    hash(&["--stdin"], text)
}

/// Asks git for hashes of its input.
fn hash(options: &[&str], input: &str) -> Result<String> {
    let mut git = Command::new("git")
        .current_dir(workspace::root())
        .arg("hash-object")
        .args(options)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    git.stdin.take().context("expected a pipe to git")?.write_all(input.as_bytes())?;
    let output = git.wait_with_output()?;
    ensure!(output.status.success(), "git hash-object failed");
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}
