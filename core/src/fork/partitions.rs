//! Assigns default partitions, so that the generators of a process and its forks have different worker IDs without a
//! coordinator.
//!
//! A sno generator without a configured partition needs one of the 65,536 partitions. A random choice alone is not enough,
//! because a prefork server starts hundreds of processes from one parent, and a program may create thousands of generators.
//! A counter per process is not enough either, because every child would continue from its parent's value. So the processes
//! of a *fork tree* share a table with one entry per partition, in memory that the first generator maps (or `prepare`,
//! which a program may call earlier) and every later child inherits. The memory is shared, so what one process writes, all
//! others see:
//!
//! ```text
//! supervisor     maps the table, whose first partition is 0x5a10
//!  |- worker 1   forked, takes 0x5a10 and 0x5a11 for two generators
//!  |- worker 2   forked, takes 0x5a12
//!  |   '- child  forked with a copy of worker 2's generator, which takes 0x5a13 before its first ID in the child
//!  '- worker 3   forked, takes 0x5a14, or an earlier one that is free again
//!
//! entry: 11 zero | 12 claims | 1 left | 40 end
//! ```
//!
//! Two situations could make a parent and its child generate the same ID, and each is prevented in a different way. They
//! could pick the same partition, which the table prevents. Or the child could use its copy of the parent's generator.
//! Every call therefore compares the process generation with that of the generator's claim (see the `fork` module), so in a
//! child, the copy claims another partition.
//!
//! A program that was started independently has a different table. Only the random choice of partitions makes collisions
//! between such programs unlikely, so programs that must not collide configure their partitions or lease them
//! (`polyflake-lease`).
//!
//! Entries contain no process ID, and no entry is cleaned up when a process ends. A partition becomes free only as time
//! passes, so an entry records the *end* of the partition's use. There are two kinds of holders.
//!
//! # Default generators reserve
//!
//! A default generator claims a partition whose `end` is not later than its own tick, and writes a later end. It may
//! then generate IDs in the ticks before that end, and it extends the reservation when it needs more. Each extension is
//! as long as the reservation so far, from one tick up to a minute. A generator that is dropped, killed or forgotten
//! needs no destructor, because its partition becomes free once the ticks that it may have used are in the past. "In
//! the past" is judged by the ticks of IDs, not by a timer:
//!
//! ```text
//! partition 7     |--- A, in ticks 100..108 ---|     idle     |--- B, from tick 115 on ---|
//! end = 108 ------------------------------------^              ^ B finds 108 <= 115, and writes 116
//! ```
//!
//! This rule does not depend on how the processes' clocks relate to each other or to the wall clock. A's IDs carry
//! ticks before 108. B claims the partition at tick 115, but its reservation starts where A's ended, so B's IDs carry
//! ticks from 108 on. No two IDs are equal, even if B's clock is behind and A is still running. If B's clock moves back
//! to before tick 108, B claims another partition. At its next extension, A detects that its entry has changed, and
//! also claims another partition.
//!
//! The first partition is random, and the others follow in an order that the table's base permutes (see `partition_at`), so
//! that unrelated processes rarely collide.
//!
//! # Explicit generators claim
//!
//! An *explicit* generator, whose partition was configured, restored or picked by the caller, claims the partition. No
//! default generator can reserve it or extend a reservation of it from that moment on. The holder of a running
//! reservation may still use the partition until the reservation ends, so the claim preserves that end, and the ticks
//! of the explicit generator begin there. Any number of explicit generators may claim a partition, for example with
//! half of its sequences each.
//!
//! `claims` counts these generators. When the last of them is dropped, the partition becomes free from the tick after the
//! last tick that any of them used, and `left` records that `end` was set by an explicit generator. Such an end applies to
//! default generators only. A program that configures a partition again, possibly with a test's clock, gets the partition
//! immediately. A partition stays reserved permanently, with all bits of `claims` set, once a snapshot of it exists,
//! because the snapshot may be restored at any time. An explicit generator that is killed remains counted, because its end
//! is not reported.
//!
//! # Why a compare-and-swap of one entry is enough
//!
//! `end` only grows, except when the owner of a reservation returns it early. Then `end` is lowered to the end of the
//! last tick used, but never below the start of the reservation. (A snapshot of a default generator keeps the partition
//! permanently, with the start of its reservation as the end.) So an owner that finds its own entry unchanged still
//! owns the partition, however long it was idle. If another holder used the partition in the meantime, that holder has
//! raised the end. If another holder acquired and released the partition without generating an ID, the entry is as it
//! was before.
//!
//! There is no second word to keep consistent, so a process may be killed between any two instructions. A child that is
//! forked in the middle of an operation has a different process generation, so it acquires a new reservation.
//!
//! An entry has 53 bits, so it fits in a JavaScript number.

