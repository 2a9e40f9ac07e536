//! The generator: a layout, a window and the clock around a per-tick machine.

use alloc::vec::Vec;

#[cfg(feature = "std")]
use super::Builder;
use super::{Snapshot, Stats, ticks::Ticks};
use crate::{
    Error, ErrorKind, Result,
    clock::{Clock, DefaultClock},
    layout::{Draft, Id, Layout, Slot, Values},
    scheme::{NO_WAIT, Outcome, Owner, Pace, Window, drive, fill_runs},
    sequence::{
        Step,
        per_tick::{PerTick, Run},
    },
};

/// Makes IDs of a custom layout. Threads may share it.
///
/// No other generator may have the same layout and bindables, since both would repeat each other's IDs; that is why it cannot
/// be cloned:
///
/// ```compile_fail
/// use polyflake::layout::{Generator, preset};
///
/// let ids = Generator::builder(preset("instagram", [])?).bind("shard", 7).build()?;
/// let twin = ids.clone();
/// # Ok::<(), polyflake::Error>(())
/// ```
///
/// It never goes back in time: after one wild reading it refuses with `clock_behind` until time comes there, at worst in 2262, where
/// readings end. In a window such a reading is refused instead, and changes nothing.
///
/// Bindables are fixed when it is built, or given for each ID; the sequence is one for all of them:
///
/// ```
/// use polyflake::layout::{Generator, preset};
///
/// let ids = Generator::builder(preset("instagram", [])?).build()?;
/// let id = ids.generate_with(ids.values().bind("shard", 7)?)?;
/// assert_eq!(ids.layout().parse(&id)?.bindable("shard")?, 7.into());
/// # Ok::<(), polyflake::Error>(())
/// ```
#[derive(Debug)]
pub struct Generator<C = DefaultClock> {
    pub(super) state: PerTick,
    pub(super) layout: Layout,
    /// An ID with the constants and the fixed bindables in it.
    pub(super) base: Draft,
    /// The bindables that are not fixed.
    pub(super) missing: Vec<Slot>,
    /// None where the sequence is alone: the clock is not read then.
    pub(super) ticks: Option<Ticks>,
    pub(super) window: Window,
    pub(super) pace: Pace,
    pub(super) clock: C,
    pub(super) owner: Owner,
}

/// Room for many IDs: of an integer layout, or bytes packed one after the other.
#[derive(Debug)]
#[non_exhaustive]
pub enum Batch<'b> {
    /// IDs of an integer layout.
    Integers(&'b mut [i64]),
    /// IDs of a layout of byte IDs: a whole number of them.
    Bytes(&'b mut [u8]),
}

impl Batch<'_> {
    /// How many IDs there is room for, each of the size of `one`.
    pub(super) fn count(&self, one: &Draft) -> usize {
        match (self, one) {
            (Self::Bytes(bytes), Draft::Bytes(one)) => bytes.len() / one.len(),
            (Self::Integers(ids), _) => ids.len(),
            (Self::Bytes(bytes), _) => bytes.len(),
        }
    }
}

impl<'b> From<&'b mut [i64]> for Batch<'b> {
    fn from(ids: &'b mut [i64]) -> Self {
        Self::Integers(ids)
    }
}

impl<'b> From<&'b mut [u8]> for Batch<'b> {
    fn from(ids: &'b mut [u8]) -> Self {
        Self::Bytes(ids)
    }
}

#[cfg(feature = "std")]
impl Generator {
    /// Options for a generator over a layout.
    pub fn builder(layout: Layout) -> Builder<crate::clock::SystemClock> {
        Builder::with_clock(layout, crate::clock::SystemClock)
    }
}

