//! The generator: random bytes, a window and the clock around a per-tick machine.

#[cfg(feature = "std")]
use super::builder::{Builder, default_pace};
use super::{HotGuid, LAST_COUNTER, SCALE, fill, id::Machine};
use crate::{
    Error, ErrorKind, Result,
    base32::Text,
    clock::{Clock, DefaultClock},
    fork,
    scheme::{NO_WAIT, Outcome, Owner, Pace, Window, drive, fill_runs},
    sequence::{
        Step,
        per_tick::{Behind, PerTick, Run, Slots},
    },
    sync::{AtomicU32, AtomicU64, Ordering},
};
#[cfg(feature = "std")]
use crate::{clock::SystemClock, entropy};

/// What tells a generator from all others, and where its counter starts: 8 random bytes in one word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Identity {
    machine: Machine,
    start: u32,
}

/// Slots, and what they are counted from.
pub(super) type Reserved = (Identity, Run);

impl Identity {
    /// Stands for "not drawn yet": no process is this many forks deep.
    const NEVER: u32 = u32::MAX;

    #[allow(clippy::cast_possible_truncation, reason = "the lowest 24 bits")]
    const fn of_word(word: u64) -> Self {
        Self { machine: Machine::of_word(word >> 24), start: word as u32 & LAST_COUNTER }
    }
}

/// Makes Hot Guids. Threads may share it.
///
/// ```
/// use polyflake::hotguid::Generator;
///
/// static IDS: Generator = Generator::new();
///
/// let (first, second) = (IDS.generate(1)?, IDS.generate(2)?);
/// assert_eq!((first.shard_key(), second.shard_key()), (1, 2));
/// assert_eq!(first.machine(), second.machine());
/// # Ok::<(), polyflake::Error>(())
/// ```
///
/// It is told from all others by 5 random bytes, drawn at the first ID and again after a fork: 148,664 generators that are
/// active in the same second share them with a chance of 1 %, and then repeat an ID only if their counters meet too.
///
/// When the clock goes back it stays in the highest second seen. So one wild reading takes it to that second until time comes
/// there, at worst in 2106; in a window such a reading is refused instead, and changes nothing.
///
/// Keep it in a `static`, or share it by reference. A `const` of this type is a new generator at each use, and each draws an
/// identity of its own.
///
/// It cannot be cloned, since both would repeat each other's IDs:
///
/// ```compile_fail
/// let ids = polyflake::hotguid::Generator::new();
/// let twin = ids.clone();
/// ```
#[derive(Debug)]
pub struct Generator<C = DefaultClock> {
    state: PerTick,
    /// An [`Identity`], drawn in the process of `epoch`.
    identity: AtomicU64,
    epoch: AtomicU32,
    draw: fn() -> Result<[u8; 8]>,
    window: Window,
    /// Of the window, if one was given.
    owner: Option<Owner>,
    pace: Pace,
    clock: C,
}

/// Figures of a generator, at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Stats {
    /// What tells the generator from all others, once it is drawn.
    pub machine: Option<[u8; 5]>,
    /// The highest second that an ID was made in, in Unix seconds; none before the first ID.
    pub last_second: Option<i64>,
    /// How many IDs were made in that second.
    pub len: u32,
    /// Whether the generator was closed.
    pub closed: bool,
}

#[cfg(feature = "std")]
impl Generator {
    /// A generator with the system's clock and random bytes.
    pub const fn new() -> Self {
        let window = Window::all(SCALE.last);
        Self::assemble(SystemClock, entropy::random, window, None, default_pace())
    }

    /// Options for a generator.
    pub const fn builder() -> Builder<SystemClock> {
        Builder::with_clock(SystemClock, entropy::random)
    }
}

#[cfg(feature = "std")]
impl Default for Generator {
    fn default() -> Self {
        Self::new()
    }
}

/// One new ID from the process-wide generator.
///
/// # Errors
/// As [`Generator::generate`].
#[cfg(feature = "std")]
#[inline]
pub fn generate(shard_key: u32) -> Result<HotGuid> {
    static PROCESS: Generator = Generator::new();
    PROCESS.generate(shard_key)
}

impl<C> Generator<C> {
    pub(super) const fn assemble(
        clock: C,
        draw: fn() -> Result<[u8; 8]>,
        window: Window,
        owner: Option<Owner>,
        pace: Pace,
    ) -> Self {
        let counters = Slots { first: 0, last: LAST_COUNTER as u64 };
        let state = PerTick::new(counters, Behind::Held, SCALE.last)
            .expect("25 bits of slots and 32 of seconds");
        let identity = AtomicU64::new(0);
        let epoch = AtomicU32::new(Identity::NEVER);
        Self { state, identity, epoch, draw, window, owner, pace, clock }
    }

