//! Generators under a lease, one for each grant: the newest makes the IDs, and moving on swaps a pointer.
//!
//! A thread that found a generator may use it for its current step: the generator's window holds only its own grant, and it
//! refuses once it is sealed. So a call looks for the newest generator once, and again only if that one refused.
#![allow(unsafe_code, reason = "generators are read without a lock and freed with what moves")]

use alloc::boxed::Box;
use core::{marker::PhantomData, ops::Range, ptr, time::Duration};

use super::{Engine, Family, Mode, Pack, Source, engine::Sight, fill::Taken, wait::Call};
use crate::{
    Error, ErrorKind, Result, UnixTime,
    clock::Clock,
    sync::{AtomicPtr, Ordering},
};

/// The types of a generator's calls.
pub trait Calls {
    /// An ID.
    type Id;
    /// The part of an ID that the caller chooses: a metabyte, a shard key, nothing.
    type Given<'g>: Copy;
    /// A buffer for many IDs.
    type Batch<'b>;
}

/// A generator that makes IDs under a grant.
pub(crate) trait Grantee: Calls + Sized {
    type Family: for<'a> Pack<Id = Self::Id, Given<'a> = Self::Given<'a>, Batch<'a> = Self::Batch<'a>>;
    type Clock: Clock;

    fn engine(&self) -> &Engine<Self::Family, Self::Clock>;

    /// Returns whether both may make the same IDs in a tick.
    fn may_repeat(&self, other: &Self) -> bool;
}

/// Makes IDs under one grant after the other: with partitions, nodes, machines or constants. Threads may share it.
///
/// Generators of earlier grants are sealed, and a grant that comes back gets a new generator, so no two windows are joined. It
/// leaves no snapshot: the time after its end belongs to the next holder.
///
/// Not part of the public API: for leases, which give its calls their names.
#[derive(Debug)]
pub struct Leased<G> {
    pub(crate) moving: Moving<G>,
}

#[allow(private_bounds, reason = "the generators of this crate's families are all that move")]
impl<G: Grantee> Leased<G> {
    /// A generator under its first grant, which has the number 0. Its window is the grant.
    ///
    /// # Errors
    /// `unknown_field` for a generator of a layout without a timestamp; `missing_field` if a bindable is not fixed.
    pub fn new(first: G) -> Result<Self> {
        Moving::new(first).map(|moving| Self { moving })
    }

    /// Goes on under another grant, and returns its number, one more than the last. It seals the current generator and gives
    /// `build` the span of the highest tick that this generator may have used, in Unix milliseconds. `build` makes a generator
    /// whose window begins no earlier. Calls meanwhile wait as between two grants.
    ///
    /// In a child process the parent's generator is left alone, and `build` gets no tick.
    ///
    /// # Errors
    /// Any error of `build`; `lease_mismatch` for a window that begins earlier, or if another thread moved meanwhile.
    pub fn move_to(&self, build: impl FnOnce(Option<Range<i64>>) -> Result<G>) -> Result<u32> {
        self.moving.move_to(build)
    }

    /// Moves the end of a grant later; an earlier or equal end changes nothing.
    ///
    /// # Errors
    /// `lease_mismatch` for a grant that is not the newest; `out_of_range`, `time_out_of_range` as for windows.
    pub fn extend(&self, number: u32, end: impl Into<UnixTime>) -> Result<()> {
        let engine = self.moving.of(number)?;
        engine.family.ticks().map_or(Ok(()), |ticks| engine.extend_window(ticks, end.into()))
    }

    /// Ends a grant for good, also for calls in flight, and returns the span of the highest tick that it may have used, in Unix
    /// milliseconds; none if it used no tick. Later calls wait as between two grants.
    ///
    /// # Errors
    /// `lease_mismatch` for a grant that is not the newest; `generator_closed` if it was sealed before; `forked` in a child
    /// process.
    pub fn seal(&self, number: u32) -> Result<Option<Range<i64>>> {
        self.moving.of(number)?.seal()
    }

