//! The generator: partitions, windows and the clock around the tick-tock machine.

#[cfg(feature = "std")]
use super::{Builder, identity::Draw};
use super::{
    Parts, SCALE, Snapshot, Sno, Stats,
    builder::Bounds,
    claims::{Claim, Claims},
    fill,
    identity::{Identity, Origin},
};
#[cfg(feature = "std")]
use crate::fork::partitions;
use crate::{
    Error, ErrorKind, Result,
    base32::Text,
    clock::{Clock, DefaultClock},
    fork,
    scheme::{NO_WAIT, Outcome, Pace, Window, drive, fill_runs},
    sequence::{
        Step,
        tick_tock::{Flip, Run, TickTock, Word},
    },
    sync::{AtomicU32, Ordering},
};

/// Slots, and the partition that they belong to.
pub(super) type Reserved = (u16, Run);

/// Makes sno IDs under one partition. Threads may share it.
///
/// ```
/// use polyflake::sno::Generator;
///
/// static IDS: Generator = Generator::new();
///
/// let (first, second) = (IDS.generate(1)?, IDS.generate(2)?);
/// assert_eq!((first.metabyte(), second.metabyte()), (1, 2));
/// # Ok::<(), polyflake::Error>(())
/// ```
///
/// Keep it in a `static`, or share it by reference. A `const` of this type is a new generator at each use, and each draws an
/// identity of its own.
///
/// It cannot be cloned, since two generators of one partition repeat each other's IDs:
///
/// ```compile_fail
/// let ids = polyflake::sno::Generator::new();
/// let twin = ids.clone();
/// ```
#[derive(Debug)]
pub struct Generator<C = DefaultClock> {
    pub(super) state: TickTock,
    pub(super) claims: Claims,
    pub(super) origin: Origin,
    pub(super) bounds: Bounds,
    pub(super) window: Window,
    pace: Pace,
    pub(super) clock: C,
    /// Counts the IDs of given times.
    at: AtomicU32,
}

#[cfg(feature = "std")]
impl Generator {
    /// A generator under a default partition, which it is leased at its first ID and for as long as it makes some: no two of a
    /// process and its forks have one for the same time. Idle, it may go on under another. Its sequences begin at a random one in 0..=32767.
    ///
    /// Two versions of this crate in one process lease each from a table of its own, so their default partitions may be the same: give
    /// partitions where a program links both.
    pub const fn new() -> Self {
        let origin = Origin::Drawn {
            draw: Draw::Leased(partitions::shared),
            own_min: false,
            window_of: None,
        };
        let pace = Pace::new(super::OnExhausted::Wait, SCALE.tick_nanos());
        Self::assemble(
            crate::clock::SystemClock,
            origin,
            ALL,
            TickTock::new(),
            Window::all(SCALE.last),
            pace,
        )
    }

    /// Options for a generator.
    pub const fn builder() -> Builder<crate::clock::SystemClock> {
        Builder::with_clock(crate::clock::SystemClock)
    }

    /// A generator that goes on where a closed one stopped. Restore each snapshot once.
    ///
    /// # Errors
    /// As [`Builder::restore`].
    pub fn restore(snapshot: Snapshot) -> Result<Self> {
        Self::builder().restore(snapshot)
    }

    /// A generator that goes on from a snapshot of the original, with the original's habits.
    ///
    /// # Errors
    /// As [`Builder::import_original`].
    pub fn import_original(snapshot: Snapshot) -> Result<Self> {
        Self::builder().import_original(snapshot)
    }
}

#[cfg(feature = "std")]
impl Default for Generator {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(feature = "std")]
const ALL: Bounds = Bounds { min: 0, max: u16::MAX };

/// One new ID from the process-wide generator, which has a default partition.
///
/// # Errors
/// As [`Generator::generate`].
#[cfg(feature = "std")]
#[inline]
pub fn generate(metabyte: u8) -> Result<Sno> {
    static PROCESS: Generator = Generator::new();
    PROCESS.generate(metabyte)
}

impl<C> Generator<C> {
    pub(super) const fn assemble(
        clock: C,
        origin: Origin,
        bounds: Bounds,
        state: TickTock,
        window: Window,
        pace: Pace,
    ) -> Self {
        let identity = match origin {
            Origin::Given { partition, epoch } => Identity { epoch, partition, min: bounds.min },
            Origin::Drawn { .. } => {
                Identity { epoch: Identity::NEVER, partition: 0, min: bounds.min }
            }
        };
        let claims = Claims::new(Claim::unending(identity, window.start()));
        Self { state, claims, origin, bounds, window, pace, clock, at: AtomicU32::new(0) }
    }
}

