//! Packed IDs as Arrow columns. Nothing is copied: exported arrays keep the IDs alive, without Python.

use std::{
    ffi::{CString, c_void},
    ptr,
    sync::Arc,
};

use pyo3::{prelude::*, types::PyCapsule};

use super::{Array, Handed, Schema};

/// A schema and an array, each in its capsule: the result of `__arrow_c_array__`.
pub(crate) type Capsules<'py> = (Bound<'py, PyCapsule>, Bound<'py, PyCapsule>);

/// A column without nulls: its type as Arrow's format string, its length, and its buffers, which live as long as their owner.
pub(crate) struct Column {
    pub(crate) format: String,
    pub(crate) length: usize,
    pub(crate) buffers: Vec<*const c_void>,
    pub(crate) owner: Arc<dyn Send + Sync>,
}

/// The memory that an exported array owns.
struct Kept {
    buffers: Vec<*const c_void>,
    _owner: Arc<dyn Send + Sync>,
}

impl Column {
    pub(crate) fn export(self, py: Python<'_>) -> PyResult<Capsules<'_>> {
        Ok((
            capsule(py, schema(self.format)?)?,
            capsule(py, array(self.length, self.buffers, self.owner))?,
        ))
    }
}

/// The type alone: the result of `__arrow_c_schema__`.
pub(crate) fn schema(format: String) -> PyResult<Schema> {
    let format = CString::new(format)?.into_raw();
    Ok(Schema { format, name: c"".as_ptr(), release: Some(release_schema), ..Schema::NONE })
}

pub(crate) fn capsule<T: Handed + Send + 'static>(
    py: Python<'_>,
    value: T,
) -> PyResult<Bound<'_, PyCapsule>> {
    PyCapsule::new_with_value(py, value, T::NAME)
}

fn array(length: usize, buffers: Vec<*const c_void>, owner: Arc<dyn Send + Sync>) -> Array {
    // The map of nulls comes first; without nulls it is a null pointer.
    let buffers: Vec<_> = std::iter::once(ptr::null()).chain(buffers).collect();
    let kept = Box::new(Kept { buffers, _owner: owner });
    Array {
        length: length.try_into().unwrap_or(i64::MAX),
        n_buffers: kept.buffers.len().try_into().unwrap_or(i64::MAX),
        buffers: kept.buffers.as_ptr().cast_mut(),
        release: Some(release_array),
        private_data: Box::into_raw(kept).cast(),
        ..Array::NONE
    }
}

unsafe extern "C" fn release_schema(schema: *mut Schema) {
    // SAFETY: the caller owns a schema that `schema` made and that is not released; its format comes from a `CString`.
    unsafe {
        drop(CString::from_raw((*schema).format.cast_mut()));
        (*schema).release = None;
    }
}

unsafe extern "C" fn release_array(array: *mut Array) {
    // SAFETY: the caller owns an array that `array` made and that is not released; its private data is a boxed `Kept`.
    unsafe {
        drop(Box::from_raw((*array).private_data.cast::<Kept>()));
        (*array).release = None;
    }
}
