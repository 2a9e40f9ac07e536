//! The block cipher behind Randflake.

use polyflake::{
    Error,
    sparx64::{self, BLOCK_BYTES},
};
use pyo3::{prelude::*, types::PyBytes};

use super::{convert::Octets, secret::Secret};
use crate::errors::{no_copy, raise};

/// The cipher SPARX-64/128 under one key.
#[pyclass(frozen, module = "polyflake.sparx64")]
pub(crate) struct Sparx64(sparx64::Sparx64);

type Block = [u8; BLOCK_BYTES];

#[pymethods]
impl Sparx64 {
    #[new]
    #[pyo3(signature = (key, /))]
    fn new(key: Secret) -> Self {
        Self(sparx64::Sparx64::new(*key.0))
    }

    /// One block of 8 bytes, encrypted.
    #[pyo3(signature = (block, /))]
    fn encrypt<'py>(&self, py: Python<'py>, block: Octets<'_>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.0.encrypt_block(one(&block)?)))
    }

    /// One block of 8 bytes, decrypted.
    #[pyo3(signature = (block, /))]
    fn decrypt<'py>(&self, py: Python<'py>, block: Octets<'_>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.0.decrypt_block(one(&block)?)))
    }

    /// Many blocks in one piece, each on its own, encrypted.
    #[pyo3(signature = (blocks, /))]
    fn encrypt_many<'py>(
        &self,
        py: Python<'py>,
        blocks: Octets<'_>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        many(py, &blocks, |blocks| self.0.encrypt_blocks(blocks))
    }

    /// Many blocks in one piece, each on its own, decrypted.
    #[pyo3(signature = (blocks, /))]
    fn decrypt_many<'py>(
        &self,
        py: Python<'py>,
        blocks: Octets<'_>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        many(py, &blocks, |blocks| self.0.decrypt_blocks(blocks))
    }

    /// The key is in no text and in no copy.
    #[allow(clippy::unused_self, reason = "Python calls it with one")]
    fn __reduce__(&self) -> PyResult<()> {
        no_copy("expected one cipher of a key, found a copy: make it of the key again")
    }
}

fn one(block: &Octets<'_>) -> PyResult<Block> {
    let found = block.as_bytes();
    found
        .try_into()
        .map_err(|_| raise(Error::invalid_length(found.len(), BLOCK_BYTES, BLOCK_BYTES)))
}

/// New bytes with every block worked on; other threads run meanwhile.
fn many<'py>(
    py: Python<'py>,
    found: &Octets<'_>,
    work: impl Fn(&mut [Block]) + Sync,
) -> PyResult<Bound<'py, PyBytes>> {
    let found = found.as_bytes();
    if !found.len().is_multiple_of(BLOCK_BYTES) {
        let whole = found.len().next_multiple_of(BLOCK_BYTES);
        return Err(raise(Error::invalid_length(found.len(), whole, whole)));
    }
    PyBytes::new_with(py, found.len(), |bytes| {
        bytes.copy_from_slice(found);
        py.detach(|| work(bytes.as_chunks_mut().0));
        Ok(())
    })
}
