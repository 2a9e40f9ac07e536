//! Shows the progress of a run: the number of the current step, and the remaining time. The time is estimated from the last
//! run on this machine.

use std::{collections::BTreeMap, fs, path::PathBuf, time::Instant};

use super::{Step, StepOutcome};
use crate::workspace;

pub struct Progress {
    /// The duration of each step when it last passed, in seconds.
    seconds: BTreeMap<String, f32>,
    /// The names of the remaining steps. The next step is the last element.
    left: Vec<String>,
    all: usize,
}

impl Progress {
    pub fn read(steps: &[Step]) -> Self {
        let text = fs::read_to_string(file()).unwrap_or_default();
        let seconds = toml::from_str(&text).unwrap_or_default();
        let left = steps.iter().rev().map(|step| step.name.clone()).collect();
        Self { seconds, left, all: steps.len() }
    }

    /// Prints the progress, runs a step, and records the step's duration if it passed.
    pub fn run_step(&mut self, name: &str, run: impl FnOnce() -> StepOutcome) -> StepOutcome {
        println!(
            "\n== {name} ({} of {}{}) ==",
            self.all - self.left.len() + 1,
            self.all,
            self.remaining_time()
        );
        let start = Instant::now();
        let outcome = run();
        self.left.pop();
        if matches!(outcome, StepOutcome::Passed) {
            self.seconds.insert(name.to_owned(), start.elapsed().as_secs_f32());
            // If the file cannot be written, the only effect is that the next run cannot estimate the step's duration.
            let _ = fs::write(file(), toml::to_string(&self.seconds).unwrap_or_default());
        }
        outcome
    }

    /// Returns the estimated time for the remaining steps, or an empty string if no duration of these steps has been
    /// recorded on this machine.
    fn remaining_time(&self) -> String {
        let known: Vec<_> = self.left.iter().filter_map(|name| self.seconds.get(name)).collect();
        let minutes = known.iter().copied().sum::<f32>() / 60.0;
        match known.len() {
            0 => String::new(),
            all if all == self.left.len() => format!(", about {minutes:.0} min left"),
            _ => format!(", more than {minutes:.0} min left"),
        }
    }
}

fn file() -> PathBuf {
    workspace::target().join("test-seconds.toml")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_is_estimated_from_the_last_run() {
        let seconds = BTreeMap::from([("a".to_owned(), 60.0), ("b".to_owned(), 90.0)]);
        let of = |left: &[&str]| {
            let left = left.iter().map(|name| (*name).to_owned()).collect();
            Progress { seconds: seconds.clone(), left, all: 9 }.remaining_time()
        };
        assert_eq!(of(&["a", "a", "a"]), ", about 3 min left");
        assert_eq!(of(&["new", "a", "a"]), ", more than 2 min left");
        assert_eq!(of(&["new"]), "");
    }
}
