//! The buffers of an Arrow array.

use std::{ffi::c_void, slice};

use super::Array;

/// The buffers of an array.
pub(super) struct Buffers<'a> {
    pub(super) pointers: &'a [*const c_void],
    /// The index in each buffer at which the array's items begin.
    pub(super) offset: usize,
    /// The number of items in the array.
    pub(super) length: usize,
    /// The validity bitmap, including the bits before `offset`, or `None` if the array has no nulls.
    nulls: Option<&'a [u8]>,
}

/// The maximum number of items in an array. Even at one bit per item, an array of this length would take 16 TiB.
const MAX_LENGTH: i64 = 1 << 47;

impl<'a> Buffers<'a> {
    /// Returns the buffers of an array, or `None` if the array violates the rules of Arrow's C data interface.
    pub(super) fn from_array(array: &'a Array) -> Option<Self> {
        let count = usize::try_from(array.n_buffers).ok()?;
        if [array.offset, array.length].iter().any(|items| !(0..=MAX_LENGTH).contains(items)) {
            return None;
        }
        let (offset, length) = (array.offset.try_into().ok()?, array.length.try_into().ok()?);
        // -1 means that the nulls were not counted.
        let is_null_count_valid = (-1..=array.length).contains(&array.null_count);
        let may_be_there = is_addressable::<*const c_void>(0, count) && count > 0;
        if array.buffers.is_null()
            || array.release.is_none()
            || !is_null_count_valid
            || !may_be_there
        {
            return None;
        }
        // SAFETY: the interface guarantees that `n_buffers` pointers exist until the array is released.
        let pointers = unsafe { slice::from_raw_parts(array.buffers.cast_const(), count) };
        let mut buffers = Self { pointers, offset, length, nulls: None };
        let has_map = !pointers[0].is_null();
        if array.null_count > 0 && !has_map {
            return None;
        }
        if array.null_count != 0 && has_map {
            buffers.nulls = Some(buffers.slice(0, 0, offset.checked_add(length)?.div_ceil(8))?);
        }
        Some(buffers)
    }

    /// Returns `length` items of a buffer, starting at `first`, or `None` if no buffer can contain that many items. Every
    /// bit pattern must be a valid `T`.
    pub(super) fn slice<T>(&self, buffer: usize, first: usize, length: usize) -> Option<&'a [T]> {
        let start = self.pointers.get(buffer)?.cast::<T>();
        if length == 0 {
            return Some(&[]);
        }
        let is_well = !start.is_null() && start.is_aligned() && is_addressable::<T>(first, length);
        // SAFETY: the callers request only items that the array's offset and length, its offsets buffer or its views
        // specify. The interface guarantees that these items exist and do not change. The check above shows that they fit
        // in one allocation.
        is_well.then(|| unsafe { slice::from_raw_parts(start.add(first), length) })
    }

    /// Returns whether an item is null.
    pub(super) fn is_null(&self, index: usize) -> bool {
        let bit = self.offset + index;
        self.nulls.is_some_and(|map| map[bit / 8] >> (bit % 8) & 1 == 0)
    }

    /// Returns the index of the first null, or the length if no item is null.
    pub(super) fn first_null(&self) -> usize {
        let mut items = if self.nulls.is_some() { 0..self.length } else { 0..0 };
        items.find(|index| self.is_null(*index)).unwrap_or(self.length)
    }
}

/// Returns whether a single allocation can contain `length` items after the first `first` items.
fn is_addressable<T>(first: usize, length: usize) -> bool {
    let end = first.checked_add(length).and_then(|end| end.checked_mul(size_of::<T>()));
    end.is_some_and(|bytes| isize::try_from(bytes).is_ok())
}
