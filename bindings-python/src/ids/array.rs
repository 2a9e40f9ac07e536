//! The base class of arrays and columns, which defines the members shared by all of them. The formats' classes extend it.
//!
//! An array is an immutable value, so it can be hashed, shared by threads, and exported as a buffer or an Arrow column
//! without a copy. The base class holds its content as a trait object, because a Python class cannot have type parameters.
//! A virtual call per operation is cheap, because operations on single items create a Python object anyway, and all other
//! operations handle many items.

use std::{
    any::Any,
    collections::hash_map::DefaultHasher,
    ffi::{CStr, c_char, c_int, c_void},
    hash::{Hash, Hasher},
    marker::PhantomData,
    ptr,
};

use polyflake::Error;
use polyflake_columns::{Packed, Plain, arrow::Column};
use pyo3::{
    PyClass,
    exceptions::{PyBufferError, PyIndexError, PyValueError},
    ffi,
    prelude::*,
    pyclass::boolean_struct::True,
    types::{PyBytes, PyCapsule, PyMemoryView, PySlice, PyTuple},
};

use super::{
    convert::{AnyInteger, Octets, has_buffer, raise_named, wrong_type_exception},
    integers::get_buffer,
    memory::{memory_error, try_with_capacity},
    record::restore_function,
};
use crate::arrow;
use crate::first_value::intern;

/// The base class of all arrays and columns. An array is an immutable value.
#[pyclass(frozen, subclass, sequence, name = "_Array", module = "polyflake")]
pub(crate) struct Array(Box<dyn Values>);

#[pymethods]
impl Array {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __getitem__<'py>(&self, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        match positions(index, self.0.len())? {
            Selection::One(position) => self.0.item(index.py(), position),
            Selection::Many(positions) => self.0.select(index.py(), &positions),
        }
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        iterate(slf)
    }

    /// Returns the position of the first item that equals the value, like `tuple.index`.
    #[pyo3(signature = (value, start = 0, stop = isize::MAX, /))]
    fn index(
        slf: &Bound<'_, Self>,
        value: &Bound<'_, PyAny>,
        start: isize,
        stop: isize,
    ) -> PyResult<usize> {
        let span =
            PySlice::new(slf.py(), start, stop, 1).indices(slf.get().0.len().cast_signed())?;
        for position in span.start..span.stop {
            if slf.get().0.item(slf.py(), position.cast_unsigned())?.eq(value)? {
                return Ok(position.cast_unsigned());
            }
        }
        Err(PyValueError::new_err("expected an item of the array, found another value"))
    }

    /// Returns the number of items that equal the value, like `tuple.count`.
    #[pyo3(signature = (value, /))]
    fn count(slf: &Bound<'_, Self>, value: &Bound<'_, PyAny>) -> PyResult<usize> {
        let mut count = 0;
        for item in iterate(slf)?.try_iter()? {
            count += usize::from(item?.eq(value)?);
        }
        Ok(count)
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.0.is_same(&*other.0)
    }

    fn __hash__(&self) -> u64 {
        let mut state = DefaultHasher::new();
        self.0.hash(&mut state);
        state.finish()
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let values = &slf.get().0;
        let name = slf.as_any().get_type().name()?;
        Ok(format!("<{name} of {} {}>", values.len(), values.noun()))
    }

    /// Returns the class and the content, from which the constructor or `_restore` recreates the array.
    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let (py, values) = (slf.py(), &slf.get().0);
        let (content, class) = (content(slf)?, slf.as_any().get_type());
        let fields = match values.width() {
            None => (content,).into_pyobject(py)?,
            Some(width) => (content, width).into_pyobject(py)?,
        };
        if values.is_record() {
            Ok((restore_function(py)?.clone(), (class, fields).into_pyobject(py)?))
        } else {
            Ok((class.into_any(), fields))
        }
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        arrow::schema(py, &self.0.format())
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<arrow::Capsules<'py>> {
        arrow::export(py, self.0.column(py)?, requested_schema)
    }

    #[allow(unsafe_code)]
    unsafe fn __getbuffer__(
        slf: &Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        // SAFETY: Python calls this method to fill `view`, so `view` is valid for writes.
        unsafe { fill_view(slf, view, flags) }
    }
}

/// The contents of an array whose items all have the same size.
pub(crate) trait Values: Any + Send + Sync {
    fn len(&self) -> usize;

