//! Reads many IDs into columns of integers, one field at a time, and packs IDs from columns.

use crate::{
    Error, Result,
    error::check_same_length,
    layout::{
        Batch, FieldIndex, Id, Layout, Representation, ResolvedField, Role, Value, ValueType,
        Values, foreign_field_index, ids::parse::Bits,
    },
    narrow,
};

/// A field and its values, with one value per ID.
type Column<'c> = (FieldIndex, &'c [i64]);

impl Layout {
    /// Writes one field of each integer ID to `column`. The field must be an integer of at most 64 bits. A timestamp is
    /// written in Unix milliseconds, rounded down. Other fields are neither read nor checked.
    ///
    /// ```
    /// let twitter = polyflake::layout::preset("twitter", [])?;
    /// let ids = [1_541_815_603_606_036_480, 1_541_815_603_606_036_481];
    /// let (mut times, mut sequences) = ([0; 2], [0; 2]);
    /// twitter.integer_column(twitter.timestamp()?, &ids, &mut times)?;
    /// twitter.integer_column(twitter.sequence()?, &ids, &mut sequences)?;
    /// assert_eq!((times, sequences), ([1_656_432_460_105; 2], [0, 1]));
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns `invalid_type` if the layout has byte IDs, or if the field contains bytes, a string or more than 64 bits;
    /// `unknown_field` if the index belongs to a different layout; `invalid_length` unless both slices have the same
    /// length; or `time_out_of_range`, with the index of the item, if a time does not fit in signed 64-bit milliseconds. In
    /// the last case, that item and all later items in the column are unchanged.
    pub fn integer_column(&self, slot: FieldIndex, ids: &[i64], column: &mut [i64]) -> Result<()> {
        if !self.is_integer() {
            return Err(Error::invalid_type("bytes", "integers"));
        }
        let field = self.column_field(slot)?;
        check_same_length(ids.len(), column.len())?;
        read_column(field, ids.iter().map(|id| Bits::Word(id.cast_unsigned())), column)
    }

    /// Works like [`Layout::integer_column`], but for concatenated byte IDs.
    ///
    /// ```
    /// use polyflake::layout::{Field, Layout};
    ///
    /// let layout = Layout::bytes(3, [Field::bindable(8, "shard"), Field::sequence(16)])?;
    /// let mut column = [0; 2];
    /// layout.bytes_column(layout.sequence()?, &[7, 0, 1, 7, 1, 0], &mut column)?;
    /// assert_eq!(column, [1, 256]);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`Layout::integer_column`], except that `invalid_type` means that the layout has integer
    /// IDs. Also returns `invalid_length` if the bytes are not a whole number of IDs.
    pub fn bytes_column(&self, slot: FieldIndex, ids: &[u8], column: &mut [i64]) -> Result<()> {
        let Representation::Bytes(length) = self.representation else {
            return Err(Error::invalid_type("integers", "bytes"));
        };
        let field = self.column_field(slot)?;
        check_same_length(column.len().saturating_mul(length), ids.len())?;
        read_column(field, ids.chunks_exact(length).map(Bits::Bytes), column)
    }

    /// Returns the field if its values fit in 64-bit integers, as a column requires.
    pub(in crate::layout) fn column_field(&self, slot: FieldIndex) -> Result<&ResolvedField> {
        let field = self.fields.get(slot.0).ok_or_else(foreign_field_index)?;
        match (&field.role, field.kind()) {
            (Role::Unused, _) => Err(foreign_field_index()),
            (_, ValueType::Integer) if field.width.bits <= 64 => Ok(field),
            (_, kind) => {
                let found = if kind == ValueType::Integer { "a wider one" } else { kind.as_str() };
                let expected = "an integer of at most 64 bits";
                Err(Error::invalid_type(expected, found).with_field(field.name.clone()))
            }
        }
    }
}

/// Writes one field of each ID to `column`.
#[inline]
fn read_column<'a>(
    field: &ResolvedField,
    ids: impl Iterator<Item = Bits<'a>>,
    column: &mut [i64],
) -> Result<()> {
    let words = ids.map(|id| id.field_value(field));
    let Role::Timestamp(timeline) = &field.role else {
        // A 64-bit field is read as a signed integer. The values of all narrower fields fit in an `i64`.
        column.iter_mut().zip(words).for_each(|(place, word)| *place = word.cast_signed());
        return Ok(());
    };
    // If no value can overflow, the loop needs no check and can be vectorized.
    if let Some((first, tick)) = timeline.first_and_step() {
        let ms = |word: u64| first.wrapping_add(tick.wrapping_mul(word.cast_signed()));
        column.iter_mut().zip(words).for_each(|(place, word)| *place = ms(word));
        return Ok(());
    }
    for (item, (place, word)) in column.iter_mut().zip(words).enumerate() {
        let ms = timeline.checked_start_ms(field.width.widen(word));
        *place = ms.map_err(|error| error.in_item(item))?;
    }
    Ok(())
}

