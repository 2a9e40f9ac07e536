//! The process that opened a store: its child leaves the connection alone.

use alloc::format;

use polyflake::fork;

use crate::{Error, ErrorKind, Result};

/// A number of this process that none of its ancestors had.
pub(crate) fn here() -> Result<u32> {
    fork::prepare().map_err(|error| Error::new(ErrorKind::LeaseUnavailable, format!("{error}")))?;
    Ok(fork::process())
}

/// Refuses a child of a process.
pub(crate) fn check(process: u32) -> Result<()> {
    if process == fork::process() {
        return Ok(());
    }
    let reason = "expected the process that opened the store, found its child";
    Err(Error::new(ErrorKind::LeaseUnavailable, reason))
}