impl<C: Clock> Generator<C> {
    /// One new ID.
    ///
    /// # Errors
    /// `sequence_exhausted` or `clock_behind`, with when to retry, after a wait of at most `max_wait`; `lease_not_started`,
    /// `lease_expired` outside the window; `time_out_of_range` outside 2010..2079; `generator_closed`; `forked` in a child process
    /// if the partition was given; what the clock says. Nothing is changed by a refused call.
    #[inline]
    pub fn generate(&self, metabyte: u8) -> Result<Sno> {
        let (partition, run) = self.reserve(1)?;
        Ok(id(partition, run, 0, metabyte))
    }

    /// The text of one new ID, on the stack.
    ///
    /// # Errors
    /// As [`Generator::generate`].
    #[inline]
    pub fn generate_text(&self, metabyte: u8) -> Result<Text<{ Sno::TEXT_LEN }>> {
        Ok(self.generate(metabyte)?.text())
    }

    /// Fills a slice with new IDs, in the order of time.
    ///
    /// # Errors
    /// As [`Generator::generate`]; [`Error::written`] tells how many IDs at the front of the slice are there to use.
    pub fn fill(&self, metabyte: u8, ids: &mut [Sno]) -> Result<()> {
        self.fill_bytes(metabyte, fill::bytes_of(ids))
    }

    /// As [`Generator::fill`], into packed bytes, 10 an ID.
    ///
    /// # Errors
    /// As [`Generator::fill`], and `invalid_length` where the bytes are no whole number of IDs.
    pub fn fill_bytes(&self, metabyte: u8, bytes: &mut [u8]) -> Result<()> {
        whole_ids(bytes)?;
        fill_from(|want| self.reserve(want), metabyte, bytes)
    }

    /// An ID of a given time, in Unix milliseconds. It has a sequence of its own that rolls over silently, so
    /// uniqueness is not promised: for IDs of things that have their own time, few at once.
    /// The window does not matter to it.
    ///
    /// # Errors
    /// `time_out_of_range`; `generator_closed`; `forked`; `entropy_unavailable`.
    pub fn generate_at(&self, unix_ms: i64, metabyte: u8) -> Result<Sno> {
        let tick = SCALE.tick_of_ms(unix_ms)?;
        if self.state.state().closed {
            return Err(Error::new(ErrorKind::GeneratorClosed));
        }
        let Identity { partition, min, .. } = self.identity()?;
        let pool = u32::from(self.bounds.max - min) + 1;
        let count = self.at.fetch_add(1, Ordering::Relaxed) % pool;
        Ok(id(partition, Run { tick, tick_tock: false, first: min, len: pool }, count, metabyte))
    }

    /// The partition, once the generator has one: a default one is drawn at the first ID, and may be another after a fork, or when
    /// the generator was idle.
    pub fn partition(&self) -> Option<u16> {
        let identity = self.claims.current().identity();
        (identity.epoch != Identity::NEVER).then_some(identity.partition)
    }

    /// The window, in Unix milliseconds: half-open.
    pub fn window(&self) -> (i64, i64) {
        let ticks = self.window.ticks();
        (SCALE.ms_of(ticks.start), SCALE.ms_of(ticks.end))
    }

    /// Moves the end of the window later, to `end_ms` in Unix milliseconds; an earlier or equal end changes nothing, nor
    /// does any where no window was given, since that is all of the format's time already.
    ///
    /// # Errors
    /// `out_of_range` for an end before the window's start; `time_out_of_range` past the format's time.
    pub fn extend_window(&self, end_ms: i64) -> Result<()> {
        let start_ms = SCALE.ms_of(self.window.ticks().start);
        let end = SCALE.ticks_within(start_ms, end_ms)?.end;
        self.window.extend(end);
        let claim = self.claims.current();
        // An undrawn one holds nothing yet.
        if claim.identity().epoch != Identity::NEVER {
            claim.extend(end);
        }
        Ok(())
    }

    /// Ends the generator, also for calls in flight on other threads, and gives the snapshot to restore from, once. A default partition
    /// then belongs to the snapshot: no generator of this process and its forks is leased it again.
    ///
    /// # Errors
    /// `generator_closed` if it was; `forked`, since the parent's generator goes on; where a default partition must first be
    /// drawn, that error.
    pub fn close(&self) -> Result<Snapshot> {
        let Identity { partition, min, .. } = self.keep_partition()?;
        let state = self.state.close()?;
        Ok(Snapshot::of(partition, Bounds { min, ..self.bounds }, state))
    }

