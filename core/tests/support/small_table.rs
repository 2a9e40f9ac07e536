//! A partition table with only a few partitions.

use std::sync::atomic::{AtomicU16, AtomicU64, Ordering};

use polyflake::{
    Result,
    fork::partitions::{RESERVED, Table},
};

/// A table of `N` partitions, which generators try in turn.
pub(crate) struct SmallTable<const N: usize> {
    pub(crate) entries: [AtomicU64; N],
    pub(crate) count: AtomicU16,
    /// A function to call after a partition has been reserved permanently.
    pub(crate) kept: Option<fn()>,
}

impl<const N: usize> SmallTable<N> {
    /// Creates a table whose partitions have never been used.
    pub(crate) const fn new() -> Self {
        Self { entries: [const { AtomicU64::new(0) }; N], count: AtomicU16::new(0), kept: None }
    }
}

impl<const N: usize> Table for SmallTable<N> {
    fn random_bits(&self) -> Result<u16> {
        Ok(0)
    }

    fn next_partition(&self) -> Result<u16> {
        Ok(self.count.fetch_add(1, Ordering::Relaxed) % u16::try_from(N).unwrap())
    }

    fn entry(&self, partition: u16) -> u64 {
        self.entries[usize::from(partition) % N].load(Ordering::Acquire)
    }

    fn swap(&self, partition: u16, old: u64, new: u64) -> bool {
        // The table manages only partitions below `N`, so a claim on any other partition always succeeds.
        let Some(cell) = self.entries.get(usize::from(partition)) else { return true };
        let swapped = cell.compare_exchange(old, new, Ordering::AcqRel, Ordering::Acquire).is_ok();
        if let Some(kept) = self.kept.filter(|_| swapped && new >= RESERVED) {
            kept();
        }
        swapped
    }

    fn count(&self) -> usize {
        N
    }
}
