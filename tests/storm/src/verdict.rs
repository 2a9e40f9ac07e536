//! The judge's findings for each rule.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};

/// The number of violations of a rule, and the first violation.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Violation {
    /// The number of violations.
    pub count: u64,
    /// The first pair of IDs that broke the rule.
    pub first: Option<String>,
}

impl Violation {
    /// Counts one violation. If it is the first, calls `describe` and stores the description.
    pub fn add(&mut self, describe: impl FnOnce() -> String) {
        self.count += 1;
        self.first.get_or_insert_with(describe);
    }
}

/// The verdict on one storm.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Verdict {
    /// The number of IDs.
    pub ids: u64,
    /// Violations of the rule that all IDs are distinct: IDs that repeat an earlier ID.
    pub distinct: Violation,
    /// IDs that are not higher than the previous ID of their thread; `None` if the order is unknown.
    pub thread: Option<Violation>,
    /// Chunks whose lowest ID is not higher than the highest ID that the generator returned before the chunk began; `None`
    /// if the order is unknown.
    pub generator: Option<Violation>,
    /// IDs whose time is later than the clock reading; `None` if the position of the time is unknown.
    pub clock: Option<Violation>,
    /// The largest amount by which an ID's time was ahead of the clock, in microseconds.
    pub ahead_us: i64,
    /// The number of failed calls for each error message.
    pub errors: BTreeMap<String, u64>,
}

impl Verdict {
    /// Returns the rules with their results. The result of a rule that was not checked is `None`.
    #[must_use]
    pub fn rules(&self) -> [(&'static str, Option<&Violation>); 4] {
        [
            ("distinct", Some(&self.distinct)),
            ("sorted per thread", self.thread.as_ref()),
            ("sorted per generator", self.generator.as_ref()),
            ("not ahead of the clock", self.clock.as_ref()),
        ]
    }

    /// Returns whether no rule was broken.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.rules().iter().all(|(_, broken)| broken.is_none_or(|broken| broken.count == 0))
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (rule, broken) in self.rules() {
            let Some(Violation { count, first }) = broken else {
                writeln!(f, "  {rule:24}not checked")?;
                continue;
            };
            match first {
                None => writeln!(f, "  {rule:24}yes")?,
                Some(first) => writeln!(f, "  {rule:24}no, {count} times. First: {first}")?,
            }
        }
        if self.ahead_us > 0 {
            writeln!(f, "  at most {} us ahead of the clock", self.ahead_us)?;
        }
        self.errors.iter().try_for_each(|(error, count)| writeln!(f, "  {count} errors: {error}"))
    }
}
