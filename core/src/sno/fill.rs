//! Writing a run of IDs, which differ only in the last two bytes.

use super::Sno;
use crate::arch::{self, Level, scalar};

/// Below this many IDs, scalar code is faster.
const FEW: usize = 32;

/// Writes IDs with consecutive sequences, beginning with `first`, into packed bytes whose length is a multiple of 10.
#[inline]
pub(super) fn write_run(ids: &mut [u8], first: Sno) {
    if ids.len() < FEW * Sno::LEN {
        return scalar::fill::write_run(ids, first.to_bytes());
    }
    write_run_with(arch::level(), ids, first);
}

/// `write_run` at a given level.
pub fn write_run_with(level: Level, ids: &mut [u8], first: Sno) {
    level.fill_sno(ids, first.to_bytes());
}
