//! Random bytes from the operating system.

use crate::{Error, ErrorKind, Result};

/// Returns `N` random bytes from the operating system.
///
/// # Errors
/// Returns `entropy_unavailable` if the system provides no random bytes.
pub fn random_bytes<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|_| Error::new(ErrorKind::EntropyUnavailable))?;
    Ok(bytes)
}
