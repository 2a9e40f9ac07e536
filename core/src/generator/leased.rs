//! Generators with a lease, one for each grant. The newest generator creates the IDs, and switching grants swaps a pointer.
//!
//! A thread that has loaded a generator may use it for its current reservation, because the generator's window covers only
//! its own grant, and a sealed generator rejects reservations. A call therefore loads the newest generator once, and
//! reloads it only if that generator rejected the reservation.
#![allow(private_bounds, reason = "only the families of this crate have generators")]

use alloc::boxed::Box;
use core::{ops::Range, time::Duration};

use super::{
    Call, Engine, Family, Generator, LatestValue, Mode, Pack, Progress, SlotSource,
    engine::{Observation, closed_error},
    fill::FamilyReservation,
    wait::Cause,
};
use crate::{
    Error, ErrorKind, Result, UnixTime,
    clock::Clock,
    fork,
    sequence::Machine,
    sync::{AtomicU32, Ordering},
};

/// Generates IDs under successive grants of partitions, node IDs, machine fields or constants. Threads can share a
/// generator.
///
/// The generators for earlier grants are sealed. If the same worker ID is granted again, a new generator is created for it,
/// so that windows are never merged. No snapshot is taken when a lease ends, because the time after the end belongs to the
/// next holder.
///
/// This type is not part of the public API. It exists for leases, which wrap its methods.
#[derive(Debug)]
pub struct Leased<F: Family, C> {
    generators: LatestValue<GrantedGenerator<F, C>>,
    /// The process generation in which the user closed the generator. A forked child may begin its own lease.
    closed_in: AtomicU32,
}

/// The process generation that means "not closed".
const NEVER_CLOSED: u32 = u32::MAX;

/// A generator, the number of generators before it, and the process that created it.
#[derive(Debug)]
struct GrantedGenerator<F: Family, C> {
    generator: Generator<F, C>,
    number: u32,
    process: u32,
}

impl<F: Pack, C: Clock> Leased<F, C> {
    /// Creates a leased generator from the generator for its first grant, which is number 0. The window of `first` defines
    /// the grant.
    ///
    /// # Errors
    /// Returns `unknown_field` if the generator's layout has no timestamp, or `missing_field` if a bindable field is not
    /// fixed.
    pub fn new(mut first: Generator<F, C>) -> Result<Self> {
        check_engine(&first.engine)?;
        first.engine.grant();
        let generators = LatestValue::new(GrantedGenerator {
            generator: first,
            number: 0,
            process: fork::process(),
        });
        Ok(Self { generators, closed_in: AtomicU32::new(NEVER_CLOSED) })
    }

    /// Switches to a new grant and returns the grant's number, which is one more than the previous number. The method seals
    /// the current generator, then calls `build` with the time span, in Unix milliseconds, of the highest tick that the
    /// sealed generator may have used. `build` must return a generator whose window starts no earlier than the start of
    /// that span. Calls wait during the switch, as they do between two grants.
    ///
    /// In a child process, the parent's generator is left unchanged, and `build` receives `None`.
    ///
    /// # Errors
    /// Returns any error that `build` returns. Returns `lease_mismatch` if the window starts too early, if it starts no
    /// later than a tick used by an earlier generator that may create the same IDs, or if another thread switched at the
    /// same time. Returns `generator_closed` after [`Leased::close`]. After an error, the current generator may remain
    /// sealed until the next switch.
    pub fn move_to(
        &self,
        build: impl FnOnce(Option<Range<i64>>) -> Result<Generator<F, C>>,
    ) -> Result<u32> {
        if self.is_closed() {
            return Err(closed_error());
        }
        let found = self.newest();
        let last = found.generator.engine.end();
        let mut generator = build(last.as_ref().map(|(_, span)| span.clone()))?;
        generator.engine.grant();
        let next = &generator.engine;
        check_engine(next)?;
        let start = next.window.start();
        if last.is_some_and(|(tick, _)| start < tick) || self.may_be_repeated_by(next, start) {
            return Err(grant_mismatch_error(
                "expected a grant that begins after the IDs already made, found an earlier one",
            ));
        }
        let number = found.number + 1;
        let granted = GrantedGenerator { generator, number, process: fork::process() };
        if !self.generators.replace(found, granted, Box::new_uninit()) {
            return Err(outdated_grant_error());
        }
        // A concurrent `close` may have closed the previous generator instead of this one. Both threads modify `closed_in`,
        // so the thread that modifies it later sees the other thread's writes. Therefore either `close` finds this
        // generator, or this thread closes it.
        if self.closed_in.fetch_add(0, Ordering::AcqRel) == fork::process() {
            self.newest().generator.engine.end();
        }
        Ok(number)
    }

