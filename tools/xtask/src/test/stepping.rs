//! Tests processes that generate IDs while their wall clock steps forward and backward. libfaketime changes the wall-clock
//! time that these processes read.

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use xshell::{Shell, cmd};

use crate::{tools, workspace};

/// The number of seconds for which each process generates IDs.
const RUN_SECONDS: &str = "2";

/// The time between two changes of the clock's offset. The offset is at most `MAX_OFFSET_SECONDS` seconds in either
/// direction.
const PAUSE: Duration = Duration::from_millis(50);
const MAX_OFFSET_SECONDS: f64 = 3.0;

/// The only error codes that a call may return after waiting unsuccessfully for the clock.
const EXPECTED_ERRORS: [&str; 2] = ["clock_behind", "sequence_exhausted"];

/// A program's report on its IDs. See `tests/stepping/README.md`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    ids: u64,
    twice: u64,
    steps_back: u64,
    rejected: BTreeMap<String, u64>,
}

pub fn check(shell: &Shell) -> Result<()> {
    let library = tools::faketime(shell)?;
    cmd!(shell, "cargo build --quiet --package soak --bin stepping").run()?;
    let folder = tempfile::tempdir()?;
    let time = folder.path().join("time");
    set_offset(&time, 0.0)?;
    let mut processes = programs()
        .into_iter()
        .map(|(name, program)| Ok((name, start(program, &library, &time)?)))
        .collect::<Result<Vec<_>>>()?;
    while is_any_alive(&mut processes)? {
        thread::sleep(PAUSE);
        set_offset(&time, MAX_OFFSET_SECONDS * (2.0 * fastrand::f64() - 1.0))?;
    }
    processes.into_iter().try_for_each(|(name, process)| check_report(process).context(name))
}

/// Returns the programs, without their arguments.
fn programs() -> [(&'static str, Command); 4] {
    let (root, rust) = (workspace::root(), workspace::target().join("debug/stepping"));
    let (script, module) =
        (root.join("tests/stepping/stepping.py"), root.join("tests/stepping/stepping.mjs"));
    let with = |program: &Path, arguments: &[&Path], machine: Option<&str>| {
        let mut command = Command::new(program);
        command.args(arguments).arg(RUN_SECONDS).args(machine);
        command
    };
    let node = |machine| with(Path::new("node"), &[&module], Some(machine));
    [
        ("rust", with(&rust, &[], None)),
        ("python", with(&workspace::python(), &[&script], None)),
        ("node, native", node("native")),
        ("node, wasm", node("wasm")),
    ]
}

/// Starts a program whose wall clock is controlled by the file `time`. The program's other clocks are unchanged, because on
/// a real system only the wall clock is stepped.
fn start(mut program: Command, library: &Path, time: &Path) -> Result<Child> {
    program.env("LD_PRELOAD", library).env("FAKETIME_TIMESTAMP_FILE", time);
    program.env("FAKETIME_NO_CACHE", "1").env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
    Ok(program.stdout(Stdio::piped()).spawn()?)
}

/// Sets the clock's offset. The change takes effect immediately in all programs that use the file.
fn set_offset(time: &Path, seconds: f64) -> Result<()> {
    let beside = time.with_extension("new");
    fs::write(&beside, format!("{seconds:+.3}\n"))?;
    Ok(fs::rename(beside, time)?)
}

fn is_any_alive(processes: &mut [(&str, Child)]) -> Result<bool> {
    for (_, process) in processes {
        if process.try_wait()?.is_none() {
            return Ok(true);
        }
    }
    Ok(false)
}

fn check_report(process: Child) -> Result<()> {
    let output = process.wait_with_output()?;
    ensure!(output.status.success(), "{}", output.status);
    let said: Report = serde_json::from_slice(&output.stdout).context("expected a line of JSON")?;
    ensure!(said.twice == 0, "{} IDs were there twice", said.twice);
    ensure!(said.ids > 0 && said.steps_back > 0, "expected IDs, and a clock that steps back");
    let other = said.rejected.keys().find(|code| !EXPECTED_ERRORS.contains(&code.as_str()));
    ensure!(
        other.is_none(),
        "expected no refusal but {EXPECTED_ERRORS:?}, found {}",
        other.unwrap()
    );
    Ok(())
}
