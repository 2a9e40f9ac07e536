//! The engine, which reserves slots for a generator. It reserves slots only within the generator's window and in the
//! current process, until the generator is closed.
//!
//! Each attempt takes the same steps, and their order matters, because other threads may act between any two of them:
//!
//! ```text
//! 1. observe    the word of the state machine        <---------------------------+
//! 2. read       the clock                                                        |
//! 3. check      the window and the floor              --- too early: sleep ------+
//! 4. identify   the worker ID for the tick                                       |
//! 5. step       swap the word, if it is still (1)     --- changed: once more ----+
//! 6. compare    the process and the identity with (4) --- changed: once more ----+
//! ```
//!
//! - The word is observed before the clock is read. In the reverse order, another thread could move the word to a new tick
//!   in between. The reading, although correct, would then be earlier than the word's tick and look like a clock rollback,
//!   so a sno would flip its tick-tock bit unnecessarily.
//! - The identity is determined before the step, because it limits the slots of a tick, and because assigning an identity
//!   can fail or take a long time. If the assignment failed after the step, the reserved slots would be lost.
//! - A fork copies the word, so parent and child could both reserve the same slot under the same identity. Therefore the
//!   process generation is compared last, after the step. In a child, it differs from the process generation that was read
//!   in (4), so the child drops the slots. A comparison before the step would cost the same, but would miss a fork between
//!   the comparison and the step.
//!
//! Slots that are dropped in this way are lost. This is rare, and losing a slot is harmless, whereas using a slot twice
//! would create a duplicate ID.
//!
//! In nearly every call, the clock is still in the tick of the word. A generator tries this case first, using
//! [`Engine::try_shortcut`], which performs the same steps in the same order. A separate function, which is not inlined,
//! handles all other cases.

use alloc::boxed::Box;
use core::ops::Range;

use super::{
    Call, Family, FirstReading, Mode, Options, Progress, WaitPolicy, Window,
    registry::{self, Registration},
    wait::{Cause, NO_WAIT, ceil_to_ms},
};
use crate::{
    Error, ErrorKind, Result, UnixTime,
    clock::{self, Clock},
    fork,
    format::Ticks,
    sequence::{Flip, Machine, SlotRange, Step},
};

/// The core of a generator for any ID format. It does everything except packing slots into IDs.
#[derive(Debug)]
pub(crate) struct Engine<F: Family, C> {
    pub(crate) family: F,
    pub(crate) machine: F::Machine,
    pub(crate) window: Window,
    pub(super) first: FirstReading,
    /// The tick of the state machine until the first ID. It is 0, or the last tick of a predecessor.
    initial_tick: u64,
    policy: WaitPolicy,
    pub(crate) clock: C,
    /// The generator's place among those with explicit worker IDs, if it has one. It is never read to generate an ID.
    registration: Option<Box<Registration>>,
}

/// Slots of one tick, and the identity to which they belong.
pub(crate) type Reservation<F> = (<F as Family>::Identity, SlotRange);

/// An observed state of the state machine, and a clock reading, which is 0 for a format without ticks.
pub(crate) type Observation<F> = (<<F as Family>::Machine as Machine>::Word, i64);

/// The outcome of one attempt.
enum Outcome<T> {
    Reserved(T),
    /// Another thread changed the state first, so the caller must observe it again.
    Raced,
    /// No slots are available before the time `until`, because of `cause`. Both `now` and `until` are in Unix nanoseconds.
    Wait {
        now: i64,
        until: i64,
        cause: Cause,
    },
}

impl<F: Family, C> Engine<F, C> {
    pub(crate) const fn new(
        family: F,
        machine: F::Machine,
        window: Window,
        first: FirstReading,
        policy: WaitPolicy,
        clock: C,
    ) -> Self {
        Self { family, machine, window, first, initial_tick: 0, policy, clock, registration: None }
    }

