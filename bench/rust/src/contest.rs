//! Contests: pieces of work timed in turn, and goals for the ratios of their times.

use polyflake::clock::SystemClock;
use serde_json::{Value, json};

use crate::measure::{Spread, Work, calibrate, time};

/// Pieces of work that do the same job.
pub(crate) struct Contest {
    pub(crate) name: &'static str,
    /// The heading of an axis, for entries that make a curve over `x`.
    pub(crate) axis: Option<&'static str>,
    pub(crate) entries: Vec<Entry>,
    pub(crate) goals: Vec<Goal>,
}

/// One piece of work.
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    pub(crate) work: Work,
    /// `true` for work of this project, `false` for work of others.
    pub(crate) ours: bool,
    /// Position on the contest's axis.
    pub(crate) x: Option<u32>,
    /// Number of items that one repetition makes.
    pub(crate) items: u32,
}

/// The most time that an entry may take, as a ratio.
pub(crate) struct Goal {
    pub(crate) name: &'static str,
    pub(crate) ours: Key,
    pub(crate) against: Against,
    pub(crate) most: f64,
}

/// Most times that the rounds are repeated.
const MOST_TIMES: usize = 8;
/// Fewest rounds that can decide a goal; fewer are only a trial run.
const FEWEST_ROUNDS: usize = 20;

impl Goal {
    /// Returns whether the rounds leave the goal undecided: its limit is within 5 % of the median ratio, and within the interval
    /// that holds the true median in 95 of 100 runs. By the binomial distribution, these are the ratios up to the square root of
    /// their number away from the middle.
    fn is_open(&self, ratios: &[f64]) -> bool {
        let mut sorted = ratios.to_vec();
        sorted.sort_by(f64::total_cmp);
        let middle = sorted.len() / 2;
        let width = sorted.len().isqrt();
        let is_near = (sorted[middle] / self.most - 1.0).abs() < 0.05;
        let inside =
            sorted[middle - width.min(middle)]..=sorted[(middle + width).min(sorted.len() - 1)];
        sorted.len() >= FEWEST_ROUNDS && is_near && inside.contains(&self.most)
    }
}

/// An entry, by its name and position on the axis.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key(pub(crate) &'static str, pub(crate) Option<u32>);

impl From<&'static str> for Key {
    fn from(name: &'static str) -> Self {
        Self(name, None)
    }
}

/// The entry of the same contest with which a goal compares.
pub(crate) struct Against {
    /// Its name in reports.
    pub(crate) name: &'static str,
    key: Key,
}

impl Against {
    /// Another entry.
    pub(crate) fn entry(name: &'static str) -> Self {
        Self::key(name, name.into())
    }

    /// Another entry on the contest's axis, under a different name in reports.
    pub(crate) fn key(name: &'static str, key: Key) -> Self {
        Self { name, key }
    }
}

impl Entry {
    /// An entry of this project.
    pub(crate) fn ours(name: &'static str, work: Work) -> Self {
        Self { name, work, ours: true, x: None, items: 1 }
    }

    /// An entry of others.
    pub(crate) fn peer(name: &'static str, work: Work) -> Self {
        Self { ours: false, ..Self::ours(name, work) }
    }

    /// The entry with `items` items in each repetition.
    pub(crate) fn making(self, items: u32) -> Self {
        Self { items, ..self }
    }

    /// The entry with a position on the contest's axis.
    pub(crate) fn at(self, x: u32) -> Self {
        Self { x: Some(x), ..self }
    }

    fn key(&self) -> Key {
        Key(self.name, self.x)
    }
}

/// The nanoseconds of one entry, round by round.
type Rounds = Vec<f64>;

impl Contest {
    /// Returns whether the name of the contest or of one of its goals contains a text.
    pub(crate) fn is_meant_by(&self, filter: &str) -> bool {
        let mut names = self.goals.iter().map(|goal| goal.name).chain([self.name]);
        names.any(|name| name.contains(filter))
    }

