//! Fields of many IDs at once: into columns, and as filters, without looking at the rest.
//!
//! A filter writes a bitmap with one bit for each ID, from the lowest bit of each byte on, as in Arrow's boolean arrays. Filters
//! are joined by `&` and `|`.
//!
//! `scalar.rs` asks each ID for its fields. Beside it is a file for each instruction set that is worth one, under the
//! contract of `slices::Kernels`.

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod avx512;
#[cfg(all(target_arch = "aarch64", target_endian = "little", target_feature = "neon"))]
mod neon;
#[cfg(any(
    all(target_arch = "x86_64", target_feature = "sse2"),
    all(target_arch = "aarch64", target_endian = "little", target_feature = "neon"),
    all(target_arch = "wasm32", target_feature = "simd128")
))]
mod pairs;
mod scalar;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod simd128;
pub mod slices;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod sse41;

use super::{SCALE, Sno};
use crate::{Result, UnixTime, cpu, format::Ticks};

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
    slices::unix_ms(cpu::level(), ids, column)
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
    slices::metabyte(cpu::level(), ids, column)
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
    slices::partition(cpu::level(), ids, column)
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
    slices::sequence(cpu::level(), ids, column)
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
    slices::having_metabyte(cpu::level(), ids, metabyte, bitmap)
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
    slices::in_ticks(cpu::level(), ids, SCALE.ticks_within(start.into(), end.into())?, bitmap)
}