    /// Declares that this generator belongs to a lease's grant. The grant guarantees that no earlier generator has used the
    /// tick of this generator's first call.
    pub(super) fn grant(&mut self) {
        self.first.skip_first_tick();
        self.family.on_granted();
        self.end_registration(None);
    }

    /// Ends the generator's use of its worker ID, so that another generator of this process may use it. `state` identifies
    /// the state from which another generator can continue, if this generator was closed.
    pub(crate) fn end_registration(&self, state: Option<u128>) {
        if let Some(registration) = &self.registration {
            registration.end(state, self.machine.used());
        }
    }

    /// Returns the window as a half-open range of Unix milliseconds.
    pub(crate) fn window_ms(&self, ticks: &F::Ticks) -> (i64, i64) {
        let span = self.window.ticks();
        (ticks.tick_start_ms(span.start), ticks.tick_start_ms(span.end))
    }

    /// Returns the ticks of the format, for operations that depend on time.
    ///
    /// # Errors
    /// Returns `unknown_field` for a sequence without a timestamp.
    pub(super) fn ticks(&self) -> Result<&F::Ticks> {
        let missing = || Error::field_error(ErrorKind::UnknownField, "timestamp");
        self.family.ticks().ok_or_else(missing)
    }

    /// Moves the end of the window to a later time. Does nothing if the new end is not later than the current one.
    pub(crate) fn extend_window(&self, end: UnixTime) -> Result<()> {
        self.extend_to_tick(self.ticks()?.end_tick(self.window.start(), end)?)
    }

    /// Moves the end of the window to a later tick. Does nothing if the new end is not later than the current one.
    ///
    /// # Errors
    /// Returns `worker_id_in_use` if another generator uses the worker ID in the added time.
    pub(crate) fn extend_to_tick(&self, end: u64) -> Result<()> {
        if let Some(registration) = &self.registration {
            registration.extend(end, self.ticks()?.tick_start_ms(end))?;
        }
        self.window.extend(end);
        self.family.on_extended(end);
        Ok(())
    }

    /// Closes the generator, which also ends calls in progress. Returns the time span of the highest tick in which slots
    /// were ever reserved, whether or not they were used. The start and the end of the span are in Unix milliseconds,
    /// rounded up. Returns `None` if no slot was reserved.
    pub(crate) fn seal(&self) -> Result<Option<Range<i64>>> {
        self.ticks()?;
        self.family.check_process()?;
        self.machine.close()?;
        // If the process was forked just before `close`, this call has closed only the child's copy of the state machine.
        self.family.check_process()?;
        self.end_registration(None);
        Ok(self.highest_tick().map(|(_, span)| span))
    }

    /// Returns the highest tick in which slots were ever reserved, and its span in Unix milliseconds, rounded up.
    pub(crate) fn highest_tick(&self) -> Option<(u64, Range<i64>)> {
        let (tick, ticks) =
            (self.machine.highest_tick(&self.machine.state())?, self.family.ticks()?);
        let begins = |tick| ceil_to_ms(ticks.tick_start_nanos(tick));
        Some((tick, begins(tick)..begins(tick + 1)))
    }

    /// Returns an error if the generator is closed.
    pub(crate) fn check_open(&self) -> Result<()> {
        if self.machine.is_closed() { Err(closed_error()) } else { Ok(()) }
    }
}