use core::result;

use crate::{Error, Result};
#[cfg(feature = "std")]
use crate::{
    narrow,
    sync::{
        Ordering,
        shared_atomics::{AtomicU32, AtomicU64},
    },
};

/// The number of partitions.
pub(crate) const PARTITION_COUNT: usize = 1 << 16;
/// The bit that is set once the base has been picked. The bits above it count the replacements of the base.
#[cfg(feature = "std")]
const BASE_PICKED: u32 = 1 << 16;
/// The end of a reservation that never ends.
const FOREVER: u64 = u64::MAX;

/// The bits of an entry that contain the end of its reservation: ticks have 39 bits, and a reservation may end a minute
/// after the last tick.
const END: u64 = (1 << 40) - 1;
/// The bit that is set if an explicit generator (one with an explicit partition) stored the end in the entry.
const LEFT_BY_EXPLICIT_CLAIM: u64 = END + 1;
/// The lowest bit of `claims` in an entry. Adding it to an entry adds one claim.
const ONE_CLAIM: u64 = LEFT_BY_EXPLICIT_CLAIM << 1;
/// The `claims` value of a partition that is reserved permanently. An entry that is equal to this value contains no other
/// information about its partition.
pub const RESERVED: u64 = 0xfff * ONE_CLAIM;

/// The length of the first reservation, in ticks. A generator that is abandoned after one ID holds its partition no
/// longer than this. Therefore, 65,536 consecutive generators, whether in separate processes or in a loop, always find
/// a free partition.
const FIRST_RESERVATION_TICKS: u64 = 1;
/// The maximum extension of a reservation: one minute, in ticks. Up to this maximum, each extension is as long as the
/// time from the tick at which the partition was claimed to the current end of the reservation.
const MAX_EXTENSION_TICKS: u64 = 15_000;

/// A reservation of a partition for the ticks `start .. until`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PartitionReservation {
    pub(crate) partition: u16,
    /// The first tick of the reservation. It is the end of the previous reservation, and may be far in the past.
    pub(crate) start: u64,
    /// The tick at which the partition was claimed.
    pub(crate) since: u64,
    pub(crate) until: u64,
}

/// The reason why no partition could be reserved.
#[derive(Debug)]
pub(crate) enum NoReservation {
    /// All partitions are in use until this tick, or permanently if it is [`u64::MAX`].
    Before(u64),
    Failed(Error),
}

/// An entry of the table. See the module documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry(u64);

impl Entry {
    const fn claims(self) -> u64 {
        self.0 & RESERVED
    }

    /// Returns the first tick that a default generator may reserve.
    const fn free_from(self) -> u64 {
        if self.claims() == 0 { self.0 & END } else { FOREVER }
    }

    /// Returns the first tick that an explicit generator may use.
    const fn claimed_from(self) -> u64 {
        if self.0 & LEFT_BY_EXPLICIT_CLAIM == 0 { self.0 & END } else { 0 }
    }

    /// Returns the entry with one more claim. If there are more claims than the entry can count, the partition stays
    /// reserved permanently.
    const fn with_claim(self) -> Self {
        if self.claims() == RESERVED { self } else { Self(self.0 + ONE_CLAIM) }
    }

    const fn with_reservation(self) -> Self {
        Self(self.0 | RESERVED)
    }

    /// Returns the entry without the claim of a generator that used no tick at or after `end`.
    const fn without_claim(self, end: u64) -> Self {
        match self.claims() {
            0 | RESERVED => self,
            claims if end > self.0 & END => {
                Self((claims - ONE_CLAIM) | LEFT_BY_EXPLICIT_CLAIM | end)
            }
            _ => Self(self.0 - ONE_CLAIM),
        }
    }
}

/// Returns the partition at position `count` in the order that `base` determines. An aligned group of 2^k positions yields
/// an aligned group of 2^k partitions, in a different order. Therefore the groups that two bases yield are either identical
/// or disjoint.
pub const fn partition_at(base: u32, count: u32) -> usize {
    ((base ^ count) as usize) % PARTITION_COUNT
}

/// A table with one entry for each partition. All generators in a fork tree, or in all threads of a JavaScript process,
/// share one table.
pub trait Table: Sync {
    /// Returns 16 random bits.
    ///
    /// # Errors
    /// Returns `entropy_unavailable` if the operating system provides no random bytes.
    fn random_bits(&self) -> Result<u16>;

    /// Returns the next partition to check. Each call returns a different partition until all partitions have been
    /// returned. See [`partition_at`].
    ///
    /// # Errors
    ///
    /// Returns `entropy_unavailable` if the first partition cannot be picked at random.
    fn next_partition(&self) -> Result<u16>;

