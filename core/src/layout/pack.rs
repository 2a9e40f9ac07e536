//! From values to an ID.

use alloc::{vec, vec::Vec};

use super::{
    Id, Layout, Slot, Value,
    layout::{Shape, unknown},
    placed::Role,
};
use crate::{Error, Result};

/// The values of one ID of a layout, by field: made once, set for every ID.
///
/// A [`Slot`] is a name looked up once. Setting a name or slot that the layout doesn't have is `unknown_field` at once;
/// everything else is checked when the ID is packed, field by field from the top: whether the value is there
/// (`missing_field`), its type (`invalid_type`), and whether it fits (`out_of_range`, `time_out_of_range`).
///
/// ```
/// use polyflake::layout::{Field, Layout};
///
/// let layout = Layout::integer([Field::unused(32), Field::bindable(24, "shard"), Field::sequence(8)])?;
/// let (shard, sequence) = (layout.bindable("shard")?, layout.sequence()?);
/// let mut values = layout.values();
/// values.set(shard, 7)?;
/// for n in 0..3 {
///     assert_eq!(values.set(sequence, n)?.pack_integer()?, 7 * 256 + n);
/// }
/// # Ok::<(), polyflake::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Values<'v> {
    layout: &'v Layout,
    given: Vec<Option<Value<'v>>>,
}

impl<'v> Values<'v> {
    pub(super) fn new(layout: &'v Layout) -> Self {
        Self { layout, given: vec![None; layout.fields.len()] }
    }

    /// Sets the value of a field.
    #[inline]
    pub fn set(&mut self, slot: Slot, value: impl Into<Value<'v>>) -> Result<&mut Self> {
        match self.layout.fields.get(slot.0) {
            Some(field) if field.role != Role::Unused => self.given[slot.0] = Some(value.into()),
            _ => return Err(unknown("a slot of another layout")),
        }
        Ok(self)
    }

    /// Sets the time, in Unix milliseconds; [`Value::Nanos`] where those are too coarse.
    pub fn time(&mut self, time: impl Into<Value<'v>>) -> Result<&mut Self> {
        self.set(self.layout.timestamp()?, time)
    }

    /// Sets the sequence.
    pub fn sequence(&mut self, sequence: impl Into<Value<'v>>) -> Result<&mut Self> {
        self.set(self.layout.sequence()?, sequence)
    }

    /// Sets a bindable.
    pub fn bind(&mut self, name: &str, value: impl Into<Value<'v>>) -> Result<&mut Self> {
        self.set(self.layout.bindable(name)?, value)
    }

    /// Overrides a constant.
    pub fn constant(&mut self, name: &str, value: impl Into<Value<'v>>) -> Result<&mut Self> {
        self.set(self.layout.constant(name)?, value)
    }

    /// The ID of these values.
    pub fn pack(&self) -> Result<Id> {
        match self.layout.shape {
            Shape::Integer => self.pack_integer().map(Id::Integer),
            Shape::Bytes(length) => {
                let mut id = vec![0; length];
                self.write(&mut id)?;
                Ok(Id::Bytes(id))
            }
        }
    }

    /// The ID of these values, in an integer layout; `invalid_type` in one of bytes.
    #[inline]
    pub fn pack_integer(&self) -> Result<i64> {
        if self.layout.shape != Shape::Integer {
            return Err(Error::invalid_type("an integer layout", "a layout of byte IDs"));
        }
        let mut word = 0;
        for (field, given) in self.layout.fields.iter().zip(&self.given) {
            word |= field.word(given.as_ref())? << field.shift;
        }
        Ok(word.cast_signed())
    }

    /// Writes the ID of these values, in a layout of byte IDs; `invalid_type` in one of integers, `invalid_length` where
    /// `id` has another length than an ID. After an error `id` holds zeros.
    pub fn pack_into(&self, id: &mut [u8]) -> Result<()> {
        self.layout.check_length(id.len())?;
        id.fill(0);
        self.write(id).inspect_err(|_| id.fill(0))
    }

    fn write(&self, id: &mut [u8]) -> Result<()> {
        let fields = self.layout.fields.iter().zip(&self.given);
        fields.into_iter().try_for_each(|(field, given)| field.write(given.as_ref(), id))
    }

    pub(super) fn layout(&self) -> &'v Layout {
        self.layout
    }

    pub(super) fn get(&self, index: usize) -> Option<&Value<'v>> {
        self.given[index].as_ref()
    }
}
