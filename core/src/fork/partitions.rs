//! Default partitions, each leased for a while from a table that the processes of a fork tree share.
//!
//! An entry holds the first tick at which its partition is free again; the next lease begins there. So a generator that is
//! dropped, killed or forgotten needs no destructor: its partition is free as soon as the ticks that it may have used have
//! passed. Ticks are the ticks of the IDs, by the clock of the generator that takes the lease.
//!
//! An entry only grows, except if its owner returns it: then it is lowered to the end of the last tick used. So an owner that
//! finds its own value still owns the partition, however long it was idle.

use core::result;

#[cfg(feature = "std")]
use crate::sync::{
    Ordering,
    shared::{AtomicU32, AtomicU64},
};
use crate::{Error, Result};

/// Number of partitions.
pub(crate) const COUNT: usize = 1 << 16;
/// The bit that is set once the base is drawn.
#[cfg(feature = "std")]
const DRAWN: u32 = 1 << 16;
/// The end of a lease that never ends.
const FOREVER: u64 = u64::MAX;

/// Ticks of the first lease. A generator that is forgotten after one ID holds its partition no longer than that, so that 65,536
/// generators in a row, in processes or in a loop, always find a free one.
const FIRST_LEASE: u64 = 1;
/// The largest extension of a lease: a minute in ticks. Each extension is as long as the partition was held so far.
const LONGEST_LEASE: u64 = 15_000;

/// A partition for the ticks `start .. until`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lease {
    pub(crate) partition: u16,
    /// The end of the previous lease, which may be long ago.
    pub(crate) start: u64,
    /// The tick at which it was taken.
    pub(crate) since: u64,
    pub(crate) until: u64,
}

/// The reason why there is no lease.
#[derive(Debug)]
pub(crate) enum NoLease {
    /// All partitions are taken up to this tick; [`u64::MAX`] if all are taken for ever.
    Before(u64),
    Failed(Error),
}

/// The partition that follows `count` others, in the order that `base` sets. An aligned group of 2^k counts yields an aligned
/// group of 2^k partitions, in another order. So the groups of two bases are either equal or disjoint.
pub const fn place(base: u32, count: u32) -> usize {
    ((base ^ count) as usize) % COUNT
}

/// Default partitions, and the tick up to which each is taken. All generators of a fork tree, or of the threads of a JavaScript
/// process, share one table.
pub trait Table: Sync {
    /// 16 random bits.
    ///
    /// # Errors
    /// `entropy_unavailable`.
    fn random(&self) -> Result<u16>;

    /// The partition to look at next: a different one at each call until all were returned, see [`place`].
    ///
    /// # Errors
    /// `entropy_unavailable`, since the first one is drawn at random.
    fn next(&self) -> Result<u16>;

    /// The tick up to which a partition is taken.
    fn until(&self, partition: u16) -> u64;

    /// Replaces `old` by `new`, and returns whether `old` was still there.
    fn swap(&self, partition: u16, old: u64, new: u64) -> bool;

    /// Number of partitions of the table; it is only smaller in models.
    fn count(&self) -> usize {
        COUNT
    }
}

/// Finds the table of a process, at the first use.
pub type FindTable = fn() -> Result<&'static dyn Table>;

/// The operations of generators on a table.
impl dyn Table + '_ {
    /// A partition that is free at `now`.
    ///
    /// # Errors
    /// The tick at which the first partition will be free; `entropy_unavailable`.
    pub(crate) fn take(&self, now: u64) -> result::Result<Lease, NoLease> {
        let mut earliest = FOREVER;
        for _ in 0..self.count() {
            let partition = self.next().map_err(NoLease::Failed)?;
            let start = self.until(partition);
            earliest = earliest.min(start);
            let until = now + FIRST_LEASE;
            if start <= now && self.swap(partition, start, until) {
                return Ok(Lease { partition, start, since: now, until });
            }
        }
        Err(NoLease::Before(earliest))
    }

    /// Makes a lease last beyond `now`, and returns its new end; `None` if another generator took the partition after the old end.
    pub(crate) fn renew(&self, lease: Lease, now: u64) -> Option<u64> {
        let held = lease.until.saturating_sub(lease.since);
        let until = now + held.clamp(FIRST_LEASE, LONGEST_LEASE);
        self.swap(lease.partition, lease.until, until).then_some(until)
    }

    /// Takes a partition for ever, for a generator to which a program gave it. If another generator leases the partition now,
    /// that generator's next renewal is refused.
    #[cfg(not(any(loom, shuttle)))]
    pub(crate) fn give(&self, partition: u16) {
        let mut until = self.until(partition);
        while until != FOREVER && !self.swap(partition, until, FOREVER) {
            until = self.until(partition);
        }
    }

    /// Makes a lease last for ever. Returns `false` if another generator has the partition.
    pub(crate) fn keep(&self, lease: Lease) -> bool {
        self.swap(lease.partition, lease.until, FOREVER)
    }

    /// Ends a lease at `end`, the tick after the last one used, if that is earlier. Another generator may have the partition by now.
    pub(crate) fn give_back(&self, lease: Lease, end: u64) {
        let end = end.max(lease.start);
        if end < lease.until {
            self.swap(lease.partition, lease.until, end);
        }
    }
}