    /// Returns the entry of a partition, or [`RESERVED`] if it cannot be read.
    fn entry(&self, partition: u16) -> u64;

    /// Replaces the entry `old` with `new`, and returns whether the entry was still `old`.
    fn swap(&self, partition: u16, old: u64, new: u64) -> bool;

    /// Returns the number of partitions in the table. Only models use a smaller table.
    fn count(&self) -> usize {
        PARTITION_COUNT
    }
}

/// A function that returns the process's table, which it finds on the first call.
pub type FindTable = fn() -> Result<&'static dyn Table>;

/// The operations that generators perform on a table.
impl dyn Table + '_ {
    /// Reserves a partition that is free at `now`.
    ///
    /// # Errors
    /// Returns the tick at which the first partition will be free, or `entropy_unavailable`.
    pub(crate) fn reserve_free_partition(
        &self,
        now: u64,
    ) -> result::Result<PartitionReservation, NoReservation> {
        let mut earliest = FOREVER;
        for _ in 0..self.count() {
            let partition = self.next_partition().map_err(NoReservation::Failed)?;
            let entry = self.entry(partition);
            let start = Entry(entry).free_from();
            earliest = earliest.min(start);
            let until = now + FIRST_RESERVATION_TICKS;
            // If the swap fails, another generator acquired the partition first, and the search continues with the next
            // partition.
            if start <= now && self.swap(partition, entry, until) {
                return Ok(PartitionReservation { partition, start, since: now, until });
            }
        }
        Err(NoReservation::Before(earliest))
    }

    /// Extends a reservation beyond `now` and returns its new end, or `None` if another generator claimed the partition
    /// after the old end.
    pub(crate) fn renew(&self, reservation: PartitionReservation, now: u64) -> Option<u64> {
        let held = reservation.until.saturating_sub(reservation.since);
        let until = now + held.clamp(FIRST_RESERVATION_TICKS, MAX_EXTENSION_TICKS);
        // An unchanged end proves ownership, so one compare-and-swap both checks and extends the reservation.
        self.swap(reservation.partition, reservation.until, until).then_some(until)
    }

    /// Makes a reservation permanent, for a snapshot of the generator that owns it. The snapshot's ticks begin at the
    /// start of the reservation. Returns `false` if another generator has acquired the partition in the meantime.
    pub(crate) fn reserve_permanently(&self, reservation: PartitionReservation) -> bool {
        self.swap(reservation.partition, reservation.until, RESERVED | reservation.start)
    }

    /// Claims a partition for an explicit generator, and returns the generator's first tick. If the partition is
    /// reserved, the claim prevents that reservation from being renewed.
    pub(crate) fn claim(&self, partition: u16) -> u64 {
        self.update(partition, Entry::with_claim).claimed_from()
    }

    /// Reserves a partition permanently for an explicit generator, and returns the generator's first tick.
    pub(crate) fn claim_permanently(&self, partition: u16) -> u64 {
        self.update(partition, Entry::with_reservation).claimed_from()
    }

    /// Ends the claim of an explicit generator that used no tick at or after `end`.
    pub(crate) fn release(&self, partition: u16, end: u64) {
        self.update(partition, |entry| entry.without_claim(end));
    }

    /// Changes an entry, and returns the previous entry.
    fn update(&self, partition: u16, change: impl Fn(Entry) -> Entry) -> Entry {
        loop {
            let found = Entry(self.entry(partition));
            let changed = change(found);
            if changed == found || self.swap(partition, found.0, changed.0) {
                return found;
            }
        }
    }

    /// Ends a reservation at `end`, the tick after the last used tick, if `end` is earlier than the reservation's end.
    /// This method has no effect if another generator has acquired the partition in the meantime.
    pub(crate) fn end_reservation(&self, reservation: PartitionReservation, end: u64) {
        let end = end.max(reservation.start);
        if end < reservation.until {
            self.swap(reservation.partition, reservation.until, end);
        }
    }
}

/// A counter on a separate cache line, because the counter is loaded for every ID and the adjacent fields are written
/// often.
#[cfg(feature = "std")]
#[repr(align(128))]
#[derive(Debug)]
#[cfg_attr(
    not(all(unix, not(any(miri, loom, shuttle, target_os = "emscripten")))),
    allow(dead_code, reason = "a static")
)]
pub(super) struct CacheLine(pub(super) AtomicU32);

