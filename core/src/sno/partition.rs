//! The sno part of the engine: a generator acquires its partition, keeps it while it generates IDs, and releases it when it
//! is dropped.
//!
//! A generator without an explicit partition reserves one from the table of its process tree (`fork/partitions.rs`). If
//! another generator takes over the partition while this generator is idle, or if the clock moves back to before the
//! start of the reservation, this generator changes to a different partition. Other threads may still be using the old
//! claim:
//!
//! ```text
//! tick 100     7-0  7-1  7-2  | used up |                       1. publish the new claim, which covers no ticks yet
//! tick 101                                9-0  9-1  9-2         2. use up the rest of the tick
//!                                                               3. extend the new claim, so that it covers ticks
//! ```
//!
//! The partition therefore changes only between two ticks. IDs of one tick and metabyte are sorted by partition, so a
//! change to a smaller partition in the middle of a tick would make later IDs sort before earlier ones. A thread that
//! reserved slots under the old claim detects afterwards that the claim was replaced, and discards the slots. All three
//! steps in the diagram are necessary. If one of them were omitted, the IDs of a handle could be out of order, or a tick
//! could contain IDs with two partitions.
//!
//! If a coordinator leases the partition (`polyflake-lease`), each tick starts at a random sequence number in the lower
//! half of the bounds. Copies of a process image have the same lease until one of them renews it. Because of the random
//! starts, the copies rarely generate the same IDs. A generator with a default partition must not start its ticks at random
//! sequence numbers. Two unrelated processes that share a default partition by chance have different lower bounds, which
//! keep their sequences apart for as long as they run. With a new start in each tick, they would generate duplicate IDs
//! within the hour.

use alloc::boxed::Box;

use super::{
    Assignment, SCALE,
    claims::{Claim, unending_reservation},
    identity::{Identity, PartitionSource, no_free_partition},
};
use crate::{
    Error, ErrorKind, Result,
    clock::Clock,
    fork::{
        self,
        partitions::{FindTable, Table},
    },
    format::Scale,
    generator::{
        self, Engine, Family, LatestValue, NOT_PICKED, ProcessGuard, REPEATED_IDENTITY,
        SpareAllocation, Window, WorkerIds,
    },
    narrow,
    sequence::{
        Machine,
        tick_tock::{Bounds, TickTock},
    },
    sync::{AtomicU32, AtomicU64},
};

/// How many times a reservation that could not be renewed is rechecked before it is considered lost.
const MAX_CHECKS: u32 = if cfg!(any(loom, shuttle)) { 1 } else { 100 };

/// The partitions of a generator, which holds one partition at a time, and the bounds of its sequence numbers.
#[derive(Debug)]
#[allow(unnameable_types, reason = "a generator has them")]
pub struct SnoFamily {
    claims: LatestValue<Claim>,
    /// Spare memory for the first claim in a child process. The child cannot allocate safely, because another thread may
    /// have held the heap's lock during the fork.
    spare: SpareAllocation<Claim>,
    /// How the generator picks its partition, or `None` if the partition was configured. The generator picks a partition
    /// for the first ID, and picks again after a fork.
    draw: Option<PartitionSource>,
    /// The table from which default partitions are reserved, and in which explicit partitions are claimed.
    table: Option<FindTable>,
    bounds: Bounds,
    /// Whether the lower bound is picked at random together with the partition.
    draws_min: bool,
    /// The function that returns the random bytes from which the first sequence number of each tick under a lease is
    /// derived, or `None` if each tick starts at the lower bound.
    start: Option<fn() -> Result<[u8; 2]>>,
    /// The process to which an explicit partition or window was assigned, if the generator has either.
    process: Option<ProcessGuard>,
    /// The number of IDs generated for explicit times.
    pub(super) made_at_times: AtomicU32,
    /// The process generation in which a thread is closing the generator.
    pub(super) closing: AtomicU64,
}

impl generator::Windowed for SnoFamily {}

impl SnoFamily {
    /// Creates the partition state of a generator. The generator uses the partition of the first claim, or picks partitions
    /// at random if that claim has no partition.
    pub(super) const fn new(
        first: Claim,
        draw: Option<PartitionSource>,
        table: Option<FindTable>,
        bounds: Bounds,
        draws_min: bool,
        process: Option<ProcessGuard>,
    ) -> Self {
        Self {
            claims: LatestValue::new(first),
            spare: SpareAllocation::new(),
            draw,
            table,
            bounds,
            draws_min,
            start: None,
            process,
            made_at_times: AtomicU32::new(0),
            closing: AtomicU64::new(NOT_PICKED),
        }
    }

