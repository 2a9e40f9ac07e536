//! The programs that run the benchmarks, one for each language.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, ensure};
use xshell::{Cmd, Shell, cmd};

use super::report::Comparison;
use crate::{
    build::{self, Part, Purpose},
    tools, workspace,
};

pub struct Program {
    /// The language, which is also the prefix of the names of this program's comparisons.
    language: &'static str,
    /// Builds the program and the code that it measures.
    set_up: fn(&Shell) -> Result<()>,
    command: for<'s> fn(&'s Shell, &str) -> Cmd<'s>,
}

/// The contests and goals to run, and the number of rounds.
pub struct Selection<'a> {
    /// A filter that selects the contests and goals whose names contain this string.
    pub filter: &'a str,
    /// The number of times that each entry is timed in a contest.
    pub rounds: u32,
}

/// The maximum number of times that a program runs a contest. A contest is repeated if its rounds leave a goal undecided.
const MAX_REPETITIONS: usize = 8;

/// A command-line argument for the programs. With this argument, a program runs no contests, and prints the properties of
/// each library's IDs instead.
const MARKS: &str = "marks";

pub const ALL: [Program; 3] = [
    Program { language: "rust", set_up: build_rust, command: rust_command },
    Program { language: "python", set_up: build_python, command: python_command },
    Program { language: "node", set_up: build_node, command: node_command },
];

impl Program {
    /// Returns whether the filter selects this program. A filter that names no language selects all programs.
    pub fn matches_filter(&self, filter: &str) -> bool {
        let named = |program: &Self| filter.starts_with(&format!("{}:", program.language));
        named(self) || !ALL.iter().any(named)
    }

    /// Sets up the program, runs it, and passes each contest to `take` when the contest ends. After the program prints the
    /// times of a contest, it reads a reply: `more` to time the contest again, or `next` to start the next contest.
    pub fn run(
        &self,
        shell: &Shell,
        ask: &Selection,
        mut take: impl FnMut(Comparison),
    ) -> Result<()> {
        (self.set_up)(shell)?;
        let mut command = Command::from((self.command)(shell, ask.filter));
        command.env("POLYFLAKE_BENCH_ROUNDS", ask.rounds.to_string());
        let mut program = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let mut replies = program.stdin.take().context("expected the program's input")?;
        let lines = BufReader::new(program.stdout.take().context("expected the program's output")?);
        let mut times = 0;
        for line in lines.lines() {
            let contest = Comparison::parse(&line?)?;
            times += 1;
            if contest.is_open() && times < MAX_REPETITIONS {
                replies.write_all(b"more\n")?;
                continue;
            }
            replies.write_all(b"next\n")?;
            times = 0;
            take(contest);
        }
        ensure!(program.wait()?.success(), "the bench in {} failed", self.language);
        Ok(())
    }
}

impl Program {
    /// Sets up the program and makes it print the properties that each library's IDs have.
    pub fn print_marks(&self, shell: &Shell) -> Result<()> {
        (self.set_up)(shell)?;
        Ok((self.command)(shell, MARKS).env("POLYFLAKE_BENCH_ROUNDS", "2").quiet().run()?)
    }
}

/// Returns the path of the Rust program. This program also performs tasks other than comparisons.
pub fn rust_program() -> std::path::PathBuf {
    workspace::target().join("release/bench-rust")
}

pub fn build_rust(shell: &Shell) -> Result<()> {
    Ok(cmd!(shell, "cargo build --quiet --release --package bench-rust").run()?)
}

fn rust_command<'s>(shell: &'s Shell, filter: &str) -> Cmd<'s> {
    let program = rust_program();
    if filter == MARKS {
        return cmd!(shell, "{program} marks");
    }
    cmd!(shell, "{program} contests {filter}")
}

/// Builds and installs a wheel for a single version of Python, because pip selects this kind of wheel on the most common
/// platforms.
fn build_python(shell: &Shell) -> Result<()> {
    tools::python(shell)?;
    let (python, wheels) = (tools::bench_python(shell)?, tempfile::tempdir()?);
    let into = wheels.path();
    {
        let _there = shell.push_dir(workspace::root().join("packages/python"));
        let options = ["--quiet", "--release", "--features", "one-version"];
        cmd!(shell, "maturin build {options...} --interpreter {python} --out {into}").run()?;
    }
    let options = ["--quiet", "--force-reinstall", "--no-deps", "--no-index", "--find-links"];
    Ok(cmd!(shell, "{python} -m pip install {options...} {into} polyflake").run()?)
}

fn python_command<'s>(shell: &'s Shell, filter: &str) -> Cmd<'s> {
    let (python, program) =
        (workspace::bench_venv().join("bin/python"), workspace::root().join("tools/bench/python"));
    cmd!(shell, "{python} {program} {filter}")
}

fn build_node(shell: &Shell) -> Result<()> {
    build::build(shell, Part::Javascript, Purpose::Users)?;
    tools::npm_install(shell, "tools/bench/node")?;
    let _there = shell.push_dir(workspace::root().join("tools/bench/node"));
    Ok(cmd!(shell, "npm run --silent build").run()?)
}

/// Returns the command for the Node program. taskset pins the program to one processor, because Node cannot pin itself.
/// Without taskset, the system may move the program between processors.
fn node_command<'s>(shell: &'s Shell, filter: &str) -> Cmd<'s> {
    let program = workspace::root().join("tools/bench/node/build/main.js");
    let last = std::thread::available_parallelism().map_or(0, |count| count.get() - 1).to_string();
    if cmd!(shell, "taskset --version").quiet().ignore_stdout().run().is_ok() {
        return cmd!(shell, "taskset --cpu-list {last} node {program} {filter}");
    }
    cmd!(shell, "node {program} {filter}")
}

#[cfg(test)]
mod tests {
    use super::ALL;

    #[test]
    fn a_language_filter_excludes_other_languages() {
        let meant = |filter: &str| {
            ALL.iter()
                .filter(|program| program.matches_filter(filter))
                .map(|program| program.language)
                .collect::<Vec<_>>()
        };
        assert_eq!(meant("python: sno"), ["python"]);
        assert_eq!(meant("sno"), ["rust", "python", "node"]);
        assert_eq!(meant(""), ["rust", "python", "node"]);
    }
}
