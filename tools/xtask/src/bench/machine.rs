//! Describes the machine on which the benchmarks ran.

use std::{fmt, fs, process::Command, thread};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The highest load per processor at which the measurements are reliable. A higher load means that other processes are
/// running.
const MAX_LOAD: f64 = 0.5;

#[derive(Clone, Serialize, Deserialize)]
pub struct Machine {
    pub processor: String,
    pub processors: usize,
    pub system: String,
    pub rust: String,
    /// The date of the run in UTC.
    pub date: String,
    /// The number of running or waiting processes at the start of the run, averaged over one minute.
    pub load: Option<f64>,
}

pub fn detect() -> Machine {
    Machine {
        processor: processor().unwrap_or_else(|| "a processor without a name".to_owned()),
        processors: thread::available_parallelism().map_or(1, Into::into),
        system: first_line("uname", &["-sr"]),
        rust: rust_version(),
        date: Timestamp::now().strftime("%Y-%m-%d").to_string(),
        load: load(),
    }
}

impl Machine {
    /// Returns a warning that the measurements are unreliable, if other processes are running.
    fn warning(&self) -> Option<String> {
        #[allow(clippy::cast_precision_loss, reason = "few processors")]
        let calm = self.processors as f64 * MAX_LOAD;
        let load = self.load.filter(|load| *load > calm)?;
        Some(format!("others are at work (load {load:.1}): these figures are provisional"))
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { processor, processors, system, rust, date, .. } = self;
        write!(f, "{processor}, {processors} processors, {system}, {rust}, {date}")?;
        self.warning().map_or(Ok(()), |warning| write!(f, "\n{warning}"))
    }
}

fn processor() -> Option<String> {
    let cpus = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = cpus.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn load() -> Option<f64> {
    fs::read_to_string("/proc/loadavg").ok()?.split_whitespace().next()?.parse().ok()
}

/// Returns the version of the Rust compiler.
pub fn rust_version() -> String {
    first_line("rustc", &["--version"])
}

/// Returns the first line that a program prints.
fn first_line(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let line = text.ok().and_then(|text| text.lines().next().map(str::to_owned));
    line.unwrap_or_else(|| format!("no {program}"))
}