    /// Returns the Python object for an item.
    fn item<'py>(&self, py: Python<'py>, position: usize) -> PyResult<Bound<'py, PyAny>>;

    /// Returns an array of the same class with the items at the given positions.
    fn select<'py>(&self, py: Python<'py>, positions: &[usize]) -> PyResult<Bound<'py, PyAny>>;

    /// Returns the Arrow type of the content.
    fn format(&self) -> String;

    /// Returns the Arrow column of the content.
    fn column(&self, py: Python<'_>) -> PyResult<Column>;

    /// Returns the memory that stores the content.
    fn memory(&self, py: Python<'_>) -> PyResult<Memory<'_>>;

    /// Returns the number of bytes in an item, if the class supports several item sizes.
    fn width(&self) -> Option<usize>;

    /// Returns the noun that describes the items.
    fn noun(&self) -> &'static str;

    /// Returns whether the class has no constructor.
    fn is_record(&self) -> bool;

    /// Returns whether the other array has the same class and equal content.
    fn is_same(&self, other: &dyn Any) -> bool;

    fn hash(&self, state: &mut DefaultHasher);
}

/// An item of an array.
pub(crate) trait Item: Plain + Hash + Eq {
    /// Returns the Python object for an item.
    fn object<'py>(
        py: Python<'py>,
        items: &Packed<Self>,
        position: usize,
    ) -> PyResult<Bound<'py, PyAny>>;

    /// Returns the Arrow type of the items.
    fn format(items: &Packed<Self>) -> String {
        items.arrow_format()
    }

    /// Returns the items as an Arrow column.
    fn column(items: &Packed<Self>) -> PyResult<Column> {
        Ok(items.to_arrow())
    }

    /// Returns the number of bytes in an item, if the class supports several item sizes.
    fn width(_items: &Packed<Self>) -> Option<usize> {
        None
    }
}

/// A class of arrays with packed items of type `T`.
pub(crate) trait ArrayClass<T: Plain>: PyClass<Frozen = True, BaseType = Array> {
    /// The noun that describes the items.
    const NOUN: &str = "IDs";
    /// `true` for a class without a constructor.
    const IS_RECORD: bool = false;

    /// Creates the class-specific part of an array.
    fn from_packed(items: Packed<T>) -> Self;
}

/// Packed items in an array of class `C`.
pub(crate) struct PackedItems<C, T: Plain> {
    items: Packed<T>,
    class: PhantomData<fn() -> C>,
}

impl<C: ArrayClass<T>, T: Item> Values for PackedItems<C, T> {
    fn len(&self) -> usize {
        self.items.len()
    }

    fn item<'py>(&self, py: Python<'py>, position: usize) -> PyResult<Bound<'py, PyAny>> {
        T::object(py, &self.items, position)
    }

    fn select<'py>(&self, py: Python<'py>, positions: &[usize]) -> PyResult<Bound<'py, PyAny>> {
        let some = self.items.rows(positions).map_err(memory_error)?;
        Ok(array::<C, T>(py, some)?.into_any())
    }

    fn format(&self) -> String {
        T::format(&self.items)
    }

    fn column(&self, _: Python<'_>) -> PyResult<Column> {
        T::column(&self.items)
    }

    fn memory(&self, _: Python<'_>) -> PyResult<Memory<'_>> {
        Ok((&self.items).into())
    }

    fn width(&self) -> Option<usize> {
        T::width(&self.items)
    }

    fn noun(&self) -> &'static str {
        C::NOUN
    }

    fn is_record(&self) -> bool {
        C::IS_RECORD
    }

    fn is_same(&self, other: &dyn Any) -> bool {
        other.downcast_ref::<Self>().is_some_and(|other| self.items == other.items)
    }

    fn hash(&self, state: &mut DefaultHasher) {
        self.items.hash(state);
    }
}

/// Returns an array with packed items.
pub(crate) fn array<C: ArrayClass<T>, T: Item>(
    py: Python<'_>,
    items: Packed<T>,
) -> PyResult<Bound<'_, C>> {
    let values = PackedItems::<C, T> { items: items.clone(), class: PhantomData };
    with_content(py, values, C::from_packed(items))
}

/// Returns an array with the given content and class-specific part.
pub(crate) fn with_content<C: PyClass<BaseType = Array>>(
    py: Python<'_>,
    values: impl Values,
    own: C,
) -> PyResult<Bound<'_, C>> {
    Bound::new(py, PyClassInitializer::from(Array(Box::new(values))).add_subclass(own))
}