    /// Returns whether `next`, whose window starts at `start`, may duplicate an ID of an earlier generator that has used
    /// `start` or a later tick.
    fn may_be_repeated_by(&self, next: &Engine<F, C>, start: u64) -> bool {
        self.generators.iter().any(
            |GrantedGenerator { generator: Generator { engine }, .. }| {
                let used = engine.highest_tick().is_some_and(|(tick, _)| start <= tick);
                used && engine.family.may_repeat(&next.family)
            },
        )
    }

    /// Moves a grant's end to a later time. The call has no effect if the new end is not later.
    ///
    /// # Errors
    /// Returns `lease_mismatch` if the grant is not the newest. Returns `out_of_range` or `time_out_of_range` under the
    /// same conditions as [`Generator::extend_window`].
    pub fn extend(&self, number: u32, end: impl Into<UnixTime>) -> Result<()> {
        self.engine_of(number)?.extend_window(end.into())
    }

    /// Ends a grant permanently, along with all calls in progress. Returns the time span, in Unix milliseconds, of the
    /// highest tick that the grant may have used, or `None` if it used no tick. Later calls wait, as they do between two
    /// grants.
    ///
    /// # Errors
    /// Returns `lease_mismatch` if the grant is not the newest, `generator_closed` if it is already sealed, or `forked` in
    /// a child process.
    pub fn seal(&self, number: u32) -> Result<Option<Range<i64>>> {
        let engine = self.engine_of(number)?;
        match engine.seal() {
            // `close` has sealed the generator, so its highest tick is final.
            Err(error) if error.kind() == ErrorKind::GeneratorClosed && self.is_closed() => {
                Ok(engine.highest_tick().map(|(_, span)| span))
            }
            sealed => sealed,
        }
    }

    /// Stops generating IDs in this process permanently, at the user's request. Later calls fail with `generator_closed`
    /// without waiting, and calls in progress fail after their current sleep. [`Leased::seal`] still returns the highest
    /// tick. A child process may start another grant.
    pub fn close(&self) {
        // `closed_in` is written before the generator is sealed, so that a call that finds a sealed generator also sees
        // that the user closed it.
        self.closed_in.swap(fork::process(), Ordering::AcqRel);
        self.newest().generator.engine.end();
    }

    /// Returns whether [`Leased::close`] was called in this process.
    pub fn is_closed(&self) -> bool {
        self.closed_in.load(Ordering::Acquire) == fork::process()
    }

    /// Returns the engine of the grant with this number if it is the newest grant.
    fn engine_of(&self, number: u32) -> Result<&Engine<F, C>> {
        let newest = self.newest();
        if newest.number == number {
            Ok(&newest.generator.engine)
        } else {
            Err(outdated_grant_error())
        }
    }

