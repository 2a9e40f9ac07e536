//! Fields of many IDs: columns of numbers, and masks of the IDs that pass a filter.

use std::{
    ffi::c_int,
    sync::{Arc, OnceLock},
};

use polyflake::{
    Error, ErrorKind, Result,
    sno::{self, Sno},
};
use pyo3::{ffi, prelude::*, types::PyCapsule};

use super::{
    array::{At, Packed, Plain, iterate, positions, to_numpy},
    memory::{room, room_for},
};
use crate::{
    arrow::export::{self, Capsules, Column},
    errors::raise,
};

#[doc = doc!("sno.FieldColumn")]
#[pyclass(frozen, sequence, module = "polyflake.sno")]
pub(crate) struct FieldColumn(Numbers);

enum Numbers {
    Integers(Packed<i64>),
    Shorts(Packed<u16>),
    Bytes(Packed<u8>),
}

impl From<Vec<i64>> for FieldColumn {
    fn from(numbers: Vec<i64>) -> Self {
        Self(Numbers::Integers(Packed::new(numbers)))
    }
}

impl From<Vec<u16>> for FieldColumn {
    fn from(numbers: Vec<u16>) -> Self {
        Self(Numbers::Shorts(Packed::new(numbers)))
    }
}

impl From<Vec<u8>> for FieldColumn {
    fn from(numbers: Vec<u8>) -> Self {
        Self(Numbers::Bytes(Packed::new(numbers)))
    }
}

impl FieldColumn {
    pub(crate) fn unix_ms(py: Python<'_>, ids: &[Sno]) -> PyResult<Self> {
        Ok(Self(Numbers::Integers(filled(py, ids, sno::unix_ms_column)?)))
    }

    pub(crate) fn metabytes(py: Python<'_>, ids: &[Sno]) -> PyResult<Self> {
        Ok(Self(Numbers::Bytes(filled(py, ids, sno::metabyte_column)?)))
    }

    pub(crate) fn partitions(py: Python<'_>, ids: &[Sno]) -> PyResult<Self> {
        Ok(Self(Numbers::Shorts(filled(py, ids, sno::partition_column)?)))
    }

    pub(crate) fn sequences(py: Python<'_>, ids: &[Sno]) -> PyResult<Self> {
        Ok(Self(Numbers::Shorts(filled(py, ids, sno::sequence_column)?)))
    }
}

fn filled<T: Plain + Send>(
    py: Python<'_>,
    ids: &[Sno],
    fill: fn(&[Sno], &mut [T]) -> Result<()>,
) -> PyResult<Packed<T>> {
    let mut numbers = room_for(ids.len())?;
    py.detach(|| fill(ids, &mut numbers)).map_err(raise)?;
    Ok(Packed::new(numbers))
}

/// Evaluates one expression for every kind of numbers.
macro_rules! numbers {
    ($column:expr, $numbers:ident => $value:expr) => {
        match &$column.0 {
            Numbers::Integers($numbers) => $value,
            Numbers::Shorts($numbers) => $value,
            Numbers::Bytes($numbers) => $value,
        }
    };
}

#[pymethods]
impl FieldColumn {
    fn __len__(&self) -> usize {
        numbers!(self, numbers => numbers.len())
    }

    fn __getitem__<'py>(&self, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = index.py();
        numbers!(self, numbers => match numbers.at(index)? {
            At::One(number) => Ok(number.into_pyobject(py)?.into_any()),
            At::Many(numbers) => Ok(Bound::new(py, Self::from(numbers))?.into_any()),
        })
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        iterate(slf)
    }

    #[pyo3(signature = (dtype = None, copy = None))]
    fn __array__<'py>(
        slf: &Bound<'py, Self>,
        dtype: Option<&Bound<'py, PyAny>>,
        copy: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        to_numpy(slf, dtype, copy)
    }

    fn __repr__(&self) -> String {
        format!("<FieldColumn of {} numbers>", self.__len__())
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        numbers!(self, numbers => numbers.arrow_schema(py))
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Capsules<'py>> {
        let _ = requested_schema; // is a wish
        numbers!(self, numbers => numbers.arrow_array(py))
    }

    #[allow(unsafe_code)]
    unsafe fn __getbuffer__(
        slf: &Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        // SAFETY: Python calls this to have `view` filled; `slf` owns the packed numbers.
        numbers!(slf.get(), numbers => unsafe { numbers.export(slf, view, flags) })
    }
}

#[doc = doc!("sno.Mask")]
#[pyclass(frozen, sequence, eq, module = "polyflake.sno")]
pub(crate) struct Mask {
    /// A bit for each ID, from the lowest of each byte on; bits past the end are 0.
    bits: Arc<Vec<u8>>,
    length: usize,
    /// The same bits as bytes of 0 and 1, made on demand.
    bytes: OnceLock<Packed<bool>>,
}

impl PartialEq for Mask {
    fn eq(&self, other: &Self) -> bool {
        (self.length, &self.bits) == (other.length, &other.bits)
    }
}

