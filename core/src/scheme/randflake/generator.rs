//! The generator: a lease and the clock around a per-tick machine, then the cipher.

use core::fmt;

#[cfg(feature = "std")]
use super::Builder;
use super::{Codec, Lease, Parts, Randflake, SCALE, builder::SLOTS_PER_NODE, codec};
use crate::{
    Error, ErrorKind, Result,
    base32::Text,
    clock::{Clock, DefaultClock},
    scheme::{NO_WAIT, Outcome, Owner, Pace, Window, drive, fill_runs},
    sequence::{
        Step,
        per_tick::{PerTick, Run, State},
    },
};

/// How many IDs are encrypted together.
pub(super) const GROUP: usize = 64;

/// Makes Randflake IDs under one lease. Threads may share it.
///
/// It never goes back in time: after one wild reading of the clock it refuses with `clock_behind` until time comes there, but the
/// lease bounds how far that can be.
///
/// It cannot be cloned, since a lease serves one generator once:
///
/// ```compile_fail
/// use polyflake::randflake::{Generator, Lease};
///
/// let lease = Lease::new(42, 1_730_000_000, 2_803_741_824)?;
/// let twin = Generator::builder(lease, [0; 16]).build()?.clone();
/// # Ok::<(), polyflake::Error>(())
/// ```
pub struct Generator<C = DefaultClock> {
    state: PerTick,
    pub(super) codec: Codec,
    /// Its end is the window's.
    pub(super) lease: Lease,
    window: Window,
    pace: Pace,
    clock: C,
    owner: Owner,
}

/// Figures of a generator, at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Stats {
    /// The last second used, in Unix seconds; none before the first ID.
    pub last_second: Option<i64>,
    /// How many IDs of that second are used up.
    pub len: u64,
    /// Whether the generator was closed.
    pub closed: bool,
}

#[cfg(feature = "std")]
impl Generator {
    /// Options for a generator under a lease; the secret is 16 bytes, or a [`Codec`] of them.
    pub fn builder(lease: Lease, secret: impl Into<Codec>) -> Builder<crate::clock::SystemClock> {
        Builder::with_clock(lease, secret, crate::clock::SystemClock)
    }
}

/// Hides what IDs hide: node, second and sequence.
impl<C> fmt::Debug for Generator<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Generator").finish_non_exhaustive()
    }
}

impl<C> Generator<C> {
    pub(super) fn assemble(
        clock: C,
        codec: Codec,
        lease: Lease,
        state: PerTick,
        pace: Pace,
    ) -> Result<Self> {
        let (window, owner) = (Window::new(lease.ticks()), Owner::this_process()?);
        Ok(Self { state, codec, lease, window, pace, clock, owner })
    }

    /// The fields of an ID. That they look like some says nothing: every number decrypts to something.
    #[inline]
    pub fn inspect(&self, id: Randflake) -> Parts {
        self.codec.inspect(id)
    }

    /// The lease, as far as it was extended.
    pub fn lease(&self) -> Lease {
        self.lease.until(self.window.ticks().end)
    }

    /// Extends the lease; one that ends no later changes nothing.
    ///
    /// # Errors
    /// `lease_mismatch` unless both have the same nodes and start.
    pub fn extend_lease(&self, longer: Lease) -> Result<()> {
        self.window.extend(self.lease.extend(longer)?.ticks().end);
        Ok(())
    }

    /// Ends the generator, also for calls in flight on other threads, and tells the last second used, in Unix seconds: what
    /// the lease's next generator must resume after. None if there was none.
    ///
    /// # Errors
    /// `generator_closed` if it was; `forked` in a child process, since the parent's generator goes on.
    pub fn close(&self) -> Result<Option<i64>> {
        self.owner.check()?;
        Ok(last_second(self.state.close()?))
    }

    /// Figures of now.
    pub fn stats(&self) -> Stats {
        let state = self.state.state();
        let len = u64::try_from(state.next).unwrap_or(u64::MAX);
        Stats { last_second: last_second(state), len, closed: state.closed }
    }
}

impl<C: Clock> Generator<C> {
    /// One new ID.
    ///
    /// # Errors
    /// In this order: `lease_not_started`, with when to retry, `lease_expired`; `clock_behind` where the clock is behind the
    /// last second used, `sequence_exhausted`, both with when to retry, at once or after a wait of at most `max_wait`;
    /// further `generator_closed`; `forked` in a child process; what the clock says. Nothing is changed by a refused call.
    #[inline]
    pub fn generate(&self) -> Result<Randflake> {
        Ok(self.encrypt_first(self.reserve(1)?))
    }

    /// The text of one new ID, on the stack.
    ///
    /// # Errors
    /// As [`Generator::generate`].
    #[inline]
    pub fn generate_text(&self) -> Result<Text<{ Randflake::TEXT_LEN }>> {
        Ok(self.generate()?.text())
    }

