//! The times that the benchmarks measured, and the goals for the ratios of these times.

use std::{fs, path::Path};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::machine::Machine;

/// The result of a contest, as a program reports it: the entries, which were timed alternately, and the goals for the
/// ratios of their times.
#[derive(Deserialize)]
pub struct Comparison {
    #[serde(rename = "contest")]
    pub name: String,
    /// The label of the x-axis if the entries form curves over their `x` values, or `None` if they do not.
    pub axis: Option<String>,
    /// How the system clock was read, if the program reports it.
    clock: Option<String>,
    pub entries: Vec<Entry>,
    goals: Vec<RatioLimit>,
    pub missing: Vec<MissingEntry>,
}

/// An entry's times per item in nanoseconds, one for each round.
#[derive(Deserialize)]
pub struct Entry {
    pub name: String,
    pub ours: bool,
    pub x: Option<u32>,
    rounds: Vec<f64>,
}

/// A goal: two entries, and the largest allowed ratio of their times.
#[derive(Deserialize)]
struct RatioLimit {
    name: String,
    ours: Key,
    against: Key,
    most: f64,
}

/// An entry's name, and its position on the axis.
type Key = (String, Option<u32>);

/// A goal for the ratio of polyflake's time to the reference time. The evaluated ratio is the median of the ratios in all
/// rounds.
#[derive(Serialize)]
#[allow(clippy::struct_field_names, reason = "the names in the file")]
pub struct Goal {
    pub name: String,
    pub ours_ns: f64,
    pub against: String,
    pub against_ns: f64,
    pub ratio: f64,
    pub ratio_quartiles: [f64; 2],
    /// The largest allowed ratio.
    pub goal: f64,
    pub met: bool,
}

/// A peer or a goal that cannot be measured on this machine.
#[derive(Serialize, Deserialize)]
pub struct MissingEntry {
    pub name: String,
    pub why: String,
}

pub struct Report {
    pub machine: Machine,
    pub contests: Vec<Comparison>,
}

/// The minimum number of rounds that can decide a goal. A run with fewer rounds is only a trial.
const MIN_ROUNDS: usize = 20;

impl Comparison {
    /// Parses a line that a program prints. A goal counts as missing if one of its entries cannot be measured on this
    /// machine.
    pub fn parse(line: &str) -> Result<Self> {
        let mut contest: Self =
            serde_json::from_str(line).with_context(|| format!("not a contest: {line}"))?;
        let (goals, lacking) = std::mem::take(&mut contest.goals)
            .into_iter()
            .partition(|goal| contest.ratios(goal).is_some());
        let lacking: Vec<RatioLimit> = lacking;
        let why = || "not on this machine".to_owned();
        let lacking = lacking.into_iter().map(|goal| MissingEntry { name: goal.name, why: why() });
        contest.missing.extend(lacking);
        Ok(Self { goals, ..contest })
    }

    /// Returns the comparison without the goals whose names do not match the filter. A comparison always runs all of its
    /// entries.
    pub fn with_matching_goals(mut self, filter: &str) -> Self {
        if !self.name.contains(filter) {
            self.goals.retain(|goal| goal.name.contains(filter));
        }
        self
    }

    /// Returns whether the rounds leave any goal undecided.
    pub fn is_open(&self) -> bool {
        let ratios = |goal: &RatioLimit| Some((self.ratios(goal)?, goal.most));
        self.goals.iter().filter_map(ratios).any(|(ratios, most)| is_open(ratios, most))
    }

    fn goals(&self) -> impl Iterator<Item = Goal> {
        self.goals.iter().filter_map(|goal| self.evaluate(goal))
    }

    fn evaluate(&self, goal: &RatioLimit) -> Option<Goal> {
        let [low, ratio, high] = quartiles(self.ratios(goal)?);
        let place = goal.against.1.map_or_else(String::new, |x| format!(" ({x})"));
        Some(Goal {
            name: goal.name.clone(),
            ours_ns: self.entry(&goal.ours)?.quartiles()[1],
            against: goal.against.0.clone() + &place,
            against_ns: self.entry(&goal.against)?.quartiles()[1],
            ratio,
            ratio_quartiles: [low, high],
            goal: goal.most,
            met: ratio <= goal.most,
        })
    }

    fn ratios(&self, goal: &RatioLimit) -> Option<Vec<f64>> {
        let (ours, theirs) = (self.entry(&goal.ours)?, self.entry(&goal.against)?);
        Some(ours.rounds.iter().zip(&theirs.rounds).map(|(ours, theirs)| ours / theirs).collect())
    }

    fn entry(&self, key: &Key) -> Option<&Entry> {
        self.entries.iter().find(|entry| (&entry.name, &entry.x) == (&key.0, &key.1))
    }

    fn to_json(&self) -> Value {
        let entry = |entry: &Entry| {
            let [low, ns, high] = entry.quartiles();
            json!({ "name": entry.name, "ours": entry.ours, "x": entry.x, "ns": ns, "quartiles_ns": [low, high] })
        };
        json!({
            "contest": self.name,
            "axis": self.axis,
            "clock": self.clock,
            "entries": self.entries.iter().map(entry).collect::<Vec<_>>(),
            "missing": self.missing,
        })
    }
}