    /// Returns the partition if it is explicit, or `None` otherwise.
    pub(super) fn explicit_partition(&self) -> Option<u16> {
        self.draw.is_none().then(|| self.claims.get().identity.partition)
    }

    /// Returns the partition, or `None` if no partition has been assigned yet.
    pub(super) fn current_partition(&self) -> Option<u16> {
        #[cfg(loom)]
        self.claims.get().extend(0);
        let identity = self.claims.get().identity;
        (identity.generation != NOT_PICKED).then_some(identity.partition)
    }

    /// Returns the first tick covered by the current partition's reservation.
    pub(super) fn first_tick(&self) -> u64 {
        self.claims.get().reservation().start
    }

    /// Returns the sequence bounds of the current partition.
    pub(super) fn bounds(&self) -> Bounds {
        self.identity_bounds(self.claims.get().identity)
    }

    /// Returns the sequence bounds of an identity.
    #[inline]
    pub(super) fn identity_bounds(&self, Identity { min, .. }: Identity) -> Bounds {
        Bounds { min, ..self.bounds }
    }

    /// Returns the claim of this process that covers `tick`. A claim covers no ticks outside the window.
    #[inline]
    fn claim_for_tick(&self, machine: &TickTock, window: &Window, tick: u64) -> Result<&Claim> {
        let claim = self.claims.get();
        let is_here = claim.identity.generation == fork::generation();
        if is_here && claim.contains(tick) {
            Ok(claim)
        } else {
            self.reclaim(machine, window, tick)
        }
    }

    /// Continues the current claim or picks another partition. Callers use this function for the first ID, after a
    /// fork, after another generator has taken over the partition of an idle generator, and after the clock has moved
    /// backward past the start of the reservation.
    #[cold]
    fn reclaim(&self, machine: &TickTock, window: &Window, tick: u64) -> Result<&Claim> {
        fork::prepare()?;
        loop {
            let claim = self.claims.get();
            if claim.identity.generation == fork::ensure_generation()
                && self.renew_if_needed(claim, tick)?
            {
                self.begin_in_fresh_tick(claim, machine);
                claim.extend(window.ticks().end);
                return Ok(claim);
            }
            self.replace_partition(claim, machine, window, tick)?;
        }
    }

    /// If `claim` replaced an earlier claim of this process, makes `claim` begin in a fresh tick. A thread that is still
    /// using the earlier claim then either fails to reserve slots or detects the replacement afterwards.
    fn begin_in_fresh_tick(&self, claim: &Claim, machine: &TickTock) {
        if claim.follows_another && !claim.has_begun() {
            machine.end_tick(self.bounds.max, || claim.has_begun());
        }
    }

    /// Picks another partition to replace the claim `found`, unless another thread has already replaced it.
    fn replace_partition(
        &self,
        found: &Claim,
        machine: &TickTock,
        window: &Window,
        tick: u64,
    ) -> Result<()> {
        let Some(draw) = self.draw else {
            return Err(fork::foreign_error(found.identity.generation));
        };
        // The generation is read before an identity is picked, because the process may fork while an identity is picked.
        // The child's identity then contains the parent's generation, so the child picks again.
        let generation = fork::ensure_generation();
        // The process may have forked or been restored since this call last checked the process. Without this check, all
        // later calls would use a claim of the new generation.
        if let Some(process) = self.process
            && process.generation() != generation
        {
            return Err(fork::foreign_error(process.generation()));
        }
        let (reservation, drawn_min) = match draw {
            PartitionSource::By(draw) => {
                let Assignment { partition, sequence_min } = draw()?;
                // A partition that the function returned after a restore must not count as one of an earlier generation.
                if fork::ensure_generation() != generation {
                    return Ok(());
                }
                self.check_unused_before(generation, partition)?;
                let start = self.table().map_or(0, |table| table.claim(partition));
                (unending_reservation(partition, start), sequence_min)
            }
            PartitionSource::Table(find) => {
                let table = find()?;
                // The lower bound is in the lower half of the range, so that each tick has at least half of the sequence
                // numbers.
                let min = table.random_bits()? >> 1;
                (table.reserve_free_partition(tick).map_err(no_free_partition)?, min)
            }
        };
        let min = if self.draws_min { drawn_min } else { self.bounds.min };
        let identity = Identity { generation, partition: reservation.partition, min };
        let is_put = self.replace_claim(found, Claim::new(identity, window.start(), reservation));
        if is_put && Self::is_own(found) && found.is_unending() {
            // Without this release, the table would still count the replaced explicit claim after a restore. A thread that
            // reserves slots from now on detects the replacement, so no later tick is used.
            self.release(found.identity.partition, first_unused_tick(machine));
        }
        if !is_put && reservation.until == u64::MAX {
            // This generator uses another thread's claim instead. Without this release, the table would still count the
            // explicit claim made above. A reservation does not need to be released, because it expires after one tick.
            self.release(reservation.partition, 0);
        }
        Ok(())
    }

