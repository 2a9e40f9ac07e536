//! Exports columns to other libraries without copying.
//!
//! A consumer may keep an array for any length of time, and release it on any thread. Each exported array therefore owns an
//! `Arc` that keeps the IDs in memory, and the array's `release` function drops this `Arc`. The memory never changes, so a
//! consumer and Python's own array can share it.

use std::{
    ffi::{CStr, CString, c_void},
    fmt, ptr,
    sync::Arc,
};

use super::{Array, CDataStruct, Schema};
use crate::{OutOfMemory, Packed, Plain, try_with_capacity};

/// A column without nulls. It consists of a type (as an Arrow format string), a length, and buffers, which stay valid for
/// as long as their owner exists.
pub struct Column {
    format: String,
    is_uuid: bool,
    length: usize,
    buffers: Vec<*const c_void>,
    owner: Arc<dyn Send + Sync>,
}

// SAFETY: the pointers in `buffers` refer to memory that `owner` holds. That memory never changes, and `owner` is `Send +
// Sync`, so any thread may read and release it.
unsafe impl Send for Column {}

impl fmt::Debug for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<column of {} items of {}>", self.length, self.format)
    }
}

/// The memory that an exported array owns.
struct OwnedArray {
    buffers: Vec<*const c_void>,
    _owner: Arc<dyn Send + Sync>,
}

impl Column {
    /// Creates a column of packed IDs or numbers.
    pub(crate) fn from_packed<T: Plain>(packed: &Packed<T>) -> Self {
        let items = packed.shared();
        Self {
            format: packed.arrow_format(),
            is_uuid: false,
            length: packed.len(),
            buffers: vec![items.as_ptr().cast()],
            owner: items,
        }
    }

    /// Creates a column of concatenated strings. The last of the `length + 1` offsets must not exceed the length of `text`.
    pub(crate) fn from_concatenated_texts(length: usize, offsets: Vec<i32>, text: Vec<u8>) -> Self {
        Self {
            format: "u".to_owned(),
            is_uuid: false,
            length,
            buffers: vec![offsets.as_ptr().cast(), text.as_ptr().cast()],
            owner: Arc::new((offsets, text)),
        }
    }

    /// Returns the Arrow format for a column of fixed-length strings: the string type, or the large string type if the data
    /// is too long for 32-bit offsets.
    pub fn text_format<T: Plain>(texts: &Packed<T>) -> &'static str {
        if texts_end_as_i32(texts).is_some() { "u" } else { "U" }
    }

    /// Creates a column of fixed-length strings.
    ///
    /// # Errors
    /// Returns [`OutOfMemory`] if the allocation fails.
    pub fn from_texts<T: Plain>(texts: &Packed<T>) -> Result<Self, OutOfMemory> {
        let format = Self::text_format(texts);
        if let Some(end) = texts_end_as_i32(texts) {
            return Self::from_string_offsets(format, texts, (0..=end).step_by(size_of::<T>()));
        }
        let places = (0_i64..).step_by(size_of::<T>()).take(texts.len() + 1);
        Self::from_string_offsets(format, texts, places)
    }

    /// Creates a column of fixed-length strings. `places` contains the start of each string and the end of the last one.
    fn from_string_offsets<T: Plain, P: Send + Sync + 'static>(
        format: &str,
        texts: &Packed<T>,
        places: impl Iterator<Item = P>,
    ) -> Result<Self, OutOfMemory> {
        let texts = texts.shared();
        let mut owned = try_with_capacity(texts.len() + 1)?;
        owned.extend(places);
        Ok(Self {
            format: format.to_owned(),
            is_uuid: false,
            length: texts.len(),
            buffers: vec![owned.as_ptr().cast(), texts.as_ptr().cast()],
            owner: Arc::new((owned, texts)),
        })
    }

    /// Returns this column with Arrow's UUID type if each item has 16 bytes. Other columns are returned unchanged.
    #[must_use]
    pub fn as_uuids(self) -> Self {
        Self { is_uuid: self.format == UUID_FORMAT, ..self }
    }

    /// Returns the column's Arrow schema and array.
    pub fn export(self) -> (Schema, Array) {
        let mut schema = schema(&self.format);
        if self.is_uuid {
            schema.metadata = UUID_METADATA.as_ptr().cast();
        }
        (schema, array(self.length, self.buffers, self.owner))
    }
}

/// The storage format of Arrow's UUID type, an extension type with 16 bytes per item:
/// <https://arrow.apache.org/docs/format/CanonicalExtensions.html#uuid>.
const UUID_FORMAT: &str = "w:16";
const EXTENSION_NAME_KEY: &[u8; 20] = b"ARROW:extension:name";
const UUID_EXTENSION_NAME: &[u8; 10] = b"arrow.uuid";

/// The metadata of the UUID type, in native byte order: the number of pairs, followed by the keys and values, each preceded
/// by its length.
static UUID_METADATA: [u8; 42] = {
    let mut metadata = [0; 42];
    let (head, pair) = metadata.split_at_mut(4);
    let (key, value) = pair.split_at_mut(4 + EXTENSION_NAME_KEY.len());
    head.copy_from_slice(&1_i32.to_ne_bytes());
    key.split_at_mut(4).0.copy_from_slice(&20_i32.to_ne_bytes());
    key.split_at_mut(4).1.copy_from_slice(EXTENSION_NAME_KEY);
    value.split_at_mut(4).0.copy_from_slice(&10_i32.to_ne_bytes());
    value.split_at_mut(4).1.copy_from_slice(UUID_EXTENSION_NAME);
    metadata
};