impl<F: Family, C: Clock> Engine<F, C> {
    /// Creates an engine with the options that all builders share. `continued` identifies the state from which the generator
    /// continues, if it continues from an earlier generator.
    ///
    /// # Errors
    /// Returns `out_of_range` if the clock is coarser than a tick, or `worker_id_in_use` if a live generator of this process
    /// uses the worker ID.
    pub(crate) fn with_options(
        options: Options<C>,
        family: F,
        mut machine: F::Machine,
        window: Window,
        mut first: FirstReading,
        continued: Option<u128>,
    ) -> Result<Self> {
        let policy = options.policy(family.ticks().map_or(1, Ticks::tick_nanos));
        if family.ticks().is_some() {
            policy.check_clock(&options.clock)?;
        }
        let registration =
            Self::registration(&options, &family, &window, continued).inspect_err(|_| {
                family.on_drop(&machine);
            })?;
        if continued.is_some() && registration.as_ref().is_some_and(|it| it.skips_first_tick) {
            first = FirstReading::new(true);
        }
        if options.is_granted {
            first.skip_first_tick();
        }
        let mut initial_tick = 0;
        // A sequence without a timestamp starts over with each generator.
        let taken_over = registration.as_ref().and_then(|it| it.taken_over());
        if let Some(used) = taken_over.filter(|_| family.ticks().is_some()) {
            machine.take_over(used);
            initial_tick = machine.tick(machine.observe());
        }
        let engine = Self::new(family, machine, window, first, policy, options.clock);
        Ok(Self { initial_tick, registration, ..engine })
    }

    /// Registers a generator with explicit worker IDs. Generators of leases and generators with a clock for tests are not
    /// registered.
    fn registration(
        options: &Options<C>,
        family: &F,
        window: &Window,
        continued: Option<u128>,
    ) -> Result<Option<Box<Registration>>> {
        if !registry::IS_ENABLED || options.is_unregistered || options.clock.info().for_tests {
            return Ok(None);
        }
        let Some(ids) = family.worker_ids() else { return Ok(None) };
        let span = window.ticks();
        let ends_ms = match family.ticks() {
            Some(ticks) if span.end <= ticks.last_tick() => Some(ticks.tick_start_ms(span.end)),
            _ => None,
        };
        registry::register(&ids, &(span, ends_ms), continued).map(|it| Some(Box::new(it)))
    }

    /// Returns the tick of an ID generated now, together with the clock reading. Returns an error if the generator is
    /// closed. A handle calls this function for every ID. Unlike [`Engine::observe`], this function may read the clock
    /// before the state, because it reserves no slots.
    #[inline]
    pub(crate) fn open_tick(&self) -> Result<(u64, i64)> {
        let now = self.now()?;
        let seen = self.machine.observe();
        if self.machine.is_closed_at(seen) {
            return Err(closed_error());
        }
        Ok((self.machine.tick_for(seen, self.tick_after((seen, now))?), now))
    }

    #[inline]
    pub(super) fn now(&self) -> Result<i64> {
        if self.family.ticks().is_some() { self.clock.unix_nanos() } else { Ok(0) }
    }

    /// Returns the current tick of the clock.
    #[inline]
    pub(crate) fn tick_now(&self, ticks: &F::Ticks) -> Result<u64> {
        self.tick_of(ticks, self.clock.unix_nanos()?)
    }

    #[inline]
    fn tick_of(&self, ticks: &F::Ticks, unix_nanos: i64) -> Result<u64> {
        ticks.tick_of_nanos(unix_nanos).map_err(|error| {
            let error = clock::error_in_unit(&error, unix_nanos, self.clock.info().unit);
            self.family.reading_out_of_range(error, unix_nanos)
        })
    }

    /// Returns the tick that contains a clock reading. If the reading precedes the tick of the observed state by less than
    /// the clock's slack, returns the state's tick instead. A format without ticks has all of its slots in tick 0.
    #[inline]
    fn tick_after(&self, (seen, now): Observation<F>) -> Result<u64> {
        let Some(ticks) = self.family.ticks() else { return Ok(0) };
        let (tick, last) = (self.tick_of(ticks, now)?, self.machine.tick(seen));
        if tick >= last {
            return Ok(tick);
        }
        // The difference below is positive, because the reading's tick is before `last`.
        let slack = clock::nanos(self.clock.info().slack);
        let lags = ticks.tick_start_nanos(last).saturating_sub(now).cast_unsigned() < slack;
        Ok(if lags { last } else { tick })
    }

    /// Observes the state machine, then reads the clock. The order matters, because a step needs a clock reading that is no
    /// older than the observed state.
    #[inline]
    pub(super) fn observe(&self) -> Result<Observation<F>> {
        let seen = self.machine.observe();
        let now = self.now()?;
        Ok((seen, now))
    }

