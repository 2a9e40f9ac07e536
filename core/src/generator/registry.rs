//! The explicit worker IDs that the generators of this process use. Two generators with one worker ID would repeat each
//! other, because each starts every tick at the same sequence number, so a worker ID has at most one live generator.
//!
//! ```text
//! build                      check and insert  --- another live generator overlaps ---> worker_id_in_use
//!   |                               |
//!   '--> Registration in the engine '--> entry: worker IDs, sequences, window
//!               |                                 |
//!               '-- close, drop -- remove --------'
//! ```
//!
//! Two generators overlap if their IDs have the time and the sequence in the same bits, and if their worker IDs, sequences
//! and windows intersect. Halves of a sequence and disjoint windows are therefore possible. A window that has ended by the
//! system's clock does not prevent another generator. Its ticks count as used, because the clock may move back, and the
//! generators may have separate clocks.
//!
//! A registry belongs to a generation (see the `fork` module). A child, or a process after a restore, begins with an empty
//! one, because its inherited generators fail with `forked`. The inherited registry is never locked again, since another
//! thread of the parent may have held its lock during the fork. While the lock is held, no code of a caller runs.
//!
//! # Successors
//!
//! A generator would repeat its predecessor with the same worker ID if the clock moves back in between, or if it continues
//! from a snapshot that was taken before the predecessor. The registry therefore remembers how each worker ID was last used:
//!
//! ```text
//! generator A   --- close ---> its state, and the ticks that it used
//! from A's snapshot, once      continues in A's last tick
//! any other successor          A's ticks count as its own, and it skips the tick of its first call
//! ```
//!
//! A generator that takes over the ticks treats a clock rollback like one that its predecessor would have noticed.

use alloc::{boxed::Box, collections::BTreeMap, string::String, vec::Vec};
use core::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{LatestValue, NOT_PICKED, WorkerIds};
use crate::{
    Error, ErrorKind, Result, fork,
    sequence::Used,
    sync::{Ordering, Tally},
};

/// A live generator.
#[derive(Clone, Debug)]
struct Entry {
    number: u32,
    ids: WorkerIds,
    window: Range<u64>,
    /// The end of the window in Unix milliseconds, or `None` if it does not end.
    ends_ms: Option<i64>,
}

/// The live generators of one scheme, and what is known of earlier ones.
#[derive(Debug, Default)]
struct Scheme {
    /// Generators with one worker ID, which are found without a search.
    single: BTreeMap<Vec<u8>, Vec<Entry>>,
    ranges: Vec<Entry>,
    /// The last use of each worker ID.
    last_uses: BTreeMap<Vec<u8>, LastUse>,
    /// The last use of each range of worker IDs.
    last_range_uses: Vec<LastUse>,
    /// Whether some last uses were dropped to limit the memory.
    has_forgotten: bool,
}

/// What is known of the last generator with a worker ID, and of those before it.
#[derive(Clone, Debug)]
struct LastUse {
    ids: WorkerIds,
    /// The final state, if the last generator was closed, and no other generator has begun since.
    state: Option<u128>,
    used: Option<Used>,
}

/// How a generator begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Beginning {
    /// Whether the generator may continue in the tick of its state.
    continues: bool,
    /// The ticks that predecessors have used, as far as they are known.
    known: Option<Used>,
}

/// The numbers of worker IDs and of ranges of a scheme whose last use is remembered.
const MAX_REMEMBERED: (usize, usize) = (1 << 17, 1 << 10);

impl Scheme {
    /// Returns the other generators that overlap with a generator.
    fn overlaps(&self, entry: &Entry) -> impl Iterator<Item = &Entry> {
        let bounds = entry.ids.first.clone()..=entry.ids.last.clone();
        let singles = self.single.range(bounds).flat_map(|(_, entries)| entries);
        singles.chain(&self.ranges).filter(|other| {
            other.number != entry.number
                && other.window.start < entry.window.end
                && entry.window.start < other.window.end
                && entry.ids.overlaps(&other.ids)
        })
    }

    fn entries_of(&mut self, ids: &WorkerIds) -> &mut Vec<Entry> {
        if ids.is_range() {
            &mut self.ranges
        } else {
            self.single.entry(ids.first.clone()).or_default()
        }
    }

    fn remove(&mut self, ids: &WorkerIds, number: u32) {
        let entries = self.entries_of(ids);
        entries.retain(|entry| entry.number != number);
        if entries.is_empty() && !ids.is_range() {
            self.single.remove(&ids.first);
        }
    }

