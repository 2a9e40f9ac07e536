//! Options for a generator.

use alloc::{string::String, vec::Vec};
use core::ops::RangeInclusive;

use crate::{
    Error, ErrorKind, Result,
    clock::Clock,
    format::Ticks,
    generator::{self, Engine, Options, ProcessGuard, Window},
    layout::{
        Generator, Layout, Slot, Snapshot, Timeline, Value,
        ids::{family::Template, numbers::Numbers},
        shape::fit::invalid,
    },
    sequence::per_tick::{Behind, PerTick, Slots},
};

/// Options for a [`Generator`].
///
/// ```
/// use polyflake::layout::{Generator, preset};
///
/// let ids = Generator::builder(preset("sonyflake", [])?).bind("machine", 7).build()?;
/// let id = ids.generate()?;
/// assert_eq!(ids.layout().parse(&id)?.bindable("machine")?, 7.into());
/// # Ok::<(), polyflake::Error>(())
/// ```
pub type Builder<C> = generator::Builder<Settings, C>;

/// The options of this family.
#[derive(Debug)]
#[allow(unnameable_types, reason = "a builder has them")]
pub struct Settings {
    layout: Layout,
    fixed: Vec<(String, Value<'static>)>,
    range: Option<(String, RangeInclusive<u64>)>,
    sequence_only: bool,
}

impl generator::Windowed for Settings {}

impl<C: Clock> Builder<C> {
    /// Options for a generator with your own clock.
    ///
    /// ```
    /// use polyflake::{
    ///     clock::ManualClock,
    ///     layout::{Builder, preset},
    /// };
    ///
    /// let clock = ManualClock::at_unix_ms(1_767_225_600_000);
    /// let ids = Builder::with_clock(preset("sonyflake", [])?, &clock).bind("machine", 7).build()?;
    /// assert_eq!(ids.generate()?.as_integer(), Some(600_114_305_433_600_007)); // the same in each run
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn with_clock(layout: Layout, clock: C) -> Self {
        let family = Settings { layout, fixed: Vec::new(), range: None, sequence_only: false };
        Self { family, options: Options::new(clock) }
    }

    /// Fixes a bindable, so that it need not be given for each ID.
    ///
    /// ```
    /// use polyflake::layout::{Generator, preset};
    ///
    /// let ids = Generator::builder(preset("discord", [])?).bind("worker", 3).bind("process", 9).build()?;
    /// let id = ids.generate()?;
    /// assert_eq!(ids.layout().parse(&id)?.bindable("process")?, 9.into());
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn bind(mut self, name: impl Into<String>, value: impl Into<Value<'static>>) -> Self {
        self.family.fixed.push((name.into(), value.into()));
        self
    }

    /// Gives the generator a range of numbers of a bindable, so that it is as fast as that many generators of one number each: when
    /// a number's sequence is used up in a tick, it goes on with the next number. IDs stay in order. No other generator may have one
    /// of the numbers.
    ///
    /// The bindable holds integers, and lies below the timestamp and above the sequence. The sequence begins at 0, and neither of the two is inverted.
    /// A builder has one range; the last one given counts.
    ///
    /// ```
    /// use polyflake::{
    ///     clock::ManualClock,
    ///     layout::{Builder, preset},
    /// };
    ///
    /// let clock = ManualClock::at_unix_ms(1_767_225_600_000);
    /// let ids = Builder::with_clock(preset("discord", [])?, &clock).bind("process", 0).range("worker", 8..=15);
    /// let ids = ids.build()?;
    /// let mut batch = [0; 8 * 4096]; // in one millisecond, without a wait
    /// ids.fill(&mut batch[..])?;
    /// assert!(batch.is_sorted());
    /// assert_eq!(ids.layout().parse_integer(batch[4096])?.bindable("worker")?, 9.into());
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn range(mut self, bindable: impl Into<String>, numbers: RangeInclusive<u64>) -> Self {
        self.family.range = Some((bindable.into(), numbers));
        self
    }

    /// Asks for a generator over a layout without a timestamp: it gives out the sequence once, from its start to its end.
    ///
    /// ```
    /// use polyflake::layout::{Field, Generator, Layout};
    ///
    /// let layout = Layout::integer([Field::unused(54), Field::sequence(10)])?; // 1,024 in all
    /// let ids = Generator::builder(layout).sequence_only(true).build()?;
    /// assert_eq!((ids.generate()?.as_integer(), ids.generate()?.as_integer()), (Some(0), Some(1)));
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn sequence_only(mut self, sequence_only: bool) -> Self {
        self.family.sequence_only = sequence_only;
        self
    }

    /// The generator.
    ///
    /// ```
    /// use polyflake::layout::{Field, Generator, Layout, Tick};
    ///
    /// let layout = Layout::integer([Field::unused(1), Field::timestamp(63, Tick::MILLISECOND, 0)])?;
    /// let error = Generator::builder(layout).build().unwrap_err();
    /// assert_eq!(error.to_string(), "expected a layout with a sequence, found none: IDs of one tick would repeat");
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// - `invalid_layout` if the layout has no sequence; if it has no timestamp and `sequence_only` was not asked for, or has one
    ///   and it was; if it is only for reading; or if it counts more than 2^62 ticks until now beside a sequence of 64 bits.
    /// - `unknown_field`, `invalid_type`, `out_of_range` for a fixed bindable or a range of numbers; `invalid_layout` for a range of
    ///   a bindable that is fixed too, or is not between timestamp and sequence, or has 2^64 slots in a tick.
    /// - For a window: `unknown_field` without a timestamp, `out_of_range` if it is empty, `time_out_of_range` if it leaves the
    ///   layout's time.
    pub fn build(self) -> Result<Generator<C>> {
        self.slots()?;
        self.assemble(0, None)
    }

