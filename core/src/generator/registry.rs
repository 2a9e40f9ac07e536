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
//! and windows intersect. Halves of a sequence and disjoint windows are therefore possible. A window that has ended does not
//! count, because its generator makes no more IDs.
//!
//! A registry belongs to a generation (see the `fork` module). A child, or a process after a restore, begins with an empty
//! one, because its inherited generators fail with `forked`. The inherited registry is never locked again, since another
//! thread of the parent may have held its lock during the fork. While the lock is held, no code of a caller runs.
//!
//! # Snapshots
//!
//! A generator that is restored from a snapshot continues in the snapshot's tick. This would repeat IDs if another generator
//! with the worker ID existed since the snapshot was taken. The registry therefore remembers, for each worker ID, the final
//! state of its last generator. Only a generator that continues from exactly this state, once, keeps the tick. Any other one
//! skips the tick of its first call, like a generator without a snapshot.

use alloc::{boxed::Box, collections::BTreeMap, string::String, vec::Vec};
use core::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{LatestValue, NOT_PICKED, WorkerIds};
use crate::{
    Error, ErrorKind, Result, fork,
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
    /// The final state of the last generator of each worker ID, or `None` if that generator has not been closed.
    last_states: BTreeMap<Vec<u8>, Option<u128>>,
    /// Whether some last states were dropped to limit the memory.
    has_forgotten: bool,
}

/// The number of worker IDs of a scheme whose last state is remembered.
const MAX_REMEMBERED: usize = 1 << 17;

impl Scheme {
    fn find_overlap(&self, entry: &Entry, is_over: impl Fn(&Entry) -> bool) -> bool {
        let ids = &entry.ids;
        let overlaps = |other: &Entry| {
            other.number != entry.number
                && other.window.start < entry.window.end
                && entry.window.start < other.window.end
                && ids.overlaps(&other.ids)
                && !is_over(other)
        };
        if self.ranges.iter().any(overlaps) {
            return true;
        }
        if ids.is_range() {
            let mut singles = self.single.range(ids.first.clone()..=ids.last.clone());
            return singles.any(|(_, entries)| entries.iter().any(overlaps));
        }
        self.single.get(&ids.first).is_some_and(|entries| entries.iter().any(overlaps))
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

    /// Records that a generator begins, and returns whether it may continue in the tick of its state.
    fn begin(&mut self, ids: &WorkerIds, continued: Option<u128>) -> bool {
        if self.last_states.len() >= MAX_REMEMBERED {
            self.last_states.clear();
            self.has_forgotten = true;
        }
        match self.last_states.insert(ids.first.clone(), None) {
            None => !self.has_forgotten,
            Some(state) => state.is_some() && state == continued,
        }
    }
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
}

impl Registries {
    const fn new() -> Self {
        let first = Registry { generation: NOT_PICKED, schemes: Mutex::new(BTreeMap::new()) };
        Self(LatestValue::new(first))
    }

    /// Returns the registry of a generation, and creates it if it does not exist yet.
    fn of_generation(&self, generation: u64) -> &Registry {
        loop {
            let found = self.0.get();
            if found.generation == generation {
                return found;
            }
            let new = Registry { generation, schemes: Mutex::new(BTreeMap::new()) };
            self.0.replace(found, new, Box::new_uninit());
        }
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
        if scheme.find_overlap(&entry, |other| is_over(other, now)) {
            drop(schemes);
            return Err(in_use_error(ids.option));
        }
        scheme.entries_of(&ids).push(entry);
        let continues = scheme.begin(&ids, continued);
        drop(schemes);
        let registries = self;
        let skips_first_tick = !continues;
        Ok(Registration { registries, generation, number, ids, continued, skips_first_tick })
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
    ids: WorkerIds,
    window: (Range<u64>, Option<i64>),
    continued: Option<u128>,
) -> Result<Registration> {
    fork::prepare()?;
    REGISTRIES.register(fork::ensure_generation(), ids, window, continued)
}

impl Registration {
    /// Records a later end of the generator's window, before the generator uses it.
    ///
    /// # Errors
    /// Returns `worker_id_in_use` if a live generator uses the worker ID in the added time.
    pub(crate) fn extend(&self, end: u64, ends_ms: i64) -> Result<()> {
        self.change(|scheme| {
            let entries = scheme.entries_of(&self.ids);
            let Some(place) = entries.iter().position(|entry| entry.number == self.number) else {
                return Ok(());
            };
            let mut entry = entries[place].clone();
            if end <= entry.window.end {
                return Ok(());
            }
            (entry.window.end, entry.ends_ms) = (end, Some(ends_ms));
            let now = now_ms();
            if scheme.find_overlap(&entry, |other| is_over(other, now)) {
                return Err(in_use_error(self.ids.option));
            }
            scheme.entries_of(&self.ids)[place] = entry;
            Ok(())
        })
        .unwrap_or(Ok(()))
    }

    /// Ends the generator's use of its worker ID. `state` identifies the final state, if the generator was closed.
    pub(crate) fn end(&self, state: Option<u128>) {
        // A generator that had to skip its first tick, and has made no ID since, ends in the state from which it continued.
        // The next generator must skip its first tick as well.
        let state = state.filter(|_| !(self.skips_first_tick && state == self.continued));
        self.change(|scheme| {
            let is_live =
                scheme.entries_of(&self.ids).iter().any(|entry| entry.number == self.number);
            scheme.remove(&self.ids, self.number);
            if is_live && state.is_some() {
                scheme.last_states.insert(self.ids.first.clone(), state);
            }
        });
    }

    /// Changes the scheme of the generator, unless the registry belongs to another generation.
    fn change<T>(&self, change: impl FnOnce(&mut Scheme) -> T) -> Option<T> {
        if fork::ensure_generation() != self.generation {
            return None;
        }
        let registry = self.registries.0.get();
        if registry.generation != self.generation {
            return None;
        }
        registry.lock().get_mut(&self.ids.scheme).map(change)
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.end(None);
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
        lower.end(None);
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
        // The window of this generator has ended.
        let _ended = register(50..60, now_ms() - 1).unwrap();
        assert!(register(50..60, later).is_ok());
    }

    #[test]
    fn only_the_last_state_continues_in_its_tick_once() {
        let registries = new_registries();
        let register = |continued| registries.register(generation(), worker(7), ALWAYS, continued);
        let skips = |continued| register(continued).unwrap().skips_first_tick;
        let first = register(Some(1)).unwrap();
        assert!(!first.skips_first_tick, "nothing is known of earlier generators");
        first.end(Some(2));
        assert!(!skips(Some(2)), "the state of the generator before");
        assert!(skips(Some(2)), "another generator came in between");
        let closed = register(None).unwrap();
        closed.end(Some(3));
        assert!(skips(Some(2)));
        assert!(skips(Some(3)));
        let unused = register(Some(3)).unwrap();
        unused.end(Some(3));
        assert!(skips(Some(3)), "the generator before has not skipped its tick");
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
                    registered.end(Some(call.into()));
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