/// A table in memory. An empty table is all zeros, so newly mapped shared pages already form a valid table. `N` is a power
/// of two. It is smaller than `PARTITION_COUNT` only in models.
///
/// Only models create a table directly. Processes use [`shared_table`].
#[cfg(feature = "std")]
#[repr(C)]
#[derive(Debug)]
pub struct Cells<const N: usize> {
    base: AtomicU32,
    /// The number of partitions that have been checked so far.
    count: AtomicU32,
    /// The last process generation that was assigned, or 0 if all processes have the first one. See `fork/unix.rs`.
    #[cfg_attr(
        not(all(unix, not(any(miri, loom, shuttle, target_os = "emscripten")))),
        allow(dead_code, reason = "nothing forks")
    )]
    pub(super) generations: AtomicU32,
    /// The log record number of the kernel's last restore notice, plus 1, or 0 if no notice has been reported yet.
    #[cfg_attr(
        not(all(target_os = "linux", not(any(miri, loom, shuttle)))),
        allow(dead_code, reason = "nothing watches")
    )]
    notice: AtomicU64,
    /// The number of times that the processes that share the table were restored. See the documentation of `fork`.
    #[cfg_attr(
        not(all(unix, not(any(miri, loom, shuttle, target_os = "emscripten")))),
        allow(dead_code, reason = "a static")
    )]
    pub(super) restores: CacheLine,
    entries: [AtomicU64; N],
}

#[cfg(feature = "std")]
impl<const N: usize> Cells<N> {
    /// Creates a table in which all partitions are free.
    #[cfg(any(test, not(unix), target_os = "emscripten", miri, loom, shuttle))]
    #[allow(clippy::new_without_default, reason = "one a process")]
    pub const fn new() -> Self {
        let entries = [const { AtomicU64::new(0) }; N];
        Self {
            base: AtomicU32::new(0),
            count: AtomicU32::new(0),
            generations: AtomicU32::new(0),
            notice: AtomicU64::new(0),
            restores: CacheLine(AtomicU32::new(0)),
            entries,
        }
    }

    /// Replaces the base, so that two copies of this table continue with different partitions, and then calls `advance`,
    /// which advances the restore count. If `draw` fails, the next search for a partition picks the base.
    ///
    /// If the count were advanced first, a generator that sees the new count could still reserve a partition under the
    /// old base, and the other copy would reserve the same partition.
    ///
    /// The process image may have been taken while another thread was in this function and had already picked a new base.
    /// That thread then has the same new base in both copies. However, the thread read the current base before this call
    /// replaced it. The thread's own replacement therefore fails, and the thread picks another base.
    pub(super) fn restore(
        &self,
        draw: impl Fn() -> Result<u32>,
        advance: impl FnOnce(),
    ) -> Result<()> {
        let drawn = loop {
            let (found, drawn) = (self.base.load(Ordering::Acquire), draw());
            if self.replace_base(found, drawn.as_ref().map_or(0, |base| *base)) {
                break drawn;
            }
        };
        advance();
        drawn.map(drop)
    }

    /// Stores a notice from the kernel, and returns whether it differs from the previous notice. Each notice reaches every
    /// process that shares the table and watches for restores.
    #[cfg(all(target_os = "linux", not(any(miri, loom, shuttle))))]
    pub(super) fn is_new_notice(&self, number: u64) -> bool {
        let notice = number.wrapping_add(1);
        self.notice.swap(notice, Ordering::AcqRel) != notice
    }

    fn get_or_pick_base(&self, draw: impl Fn() -> Result<u32>) -> Result<u32> {
        loop {
            let found = self.base.load(Ordering::Acquire);
            if found & BASE_PICKED != 0 {
                return Ok(found);
            }
            // If another thread replaces the base first, that thread's base is used. All processes must use the same base,
            // or `next_partition` would return a partition twice before it has returned all of them.
            self.replace_base(found, draw()?);
        }
    }

    /// Replaces the base `found`. Returns `false` if another thread has replaced it first. Each replacement is counted, so
    /// that a thread never mistakes a later base for `found`.
    fn replace_base(&self, found: u32, base: u32) -> bool {
        const ORDERINGS: (Ordering, Ordering) = (Ordering::AcqRel, Ordering::Acquire);
        const ONE_REPLACEMENT: u32 = BASE_PICKED << 1;
        let next = (found & !(ONE_REPLACEMENT - 1)).wrapping_add(ONE_REPLACEMENT) | base;
        self.base.compare_exchange(found, next, ORDERINGS.0, ORDERINGS.1).is_ok()
    }
}

#[cfg(feature = "std")]
impl<const N: usize> Table for Cells<N> {
    fn random_bits(&self) -> Result<u16> {
        random_u16()
    }

    fn next_partition(&self) -> Result<u16> {
        let base = self.get_or_pick_base(random_base)?;
        // Relaxed ordering is sufficient, because only the atomicity of the addition matters: no position is returned twice
        // in a round. The counter wraps at a multiple of the table's size, so that the rounds continue without a gap.
        let partition = partition_at(base, self.count.fetch_add(1, Ordering::Relaxed)) % N;
        Ok(narrow::u16(partition as u64))
    }

