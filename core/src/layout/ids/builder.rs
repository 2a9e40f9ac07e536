//! The builder, which collects a generator's options.

use alloc::{string::String, vec::Vec};
use core::ops::RangeInclusive;

use crate::{
    Error, ErrorKind, Result,
    clock::Clock,
    format::Ticks,
    generator::{self, Engine, FirstReading, Options, ProcessGuard, Window},
    layout::{
        FieldIndex, Generator, Layout, Snapshot, Value,
        fields::{layout::unknown_field, validation::invalid_layout_error},
        ids::{family::Template, worker_id_range::WorkerIdRange},
    },
    sequence::per_tick::{BehindPolicy, PerTick, Slots},
};

/// Configures a [`Generator`].
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

/// The options that are specific to custom layouts.
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
    /// Creates a builder with a custom clock.
    ///
    /// ```
    /// use polyflake::{
    ///     clock::ManualClock,
    ///     layout::{Builder, preset},
    /// };
    ///
    /// let clock = ManualClock::at_unix_ms(1_767_225_600_000);
    /// let ids = Builder::with_clock(preset("sonyflake", [])?, &clock).bind("machine", 7).build()?;
    /// assert_eq!(ids.generate()?.as_integer(), Some(600_114_305_433_600_007)); // the same in every run
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn with_clock(layout: Layout, clock: C) -> Self {
        let family = Settings { layout, fixed: Vec::new(), range: None, sequence_only: false };
        Self { family, options: Options::new(clock) }
    }

    /// Sets the value of a bindable field for all IDs that the generator creates.
    ///
    /// An earlier run of the program may have generated IDs with the same values in the current tick. Therefore the first
    /// call waits up to one tick, but no longer than one second, and the first ID belongs to the next tick. If the clock
    /// was set back between two runs, duplicate IDs are possible unless the new generator continues from a snapshot, uses a
    /// lease, or has a window that starts after the last ID of the earlier run. A layout without a timestamp has no tick to
    /// wait for, so a restart causes duplicate IDs.
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

    /// Assigns the generator a range of worker IDs, which are values of one bindable field. The generator can then create
    /// as many IDs as if each worker ID had its own generator. When a worker ID has no sequence numbers left in a tick, the
    /// generator continues with the next worker ID. IDs remain sorted. No other generator may use any of these worker IDs.
    ///
    /// The bindable field must be an integer field that is less significant than the timestamp and more significant than
    /// the sequence. The sequence must start at 0, and neither the bindable field nor the sequence may be inverted. A
    /// builder has at most one range: each call replaces the range from an earlier call.
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
    /// let mut batch = [0; 8 * 4096]; // within one millisecond, without waiting
    /// ids.fill(&mut batch[..])?;
    /// assert!(batch.is_sorted());
    /// assert_eq!(ids.layout().parse_integer(batch[4096])?.bindable("worker")?, 9.into());
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn range(mut self, bindable: impl Into<String>, numbers: RangeInclusive<u64>) -> Self {
        self.family.range = Some((bindable.into(), numbers));
        self
    }

    /// Allows a layout without a timestamp. The generator then uses each sequence number once, from the start value to the
    /// maximum. A restart causes duplicate IDs unless the generator is restored from a snapshot.
    ///
    /// ```
    /// use polyflake::layout::{Field, Generator, Layout};
    ///
    /// let layout = Layout::integer([Field::unused(54), Field::sequence(10)])?; // 1,024 IDs in total
    /// let ids = Generator::builder(layout).sequence_only(true).build()?;
    /// assert_eq!((ids.generate()?.as_integer(), ids.generate()?.as_integer()), (Some(0), Some(1)));
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn sequence_only(mut self, sequence_only: bool) -> Self {
        self.family.sequence_only = sequence_only;
        self
    }

    /// Builds the generator.
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
    /// - Returns `invalid_layout` if the layout has no sequence, or if the layout is read-only. Also returns
    ///   `invalid_layout` if the layout has no timestamp and `sequence_only` is not set, or if the layout has a timestamp
    ///   and `sequence_only` is set. For a sequence of 64 bits, returns `invalid_layout` if the range of a 64-bit clock
    ///   contains more than 2^62 of the layout's ticks.
    /// - Returns `unknown_field`, `invalid_type` or `out_of_range` if a fixed bindable field or a range of worker IDs is
    ///   invalid. Returns `invalid_layout` for a range if its bindable field is also fixed or is not between the timestamp
    ///   and the sequence, or if a tick has 2^64 slots.
    /// - For a window, returns `unknown_field` if the layout has no timestamp, `out_of_range` if the window is empty, or
    ///   `time_out_of_range` if the window exceeds the layout's time range.
    pub fn build(self) -> Result<Generator<C>> {
        self.assemble(None)
    }

    /// Builds a generator that continues from the snapshot of a closed generator with the same layout. If the new generator
    /// has a range of worker IDs, it starts in the tick that follows the snapshot's tick.
    ///
    /// ```
    /// use polyflake::layout::{Generator, preset};
    ///
    /// let machine = || Ok(Generator::builder(preset("sonyflake", [])?).bind("machine", 7));
    /// let ids = machine()?.build()?;
    /// let last = ids.generate()?;
    /// let snapshot = ids.close()?; // store this value
    /// assert!(machine()?.restore(snapshot)?.generate()? > last); // after the restart
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`Builder::build`], and `out_of_range` if no generator with this layout could have
    /// produced the snapshot.
    pub fn restore(self, snapshot: Snapshot) -> Result<Generator<C>> {
        self.assemble(Some(snapshot))
    }

    /// Returns the slots of a tick, or an error if a generator with these settings cannot use the layout.
    fn slots(&self) -> Result<Slots> {
        let reject = |reason: &'static str| Err(invalid_layout_error(reason));
        if self.family.layout.only_read {
            return reject(
                "expected a layout to generate from, found a preset that is only for reading",
            );
        }
        match (
            self.family.layout.slot_range(),
            self.family.layout.timeline(),
            self.family.sequence_only,
        ) {
            (None, ..) => reject(
                "expected a layout with a sequence, found none: IDs of one tick would repeat",
            ),
            (_, None, false) => reject(
                "expected a layout with a timestamp, found none: set sequence_only to use the sequence alone",
            ),
            (_, Some(_), true) => {
                reject("expected a layout without a timestamp for sequence_only, found one")
            }
            (Some((first, last)), ..) => Ok(Slots { first, last }),
        }
    }

    /// Returns the configured range of worker IDs, if any.
    fn worker_id_range(&self) -> Result<Option<WorkerIdRange>> {
        let Some((name, numbers)) = &self.family.range else { return Ok(None) };
        if self.family.fixed.iter().any(|(fixed, _)| fixed == name) {
            return Err(invalid_layout_error(
                "expected a value or a range for a bindable, found both",
            )
            .with_field(name.clone()));
        }
        WorkerIdRange::new(&self.family.layout, name, numbers.clone()).map(Some)
    }

    /// Builds the generator, which either starts at its first slot or continues from a snapshot.
    fn assemble(self, snapshot: Option<Snapshot>) -> Result<Generator<C>> {
        let (slots, ticks) = (self.slots()?, self.family.layout.timeline().copied());
        let last_tick = ticks.map_or(0, |ticks| ticks.last_tick());
        if let Some(snapshot) = &snapshot {
            check_snapshot(snapshot, &slots, last_tick)?;
        }
        let mut values = self.family.layout.values();
        for (name, value) in &self.family.fixed {
            values.bind(name, value.clone())?;
        }
        let numbers = self.worker_id_range()?;
        if let Some(numbers) = &numbers {
            values.set(FieldIndex(numbers.index), i128::from(numbers.first))?;
        }
        let slots = numbers.map_or(Ok(slots), |numbers| numbers.tick_slots())?;
        let is_used = |snapshot: &Snapshot| {
            snapshot.tick > 0 || snapshot.next_sequence > u128::from(slots.first)
        };
        let continued = snapshot.as_ref().filter(|it| is_used(it)).map(Snapshot::state_number);
        let first = FirstReading::new(continued.is_none());
        let (tick, next) = match snapshot {
            None => (0, slots.first.into()),
            Some(Snapshot { tick, next_sequence }) if numbers.is_none() => (tick, next_sequence),
            // With a range of worker IDs, the snapshot's tick is treated as exhausted, because the new generator may have a
            // different range, in which the same slot represents a different ID.
            Some(Snapshot { tick, .. }) => (tick, u128::from(slots.last) + 1),
        };
        let (missing, partial) = (values.first_missing_bindable()?, values.into_partial());
        let window = match &ticks {
            Some(ticks) => self.options.window(ticks)?,
            None if self.options.window.is_none() => Window::through(0),
            None => return Err(unknown_field("timestamp")),
        };
        let state = PerTick::restore(slots, BehindPolicy::Rejected, last_tick, tick, next);
        let state = state.ok_or_else(too_many_bits)?;
        let (process, sequence) = (ProcessGuard::this_process()?, self.family.layout.sequence()?.0);
        let layout = self.family.layout;
        let template = Template { layout, partial, missing, sequence, numbers, ticks, process };
        Ok(Generator {
            engine: Engine::with_options(self.options, template, state, window, first, continued)?,
        })
    }
}

/// Checks that a generator with these slots could have produced the snapshot.
fn check_snapshot(snapshot: &Snapshot, slots: &Slots, last_tick: u64) -> Result<()> {
    if snapshot.tick > last_tick {
        return Err(Error::out_of_range("tick", snapshot.tick.into(), 0, last_tick.into()));
    }
    let (first, end) = (i128::from(slots.first), i128::from(slots.last) + 1);
    match i128::try_from(snapshot.next_sequence) {
        Ok(next) if (first..=end).contains(&next) => Ok(()),
        Ok(next) => Err(Error::out_of_range("next_sequence", next, first, end)),
        Err(_) => {
            let reason = "expected a next_sequence of the layout, found one past 2^127";
            Err(Error::with_reason(ErrorKind::OutOfRange, reason).with_field("next_sequence"))
        }
    }
}

#[cold]
fn too_many_bits() -> Error {
    let reason = "expected at most 2^62 ticks since the epoch beside a 64-bit sequence, found more";
    invalid_layout_error(reason)
}
