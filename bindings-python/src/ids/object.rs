//! Creates Python objects for IDs in the fastest way that the interpreter's C API allows.
//!
//! The stable ABI, which lets one wheel support all versions of CPython, hides the memory layout of objects. A wheel for a
//! single version can rely on the layout, so it writes a string's characters in place, and creates IDs without the header
//! that the garbage collector needs. Builds for a free-threaded CPython create objects in the same way as builds for the
//! stable ABI, because the collector and the allocator of a free-threaded CPython work differently.
//!
//! - **Without the header.** PyO3 adds a header for the collector to the instances of every class, which makes creating a
//!   sno take 40 ns longer. An ID has no references, so the collector cannot find anything through it. PyO3 has no option
//!   to omit the header. [`prepare_class`] therefore changes the class before it has instances, and checks that PyO3 laid
//!   out the class as expected.
//! - **Spare memory.** The memory of up to 32 freed instances is reused for new instances, which saves 9 ns of 50 ns.
//! - **UUIDs.** `uuid.UUID` is written in Python, and its constructor takes a microsecond. Its two attributes are stored in
//!   slots, so this module allocates an instance, and sets the slots through the class's descriptors. If a later version of
//!   Python stores the attributes elsewhere, the constructor is called.
#![allow(unsafe_code, reason = "objects are created through the C interface")]

use std::{ffi::c_void, mem, ptr};

use pyo3::{
    PyClass, ffi,
    prelude::*,
    pyclass::boolean_struct::True,
    types::{PyString, PyType},
};

use crate::first_value::FirstValue;

/// Converts an ASCII string to a `str`.
#[inline]
pub(crate) fn ascii<'py>(py: Python<'py>, text: &[u8]) -> PyResult<Bound<'py, PyString>> {
    debug_assert!(text.is_ascii(), "expected ASCII, found {text:?}");
    // SAFETY: `new_ascii` returns a new reference to a `str`, or null with an exception set.
    unsafe { Ok(Bound::from_owned_ptr_or_err(py, new_ascii(text))?.cast_into_unchecked()) }
}

#[cfg(any(Py_LIMITED_API, Py_GIL_DISABLED))]
#[inline]
fn new_ascii(text: &[u8]) -> *mut ffi::PyObject {
    // SAFETY: the pointer and the length are those of `text`, which the call copies. The caller's thread is attached,
    // because it has a `Python` token.
    unsafe {
        ffi::PyUnicode_DecodeASCII(text.as_ptr().cast(), text.len().cast_signed(), ptr::null())
    }
}

#[cfg(not(any(Py_LIMITED_API, Py_GIL_DISABLED)))]
#[inline]
fn new_ascii(text: &[u8]) -> *mut ffi::PyObject {
    const MAX_ASCII: ffi::Py_UCS4 = 127;
    // SAFETY: a `str` whose characters are all at most 127 has one byte per character, so there is room for `text`. No
    // other code has a reference to the new object yet, so it may be written. The empty string is shared, but then the call
    // copies 0 bytes.
    unsafe {
        let object = ffi::PyUnicode_New(text.len().cast_signed(), MAX_ASCII);
        if !object.is_null() {
            let characters = ffi::PyUnicode_1BYTE_DATA(object);
            ptr::copy_nonoverlapping(text.as_ptr(), characters, text.len());
        }
        object
    }
}

/// A class whose instances consist of one value, which contains no references to other objects.
pub(crate) trait Value:
    PyClass<BaseType = PyAny, Frozen = True> + Copy + Default + Sync
{
    /// Returns the free list: the memory of freed instances.
    #[cfg(not(any(Py_LIMITED_API, Py_GIL_DISABLED)))]
    fn free_list() -> &'static FreeList;
}

#[cfg(any(Py_LIMITED_API, Py_GIL_DISABLED))]
#[allow(clippy::unnecessary_wraps, reason = "other builds return errors")]
pub(crate) fn prepare_class<T: Value>(_: Python<'_>) -> PyResult<()> {
    Ok(())
}