    fn entry(&self, partition: u16) -> u64 {
        self.entries[usize::from(partition) % N].load(Ordering::Acquire)
    }

    fn swap(&self, partition: u16, old: u64, new: u64) -> bool {
        const ORDERINGS: (Ordering, Ordering) = (Ordering::AcqRel, Ordering::Acquire);
        let cell = &self.entries[usize::from(partition) % N];
        cell.compare_exchange(old, new, ORDERINGS.0, ORDERINGS.1).is_ok()
    }

    fn count(&self) -> usize {
        N
    }
}

/// Returns a random base.
#[cfg(feature = "std")]
pub(super) fn random_base() -> Result<u32> {
    Ok(BASE_PICKED | u32::from(random_u16()?))
}

/// Returns 16 random bits from the operating system.
#[cfg(all(feature = "std", not(any(loom, shuttle))))]
fn random_u16() -> Result<u16> {
    crate::entropy::random_bytes().map(u16::from_le_bytes)
}

/// Returns 0, because a model must run the same way each time.
#[cfg(any(loom, shuttle))]
#[allow(clippy::unnecessary_wraps, reason = "outside it may fail")]
const fn random_u16() -> Result<u16> {
    Ok(0)
}

/// Returns the table that this process shares with its fork tree.
///
/// # Errors
/// Returns the same errors as [`super::prepare`], and `partitions_exhausted` if there is not enough memory.
#[cfg(feature = "std")]
pub fn shared_table() -> Result<&'static dyn Table> {
    super::prepare()?;
    Ok(super::imp::shared_table()?)
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use std::{collections::HashSet, vec::Vec};

    use super::*;

    const SMALL_TABLE: usize = 64;

    #[test]
    fn each_partition_is_leased_once_until_none_is_free() {
        let table: &dyn Table = &Cells::<SMALL_TABLE>::new();
        let reservations: Vec<_> =
            (0..SMALL_TABLE).map(|_| table.reserve_free_partition(1000).unwrap()).collect();
        assert_eq!(
            reservations
                .iter()
                .map(|reservation| reservation.partition)
                .collect::<HashSet<_>>()
                .len(),
            SMALL_TABLE
        );
        assert!(
            reservations
                .iter()
                .all(|reservation| (reservation.start, reservation.until) == (0, 1001))
        );
        assert!(matches!(table.reserve_free_partition(1000), Err(NoReservation::Before(1001))));
        let again = table.reserve_free_partition(1001).unwrap();
        assert_eq!((again.start, again.until), (1001, 1002));
    }

    #[cfg(all(target_os = "linux", not(any(miri, loom, shuttle))))]
    #[test]
    fn a_notice_is_new_once() {
        let table = Cells::<1>::new();
        assert_eq!(
            [0, 0, 7, 7].map(|number| table.is_new_notice(number)),
            [true, false, true, false]
        );
    }

    #[test]
    fn renewals_double_the_lease_up_to_a_minute() {
        let table: &dyn Table = &Cells::<SMALL_TABLE>::new();
        // The first reservation is short even if the partition has been free for a long time.
        for now in [0, 1_000_000] {
            let mut reservation = table.reserve_free_partition(now).unwrap();
            let mut ends = Vec::new();
            while ends.len() < 17 {
                reservation.until = table.renew(reservation, reservation.until).unwrap();
                ends.push(reservation.until - now);
            }
            assert_eq!(ends[..5], [2, 4, 8, 16, 32]);
            assert_eq!(ends[12..], [8192, 16_384, 31_384, 46_384, 61_384]);
        }
    }

    #[test]
    fn an_idle_owner_renews_unless_the_partition_was_reassigned() {
        let table: &dyn Table = &Cells::<1>::new();
        let idle = table.reserve_free_partition(0).unwrap();
        assert_eq!(table.renew(idle, 10_000), Some(10_001));
        let idle = PartitionReservation { until: 10_001, ..idle };
        let other = table.reserve_free_partition(20_000).unwrap();
        assert_eq!(other.start, 10_001);
        assert_eq!(table.renew(idle, 20_000), None);
        assert!(!table.reserve_permanently(idle));
        table.end_reservation(idle, 10_000);
        assert!(
            table.reserve_free_partition(20_000).is_err(),
            "what the other has is not given back by the idle"
        );
    }

    #[test]
    fn a_released_partition_is_free_after_its_last_used_tick() {
        let table: &dyn Table = &Cells::<1>::new();
        let mut reservation = table.reserve_free_partition(100).unwrap();
        while reservation.until < 110 {
            reservation.until = table.renew(reservation, reservation.until).unwrap();
        }
        table.end_reservation(reservation, 105);
        assert!(matches!(table.reserve_free_partition(104), Err(NoReservation::Before(105))));
        let next = table.reserve_free_partition(105).unwrap();
        assert_eq!((next.start, next.until), (105, 106));
        // The reservation `next` was never used, so the reservation after it begins at the same tick.
        table.end_reservation(next, 7);
        assert_eq!(table.reserve_free_partition(106).unwrap().start, 105);
    }

    #[test]
    fn a_claim_starts_where_the_current_lease_ends() {
        let table: &dyn Table = &Cells::<1>::new();
        let reservation = table.reserve_free_partition(100).unwrap();
        let reservation =
            PartitionReservation { until: table.renew(reservation, 101).unwrap(), ..reservation };
        assert_eq!(table.claim(0), reservation.until);
        assert_eq!(table.renew(reservation, 101), None, "from the claim on");
        assert!(!table.reserve_permanently(reservation));
        table.end_reservation(reservation, 101);
        assert_eq!(table.claim(0), reservation.until, "also for another claim");
        assert!(matches!(
            table.reserve_free_partition(1 << 38),
            Err(NoReservation::Before(FOREVER))
        ));
    }

    #[test]
    fn releasing_the_last_claim_frees_the_partition_after_its_last_tick() {
        let table: &dyn Table = &Cells::<1>::new();
        (0..3).for_each(|_| assert_eq!(table.claim(0), 0));
        table.release(0, 120);
        table.release(0, 110);
        assert!(matches!(table.reserve_free_partition(200), Err(NoReservation::Before(FOREVER))));
        table.release(0, 0);
        assert!(matches!(table.reserve_free_partition(119), Err(NoReservation::Before(120))));
        assert_eq!(table.claim(0), 0, "what explicit generators left holds up no other one");
        table.release(0, 7);
        let reservation = table.reserve_free_partition(120).unwrap();
        assert_eq!((reservation.start, table.claim(0)), (120, reservation.until));
    }

    #[test]
    fn an_unused_claim_leaves_the_partitions_free_time_unchanged() {
        let table: &dyn Table = &Cells::<1>::new();
        let idle = table.reserve_free_partition(100).unwrap();
        assert_eq!(table.claim(0), idle.until);
        table.release(0, 0);
        assert!(matches!(table.reserve_free_partition(100), Err(NoReservation::Before(101))));
        assert_eq!(table.renew(idle, 300), Some(301), "nobody else came");
    }

    #[test]
    fn a_kept_partition_is_never_free_and_retains_its_start() {
        let table: &dyn Table = &Cells::<1>::new();
        let first = table.reserve_free_partition(100).unwrap();
        let owner = table.reserve_free_partition(101).unwrap();
        assert_eq!(first.until, owner.start);
        assert!(table.reserve_permanently(owner));
        let claims: [fn(&dyn Table, u16) -> u64; 2] = [
            |table, partition| table.claim(partition),
            |table, partition| table.claim_permanently(partition),
        ];
        for claim in claims {
            assert_eq!(claim(table, 0), owner.start);
            table.release(0, 500);
            assert!(matches!(
                table.reserve_free_partition(1 << 38),
                Err(NoReservation::Before(FOREVER))
            ));
        }
    }

    #[test]
    fn a_partition_whose_claim_count_overflows_is_kept() {
        let table: &dyn Table = &Cells::<1>::new();
        (0..5000).for_each(|_| assert_eq!(table.claim(0), 0));
        (0..5000).for_each(|_| table.release(0, 1));
        assert!(table.reserve_free_partition(1000).is_err());
        assert_eq!(table.entry(0), RESERVED);
    }

    #[test]
    fn every_entry_fits_in_a_javascript_number() {
        assert_eq!(RESERVED | LEFT_BY_EXPLICIT_CLAIM | END, (1 << 53) - 1);
        assert!(crate::sno::Sno::MAX.tick() + 1 + MAX_EXTENSION_TICKS <= END);
    }

    /// Threads acquire, renew, lose and release reservations, and claim partitions that no other thread claims. Each
    /// thread has a separate clock, which moves forwards and backwards.
    #[test]
    fn leases_of_one_partition_never_overlap_across_threads() {
        const CLAIMS_PER_THREAD: u64 = if cfg!(miri) { 50 } else { 20_000 };
        let table: &dyn Table = &Cells::<8>::new();
        let used: Vec<(u16, u64, u64)> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|seed| scope.spawn(move || lease_repeatedly(table, seed, CLAIMS_PER_THREAD)))
                .collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        let mut spans = used;
        spans.sort_unstable();
        assert!(spans.len() as u64 > CLAIMS_PER_THREAD / 4, "{} reservations", spans.len());
        for pair in spans.windows(2) {
            let [(one, _, end), (other, start, _)] = pair else { unreachable!() };
            assert!(one != other || end <= start, "{pair:?}");
        }
    }

    /// Reserves or claims partitions repeatedly. Returns the spans of ticks in which this thread generated IDs, one
    /// span for each reservation or claim.
    fn lease_repeatedly(table: &dyn Table, seed: u64, steps: u64) -> Vec<(u16, u64, u64)> {
        let (mut spans, mut random, mut claimed) = (Vec::new(), seed + 1, 0);
        let mut draw = |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 33) % below
        };
        for step in 0..steps {
            let mut now = 100 * step + draw(1000);
            if draw(4) == 0 {
                let partition = u16::try_from(seed).unwrap();
                // The table does not make one explicit generator wait for another, so the test itself ensures that the
                // spans of the thread's claims do not overlap.
                let first = table.claim(partition).max(claimed).max(now);
                if draw(3) > 0 {
                    claimed = first + draw(600) + 1;
                    spans.push((partition, first, claimed));
                }
                table.release(partition, claimed);
                continue;
            }
            let Ok(mut reservation) = table.reserve_free_partition(now) else { continue };
            let (first, mut last) = (now, now);
            for _ in 0..draw(4) {
                now = now.max(last) + draw(600);
                if now >= reservation.until {
                    let Some(until) = table.renew(reservation, now) else { break };
                    reservation.until = until;
                }
                last = now;
            }
            spans.push((reservation.partition, first.max(reservation.start), last + 1));
            if draw(3) > 0 {
                table.end_reservation(reservation, last + 1);
            }
        }
        spans
    }

    #[test]
    fn two_bases_share_only_whole_groups() {
        for (base, other) in [(0, 1), (5, 70), (1000, 1003), (65_535, 0), (12_345, 54_321)] {
            let group =
                |base| (0..4).map(|count| partition_at(base, count)).collect::<HashSet<_>>();
            let both = group(base).intersection(&group(other)).count();
            assert!(both == 0 || both == 4, "{base} and {other} share {both}");
        }
    }

    /// Two threads search for partitions, and the test interrupts one of them at each of its accesses in turn. Each
    /// partition is checked exactly once.
    #[cfg(not(any(loom, shuttle)))]
    #[test]
    fn concurrent_searches_visit_each_partition_once() {
        use std::{cell::RefCell, rc::Rc};

        use crate::sync::watched_atomics::run_with_interruption;

        for at in 0.. {
            let (table, seen) =
                (Rc::new(Cells::<SMALL_TABLE>::new()), Rc::new(RefCell::new(Vec::new())));
            let (other, noted) = (table.clone(), seen.clone());
            let look = move || noted.borrow_mut().push(other.next_partition().unwrap());
            let first = run_with_interruption(at, look, || table.next_partition().unwrap());
            let Ok(first) = first else {
                assert!(at > 1, "never held up");
                return;
            };
            let mut seen = seen.take();
            seen.push(first);
            seen.extend((2..SMALL_TABLE).map(|_| table.next_partition().unwrap()));
            assert_eq!(seen.iter().collect::<HashSet<_>>().len(), SMALL_TABLE, "held up at {at}");
        }
    }

    /// Threads with separate clocks acquire, renew and release reservations of two partitions, in every interleaving.
    /// No partition belongs to two reservations in the same tick.
    #[cfg(not(any(loom, shuttle, miri)))]
    #[test]
    fn leases_never_overlap_in_any_interleaving() {
        use crate::sync::explorer::{Scenario, choose, explore};

        /// For each thread, a bitmap of the ticks in which the thread may generate IDs (16 bits for each partition),
        /// and the thread's reservation.
        type Record = [(u32, Option<(u16, [u64; 3])>); 3];

        struct Threads(Cells<2>);

        impl Scenario for Threads {
            type Record = Record;

            fn call(&self, thread: usize, _: u8, record: &mut Record) -> bool {
                let (table, now): (&dyn Table, _) = (&self.0, 3 + u64::from(choose(2)));
                let mut reservation = record[thread].1.map(|(partition, [start, since, until])| {
                    PartitionReservation { partition, start, since, until }
                });
                match reservation.as_mut() {
                    None => reservation = table.reserve_free_partition(now).ok(),
                    Some(held) if choose(2) == 0 => match table.renew(*held, now.max(held.until)) {
                        Some(until) => held.until = until,
                        None => reservation = None,
                    },
                    Some(held) => {
                        let used = record[thread].0 >> (16 * u32::from(held.partition)) & 0xffff;
                        table.end_reservation(*held, now.max((32 - used.leading_zeros()).into()));
                        reservation = None;
                    }
                }
                let held =
                    |at: &PartitionReservation| (at.partition, [at.start, at.since, at.until]);
                record[thread].1 = reservation.as_ref().map(held);
                if let Some(PartitionReservation { partition, start, until, .. }) = reservation {
                    let tick = now.max(start).min(until - 1);
                    let bit = 1 << (16 * u64::from(partition) + tick);
                    let others = (0..3).filter(|other| *other != thread);
                    assert!(others.map(|other| record[other].0).all(|ticks| ticks & bit == 0));
                    record[thread].0 |= bit;
                }
                true
            }
        }

        let threads = Threads(Cells::new());
        threads.0.next_partition().unwrap();
        for calls in [&[3, 3][..], &[1, 1, 2]] {
            assert!(explore(&threads, calls).states > 1000);
        }
    }
}

