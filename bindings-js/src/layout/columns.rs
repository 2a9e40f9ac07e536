//! Columns of custom layouts: a field of many IDs at once.

use alloc::{vec, vec::Vec};

use polyflake::{
    Error, Result,
    layout::{Layout, Slot},
};

use super::ids::{role, set};
use crate::{Host, Machine, message::Reader};

/// The field whose role and name a message says.
fn slot(layout: &Layout, message: &mut Reader<'_>) -> Result<Slot> {
    match (message.length(), message.text()) {
        (role::TIME, _) => layout.timestamp(),
        (role::SEQUENCE, _) => layout.sequence(),
        (role::BINDABLE, name) => layout.bindable(name),
        (_, name) => layout.constant(name),
    }
}

/// An error's item as one of all, of which the first of this call is the given one.
fn among(first: usize) -> impl Fn(Error) -> Error {
    move |error| match error.item() {
        Some(item) => error.in_item(first + item),
        None => error,
    }
}

/// Layouts, by the handle in the first slot; the length of a message is in the second, a count of at most
/// [`BATCH`](crate::generators::BATCH) in the third, the place of the first ID among all in the fourth.
impl<C: Host> Machine<C> {
    /// A field, packed IDs; whether the field's integers are numbers in the fifth slot -> a number or an integer for each ID.
    #[allow(clippy::cast_precision_loss, reason = "numbers are asked for where 53 bits are enough")]
    pub fn layout_column(&self) -> Result<()> {
        let (kept, count, first) = (self.kept()?, self.scratch.count(2), self.scratch.place(3));
        let is_number = self.scratch.place(4) == 1;
        let (layout, message, mut column) = (kept.layout()?, self.take_message(), vec![0; count]);
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

    /// How many columns there are; of each its field, whether it has numbers, and those or integers; values -> packed IDs.
    pub fn layout_pack_columns(&self) -> Result<()> {
        let (kept, count, first) = (self.kept()?, self.scratch.count(2), self.scratch.place(3));
        let (layout, message) = (kept.layout()?, self.take_message());
        let (mut message, mut columns) = (Reader::new(&message), Vec::new());
        for _ in 0..message.length() {
            columns.push((slot(layout, &mut message)?, message.column(count)));
        }
        let mut values = layout.values();
        set(&mut values, message)?;
        let columns: Vec<_> = columns.iter().map(|(slot, column)| (*slot, &**column)).collect();
        self.answer_packed(
            layout,
            count,
            |ids| values.pack_integer_columns(&columns, ids).map(|()| count),
            |ids| values.pack_bytes_columns(&columns, ids).map(|()| count),
        )
        .map_err(among(first))
    }
}

impl Reader<'_> {
    /// Whether there are numbers, which are whole, and so many of them; else integers.
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
