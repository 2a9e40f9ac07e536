//! The part of Arrow's C data interface (<https://arrow.apache.org/docs/format/CDataInterface.html>) that columns of IDs,
//! strings and fields need. Neither the producer nor the consumer of a column needs an Arrow library.
//!
//! This module implements the interface by hand, because the crates that provide it depend on all of Arrow.
//!
//! # Ownership
//!
//! A column consists of two structs, a schema and an array, which point to the producer's memory. Each struct contains a
//! pointer to a `release` function. The struct's owner calls this function exactly once, and the function sets the pointer
//! to null. If a struct is moved, the original is marked as released, so that it is never released again.
//! [`CDataStruct::take`] is the only way to acquire a struct, and `Drop` is the only way to release it.
//!
//! # Trust
//!
//! The interface does not specify the sizes of buffers. Therefore a reader has to trust lengths, offsets and the last
//! offset in a column of strings. It validates everything else: [`Chunks`] rejects columns that contradict themselves, such
//! as negative lengths, missing buffers, offsets that decrease, and keys or views that refer to missing values. `unsafe`
//! code is limited to reading memory whose existence the interface promises. A fuzzer and Miri run this code with malformed
//! columns.
//!
//! Reading order: this file (the structs), `export`, `buffers` (the memory of an array), `layout` (items in buffers),
//! `dictionary` (keys of items), `import`.
#![allow(
    unsafe_code,
    reason = "the interface is one of C: structs of pointers, and functions that free them"
)]

mod buffers;
mod dictionary;
mod export;
mod import;
mod layout;

use std::{
    ffi::{CStr, c_char, c_int, c_void},
    ptr::{self, NonNull},
};

pub use self::{
    export::{Column, schema},
    import::{Chunks, StreamError},
};

/// A column's type.
#[derive(Debug)]
#[repr(C)]
pub struct Schema {
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

/// A column, or a chunk of a column.
#[derive(Debug)]
#[repr(C)]
pub struct Array {
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

/// A source of chunks.
#[derive(Debug)]
#[repr(C)]
pub struct Stream {
    get_schema: Option<unsafe extern "C" fn(*mut Stream, *mut Schema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut Stream, *mut Array) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut Stream) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut Stream)>,
    private_data: *mut c_void,
}

/// A struct from Arrow's C data interface. The owner of such a struct must call its `release` function exactly once.
pub trait CDataStruct: Sized {
    /// The name that identifies the struct when it is passed between libraries, for example the name of a capsule.
    const NAME: &CStr;
    /// A released struct. It replaces a struct whose ownership was transferred.
    const RELEASED: Self;

    /// Takes ownership of the struct.
    ///
    /// # Safety
    ///
    /// `place` must point to a writable struct of this type that either conforms to the interface or is released.
    unsafe fn take(place: NonNull<Self>) -> Self {
        // SAFETY: the caller guarantees that `place` is writable and holds a valid struct. The released struct that
        // replaces it has no `release` function, so only the new owner releases the struct.
        unsafe { place.replace(Self::RELEASED) }
    }
}

macro_rules! impl_c_data_struct {
    ($($type:ident $name:literal { $($member:ident: $none:expr,)* })*) => {$(
        impl CDataStruct for $type {
            const NAME: &CStr = $name;
            const RELEASED: Self = Self { $($member: $none,)* release: None, private_data: ptr::null_mut() };
        }

        impl Drop for $type {
            fn drop(&mut self) {
                if let Some(release) = self.release {
                    // SAFETY: the struct has not been released yet, and this is its only owner, so it is released exactly
                    // once.
                    unsafe { release(self) };
                }
            }
        }
    )*};
}

impl_c_data_struct! {
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

// SAFETY: the interface lets any thread use and release the structs, one thread at a time, so moving them to another thread
// is sound.
unsafe impl Send for Schema {}
// SAFETY: code with a shared reference only reads the schema's strings and children, and the producer never changes them,
// so sharing a schema between threads is sound.
unsafe impl Sync for Schema {}
// SAFETY: the interface lets any thread use and release an array, one thread at a time, so moving an array to another
// thread is sound.
unsafe impl Send for Array {}
// SAFETY: code with a shared reference only reads the array's buffers, and the producer never changes them, so sharing an
// array between threads is sound.
unsafe impl Sync for Array {}