    /// Reserves slots if the newest grant has some in the clock's tick. Otherwise, returns `None`.
    #[cfg(feature = "std")]
    #[inline]
    pub(super) fn try_shortcut(&self, want: u32) -> Option<FamilyReservation<'_, F>> {
        let engine = &self.newest().generator.engine;
        let slots = engine.try_shortcut(engine.observe().ok()?, want)?;
        Some((&engine.family, slots))
    }

    #[inline]
    fn newest(&self) -> &GrantedGenerator<F, C> {
        self.generators.get()
    }

    /// Returns the number of the newest grant, and its time span in Unix milliseconds.
    pub fn grant(&self) -> (u32, Range<i64>) {
        let GrantedGenerator { generator: Generator { engine }, number, .. } = self.newest();
        let (start, end) = engine.family.ticks().map_or((0, 0), |ticks| engine.window_ms(ticks));
        (*number, start..end)
    }

    /// Generates a new ID.
    ///
    /// # Errors
    /// Returns `lease_unavailable` if no grant begins within `max_wait`. If a grant is known to begin later, the error
    /// includes the time to retry. Returns `generator_closed` after [`Leased::close`]. All other errors are the same as for
    /// the generator.
    #[inline]
    pub fn generate(&self, param: F::Param<'_>) -> Result<F::Id> {
        self.generate_in(Mode::Wait, param)
    }

    /// Fills a buffer with new IDs.
    ///
    /// # Errors
    /// Returns the same errors as [`Leased::generate`]. [`Error::written`] is the number of valid IDs at the front of the
    /// buffer.
    pub fn fill<'b>(&self, param: F::Param<'b>, ids: F::Batch<'b>) -> Result<()> {
        SlotSource::fill(self, Mode::Wait, param, ids)
    }

    /// Works like [`Leased::generate`], but never waits.
    ///
    /// # Errors
    /// Returns `lease_unavailable` immediately if there is no grant. All other errors are the same as for the generator.
    #[inline]
    pub fn try_generate(&self, param: F::Param<'_>) -> Result<F::Id> {
        self.generate_in(Mode::Try, param)
    }

    /// Writes as many new IDs to the front of a buffer as are available without waiting, and returns the number of IDs
    /// written.
    ///
    /// # Errors
    /// Returns the same errors as [`Leased::fill`], without waiting.
    pub fn try_fill<'b>(&self, param: F::Param<'b>, ids: F::Batch<'b>) -> Result<usize> {
        SlotSource::try_fill(self, param, ids)
    }

    /// Works like [`Leased::generate`], but awaits `sleep` instead of blocking the thread.
    ///
    /// # Errors
    /// Returns the same errors as [`Leased::generate`].
    pub async fn generate_async(
        &self,
        sleep: impl AsyncFn(Duration),
        param: F::Param<'_>,
    ) -> Result<F::Id> {
        self.generate_in_async(&sleep, param).await
    }

    /// Works like [`Leased::fill`], but awaits `sleep` instead of blocking the thread. `written` counts the valid IDs at
    /// the front of the buffer, so it remains correct if the future is dropped early.
    ///
    /// # Errors
    /// Returns the same errors as [`Leased::fill`].
    pub fn fill_async<'b>(
        &self,
        sleep: impl AsyncFn(Duration),
        param: F::Param<'b>,
        ids: F::Batch<'b>,
        written: &mut usize,
    ) -> impl Future<Output = Result<()>> {
        SlotSource::fill_async(self, sleep, Ok(param), ids, written)
    }

    /// Returns how long to wait after a grant's generator has rejected a reservation. `None` means that the call should try
    /// a newer generator immediately. Otherwise, the result is the number of nanoseconds to sleep before trying the newest
    /// generator again.
    #[cold]
    fn try_again<'s>(
        &'s self,
        tried: &GrantedGenerator<F, C>,
        call: &mut Call<'s>,
        rejected: Error,
    ) -> Result<Option<u64>> {
        if self.is_closed() {
            return Err(closed_error());
        }
        // After a restore, the lease's keeper begins a new grant in this process, so the call may still succeed.
        let is_restored = rejected.kind() == ErrorKind::Forked && tried.process == fork::process();
        if !is_restored && !may_succeed_with_another_grant(&rejected) {
            return Err(rejected);
        }
        // To the caller, an expired, future or sealed grant means the same thing: the generator currently has no lease. The
        // new error keeps the time to retry.
        let rejected = rejected.with_kind(ErrorKind::LeaseUnavailable);
        let newest = self.newest();
        if newest.number != tried.number {
            return Ok(None);
        }
        let engine = &newest.generator.engine;
        let (clock, waits) = (&engine.clock, call.waits_for_grant(engine.policy_in(call.mode)));
        let now = clock.unix_nanos()?;
        let until = rejected.retry_at().map_or(now, |ms| ms.saturating_mul(1_000_000));
        let pause = (waits.slept_nanos() / 8).max(POLL_NANOS).cast_signed();
        match waits.wait(clock, Cause::Grant, now, until.max(now.saturating_add(pause))) {
            Err(error) if error.kind() == rejected.kind() => Err(rejected),
            nanos => nanos.map(Some),
        }
    }
}