    /// The window, in Unix milliseconds: half-open.
    pub fn window(&self) -> (i64, i64) {
        let seconds = self.window.ticks();
        (SCALE.ms_of(seconds.start), SCALE.ms_of(seconds.end))
    }

    /// Moves the end of the window later, to `end_ms` in Unix milliseconds; an earlier or equal end changes nothing, nor
    /// does any where no window was given, since that is all of the format's time already.
    ///
    /// # Errors
    /// `out_of_range` for an end before the window's start; `time_out_of_range` past the format's time.
    pub fn extend_window(&self, end_ms: i64) -> Result<()> {
        let (start_ms, _) = self.window();
        self.window.extend(SCALE.ticks_within(start_ms, end_ms)?.end);
        Ok(())
    }

    /// Ends the generator, also for calls in flight on other threads. There is nothing to save: the next one draws its own
    /// random bytes.
    ///
    /// # Errors
    /// `generator_closed` if it was.
    pub fn close(&self) -> Result<()> {
        self.state.close().map(|_| ())
    }

    /// Figures of now.
    pub fn stats(&self) -> Stats {
        let state = self.state.state();
        let drawn = self.epoch.load(Ordering::Acquire) != Identity::NEVER;
        let identity = Identity::of_word(self.identity.load(Ordering::Acquire));
        Stats {
            machine: drawn.then(|| identity.machine.to_bytes()),
            last_second: (state.next > 0).then(|| SCALE.ms_of(state.tick) / 1000),
            len: u32::try_from(state.next).unwrap_or(u32::MAX),
            closed: state.closed,
        }
    }
}

impl<C: Clock> Generator<C> {
    /// One new ID, for a shard of your choice.
    ///
    /// # Errors
    /// `sequence_exhausted` after 16,777,216 IDs in one second, with when to retry, after a wait of at most `max_wait`;
    /// `lease_not_started`, `lease_expired` outside the window; `time_out_of_range` outside 1970..2106; `generator_closed`;
    /// `forked` in a child process if a window was given; `entropy_unavailable`; what the clock says. Nothing is changed by a refused call.
    #[inline]
    pub fn generate(&self, shard_key: u32) -> Result<HotGuid> {
        let (identity, run) = self.reserve(1)?;
        Ok(id(identity, run, 0, shard_key))
    }

    /// The text of one new ID, on the stack.
    ///
    /// # Errors
    /// As [`Generator::generate`].
    #[inline]
    pub fn generate_text(&self, shard_key: u32) -> Result<Text<{ HotGuid::TEXT_LEN }>> {
        Ok(self.generate(shard_key)?.text())
    }

    /// Fills a slice with new IDs.
    ///
    /// # Errors
    /// As [`Generator::generate`]; [`Error::written`] tells how many IDs at the front of the slice are there to use.
    pub fn fill(&self, shard_key: u32, ids: &mut [HotGuid]) -> Result<()> {
        fill_from(|want| self.reserve(want), shard_key, ids)
    }

    /// The second that an ID would be of now, if the generator is open: what a handle asks for every ID.
    #[inline]
    pub(super) fn look(&self) -> Result<u64> {
        let second = SCALE.tick_of_nanos(self.clock.unix_nanos()?)?;
        let seen = self.state.observe();
        if self.state.is_closed_at(seen) {
            return Err(Error::new(ErrorKind::GeneratorClosed));
        }
        Ok(self.state.tick_for(seen, second))
    }

    /// Slots for up to `want` IDs, and what they are counted from.
    #[inline]
    pub(super) fn reserve(&self, want: u32) -> Result<Reserved> {
        self.reserve_at(&self.pace, want)
    }

    /// The same without waiting.
    #[inline]
    pub(super) fn try_reserve(&self, want: u32) -> Result<Reserved> {
        self.reserve_at(&NO_WAIT, want)
    }

    #[inline]
    fn reserve_at(&self, pace: &Pace, want: u32) -> Result<Reserved> {
        drive(
            &self.clock,
            pace,
            || self.state.observe(),
            |seen, now| self.shortcut(seen, now, want),
            |seen, now, _| self.attempt(seen, now, want),
        )
    }

    /// Slots in the second that was observed, if the clock is still in it and nothing else speaks against it.
    #[inline]
    fn shortcut(&self, seen: u128, now: i64, want: u32) -> Option<Reserved> {
        let (epoch, identity) = self.drawn();
        let second = self.state.tick(seen);
        if epoch != fork::epoch() || !SCALE.is_within(second, now) || !self.window.holds(second) {
            return None;
        }
        let run = self.state.step_within(seen, want)?;
        // Asked again, so that a fork up to the step is seen. Nothing is drawn where the window belongs to another process.
        (epoch == fork::epoch()).then_some((identity, run))
    }