    /// The newest grant's number, and its span in Unix milliseconds.
    pub fn grant(&self) -> (u32, Range<i64>) {
        let Granted { generator, number, .. } = self.moving.newest();
        let engine = generator.engine();
        let (start, end) = engine.family.ticks().map_or((0, 0), |ticks| engine.window_ms(ticks));
        (*number, start..end)
    }

    /// One new ID.
    ///
    /// # Errors
    /// `lease_unavailable` after a wait of at most `max_wait` if there is no grant for now, with the time to retry if one begins
    /// later; all else as the generator's own call.
    #[inline]
    pub fn generate(&self, given: G::Given<'_>) -> Result<G::Id> {
        self.moving.one(Mode::Wait, given)
    }

    /// Fills a buffer with new IDs.
    ///
    /// # Errors
    /// As [`Leased::generate`], with [`Error::written`].
    pub fn fill<'b>(&self, given: G::Given<'b>, ids: G::Batch<'b>) -> Result<()> {
        self.moving.fill(Mode::Wait, given, ids)
    }

    /// As [`Leased::generate`], without a wait.
    ///
    /// # Errors
    /// `lease_unavailable` at once; all else as the generator's own call.
    #[inline]
    pub fn try_generate(&self, given: G::Given<'_>) -> Result<G::Id> {
        self.moving.one(Mode::Try, given)
    }

    /// Fills the front of a buffer with the IDs that there are now, and returns their number.
    ///
    /// # Errors
    /// As [`Leased::fill`], without a wait.
    pub fn try_fill<'b>(&self, given: G::Given<'b>, ids: G::Batch<'b>) -> Result<usize> {
        self.moving.try_fill(given, ids)
    }

    /// As [`Leased::generate`], but it waits in `sleep`.
    ///
    /// # Errors
    /// As [`Leased::generate`].
    pub async fn generate_async(
        &self,
        sleep: impl AsyncFn(Duration),
        given: G::Given<'_>,
    ) -> Result<G::Id> {
        self.moving.one_async(&sleep, given).await
    }

    /// As [`Leased::fill`], but it waits in `sleep`. `written` counts the IDs at the front, also of a call that is dropped.
    ///
    /// # Errors
    /// As [`Leased::fill`].
    pub fn fill_async<'b>(
        &self,
        sleep: impl AsyncFn(Duration),
        given: G::Given<'b>,
        ids: G::Batch<'b>,
        written: &mut usize,
    ) -> impl Future<Output = Result<()>> {
        self.moving.fill_async(sleep, Ok(given), ids, written)
    }
}

/// The newest generator, and all before it.
#[derive(Debug)]
pub(crate) struct Moving<G> {
    /// Never null.
    newest: AtomicPtr<Granted<G>>,
    generators: PhantomData<Granted<G>>,
}

/// A generator, and the older one that it replaced. It is freed with [`Moving`], since calls may be in it until then.
#[derive(Debug)]
struct Granted<G> {
    generator: G,
    /// Number of generators before it.
    number: u32,
    older: *mut Granted<G>,
}

impl<G: Grantee> Granted<G> {
    /// Returns whether a generator whose window begins at `start` may repeat an ID of this generator or an older one: one of the
    /// same numbers that used that tick.
    fn is_repeated_by(&self, next: &G, start: u64) -> bool {
        let mut granted = Some(self);
        while let Some(Self { generator, older, .. }) = granted {
            let used = generator.engine().highest().is_some_and(|(tick, _)| start <= tick);
            if used && generator.may_repeat(next) {
                return true;
            }
            // SAFETY: null, or a box that `new` or `put` leaked and only `Moving`'s `drop` frees.
            granted = unsafe { older.as_ref() };
        }
        false
    }
}

/// The engine of a generator.
type EngineOf<G> = Engine<<G as Grantee>::Family, <G as Grantee>::Clock>;

