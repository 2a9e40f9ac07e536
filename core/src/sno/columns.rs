//! Reads the fields of many IDs at once, as columns.

use super::{SCALE, Sno, slice_bytes::as_arrays};
use crate::{
    Result,
    arch::{self, Level, scalar},
    error::check_same_length,
};

// The column kernels hard-code the format's epoch and its tick length of 4 ms.
const _: () = assert!(SCALE.epoch_ms == scalar::columns::EPOCH_MS && SCALE.tick_ms == 4);

/// Writes the start of each ID's tick to `column`, in Unix milliseconds.
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
/// Returns `invalid_length` unless both slices have the same length.
pub fn unix_ms_column(ids: &[Sno], column: &mut [i64]) -> Result<()> {
    check_same_length(ids.len(), column.len())?;
    arch::level().unix_ms(as_arrays(ids), column);
    Ok(())
}

/// Writes the metabyte of each ID to `column`.
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
/// Returns `invalid_length` unless both slices have the same length.
pub fn metabyte_column(ids: &[Sno], column: &mut [u8]) -> Result<()> {
    check_same_length(ids.len(), column.len())?;
    arch::level().metabyte(as_arrays(ids), column);
    Ok(())
}

/// Writes the partition of each ID to `column`.
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
/// Returns `invalid_length` unless both slices have the same length.
pub fn partition_column(ids: &[Sno], column: &mut [u16]) -> Result<()> {
    check_same_length(ids.len(), column.len())?;
    arch::level().partition(as_arrays(ids), column);
    Ok(())
}

/// Writes the sequence number of each ID to `column`.
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
/// Returns `invalid_length` unless both slices have the same length.
pub fn sequence_column(ids: &[Sno], column: &mut [u16]) -> Result<()> {
    check_same_length(ids.len(), column.len())?;
    arch::level().sequence(as_arrays(ids), column);
    Ok(())
}

/// Writes all four columns, using the kernels for the given instruction-set level. Each column must be as long as `ids`.
pub fn columns_at_level(
    level: Level,
    ids: &[Sno],
    (times, metabytes): (&mut [i64], &mut [u8]),
    (partitions, sequences): (&mut [u16], &mut [u16]),
) {
    level.unix_ms(as_arrays(ids), times);
    level.metabyte(as_arrays(ids), metabytes);
    level.partition(as_arrays(ids), partitions);
    level.sequence(as_arrays(ids), sequences);
}
