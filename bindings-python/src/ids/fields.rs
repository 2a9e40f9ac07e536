//! Fields of many IDs: columns of numbers, and masks of the IDs that pass a filter.

use std::sync::OnceLock;

use polyflake::{Error, Result};
use polyflake_columns::{self as columns, Packed, Plain, arrow::Column};
use pyo3::{intern, prelude::*, types::PyBytes};

use super::{
    array::{At, Columnar, Memory, at, columnar, content, positions, to_numpy},
    convert::{Octets, Of, Take, name},
    memory::{copy_of, fault, no_memory, room_for},
    record::{Reduced, reduced},
};
use crate::errors::raise;

#[doc = doc!("sno.FieldColumn")]
#[pyclass(frozen, eq, hash, sequence, module = "polyflake.sno")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct FieldColumn(Numbers);

#[derive(PartialEq, Eq, Hash)]
enum Numbers {
    Integers(Packed<i64>),
    Words(Packed<u32>),
    Shorts(Packed<u16>),
    Bytes(Packed<u8>),
    /// Bytes of one length.
    Rows(Packed<u8>),
}

/// Columns of each kind of numbers.
macro_rules! of_numbers {
    ($($type:ty: $kind:ident;)*) => {$(
        impl From<Packed<$type>> for Numbers {
            fn from(numbers: Packed<$type>) -> Self {
                Self::$kind(numbers)
            }
        }

        impl TryFrom<&FieldColumn> for Packed<$type> {
            type Error = PyErr;
            fn try_from(column: &FieldColumn) -> PyResult<Self> {
                match &column.0 {
                    Numbers::$kind(numbers) => Ok(numbers.clone()),
                    _ => Err(of_another_kind()),
                }
            }
        }

        impl From<Vec<$type>> for FieldColumn {
            fn from(numbers: Vec<$type>) -> Self {
                Packed::new(numbers).into()
            }
        }
    )*};
}

of_numbers! {
    i64: Integers;
    u32: Words;
    u16: Shorts;
    u8: Bytes;
}

/// The exception for the content of a pickle that was made otherwise.
#[cold]
pub(crate) fn of_another_kind() -> PyErr {
    raise(Error::invalid_type("the content of a column", "another one"))
}

impl<T: Plain> From<Packed<T>> for FieldColumn
where
    Numbers: From<Packed<T>>,
{
    fn from(numbers: Packed<T>) -> Self {
        Self(numbers.into())
    }
}

impl FieldColumn {
    /// The numbers that a function writes for IDs, while other threads run.
    pub(crate) fn filled<I: Sync, T: Plain>(
        py: Python<'_>,
        ids: &[I],
        fill: impl FnOnce(&[I], &mut [T]) -> Result<()> + Send,
    ) -> PyResult<Self>
    where
        Self: From<Vec<T>>,
    {
        let mut numbers = room_for(ids.len())?;
        py.detach(|| fill(ids, &mut numbers)).map_err(raise)?;
        Ok(numbers.into())
    }

    /// The bytes, `width` of them for each ID, that a function writes.
    pub(crate) fn rows<I: Sync>(
        py: Python<'_>,
        ids: &[I],
        width: usize,
        fill: impl FnOnce(&[I], &mut [u8]) -> Result<()> + Send,
    ) -> PyResult<Self> {
        let mut bytes = room_for(ids.len() * width)?;
        py.detach(|| fill(ids, &mut bytes)).map_err(raise)?;
        Ok(Self(Numbers::Rows(Packed::in_rows(bytes, width))))
    }
}

/// Evaluates one expression for every kind of numbers.
macro_rules! numbers {
    ($column:expr, $numbers:ident => $value:expr) => {
        match &$column.0 {
            Numbers::Integers($numbers) => $value,
            Numbers::Words($numbers) => $value,
            Numbers::Shorts($numbers) => $value,
            Numbers::Bytes($numbers) | Numbers::Rows($numbers) => $value,
        }
    };
}

columnar!(FieldColumn Mask);

impl Columnar for FieldColumn {
    fn format(&self) -> String {
        numbers!(self, numbers => numbers.arrow_format())
    }

    fn column(&self, _: Python<'_>) -> PyResult<Column> {
        Ok(numbers!(self, numbers => numbers.to_arrow()))
    }

    fn memory(&self, _: Python<'_>) -> PyResult<Memory<'_>> {
        Ok(numbers!(self, numbers => numbers.into()))
    }
}

#[pymethods]
impl FieldColumn {
    fn __len__(&self) -> usize {
        numbers!(self, numbers => numbers.len())
    }

    fn __getitem__<'py>(&self, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = index.py();
        if let Numbers::Rows(rows) = &self.0 {
            return match positions(index, rows.len())? {
                At::One(position) => Ok(PyBytes::new(py, rows.row(position)).into_any()),
                At::Many(chosen) => {
                    let chosen = rows.rows(&chosen).map_err(no_memory)?;
                    Ok(Bound::new(py, Self(Numbers::Rows(chosen)))?.into_any())
                }
            };
        }
        numbers!(self, numbers => match at(numbers.items(), index)? {
            At::One(number) => Ok(number.into_pyobject(py)?.into_any()),
            At::Many(numbers) => Ok(Bound::new(py, Self::from(numbers))?.into_any()),
        })
    }