    /// Rejects a partition that a function returns although this generator had the same one in an ancestor of this process,
    /// or before a restore. The ancestor, or another copy of the process, may still use the partition.
    fn check_unused_before(&self, generation: u64, partition: u16) -> Result<()> {
        let is_of_earlier = |identity: Identity| {
            identity.generation != NOT_PICKED && identity.generation != generation
        };
        let mut earlier = self.claims.iter().map(|claim| claim.identity);
        if earlier.any(|found| found.partition == partition && is_of_earlier(found)) {
            return Err(repeated_identity_error());
        }
        Ok(())
    }

    /// Replaces the claim `found` with `claim`. Returns `false` if another thread replaced it first.
    fn replace_claim(&self, found: &Claim, mut claim: Claim) -> bool {
        // `follows_another` is `false` in a child process, because the parent's claim generated no IDs in this process.
        claim.follows_another = Self::is_own(found);
        // loom registers an atomic at its first use. The following call registers the claim's atomics before another thread
        // uses them.
        #[cfg(loom)]
        claim.extend(0);
        let is_of_child = found.identity.generation != NOT_PICKED && !claim.follows_another;
        let spare = if is_of_child {
            self.spare.take_spare()
        } else {
            self.spare.fill();
            None
        };
        self.claims.replace(found, claim, spare.unwrap_or_else(Box::new_uninit))
    }

    /// Returns whether a claim has a partition that was assigned in this process, before or after a restore.
    fn is_own(claim: &Claim) -> bool {
        let generation = claim.identity.generation;
        generation != NOT_PICKED && fork::belongs_to_this_process(generation)
    }

    /// Returns the table of partitions, or `None` if the generator uses no table.
    fn table(&self) -> Option<&'static dyn Table> {
        self.table.and_then(|find| find().ok())
    }

    /// Ends this generator's claim of an explicit partition. The generator has used no tick at or after `end`.
    fn release(&self, partition: u16, end: u64) {
        if let Some(table) = self.table() {
            table.release(partition, end);
        }
    }

    /// Returns whether a claim's reservation covers a tick, and renews the reservation if necessary.
    fn renew_if_needed(&self, claim: &Claim, tick: u64) -> Result<bool> {
        let mut checks = 0;
        loop {
            let reservation = claim.reservation();
            if claim.is_unending() {
                // Calls wait until the claim starts (see `opening_tick`).
                return Ok(true);
            }
            if tick < reservation.until {
                return Ok(reservation.start <= tick);
            }
            let Some(find) = self.table else { return Ok(false) };
            match find()?.renew(reservation, tick) {
                Some(until) => claim.record_renewal(until),
                // Another thread of this generator may have renewed the reservation but not recorded the renewal yet.
                None if claim.reservation().until == reservation.until && checks >= MAX_CHECKS => {
                    return Ok(false);
                }
                None => checks += 1,
            }
        }
    }
}

/// Returns the error for an identity function that does not distinguish this process from its ancestors, or a restored copy
/// from the others.
#[cold]
fn repeated_identity_error() -> Error {
    Error::with_reason(ErrorKind::Forked, REPEATED_IDENTITY)
}

/// Returns the tick after the last tick that a generator has used. A slot counts as used once it is reserved. If the clock
/// moved back from a tick, that tick counts as used, too.
fn first_unused_tick(machine: &TickTock) -> u64 {
    machine.highest_tick(&machine.state()).map_or(0, |tick| tick + 1)
}

impl<C: Clock> Engine<SnoFamily, C> {
    /// Returns the generator's identity in this process, for operations that do not reserve slots in a tick. The clock is
    /// read only if the identity depends on the tick.
    pub(super) fn identity(&self) -> Result<Identity> {
        self.family.check_process()?;
        let claim = self.family.claims.get();
        if claim.identity.generation == fork::generation() && claim.is_unending() {
            return Ok(claim.identity);
        }
        let tick = self.tick_now(&SCALE)?;
        Ok(self.family.claim_for_tick(&self.machine, &self.window, tick)?.identity)
    }

