//! Columns of custom layouts: the values of one field in many IDs.

use alloc::{vec, vec::Vec};

use polyflake::{
    Error, Result,
    layout::{Batch, FieldIndex, Layout},
};

use super::ids::{role, set_values};
use crate::{Host, Machine, ScratchRef, floats, message::Reader, protocol::register};

/// Reads a field's role and name from a message, and returns the index of the field.
fn field_index(layout: &Layout, message: &mut Reader<'_>) -> Result<FieldIndex> {
    match (message.length(), message.text()) {
        (role::TIME, _) => layout.timestamp(),
        (role::SEQUENCE, _) => layout.sequence(),
        (role::BINDABLE, name) => layout.bindable(name),
        (_, name) => layout.constant(name),
    }
}

/// Adjusts the item index in an error so that it is relative to the whole batch instead of this call's items. `first` is
/// the index of the call's first item.
fn with_offset(first: usize) -> impl Fn(Error) -> Error {
    move |error| match error.item() {
        Some(item) => error.in_item(first + item),
        None => error,
    }
}

/// Operations on layouts. Each operation also reads a handle, a message, a count of at most
/// [`BATCH`](crate::protocol::BATCH), and the index of the first ID within the whole batch.
impl<C: Host> Machine<C> {
    /// Reads a field, packed IDs, and a flag that is 1 to write floats or 0 to write 64-bit integers. Writes one value for
    /// each ID.
    #[allow(clippy::cast_precision_loss, reason = "only requested for up to 53 bits")]
    pub fn layout_column(&self, at: ScratchRef) -> Result<()> {
        let (object, count, first) = (self.object(at)?, at.count(), at.read_usize(register::FIRST));
        let is_number = at.read_usize(register::VALUE) == 1;
        let (layout, message, mut column) =
            (object.layout()?, self.take_message(at), vec![0; count]);
        let mut message = Reader::new(&message);
        let field = field_index(layout, &mut message)?;
        if layout.is_integer() {
            layout.integer_column(field, &message.integers(count), &mut column)
        } else {
            layout.bytes_column(field, message.remaining_bytes(), &mut column)
        }
        .map_err(with_offset(first))?;
        for (index, value) in column.into_iter().enumerate() {
            let bits = if is_number { (value as f64).to_bits() } else { value.cast_unsigned() };
            self.scratch.put_bytes(index * 8, &bits.to_ne_bytes());
        }
        Ok(())
    }

    /// Reads the number of columns. For each column, reads the field, a flag that states the type of the values (1 for
    /// floats, 0 for 64-bit integers), and the values. Then reads the values that all IDs have in common, and writes packed
    /// IDs.
    pub fn layout_pack_columns(&self, at: ScratchRef) -> Result<()> {
        let (object, count, first) = (self.object(at)?, at.count(), at.read_usize(register::FIRST));
        let (layout, message) = (object.layout()?, self.take_message(at));
        let (mut message, mut columns) = (Reader::new(&message), Vec::new());
        for _ in 0..message.length() {
            columns.push((field_index(layout, &mut message)?, message.column(count)));
        }
        let mut values = layout.values();
        set_values(&mut values, message)?;
        let columns: Vec<_> = columns.iter().map(|(field, column)| (*field, &**column)).collect();
        let pack = |ids: Batch<'_>| values.pack_columns(&columns, ids).map(|()| count);
        self.put_packed_ids(at, layout, count, &pack).map_err(with_offset(first))
    }
}

impl Reader<'_> {
    /// Returns the next column. The tag 1 precedes `count` whole numbers stored as floats, and the tag 0 precedes `count`
    /// integers.
    fn column(&mut self, count: usize) -> Vec<i64> {
        let (is_number, mut column) = (self.length() == 1, self.integers(count));
        if is_number {
            for value in &mut column {
                // The package has already checked that these numbers are integers.
                *value = floats::to_i64(f64::from_bits(value.cast_unsigned()));
            }
        }
        column
    }
}
