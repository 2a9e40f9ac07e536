//! Fields of many IDs at once, as columns.

pub mod slices;

use super::Sno;
use crate::{Result, arch};

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