impl<C> Generator<C> {
    /// The layout of its IDs.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Room for the bindables of an ID, with the fixed ones in it.
    pub fn values(&self) -> Values<'_> {
        Values::resume(&self.layout, &self.base, &self.missing)
    }

    /// The window, in Unix milliseconds: half-open; none in a layout without a timestamp.
    pub fn window(&self) -> Option<(i64, i64)> {
        let (ticks, span) = (self.ticks?, self.window.ticks());
        Some((ticks.ms_of(span.start), ticks.ms_of(span.end)))
    }

    /// Moves the end of the window later, to `end_ms` in Unix milliseconds; an earlier or equal end changes nothing, nor
    /// does any where no window was given, since that is all of the format's time already.
    ///
    /// # Errors
    /// `out_of_range` for an end before the window's start; `time_out_of_range` past the layout's time; `unknown_field` in a
    /// layout without a timestamp.
    pub fn extend_window(&self, end_ms: i64) -> Result<()> {
        self.layout.timestamp()?;
        if let Some(ticks) = self.ticks {
            self.window.extend(ticks.end(self.window.ticks().start, end_ms)?);
        }
        Ok(())
    }

    /// Ends the generator, also for calls in flight on other threads, and gives the snapshot to restore from, once.
    ///
    /// # Errors
    /// `generator_closed` if it was; `forked` in a child process, since the parent's generator goes on.
    pub fn close(&self) -> Result<Snapshot> {
        self.owner.check()?;
        let state = self.state.close()?;
        Ok(Snapshot { tick: state.tick, next_sequence: state.next })
    }

    /// Figures of now.
    pub fn stats(&self) -> Stats {
        let state = self.state.state();
        let first = self.layout.slots().map_or(0, |(first, _)| first.into());
        let is_used = state.tick > 0 || state.next > first;
        let ticks = self.ticks.filter(|_| is_used);
        Stats {
            last_ms: ticks.map(|ticks| ticks.ms_of(state.tick)),
            len: state.next - first,
            closed: state.closed,
        }
    }
}

impl<C: Clock> Generator<C> {
    /// One new ID, where all bindables are fixed.
    ///
    /// # Errors
    /// `missing_field` for a bindable that is not fixed; `clock_behind` at once where the clock is behind the last tick;
    /// `sequence_exhausted` after a wait of at most `max_wait`, both with when to retry; `lease_not_started`, `lease_expired` outside the
    /// window; `time_out_of_range` outside the layout's time; `generator_closed`; `forked` in a child process; what the clock
    /// says. Nothing is changed by a refused call.
    #[inline]
    pub fn generate(&self) -> Result<Id> {
        self.make(self.complete()?)
    }

    /// One new ID with these bindables; a time and a sequence that are set do not matter.
    ///
    /// # Errors
    /// As [`Generator::generate`], and first as [`Values::pack`] for the bindables and constants; `invalid_layout` for values of
    /// another layout.
    #[inline]
    pub fn generate_with(&self, values: &Values<'_>) -> Result<Id> {
        self.make(self.base_of(values)?)
    }

    /// Fills a slice with new IDs, where all bindables are fixed: `&mut [i64]` in an integer layout, or packed bytes.
    ///
    /// # Errors
    /// As [`Generator::generate`]; [`Error::written`] tells how many IDs at the front of the slice are there to use.
    /// `invalid_type` for a slice of the other kind; `invalid_length` for bytes that are no whole number of IDs.
    pub fn fill<'b>(&self, ids: impl Into<Batch<'b>>) -> Result<()> {
        let base = self.complete()?;
        fill_from(&|want| Ok((self, base, self.reserve(want)?)), base, ids.into())
    }

    /// Fills a slice with new IDs with these bindables.
    ///
    /// # Errors
    /// As [`Generator::fill`] and [`Generator::generate_with`].
    pub fn fill_with<'b>(&self, values: &Values<'_>, ids: impl Into<Batch<'b>>) -> Result<()> {
        let base = self.base_of(values)?;
        fill_from(&|want| Ok((self, base, self.reserve(want)?)), base, ids.into())
    }

    /// An ID without time and sequence, where no bindable is missing.
    #[inline]
    pub(super) fn complete(&self) -> Result<&Draft> {
        match self.missing.first() {
            None => Ok(&self.base),
            Some(slot) => {
                let name = self.layout.name(*slot);
                Err(Error::field_error(ErrorKind::MissingField, alloc::string::String::from(name)))
            }
        }
    }

    /// An ID without time and sequence, of these values.
    #[inline]
    pub(super) fn base_of<'v>(&self, values: &'v Values<'_>) -> Result<&'v Draft> {
        let is_ours = core::ptr::eq(values.layout(), &raw const self.layout);
        if !is_ours && *values.layout() != self.layout {
            return Err(Error::because(
                ErrorKind::InvalidLayout,
                "expected values of the generator's layout, found those of another",
            ));
        }
        values.check_all_but_cell()?;
        Ok(values.draft())
    }

    #[inline]
    fn make(&self, base: &Draft) -> Result<Id> {
        let run = self.reserve(1)?;
        Ok(self.id_at(base, run.tick, run.first))
    }

    /// The ID of a slot.
    #[inline]
    pub(super) fn id_at(&self, base: &Draft, tick: u64, slot: u64) -> Id {
        let mut draft = base.clone();
        self.layout.put_cell(&mut draft, tick, slot);
        draft.into_id()
    }

    /// The source of time that it was built with.
    pub const fn clock(&self) -> &C {
        &self.clock
    }

    /// The tick that the clock shows, if the generator is open: what a handle asks for every ID.
    #[inline]
    pub(super) fn look(&self) -> Result<u64> {
        let tick = self
            .ticks
            .as_ref()
            .map_or(Ok(0), |ticks| ticks.of_reading(self.clock.unix_nanos()?))?;
        if self.state.is_closed() {
            return Err(Error::new(ErrorKind::GeneratorClosed));
        }
        Ok(tick)
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
        let Some(ticks) = &self.ticks else { return self.reserve_alone(want) };
        drive(
            &self.clock,
            pace,
            || self.state.observe(),
            |seen, now| self.shortcut(ticks, seen, now, want),
            |seen, now, _| self.attempt(ticks, seen, now, want),
        )
    }

    /// Slots in the tick that was observed, if the clock is still in it and nothing else speaks against it.
    #[inline]
    fn shortcut(&self, ticks: &Ticks, seen: u128, now: i64, want: u32) -> Option<Run> {
        let tick = self.state.tick(seen);
        if !ticks.is_within(tick, now) || !self.window.holds(tick) {
            return None;
        }
        let run = self.state.step_within(seen, want)?;
        // Asked last, so that a fork up to the step is seen.
        self.owner.is_here().then_some(run)
    }

    fn attempt(&self, ticks: &Ticks, seen: u128, now: i64, want: u32) -> Result<Outcome<Run>> {
        self.owner.check()?;
        let tick = ticks.of_reading(now)?;
        self.window.check(tick, |tick| ticks.ms_of(tick))?;
        Ok(match self.state.step(seen, tick, want) {
            Step::Taken(run) if self.owner.is_here() => Outcome::Taken(run),
            Step::Taken(_) | Step::Raced => Outcome::Raced,
            Step::Full => Outcome::Wait(ticks.nanos_of(tick + 1), ErrorKind::SequenceExhausted),
            Step::Behind(last) => return Err(ticks.behind(last)),
            Step::Closed => return Err(Error::new(ErrorKind::GeneratorClosed)),
        })
    }

    /// Slots of a sequence without a timestamp: all of them are of one tick, which never ends.
    fn reserve_alone(&self, want: u32) -> Result<Run> {
        loop {
            self.owner.check()?;
            match self.state.step(self.state.observe(), 0, want) {
                Step::Taken(run) if self.owner.is_here() => return Ok(run),
                Step::Taken(_) | Step::Raced => {}
                Step::Full | Step::Behind(_) => {
                    return Err(Error::new(ErrorKind::SequenceExhausted));
                }
                Step::Closed => return Err(Error::new(ErrorKind::GeneratorClosed)),
            }
        }
    }
}

