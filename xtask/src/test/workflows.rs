//! The workflows of continuous integration: two linters, and the rule that they run tasks of this repository alone.

use std::fs;

use anyhow::{Result, ensure};
use xshell::{Shell, cmd};

use crate::workspace;

const FOLDER: &str = ".github/workflows";

pub fn check(shell: &Shell) -> Result<()> {
    let files = &shell.read_dir(FOLDER)?;
    ensure!(!files.is_empty(), "expected workflows in {FOLDER}, found none");
    for file in files {
        let faults = faults(&fs::read_to_string(file)?);
        ensure!(faults.is_empty(), "{}: {}", file.display(), faults.join("; "));
    }
    let _there = shell.push_dir(workspace::root().join("tests"));
    cmd!(shell, "node workflows.mjs {files...}").run()?;
    Ok(cmd!(shell, "zizmor --offline --quiet --persona pedantic {files...}").run()?)
}

/// Commands that are no task, and actions that are not pinned by the hash of a commit.
fn faults(text: &str) -> Vec<String> {
    let lines = text.lines().map(|line| line.trim_start().trim_start_matches("- "));
    let fault = |line: &str| {
        if let Some(command) = line.strip_prefix("run: ") {
            return (!command.starts_with("cargo xtask ")).then(|| format!("{command} is no task"));
        }
        let action = line.strip_prefix("uses: ")?;
        let hash = action.split_once('@')?.1.split(' ').next()?;
        let is_hash = hash.len() == 40 && hash.chars().all(|c| c.is_ascii_hexdigit());
        (!is_hash).then(|| format!("{action} is not pinned"))
    };
    lines.filter_map(fault).collect()
}

#[cfg(test)]
mod tests {
    use super::faults;

    #[test]
    fn tasks_and_pinned_actions_pass() {
        let hash = "0123456789abcdef0123456789abcdef01234567";
        let text = format!("      - run: cargo xtask test\n      - uses: a/b@{hash} # v1\n");
        assert_eq!(faults(&text), [""; 0]);
    }

    #[test]
    fn other_commands_and_tags_are_faults() {
        assert_eq!(faults("- run: npm test\n").len(), 1);
        assert_eq!(faults("- uses: a/b@v4\n").len(), 1);
    }
}