    /// Runs the contest, and returns its results as JSON. Goals with entries that this machine lacks are listed as missing.
    pub(crate) fn hold(mut self) -> Value {
        let rounds = self.time();
        let entries = self.entries.iter().zip(&rounds).map(|(entry, rounds)| entry.tell(rounds));
        let entries: Vec<_> = entries.collect();
        let (mut goals, mut missing) = (Vec::new(), Vec::new());
        for goal in &self.goals {
            match self.judge(goal, &rounds) {
                Some(judged) => goals.push(judged),
                None => missing.push(json!({ "name": goal.name, "why": "not on this machine" })),
            }
        }
        json!({
            "contest": self.name,
            "axis": self.axis,
            "clock": SystemClock::source().name(),
            "entries": entries,
            "goals": goals,
            "missing": missing,
        })
    }

    /// Times all entries in turn, and repeats this while the rounds leave a goal undecided.
    fn time(&mut self) -> Vec<Rounds> {
        let counts: Vec<_> =
            self.entries.iter_mut().map(|entry| calibrate(&mut entry.work)).collect();
        let mut rounds = vec![Rounds::new(); self.entries.len()];
        for _ in 0..MOST_TIMES {
            self.time_more(&counts, &mut rounds);
            let is_open = |goal| self.ratios(goal, &rounds).is_some_and(|all| goal.is_open(&all));
            if !self.goals.iter().any(is_open) {
                break;
            }
        }
        rounds
    }

    fn time_more(&mut self, counts: &[u32], rounds: &mut [Rounds]) {
        for _ in 0..asked_rounds() {
            for ((entry, count), rounds) in self.entries.iter_mut().zip(counts).zip(&mut *rounds) {
                rounds.push(time(&mut entry.work, *count) / f64::from(entry.items));
            }
        }
    }

    fn judge(&self, goal: &Goal, rounds: &[Rounds]) -> Option<Value> {
        let ours = self.rounds_of(goal.ours, rounds)?;
        let theirs = self.rounds_of(goal.against.key, rounds)?;
        let ratios = self.ratios(goal, rounds)?;
        let ratio = Spread::of(ratios.iter().copied());
        Some(json!({
            "name": goal.name,
            "ours_ns": Spread::of(ours.iter().copied()).median,
            "against": goal.against.name,
            "against_ns": Spread::of(theirs.iter().copied()).median,
            "ratio": ratio.median,
            "ratio_quartiles": [ratio.low, ratio.high],
            "goal": goal.most,
            "met": ratio.median <= goal.most,
        }))
    }

    fn ratios(&self, goal: &Goal, rounds: &[Rounds]) -> Option<Rounds> {
        let ours = self.rounds_of(goal.ours, rounds)?;
        let theirs = self.rounds_of(goal.against.key, rounds)?;
        Some(ours.iter().zip(theirs).map(|(ours, theirs)| ours / theirs).collect())
    }

    fn rounds_of<'r>(&self, key: Key, rounds: &'r [Rounds]) -> Option<&'r Rounds> {
        let index = self.entries.iter().position(|entry| entry.key() == key)?;
        Some(&rounds[index])
    }
}

/// Number of rounds, set by `cargo xtask bench`.
fn asked_rounds() -> usize {
    let asked = std::env::var("POLYFLAKE_BENCH_ROUNDS").ok().and_then(|asked| asked.parse().ok());
    asked.expect("expected a number of rounds in POLYFLAKE_BENCH_ROUNDS")
}

impl Entry {
    fn tell(&self, rounds: &Rounds) -> Value {
        let spread = Spread::of(rounds.iter().copied());
        json!({
            "name": self.name,
            "ours": self.ours,
            "x": self.x,
            "ns": spread.median,
            "quartiles_ns": [spread.low, spread.high],
        })
    }
}
