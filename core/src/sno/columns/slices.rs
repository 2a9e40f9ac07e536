//! The kernel of a level, for whole slices.

use core::ops::Range;

use super::{super::Sno, scalar};
use crate::{
    Error, Result,
    cpu::{Level, Set},
};

/// The functions of each instruction set's file, for columns as long as the IDs, and bitmaps with a byte for every eight IDs.
/// Filters return the number of bits that they set.
pub(super) struct Kernels {
    pub(super) unix_ms: unsafe fn(&[Sno], &mut [i64]),
    pub(super) metabyte: unsafe fn(&[Sno], &mut [u8]),
    pub(super) partition: unsafe fn(&[Sno], &mut [u16]),
    pub(super) sequence: unsafe fn(&[Sno], &mut [u16]),
    pub(super) having_metabyte: unsafe fn(&[Sno], u8, &mut [u8]) -> usize,
    pub(super) in_ticks: unsafe fn(&[Sno], Range<u64>, &mut [u8]) -> usize,
}

const fn kernels(level: Level) -> &'static Kernels {
    match level.set() {
        Set::Scalar => &scalar::KERNELS,
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        Set::Sse41 | Set::Avx2 => &super::sse41::KERNELS,
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        Set::Avx512 => &super::avx512::KERNELS,
        #[cfg(all(target_arch = "aarch64", target_endian = "little", target_feature = "neon"))]
        Set::Neon => &super::neon::KERNELS,
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        Set::Simd128 => &super::simd128::KERNELS,
    }
}

/// Number of set bits. It is inlined, to be counted with the caller's instructions.
#[inline(always)]
#[allow(clippy::inline_always, reason = "what is not inlined would lack the set's features")]
pub(super) fn ones(bitmap: &[u8]) -> usize {
    let (words, last) = bitmap.as_chunks();
    let ones = words.iter().map(|word| u64::from_le_bytes(*word).count_ones());
    ones.chain(last.iter().map(|byte| byte.count_ones())).map(|ones| ones as usize).sum()
}

/// [`super::unix_ms_column`] at a given level.
///
/// # Errors
/// As there.
pub fn unix_ms(level: Level, ids: &[Sno], column: &mut [i64]) -> Result<()> {
    fill(ids, column, kernels(level).unix_ms)
}

/// [`super::metabyte_column`] at a given level.
///
/// # Errors
/// As there.
pub fn metabyte(level: Level, ids: &[Sno], column: &mut [u8]) -> Result<()> {
    fill(ids, column, kernels(level).metabyte)
}

/// [`super::partition_column`] at a given level.
///
/// # Errors
/// As there.
pub fn partition(level: Level, ids: &[Sno], column: &mut [u16]) -> Result<()> {
    fill(ids, column, kernels(level).partition)
}

/// [`super::sequence_column`] at a given level.
///
/// # Errors
/// As there.
pub fn sequence(level: Level, ids: &[Sno], column: &mut [u16]) -> Result<()> {
    fill(ids, column, kernels(level).sequence)
}

/// [`super::having_metabyte`] at a given level.
///
/// # Errors
/// As there.
pub fn having_metabyte(
    level: Level,
    ids: &[Sno],
    metabyte: u8,
    bitmap: &mut [u8],
) -> Result<usize> {
    check_length(ids.len().div_ceil(8), bitmap.len())?;
    // SAFETY: holding a `Level` proves that the machine has its instructions.
    #[allow(unsafe_code)]
    Ok(unsafe { (kernels(level).having_metabyte)(ids, metabyte, bitmap) })
}

/// [`super::in_time_range`] at a given level, in ticks of 39 bits.
///
/// # Errors
/// `invalid_length` as there.
pub fn in_ticks(level: Level, ids: &[Sno], ticks: Range<u64>, bitmap: &mut [u8]) -> Result<usize> {
    check_length(ids.len().div_ceil(8), bitmap.len())?;
    // SAFETY: holding a `Level` proves that the machine has its instructions.
    #[allow(unsafe_code)]
    Ok(unsafe { (kernels(level).in_ticks)(ids, ticks, bitmap) })
}

/// Checks the lengths and calls `kernel`, which belongs to a level.
fn fill<T>(ids: &[Sno], column: &mut [T], kernel: unsafe fn(&[Sno], &mut [T])) -> Result<()> {
    check_length(ids.len(), column.len())?;
    // SAFETY: the kernel belongs to a `Level`, and holding one proves that the machine has its instructions.
    #[allow(unsafe_code)]
    unsafe {
        kernel(ids, column);
    }
    Ok(())
}

fn check_length(expected: usize, found: usize) -> Result<()> {
    if expected == found { Ok(()) } else { Err(Error::invalid_length(found, expected, expected)) }
}
