//! What was measured.

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
    /// What `x` of the entries counts, if they make curves.
    pub axis: Option<String>,
    pub entries: Vec<Entry>,
    pub goals: Vec<Goal>,
    pub missing: Vec<Missing>,
}

/// What one item costs, in nanoseconds: the median over the rounds, and the quartiles.
#[derive(Serialize, Deserialize)]
pub struct Entry {
    pub name: String,
    pub ours: bool,
    pub x: Option<u32>,
    pub ns: f64,
    pub quartiles_ns: [f64; 2],
}

/// The median over the rounds of what ours took, as a multiple of what it is held against.
#[derive(Serialize, Deserialize)]
#[allow(clippy::struct_field_names, reason = "the names in the file")]
pub struct Goal {
    pub name: String,
    pub ours_ns: f64,
    pub against: String,
    pub against_ns: f64,
    pub ratio: f64,
    pub ratio_quartiles: [f64; 2],
    /// The most that the ratio may be.
    pub goal: f64,
    pub met: bool,
}

/// A peer or goal that this machine can't have.
#[derive(Serialize, Deserialize)]
pub struct Missing {
    pub name: String,
    pub why: String,
}

pub struct Report {
    pub machine: Machine,
    pub contests: Vec<Contest>,
}

impl Report {
    pub fn on(machine: Machine) -> Self {
        Self { machine, contests: Vec::new() }
    }

    pub fn goals(&self) -> impl Iterator<Item = &Goal> {
        self.contests.iter().flat_map(|contest| &contest.goals)
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
