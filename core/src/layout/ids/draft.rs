//! An ID in the making: its fields are set one by one, in any order, also more than once.

use alloc::vec;

use crate::layout::{Id, Placed, Shape, shape::bits};

impl Id {
    /// An ID of all zeros.
    pub(in crate::layout) fn zero(shape: Shape) -> Self {
        match shape {
            Shape::Integer => Self::Integer(0),
            Shape::Bytes(length) => Self::Bytes(vec![0; length]),
        }
    }

    /// Puts a number into a field of at most 64 bits; inverts it in an inverted field.
    #[inline]
    pub(in crate::layout) fn put(&mut self, field: &Placed, number: u64) {
        match self {
            Self::Integer(id) => *id = field.put_in_integer(*id, number),
            Self::Bytes(id) => field.put_in(id, number),
        }
    }

    /// Puts a big-endian number into a field of any width; inverts it in an inverted field.
    pub(in crate::layout) fn put_wide(&mut self, field: &Placed, number: &[u8]) {
        if let Self::Bytes(id) = self {
            bits::put_wide(id, field.offset, field.width.bits, number, field.invert);
        }
    }

    /// Sets all bits of a field, or clears them.
    pub(in crate::layout) fn fill(&mut self, field: &Placed, ones: bool) {
        match self {
            Self::Integer(_) if ones => self.put(field, field.width.most ^ field.flip),
            Self::Integer(_) => self.put(field, field.flip),
            Self::Bytes(id) => bits::put_wide(id, field.offset, field.width.bits, &[], ones),
        }
    }

    /// Returns whether all bits above the lowest `limit` bits are zero.
    pub(in crate::layout) fn is_below(&self, limit: u32) -> bool {
        let length = match self {
            Self::Integer(id) => bits::length(&id.to_be_bytes()),
            Self::Bytes(id) => bits::length(id),
        };
        length <= limit as usize
    }
}
