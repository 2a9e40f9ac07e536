//! Computes the lowest and the highest ID in a time range, for `BETWEEN` queries.

use crate::{
    Error, ErrorKind, Result, UnixTime,
    layout::{Id, Layout, Value, Values, fields::resolved_field::Role},
};

impl Layout {
    /// Returns the lowest and the highest ID in the half-open time range `start .. end`. Both IDs belong to the range.
    /// `start` and `end` are Unix milliseconds or `SystemTime`s. An ID is in the range if its tick starts within the range.
    ///
    /// Provide the values of all bindable fields that are more significant than the timestamp. The range includes all
    /// values of the sequence and of the less significant bindable fields.
    ///
    /// # Errors
    /// Returns the same errors as [`Values::time_range`].
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
        start: impl Into<UnixTime>,
        end: impl Into<UnixTime>,
        bindables: impl IntoIterator<Item = (&'v str, Value<'v>)>,
    ) -> Result<(Id, Id)> {
        let mut values = self.values();
        for (name, value) in bindables {
            values.bind(name, value)?;
        }
        values.time_range(start, end)
    }
}

impl Values<'_> {
    /// Returns the lowest and the highest ID in a time range. Both IDs have the values that are set for the bindable
    /// fields. If a time or a sequence number is set, it is ignored.
    ///
    /// ```
    /// use polyflake::layout::{Field, Id, Layout, Tick};
    ///
    /// let layout = Layout::integer([
    ///     Field::unused(1),
    ///     Field::bindable(13, "shard"), // above the timestamp, so a range covers one shard
    ///     Field::timestamp(40, Tick::MILLISECOND, 1_767_225_600_000),
    ///     Field::sequence(10),
    /// ])?;
    /// let mut values = layout.values();
    /// let (lowest, highest) = values.bind("shard", 7)?.time_range(1_767_225_600_000, 1_767_225_600_001)?;
    /// assert_eq!((lowest, highest), (Id::Integer(7 << 50), Id::Integer((7 << 50) + 1023)));
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns `unknown_field` if the layout has no timestamp. Returns `missing_field`, `invalid_type` or `out_of_range` if
    /// the value of a bindable field is missing or invalid. Returns `time_out_of_range` if the timestamp cannot represent
    /// the range, although the exclusive end may be one tick past the timestamp's last tick. Returns `out_of_range` if the
    /// range is reversed, contains no tick, or crosses the sign bit of an integer ID, or if the layout's sequence is more
    /// significant than its timestamp.
    pub fn time_range(
        &self,
        start: impl Into<UnixTime>,
        end: impl Into<UnixTime>,
    ) -> Result<(Id, Id)> {
        let (start, end) = (start.into(), end.into());
        let layout = self.layout();
        let at = layout.timestamp()?.0;
        if layout.sequence().is_ok_and(|sequence| sequence.0 < at) {
            return Err(invalid_range(
                "expected a layout with the timestamp above the sequence, found it below",
            ));
        }
        let (mut lowest, mut highest) = (self.id().clone(), self.id().clone());
        for (index, field) in layout.fields.iter().enumerate() {
            match &field.role {
                Role::Timestamp(timeline) => {
                    let (first, last) = timeline.values_in_range(start, end)?;
                    // An inverted timestamp sorts in reverse, so the last tick has the lowest IDs.
                    let (low, high) = if field.invert { (last, first) } else { (first, last) };
                    lowest.write_field(field, low);
                    highest.write_field(field, high);
                }
                Role::Sequence(_) | Role::Bindable(_) if index > at => {
                    if let Role::Bindable(_) = field.role {
                        self.check_if_set(index)?;
                    }
                    lowest.fill_field(field, false);
                    highest.fill_field(field, true);
                }
                _ => self.check_field(index)?,
            }
        }
        check_order(lowest, highest)
    }
}

/// Checks that `lowest` is not above `highest`. Unsigned IDs always pass the check. Signed IDs fail the check if their sign
/// bits differ.
fn check_order(lowest: Id, highest: Id) -> Result<(Id, Id)> {
    if lowest > highest {
        return Err(invalid_range(
            "expected a time range on one side of the sign bit, found one that crosses it",
        ));
    }
    Ok((lowest, highest))
}

#[cold]
fn invalid_range(reason: &'static str) -> Error {
    Error::with_reason(ErrorKind::OutOfRange, reason)
}