    /// Records that a generator begins. `continued` identifies the state from which it continues. `ended` are the ticks of
    /// overlapping windows that have ended.
    fn begin(
        &mut self,
        ids: &WorkerIds,
        continued: Option<u128>,
        ended: Option<Used>,
    ) -> Beginning {
        let (mut is_known, mut is_last, mut known) = (ended.is_some(), false, ended);
        let mut has_others = is_known;
        for last in self.overlapping_uses(ids) {
            let state = last.state.take();
            let is_own = state.is_some() && state == continued && last.ids.first == ids.first;
            is_known = true;
            is_last |= is_own;
            has_others |= !is_own && last.used.is_some();
            known = latest(known, last.used);
        }
        let continues = is_last && !has_others || !is_known && !self.has_forgotten;
        *self.last_use(ids) = LastUse { ids: ids.clone(), state: None, used: known };
        Beginning { continues, known }
    }

    /// Returns the last uses of all worker IDs that overlap with these.
    fn overlapping_uses(&mut self, ids: &WorkerIds) -> impl Iterator<Item = &mut LastUse> {
        // A worker ID whose sequence is divided between generators has one entry for all parts.
        let bounds = ids.first.clone()..=ids.last.clone();
        let singles = self.last_uses.range_mut(bounds).map(|(_, last)| last);
        let singles = singles.filter(|last| !ids.is_range() || ids.overlaps(&last.ids));
        singles.chain(self.last_range_uses.iter_mut().filter(|last| ids.overlaps(&last.ids)))
    }

    /// Returns the entry for the last use of these worker IDs, and creates it if it does not exist.
    fn last_use(&mut self, ids: &WorkerIds) -> &mut LastUse {
        let (singles, ranges) = MAX_REMEMBERED;
        if self.last_uses.len() >= singles || self.last_range_uses.len() >= ranges {
            self.last_uses.clear();
            self.last_range_uses.clear();
            self.has_forgotten = true;
        }
        let new = || LastUse { ids: ids.clone(), state: None, used: None };
        if !ids.is_range() {
            return self.last_uses.entry(ids.first.clone()).or_insert_with(new);
        }
        let is_same = |last: &LastUse| last.ids.first == ids.first && last.ids.last == ids.last;
        let found = self.last_range_uses.iter().position(is_same);
        let place = found.unwrap_or_else(|| {
            self.last_range_uses.push(new());
            self.last_range_uses.len() - 1
        });
        &mut self.last_range_uses[place]
    }

    /// Records how a generator has used its worker IDs.
    fn record_use(&mut self, generator: &Registration, state: Option<u128>, used: Option<Used>) {
        let last = self.last_use(&generator.ids);
        // A generator that continued from its own state did not take over what others had used. Generators that share a
        // worker ID, such as those of halves of a sequence, do not know each other's ticks.
        let took_over = generator.skips_first_tick || generator.known.is_none();
        let is_successor = took_over && last.used == generator.known && used.is_some();
        last.used = if is_successor { used } else { latest(last.used, used) };
        last.state = state;
    }
}

/// Combines what two generators have used. If neither is a successor of the other, a rollback flips the tick-tock bit from
/// different values, so it does not distinguish their IDs, and the clock must not move back at all.
fn latest(one: Option<Used>, other: Option<Used>) -> Option<Used> {
    let (Some(one), Some(other)) = (one, other) else { return one.or(other) };
    let tick = one.highest().max(other.highest());
    Some(if one == other { one } else { Used { tick, safe: tick, ..one } })
}

/// Whether generators are compared.
pub(crate) const IS_ENABLED: bool = true;

/// The registry of one generation.
#[derive(Debug)]
struct Registry {
    generation: u64,
    schemes: Mutex<BTreeMap<String, Scheme>>,
}

/// The registry of the current generation, and those of earlier generations, whose locks are never taken again.
#[derive(Debug)]
pub(crate) struct Registries(LatestValue<Registry>);

/// The registries of this process.
static REGISTRIES: Registries = Registries::new();

/// Numbers generators, so that a generator never conflicts with itself.
static GENERATORS: Tally = Tally::new(0);

/// A generator's place in the registry, which ends when this value is dropped.
#[derive(Debug)]
pub(crate) struct Registration {
    registries: &'static Registries,
    generation: u64,
    number: u32,
    ids: WorkerIds,
    continued: Option<u128>,
    /// Whether a generator that continues from a snapshot must skip the tick of its first call.
    pub(crate) skips_first_tick: bool,
    /// The ticks that predecessors had used when the generator began.
    known: Option<Used>,
}