impl Entry {
    pub fn quartiles(&self) -> [f64; 3] {
        quartiles(self.rounds.clone())
    }
}

/// Returns the lower quartile, the median, and the upper quartile.
fn quartiles(mut figures: Vec<f64>) -> [f64; 3] {
    figures.sort_by(f64::total_cmp);
    [1, 2, 3].map(|quarter| figures[(figures.len() - 1) * quarter / 4])
}

/// Returns whether the rounds leave a goal undecided. A goal is undecided if the limit is within 5% of the median ratio and
/// also within the median's 95% confidence interval. According to the binomial distribution, this interval extends √n
/// positions to each side of the middle ratio, where n is the number of ratios.
fn is_open(mut ratios: Vec<f64>, most: f64) -> bool {
    ratios.sort_by(f64::total_cmp);
    let (middle, width) = (ratios.len() / 2, ratios.len().isqrt());
    let is_near = (ratios[middle] / most - 1.0).abs() < 0.05;
    let inside =
        ratios[middle - width.min(middle)]..=ratios[(middle + width).min(ratios.len() - 1)];
    ratios.len() >= MIN_ROUNDS && is_near && inside.contains(&most)
}

impl Report {
    pub fn for_machine(machine: Machine) -> Self {
        Self { machine, contests: Vec::new() }
    }

    pub fn goals(&self) -> impl Iterator<Item = Goal> {
        self.contests.iter().flat_map(Comparison::goals)
    }

    /// Returns how the system clock was read, if a program reports it.
    pub fn clock(&self) -> Option<&str> {
        self.contests.iter().find_map(|contest| contest.clock.as_deref())
    }

    pub fn is_met(&self) -> bool {
        self.goals().all(|goal| goal.met)
    }

    pub fn write(&self, file: &Path) -> Result<()> {
        let goals: Vec<_> = self.goals().collect();
        let contests: Vec<_> = self.contests.iter().map(Comparison::to_json).collect();
        let all = json!({ "goals": goals, "machine": self.machine, "contests": contests });
        let text = serde_json::to_string_pretty(&all)? + "\n";
        fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a comparison in which polyflake's entry takes 0.4 to 0.6 times as long as the other entry.
    fn sample_comparison() -> Comparison {
        let goal = |name: &str, most: f64| json!({"name": name, "ours": ["us", null], "against": ["them", 2], "most": most});
        let rounds: Vec<_> = (0..41).map(|round| 0.4 + f64::from(round) / 200.0).collect();
        let line = json!({
            "contest": "rust: a contest", "axis": null,
            "entries": [
                {"name": "us", "ours": true, "x": null, "rounds": rounds},
                {"name": "them", "ours": false, "x": 2, "rounds": vec![1.0; 41]},
            ],
            "goals": [goal("rust: met", 0.51), goal("rust: missed", 0.45)], "missing": [],
        });
        Comparison::parse(&line.to_string()).expect("a program's line")
    }

    #[test]
    fn a_ratio_is_the_median_of_the_rounds() {
        let contest = sample_comparison();
        let goals: Vec<_> = contest.goals().collect();
        let [met, missed] = &goals[..] else { panic!("expected two goals") };
        assert_eq!((met.ratio, met.ratio_quartiles), (0.5, [0.45, 0.55]));
        assert_eq!((met.met, missed.met), (true, false));
        assert_eq!((&*met.against, met.ours_ns), ("them (2)", 0.5));
    }

    #[test]
    fn only_a_goal_near_the_median_is_open() {
        assert!(sample_comparison().is_open());
        let ratios = || (0..41).map(|round| 0.4 + f64::from(round) / 200.0).collect::<Vec<_>>();
        assert!(is_open(ratios(), 0.52));
        assert!(!is_open(ratios(), 0.45) && !is_open(vec![0.5; 41], 0.51));
        assert!(!is_open(ratios()[11..30].to_vec(), 0.5), "too few rounds");
    }

    #[test]
    fn a_goal_without_its_entry_is_missing() {
        let line = r#"{"contest": "c", "axis": null, "entries": [], "missing": [],
            "goals": [{"name": "g", "ours": ["us", null], "against": ["them", null], "most": 1}]}"#;
        let contest = Comparison::parse(line).unwrap();
        assert_eq!((contest.goals().count(), contest.missing.len()), (0, 1));
        assert!(!contest.is_open());
    }

    fn report(contest: Comparison) -> Report {
        Report { machine: super::super::machine::detect(), contests: vec![contest] }
    }

    #[test]
    fn a_missed_goal_is_not_met() {
        assert!(!report(sample_comparison()).is_met());
    }

    #[test]
    fn only_selected_goals_count() {
        assert!(report(sample_comparison().with_matching_goals("rust: met")).is_met());
        assert!(!report(sample_comparison().with_matching_goals("rust: missed")).is_met());
        assert_eq!(sample_comparison().with_matching_goals("a contest").goals.len(), 2);
    }
}