/// Returns an array's items, or `None` if the items have a different type.
pub(crate) fn array_items<C: ArrayClass<T>, T: Item>(array: &Bound<'_, C>) -> Option<Packed<T>> {
    let values: &dyn Any = &*array.as_super().get().0;
    values.downcast_ref::<PackedItems<C, T>>().map(|held| held.items.clone())
}

impl<const N: usize> Item for [u8; N]
where
    Self: Plain,
{
    fn object<'py>(
        py: Python<'py>,
        texts: &Packed<Self>,
        position: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        Ok(super::object::ascii(py, &texts.items()[position])?.into_any())
    }

    fn format(texts: &Packed<Self>) -> String {
        Column::text_format(texts).to_owned()
    }

    fn column(texts: &Packed<Self>) -> PyResult<Column> {
        Column::from_texts(texts).map_err(memory_error)
    }

    fn width(_: &Packed<Self>) -> Option<usize> {
        Some(N)
    }
}

impl Item for u8 {
    fn object<'py>(
        py: Python<'py>,
        bytes: &Packed<Self>,
        position: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let row = bytes.row(position);
        if bytes.is_table() {
            return Ok(PyBytes::new(py, row).into_any());
        }
        Ok(row[0].into_pyobject(py)?.into_any())
    }

    fn width(bytes: &Packed<Self>) -> Option<usize> {
        bytes.is_table().then(|| bytes.width())
    }
}

/// Implements [`Item`] for numbers.
macro_rules! numbers {
    ($($type:ty)*) => {$(
        impl Item for $type {
            fn object<'py>(
                py: Python<'py>,
                numbers: &Packed<Self>,
                position: usize,
            ) -> PyResult<Bound<'py, PyAny>> {
                Ok(numbers.items()[position].into_pyobject(py)?.into_any())
            }
        }
    )*};
}

numbers! { u16 u32 i64 }

/// The items that an index or a slice selects.
pub(crate) enum Selection<T> {
    One(T),
    Many(Vec<T>),
}

/// Returns the positions that an index selects among `length` items. The index is an integer, a slice (which works as it
/// does for a list), or an array of bool.
pub(crate) fn positions(index: &Bound<'_, PyAny>, length: usize) -> PyResult<Selection<usize>> {
    const EXPECTED: &str = "int, slice or array of bool";
    if let Ok(slice) = index.cast::<PySlice>() {
        let span = slice.indices(length.cast_signed())?;
        let step = |k: usize| (span.start + k.cast_signed() * span.step).cast_unsigned();
        let mut positions = try_with_capacity(span.slicelength)?;
        positions.extend((0..span.slicelength).map(step));
        return Ok(Selection::Many(positions));
    }
    if let Some(passes) = boolean_mask(index, EXPECTED)? {
        let passes = passes.as_bytes();
        if passes.len() != length {
            return Err(raise_named(Error::invalid_length(passes.len(), length, length), INDEX));
        }
        let mut positions =
            try_with_capacity(passes.iter().filter(|passes| **passes != 0).count())?;
        positions.extend((0..length).filter(|position| passes[*position] != 0));
        return Ok(Selection::Many(positions));
    }
    let found = AnyInteger::try_from_value(index, EXPECTED, INDEX)?;
    let found = found.try_to::<isize>().and_then(|index| resolve_position(index, length));
    found.map(Selection::One).ok_or_else(|| PyIndexError::new_err("index out of range"))
}

/// The name that errors use for an index.
const INDEX: &str = "index";

/// Returns a copy of the booleans in an index, with one byte per boolean, or `None` if the index is a single value.
fn boolean_mask<'py>(index: &Bound<'py, PyAny>, expected: &str) -> PyResult<Option<Octets<'py>>> {
    if !has_buffer(index) {
        return Ok(None);
    }
    let Some(buffer) = get_buffer(index)?.filter(|buffer| buffer.dimensions() > 0) else {
        return Ok(None);
    };
    let format = buffer.format().to_string_lossy();
    if format.trim_start_matches(NATIVE_PREFIXES) != "?" || buffer.dimensions() != 1 {
        return Err(wrong_type_exception(INDEX, expected, index));
    }
    Octets::copy_buffer(index).map(Some)
}

/// Returns the position that an index refers to. A negative index counts from the end.
fn resolve_position(index: isize, length: usize) -> Option<usize> {
    let position =
        if index < 0 { length.checked_add_signed(index) } else { usize::try_from(index).ok() };
    position.filter(|position| *position < length)
}