    #[pyo3(signature = (dtype = None, copy = None))]
    fn __array__<'py>(
        slf: &Bound<'py, Self>,
        dtype: Option<&Bound<'py, PyAny>>,
        copy: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        to_numpy(slf, dtype, copy)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py, Content<'py>>> {
        let width = match &slf.get().0 {
            Numbers::Rows(rows) => Some(rows.width()),
            _ => None,
        };
        reduced(slf, (content(slf)?, width))
    }

    #[staticmethod]
    #[pyo3(signature = (content, width = None))]
    fn _restore(content: &Bound<'_, PyAny>, width: Option<usize>) -> PyResult<Self> {
        let bytes = Octets::take(content.as_borrowed(), "content")?;
        let bytes = bytes.as_bytes();
        if let Some(width) = width {
            let is_whole = bytes.len().checked_rem(width) == Some(0);
            let rows = is_whole.then_some(bytes).ok_or_else(of_another_kind)?;
            return Ok(Self(Numbers::Rows(Packed::in_rows(copy_of(rows)?, width))));
        }
        let code = content.getattr(intern!(content.py(), "typecode"))?;
        Ok(match code.extract()? {
            'q' => numbers_of(bytes, i64::from_ne_bytes).into(),
            'I' => numbers_of(bytes, u32::from_ne_bytes).into(),
            'H' => numbers_of(bytes, u16::from_ne_bytes).into(),
            'B' => copy_of(bytes)?.into(),
            _ => return Err(of_another_kind()),
        })
    }

    fn __repr__(&self) -> String {
        let items = if matches!(self.0, Numbers::Rows(_)) { "bytes" } else { "numbers" };
        format!("<FieldColumn of {} {items}>", self.__len__())
    }
}

/// The content of a column's pickle: its numbers, and the bytes of a row.
type Content<'py> = (Bound<'py, PyAny>, Option<usize>);

fn numbers_of<T, const N: usize>(bytes: &[u8], number: fn([u8; N]) -> T) -> Vec<T> {
    bytes.as_chunks().0.iter().map(|bytes| number(*bytes)).collect()
}

#[doc = doc!("sno.Mask")]
#[pyclass(frozen, sequence, eq, module = "polyflake.sno")]
pub(crate) struct Mask {
    mask: columns::Mask,
    /// The same mask as bytes of 0 and 1, made on demand.
    bytes: OnceLock<Packed<bool>>,
}

impl PartialEq for Mask {
    fn eq(&self, other: &Self) -> bool {
        self.mask == other.mask
    }
}

impl From<columns::Mask> for Mask {
    fn from(mask: columns::Mask) -> Self {
        Self { mask, bytes: OnceLock::new() }
    }
}

impl Mask {
    /// The mask that a filter writes for IDs.
    pub(crate) fn of<I: Sync>(
        py: Python<'_>,
        ids: &[I],
        filter: impl FnOnce(&[I], &mut [u8]) -> Result<usize> + Send,
        refused: impl FnOnce(Error) -> PyErr,
    ) -> PyResult<Self> {
        let made = py.detach(|| columns::Mask::of(ids.len(), |bits| filter(ids, bits)));
        made.map(Self::from).map_err(|raised| match raised {
            columns::Fault::Refused(error) => refused(error),
            other => fault(other),
        })
    }

    pub(crate) fn mask(&self) -> &columns::Mask {
        &self.mask
    }
}

impl Columnar for Mask {
    fn format(&self) -> String {
        "b".to_owned()
    }

    fn column(&self, _: Python<'_>) -> PyResult<Column> {
        Ok(self.mask.to_arrow())
    }

    fn memory(&self, _: Python<'_>) -> PyResult<Memory<'_>> {
        if self.bytes.get().is_none() {
            let bytes = self.mask.to_bools().map_err(no_memory)?;
            let _ = self.bytes.set(Packed::new(bytes));
        }
        Ok(self.bytes.get().expect("was just set").into())
    }
}

#[pymethods]
impl Mask {
    #[doc = doc!("sno.Mask.count")]
    fn count(&self) -> usize {
        self.mask.count()
    }

    fn __and__(&self, other: &Self) -> PyResult<Self> {
        self.mask.and(&other.mask).map(Self::from).map_err(fault)
    }

    fn __or__(&self, other: &Self) -> PyResult<Self> {
        self.mask.or(&other.mask).map(Self::from).map_err(fault)
    }

    fn __invert__(&self) -> PyResult<Self> {
        self.mask.inverted().map(Self::from).map_err(no_memory)
    }

    fn __len__(&self) -> usize {
        self.mask.len()
    }

    fn __getitem__<'py>(&self, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = index.py();
        match positions(index, self.mask.len())? {
            At::One(place) => Ok(self.mask.has(place).into_pyobject(py)?.to_owned().into_any()),
            At::Many(places) => {
                let chosen = self.mask.at(&places).map_err(no_memory)?;
                Ok(Bound::new(py, Self::from(chosen))?.into_any())
            }
        }
    }

    #[pyo3(signature = (dtype = None, copy = None))]
    fn __array__<'py>(
        slf: &Bound<'py, Self>,
        dtype: Option<&Bound<'py, PyAny>>,
        copy: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        to_numpy(slf, dtype, copy)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py, (Bound<'py, PyAny>,)>> {
        reduced(slf, (content(slf)?,))
    }

    #[staticmethod]
    fn _restore(passes: Of<Octets<'_>, name::data>) -> PyResult<Self> {
        let passes = passes.0.as_bytes();
        let set = |bits: &mut [u8]| {
            let places = passes.iter().enumerate().filter(|(_, passes)| **passes != 0);
            Ok(places.map(|(at, _)| bits[at / 8] |= 1 << (at % 8)).count())
        };
        columns::Mask::of(passes.len(), set).map(Self::from).map_err(fault)
    }

    fn __repr__(&self) -> String {
        format!("<Mask of {} IDs, {} of which pass>", self.mask.len(), self.mask.count())
    }
}
