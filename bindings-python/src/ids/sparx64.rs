//! The block cipher that Randflake uses.

use polyflake::sparx64::{self, BLOCK_BYTES};
use pyo3::{prelude::*, types::PyBytes};

use super::{
    convert::{Argument, Octets, name, uneven_length_exception},
    secret::Secret,
};
use crate::errors::reject_copy;

#[doc = doc!("sparx64.Sparx64")]
#[pyclass(frozen, module = "polyflake.sparx64")]
pub(crate) struct Sparx64(sparx64::Sparx64);

type Bytes = [u8; BLOCK_BYTES];

/// A block passed as an argument.
type Block<'py> = Argument<Octets<'py>, name::block>;

#[pymethods]
impl Sparx64 {
    #[new]
    #[pyo3(signature = (key, /))]
    fn new(key: Argument<Secret, name::key>) -> Self {
        Self(sparx64::Sparx64::new(*key.0.0))
    }

    #[doc = doc!("sparx64.Sparx64.encrypt")]
    #[pyo3(signature = (block, /))]
    fn encrypt<'py>(&self, py: Python<'py>, block: Block<'_>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.0.encrypt_block(block.0.to_array("block")?)))
    }

    #[doc = doc!("sparx64.Sparx64.decrypt")]
    #[pyo3(signature = (block, /))]
    fn decrypt<'py>(&self, py: Python<'py>, block: Block<'_>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.0.decrypt_block(block.0.to_array("block")?)))
    }

    #[doc = doc!("sparx64.Sparx64.encrypt_many")]
    #[pyo3(signature = (blocks, /))]
    fn encrypt_many<'py>(
        &self,
        py: Python<'py>,
        blocks: Argument<Octets<'_>, name::blocks>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        apply_to_all(py, &blocks.0, |blocks| self.0.encrypt_blocks(blocks))
    }

    #[doc = doc!("sparx64.Sparx64.decrypt_many")]
    #[pyo3(signature = (blocks, /))]
    fn decrypt_many<'py>(
        &self,
        py: Python<'py>,
        blocks: Argument<Octets<'_>, name::blocks>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        apply_to_all(py, &blocks.0, |blocks| self.0.decrypt_blocks(blocks))
    }

    /// Rejects copying, so that no copy contains the key.
    #[allow(clippy::unused_self, reason = "Python calls it with one")]
    fn __reduce__(&self) -> PyResult<()> {
        reject_copy("expected one cipher, found a copy: make another one from the key")
    }
}

/// Returns a copy of the bytes in which every block is encrypted or decrypted. Other threads can run in the meantime.
fn apply_to_all<'py>(
    py: Python<'py>,
    found: &Octets<'_>,
    work: impl Fn(&mut [Bytes]) + Sync,
) -> PyResult<Bound<'py, PyBytes>> {
    let found = found.as_bytes();
    if !found.len().is_multiple_of(BLOCK_BYTES) {
        return Err(uneven_length_exception("blocks", BLOCK_BYTES, found.len()));
    }
    PyBytes::new_with(py, found.len(), |bytes| {
        bytes.copy_from_slice(found);
        py.detach(|| work(bytes.as_chunks_mut().0));
        Ok(())
    })
}