    fn attempt(&self, seen: u128, now: i64, want: u32) -> Result<Outcome<Reserved>> {
        self.owner.map_or(Ok(()), Owner::check)?;
        let (epoch, identity) = self.identity()?;
        let now = SCALE.tick_of_nanos(now)?;
        let second = self.state.tick_for(seen, now);
        self.window.check(second, |second| SCALE.ms_of(second))?;
        Ok(match self.state.step(seen, now, want) {
            Step::Taken(run) if epoch == fork::epoch() => Outcome::Taken((identity, run)),
            // Forked since the identity was read: this process is another.
            Step::Taken(_) | Step::Raced => Outcome::Raced,
            Step::Full => Outcome::Wait(SCALE.nanos_of(second + 1), ErrorKind::SequenceExhausted),
            Step::Behind(last) => Outcome::Wait(SCALE.nanos_of(last), ErrorKind::ClockBehind),
            Step::Closed => return Err(Error::new(ErrorKind::GeneratorClosed)),
        })
    }

    /// Who this generator is in this process, and the epoch that it was drawn in.
    fn identity(&self) -> Result<(u32, Identity)> {
        let (epoch, identity) = self.drawn();
        if epoch == fork::epoch() { Ok((epoch, identity)) } else { self.identify() }
    }

    /// What was drawn last, and the epoch that it was drawn in: of this process, or of one before a fork.
    #[inline]
    fn drawn(&self) -> (u32, Identity) {
        // In this order: whoever sees the epoch sees what was drawn in it.
        let epoch = self.epoch.load(Ordering::Acquire);
        (epoch, Identity::of_word(self.identity.load(Ordering::Acquire)))
    }

    /// Draws, at the first ID or after a fork. Of threads that draw at once more than one may be heard, one after the other:
    /// what either drew is of this process alone, and they share the slots.
    #[cold]
    fn identify(&self) -> Result<(u32, Identity)> {
        let found = self.identity.load(Ordering::Acquire);
        fork::prepare()?;
        let epoch = fork::current();
        let mine = u64::from_be_bytes((self.draw)()?);
        Ok((
            epoch,
            Identity::of_word(self.settle(found, epoch, mine).unwrap_or_else(|theirs| theirs)),
        ))
    }

    /// Puts what was drawn in an epoch in the place of what was found, unless another thread was faster.
    fn settle(&self, found: u64, epoch: u32, mine: u64) -> core::result::Result<u64, u64> {
        const ORDERS: (Ordering, Ordering) = (Ordering::AcqRel, Ordering::Acquire);
        let settled = self.identity.compare_exchange(found, mine, ORDERS.0, ORDERS.1);
        self.epoch.store(epoch, Ordering::Release);
        settled.map(|_| mine)
    }

    /// Gives the generator random bytes that were drawn elsewhere, unless it has some in this process, and returns whether it took
    /// them: for bindings, whose entropy comes from outside. No part of what is promised.
    ///
    /// # Errors
    /// `forked` as in [`fork::prepare`].
    #[doc(hidden)]
    pub fn provide_identity(&self, drawn: [u8; 8]) -> Result<bool> {
        let found = self.identity.load(Ordering::Acquire);
        fork::prepare()?;
        let epoch = fork::current();
        if self.drawn().0 == epoch {
            return Ok(false);
        }
        Ok(self.settle(found, epoch, u64::from_be_bytes(drawn)).is_ok())
    }

    /// The source of time that it was built with.
    pub const fn clock(&self) -> &C {
        &self.clock
    }
}

/// Fills a slice from runs that are reserved one after the other.
pub(super) fn fill_from(
    reserve: impl Fn(u32) -> Result<Reserved>,
    shard_key: u32,
    ids: &mut [HotGuid],
) -> Result<()> {
    fill_runs(ids.len(), reserve, |from, (identity, run)| {
        let places = &mut ids[from..][..run.len as usize];
        fill::write_run(places, id(identity, run, 0, shard_key));
        places.len()
    })
}

/// The `k`-th ID of a run.
#[inline]
#[allow(clippy::cast_possible_truncation, reason = "slots are counters of 24 bits")]
pub(super) fn id(identity: Identity, run: Run, k: u32, shard_key: u32) -> HotGuid {
    let counter = (identity.start + run.first as u32 + k) & LAST_COUNTER;
    HotGuid::pack(run.tick, identity.machine, counter, shard_key)
}