    /// Reserves the partition permanently for this generator's snapshot, and returns the identity.
    pub(super) fn reserve_permanently(&self) -> Result<Identity> {
        loop {
            let identity = self.identity()?;
            let claim = self.family.claims.get();
            if claim.identity != identity {
                continue;
            }
            if claim.is_unending() {
                self.family.table().map(|table| table.claim_permanently(identity.partition));
                return Ok(identity);
            }
            let (reservation, table) =
                (claim.reservation(), self.family.table.map(|find| find()).transpose()?);
            if table.is_none_or(|table| table.reserve_permanently(reservation)) {
                claim.record_renewal(u64::MAX);
                return Ok(identity);
            }
            // Another generator, whose clock is ahead, has reserved the partition for the time after the end of this
            // reservation. This generator's clock may not have reached that end yet.
            if claim.reservation().until == reservation.until {
                let tick = self.tick_now(&SCALE)?;
                self.family.replace_partition(claim, &self.machine, &self.window, tick)?;
            }
        }
    }
}

impl Family for SnoFamily {
    type Machine = TickTock;
    type Ticks = Scale;
    type Identity = Identity;

    #[inline]
    fn ticks(&self) -> Option<&Scale> {
        Some(&SCALE)
    }

    #[inline]
    fn current_identity(&self, _: &Window, tick: u64, _: i64) -> Option<(u64, Identity)> {
        let claim = self.claims.get();
        let identity = claim.identity;
        claim.contains(tick).then_some((identity.generation, identity))
    }

    fn acquire_identity(
        &self,
        machine: &TickTock,
        window: &Window,
        tick: u64,
        _: i64,
    ) -> Result<(u64, Identity)> {
        let identity = self.claim_for_tick(machine, window, tick)?.identity;
        Ok((identity.generation, identity))
    }

    fn is_current(&self, identity: Identity) -> bool {
        self.claims.get().identity == identity
    }

    fn opening_tick(&self) -> u64 {
        let claim = self.claims.get();
        if claim.is_unending() { claim.reservation().start } else { 0 }
    }

    fn check_process(&self) -> Result<()> {
        self.process.map_or(Ok(()), ProcessGuard::check)
    }

    fn worker_ids(&self) -> Option<WorkerIds> {
        let (partition, bounds) = (self.explicit_partition()?.to_be_bytes(), self.bounds());
        let sequences = (bounds.min.into(), bounds.max.into());
        Some(WorkerIds::one("sno", &partition, sequences, "partition"))
    }

    #[inline]
    fn limits(&self, identity: Identity) -> Bounds {
        self.identity_bounds(identity)
    }

    /// Returns the sequence bounds for a new tick under a lease, with a random first sequence number. If the random source
    /// fails, the tick starts at the lower bound, because IDs are unique even without a random start.
    fn limits_on_entry(&self, identity: Identity) -> Bounds {
        let bounds = self.identity_bounds(identity);
        let Some(Ok(drawn)) = self.start.map(|draw| draw()) else { return bounds };
        let half = (u32::from(bounds.max - bounds.min) + 1).div_ceil(2);
        let start = (u32::from(u16::from_be_bytes(drawn)) * half) >> 16;
        Bounds { min: bounds.min + narrow::u16(start.into()), ..bounds }
    }

    // The loom and shuttle models replay interleavings, so their IDs must not depend on the random source.
    #[cfg(all(feature = "std", not(any(loom, shuttle))))]
    fn on_granted(&mut self) {
        // Default partitions are excluded, for the reason given at the top of this file.
        if self.draw.is_none() {
            self.start = Some(crate::entropy::random_bytes);
        }
    }

    fn on_extended(&self, end: u64) {
        let claim = self.claims.get();
        // A claim without a partition covers no ticks.
        if claim.identity.generation != NOT_PICKED {
            claim.extend(end);
        }
    }

    /// Releases the partition. A default partition becomes free in the tick after the last tick that this generator used.
    /// The same applies to an explicit partition, unless another generator claims it, too.
    fn on_drop(&self, machine: &TickTock) {
        let claim = self.claims.get();
        // A child process drops copies of its parent's generators, which the parent still uses.
        if !Self::is_own(claim) {
            return;
        }
        let end = first_unused_tick(machine);
        if claim.is_unending() {
            self.release(claim.identity.partition, end);
        } else if let Some(table) = self.table() {
            table.end_reservation(claim.reservation(), end);
        }
    }
}