    /// Figures of now. Nothing can be restored from them.
    ///
    /// # Errors
    /// What the clock says, and `time_out_of_range`.
    pub fn stats(&self) -> Result<Stats> {
        let state = self.state.state();
        let now = SCALE.tick_of_nanos(self.clock.unix_nanos()?)?;
        let min = self.claims.current().identity().min;
        Ok(Stats::of(self.partition(), Bounds { min, ..self.bounds }, state, now))
    }

    /// The tick that the clock shows, if the generator is open: what a handle asks for every ID.
    #[inline]
    pub(super) fn look(&self) -> Result<u64> {
        let tick = SCALE.tick_of_nanos(self.clock.unix_nanos()?)?;
        if self.state.is_closed() {
            return Err(Error::new(ErrorKind::GeneratorClosed));
        }
        Ok(tick)
    }

    /// Slots for up to `want` IDs, and the partition that they belong to.
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
            |seen, now, was_behind| self.attempt(seen, now, was_behind, want),
        )
    }

    /// Slots in the tick that was observed, if the clock is still in it and nothing else speaks against it.
    #[inline]
    fn shortcut(&self, seen: Word, now: i64, want: u32) -> Option<Reserved> {
        let claim = self.claims.current();
        let Identity { epoch, partition, min } = claim.identity();
        let tick = seen.tick();
        if !SCALE.is_within(tick, now) || !claim.holds(tick) {
            return None;
        }
        let run = self.state.step_within(seen, want, Bounds { min, ..self.bounds })?;
        // Asked last, so that a fork up to the step is seen: what a child took is lost.
        (epoch == fork::epoch()).then_some((partition, run))
    }

    fn attempt(
        &self,
        seen: Word,
        now: i64,
        was_behind: bool,
        want: u32,
    ) -> Result<Outcome<Reserved>> {
        self.check_process()?;
        let tick = SCALE.tick_of_nanos(now)?;
        self.window.check(tick, |tick| SCALE.ms_of(tick))?;
        let Identity { epoch, partition, min } = self.claim_of(tick)?.identity();
        let flip = if was_behind { Flip::Refused } else { Flip::Allowed };
        Ok(match self.state.step(seen, tick, want, Bounds { min, ..self.bounds }, flip) {
            Step::Taken(run) if epoch == fork::epoch() => Outcome::Taken((partition, run)),
            // Forked since the identity was read: this process is another.
            Step::Taken(_) | Step::Raced => Outcome::Raced,
            Step::Full => Outcome::Wait(SCALE.nanos_of(tick + 1), ErrorKind::SequenceExhausted),
            Step::Behind(wall) => Outcome::Wait(SCALE.nanos_of(wall), ErrorKind::ClockBehind),
            Step::Closed => return Err(Error::new(ErrorKind::GeneratorClosed)),
        })
    }

    /// The source of time that it was built with.
    pub const fn clock(&self) -> &C {
        &self.clock
    }
}

/// How many IDs packed bytes hold: a whole number.
pub(super) fn whole_ids(bytes: &[u8]) -> Result<usize> {
    if !bytes.len().is_multiple_of(Sno::LEN) {
        return Err(Error::not_a_multiple(bytes.len(), Sno::LEN));
    }
    Ok(bytes.len() / Sno::LEN)
}

/// Fills packed bytes, a whole number of IDs, from runs that are reserved one after the other.
pub(super) fn fill_from(
    reserve: impl Fn(u32) -> Result<Reserved>,
    metabyte: u8,
    bytes: &mut [u8],
) -> Result<()> {
    fill_runs(bytes.len() / Sno::LEN, reserve, |from, (partition, run)| {
        let slots = &mut bytes[from * Sno::LEN..][..run.len as usize * Sno::LEN];
        fill::write_run(slots, id(partition, run, 0, metabyte));
        run.len as usize
    })
}

/// The `k`-th ID of a run.
#[inline]
#[allow(
    clippy::cast_possible_truncation,
    reason = "k < run.len, and the run ends at a 16-bit bound"
)]
pub(super) fn id(partition: u16, run: Run, k: u32, metabyte: u8) -> Sno {
    let sequence = run.first + k as u16;
    Sno::pack(Parts { tick: run.tick, tick_tock: run.tick_tock, metabyte, partition, sequence })
}
