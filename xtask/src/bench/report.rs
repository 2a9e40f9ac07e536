//! The measurements.

use std::{fs, path::Path};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::machine::Machine;

/// Entries that were timed in turn, and the goals that their ratios are held against.
#[derive(Serialize, Deserialize)]
pub struct Contest {
    #[serde(rename = "contest")]
    pub name: String,
    /// The quantity that `x` of the entries counts, if they make curves.
    pub axis: Option<String>,
    /// The means by which the system's clock was read, if the program reports it.
    #[serde(default)]
    pub clock: Option<String>,
    pub entries: Vec<Entry>,
    pub goals: Vec<Goal>,
    pub missing: Vec<Missing>,
}

/// The cost of one item, in nanoseconds: the median over the rounds, and the quartiles.
#[derive(Serialize, Deserialize)]
pub struct Entry {
    pub name: String,
    pub ours: bool,
    pub x: Option<u32>,
    pub ns: f64,
    pub quartiles_ns: [f64; 2],
}

/// The ratio of our time to the time that it is compared with: the median over the rounds.
#[derive(Serialize, Deserialize)]
#[allow(clippy::struct_field_names, reason = "the names in the file")]
pub struct Goal {
    pub name: String,
    pub ours_ns: f64,
    pub against: String,
    pub against_ns: f64,
    pub ratio: f64,
    pub ratio_quartiles: [f64; 2],
    /// Largest ratio allowed.
    pub goal: f64,
    pub met: bool,
}

/// A peer or goal that is not available on this machine.
#[derive(Serialize, Deserialize)]
pub struct Missing {
    pub name: String,
    pub why: String,
}

pub struct Report {
    pub machine: Machine,
    pub contests: Vec<Contest>,
}

impl Contest {
    /// The contest with only the goals that the filter names: it runs as a whole even for one goal.
    pub fn only_asked_for(mut self, filter: &str) -> Self {
        if !self.name.contains(filter) {
            self.goals.retain(|goal| goal.name.contains(filter));
        }
        self
    }
}

impl Report {
    pub fn on(machine: Machine) -> Self {
        Self { machine, contests: Vec::new() }
    }

    pub fn goals(&self) -> impl Iterator<Item = &Goal> {
        self.contests.iter().flat_map(|contest| &contest.goals)
    }

    /// The means by which the system's clock was read, if a program reports it.
    pub fn clock(&self) -> Option<&str> {
        self.contests.iter().find_map(|contest| contest.clock.as_deref())
    }

    pub fn is_met(&self) -> bool {
        self.goals().all(|goal| goal.met)
    }

    pub fn write(&self, file: &Path) -> Result<()> {
        let goals: Vec<_> = self.goals().collect();
        let all = json!({ "goals": goals, "machine": self.machine, "contests": self.contests });
        let text = serde_json::to_string_pretty(&all)? + "\n";
        fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contest() -> Contest {
        let goal = |name: &str, ratio: f64| {
            json!({
                "name": name, "ours_ns": ratio, "against": "them", "against_ns": 1.0, "ratio": ratio,
                "ratio_quartiles": [ratio, ratio], "goal": 0.5, "met": ratio <= 0.5,
            })
        };
        let entry =
            json!({"name": "us", "ours": true, "x": null, "ns": 1.0, "quartiles_ns": [0.9, 1.1]});
        let line = json!({
            "contest": "rust: a contest", "axis": null, "entries": [entry],
            "goals": [goal("rust: met", 0.4), goal("rust: missed", 0.6)], "missing": [],
        });
        serde_json::from_str(&line.to_string()).expect("a program's line")
    }

    fn report(contest: Contest) -> Report {
        Report { machine: super::super::machine::describe(), contests: vec![contest] }
    }

    #[test]
    fn a_missed_goal_is_not_met() {
        assert!(!report(contest()).is_met());
    }

    #[test]
    fn only_goals_that_were_asked_for_count() {
        assert!(report(contest().only_asked_for("rust: met")).is_met());
        assert!(!report(contest().only_asked_for("rust: missed")).is_met());
        assert_eq!(contest().only_asked_for("a contest").goals.len(), 2);
    }
}