/// Memory that is exported as a read-only buffer.
pub(crate) struct Memory<'a> {
    start: *const c_void,
    format: &'static CStr,
    shape: &'a [isize; 2],
    strides: &'a [isize; 2],
    is_table: bool,
}

impl<'a, T: Plain> From<&'a Packed<T>> for Memory<'a> {
    fn from(packed: &'a Packed<T>) -> Self {
        Self {
            start: packed.items().as_ptr().cast(),
            format: T::FORMAT,
            shape: packed.shape(),
            strides: packed.strides(),
            is_table: packed.is_table(),
        }
    }
}

/// Fills `view` with the memory of an array.
///
/// # Safety
/// `view` must be valid for writes.
#[allow(unsafe_code)]
unsafe fn fill_view(
    owner: &Bound<'_, Array>,
    view: *mut ffi::Py_buffer,
    flags: c_int,
) -> PyResult<()> {
    let memory = owner.get().0.memory(owner.py())?;
    let asks = |flag: c_int| flags & flag == flag;
    let reason = if asks(ffi::PyBUF_WRITABLE) {
        Some("expected a read-only request, found a writable one")
    // A table with a single row has the same memory layout in C order and in Fortran order.
    } else if asks(ffi::PyBUF_F_CONTIGUOUS) && memory.is_table && memory.shape[0] > 1 {
        Some("expected a C-contiguous request, found a Fortran one")
    } else {
        None
    };
    if let Some(reason) = reason {
        return Err(PyBufferError::new_err(reason));
    }
    let has_shape = asks(ffi::PyBUF_ND);
    let or_null = |wanted: bool, numbers: &[ffi::Py_ssize_t; 2]| {
        if wanted { numbers.as_ptr().cast_mut() } else { ptr::null_mut() }
    };
    let filled = ffi::Py_buffer {
        buf: memory.start.cast_mut(),
        obj: owner.clone().into_any().into_ptr(),
        len: memory.shape[0] * memory.strides[0],
        itemsize: memory.strides[1],
        readonly: 1,
        // A consumer that does not request the shape receives the content as plain bytes, which have one dimension.
        ndim: if has_shape && memory.is_table { 2 } else { 1 },
        format: if asks(ffi::PyBUF_FORMAT) {
            memory.format.as_ptr().cast_mut()
        } else {
            ptr::null_mut::<c_char>()
        },
        shape: or_null(has_shape, memory.shape),
        strides: or_null(asks(ffi::PyBUF_STRIDES), memory.strides),
        suboffsets: ptr::null_mut(),
        internal: ptr::null_mut(),
    };
    // SAFETY: the caller guarantees that `view` may be written. The view's `obj` keeps `owner` alive until the consumer
    // releases the view. The memory, shape and strides live as long as `owner` and do not move, because an array's content
    // is boxed, and `owner` is frozen and never replaces it. The memory consists of `len` bytes without padding, because it
    // is `Plain`.
    unsafe { view.write(filled) };
    Ok(())
}

/// Returns an array's content as the argument from which unpickling restores the array. Integers become an `array.array`,
/// whose pickle can be read on machines of either byte order. All other content becomes bytes.
fn content<'py>(array: &Bound<'py, Array>) -> PyResult<Bound<'py, PyAny>> {
    let py = array.py();
    let copy = PyMemoryView::from(array.as_any())?.call_method0(intern!(py, "tobytes"))?;
    let memory = array.get().0.memory(py)?;
    let is_integers =
        !memory.is_table && matches!(memory.format.to_bytes(), b"q" | b"I" | b"H" | b"B");
    if !is_integers {
        return Ok(copy);
    }
    let code = memory.format.to_string_lossy();
    py.import("array")?.getattr(intern!(py, "array"))?.call1((code, copy))
}

/// Returns Python's built-in iterator over a sequence.
#[allow(unsafe_code)]
pub(crate) fn iterate<'py, T>(sequence: &Bound<'py, T>) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: `sequence` is a reference to a live object, and its thread is attached. `PySeqIter_New` returns a new
    // reference, or null with an exception set.
    unsafe { Bound::from_owned_ptr_or_err(sequence.py(), ffi::PySeqIter_New(sequence.as_ptr())) }
}

/// The prefixes of buffer formats whose items are in native byte order.
pub(super) const NATIVE_PREFIXES: [char; 3] =
    ['@', '=', if cfg!(target_endian = "little") { '<' } else { '>' }];
