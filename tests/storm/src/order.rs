//! Checks that the IDs of each thread are sorted, and that the IDs of a generator are sorted when several threads share the
//! generator.

use std::{cmp::Ordering, collections::VecDeque, str::FromStr};

use anyhow::{Error, bail};

/// How the IDs of a format are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// IDs are compared as strings.
    Text,
    /// IDs are compared as decimal numbers without leading zeros.
    Number,
}

impl FromStr for Order {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "text" => Ok(Self::Text),
            "number" => Ok(Self::Number),
            _ => bail!("expected the order `text` or `number`, found {text:?}"),
        }
    }
}

impl Order {
    /// Compares two IDs.
    #[must_use]
    pub fn compare(self, one: &str, other: &str) -> Ordering {
        match self {
            Self::Text => one.cmp(other),
            Self::Number => one.len().cmp(&other.len()).then_with(|| one.cmp(other)),
        }
    }
}

/// The maximum number of chunks to remember for each generator.
const MAX_CHUNKS: usize = 4096;

/// The end time of a chunk, and the highest ID of all chunks that ended at or before that time.
#[derive(Clone, Debug)]
struct HighestId {
    end: u64,
    id: String,
}

/// The chunks of a generator's threads. If one chunk ended before another chunk began, all IDs of the earlier chunk must be
/// lower than all IDs of the later chunk. Chunks that overlap in time are not compared.
///
/// Chunks arrive roughly in the order in which they ended. A chunk that arrives late is compared with fewer chunks, so the
/// check can miss a violation but never reports a false one.
#[derive(Default)]
pub struct GeneratorChunks {
    /// The end times of the chunks, in ascending order. Each entry also contains the highest ID of all chunks that had
    /// ended by that time.
    ended: VecDeque<HighestId>,
}

impl GeneratorChunks {
    /// Returns an ID that was generated before a chunk began but is not lower than `lowest`, the chunk's lowest ID. Returns
    /// `None` if there is no such ID.
    #[must_use]
    pub fn find_violation(&self, order: Order, begin: u64, lowest: &str) -> Option<&str> {
        let before = self.ended.partition_point(|entry| entry.end < begin);
        let highest = self.ended.get(before.checked_sub(1)?)?;
        order.compare(&highest.id, lowest).is_ge().then_some(&highest.id)
    }

    /// Adds a chunk's end time and highest ID.
    pub fn add(&mut self, order: Order, end: u64, highest: &str) {
        let place = self.ended.partition_point(|entry| entry.end <= end);
        let before = place.checked_sub(1).and_then(|index| self.ended.get(index));
        let higher = before.filter(|before| order.compare(highest, &before.id).is_lt());
        let id = higher.map_or(highest, |before| &before.id).to_owned();
        self.ended.insert(place, HighestId { end, id });
        for later in self.ended.iter_mut().skip(place + 1) {
            if order.compare(highest, &later.id).is_gt() {
                highest.clone_into(&mut later.id);
            }
        }
        if self.ended.len() > MAX_CHUNKS {
            self.ended.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_compared_by_their_value() {
        assert_eq!(Order::Number.compare("9", "10"), Ordering::Less);
        assert_eq!(Order::Text.compare("9", "10"), Ordering::Greater);
    }

    #[test]
    fn only_chunks_that_ended_before_are_compared() {
        let mut shared = GeneratorChunks::default();
        shared.add(Order::Text, 10, "m");
        assert_eq!(shared.find_violation(Order::Text, 10, "a"), None);
        assert_eq!(shared.find_violation(Order::Text, 11, "n"), None);
        assert_eq!(shared.find_violation(Order::Text, 11, "m"), Some("m"));
    }

    #[test]
    fn a_late_chunk_counts_from_its_end_time() {
        let mut shared = GeneratorChunks::default();
        shared.add(Order::Text, 10, "b");
        shared.add(Order::Text, 20, "d");
        shared.add(Order::Text, 15, "x");
        assert_eq!(shared.find_violation(Order::Text, 12, "c"), None);
        assert_eq!(shared.find_violation(Order::Text, 16, "c"), Some("x"));
        assert_eq!(shared.find_violation(Order::Text, 21, "e"), Some("x"));
    }
}