    /// A generator that goes on where a closed one of the same layout stopped. With a range of numbers it begins in the tick after
    /// the snapshot's.
    ///
    /// ```
    /// use polyflake::layout::{Generator, preset};
    ///
    /// let machine = || Ok(Generator::builder(preset("sonyflake", [])?).bind("machine", 7));
    /// let ids = machine()?.build()?;
    /// let last = ids.generate()?;
    /// let snapshot = ids.close()?; // to be stored
    /// assert!(machine()?.restore(snapshot)?.generate()? > last); // after the restart
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Builder::build`], and `out_of_range` for a snapshot that no generator of the layout can have left.
    pub fn restore(self, snapshot: Snapshot) -> Result<Generator<C>> {
        let slots = self.slots()?;
        let (tick, next) = (i128::from(snapshot.tick), i128::try_from(snapshot.next_sequence));
        let last_tick = self.ticks().map_or(0, |ticks| ticks.last());
        if snapshot.tick > last_tick {
            return Err(Error::out_of_range("tick", tick, 0, last_tick.into()));
        }
        let (first, end) = (i128::from(slots.first), i128::from(slots.last) + 1);
        match next {
            Ok(next) if (first..=end).contains(&next) => {
                self.assemble(snapshot.tick, Some(snapshot.next_sequence))
            }
            Ok(next) => Err(Error::out_of_range("next_sequence", next, first, end)),
            Err(_) => {
                let reason = "expected a next_sequence of the layout, found one past 2^127";
                Err(Error::because(ErrorKind::OutOfRange, reason).of("next_sequence"))
            }
        }
    }

    /// The slots of a tick, if a generator of the layout is possible at all.
    fn slots(&self) -> Result<Slots> {
        let refused = |reason| Err(Error::because(ErrorKind::InvalidLayout, reason));
        if self.family.layout.only_read {
            return refused(
                "expected a layout to generate from, found a preset that is only for reading",
            );
        }
        match (self.family.layout.slots(), self.family.layout.timeline(), self.family.sequence_only)
        {
            (None, ..) => refused(
                "expected a layout with a sequence, found none: IDs of one tick would repeat",
            ),
            (_, None, false) => refused(
                "expected a layout with a timestamp, found none: set sequence_only to use the sequence alone",
            ),
            (_, Some(_), true) => {
                refused("expected a layout without a timestamp for sequence_only, found one")
            }
            (Some((first, last)), ..) => Ok(Slots { first, last }),
        }
    }

    /// The range of numbers.
    fn numbers(&self) -> Result<Option<Numbers>> {
        let Some((name, numbers)) = &self.family.range else { return Ok(None) };
        if self.family.fixed.iter().any(|(fixed, _)| fixed == name) {
            return Err(
                invalid("expected a value or a range for a bindable, found both").of(name.clone())
            );
        }
        Numbers::new(&self.family.layout, name, numbers.clone()).map(Some)
    }

    fn ticks(&self) -> Option<Timeline> {
        self.family.layout.timeline().copied()
    }

    /// The generator, from tick 0 on, or from a snapshot's tick and next sequence.
    fn assemble(self, tick: u64, next_sequence: Option<u128>) -> Result<Generator<C>> {
        let mut values = self.family.layout.values();
        for (name, value) in &self.family.fixed {
            values.bind(name, value.clone())?;
        }
        let numbers = self.numbers()?;
        if let Some(numbers) = &numbers {
            values.set(Slot(numbers.index), i128::from(numbers.first))?;
        }
        let slots = numbers.map_or_else(|| self.slots(), |numbers| numbers.slots())?;
        let next = match next_sequence {
            None => slots.first.into(),
            Some(next) if numbers.is_none() => next,
            Some(_) => u128::from(slots.last) + 1,
        };
        let (missing, draft) = (values.first_missing()?, values.into_draft());
        let (ticks, window) = (self.ticks(), self.span()?);
        let last_tick = ticks.map_or(0, |ticks| ticks.last());
        let state = PerTick::at(slots, Behind::Refused, last_tick, tick, next);
        let state = state.ok_or_else(too_many_bits)?;
        let (process, sequence) = (ProcessGuard::this_process()?, self.family.layout.sequence()?.0);
        let layout = self.family.layout;
        let template = Template { layout, draft, missing, sequence, numbers, ticks, process };
        Ok(Generator { engine: Engine::with_options(self.options, template, state, window)? })
    }

    fn span(&self) -> Result<Window> {
        match self.ticks() {
            Some(ticks) => self.options.window(&ticks),
            None if self.options.window.is_none() => Ok(Window::all(0)),
            None => Err(Error::field_error(ErrorKind::UnknownField, "timestamp")),
        }
    }
}

#[cold]
fn too_many_bits() -> Error {
    let reason = "expected at most 2^62 ticks since the epoch beside a 64-bit sequence, found more";
    Error::because(ErrorKind::InvalidLayout, reason)
}
