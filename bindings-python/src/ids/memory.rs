//! Allocates memory for many IDs, and raises Python exceptions on failure.

use polyflake::Error;
use polyflake_columns::{self as columns, Fault, OutOfMemory, Plain};
use pyo3::{exceptions::PyMemoryError, prelude::*};

use crate::errors::raise;

/// Returns the exception for a failed allocation.
#[cold]
pub(crate) fn memory_error(_: OutOfMemory) -> PyErr {
    PyMemoryError::new_err(())
}

/// Returns the exception for a fault in an array operation.
#[cold]
pub(crate) fn fault_exception(fault: Fault) -> PyErr {
    match fault {
        Fault::Rejected(error) => raise(error),
        _ => memory_error(OutOfMemory),
    }
}

/// Returns an empty vector with capacity for `count` items.
pub(crate) fn try_with_capacity<T>(count: usize) -> PyResult<Vec<T>> {
    columns::try_with_capacity(count).map_err(memory_error)
}

/// Returns a copy of the items.
pub(crate) fn try_copy<T: Copy>(items: &[T]) -> PyResult<Vec<T>> {
    columns::try_copy(items).map_err(memory_error)
}

/// Returns a vector of `count` zeros, for the caller to overwrite.
pub(crate) fn zeroed<T: Plain>(count: usize) -> PyResult<Vec<T>> {
    columns::zeroed(count).map_err(memory_error)
}

/// The maximum total size of the IDs in one call, in bytes. This is the size of 2^24 IDs of 16 bytes each, the longest IDs
/// of any fixed format.
const MAX_BYTES: usize = 1 << 28;

/// Rejects `n` IDs of `bytes` bytes each if they exceed [`MAX_BYTES`].
pub(crate) fn check_bytes(n: usize, bytes: usize) -> PyResult<()> {
    let most = MAX_BYTES / bytes;
    if n > most {
        return Err(raise(Error::out_of_range("n", n as i128, 0, most as i128)));
    }
    Ok(())
}
