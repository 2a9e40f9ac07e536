//! Memory for many IDs.

use std::{
    mem,
    ops::{Deref, RangeInclusive},
    sync::Mutex,
};

use polyflake::Error;
use pyo3::{exceptions::PyMemoryError, prelude::*};

use super::array::Plain;
use crate::errors::raise;

/// Sizes, in bytes, of memory that is kept for reuse. The C library may return memory of this size to the system when it is
/// freed, and new pages cost 3.5 ns an ID, twenty times the cost of filling them.
const SPARE: RangeInclusive<usize> = 1 << 17..=1 << 21;

/// Unused memory: at most one piece for a kind of item. No thread waits for the lock, so a forked child cannot hang on it.
pub(crate) type Spare<T> = Mutex<Vec<T>>;

/// Items whose memory is kept for reuse when they are dropped.
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Kept<T: Plain>(Vec<T>);

impl<T: Plain> From<Vec<T>> for Kept<T> {
    fn from(items: Vec<T>) -> Self {
        Self(items)
    }
}

impl<T: Plain> Deref for Kept<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T: Plain> Drop for Kept<T> {
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

/// An empty vector with room for `count` items; an error, not an abort, if memory is short.
pub(crate) fn room<T>(count: usize) -> PyResult<Vec<T>> {
    let mut items = Vec::new();
    items.try_reserve_exact(count).map_err(|_| PyMemoryError::new_err(()))?;
    ask_for_huge_pages(&mut items);
    Ok(items)
}

/// A copy of items.
pub(crate) fn copy_of<T: Copy>(items: &[T]) -> PyResult<Vec<T>> {
    let mut copy = room(items.len())?;
    copy.extend_from_slice(items);
    Ok(copy)
}

/// A vector of `count` items to be overwritten.
pub(crate) fn room_for<T: Plain>(count: usize) -> PyResult<Vec<T>> {
    if let Some(mut items) = spare(count) {
        items.truncate(count);
        return Ok(items);
    }
    let mut items: Vec<T> = room(count)?;
    // SAFETY: there is room for `count` items, and zeros are a valid item of a `Plain` type. (`resize` takes 0.3 ns for an item
    // of 10 bytes.)
    #[allow(unsafe_code)]
    unsafe {
        items.as_mut_ptr().write_bytes(0, count);
        items.set_len(count);
    }
    Ok(items)
}

/// Most bytes of all IDs of one call: the size of 2^24 IDs of 16 bytes, the largest of the fixed formats.
const MOST_BYTES: usize = 1 << 28;

/// Refuses `n` IDs of `bytes` bytes each if they take more than [`MOST_BYTES`].
pub(crate) fn check_bytes(n: usize, bytes: usize) -> PyResult<()> {
    let most = MOST_BYTES / bytes;
    if n > most {
        return Err(raise(Error::out_of_range("n", n as i128, 0, most as i128)));
    }
    Ok(())
}

/// The first items of a vector, in no more memory than they need.
pub(crate) fn first<T>(mut items: Vec<T>, count: usize) -> Vec<T> {
    if count < items.len() {
        items.truncate(count);
        items.shrink_to_fit();
    }
    items
}

/// Asks Linux for huge pages for large memory, as `NumPy` does. Without them, the first touch of each small page is so slow
/// that 10 million IDs were parsed in 69 ms instead of 22.
#[cfg(target_os = "linux")]
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

#[cfg(not(target_os = "linux"))]
fn ask_for_huge_pages<T>(_: &mut Vec<T>) {}