// SAFETY: with those before it, it is a list of generators, which `Moving` owns as a vector would.
unsafe impl<G: Send> Send for Granted<G> {}
// SAFETY: any thread may put a generator there, and all threads share the generators that are there.
unsafe impl<G: Send + Sync> Sync for Granted<G> {}

impl<G> Moving<G> {
    /// The generator that counts.
    #[inline]
    fn newest(&self) -> &Granted<G> {
        // SAFETY: the pointer is a box that `new` or `put` leaked and only `drop` frees.
        unsafe { &*self.newest.load(Ordering::Acquire) }
    }

    /// Replaces the generator `found` by another, and returns its number; none if another thread was faster.
    fn put(&self, found: &Granted<G>, generator: G) -> Option<u32> {
        let (older, number) = (ptr::from_ref(found).cast_mut(), found.number + 1);
        let added = Box::into_raw(Box::new(Granted { generator, number, older }));
        let put = self.newest.compare_exchange(older, added, Ordering::AcqRel, Ordering::Acquire);
        if put.is_err() {
            // SAFETY: `added` was just leaked, and no other thread has seen it.
            drop(unsafe { Box::from_raw(added) });
        }
        put.is_ok().then_some(number)
    }
}

impl<G> Drop for Moving<G> {
    fn drop(&mut self) {
        let mut newest = self.newest.load(Ordering::Acquire);
        while !newest.is_null() {
            // SAFETY: `new` or `put` leaked each of them once, and nothing can read them any more.
            newest = unsafe { Box::from_raw(newest) }.older;
        }
    }
}

impl<G: Grantee> Moving<G> {
    /// Begins with a generator under the first grant.
    ///
    /// # Errors
    /// As [`Leased::new`].
    fn new(first: G) -> Result<Self> {
        check(&first)?;
        let first = Granted { generator: first, number: 0, older: ptr::null_mut() };
        let newest = AtomicPtr::new(ptr::null_mut());
        newest.store(Box::into_raw(Box::new(first)), Ordering::Release);
        Ok(Self { newest, generators: PhantomData })
    }

    /// The engine of the grant with this number, if it is the newest grant.
    ///
    /// # Errors
    /// `lease_mismatch`.
    fn of(&self, number: u32) -> Result<&EngineOf<G>> {
        let newest = self.newest();
        if newest.number == number { Ok(newest.generator.engine()) } else { Err(mismatch()) }
    }

    /// Seals the newest generator, replaces it by the generator that `build` makes, and returns the new grant's number. `build`
    /// gets the span of the highest tick that the sealed generator may have used.
    ///
    /// # Errors
    /// Any error of `build`; `lease_mismatch` for a generator whose window begins before that tick, or at a tick that a generator
    /// of the same numbers used, or if another thread moved meanwhile. After an error the newest generator may be sealed until the next move.
    fn move_to(&self, build: impl FnOnce(Option<Range<i64>>) -> Result<G>) -> Result<u32> {
        let found = self.newest();
        let last = found.generator.engine().end();
        let generator = build(last.as_ref().map(|(_, span)| span.clone()))?;
        check(&generator)?;
        let start = generator.engine().window().start();
        if last.is_some_and(|(tick, _)| start < tick) || found.is_repeated_by(&generator, start) {
            return Err(mismatch());
        }
        self.put(found, generator).ok_or_else(mismatch)
    }