/// A run of slots: its generator, and what all of its IDs have.
type Based<'g, C> = (&'g Generator<C>, &'g Draft, Run);

/// Reserves a run. Called once for each, so that a copy of what fills would gain nothing.
type Reserve<'r, 'g, C> = &'r dyn Fn(u32) -> Result<Based<'g, C>>;

/// Fills a slice, of IDs as `kind` is one, from runs that are reserved one after the other.
pub(super) fn fill_from<'g, C: Clock + 'g>(
    reserve: Reserve<'_, 'g, C>,
    kind: &Draft,
    ids: Batch<'_>,
) -> Result<()> {
    match (kind, ids) {
        (Draft::Word(_), Batch::Integers(ids)) => fill_each(reserve, ids.len(), |draft, place| {
            if let Draft::Word(word) = draft {
                ids[place] = word.cast_signed();
            }
        }),
        (Draft::Bytes(one), Batch::Bytes(bytes)) => {
            let (length, found) = (one.len(), bytes.len());
            if !found.is_multiple_of(length) {
                return Err(Error::not_a_multiple(found, length));
            }
            fill_each(reserve, found / length, |draft, place| {
                if let Draft::Bytes(one) = draft {
                    bytes[place * length..][..length].copy_from_slice(one);
                }
            })
        }
        (Draft::Word(_), _) => Err(Error::invalid_type("a slice of integers", "bytes")),
        (Draft::Bytes(_), _) => Err(Error::invalid_type("bytes", "a slice of integers")),
    }
}

/// Fills places one by one.
fn fill_each<'g, C: Clock + 'g>(
    reserve: Reserve<'_, 'g, C>,
    count: usize,
    mut write: impl FnMut(&Draft, usize),
) -> Result<()> {
    fill_runs(count, reserve, |from, (Generator { layout, .. }, base, run)| {
        let mut draft = base.clone();
        layout.put_cell(&mut draft, run.tick, run.first);
        for k in 0..run.len {
            layout.put_slot(&mut draft, run.first + u64::from(k));
            write(&draft, from + k as usize);
        }
        run.len as usize
    })
}