impl Schema {
    /// Returns whether the type is Arrow's UUID type.
    pub fn is_uuid(&self) -> bool {
        let Some(format) = ptr::NonNull::new(self.format.cast_mut()) else { return false };
        // SAFETY: the interface guarantees that the format of an unreleased schema is a NUL-terminated string.
        if unsafe { CStr::from_ptr(format.as_ptr()) }.to_bytes() != UUID_FORMAT.as_bytes() {
            return false;
        }
        // SAFETY: the interface guarantees that the metadata is a null pointer or a valid list of this schema's key-value
        // pairs.
        unsafe { contains_entry(self.metadata.cast(), EXTENSION_NAME_KEY, UUID_EXTENSION_NAME) }
    }
}

/// Returns whether the metadata contains the given key with the given value.
///
/// # Safety
///
/// `metadata` must be a null pointer, or point to metadata that conforms to Arrow's C data interface.
unsafe fn contains_entry(metadata: *const u8, key: &[u8], value: &[u8]) -> bool {
    if metadata.is_null() {
        return false;
    }
    let mut rest = metadata;
    // SAFETY: the caller guarantees that the metadata conforms to the interface: it contains the number of pairs, and a key
    // and a value for each pair, each preceded by its length. The code reads exactly these parts, in this order.
    unsafe {
        let pairs = read_number(&mut rest);
        (0..pairs).any(|_| {
            let (found, its_value) = (read_bytes(&mut rest), read_bytes(&mut rest));
            (found, its_value) == (key, value)
        })
    }
}

/// Reads a number and advances the pointer past it.
///
/// # Safety
///
/// `rest` must point to a 4-byte number.
unsafe fn read_number(rest: &mut *const u8) -> usize {
    // SAFETY: the caller guarantees that `rest` points to 4 bytes, and an array of bytes needs no alignment.
    let number = unsafe { rest.cast::<[u8; 4]>().read() };
    // SAFETY: the 4 bytes belong to one allocation, so the pointer stays within it or points just past its end.
    *rest = unsafe { rest.add(4) };
    usize::try_from(i32::from_ne_bytes(number)).unwrap_or(0)
}

/// Reads a length and the bytes that follow it, and advances the pointer past them.
///
/// # Safety
///
/// `rest` must point to a length followed by that number of bytes, which must live as long as `'a`.
unsafe fn read_bytes<'a>(rest: &mut *const u8) -> &'a [u8] {
    // SAFETY: the caller guarantees that `rest` points to a length, which is a 4-byte number.
    let length = unsafe { read_number(rest) };
    // SAFETY: the caller guarantees that `length` bytes follow, and that they live as long as `'a`.
    let bytes = unsafe { std::slice::from_raw_parts(*rest, length) };
    // SAFETY: the bytes belong to one allocation, so the pointer stays within it or points just past its end.
    *rest = unsafe { rest.add(length) };
    bytes
}

/// Returns the end of the last string if it fits in 32 bits.
fn texts_end_as_i32<T: Plain>(texts: &Packed<T>) -> Option<i32> {
    size_of_val(texts.items()).try_into().ok()
}

/// Creates the schema for an Arrow format string.
///
/// # Panics
/// Panics if the format contains a zero byte.
pub fn schema(format: &str) -> Schema {
    let format = CString::new(format).expect("a format has no zero in it").into_raw();
    Schema { format, name: c"".as_ptr(), release: Some(release_schema), ..Schema::RELEASED }
}

fn array(length: usize, buffers: Vec<*const c_void>, owner: Arc<dyn Send + Sync>) -> Array {
    // The validity bitmap comes first. It is a null pointer if there are no nulls.
    let buffers: Vec<_> = std::iter::once(ptr::null()).chain(buffers).collect();
    let owned = Box::into_raw(Box::new(OwnedArray { buffers, _owner: owner }));
    // SAFETY: `owned` comes from a box that was just created, so this is the only reference to it.
    let buffers = unsafe { &mut (*owned).buffers };
    Array {
        length: length.try_into().unwrap_or(i64::MAX),
        n_buffers: buffers.len().try_into().unwrap_or(i64::MAX),
        buffers: buffers.as_mut_ptr(),
        release: Some(release_array),
        private_data: owned.cast(),
        ..Array::RELEASED
    }
}

unsafe extern "C" fn release_schema(schema: *mut Schema) {
    // SAFETY: the caller owns an unreleased schema that `schema` created. Its format comes from a `CString`.
    unsafe {
        drop(CString::from_raw((*schema).format.cast_mut()));
        (*schema).release = None;
    }
}

unsafe extern "C" fn release_array(array: *mut Array) {
    // SAFETY: the caller owns an unreleased array that `array` created. Its private data is a boxed `OwnedArray`.
    unsafe {
        drop(Box::from_raw((*array).private_data.cast::<OwnedArray>()));
        (*array).release = None;
    }
}
