//! A contest: pieces of work timed in turn, and the goals that their ratios are held against.

use serde_json::{Value, json};

use crate::measure::{Spread, Work, calibrate, time};

/// Rounds of each entry.
/// Pieces of work that do the same job.
pub(crate) struct Contest {
    pub(crate) name: &'static str,
    /// What `x` of the entries counts, where they make a curve: the heading of an axis.
    pub(crate) axis: Option<&'static str>,
    pub(crate) entries: Vec<Entry>,
    pub(crate) goals: Vec<Goal>,
}

/// One piece of work.
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    pub(crate) work: Work,
    /// Whether this project made it, or another.
    pub(crate) ours: bool,
    /// Where it lies on the contest's axis.
    pub(crate) x: Option<u32>,
    /// How many items one repetition makes.
    pub(crate) items: u32,
}

/// The most that an entry may take, as a ratio.
pub(crate) struct Goal {
    pub(crate) name: &'static str,
    pub(crate) ours: Key,
    pub(crate) against: Against,
    pub(crate) most: f64,
}

/// An entry, by its name and place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key(pub(crate) &'static str, pub(crate) Option<u32>);

impl From<&'static str> for Key {
    fn from(name: &'static str) -> Self {
        Self(name, None)
    }
}

/// What a goal compares with.
pub(crate) struct Against {
    /// How it is named to people.
    pub(crate) name: &'static str,
    entry: Option<Key>,
    plus_nanos: f64,
}

impl Against {
    /// Another entry of the same contest.
    pub(crate) fn entry(name: &'static str) -> Self {
        Self { name, entry: Some(name.into()), plus_nanos: 0.0 }
    }

    /// Another entry on the contest's axis, under a name of its own.
    pub(crate) const fn key(name: &'static str, key: Key) -> Self {
        Self { name, entry: Some(key), plus_nanos: 0.0 }
    }

    /// Another entry and so many nanoseconds, under a name that tells both.
    pub(crate) const fn entry_and(name: &'static str, entry: &'static str, nanos: f64) -> Self {
        Self { name, entry: Some(Key(entry, None)), plus_nanos: nanos }
    }

    /// A number of nanoseconds.
    pub(crate) const fn nanos(nanos: f64) -> Self {
        Self { name: "a fixed limit", entry: None, plus_nanos: nanos }
    }
}

impl Entry {
    /// One of this project's.
    pub(crate) fn ours(name: &'static str, work: Work) -> Self {
        Self { name, work, ours: true, x: None, items: 1 }
    }

    /// One of others.
    pub(crate) fn peer(name: &'static str, work: Work) -> Self {
        Self { ours: false, ..Self::ours(name, work) }
    }

    /// One that makes so many items at once.
    pub(crate) fn making(self, items: u32) -> Self {
        Self { items, ..self }
    }

    /// One that has a place on the contest's axis.
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
    /// Whether its name or that of one of its goals contains this.
    pub(crate) fn is_meant_by(&self, filter: &str) -> bool {
        let mut names = self.goals.iter().map(|goal| goal.name).chain([self.name]);
        names.any(|name| name.contains(filter))
    }

    /// Runs it, and tells it as JSON. A goal whose entries this machine can't have is among what is missing.
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
            "entries": entries,
            "goals": goals,
            "missing": missing,
        })
    }

    fn time(&mut self) -> Vec<Rounds> {
        let counts: Vec<_> =
            self.entries.iter_mut().map(|entry| calibrate(&mut entry.work)).collect();
        let mut rounds = vec![Rounds::new(); self.entries.len()];
        for _ in 0..asked_rounds() {
            for ((entry, count), rounds) in self.entries.iter_mut().zip(&counts).zip(&mut rounds) {
                rounds.push(time(&mut entry.work, *count) / f64::from(entry.items));
            }
        }
        rounds
    }

    fn judge(&self, goal: &Goal, rounds: &[Rounds]) -> Option<Value> {
        let ours = self.rounds_of(goal.ours, rounds)?;
        let against = &goal.against;
        let theirs = match against.entry {
            Some(key) => Some(self.rounds_of(key, rounds)?),
            None => None,
        };
        let theirs = |round: usize| theirs.map_or(0.0, |theirs| theirs[round]) + against.plus_nanos;
        let ratio = Spread::of((0..ours.len()).map(|round| ours[round] / theirs(round)));
        Some(json!({
            "name": goal.name,
            "ours_ns": Spread::of(ours.iter().copied()).median,
            "against": against.name,
            "against_ns": Spread::of((0..ours.len()).map(theirs)).median,
            "ratio": ratio.median,
            "ratio_quartiles": [ratio.low, ratio.high],
            "goal": goal.most,
            "met": ratio.median <= goal.most,
        }))
    }

    fn rounds_of<'r>(&self, key: Key, rounds: &'r [Rounds]) -> Option<&'r Rounds> {
        let index = self.entries.iter().position(|entry| entry.key() == key)?;
        Some(&rounds[index])
    }
}

/// How many rounds `cargo xtask bench` asks for.
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