    /// The next action of a call that a generator refused: it tries the newest generator, at once if that is another one, or after a
    /// sleep of the returned nanoseconds.
    #[cold]
    fn try_again<'s>(
        &'s self,
        tried: &mut &'s Granted<G>,
        call: &mut Call<'s>,
        refused: Error,
    ) -> Result<Option<u64>> {
        if !is_of_a_grant(&refused) {
            return Err(refused);
        }
        let refused = refused.with_kind(ErrorKind::LeaseUnavailable);
        let newest = self.newest();
        if !ptr::eq(newest, *tried) {
            *tried = newest;
            return Ok(None);
        }
        let clock = newest.generator.engine().clock();
        let now = clock.unix_nanos()?;
        let until = refused.retry_at().map_or(now, |ms| ms.saturating_mul(1_000_000));
        let pause = (call.slept() / 8).max(LOOK_AGAIN).cast_signed();
        match call.wait(clock, refused.kind(), now, until.max(now.saturating_add(pause))) {
            Err(error) if error.kind() == refused.kind() => Err(refused),
            nanos => nanos.map(Some),
        }
    }

    /// Takes slots for a call that got none at its first look, which was at `sight`.
    #[cold]
    #[inline(never)]
    fn take_slowly<'s>(
        &'s self,
        mut tried: &'s Granted<G>,
        sight: Sight<G::Family>,
        want: u32,
        mode: Mode,
    ) -> Result<Taken<'s, G::Family>> {
        let first = tried.generator.engine();
        let mut taken = first.reserve_from(sight, want, mode).map(|slots| (&first.family, slots));
        let mut call = Call::new(first.policy_in(mode));
        while let Err(refused) = taken {
            if let Some(nanos) = self.try_again(&mut tried, &mut call, refused)? {
                tried.generator.engine().clock().sleep(nanos)?;
                tried = self.newest();
            }
            taken = tried.generator.engine().take(want, mode);
        }
        taken
    }
}

/// Shortest pause before a call looks again for another or a longer grant, in nanoseconds. Hundreds of calls may wait, so it grows with
/// the time that a call has waited.
const LOOK_AGAIN: u64 = 1_000_000;

/// Refuses a generator without a timestamp, which no span of time can bound, and one that needs values for each ID.
fn check<G: Grantee>(generator: &G) -> Result<()> {
    let family = &generator.engine().family;
    match family.ticks() {
        Some(_) => family.check_complete(),
        None => Err(Error::field_error(ErrorKind::UnknownField, "timestamp")),
    }
}

/// Returns whether the next grant, or an extension, will allow the refused call.
fn is_of_a_grant(error: &Error) -> bool {
    use ErrorKind::{GeneratorClosed, LeaseExpired, LeaseNotStarted};
    matches!(error.kind(), LeaseNotStarted | LeaseExpired | GeneratorClosed)
}

#[cold]
fn mismatch() -> Error {
    Error::new(ErrorKind::LeaseMismatch)
}

/// Slots of the newest generator, or of the next. A call that is refused between two grants, before a grant begins or after it
/// ended, waits by the generator's policy.
impl<G: Grantee> Source for Moving<G> {
    type Family = G::Family;

    fn family(&self) -> &G::Family {
        &self.newest().generator.engine().family
    }

    #[inline(always)]
    #[allow(clippy::inline_always, reason = "as Engine::reserve")]
    fn take(&self, want: u32, mode: Mode) -> Result<Taken<'_, G::Family>> {
        let newest = self.newest();
        newest.generator.engine().take_or(want, |sight| self.take_slowly(newest, sight, want, mode))
    }

    async fn take_async(
        &self,
        want: u32,
        sleep: &impl AsyncFn(Duration),
    ) -> Result<Taken<'_, G::Family>> {
        let mut tried = self.newest();
        let mut call = Call::new(tried.generator.engine().policy_in(Mode::Wait));
        loop {
            let refused = match tried.generator.engine().take_async(want, sleep).await {
                Err(error) => error,
                taken => return taken,
            };
            if let Some(nanos) = self.try_again(&mut tried, &mut call, refused)? {
                sleep(Duration::from_nanos(nanos)).await;
                tried = self.newest();
            }
        }
    }
}

impl<F: Family, C: Clock> Engine<F, C> {
    /// Ends the generator, unless it has ended or belongs to the parent process, and returns its highest tick and the tick's span.
    fn end(&self) -> Option<(u64, Range<i64>)> {
        self.family.check_process().ok()?;
        // It may have been closed before.
        let _ = self.close();
        self.highest()
    }
}