/// The shortest pause, in nanoseconds, before a waiting call checks again for a different or extended grant. Hundreds of
/// calls may wait at once, so the pause grows with the time that the call has already waited.
const POLL_NANOS: u64 = 1_000_000;

/// Rejects a generator without a timestamp, because no time span can limit it. Also rejects a generator that needs values
/// for each ID.
fn check_engine<F: Pack, C>(engine: &Engine<F, C>) -> Result<()> {
    engine.ticks()?;
    engine.family.check_complete()
}

/// Returns whether a call that failed with this error can succeed under another grant, or after this grant is extended.
fn may_succeed_with_another_grant(error: &Error) -> bool {
    use ErrorKind::{GeneratorClosed, LeaseExpired, LeaseNotStarted};
    matches!(error.kind(), LeaseNotStarted | LeaseExpired | GeneratorClosed)
}

#[cfg(feature = "internals")]
impl Error {
    /// Returns whether a generator's call that failed with this error can succeed under another grant, or after this grant
    /// is extended. On platforms where processes cannot be forked, this includes `forked`, because the lease's keeper
    /// begins a new grant after a restore.
    ///
    /// This method is not part of the public API. It exists for leases.
    #[doc(hidden)]
    pub fn may_succeed_with_another_grant(&self) -> bool {
        may_succeed_with_another_grant(self) || self.kind() == ErrorKind::Forked
    }
}

#[cold]
fn grant_mismatch_error(reason: &'static str) -> Error {
    Error::with_reason(ErrorKind::LeaseMismatch, reason)
}

#[cold]
fn outdated_grant_error() -> Error {
    grant_mismatch_error("expected the newest grant, found an older one")
}

/// Provides slots from the newest generator and, if its grant ends, from the next one. If a call is rejected because no
/// grant is active (before a grant begins, after it ends, or between two grants), it waits according to the generator's
/// policy.
#[allow(private_interfaces, reason = "as the trait's")]
impl<F: Pack, C: Clock> SlotSource for Leased<F, C> {
    type Family = F;

    fn family(&self) -> &F {
        &self.newest().generator.engine.family
    }

    #[inline(always)]
    #[allow(clippy::inline_always, reason = "as the generator's")]
    fn reserve(&self, want: u32, mode: Mode) -> Result<FamilyReservation<'_, F>> {
        let newest = self.newest();
        let engine = &newest.generator.engine;
        let observed = engine.observe()?;
        match engine.try_shortcut(observed, want) {
            Some(slots) => Ok((&engine.family, slots)),
            None => self.reserve_slowly(Some(newest.number), observed, want, mode),
        }
    }

    fn step<'s>(
        &'s self,
        call: &mut Call<'s>,
        mut observed: Option<Observation<F>>,
        want: u32,
    ) -> Result<Progress<FamilyReservation<'s, F>>> {
        loop {
            let newest = self.newest();
            // An observation is valid only for the generator that was observed.
            let is_same = call.start_attempt(newest.number);
            let observed = observed.take().filter(|_| is_same);
            match newest.generator.step(call, observed, want) {
                Err(rejected) => {
                    call.reset_waits();
                    if let Some(nanos) = self.try_again(newest, call, rejected)? {
                        return Ok(Progress::Sleep(nanos));
                    }
                }
                progress => return progress,
            }
        }
    }

    fn sleep(&self, nanos: u64) -> Result<()> {
        self.newest().generator.sleep(nanos)
    }
}

impl<F: Family, C: Clock> Engine<F, C> {
    /// Closes the generator, unless it is already closed or belongs to the parent process. Returns its highest tick and the
    /// time span of that tick.
    fn end(&self) -> Option<(u64, Range<i64>)> {
        self.family.check_process().ok()?;
        // An error here only means that the state machine was already closed.
        let _ = self.machine.close();
        self.highest_tick()
    }
}
