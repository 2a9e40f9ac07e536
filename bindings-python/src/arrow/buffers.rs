//! The buffers of an Arrow array.

use std::{ffi::c_void, slice};

use super::Array;

/// The buffers of an array.
pub(super) struct Buffers<'a> {
    pub(super) pointers: &'a [*const c_void],
    /// The index in each buffer at which the array begins.
    pub(super) offset: usize,
    /// Number of items in the array.
    length: usize,
    may_have_nulls: bool,
}

impl<'a> Buffers<'a> {
    /// The buffers of an array, and the number of items before its first null; `None` if the array breaks the interface's rules.
    pub(super) fn before_null(array: &'a Array) -> Option<(Self, usize)> {
        let buffers = Self::of(array)?;
        let length = buffers.first_null()?;
        Some((buffers, length))
    }

    /// Returns `true` if a null follows the first `length` items.
    pub(super) fn end_at_null(&self, length: usize) -> bool {
        length < self.length
    }

    fn of(array: &'a Array) -> Option<Self> {
        let count = usize::try_from(array.n_buffers).ok()?;
        if array.buffers.is_null() || array.release.is_none() {
            return None;
        }
        // SAFETY: by the interface there are `n_buffers` pointers, for as long as the array is not released.
        let pointers = unsafe { slice::from_raw_parts(array.buffers.cast_const(), count) };
        let (offset, length) = (array.offset.try_into().ok()?, array.length.try_into().ok()?);
        Some(Self { pointers, offset, length, may_have_nulls: array.null_count != 0 })
    }

    /// `length` items of a buffer from `first` on. Any bytes must be a valid `T`.
    pub(super) fn slice<T>(&self, buffer: usize, first: usize, length: usize) -> Option<&'a [T]> {
        let start = self.pointers.get(buffer)?.cast::<T>();
        if length == 0 {
            return Some(&[]);
        }
        let is_well = !start.is_null() && start.is_aligned();
        // SAFETY: the callers ask for no more items than the array's length, and by the interface these are there and do not
        // change.
        is_well.then(|| unsafe { slice::from_raw_parts(start.add(first), length) })
    }

    /// Index of the first null; the length if there is none.
    fn first_null(&self) -> Option<usize> {
        let length = self.length;
        if !self.may_have_nulls || self.pointers.first()?.is_null() {
            return Some(length);
        }
        let map = self.slice::<u8>(0, 0, (self.offset + length).div_ceil(8))?;
        let is_null = |index: &usize| {
            let bit = self.offset + index;
            map[bit / 8] >> (bit % 8) & 1 == 0
        };
        Some((0..length).find(is_null).unwrap_or(length))
    }
}