impl Values<'_> {
    /// Packs many IDs. A field that has a column takes its value for each ID from that column. All other fields have the
    /// values that are set in this buffer. Times are in Unix milliseconds.
    ///
    /// ```
    /// use polyflake::layout::{Field, Layout, preset};
    ///
    /// let twitter = preset("twitter", [])?;
    /// let (time, sequence) = (twitter.timestamp()?, twitter.sequence()?);
    /// let mut values = twitter.values();
    /// values.bind("datacenter", 11)?.bind("worker", 26)?;
    /// let mut ids = [0_i64; 2];
    /// values.pack_columns(&[(time, &[1_656_432_460_105; 2]), (sequence, &[0, 1])], &mut ids[..])?;
    /// assert_eq!(ids[1], ids[0] + 1);
    ///
    /// let layout = Layout::bytes(3, [Field::bindable(8, "shard"), Field::sequence(16)])?;
    /// let mut packed = [0_u8; 6]; // byte IDs, one after the other
    /// let mut values = layout.values();
    /// values.bind("shard", 7)?.pack_columns(&[(layout.sequence()?, &[1, 256])], &mut packed[..])?;
    /// assert_eq!(packed, [7, 0, 1, 7, 1, 0]);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// If there is an error, no ID is written. Returns `invalid_type` if the layout has a different kind of ID, or if a
    /// column's field contains bytes, a string or more than 64 bits; `unknown_field` if an index belongs to a different
    /// layout; `invalid_length` if a column does not have exactly one item per ID, or if the bytes are not a whole number
    /// of IDs; or any error that [`Values::pack`] returns for the fields without a column. If none of these errors occurs,
    /// the method checks the values of one column after another. It returns `out_of_range` or `time_out_of_range`, with the
    /// index of the item, if a value does not fit.
    pub fn pack_columns<'b>(
        &self,
        columns: &[Column<'_>],
        ids: impl Into<Batch<'b>>,
    ) -> Result<()> {
        let ids = ids.into();
        // All columns are checked before the first ID is written, so an error leaves the buffer unchanged, and the loops
        // below need no checks.
        self.check_columns(columns, ids.id_count(self.id())?)?;
        let columns = columns.iter().map(|&(slot, column)| (&self.layout().fields[slot.0], column));
        match (ids, self.id()) {
            (Batch::Integers(ids), Id::Integer(id)) => {
                ids.fill(*id);
                for (field, column) in columns {
                    let put = |id: &mut i64, number| *id = field.insert_into_integer(*id, number);
                    write_column(field, column, ids.iter_mut(), put);
                }
            }
            (Batch::Bytes(ids), Id::Bytes(id)) => {
                ids.chunks_exact_mut(id.len()).for_each(|place| place.copy_from_slice(id));
                for (field, column) in columns {
                    let put = |id: &mut [u8], number| field.insert_into_bytes(id, number);
                    write_column(field, column, ids.chunks_exact_mut(id.len()), put);
                }
            }
            _ => unreachable!("counted as IDs of this kind"),
        }
        Ok(())
    }

    /// Rejects a column if its field belongs to a different layout, its length is wrong, or one of its values does not fit.
    /// Also returns an error if another field has no value.
    fn check_columns(&self, columns: &[Column<'_>], count: usize) -> Result<()> {
        for &(slot, column) in columns {
            self.layout().column_field(slot)?;
            check_same_length(count, column.len())?;
        }
        self.check_all_except(|index| columns.iter().any(|(slot, _)| slot.0 == index))?;
        columns
            .iter()
            .try_for_each(|&(slot, column)| check_fits(&self.layout().fields[slot.0], column))
    }
}

/// Rejects a column with a value that does not fit in its field.
fn check_fits(field: &ResolvedField, column: &[i64]) -> Result<()> {
    let fits = |value: &i64| field.small_number(&Value::Integer((*value).into())).is_some();
    let all_fit = match field.role {
        // The times that fit form one contiguous range, so it is enough to check the earliest and the latest.
        Role::Timestamp(_) => {
            [column.iter().min(), column.iter().max()].into_iter().flatten().all(fits)
        }
        // The field's largest value has all bits set, so the bitwise `or` of all values fits if and only if every value
        // fits. This check needs no branch per value.
        _ => column.iter().fold(0, |bits, value| bits | value.cast_unsigned()) <= field.width.most,
    };
    if all_fit {
        return Ok(());
    }
    // Only the error message needs the position of the first value that does not fit, so the code searches for it only
    // after the check has failed.
    let misfit = column.iter().position(|value| !fits(value)).unwrap_or_default();
    Err(field.out_of_range(column[misfit]).in_item(misfit))
}

/// Writes the values of a column to the IDs. The values are known to fit.
#[inline]
fn write_column<P>(
    field: &ResolvedField,
    column: &[i64],
    places: impl Iterator<Item = P>,
    put: impl Fn(P, u64),
) {
    let pairs = places.zip(column);
    match &field.role {
        Role::Timestamp(timeline) => {
            // A 64-bit timestamp may be negative. It is then stored modulo 2^64.
            let number = |unix_ms| narrow::low_u64(timeline.value_at_ms(unix_ms).cast_unsigned());
            pairs.for_each(|(place, value)| put(place, number(*value)));
        }
        _ => pairs.for_each(|(place, value)| put(place, value.cast_unsigned())),
    }
}
