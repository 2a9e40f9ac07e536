//! Generators, by handle. JavaScript holds the handle, and releases it when it forgets it.

use std::{cell::Cell, rc::Rc, time::Duration};

use polyflake::{
    Error, ErrorKind, Result,
    clock::Clock,
    sno::{Builder, Drawn, Generator, OnExhausted, Snapshot, Sno},
};

use crate::{Machine, Scratch, ids::BATCH};

thread_local! {
    /// The default partition that the running call may take.
    static OFFER: Cell<Option<Drawn>> = const { Cell::new(None) };
}

/// A generator, and the default partition that it is offered.
///
/// The offer stays with the generator, so that one whose clock fails does not use up partition after partition, and a
/// clock that calls another generator does not give that one's partition to this.
#[derive(Debug)]
pub(crate) struct Entry<C> {
    generator: Generator<C>,
    offer: Cell<Option<Drawn>>,
}

impl<C: Clock> Entry<C> {
    #[inline]
    fn with<T>(&self, call: impl FnOnce(&Generator<C>) -> T) -> T {
        let outer = OFFER.replace(self.offer.get());
        let result = call(&self.generator);
        OFFER.set(outer);
        result
    }
}

fn take_offer() -> Result<Drawn> {
    OFFER.get().ok_or(Error::new(ErrorKind::EntropyUnavailable))
}

/// Slots of [`Machine::sno_build`]. Where a value was not given, they hold NaN.
mod slot {
    pub(super) const HOW: usize = 0;
    pub(super) const PARTITION: usize = 1;
    pub(super) const SEQUENCE_MIN: usize = 2;
    pub(super) const SEQUENCE_MAX: usize = 3;
    pub(super) const METABYTE: usize = 4;
    pub(super) const WINDOW_START: usize = 5;
    pub(super) const WINDOW_END: usize = 6;
    pub(super) const ON_EXHAUSTED: usize = 7;
    pub(super) const MAX_WAIT: usize = 8;
    pub(super) const SNAPSHOT: usize = 9;
}

/// Generators, by the handle in the first slot; a metabyte is in the second.
impl<C: Clock> Machine<C> {
    /// Options (see [`slot`]) -> a handle. `HOW` is 0 to begin, 1 to restore, 2 to import the original's snapshot.
    pub fn sno_build(&self, clock: C) -> Result<()> {
        let scratch = self.scratch;
        let builder = scratch.options(Builder::with_clock(clock).draw(take_offer))?;
        let generator = match scratch.integer(slot::HOW, "how", 2)? {
            0 => builder.build(),
            1 => builder.restore(scratch.snapshot()?),
            _ => builder.import_original(scratch.snapshot()?),
        }?;
        let handle = self.keep(Entry { generator, offer: Cell::new(None) });
        scratch.put_numbers([handle]);
        Ok(())
    }

    /// -> partition, sequence: a default partition that the caller drew, for other machines to take.
    pub fn put_drawn(&self, drawn: Result<Drawn>) -> Result<()> {
        let Drawn { partition, sequence_min } = drawn?;
        self.scratch.put_numbers([partition.into(), sequence_min.into()]);
        Ok(())
    }

    /// Handle, partition, sequence -> the default partition that the generator may take, and its lower bound.
    pub fn sno_offer(&self) -> Result<()> {
        let entry = self.entry()?;
        let partition = self.scratch.word(1, "partition")?;
        let sequence_min = self.scratch.integer(2, "sequence_min", 0x7fff)?;
        let [low, high, ..] = sequence_min.to_le_bytes();
        entry.offer.set(Some(Drawn { partition, sequence_min: u16::from_le_bytes([low, high]) }));
        Ok(())
    }

    /// Forgets a generator; its handle may be given out again.
    pub fn sno_release(&self) -> Result<()> {
        let place = self.scratch.length();
        let released = self.generators.borrow_mut().get_mut(place).and_then(Option::take);
        // Only now, since the clock's end may run code that comes back here.
        drop(released);
        Ok(())
    }

    /// -> text.
    #[inline]
    pub fn sno_generate(&self) -> Result<()> {
        let entry = self.entry()?;
        let metabyte = self.scratch.byte(1, "metabyte")?;
        let id = entry.with(|generator| generator.generate(metabyte))?;
        self.scratch.put_sno(0, id);
        Ok(())
    }

    /// Also a time -> text.
    pub fn sno_generate_at(&self) -> Result<()> {
        let entry = self.entry()?;
        let (metabyte, unix_ms) = (self.scratch.byte(1, "metabyte")?, self.scratch.time(2));
        let id = entry.with(|generator| generator.generate_at(unix_ms, metabyte))?;
        self.scratch.put_sno(0, id);
        Ok(())
    }

    /// Also a count of at most [`BATCH`] -> packed bytes.
    pub fn sno_fill(&self) -> Result<()> {
        let entry = self.entry()?;
        let metabyte = self.scratch.byte(1, "metabyte")?;
        let count = self.scratch.integer(2, "count", BATCH as u64)?;
        let mut ids = [Sno::default(); BATCH];
        let ids = &mut ids[..usize::try_from(count).unwrap_or(BATCH)];
        entry.with(|generator| generator.fill(metabyte, ids))?;
        for (index, id) in ids.iter().enumerate() {
            self.scratch.put_bytes(index * Sno::LEN, id.as_bytes());
        }
        Ok(())
    }