#[cfg(any(Py_LIMITED_API, Py_GIL_DISABLED))]
#[inline]
pub(crate) fn object<T: Value>(py: Python<'_>, value: T) -> PyResult<Bound<'_, PyAny>> {
    Ok(Bound::new(py, value)?.into_any())
}

#[cfg(not(any(Py_LIMITED_API, Py_GIL_DISABLED)))]
pub(crate) use single_version::{FreeList, object, prepare_class};

#[cfg(not(any(Py_LIMITED_API, Py_GIL_DISABLED)))]
mod single_version {
    use std::{cell::Cell, ptr};

    use pyo3::{
        exceptions::{PyMemoryError, PySystemError},
        ffi,
        prelude::*,
    };

    use super::Value;

    /// The free list of a class: the memory of freed instances, which new instances reuse. A program often drops an ID
    /// before it generates the next one.
    pub(crate) struct FreeList {
        count: Cell<usize>,
        instances: [Cell<*mut ffi::PyObject>; Self::MAX_FREE_INSTANCES],
    }

    // SAFETY: only attached threads call `take` and `keep`. Neither function runs Python code between its reads and writes,
    // and the GIL allows only one attached thread to run at a time. All threads share one GIL, because PyO3 loads a module
    // into only one interpreter.
    unsafe impl Sync for FreeList {}

    impl FreeList {
        const MAX_FREE_INSTANCES: usize = 32;

        pub(crate) const fn new() -> Self {
            Self {
                count: Cell::new(0),
                instances: [const { Cell::new(ptr::null_mut()) }; Self::MAX_FREE_INSTANCES],
            }
        }

        /// Returns memory for an instance, or null if the free list is empty.
        #[inline]
        fn take(&self) -> *mut ffi::PyObject {
            let Some(count) = self.count.get().checked_sub(1) else { return ptr::null_mut() };
            self.count.set(count);
            self.instances[count].get()
        }

        /// Adds the memory of a freed instance to the free list, and returns whether there was room for it.
        #[inline]
        fn keep(&self, instance: *mut ffi::PyObject) -> bool {
            let count = self.count.get();
            let Some(place) = self.instances.get(count) else { return false };
            place.set(instance);
            self.count.set(count + 1);
            true
        }
    }

    /// Returns the offset of an instance's value, which follows the object's header.
    const fn offset<T>() -> usize {
        size_of::<ffi::PyObject>().next_multiple_of(align_of::<T>())
    }

    const fn instance_size<T>() -> usize {
        (offset::<T>() + size_of::<T>()).next_multiple_of(align_of::<ffi::PyObject>())
    }

    /// Removes the garbage collector's header from the instances of a class. Call this function before the class has
    /// instances.
    ///
    /// The instances hold no references, so the collector never finds anything through them. Without the header, instances
    /// are smaller, and creating one neither registers it with the collector nor starts a collection.
    ///
    /// # Errors
    ///
    /// Returns `SystemError` if PyO3 has laid out the class differently than expected.
    pub(crate) fn prepare_class<T: Value>(py: Python<'_>) -> PyResult<()> {
        let class = T::type_object_raw(py);
        // SAFETY: `class` is a heap type of this module, which no other code uses yet, so its fields may be changed. The
        // fields that depend on each other are changed together: whether there is a header, and the functions that allocate
        // and free instances with or without the header. No class inherits these fields, because a class without
        // `Py_TPFLAGS_BASETYPE` has no subclasses.
        let is_final = unsafe {
            let is_final = (*class).tp_flags & ffi::Py_TPFLAGS_BASETYPE == 0;
            (*class).tp_flags &= !ffi::Py_TPFLAGS_HAVE_GC;
            (*class).tp_traverse = None;
            (*class).tp_clear = None;
            (*class).tp_alloc = Some(ffi::PyType_GenericAlloc);
            (*class).tp_dealloc = Some(deallocate::<T>);
            (*class).tp_free = Some(ffi::PyObject_Free);
            is_final
        };
        let instance = Bound::new(py, T::default())?;
        let found = ptr::from_ref(instance.get()).addr() - instance.as_ptr().addr();
        // SAFETY: `class` is the type object of `T`, which this module keeps alive, so its fields may be read.
        let is_sized = unsafe { (*class).tp_basicsize }.cast_unsigned() == instance_size::<T>();
        if found == offset::<T>() && is_sized && is_final && size_of::<T>() > 0 {
            return Ok(());
        }
        let reason = "expected a class whose instances are a header and a value, found another";
        Err(PySystemError::new_err(reason))
    }

    /// Frees an instance, and releases its class. The instance's value needs no destructor.
    unsafe extern "C" fn deallocate<T: Value>(instance: *mut ffi::PyObject) {
        // SAFETY: the interpreter calls this function once, for an instance that nothing refers to, so the instance's
        // memory may be kept or freed. `PyObject_Malloc` allocated the memory, so `PyObject_Free` is the matching function.
        // An instance of a heap type holds a reference to its class, which is released last.
        unsafe {
            let class = ffi::Py_TYPE(instance);
            if !T::free_list().keep(instance) {
                ffi::PyObject_Free(instance.cast());
            }
            ffi::Py_DECREF(class.cast());
        }
    }

    /// Creates an instance.
    #[inline]
    pub(crate) fn object<T: Value>(py: Python<'_>, value: T) -> PyResult<Bound<'_, PyAny>> {
        let class = T::type_object_raw(py);
        // SAFETY: `memory` is not null, and has `instance_size::<T>()` bytes, because `free_list` keeps only instances of
        // this class. `prepare_class` has checked that the value is at `offset::<T>()`, and that the instance ends after
        // the value. `PyObject_Init` sets the header, and adds the instance's reference to its class. No other code has a
        // reference to the new object yet.
        unsafe {
            let mut memory = T::free_list().take();
            if memory.is_null() {
                memory = ffi::PyObject_Malloc(instance_size::<T>()).cast();
            }
            if memory.is_null() {
                return Err(PyMemoryError::new_err(()));
            }
            let instance = ffi::PyObject_Init(memory, class);
            instance.byte_add(offset::<T>()).cast::<T>().write(value);
            Ok(Bound::from_owned_ptr(py, instance))
        }
    }
}

/// The class `uuid.UUID`, and everything needed to create an instance without calling its constructor, which takes a
/// microsecond.
struct UuidClass {
    class: Py<PyType>,
    int: Slot,
    is_safe: Slot,
    /// The value of `is_safe` for a UUID of unknown origin.
    unknown: Py<PyAny>,
}

impl UuidClass {
    /// Returns the class, or `None` if its instances do not store both `int` and `is_safe` in slots.
    fn get(py: Python<'_>) -> PyResult<Option<&Self>> {
        static CLASS: FirstValue<Option<UuidClass>> = FirstValue::new();
        CLASS.get_or_create(py, || Self::import(py)).map(Option::as_ref)
    }

    fn import(py: Python<'_>) -> PyResult<Option<Self>> {
        let module = py.import("uuid")?;
        let class = module.getattr("UUID")?.cast_into::<PyType>()?;
        let (int, is_safe) = (Slot::find(&class, "int")?, Slot::find(&class, "is_safe")?);
        let unknown = module.getattr("SafeUUID")?.getattr("unknown")?.unbind();
        let (Some(int), Some(is_safe)) = (int, is_safe) else { return Ok(None) };
        Ok(Some(Self { class: class.unbind(), int, is_safe, unknown }))
    }
}

/// An attribute that a class stores in a slot of its instances.
struct Slot {
    /// An object of the type `member_descriptor`.
    descriptor: Py<PyAny>,
    set: ffi::descrsetfunc,
}

impl Slot {
    /// Returns the slot of a class's attribute, or `None` if the attribute is not in a slot.
    fn find(class: &Bound<'_, PyType>, name: &str) -> PyResult<Option<Self>> {
        let descriptor = class.getattr(name)?;
        if descriptor.get_type().name()? != "member_descriptor" {
            return Ok(None);
        }
        // SAFETY: `descriptor` keeps its type alive. The slot `Py_tp_descr_set` contains null or a function of the type
        // `descrsetfunc`. An `Option` of such a function has the same representation, so the conversion is valid.
        let set = unsafe {
            let set = ffi::PyType_GetSlot(descriptor.get_type_ptr(), ffi::Py_tp_descr_set);
            mem::transmute::<*mut c_void, Option<ffi::descrsetfunc>>(set)
        };
        Ok(set.map(|set| Self { descriptor: descriptor.unbind(), set }))
    }

    #[inline]
    fn set(&self, instance: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        // SAFETY: all three pointers come from references to live objects. `set` is the function of this descriptor's type,
        // and checks that the instance has the class of the descriptor.
        let status =
            unsafe { (self.set)(self.descriptor.as_ptr(), instance.as_ptr(), value.as_ptr()) };
        if status == 0 { Ok(()) } else { Err(PyErr::fetch(instance.py())) }
    }
}

/// Creates the `uuid.UUID` with the given 16 bytes, which are in the order of the UUID's string form. Returns `None` if
/// only the constructor can create the instance.
pub(super) fn uuid(py: Python<'_>, bytes: [u8; 16]) -> PyResult<Option<Bound<'_, PyAny>>> {
    let Some(UuidClass { class, int, is_safe, unknown }) = UuidClass::get(py)? else {
        return Ok(None);
    };
    let number = u128::from_be_bytes(bytes).into_pyobject(py)?;
    // SAFETY: `class` is a reference to a live class, which is written in Python and therefore allocates its instances with
    // this function. The function returns a new reference to a valid instance with empty slots, or null with an exception
    // set.
    let instance = unsafe {
        let instance = ffi::PyType_GenericAlloc(class.bind(py).as_type_ptr(), 0);
        Bound::from_owned_ptr_or_err(py, instance)?
    };
    int.set(&instance, &number)?;
    is_safe.set(&instance, unknown.bind(py))?;
    Ok(Some(instance))
}
