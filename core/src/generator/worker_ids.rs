//! The worker IDs and sequence numbers of a generator, by which the registry compares generators.

#![cfg_attr(
    not(all(feature = "std", not(any(loom, shuttle)))),
    allow(dead_code, reason = "nothing compares generators")
)]

use alloc::{borrow::ToOwned, string::String, vec::Vec};

/// The worker IDs and sequence numbers of a generator.
#[derive(Clone, Debug)]
pub(crate) struct WorkerIds {
    /// The bits in which an ID has its time and its sequence number. Only generators with the same scheme can overlap.
    pub(crate) scheme: String,
    /// The bits of an ID that identify its generator, for the first and the last worker ID.
    pub(crate) first: Vec<u8>,
    pub(crate) last: Vec<u8>,
    /// The bits of the field in which the worker IDs of a range differ.
    pub(crate) mask: Vec<u8>,
    pub(crate) sequences: (u64, u64),
    /// The name of the option that sets the worker ID.
    pub(crate) option: &'static str,
}

impl WorkerIds {
    /// Creates the description of a generator with one worker ID.
    pub(crate) fn one(
        scheme: impl Into<String>,
        worker_id: &[u8],
        sequences: (u64, u64),
        option: &'static str,
    ) -> Self {
        let (first, mask) = (worker_id.to_owned(), alloc::vec![0; worker_id.len()]);
        Self { scheme: scheme.into(), last: first.clone(), first, mask, sequences, option }
    }

    /// Returns the description of a generator with a range of worker IDs, which differ in the bits of `mask`.
    pub(crate) fn with_range(self, last: &[u8], mask: &[u8]) -> Self {
        if self.first == last {
            return self;
        }
        Self { last: last.to_owned(), mask: mask.to_owned(), ..self }
    }

    pub(super) fn is_range(&self) -> bool {
        self.first != self.last
    }

    /// Returns whether an ID of one generator can have the worker ID and the sequence number of an ID of the other.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        let (mine, others) = (&self.mask, &other.mask);
        let is_fixed_equal = self
            .first
            .iter()
            .zip(&other.first)
            .zip(mine.iter().zip(others))
            .all(|((one, another), (mask, others))| (one ^ another) & !(mask | others) == 0);
        let intersects = |mask: &[u8]| {
            self.bits(&self.first, mask).le(other.bits(&other.last, mask))
                && other.bits(&other.first, mask).le(self.bits(&self.last, mask))
        };
        let (mine_sequences, others_sequences) = (self.sequences, other.sequences);
        is_fixed_equal
            && intersects(mine)
            && intersects(others)
            && mine_sequences.0 <= others_sequences.1
            && others_sequences.0 <= mine_sequences.1
    }

    #[allow(clippy::unused_self, reason = "both arguments are bits of a worker ID")]
    fn bits(&self, worker_id: &[u8], mask: &[u8]) -> impl Iterator<Item = u8> {
        worker_id.iter().zip(mask).map(|(byte, mask)| byte & mask)
    }
}
