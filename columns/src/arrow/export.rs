//! Columns for others. Nothing is copied: exported arrays keep their memory alive.

use std::{
    ffi::{CString, c_void},
    fmt, ptr,
    sync::Arc,
};

use super::{Array, Handed, Schema};
use crate::{OutOfMemory, Packed, Plain, room};

/// A column without nulls: its type as Arrow's format string, its length, and its buffers, which live as long as their owner.
pub struct Column {
    format: String,
    length: usize,
    buffers: Vec<*const c_void>,
    owner: Arc<dyn Send + Sync>,
}

// SAFETY: its pointers lead to memory of its owner, which any thread may hold, and which never changes.
unsafe impl Send for Column {}

impl fmt::Debug for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<column of {} items of {}>", self.length, self.format)
    }
}

/// The memory that an exported array owns.
struct Owned {
    buffers: Vec<*const c_void>,
    _owner: Arc<dyn Send + Sync>,
}

impl Column {
    /// Packed IDs or numbers.
    pub(crate) fn of_packed<T: Plain>(packed: &Packed<T>) -> Self {
        let items = packed.shared();
        Self {
            format: packed.arrow_format(),
            length: packed.len(),
            buffers: vec![items.as_ptr().cast()],
            owner: items,
        }
    }

    /// Texts side by side; the last of `length + 1` offsets is within the text.
    pub(crate) fn of_joined(length: usize, offsets: Vec<i32>, text: Vec<u8>) -> Self {
        Self {
            format: "u".to_owned(),
            length,
            buffers: vec![offsets.as_ptr().cast(), text.as_ptr().cast()],
            owner: Arc::new((offsets, text)),
        }
    }

    /// Arrow's format of texts of one length: strings, or large strings where 32-bit offsets do not reach.
    pub fn format_of_texts<T: Plain>(texts: &Packed<T>) -> &'static str {
        if end_of_texts(texts).is_some() { "u" } else { "U" }
    }

    /// Texts of one length.
    ///
    /// # Errors
    /// If memory is short.
    pub fn of_texts<T: Plain>(texts: &Packed<T>) -> Result<Self, OutOfMemory> {
        let format = Self::format_of_texts(texts);
        if let Some(end) = end_of_texts(texts) {
            return Self::of_places(format, texts, (0..=end).step_by(size_of::<T>()));
        }
        let places = (0_i64..).step_by(size_of::<T>()).take(texts.len() + 1);
        Self::of_places(format, texts, places)
    }

    /// Texts of one length; `places` has the start of each and the end of the last.
    fn of_places<T: Plain, P: Send + Sync + 'static>(
        format: &str,
        texts: &Packed<T>,
        places: impl Iterator<Item = P>,
    ) -> Result<Self, OutOfMemory> {
        let texts = texts.shared();
        let mut owned = room(texts.len() + 1)?;
        owned.extend(places);
        Ok(Self {
            format: format.to_owned(),
            length: texts.len(),
            buffers: vec![owned.as_ptr().cast(), texts.as_ptr().cast()],
            owner: Arc::new((owned, texts)),
        })
    }

    /// Arrow's type and array of the column.
    pub fn export(self) -> (Schema, Array) {
        (schema(&self.format), array(self.length, self.buffers, self.owner))
    }
}

/// The end of the last of the texts, if 32 bits hold it.
fn end_of_texts<T: Plain>(texts: &Packed<T>) -> Option<i32> {
    size_of_val(texts.items()).try_into().ok()
}

/// A type by Arrow's format string.
///
/// # Panics
/// If the format has a zero in it.
pub fn schema(format: &str) -> Schema {
    let format = CString::new(format).expect("a format has no zero in it").into_raw();
    Schema { format, name: c"".as_ptr(), release: Some(release_schema), ..Schema::NONE }
}

fn array(length: usize, buffers: Vec<*const c_void>, owner: Arc<dyn Send + Sync>) -> Array {
    // The map of nulls comes first; without nulls it is a null pointer.
    let buffers: Vec<_> = std::iter::once(ptr::null()).chain(buffers).collect();
    let owned = Box::into_raw(Box::new(Owned { buffers, _owner: owner }));
    // SAFETY: the box was just made, and nothing else refers to it.
    let buffers = unsafe { &mut (*owned).buffers };
    Array {
        length: length.try_into().unwrap_or(i64::MAX),
        n_buffers: buffers.len().try_into().unwrap_or(i64::MAX),
        buffers: buffers.as_mut_ptr(),
        release: Some(release_array),
        private_data: owned.cast(),
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
    // SAFETY: the caller owns an array that `array` made and that is not released; its private data is a boxed `Owned`.
    unsafe {
        drop(Box::from_raw((*array).private_data.cast::<Owned>()));
        (*array).release = None;
    }
}
