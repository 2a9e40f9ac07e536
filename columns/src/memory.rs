//! Memory for many IDs.

use std::ffi::CStr;

use polyflake::{hotguid::HotGuid, randflake::Randflake, sno::Sno};

use crate::{
    OutOfMemory,
    texts::{Chars, GuidChars},
};

mod sealed {
    /// Types that are transparent around bytes or one integer, so that zero bytes are a value of them.
    pub trait Zeroable {}
}

/// A type whose memory is cells of one kind, and for which zero bytes are a value.
pub trait Plain: sealed::Zeroable + Copy + Send + Sync + 'static {
    /// The format of a cell, as buffers of the host tell it (PEP 3118).
    const FORMAT: &CStr;
    /// Bytes of a cell.
    const CELL: usize;
    /// Arrow's format of a column of these cells; empty if there is none.
    const ARROW: &str;
}

/// Kinds of cells: the format, the bytes and the Arrow format of one.
macro_rules! plain {
    ($($type:ty: $format:literal, $cell:literal, $arrow:literal;)*) => {$(
        impl sealed::Zeroable for $type {}
        impl Plain for $type {
            const FORMAT: &CStr = $format;
            const CELL: usize = $cell;
            const ARROW: &str = $arrow;
        }
    )*};
}

plain! {
    Sno: c"B", 1, "";
    HotGuid: c"B", 1, "";
    Randflake: c"q", 8, "l";
    Chars: c"16s", 16, "";
    GuidChars: c"36s", 36, "";
    u8: c"B", 1, "C";
    u16: c"H", 2, "S";
    u32: c"I", 4, "I";
    i32: c"i", 4, "i";
    i64: c"q", 8, "l";
}

/// An empty vector with room for `count` items.
///
/// # Errors
/// If memory is short; nothing aborts.
pub fn room<T>(count: usize) -> Result<Vec<T>, OutOfMemory> {
    let mut items = Vec::new();
    items.try_reserve_exact(count).map_err(|_| OutOfMemory)?;
    Ok(items)
}

/// A copy of items.
///
/// # Errors
/// As [`room`].
pub fn copy_of<T: Copy>(items: &[T]) -> Result<Vec<T>, OutOfMemory> {
    let mut copy = room(items.len())?;
    copy.extend_from_slice(items);
    Ok(copy)
}

/// A vector of `count` items to be overwritten.
///
/// # Errors
/// As [`room`].
pub fn room_for<T: Plain>(count: usize) -> Result<Vec<T>, OutOfMemory> {
    let mut items = room(count)?;
    grow(&mut items, count);
    Ok(items)
}

/// Lengthens a vector that has room for `count` items, to be overwritten, to that many.
///
/// # Panics
/// If there is no room.
pub fn grow<T: Plain>(items: &mut Vec<T>, count: usize) {
    let (length, more) = (items.len(), count.saturating_sub(items.len()));
    let places = &mut items.spare_capacity_mut()[..more];
    // SAFETY: the places are the vector's, behind its items, and zeros are a valid item of a `Plain` type. (`resize` takes 0.3 ns
    // for an item of 10 bytes.)
    #[allow(unsafe_code)]
    unsafe {
        places.as_mut_ptr().write_bytes(0, places.len());
        items.set_len(length + more);
    }
}

/// The first items of a vector, in no more memory than they need.
pub fn first<T>(mut items: Vec<T>, count: usize) -> Vec<T> {
    if count < items.len() {
        items.truncate(count);
        items.shrink_to_fit();
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_much_memory_is_an_error() {
        assert_eq!(room::<u64>(usize::MAX), Err(OutOfMemory));
        assert_eq!(room_for::<Sno>(usize::MAX / 2), Err(OutOfMemory));
    }

    #[test]
    fn a_vector_grows_within_its_room() {
        let mut items: Vec<u16> = room(10).expect("memory");
        for (count, length) in [(0, 0), (4, 4), (3, 4), (10, 10)] {
            grow(&mut items, count);
            assert_eq!((items.len(), items.iter().all(|item| *item == 0)), (length, true));
        }
    }

    #[test]
    fn a_shorter_result_takes_less_memory() {
        let items = first(vec![7_u8; 1000], 10);
        assert_eq!((items.len(), items.capacity() < 1000), (10, true));
        assert_eq!(first(vec![1, 2], 2), [1, 2]);
    }
}