impl Registries {
    const fn new() -> Self {
        let first = Registry { generation: NOT_PICKED, schemes: Mutex::new(BTreeMap::new()) };
        Self(LatestValue::new(first))
    }

    /// Returns the registry of a generation, and creates it if it does not exist yet. A thread that has read an earlier
    /// generation gets that one's registry, and does not replace the current one.
    fn of_generation(&self, generation: u64) -> &Registry {
        loop {
            let found = self.0.get();
            if let Some(existing) = self.find(generation) {
                return existing;
            }
            let new = Registry { generation, schemes: Mutex::new(BTreeMap::new()) };
            self.0.replace(found, new, Box::new_uninit());
        }
    }

    /// Returns the registry of a generation, if it exists.
    fn find(&self, generation: u64) -> Option<&Registry> {
        self.0.iter().find(|registry| registry.generation == generation)
    }

    /// Adds a generator. `continued` identifies the state from which it continues.
    ///
    /// # Errors
    /// Returns `worker_id_in_use` if a live generator overlaps with it.
    fn register(
        &'static self,
        generation: u64,
        ids: WorkerIds,
        window: (Range<u64>, Option<i64>),
        continued: Option<u128>,
    ) -> Result<Registration> {
        let number = GENERATORS.fetch_add(1, Ordering::Relaxed);
        let (window, ends_ms) = window;
        let entry = Entry { number, ids: ids.clone(), window, ends_ms };
        let now = now_ms();
        let mut schemes = self.of_generation(generation).lock();
        let scheme = schemes.entry(ids.scheme.clone()).or_default();
        if scheme.overlaps(&entry).any(|other| !is_over(other, now)) {
            drop(schemes);
            return Err(in_use_error(ids.option));
        }
        let ended = scheme.overlaps(&entry).map(|other| other.window.end - 1).max();
        let ended = ended.map(|tick| Used { tick, safe: tick, drifts: 0 });
        scheme.entries_of(&ids).push(entry);
        let Beginning { continues, known } = scheme.begin(&ids, continued, ended);
        drop(schemes);
        let (registries, skips_first_tick) = (self, !continues);
        Ok(Registration { registries, generation, number, ids, continued, skips_first_tick, known })
    }
}

