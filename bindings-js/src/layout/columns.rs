//! Columns of custom layouts: the values of a field in many IDs at once.

use alloc::{vec, vec::Vec};

use polyflake::{
    Error, Result,
    layout::{Batch, FieldIndex, Layout},
};

use super::ids::{role, set};
use crate::{At, Host, Machine, message::Reader, protocol::slot};

/// Returns the field with the role and name in a message.
fn slot(layout: &Layout, message: &mut Reader<'_>) -> Result<FieldIndex> {
    match (message.length(), message.text()) {
        (role::TIME, _) => layout.timestamp(),
        (role::SEQUENCE, _) => layout.sequence(),
        (role::BINDABLE, name) => layout.bindable(name),
        (_, name) => layout.constant(name),
    }
}

/// Turns an error's item within this call into its index among all items; `first` is the index of the call's first item.
fn among(first: usize) -> impl Fn(Error) -> Error {
    move |error| match error.item() {
        Some(item) => error.in_item(first + item),
        None => error,
    }
}

/// Calls of layouts. They also take a handle, a message, a count of at most [`BATCH`](crate::protocol::BATCH), and the index of
/// the first ID within the whole batch.
impl<C: Host> Machine<C> {
    /// Takes a field, packed IDs, and 1 for numbers instead of integers. Writes a number or an integer for each ID.
    #[allow(clippy::cast_precision_loss, reason = "numbers are asked for where 53 bits are enough")]
    pub fn layout_column(&self, at: At) -> Result<()> {
        let (object, count, first) =
            (self.object(at)?, at.count(slot::MANY_COUNT), at.place(slot::MANY_FIRST));
        let is_number = at.place(slot::COLUMN_IS_NUMBER) == 1;
        let (layout, message, mut column) =
            (object.layout()?, self.take_message(at), vec![0; count]);
        let mut message = Reader::new(&message);
        let slot = slot(layout, &mut message)?;
        if layout.is_integer() {
            layout.integer_column(slot, &message.integers(count), &mut column)
        } else {
            layout.bytes_column(slot, message.rest(), &mut column)
        }
        .map_err(among(first))?;
        for (index, value) in column.into_iter().enumerate() {
            let bits = if is_number { (value as f64).to_bits() } else { value.cast_unsigned() };
            self.scratch.put_bytes(index * 8, &bits.to_ne_bytes());
        }
        Ok(())
    }

    /// Takes the number of columns; the field of each column, 1 for numbers instead of integers, and its values; and single
    /// values. Writes packed IDs.
    pub fn layout_pack_columns(&self, at: At) -> Result<()> {
        let (object, count, first) =
            (self.object(at)?, at.count(slot::MANY_COUNT), at.place(slot::MANY_FIRST));
        let (layout, message) = (object.layout()?, self.take_message(at));
        let (mut message, mut columns) = (Reader::new(&message), Vec::new());
        for _ in 0..message.length() {
            columns.push((slot(layout, &mut message)?, message.column(count)));
        }
        let mut values = layout.values();
        set(&mut values, message)?;
        let columns: Vec<_> = columns.iter().map(|(slot, column)| (*slot, &**column)).collect();
        let pack = |ids: Batch<'_>| values.pack_columns(&columns, ids).map(|()| count);
        self.answer_packed(at, layout, count, &pack).map_err(among(first))
    }
}

impl Reader<'_> {
    /// Returns the next column: 1 before `count` whole numbers as floats, else 0 before `count` integers.
    fn column(&mut self, count: usize) -> Vec<i64> {
        let (is_number, mut column) = (self.length() == 1, self.integers(count));
        if is_number {
            for value in &mut column {
                *value = whole(f64::from_bits(value.cast_unsigned()));
            }
        }
        column
    }
}

#[allow(clippy::cast_possible_truncation, reason = "the package looked")]
fn whole(number: f64) -> i64 {
    number as i64
}
