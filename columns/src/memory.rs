//! Memory for many IDs.

use std::{
    ffi::CStr,
    mem,
    ops::{Deref, RangeInclusive},
    sync::Mutex,
};

use polyflake::{hotguid::HotGuid, randflake::Randflake, sno::Sno};

use crate::{
    OutOfMemory,
    texts::{Chars, GuidChars},
};

/// Sizes, in bytes, of memory that is kept for reuse. The C library may return memory of this size to the system when it is
/// freed, and new pages cost 3.5 ns an ID, twenty times the cost of filling them.
const SPARE: RangeInclusive<usize> = 1 << 17..=1 << 21;

/// Unused memory: at most one piece for a kind of item. No thread waits for the lock, so a forked child cannot hang on it.
type Spare<T> = Mutex<Vec<T>>;

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
    #[doc(hidden)]
    fn spare() -> &'static Mutex<Vec<Self>>;
}

/// Kinds of cells: the format, the bytes and the Arrow format of one.
macro_rules! plain {
    ($($type:ty: $format:literal, $cell:literal, $arrow:literal;)*) => {$(
        impl sealed::Zeroable for $type {}
        impl Plain for $type {
            const FORMAT: &CStr = $format;
            const CELL: usize = $cell;
            const ARROW: &str = $arrow;
            fn spare() -> &'static Spare<Self> {
                static SPARE: Spare<$type> = Spare::new(Vec::new());
                &SPARE
            }
        }
    )*};
}

plain! {
    Sno: c"B", 1, "";
    HotGuid: c"B", 1, "";
    Randflake: c"q", 8, "l";
    Chars: c"16s", 16, "";
    GuidChars: c"36s", 36, "";
    bool: c"?", 1, "";
    u8: c"B", 1, "C";
    u16: c"H", 2, "S";
    u32: c"I", 4, "I";
    i32: c"i", 4, "i";
    i64: c"q", 8, "l";
}

/// Items whose memory is kept for reuse when they are dropped.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Recycled<T: Plain>(Vec<T>);

impl<T: Plain> From<Vec<T>> for Recycled<T> {
    fn from(items: Vec<T>) -> Self {
        Self(items)
    }
}

impl<T: Plain> Deref for Recycled<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T: Plain> Drop for Recycled<T> {
    fn drop(&mut self) {
        if !SPARE.contains(&size_of_val(&*self.0)) {
            return;
        }
        if let Ok(mut spare) = T::spare().try_lock()
            && spare.len() < self.0.len()
        {
            mem::swap(&mut *spare, &mut self.0);
        }
    }
}

/// The spare memory, if it suffices and at most half of it would lie idle.
fn spare<T: Plain>(count: usize) -> Option<Vec<T>> {
    let mut spare = T::spare().try_lock().ok()?;
    let is_worth_it = SPARE.contains(&count.saturating_mul(size_of::<T>()));
    let suits = is_worth_it && (count..=count.saturating_mul(2)).contains(&spare.len());
    suits.then(|| mem::take(&mut *spare))
}

/// An empty vector with room for `count` items.
///
/// # Errors
/// If memory is short; nothing aborts.
pub fn room<T>(count: usize) -> Result<Vec<T>, OutOfMemory> {
    let mut items = Vec::new();
    items.try_reserve_exact(count).map_err(|_| OutOfMemory)?;
    ask_for_huge_pages(&mut items);
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
    if let Some(mut items) = spare(count) {
        items.truncate(count);
        return Ok(items);
    }
    let mut items: Vec<T> = room(count)?;
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

/// Asks Linux for huge pages for large memory, as `NumPy` does. Without them, the first touch of each small page is so slow
/// that 10 million IDs were parsed in 69 ms instead of 22.
#[cfg(all(target_os = "linux", not(miri)))]
#[allow(unsafe_code)]
fn ask_for_huge_pages<T>(items: &mut Vec<T>) {
    const LARGE: usize = 1 << 22;
    const PAGE: usize = 1 << 12;
    let memory = items.spare_capacity_mut();
    let (start, length) = (memory.as_mut_ptr().cast::<u8>(), size_of_val(memory));
    if length >= LARGE {
        let first = start.align_offset(PAGE);
        // SAFETY: the pages that begin in this memory are this vector's up to its end. It is advice, which changes no content, and
        // which the system may refuse.
        unsafe {
            libc::madvise(start.wrapping_add(first).cast(), length - first, libc::MADV_HUGEPAGE)
        };
    }
}

#[cfg(not(all(target_os = "linux", not(miri))))]
fn ask_for_huge_pages<T>(_: &mut Vec<T>) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_much_memory_is_an_error() {
        assert_eq!(room::<u64>(usize::MAX), Err(OutOfMemory));
        assert_eq!(room_for::<Sno>(usize::MAX / 2), Err(OutOfMemory));
    }

    #[test]
    fn dropped_memory_is_used_again() {
        // No other test has items of this type.
        let count = SPARE.start() / size_of::<i32>();
        let items: Vec<i32> = room_for(count).expect("memory");
        assert!(items.iter().all(|item| *item == 0));
        let place = items.as_ptr();
        drop(Recycled::from(items));
        let again: Vec<i32> = room_for(count).expect("memory");
        assert_eq!((again.as_ptr(), again.len()), (place, count));
        let other: Vec<i32> = room_for(count).expect("memory");
        assert_ne!(other.as_ptr(), place);
        drop(Recycled::from(again));
        assert!(spare::<i32>(count / 2 - 1).is_none(), "most of it would lie idle");
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
