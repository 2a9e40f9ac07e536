//! Random bytes from the system.

use crate::{Error, ErrorKind, Result};

/// `N` random bytes; `entropy_unavailable` if the system gives none.
pub(crate) fn random<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|_| Error::new(ErrorKind::EntropyUnavailable))?;
    Ok(bytes)
}
