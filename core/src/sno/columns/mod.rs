//! Fields of many IDs at once: into columns, and as filters, without looking at the rest.
//!
//! A filter writes a bitmap with one bit for each ID, from the lowest bit of each byte on, as in Arrow's boolean arrays. Filters
//! are joined by `&` and `|`.

pub mod slices;

use super::{SCALE, Sno};
use crate::{Result, UnixTime, arch, format::Ticks};

/// Writes the start of each ID's tick, in Unix milliseconds.
///
/// ```
/// use polyflake::sno::{self, Sno};
///
/// let ids = [Sno::parse("93bm44ab22flxhjb")?, Sno::default()];
/// let mut column = [0; 2];
/// sno::unix_ms_column(&ids, &mut column)?;
/// assert_eq!(column, [ids[0].unix_ms(), 1_262_304_000_000]);
/// # Ok::<(), polyflake::Error>(())
/// ```
///
/// # Errors
/// `invalid_length` unless the slices are equally long.
pub fn unix_ms_column(ids: &[Sno], column: &mut [i64]) -> Result<()> {
    slices::unix_ms(arch::level(), ids, column)
}

/// Writes the metabyte of each ID.
///
/// ```
/// use polyflake::sno::{self, Sno};
///
/// let ids = [1, 7, 7].map(|metabyte| Sno::default().with_metabyte(metabyte));
/// let mut column = [0; 3];
/// sno::metabyte_column(&ids, &mut column)?;
/// assert_eq!(column, [1, 7, 7]);
/// # Ok::<(), polyflake::Error>(())
/// ```
///
/// # Errors
/// `invalid_length` unless the slices are equally long.
pub fn metabyte_column(ids: &[Sno], column: &mut [u8]) -> Result<()> {
    slices::metabyte(arch::level(), ids, column)
}

/// Writes the partition of each ID.
///
/// ```
/// use polyflake::sno::{self, Sno};
///
/// let ids = [42, 300].map(|partition| Sno::default().with_partition(partition));
/// let mut column = [0; 2];
/// sno::partition_column(&ids, &mut column)?;
/// assert_eq!(column, [42, 300]);
/// # Ok::<(), polyflake::Error>(())
/// ```
///
/// # Errors
/// `invalid_length` unless the slices are equally long.
pub fn partition_column(ids: &[Sno], column: &mut [u16]) -> Result<()> {
    slices::partition(arch::level(), ids, column)
}

/// Writes the sequence of each ID.
///
/// ```
/// use polyflake::sno::{self, Sno};
///
/// let ids = [8, 9].map(|sequence| Sno::default().with_sequence(sequence));
/// let mut column = [0; 2];
/// sno::sequence_column(&ids, &mut column)?;
/// assert_eq!(column, [8, 9]);
/// # Ok::<(), polyflake::Error>(())
/// ```
///
/// # Errors
/// `invalid_length` unless the slices are equally long.
pub fn sequence_column(ids: &[Sno], column: &mut [u16]) -> Result<()> {
    slices::sequence(arch::level(), ids, column)
}

/// Filters IDs by a metabyte: sets the bits of the IDs that have it in `bitmap`, clears the others, and returns the number of
/// set bits.
///
/// ```
/// use polyflake::sno::{self, Sno};
///
/// let ids = [1, 7, 7].map(|metabyte| Sno::default().with_metabyte(metabyte));
/// let mut bitmap = [0];
/// assert_eq!(sno::having_metabyte(&ids, 7, &mut bitmap)?, 2);
/// assert_eq!(bitmap, [0b110]);
/// # Ok::<(), polyflake::Error>(())
/// ```
///
/// # Errors
/// `invalid_length` unless the bitmap has one byte for every eight IDs, rounded up.
pub fn having_metabyte(ids: &[Sno], metabyte: u8, bitmap: &mut [u8]) -> Result<usize> {
    slices::having_metabyte(arch::level(), ids, metabyte, bitmap)
}

/// Filters IDs by the half-open time range `start .. end`, in Unix milliseconds or as `SystemTime`s, into a bitmap as in
/// [`having_metabyte`]. An ID is in the range if its own tick begins in it.
///
/// ```
/// use polyflake::sno::{self, Sno};
///
/// let ids = [Sno::parse("9d5ve8222622g222")?, Sno::parse("9d5ve8242622g222")?, Sno::MAX]; // two of 2026-01-01
/// let mut bitmap = [0];
/// assert_eq!(sno::in_time_range(&ids, 1_767_225_600_000, 1_767_312_000_000, &mut bitmap)?, 2);
/// assert_eq!(bitmap, [0b011]);
/// # Ok::<(), polyflake::Error>(())
/// ```
///
/// # Errors
/// As [`Sno::time_range`] for the range, and `invalid_length` as [`having_metabyte`].
pub fn in_time_range(
    ids: &[Sno],
    start: impl Into<UnixTime>,
    end: impl Into<UnixTime>,
    bitmap: &mut [u8],
) -> Result<usize> {
    slices::in_ticks(arch::level(), ids, SCALE.ticks_within(start.into(), end.into())?, bitmap)
}