/// A table in memory. It is all zero at first, so that fresh shared pages are a table. `N` is a power of two, smaller than
/// `COUNT` only in models.
///
/// Only models make one; processes have [`shared`].
#[cfg(feature = "std")]
#[repr(C)]
#[derive(Debug)]
pub struct Cells<const N: usize> {
    base: AtomicU32,
    /// Number of partitions that were looked at.
    count: AtomicU32,
    until: [AtomicU64; N],
}

#[cfg(feature = "std")]
impl<const N: usize> Cells<N> {
    /// A table with no partition taken.
    #[cfg(any(test, not(unix), miri, loom, shuttle))]
    #[allow(clippy::new_without_default, reason = "one a process")]
    pub const fn new() -> Self {
        let until = [const { AtomicU64::new(0) }; N];
        Self { base: AtomicU32::new(0), count: AtomicU32::new(0), until }
    }

    fn base(&self) -> Result<u32> {
        let base = self.base.load(Ordering::Acquire);
        if base != 0 {
            return Ok(base);
        }
        let drawn = DRAWN | u32::from(random_u16()?);
        let raced = self.base.compare_exchange(0, drawn, Ordering::AcqRel, Ordering::Acquire);
        Ok(raced.err().unwrap_or(drawn))
    }
}

#[cfg(feature = "std")]
impl<const N: usize> Table for Cells<N> {
    fn random(&self) -> Result<u16> {
        random_u16()
    }

    #[allow(clippy::cast_possible_truncation, reason = "a place in the table")]
    fn next(&self) -> Result<u16> {
        let base = self.base()?;
        Ok((place(base, self.count.fetch_add(1, Ordering::Relaxed)) % N) as u16)
    }

    fn until(&self, partition: u16) -> u64 {
        self.until[usize::from(partition) % N].load(Ordering::Acquire)
    }

    fn swap(&self, partition: u16, old: u64, new: u64) -> bool {
        const ORDERS: (Ordering, Ordering) = (Ordering::AcqRel, Ordering::Acquire);
        let cell = &self.until[usize::from(partition) % N];
        cell.compare_exchange(old, new, ORDERS.0, ORDERS.1).is_ok()
    }

    fn count(&self) -> usize {
        N
    }
}

/// 16 bits from the system.
#[cfg(all(feature = "std", not(any(loom, shuttle))))]
fn random_u16() -> Result<u16> {
    crate::entropy::random().map(u16::from_le_bytes)
}

/// Returns 0: a model must run the same way each time.
#[cfg(any(loom, shuttle))]
#[allow(clippy::unnecessary_wraps, reason = "outside it may fail")]
const fn random_u16() -> Result<u16> {
    Ok(0)
}