#[cfg(all(test, feature = "std", not(any(loom, shuttle, miri))))]
mod restores {
    use super::*;
    use crate::{
        ErrorKind,
        sync::explorer::{Scenario, choose, explore},
    };

    /// The bases before and after the restore. The first 8 partitions under the first base all differ from the first 8
    /// partitions under the second base.
    const BASES: [u32; 2] = [BASE_PICKED, BASE_PICKED | 8];

    /// Processes that share a table. The first one reports a restore.
    struct Processes {
        table: Cells<16>,
        restores: AtomicU32,
    }

    impl Scenario for Processes {
        type Record = ();

        fn call(&self, process: usize, _: u8, (): &mut ()) -> bool {
            if process == 0 {
                let advance = || {
                    self.restores.fetch_add(1, Ordering::AcqRel);
                };
                self.table.restore(|| Ok(BASES[1]), advance).unwrap();
                return true;
            }
            let restores = self.restores.load(Ordering::Acquire);
            let reservation = <dyn Table>::reserve_free_partition(&self.table, 0).unwrap();
            assert!(
                restores == 0 || reservation.partition >= 8,
                "a partition that the other copy reserves"
            );
            true
        }
    }

    #[test]
    fn a_process_that_finds_the_new_count_leases_under_the_new_base() {
        let processes = Processes { table: Cells::new(), restores: AtomicU32::new(0) };
        processes.table.base.store(BASES[0], Ordering::Release);
        assert!(explore(&processes, &[1, 2, 1]).states > 100);
    }

