//! Contests: units of work that are timed in turn, and goals for the ratios of their times. `cargo xtask bench` evaluates
//! the goals.

use std::io::stdin;

use polyflake::clock::SystemClock;
use serde::Serialize;
use serde_json::{Value, json};

use crate::measure::{Work, calibrate, time};

/// A comparison of entries that do the same work in different ways.
pub(crate) struct Comparison {
    pub(crate) name: &'static str,
    /// The label of the x-axis if the entries form a curve over `x`, or `None` if they do not.
    pub(crate) axis: Option<&'static str>,
    pub(crate) entries: Vec<Entry>,
    pub(crate) goals: Vec<Goal>,
}

/// A unit of work to measure.
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    pub(crate) work: Work,
    /// Whether the work belongs to this project rather than to a peer.
    pub(crate) ours: bool,
    /// Position on the x-axis of the comparison's plot, or `None` if the comparison has no axis.
    pub(crate) x: Option<u32>,
    /// Number of items per repetition.
    pub(crate) items: u32,
}

/// A limit on an entry's time, as a multiple of another entry's time.
pub(crate) struct Goal {
    pub(crate) name: &'static str,
    pub(crate) ours: EntryKey,
    /// The entry that `ours` is compared against. Both entries belong to the same comparison.
    pub(crate) against: EntryKey,
    pub(crate) most: f64,
}

impl Goal {
    pub(crate) fn new(
        name: &'static str,
        ours: impl Into<EntryKey>,
        against: impl Into<EntryKey>,
        most: f64,
    ) -> Self {
        Self { name, ours: ours.into(), against: against.into(), most }
    }
}

/// Identifies an entry by its name and its position on the axis.
#[derive(Clone, Copy, Serialize)]
pub(crate) struct EntryKey(pub(crate) &'static str, pub(crate) Option<u32>);

impl From<&'static str> for EntryKey {
    fn from(name: &'static str) -> Self {
        Self(name, None)
    }
}

impl Entry {
    /// Creates an entry for this project.
    pub(crate) fn own_entry(name: &'static str, work: Work) -> Self {
        Self { name, work, ours: true, x: None, items: 1 }
    }

    /// Creates an entry for another library.
    pub(crate) fn peer_entry(name: &'static str, work: Work) -> Self {
        Self { ours: false, ..Self::own_entry(name, work) }
    }

    /// Sets the number of items per repetition.
    pub(crate) fn with_items(self, items: u32) -> Self {
        Self { items, ..self }
    }

    /// Sets the entry's position on the x-axis of the comparison's plot.
    pub(crate) fn at_axis_position(self, x: u32) -> Self {
        Self { x: Some(x), ..self }
    }
}

/// An entry's time in each round, in nanoseconds.
type Rounds = Vec<f64>;

impl Comparison {
    pub(crate) fn new(name: &'static str, entries: Vec<Entry>, goals: Vec<Goal>) -> Self {
        Self { name, axis: None, entries, goals }
    }

    /// Returns whether the filter occurs in the name of the comparison or of one of its goals.
    pub(crate) fn matches_filter(&self, filter: &str) -> bool {
        let mut names = self.goals.iter().map(|goal| goal.name).chain([self.name]);
        names.any(|name| name.contains(filter))
    }

    /// Times all entries in turn and prints the times. Repeats this each time it reads `more` from standard input.
    pub(crate) fn time_repeatedly(mut self) {
        let counts: Vec<_> =
            self.entries.iter_mut().map(|entry| calibrate(&mut entry.work)).collect();
        let mut rounds = vec![Rounds::new(); self.entries.len()];
        let mut reply = "more\n".to_owned();
        while reply == "more\n" {
            self.time_rounds(&counts, &mut rounds);
            println!("{}", self.to_json(&rounds));
            reply.clear();
            stdin().read_line(&mut reply).expect("a reply, or the end");
        }
    }

    fn time_rounds(&mut self, counts: &[u32], rounds: &mut [Rounds]) {
        for _ in 0..requested_rounds() {
            for ((entry, count), rounds) in self.entries.iter_mut().zip(counts).zip(&mut *rounds) {
                rounds.push(time(&mut entry.work, *count) / f64::from(entry.items));
            }
        }
    }

    fn to_json(&self, rounds: &[Rounds]) -> Value {
        let entry = |(entry, rounds): (&Entry, &Rounds)| json!({ "name": entry.name, "ours": entry.ours, "x": entry.x, "rounds": rounds });
        let goal = |goal: &Goal| json!({ "name": goal.name, "ours": goal.ours, "against": goal.against, "most": goal.most });
        json!({
            "contest": self.name,
            "axis": self.axis,
            "clock": SystemClock::source().name(),
            "entries": self.entries.iter().zip(rounds).map(entry).collect::<Vec<_>>(),
            "goals": self.goals.iter().map(goal).collect::<Vec<_>>(),
            "missing": [],
        })
    }
}

/// Returns the number of rounds, which `cargo xtask bench` sets.
fn requested_rounds() -> usize {
    let asked = std::env::var("POLYFLAKE_BENCH_ROUNDS").ok().and_then(|asked| asked.parse().ok());
    asked.expect("expected a number of rounds in POLYFLAKE_BENCH_ROUNDS")
}