/// The table of this process and its relatives by fork.
///
/// # Errors
/// As [`super::prepare`]; `partitions_exhausted` if there is no memory for it.
#[cfg(feature = "std")]
pub fn shared() -> Result<&'static dyn Table> {
    super::prepare()?;
    Ok(super::imp::shared_table()?)
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use std::{collections::HashSet, vec::Vec};

    use super::*;

    const SMALL: usize = 64;

    #[test]
    fn every_partition_is_taken_once_and_then_none_is_left() {
        let table: &dyn Table = &Cells::<SMALL>::new();
        let leases: Vec<_> = (0..SMALL).map(|_| table.take(1000).unwrap()).collect();
        assert_eq!(leases.iter().map(|lease| lease.partition).collect::<HashSet<_>>().len(), SMALL);
        assert!(leases.iter().all(|lease| (lease.start, lease.until) == (0, 1001)));
        assert!(matches!(table.take(1000), Err(NoLease::Before(1001))));
        let again = table.take(1001).unwrap();
        assert_eq!((again.start, again.until), (1001, 1002));
    }

    #[test]
    fn a_lease_is_renewed_for_as_long_as_it_was_held_up_to_a_minute() {
        let table: &dyn Table = &Cells::<SMALL>::new();
        // Even if the partition has been free for a long time.
        for now in [0, 1_000_000] {
            let mut lease = table.take(now).unwrap();
            let mut ends = Vec::new();
            while ends.len() < 17 {
                lease.until = table.renew(lease, lease.until).unwrap();
                ends.push(lease.until - now);
            }
            assert_eq!(ends[..5], [2, 4, 8, 16, 32]);
            assert_eq!(ends[12..], [8192, 16_384, 31_384, 46_384, 61_384]);
        }
    }

    #[test]
    fn an_idle_owner_goes_on_unless_somebody_else_came() {
        let table: &dyn Table = &Cells::<1>::new();
        let idle = table.take(0).unwrap();
        assert_eq!(table.renew(idle, 10_000), Some(10_001));
        let idle = Lease { until: 10_001, ..idle };
        let other = table.take(20_000).unwrap();
        assert_eq!(other.start, 10_001);
        assert_eq!(table.renew(idle, 20_000), None);
        assert!(!table.keep(idle));
        table.give_back(idle, 10_000);
        assert!(table.take(20_000).is_err(), "what the other has is not given back by the idle");
    }

    #[test]
    fn what_is_given_back_is_free_after_the_last_tick_used() {
        let table: &dyn Table = &Cells::<1>::new();
        let mut lease = table.take(100).unwrap();
        while lease.until < 110 {
            lease.until = table.renew(lease, lease.until).unwrap();
        }
        table.give_back(lease, 105);
        assert!(matches!(table.take(104), Err(NoLease::Before(105))));
        let next = table.take(105).unwrap();
        assert_eq!((next.start, next.until), (105, 106));
        // It was not used, so the next lease begins where this one began.
        table.give_back(next, 7);
        assert_eq!(table.take(106).unwrap().start, 105);
    }

    #[test]
    fn what_is_kept_is_never_free() {
        let table: &dyn Table = &Cells::<1>::new();
        assert!(table.keep(table.take(100).unwrap()));
        assert!(matches!(table.take(1 << 40), Err(NoLease::Before(FOREVER))));
    }

    /// Threads that take, renew, lose and return leases, each under its own clock, which goes forward and back.
    #[test]
    fn leases_of_one_partition_never_overlap() {
        const EACH: u64 = if cfg!(miri) { 50 } else { 20_000 };
        let table: &dyn Table = &Cells::<8>::new();
        let used: Vec<(u16, u64, u64)> = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..4).map(|seed| scope.spawn(move || use_up(table, seed, EACH))).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        let mut spans = used;
        spans.sort_unstable();
        assert!(spans.len() as u64 > EACH / 4, "{} leases", spans.len());
        for pair in spans.windows(2) {
            let [(one, _, end), (other, start, _)] = pair else { unreachable!() };
            assert!(one != other || end <= start, "{pair:?}");
        }
    }

    /// The spans of ticks, one for each lease, in which a thread made IDs.
    fn use_up(table: &dyn Table, seed: u64, steps: u64) -> Vec<(u16, u64, u64)> {
        let (mut spans, mut random) = (Vec::new(), seed + 1);
        let mut draw = |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 33) % below
        };
        for step in 0..steps {
            let mut now = 100 * step + draw(1000);
            let Ok(mut lease) = table.take(now) else { continue };
            let (first, mut last) = (now, now);
            for _ in 0..draw(4) {
                now = now.max(last) + draw(600);
                if now >= lease.until {
                    let Some(until) = table.renew(lease, now) else { break };
                    lease.until = until;
                }
                last = now;
            }
            spans.push((lease.partition, first.max(lease.start), last + 1));
            if draw(3) > 0 {
                table.give_back(lease, last + 1);
            }
        }
        spans
    }

    #[test]
    fn two_bases_share_whole_groups_or_nothing() {
        for (base, other) in [(0, 1), (5, 70), (1000, 1003), (65_535, 0), (12_345, 54_321)] {
            let group = |base| (0..4).map(|count| place(base, count)).collect::<HashSet<_>>();
            let both = group(base).intersection(&group(other)).count();
            assert!(both == 0 || both == 4, "{base} and {other} share {both}");
        }
    }
}