impl Registry {
    /// Locks the registry. A panic while it is locked leaves it usable, because each change is complete.
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Scheme>> {
        self.schemes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Adds a generator with explicit worker IDs. See [`Registries::register`].
pub(crate) fn register(
    ids: &WorkerIds,
    window: &(Range<u64>, Option<i64>),
    continued: Option<u128>,
) -> Result<Registration> {
    fork::prepare()?;
    loop {
        let generation = fork::ensure_generation();
        let registered = REGISTRIES.register(generation, ids.clone(), window.clone(), continued);
        // If the process was restored meanwhile, the generator belongs to the new generation.
        if fork::ensure_generation() == generation {
            return registered;
        }
    }
}

impl Registration {
    /// Returns the ticks that the generator must treat as its own, because predecessors have used them.
    pub(crate) fn taken_over(&self) -> Option<Used> {
        self.known.filter(|_| self.skips_first_tick)
    }

    /// Records a later end of the generator's window, before the generator uses it.
    ///
    /// # Errors
    /// Returns `worker_id_in_use` if another generator has a window in the added time, or has used ticks of it.
    pub(crate) fn extend(&self, end: u64, ends_ms: i64) -> Result<()> {
        self.change(|scheme| {
            let entries = scheme.entries_of(&self.ids);
            let Some(place) = entries.iter().position(|entry| entry.number == self.number) else {
                return Ok(());
            };
            let mut entry = entries[place].clone();
            let old_end = entry.window.end;
            if end <= old_end {
                return Ok(());
            }
            (entry.window.end, entry.ends_ms) = (end, Some(ends_ms));
            let is_new = |last: &LastUse| last.used.is_some_and(|used| used.highest() >= old_end);
            if scheme.overlaps(&entry).next().is_some()
                || scheme.overlapping_uses(&self.ids).any(|last| is_new(last))
            {
                return Err(in_use_error(self.ids.option));
            }
            scheme.entries_of(&self.ids)[place] = entry;
            Ok(())
        })
        .unwrap_or(Ok(()))
    }

    /// Ends the generator's use of its worker ID. `state` identifies the final state, if the generator was closed. `used` are
    /// the ticks that the generator has used.
    pub(crate) fn end(&self, state: Option<u128>, used: Option<Used>) {
        // A generator that had to skip its first tick, and has made no ID since, ends in the state from which it continued.
        // The next generator must skip its first tick as well.
        let state = state.filter(|_| !(self.skips_first_tick && state == self.continued));
        self.change(|scheme| {
            let is_live =
                scheme.entries_of(&self.ids).iter().any(|entry| entry.number == self.number);
            scheme.remove(&self.ids, self.number);
            if is_live {
                scheme.record_use(self, state, used);
            }
        });
    }

    /// Changes the scheme of the generator, unless the registry belongs to another generation.
    fn change<T>(&self, change: impl FnOnce(&mut Scheme) -> T) -> Option<T> {
        if fork::ensure_generation() != self.generation {
            return None;
        }
        let registry = self.registries.find(self.generation)?;
        registry.lock().get_mut(&self.ids.scheme).map(change)
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.end(None, None);
    }
}

/// Returns the system's time in Unix milliseconds, or the earliest time if the clock fails.
fn now_ms() -> i64 {
    use crate::clock::{Clock, SystemClock};
    SystemClock.unix_nanos().map_or(i64::MIN, |nanos| nanos.div_euclid(1_000_000))
}

/// Returns whether the window of a generator has ended.
fn is_over(entry: &Entry, now_ms: i64) -> bool {
    entry.ends_ms.is_some_and(|end| end <= now_ms)
}

#[cold]
fn in_use_error(option: &'static str) -> Error {
    let reason = "expected a worker ID without a live generator in this process, found one in use: \
                  share that generator, close it first, or configure another worker ID, \
                  sequence bounds or window";
    Error::with_reason(ErrorKind::WorkerIdInUse, reason).with_field(option)
}

#[cfg(all(test, not(miri)))]
mod tests {
    use std::{boxed::Box, sync::atomic::AtomicU32, vec::Vec};

    use super::*;
    use crate::sync::explorer::{Scenario, explore};

    /// The window of a generator without an explicit window.
    const ALWAYS: (Range<u64>, Option<i64>) = (0..u64::MAX, None);

    fn new_registries() -> &'static Registries {
        Box::leak(Box::new(Registries::new()))
    }

    fn generation() -> u64 {
        fork::ensure_generation()
    }

    fn worker(worker_id: u8) -> WorkerIds {
        WorkerIds::one("scheme", &[worker_id, 0], (0, 9), "worker_id")
    }

    fn range(first: u8, last: u8, below: u8) -> WorkerIds {
        let first = WorkerIds { first: Vec::from([first, below]), ..worker(first) };
        first.with_range(&[last, below], &[u8::MAX, 0])
    }

    #[test]
    fn worker_ids_of_live_generators_do_not_overlap() {
        let registries = new_registries();
        let register = |ids: WorkerIds| registries.register(generation(), ids, ALWAYS, None);
        let lower = register(WorkerIds { sequences: (0, 4), ..worker(7) }).unwrap();
        let upper = register(WorkerIds { sequences: (5, 9), ..worker(7) }).unwrap();
        let error = register(WorkerIds { sequences: (4, 5), ..worker(7) }).unwrap_err();
        assert_eq!((error.code(), error.field()), ("worker_id_in_use", Some("worker_id")));
        let other = register(WorkerIds { scheme: "other".into(), ..worker(7) });
        assert!(other.is_ok() && register(worker(8)).is_ok());
        lower.end(None, None);
        assert!(register(WorkerIds { sequences: (0, 4), ..worker(7) }).is_ok());
        assert!(register(worker(7)).is_err(), "the upper half is in use");
        drop(upper);
        assert!(register(worker(7)).is_ok());
    }

    #[test]
    fn ranges_overlap_in_the_bits_of_their_field() {
        let registries = new_registries();
        let register = |ids: WorkerIds| registries.register(generation(), ids, ALWAYS, None);
        let _held = register(range(8, 15, 0)).unwrap();
        for (ids, is_free) in [
            (range(0, 7, 0), true),
            (range(15, 16, 0), false),
            (range(0, 255, 1), true),
            (worker(9), false),
            (WorkerIds { first: Vec::from([9, 1]), last: Vec::from([9, 1]), ..worker(9) }, true),
            (worker(16), true),
        ] {
            assert_eq!(register(ids.clone()).is_ok(), is_free, "{ids:?}");
        }
        let _single = register(worker(20)).unwrap();
        assert!(register(range(16, 30, 0)).is_err() && register(range(21, 30, 0)).is_ok());
    }

    #[test]
    fn windows_are_disjoint_also_after_extensions() {
        let registries = new_registries();
        let later = now_ms() + 60_000;
        let register = |span: Range<u64>, ends_ms| {
            registries.register(generation(), worker(7), (span, Some(ends_ms)), None)
        };
        let first = register(0..10, later).unwrap();
        let second = register(10..20, later).unwrap();
        assert!(register(9..11, later).is_err());
        assert_eq!(first.extend(11, later).unwrap_err().code(), "worker_id_in_use");
        assert!(first.extend(10, later).is_ok() && second.extend(30, later).is_ok());
        assert!(register(29..40, later).is_err());
        drop(second);
        assert!(first.extend(11, later).is_ok());
        let third = register(20..30, later).unwrap();
        third.end(None, Some(Used { tick: 25, safe: 0, drifts: 0 }));
        assert!(
            first.extend(20, later).is_err(),
            "a freed generator has used ticks after the window"
        );
        // The window of this generator has ended, but its ticks count as used.
        let ended = register(50..60, now_ms() - 1).unwrap();
        let next = register(55..70, later).unwrap();
        assert_eq!(next.taken_over().map(Used::highest), Some(59));
        assert!(ended.extend(61, later).is_err(), "another generator has the added time");
    }

    /// A thread that has read an earlier generation must not hide the registry of the current one.
    #[test]
    fn an_outdated_thread_leaves_the_registry_in_place() {
        let registries = new_registries();
        let held = registries.register(generation(), worker(7), ALWAYS, None).unwrap();
        let outdated = registries.register(generation() - 1, worker(7), ALWAYS, None).unwrap();
        assert!(registries.register(generation(), worker(7), ALWAYS, None).is_err());
        drop(outdated);
        held.end(Some(1), Some(Used { tick: 5, safe: 0, drifts: 0 }));
        assert!(
            registries.register(generation(), worker(7), ALWAYS, None).unwrap().skips_first_tick
        );
    }

    /// The state of one worker ID does not include the other worker IDs of a range.
    #[test]
    fn a_state_continues_only_with_the_same_worker_ids() {
        let registries = new_registries();
        let register = |ids, continued| registries.register(generation(), ids, ALWAYS, continued);
        let used = Some(Used { tick: 5, safe: 0, drifts: 0 });
        register(worker(8), None).unwrap().end(None, used);
        register(worker(7), None).unwrap().end(Some(1), used);
        assert!(register(range(7, 8, 0), Some(1)).unwrap().skips_first_tick);
    }

    /// Halves of a sequence have one entry, and a half that continues did not take over what the other half has used.
    #[test]
    fn a_generator_that_continues_keeps_what_others_have_used() {
        let registries = new_registries();
        let register = |first, last, continued| {
            let ids = WorkerIds { sequences: (first, last), ..worker(7) };
            registries.register(generation(), ids, ALWAYS, continued).unwrap()
        };
        let used = |tick| Some(Used { tick, safe: 0, drifts: 0 });
        let (lower, upper) = (register(0, 4, None), register(5, 9, None));
        upper.end(None, used(100));
        lower.end(Some(1), used(50));
        register(0, 4, Some(1)).end(None, used(50));
        assert_eq!(register(5, 9, None).taken_over().map(Used::highest), Some(100));
    }

    #[test]
    fn only_the_last_state_continues_in_its_tick_once() {
        let registries = new_registries();
        let register = |continued| registries.register(generation(), worker(7), ALWAYS, continued);
        let skips = |continued| register(continued).unwrap().skips_first_tick;
        let first = register(Some(1)).unwrap();
        assert!(!first.skips_first_tick, "nothing is known of earlier generators");
        first.end(Some(2), None);
        assert!(!skips(Some(2)), "the state of the generator before");
        assert!(skips(Some(2)), "another generator came in between");
        let closed = register(None).unwrap();
        closed.end(Some(3), None);
        assert!(skips(Some(2)));
        assert!(skips(Some(3)));
        let unused = register(Some(3)).unwrap();
        unused.end(Some(3), None);
        assert!(skips(Some(3)), "the generator before has not skipped its tick");
        skips(None);
        let again = register(None).unwrap();
        again.end(Some(4), None);
        drop(registries.register(generation(), range(4, 9, 0), ALWAYS, None).unwrap());
        assert!(skips(Some(4)), "the range contains the worker ID");
    }

    /// Generators of halves of a sequence exist at the same time, so neither knows what the other has used.
    #[test]
    fn a_successor_takes_over_the_ticks_of_all_predecessors() {
        let registries = new_registries();
        let register = |first, last| {
            let ids = WorkerIds { sequences: (first, last), ..worker(7) };
            registries.register(generation(), ids, ALWAYS, None).unwrap()
        };
        let used = |tick, safe| Some(Used { tick, safe, drifts: 1 });
        let (lower, upper) = (register(0, 4), register(5, 9));
        lower.end(None, used(20, 10));
        upper.end(None, used(15, 0));
        let both = register(0, 9);
        assert_eq!(both.taken_over(), used(20, 20));
        both.end(None, used(30, 20));
        assert_eq!(register(0, 4).taken_over(), used(30, 20), "the only predecessor");
        let ranged = registries.register(generation(), range(4, 9, 0), ALWAYS, None).unwrap();
        assert_eq!(ranged.taken_over(), used(30, 20));
    }

    #[test]
    fn a_new_generation_has_an_empty_registry() {
        let registries = new_registries();
        let inherited = registries.register(generation() - 1, worker(7), ALWAYS, None).unwrap();
        // Another thread of the parent may have held the lock during the fork.
        let _held = registries.0.get().lock();
        let own = registries.register(generation(), worker(7), ALWAYS, None).unwrap();
        drop(inherited);
        assert!(registries.register(generation(), worker(7), ALWAYS, None).is_err());
        drop(own);
    }

    /// Lookups take the same time with many generators, so a linear search would exceed the limit by far.
    #[test]
    fn many_live_generators_are_found_without_a_search() {
        const COUNT: u16 = 20_000;
        let registries = new_registries();
        let register = |worker_id: u16| {
            let ids = WorkerIds::one("scheme", &worker_id.to_be_bytes(), (0, 9), "worker_id");
            registries.register(generation(), ids, ALWAYS, None)
        };
        let live: Vec<_> = (0..COUNT).map(|worker_id| register(worker_id).unwrap()).collect();
        assert!((0..COUNT).all(|worker_id| register(worker_id).is_err()));
        drop(live);
        assert!(registries.0.get().lock()["scheme"].single.is_empty());
    }

    /// Threads of a new process that look up their registry. The inherited registry belongs to another generation.
    struct Threads(Registries);

    impl Scenario for Threads {
        /// The address of the registry that the first call has found.
        type Record = Option<usize>;

        fn call(&self, _: usize, _: u8, found: &mut Option<usize>) -> bool {
            let registry = self.0.of_generation(generation());
            assert_eq!(registry.generation, generation());
            let address = core::ptr::from_ref(registry).addr();
            assert_eq!(*found.get_or_insert(address), address, "two registries");
            true
        }
    }

    #[test]
    fn all_threads_of_a_process_use_one_registry() {
        let threads = Threads(Registries::new());
        for calls in [&[1, 1, 1][..], &[2, 1]] {
            let states = explore(&threads, calls).states;
            assert!(states > 4, "{states} states");
        }
    }

    /// Threads register four worker IDs, and hold each for a moment.
    #[test]
    fn a_worker_id_has_one_live_generator_at_a_time() {
        const CALLS: u32 = 5000;
        static HOLDERS: [AtomicU32; 4] = [const { AtomicU32::new(0) }; 4];
        let registries = new_registries();
        let run = |seed: u32| {
            let mut held = 0;
            for call in 0..CALLS {
                let worker_id = (call.wrapping_mul(2_654_435_761).wrapping_add(seed) >> 8) % 4;
                let ids = worker(u8::try_from(worker_id).unwrap());
                let Ok(registered) = registries.register(generation(), ids, ALWAYS, None) else {
                    continue;
                };
                held += 1;
                let holders = &HOLDERS[worker_id as usize];
                assert_eq!(holders.fetch_add(1, Ordering::AcqRel), 0, "two generators");
                std::thread::yield_now();
                holders.fetch_sub(1, Ordering::AcqRel);
                if call % 2 == 0 {
                    registered.end(Some(call.into()), None);
                }
            }
            held
        };
        let held: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|seed| scope.spawn(move || run(seed))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(held.iter().all(|held| *held > 0), "{held:?}");
    }
}
