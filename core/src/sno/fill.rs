//! Writes a run of IDs that differ only in their last two bytes.

use super::Sno;
use crate::arch::{self, Level, scalar};

/// Below this number of IDs, scalar code is faster than the kernels.
const MAX_SCALAR_LEN: usize = 32;

/// Writes IDs with consecutive sequence numbers, starting with `first`, into packed bytes whose length is a multiple of 10.
#[inline]
pub(super) fn write_run(ids: &mut [u8], first: Sno) {
    if ids.len() < MAX_SCALAR_LEN * Sno::LEN {
        return scalar::fill::write_run(ids, first.to_bytes());
    }
    write_run_at_level(arch::level(), ids, first);
}

/// Works like `write_run`, but uses the kernel for the given instruction-set level.
pub fn write_run_at_level(level: Level, ids: &mut [u8], first: Sno) {
    level.fill_sno(ids, first.to_bytes());
}