    /// Fills a slice with new IDs.
    ///
    /// # Errors
    /// As [`Generator::generate`]; [`Error::written`] tells how many IDs at the front of the slice are there to use.
    pub fn fill(&self, ids: &mut [Randflake]) -> Result<()> {
        fill_from(|want| Ok((self, self.reserve(want)?)), ids)
    }

    /// The IDs of a run from the `k`-th slot on, as many as there is room for.
    pub(super) fn encrypt(&self, run: Run, k: usize, ids: &mut [Randflake]) {
        let mut slots = run.first + k as u64..;
        for group in ids.chunks_mut(GROUP) {
            let mut raw = [[0; 8]; GROUP];
            let raw = &mut raw[..group.len()];
            for (block, slot) in raw.iter_mut().zip(&mut slots) {
                *block = self.raw(run.tick, slot).to_le_bytes();
            }
            self.codec.encrypt_many(raw, group);
        }
    }

    /// The ID of the first slot of a run.
    #[inline]
    pub(super) fn encrypt_first(&self, run: Run) -> Randflake {
        self.codec.encrypt_raw(self.raw(run.tick, run.first))
    }

    /// The raw value of a slot.
    #[inline]
    #[allow(
        clippy::cast_possible_truncation,
        reason = "a node's number among those of the lease, and 17 bits"
    )]
    fn raw(&self, tick: u64, slot: u64) -> u64 {
        let node = self.lease.first_node() + (slot / SLOTS_PER_NODE) as u32;
        codec::raw(tick, node, (slot % SLOTS_PER_NODE) as u32)
    }

    /// The source of time that it was built with.
    pub const fn clock(&self) -> &C {
        &self.clock
    }

    /// The tick that the clock shows, if the generator is open: what a handle asks for every ID.
    #[inline]
    pub(super) fn look(&self) -> Result<u64> {
        let now = self.clock.unix_nanos()?;
        if self.state.is_closed() {
            return Err(Error::new(ErrorKind::GeneratorClosed));
        }
        SCALE.tick_of_nanos(now).map_err(|_| self.outside(now))
    }

    /// Slots for up to `want` IDs.
    #[inline]
    pub(super) fn reserve(&self, want: u32) -> Result<Run> {
        self.reserve_at(&self.pace, want)
    }

    /// The same without waiting.
    #[inline]
    pub(super) fn try_reserve(&self, want: u32) -> Result<Run> {
        self.reserve_at(&NO_WAIT, want)
    }

    #[inline]
    fn reserve_at(&self, pace: &Pace, want: u32) -> Result<Run> {
        drive(
            &self.clock,
            pace,
            || self.state.observe(),
            |seen, now| self.shortcut(seen, now, want),
            |seen, now, _| self.attempt(seen, now, want),
        )
    }

    /// Slots in the tick that was observed, if the clock is still in it and nothing else speaks against it.
    #[inline]
    fn shortcut(&self, seen: u128, now: i64, want: u32) -> Option<Run> {
        let tick = self.state.tick(seen);
        if !SCALE.is_within(tick, now) || !self.window.holds(tick) {
            return None;
        }
        let run = self.state.step_within(seen, want)?;
        // Asked last, so that a fork up to the step is seen.
        self.owner.is_here().then_some(run)
    }

    fn attempt(&self, seen: u128, now: i64, want: u32) -> Result<Outcome<Run>> {
        self.owner.check()?;
        let tick = SCALE.tick_of_nanos(now).map_err(|_| self.outside(now))?;
        self.window.check(tick, |tick| SCALE.ms_of(tick))?;
        Ok(match self.state.step(seen, tick, want) {
            Step::Taken(run) if self.owner.is_here() => Outcome::Taken(run),
            Step::Taken(_) | Step::Raced => Outcome::Raced,
            Step::Full => Outcome::Wait(SCALE.nanos_of(tick + 1), ErrorKind::SequenceExhausted),
            Step::Behind(last) => Outcome::Wait(SCALE.nanos_of(last), ErrorKind::ClockBehind),
            Step::Closed => return Err(Error::new(ErrorKind::GeneratorClosed)),
        })
    }

    /// For a reading outside of the format's time, and so of the lease's.
    #[cold]
    fn outside(&self, now: i64) -> Error {
        if now < SCALE.nanos_of(0) {
            return Error::retry_later(ErrorKind::LeaseNotStarted, self.lease.start() * 1000);
        }
        Error::new(ErrorKind::LeaseExpired)
    }
}

/// Fills a slice from runs that are reserved one after the other, each of the generator that comes with it.
pub(super) fn fill_from<'g, C: Clock + 'g>(
    reserve: impl Fn(u32) -> Result<(&'g Generator<C>, Run)>,
    ids: &mut [Randflake],
) -> Result<()> {
    fill_runs(ids.len(), reserve, |from, (generator, run)| {
        let places = &mut ids[from..][..run.len as usize];
        generator.encrypt(run, 0, places);
        places.len()
    })
}

/// The second that a state is in; none where nothing was made.
fn last_second(state: State) -> Option<i64> {
    (state.next > 0).then(|| SCALE.ms_of(state.tick) / 1000)
}