    /// -> the partition, NaN while it has none.
    pub fn sno_partition(&self) -> Result<()> {
        let partition = self.entry()?.generator.partition();
        self.scratch.put_numbers([partition.map_or(f64::NAN, f64::from)]);
        Ok(())
    }

    /// Handle, a time in the third slot.
    pub fn sno_extend_window(&self) -> Result<()> {
        self.entry()?.generator.extend_window(self.scratch.time(2))
    }

    /// -> partition (or NaN), both bounds, sequence, length, now, the two walls, drifts, whether it is closed.
    #[allow(clippy::cast_precision_loss, reason = "ticks have 39 bits")]
    pub fn sno_stats(&self) -> Result<()> {
        let stats = self.entry()?.generator.stats()?;
        self.scratch.put_numbers([
            stats.partition.map_or(f64::NAN, f64::from),
            stats.sequence_min.into(),
            stats.sequence_max.into(),
            stats.sequence.into(),
            stats.len.into(),
            stats.now as f64,
            stats.wall_hi as f64,
            stats.wall_safe as f64,
            stats.drifts.into(),
            stats.closed.into(),
        ]);
        Ok(())
    }

    /// -> the snapshot, its members in the original's order.
    pub fn sno_close(&self) -> Result<()> {
        let snapshot = self.entry()?.with(Generator::close)?;
        self.scratch.put_snapshot(snapshot);
        Ok(())
    }

    #[inline]
    fn entry(&self) -> Result<Rc<Entry<C>>> {
        let entry = self.generators.borrow().get(self.scratch.length()).cloned().flatten();
        entry.ok_or_else(gone)
    }

    /// Keeps a generator and gives its handle.
    #[allow(clippy::cast_precision_loss, reason = "there is no memory for 2^53 generators")]
    fn keep(&self, entry: Entry<C>) -> f64 {
        let mut generators = self.generators.borrow_mut();
        let free = generators.iter().position(Option::is_none);
        let place = free.unwrap_or(generators.len());
        if free.is_none() {
            generators.push(None);
        }
        generators[place] = Some(Rc::new(entry));
        place as f64
    }
}

#[cold]
fn gone() -> Error {
    Error::new(ErrorKind::GeneratorClosed)
}

impl Scratch {
    fn options<C: Clock>(&self, mut builder: Builder<C>) -> Result<Builder<C>> {
        self.optional(slot::METABYTE, |s, at| s.byte(at, "metabyte"))?;
        if let Some(partition) = self.optional(slot::PARTITION, |s, at| s.word(at, "partition"))? {
            builder = builder.partition(partition);
        }
        if let Some(least) =
            self.optional(slot::SEQUENCE_MIN, |s, at| s.word(at, "sequence_min"))?
        {
            builder = builder.sequence_min(least);
        }
        if let Some(most) = self.optional(slot::SEQUENCE_MAX, |s, at| s.word(at, "sequence_max"))? {
            builder = builder.sequence_max(most);
        }
        if self.given(slot::WINDOW_START) {
            builder = builder.window(self.time(slot::WINDOW_START), self.time(slot::WINDOW_END));
        }
        if let Some(ms) = self.optional(slot::MAX_WAIT, |s, at| s.safe_integer(at, "max_wait"))? {
            builder = builder.max_wait(Duration::from_millis(ms));
        }
        if self.optional(slot::ON_EXHAUSTED, |s, at| s.integer(at, "on_exhausted", 1))? == Some(1) {
            builder = builder.on_exhausted(OnExhausted::Error);
        }
        Ok(builder)
    }

    fn snapshot(&self) -> Result<Snapshot> {
        let at = |member: usize| slot::SNAPSHOT + member;
        Ok(Snapshot {
            partition: [self.byte(at(0), "partition")?, self.byte(at(1), "partition")?],
            sequence_min: self.word(at(2), "sequence_min")?,
            sequence_max: self.word(at(3), "sequence_max")?,
            sequence: self.double_word(at(4), "sequence")?,
            now: self.safe_integer(at(5), "now")?,
            wall_hi: self.safe_integer(at(6), "wall_hi")?,
            wall_safe: self.safe_integer(at(7), "wall_safe")?,
            drifts: self.double_word(at(8), "drifts")?,
        })
    }

    #[allow(clippy::cast_precision_loss, reason = "ticks have 39 bits")]
    fn put_snapshot(&self, snapshot: Snapshot) {
        let [high, low] = snapshot.partition;
        self.put_numbers([
            high.into(),
            low.into(),
            snapshot.sequence_min.into(),
            snapshot.sequence_max.into(),
            snapshot.sequence.into(),
            snapshot.now as f64,
            snapshot.wall_hi as f64,
            snapshot.wall_safe as f64,
            snapshot.drifts.into(),
        ]);
    }
}
