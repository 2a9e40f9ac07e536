//! Whole slices of IDs, by the kernels of a level.

use super::super::{SCALE, Sno, packed::arrays};
use crate::{
    Error, Result,
    arch::{Level, scalar},
};

// The kernels count from the same moment, in ticks of 4 ms.
const _: () = assert!(SCALE.epoch_ms == scalar::columns::EPOCH_MS && SCALE.tick_ms == 4);

/// [`super::unix_ms_column`] at a given level.
///
/// # Errors
/// As there.
pub fn unix_ms(level: Level, ids: &[Sno], column: &mut [i64]) -> Result<()> {
    check_length(ids.len(), column.len())?;
    level.unix_ms(arrays(ids), column);
    Ok(())
}

/// [`super::metabyte_column`] at a given level.
///
/// # Errors
/// As there.
pub fn metabyte(level: Level, ids: &[Sno], column: &mut [u8]) -> Result<()> {
    check_length(ids.len(), column.len())?;
    level.metabyte(arrays(ids), column);
    Ok(())
}

/// [`super::partition_column`] at a given level.
///
/// # Errors
/// As there.
pub fn partition(level: Level, ids: &[Sno], column: &mut [u16]) -> Result<()> {
    check_length(ids.len(), column.len())?;
    level.partition(arrays(ids), column);
    Ok(())
}

/// [`super::sequence_column`] at a given level.
///
/// # Errors
/// As there.
pub fn sequence(level: Level, ids: &[Sno], column: &mut [u16]) -> Result<()> {
    check_length(ids.len(), column.len())?;
    level.sequence(arrays(ids), column);
    Ok(())
}

fn check_length(expected: usize, found: usize) -> Result<()> {
    if expected == found { Ok(()) } else { Err(Error::invalid_length(found, expected, expected)) }
}