    /// A process that is copied while thread 1 picks a base, either to report a restore or to find the first partition.
    /// Thread 0 takes the image of the process, and then reports that the process was restored from the image.
    struct CopiedProcess {
        table: Cells<16>,
        restores: AtomicU32,
        images: AtomicU32,
    }

    impl CopiedProcess {
        /// Returns a base that shows whether it was picked before the image was taken. If so, the other copy also has this
        /// base.
        fn draw(&self) -> u32 {
            BASES[self.images.load(Ordering::Acquire) as usize]
        }

        fn report(&self, draw: impl Fn() -> Result<u32>) -> Result<()> {
            self.table.restore(draw, || {
                self.restores.fetch_add(1, Ordering::AcqRel);
            })
        }
    }

    impl Scenario for CopiedProcess {
        type Record = bool;

        fn call(&self, thread: usize, _: u8, is_reported: &mut bool) -> bool {
            match thread {
                0 => {
                    let has_bytes = choose(2) == 0;
                    self.images.store(1, Ordering::Release);
                    let report = self.report(|| {
                        if has_bytes {
                            Ok(self.draw())
                        } else {
                            Err(Error::new(ErrorKind::EntropyUnavailable))
                        }
                    });
                    assert_eq!(report.is_ok(), has_bytes);
                    *is_reported = true;
                }
                1 if choose(2) == 0 => self.report(|| Ok(self.draw())).unwrap(),
                1 => drop(self.table.get_or_pick_base(|| Ok(self.draw())).unwrap()),
                _ => {
                    let begins_after = *is_reported;
                    let restores = self.restores.load(Ordering::Acquire);
                    let base = self.table.get_or_pick_base(|| Ok(self.draw())).unwrap();
                    if begins_after && restores == self.restores.load(Ordering::Acquire) {
                        assert_eq!(partition_at(base, 0), 8, "a base that the other copy has");
                    }
                }
            }
            true
        }
    }

    #[test]
    fn a_base_that_another_copy_has_is_not_used_after_the_report() {
        for base in [0, BASES[0]] {
            let copied = CopiedProcess {
                table: Cells::new(),
                restores: AtomicU32::new(0),
                images: AtomicU32::new(0),
            };
            copied.table.base.store(base, Ordering::Release);
            assert!(explore(&copied, &[1, 1, 1]).states > 100);
        }
    }
}
