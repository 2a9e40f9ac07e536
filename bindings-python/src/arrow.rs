//! The part of Arrow's C data interface that columns of IDs, texts and fields need,
//! <https://arrow.apache.org/docs/format/CDataInterface.html>, and the capsules in which Python passes it on. No Arrow library is
//! needed on either side.
#![allow(
    unsafe_code,
    reason = "the interface is one of C: structs of pointers, and functions that free them"
)]

mod buffers;
pub(crate) mod export;
pub(crate) mod import;
pub(crate) mod texts;

use std::{
    ffi::{CStr, c_char, c_int, c_void},
    ptr,
};

use pyo3::{prelude::*, types::PyCapsule};

/// The type of a column.
#[repr(C)]
pub(crate) struct Schema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut Schema,
    dictionary: *mut Schema,
    release: Option<unsafe extern "C" fn(*mut Schema)>,
    private_data: *mut c_void,
}

/// A column, or a piece of one.
#[repr(C)]
pub(crate) struct Array {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut Array,
    dictionary: *mut Array,
    release: Option<unsafe extern "C" fn(*mut Array)>,
    private_data: *mut c_void,
}

/// A source of pieces.
#[repr(C)]
pub(crate) struct Stream {
    get_schema: Option<unsafe extern "C" fn(*mut Stream, *mut Schema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut Stream, *mut Array) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut Stream) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut Stream)>,
    private_data: *mut c_void,
}

/// A C structure that a capsule hands over: the capsule's name, and the empty value that stays in the owner's place.
pub(crate) trait Handed: Sized {
    const NAME: &CStr;
    const NONE: Self;

    /// Takes it out of its capsule.
    fn take(capsule: &Bound<'_, PyAny>) -> PyResult<Self> {
        let capsule = capsule.cast::<PyCapsule>()?;
        let held = capsule.pointer_checked(Some(Self::NAME))?.cast::<Self>();
        // SAFETY: by the interface, a capsule of this name holds this structure. The released one that takes its place is left
        // alone by the capsule.
        Ok(unsafe { held.replace(Self::NONE) })
    }
}

/// A struct whose owner must call its `release`, once.
macro_rules! handed {
    ($($type:ident $name:literal { $($member:ident: $none:expr,)* })*) => {$(
        impl Handed for $type {
            const NAME: &CStr = $name;
            const NONE: Self = Self { $($member: $none,)* release: None, private_data: ptr::null_mut() };
        }

        impl Drop for $type {
            fn drop(&mut self) {
                if let Some(release) = self.release {
                    // SAFETY: it is not released yet, and this is its only owner.
                    unsafe { release(self) };
                }
            }
        }
    )*};
}

handed! {
    Schema c"arrow_schema" {
        format: ptr::null(), name: ptr::null(), metadata: ptr::null(), flags: 0, n_children: 0, children: ptr::null_mut(),
        dictionary: ptr::null_mut(),
    }
    Array c"arrow_array" {
        length: 0, null_count: 0, offset: 0, n_buffers: 0, n_children: 0, buffers: ptr::null_mut(), children: ptr::null_mut(),
        dictionary: ptr::null_mut(),
    }
    Stream c"arrow_array_stream" {
        get_schema: None, get_next: None, get_last_error: None,
    }
}

// SAFETY: the interface lets any thread use and release them, one at a time.
unsafe impl Send for Schema {}
// SAFETY: as above; what an array points to never changes.
unsafe impl Send for Array {}
// SAFETY: as above.
unsafe impl Sync for Array {}
