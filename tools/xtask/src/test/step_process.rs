//! Runs a step in a separate process, prints its output, and keeps the lines that explain a failure.

use std::{
    env,
    io::{BufRead, BufReader, PipeReader, pipe},
    process::Command,
    sync::mpsc::{Receiver, channel},
    thread,
    time::Duration,
};

use anyhow::Result;

/// The maximum number of output lines to keep from a step.
const MAX_LINES: usize = 12;
/// The number of lines to keep after a line that reports a fault. These additional lines contain details of the fault.
const MAX_FURTHER_LINES: usize = 2;
/// The time for which to keep reading from the pipe after a step has ended. Without this limit, a process that the step
/// left behind could hold the pipe open forever.
const DRAIN_TIME: Duration = Duration::from_secs(1);

/// The output lines of a step.
pub struct StepOutput {
    /// The last line, which reports how the step ended.
    pub last: String,
    /// The lines that explain the failure, if the step failed.
    pub reasons: Vec<String>,
}

/// Runs the named step.
pub fn run(step: &str) -> Result<StepOutput> {
    let (reader, writer) = pipe()?;
    let mut child = Command::new(env::current_exe()?)
        .args(["test", "--alone", step])
        .stdout(writer.try_clone()?)
        .stderr(writer)
        .spawn()?;
    let shown = forward_lines(reader);
    child.wait()?;
    let mut lines = Vec::new();
    while let Ok(line) = shown.recv_timeout(DRAIN_TIME) {
        lines.push(line);
    }
    Ok(StepOutput {
        last: lines.last().cloned().unwrap_or_default(),
        reasons: failure_lines(&lines),
    })
}

/// Prints lines as they arrive, and also sends them to the returned receiver.
fn forward_lines(reader: PipeReader) -> Receiver<String> {
    let (sender, lines) = channel();
    thread::spawn(move || {
        for line in BufReader::new(reader).split(b'\n').map_while(Result::ok) {
            let line = String::from_utf8_lossy(&line).into_owned();
            println!("{line}");
            let _ = sender.send(line);
        }
    });
    lines
}

/// Returns the lines that report faults, a few lines after each of them, and the line that reports that the step failed.
fn failure_lines(lines: &[String]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut left = 0;
    for line in lines.iter().filter(|line| !line.trim().is_empty()) {
        left = if line.starts_with("FAILED: ") {
            MAX_LINES
        } else if is_fault_line(line) {
            1 + MAX_FURTHER_LINES
        } else {
            left
        };
        if left > 0 && kept.len() < MAX_LINES {
            left -= 1;
            kept.push(line.clone());
        }
    }
    kept
}

fn is_fault_line(line: &str) -> bool {
    let line = line.trim_start();
    let starts = ["error", "FAILED ", "not ok ", "E  ", "---- "];
    starts.iter().any(|start| line.starts_with(start))
        || line.contains("panicked at")
        || line.contains("signal:")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owned_lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_panic_is_kept_with_its_message() {
        let said = owned_lines(
            "running 2 tests\n.F\nthread 'late' panicked at core/tests/late.rs:7:5:\nleft: 1\nright: 2\nnote: run",
        );
        let kept = failure_lines(&said);
        assert_eq!(
            kept,
            ["thread 'late' panicked at core/tests/late.rs:7:5:", "left: 1", "right: 2"]
        );
    }

    #[test]
    fn the_verdict_is_kept_with_all_lines_after_it() {
        let said = owned_lines("== tidy ==\nFAILED: tidy (0.9 s): 1 faults:\n  a\n  b\n  c\n  d");
        assert_eq!(failure_lines(&said), said[1..]);
    }

    #[test]
    fn the_summary_limits_the_lines_of_a_step() {
        let said: Vec<_> = (0..50).map(|k| format!("error: {k}")).collect();
        assert_eq!(failure_lines(&said).len(), MAX_LINES);
    }
}
