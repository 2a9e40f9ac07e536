//! The lowest and the highest ID of a span of time, for BETWEEN queries.

use alloc::{vec, vec::Vec};

use super::{
    Id, Layout, Timeline, Value, Values, bits,
    layout::Shape,
    placed::{Placed, Role},
};
use crate::{Error, ErrorKind, Result};

impl Layout {
    /// The lowest and the highest ID (both inclusive) of the half-open time range `from_ms .. to_ms` in Unix milliseconds. An
    /// ID is in the range if its own tick begins in it.
    ///
    /// The bindables that precede the timestamp must be given; the sequence and later bindables span all their values.
    ///
    /// # Errors
    /// As [`Values::time_range`].
    ///
    /// ```
    /// use polyflake::layout::{Id, preset};
    ///
    /// let discord = preset("discord", [])?;
    /// let (lowest, highest) = discord.time_range(1_462_015_105_796, 1_462_015_105_797, [])?;
    /// assert!((lowest..=highest).contains(&Id::Integer(175_928_847_299_117_063)));
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn time_range<'v>(
        &'v self,
        from_ms: i64,
        to_ms: i64,
        bindables: impl IntoIterator<Item = (&'v str, Value<'v>)>,
    ) -> Result<(Id, Id)> {
        let mut values = self.values();
        for (name, value) in bindables {
            values.bind(name, value)?;
        }
        values.time_range(from_ms, to_ms)
    }
}

impl Values<'_> {
    /// The lowest and the highest ID of a time range with the bindables that are set; the time and the sequence that
    /// are set do not matter.
    ///
    /// # Errors
    /// `unknown_field` in a layout without a timestamp; `missing_field` and so on for the bindables; `time_out_of_range` for a
    /// range that the timestamp cannot hold (the end may be one past its last tick); `out_of_range` for one that is reversed,
    /// holds no tick, or crosses the sign bit of an integer ID, and in a layout with the sequence above the timestamp.
    pub fn time_range(&self, from_ms: i64, to_ms: i64) -> Result<(Id, Id)> {
        let layout = self.layout();
        let at = layout.timestamp()?.0;
        if layout.sequence().is_ok_and(|sequence| sequence.0 < at) {
            return Err(refused(
                "expected a layout with the timestamp above the sequence, found it below",
            ));
        }
        let mut ends = Ends::new(layout);
        for (index, field) in layout.fields.iter().enumerate() {
            let given = self.get(index);
            match &field.role {
                Role::Timestamp(timeline) => {
                    ends.write_ticks(field, ticks(field, timeline, from_ms, to_ms)?);
                }
                Role::Sequence { .. } => ends.span(field),
                Role::Bindable(_) if index > at => {
                    given.map_or(Ok(()), |value| field.check(value))?;
                    ends.span(field);
                }
                _ => ends.write(field, given)?,
            }
        }
        ends.ids(layout)
    }
}

/// The values of the first and the last tick that begin in a span of time.
fn ticks(field: &Placed, timeline: &Timeline, from_ms: i64, to_ms: i64) -> Result<(u64, u64)> {
    let outside = |unix_ms: i64| field.outside(timeline, unix_ms.into());
    if from_ms >= to_ms {
        return Err(Error::out_of_range(
            "end of the time range",
            to_ms.into(),
            i128::from(from_ms) + 1,
            i64::MAX.into(),
        ));
    }
    field.narrow(timeline.value_of_ms(from_ms)).ok_or_else(|| outside(from_ms))?;
    let (first, end) = (timeline.first_from(from_ms), timeline.first_from(to_ms));
    let last = field.narrow(end - 1).ok_or_else(|| outside(to_ms))?;
    match field.narrow(first) {
        Some(first) if first <= last => Ok((first, last)),
        _ => Err(refused(
            "expected a time range that holds a tick and lies on one side of a 64-bit epoch",
        )),
    }
}

/// The two IDs, as far as they are written.
struct Ends {
    lowest: Vec<u8>,
    highest: Vec<u8>,
}

impl Ends {
    fn new(layout: &Layout) -> Self {
        let zeros = vec![0; layout.bits() as usize / 8];
        Self { lowest: zeros.clone(), highest: zeros }
    }

    /// Writes the same value into both.
    fn write(&mut self, field: &Placed, given: Option<&Value<'_>>) -> Result<()> {
        field.write(given, &mut self.lowest)?;
        field.write(given, &mut self.highest)
    }

    /// Writes the first and the last tick, whichever way round they sort.
    fn write_ticks(&mut self, field: &Placed, (first, last): (u64, u64)) {
        let (low, high) = if field.invert { (last, first) } else { (first, last) };
        bits::flip_in(&mut self.lowest, field.offset, field.bits, low ^ field.flip);
        bits::flip_in(&mut self.highest, field.offset, field.bits, high ^ field.flip);
    }

    /// Leaves a field free.
    fn span(&mut self, field: &Placed) {
        bits::flip_all(&mut self.highest, field.offset, field.bits);
    }

    fn ids(self, layout: &Layout) -> Result<(Id, Id)> {
        if layout.shape != Shape::Integer {
            return Ok((Id::Bytes(self.lowest), Id::Bytes(self.highest)));
        }
        let integer = |id: &[u8]| bits::take(id, 0, 64).cast_signed();
        let (lowest, highest) = (integer(&self.lowest), integer(&self.highest));
        if lowest > highest {
            return Err(refused(
                "expected a time range on one side of the sign bit, found one that crosses it",
            ));
        }
        Ok((Id::Integer(lowest), Id::Integer(highest)))
    }
}

#[cold]
fn refused(reason: &'static str) -> Error {
    Error::because(ErrorKind::OutOfRange, reason)
}