impl Mask {
    /// The mask that a filter writes for IDs.
    pub(crate) fn of(
        py: Python<'_>,
        ids: &[Sno],
        filter: impl FnOnce(&[Sno], &mut [u8]) -> Result<usize> + Send,
        refused: impl FnOnce(Error) -> PyErr,
    ) -> PyResult<Self> {
        let mut bits = room_for(ids.len().div_ceil(8))?;
        py.detach(|| filter(ids, &mut bits)).map_err(refused)?;
        Ok(Self::new(bits, ids.len()))
    }

    fn new(bits: Vec<u8>, length: usize) -> Self {
        Self { bits: bits.into(), length, bytes: OnceLock::new() }
    }

    /// The items that pass. `items` must be as long as the mask.
    pub(crate) fn choose<T: Copy>(&self, items: &[T]) -> PyResult<Vec<T>> {
        self.check_length(items.len())?;
        let mut chosen = room(self.count())?;
        for (items, bits) in items.chunks(8).zip(&*self.bits) {
            let mut left = *bits;
            while left != 0 {
                chosen.push(items[left.trailing_zeros() as usize]);
                left &= left - 1;
            }
        }
        Ok(chosen)
    }

    /// Positions of the items that pass. `length` must be the mask's length.
    pub(crate) fn positions(&self, length: usize) -> PyResult<Vec<usize>> {
        self.check_length(length)?;
        let mut positions = room(self.count())?;
        positions.extend((0..length).filter(|position| self.has(*position)));
        Ok(positions)
    }

    fn has(&self, position: usize) -> bool {
        self.bits[position / 8] >> (position % 8) & 1 == 1
    }

    /// The mask of some of its positions.
    fn at(&self, places: &[usize]) -> PyResult<Self> {
        let mut bits = room(places.len().div_ceil(8))?;
        let bit = |(index, place): (usize, &usize)| u8::from(self.has(*place)) << index;
        bits.extend(places.chunks(8).map(|eight| eight.iter().enumerate().map(bit).sum::<u8>()));
        Ok(Self::new(bits, places.len()))
    }

    fn check_length(&self, found: usize) -> PyResult<()> {
        if found == self.length {
            return Ok(());
        }
        let reason = format!("expected a mask of {found} IDs, found one of {}", self.length);
        Err(raise(Error::because(ErrorKind::InvalidLength, reason)))
    }

    fn joined(&self, other: &Self, join: fn(u8, u8) -> u8) -> PyResult<Self> {
        self.check_length(other.length)?;
        let mut bits = room(self.bits.len())?;
        bits.extend(self.bits.iter().zip(&*other.bits).map(|(a, b)| join(*a, *b)));
        Ok(Self::new(bits, self.length))
    }

    fn bytes(&self) -> PyResult<&Packed<bool>> {
        if self.bytes.get().is_none() {
            let mut bytes = room(self.length)?;
            let bits =
                self.bits.iter().flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1 == 1));
            bytes.extend(bits.take(self.length));
            let _ = self.bytes.set(Packed::new(bytes));
        }
        Ok(self.bytes.get().expect("was just set"))
    }
}

#[pymethods]
impl Mask {
    #[doc = doc!("sno.Mask.count")]
    fn count(&self) -> usize {
        self.bits.iter().map(|byte| byte.count_ones() as usize).sum()
    }

    fn __and__(&self, other: &Self) -> PyResult<Self> {
        self.joined(other, |a, b| a & b)
    }

    fn __or__(&self, other: &Self) -> PyResult<Self> {
        self.joined(other, |a, b| a | b)
    }

    fn __invert__(&self) -> PyResult<Self> {
        let mut bits = room(self.bits.len())?;
        bits.extend(self.bits.iter().map(|byte| !byte));
        if let (Some(last), rest @ 1..) = (bits.last_mut(), self.length % 8) {
            *last &= (1 << rest) - 1;
        }
        Ok(Self::new(bits, self.length))
    }

    fn __len__(&self) -> usize {
        self.length
    }

    fn __getitem__<'py>(&self, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = index.py();
        match positions(index, self.length)? {
            At::One(place) => Ok(self.has(place).into_pyobject(py)?.to_owned().into_any()),
            At::Many(places) => Ok(Bound::new(py, self.at(&places)?)?.into_any()),
        }
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        iterate(slf)
    }

    #[pyo3(signature = (dtype = None, copy = None))]
    fn __array__<'py>(
        slf: &Bound<'py, Self>,
        dtype: Option<&Bound<'py, PyAny>>,
        copy: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        to_numpy(slf, dtype, copy)
    }

    fn __repr__(&self) -> String {
        format!("<Mask of {} IDs, {} of which pass>", self.length, self.count())
    }

    #[allow(clippy::unused_self, reason = "Python calls it with one")]
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        export::capsule(py, export::schema("b".to_owned())?)
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Capsules<'py>> {
        let _ = requested_schema; // is a wish
        let column = Column {
            format: "b".to_owned(),
            length: self.length,
            buffers: vec![self.bits.as_ptr().cast()],
            owner: self.bits.clone(),
        };
        column.export(py)
    }

    #[allow(unsafe_code)]
    unsafe fn __getbuffer__(
        slf: &Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        // SAFETY: Python calls this to have `view` filled; `slf` owns the bytes, and sets them once.
        unsafe { slf.get().bytes()?.export(slf, view, flags) }
    }
}