    pub(crate) const fn policy_in(&self, mode: Mode) -> &WaitPolicy {
        match mode {
            Mode::Wait => &self.policy,
            Mode::Try => &NO_WAIT,
        }
    }

    /// Attempts to reserve slots until an attempt succeeds or has to wait. The first attempt uses the given observation, if
    /// any.
    pub(super) fn step<'s>(
        &'s self,
        call: &mut Call<'s>,
        mut observed: Option<Observation<F>>,
        want: u32,
    ) -> Result<Progress<Reservation<F>>> {
        let waits = call.waits_mut(self.policy_in(call.mode));
        loop {
            let observation = match observed.take() {
                Some(observation) => observation,
                None => self.observe()?,
            };
            match self.attempt(observation, waits.flip(), want)? {
                Outcome::Reserved(taken) => return Ok(Progress::Done(taken)),
                Outcome::Raced => waits.record_lost_race(&self.clock)?,
                Outcome::Wait { now, until, cause } => {
                    return waits.wait(&self.clock, cause, now, until).map(Progress::Sleep);
                }
            }
        }
    }

    /// Reserves slots in the observed tick, if the clock is still in that tick and neither the window nor a fork prevents
    /// it. Otherwise, returns `None`.
    #[inline(always)]
    #[allow(
        clippy::inline_always,
        reason = "an ID took 168 instructions, and 213 with a call in between"
    )]
    pub(super) fn try_shortcut(
        &self,
        (seen, now): Observation<F>,
        want: u32,
    ) -> Option<Reservation<F>> {
        // In nearly every call, the clock is still in the tick of the observed state, and one comparison then decides
        // whether a slot is available. This shortcut saves 3.5 ns of the 31 ns that generating an ID took. `attempt`
        // handles all other cases, such as the floor and the slack.
        let tick = self.machine.tick(seen);
        // A new state machine is in tick 0, so for that tick, only `attempt` can decide whether the floor allows a
        // reservation.
        if tick == 0 || !self.family.ticks()?.is_within(tick, now) {
            return None;
        }
        let (generation, identity) = self.family.current_identity(&self.window, tick, now)?;
        let range = self.machine.step_within(seen, want, self.family.limits(identity))?;
        // The process generation is compared last, to detect a fork at any point up to the step. If the slots were reserved
        // in a forked child, they are lost.
        (generation == fork::generation()).then_some((identity, range))
    }

    fn attempt(
        &self,
        (seen, now): Observation<F>,
        flip: Flip,
        want: u32,
    ) -> Result<Outcome<Reservation<F>>> {
        let ticks = self.family.ticks();
        if ticks.is_some() {
            // The clock is checked here as well, because no builder has checked the clock of a generator in a `static`.
            self.policy.check_clock(&self.clock)?;
        }
        self.family.check_process()?;
        let clock_tick = self.tick_after((seen, now))?;
        let tick = self.machine.tick_for(seen, clock_tick);
        if let Some(ticks) = ticks {
            self.window.check(tick, ticks)?;
            // An attempt with an outdated clock reading must not assign an identity, because another thread may have
            // assigned one for a later tick.
            if self.family.current_identity(&self.window, tick, now).is_none()
                && self.machine.observe() != seen
            {
                return Ok(Outcome::Raced);
            }
        }
        let flip = match self.check_floor((seen, now), tick, flip)? {
            Ok(flip) => flip,
            Err(outcome) => return Ok(outcome),
        };
        let (generation, identity) =
            self.family.acquire_identity(&self.machine, &self.window, tick, now)?;
        // The opening tick is read after `acquire_identity`, because that call may have replaced the claim that defines the
        // opening tick.
        let opening_tick = self.family.opening_tick();
        if let Some(ticks) = ticks
            && tick < opening_tick
        {
            let (until, cause) = (ticks.tick_start_nanos(opening_tick), Cause::Full);
            return Ok(Outcome::Wait { now, until, cause });
        }
        // The process generation is compared last, so that any fork up to this moment is detected.
        let still_holds = || self.family.is_current(identity) && generation == fork::generation();
        let wait_until = |until, cause| Outcome::Wait { now, until, cause };
        let enters = tick != self.machine.tick(seen);
        let limits = if enters {
            self.family.limits_on_entry(identity)
        } else {
            self.family.limits(identity)
        };
        let step = self.machine.step(seen, clock_tick, want, limits, flip);
        if enters && let Step::Reserved(range) = step {
            self.family.on_tick_entered(self.machine.tick(seen), range);
        }
        Ok(match (step, ticks) {
            (Step::Reserved(range), _) if still_holds() => Outcome::Reserved((identity, range)),
            // The slots are lost: the process was forked after the identity was read, or another thread has replaced the
            // identity.
            (Step::Reserved(_) | Step::Raced, _) => Outcome::Raced,
            (Step::Full, Some(ticks)) => match flip {
                Flip::Below(floor) => wait_until(ticks.tick_start_nanos(floor + 1), Cause::Floor),
                _ => wait_until(ticks.tick_start_nanos(tick + 1), Cause::Full),
            },
            (Step::Behind(last), Some(ticks)) if F::WAITS_WHEN_BEHIND => {
                wait_until(ticks.tick_start_nanos(last), Cause::Behind)
            }
            (Step::Behind(last), Some(ticks)) => {
                return Err(Error::retry_later(ErrorKind::ClockBehind, ticks.tick_start_ms(last)));
            }
            (Step::Full | Step::Behind(_), None) => {
                return Err(Error::new(ErrorKind::SequenceExhausted));
            }
            (Step::Closed, _) => return Err(closed_error()),
        })
    }

    /// Returns whether a reservation in `tick` may move the state machine back to an earlier tick. If the generator's floor
    /// does not allow the reservation yet, returns the outcome of the attempt instead.
    fn check_floor<T>(
        &self,
        (seen, now): Observation<F>,
        tick: u64,
        flip: Flip,
    ) -> Result<core::result::Result<Flip, Outcome<T>>> {
        let Some(ticks) = self.family.ticks() else { return Ok(Ok(flip)) };
        let Some(floor) = self.first.floor(ticks, &self.clock, now)? else { return Ok(Ok(flip)) };
        // Without this check, a generator that was closed before its first ID would wait until its floor ends before
        // returning the error.
        if self.machine.is_closed_at(seen) {
            return Err(closed_error());
        }
        // Any state machine that has made an ID is in a tick after the floor, or in one before the floor.
        let is_unused = self.machine.tick(seen) == self.initial_tick;
        match floor.check_flip(tick, is_unused, flip) {
            None => {
                let (until, cause) = (ticks.tick_start_nanos(floor.last + 1), Cause::Floor);
                Ok(Err(Outcome::Wait { now, until, cause }))
            }
            // Another thread may have made the first call since this clock reading was taken. Only a new reading shows
            // whether the clock moved backward.
            Some(Flip::Below(_)) if self.tick_after(self.observe()?)? >= floor.from => {
                Ok(Err(Outcome::Raced))
            }
            // A predecessor may have used a later tick than the floor's.
            Some(Flip::Below(last)) => Ok(Ok(Flip::Below(last.max(self.initial_tick)))),
            Some(flip) => Ok(Ok(flip)),
        }
    }

    /// Returns the last tick of the floor if the generator has been called but has not generated an ID. Snapshots treat
    /// this tick as used up.
    pub(crate) fn last_tick_before_first_id(&self) -> Option<u64> {
        let is_unused = self.machine.tick(self.machine.observe()) == self.initial_tick;
        let ticks = self.family.ticks().filter(|_| is_unused)?;
        self.first.last_tick(ticks, &self.clock)
    }
}

#[cold]
pub(super) fn closed_error() -> Error {
    Error::new(ErrorKind::GeneratorClosed)
}
