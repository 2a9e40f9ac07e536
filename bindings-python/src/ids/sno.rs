//! sno IDs, one and many.

use std::ffi::c_int;

use polyflake::{
    Error,
    sno::{self, Parts},
};
use pyo3::{
    ffi,
    prelude::*,
    types::{PyBytes, PyCapsule, PyList, PyType},
};

use super::{
    array::{At, Packed, iterate},
    column,
    convert::{self, Flag, Metabyte, Octets, Partition, Sequence, Text, Tick, UnixMs},
    describe::Description,
    fields::{FieldColumn, Mask},
    memory::copy_of,
    text::{Ascii, TextColumn},
    uuid::{self, Uuid},
};
use crate::{arrow::export::Capsules, errors::raise};

/// An ID: 10 bytes, 16 characters.
#[pyclass(frozen, eq, ord, hash, module = "polyflake.sno")]
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Sno(pub(crate) sno::Sno);

#[pymethods]
impl Sno {
    #[new]
    #[pyo3(signature = (text, /))]
    fn new(text: Text<'_>) -> PyResult<Self> {
        sno::Sno::parse(&text).map(Self).map_err(raise)
    }

    /// The ID of its 10 bytes.
    #[staticmethod]
    #[pyo3(signature = (data, /))]
    fn from_bytes(data: Octets<'_>) -> PyResult<Self> {
        sno::Sno::from_slice(data.as_bytes()).map(Self).map_err(raise)
    }

    /// The ID of given fields.
    #[staticmethod]
    #[pyo3(
        signature = (*, tick, partition, sequence, metabyte = Metabyte(0), tick_tock = Flag(false)),
        text_signature = "(*, tick, partition, sequence, metabyte=0, tick_tock=False)"
    )]
    fn from_parts(
        tick: Tick,
        partition: Partition,
        sequence: Sequence,
        metabyte: Metabyte,
        tick_tock: Flag,
    ) -> PyResult<Self> {
        let parts = Parts {
            tick: tick.0,
            tick_tock: tick_tock.0,
            metabyte: metabyte.0,
            partition: partition.0,
            sequence: sequence.0,
        };
        sno::Sno::from_parts(parts).map(Self).map_err(raise)
    }

    /// The ID in a UUID column's value.
    #[staticmethod]
    #[pyo3(signature = (uuid, /))]
    fn from_uuid(uuid: Uuid) -> PyResult<Self> {
        sno::Sno::from_uuid_bytes(uuid.0).map(Self).map_err(raise)
    }

    /// The UUID column's value: the 16 characters of the text are the 16 bytes.
    #[getter]
    fn uuid<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        uuid::of_bytes(py, self.0.to_uuid_bytes())
    }

    /// When it was made, in Unix milliseconds.
    #[getter]
    fn unix_ms(&self) -> i64 {
        self.0.unix_ms()
    }

    /// When it was made, as an aware datetime in UTC.
    #[getter]
    fn datetime<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        convert::datetime_of_ms(py, self.0.unix_ms())
    }

    /// The 4 ms units since 2010-01-01.
    #[getter]
    fn tick(&self) -> u64 {
        self.0.tick()
    }

    /// The bit that flips when the clock steps back.
    #[getter]
    fn tick_tock(&self) -> bool {
        self.0.tick_tock()
    }

    /// The metabyte.
    #[getter]
    fn metabyte(&self) -> u8 {
        self.0.metabyte()
    }

    /// The partition.
    #[getter]
    fn partition(&self) -> u16 {
        self.0.partition()
    }

    /// The sequence.
    #[getter]
    fn sequence(&self) -> u16 {
        self.0.sequence()
    }

    /// The same ID with another metabyte.
    #[pyo3(signature = (metabyte, /))]
    fn with_metabyte(&self, metabyte: Metabyte) -> Self {
        Self(self.0.with_metabyte(metabyte.0))
    }

    /// The same ID with another partition.
    #[pyo3(signature = (partition, /))]
    fn with_partition(&self, partition: Partition) -> Self {
        Self(self.0.with_partition(partition.0))
    }

    /// The same ID with another sequence.
    #[pyo3(signature = (sequence, /))]
    fn with_sequence(&self, sequence: Sequence) -> Self {
        Self(self.0.with_sequence(sequence.0))
    }

    fn __str__(&self) -> Ascii<{ sno::Sno::TEXT_LEN }> {
        Ascii(self.0.text())
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.0.as_bytes())
    }

    fn __repr__(&self) -> String {
        format!("Sno('{}')", self.0)
    }

    /// An ID is a value: it may be copied, pickled and sent to other processes.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, (String,)) {
        (slf.get_type(), (slf.get().0.to_string(),))
    }
}

/// The metabyte of a text, without parsing the rest of it.
#[pyfunction]
#[pyo3(signature = (text, /))]
pub(crate) fn metabyte(text: Text<'_>) -> PyResult<u8> {
    sno::metabyte(&text).map_err(raise)
}

/// The ID of a JSON value, where asked with the original's habit.
#[pyfunction]
#[pyo3(
    signature = (value, /, *, null_is_zero = Flag(false)),
    text_signature = "(value, /, *, null_is_zero=False)"
)]
pub(crate) fn from_json_value(value: &Bound<'_, PyAny>, null_is_zero: Flag) -> PyResult<Sno> {
    if null_is_zero.0 && value.is_none() {
        return Ok(Sno(sno::Sno::default()));
    }
    Sno::new(value.extract()?)
}

/// An ID as a JSON value, where asked with the original's habit.
#[pyfunction]
#[pyo3(
    signature = (id, /, *, null_is_zero = Flag(false)),
    text_signature = "(id, /, *, null_is_zero=False)"
)]
pub(crate) fn to_json_value(id: &Bound<'_, PyAny>, null_is_zero: Flag) -> PyResult<Option<String>> {
    let Ok(id) = id.cast::<Sno>() else {
        return Err(raise(convert::invalid_type("Sno", id)));
    };
    let id = id.get().0;
    Ok((!null_is_zero.0 || id != sno::Sno::default()).then(|| id.to_string()))
}

/// What the format can do, in figures.
#[pyfunction]
pub(crate) fn describe() -> Description {
    sno::describe().into()
}

/// The lowest and highest ID of a half-open time range, for BETWEEN queries.
#[pyfunction]
#[pyo3(signature = (start, end, /))]
pub(crate) fn time_range(start: UnixMs, end: UnixMs) -> PyResult<(Sno, Sno)> {
    let (lowest, highest) = sno::Sno::time_range(start.0, end.0).map_err(raise)?;
    Ok((Sno(lowest), Sno(highest)))
}

/// Many IDs, packed.
#[pyclass(frozen, eq, hash, sequence, module = "polyflake.sno")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct SnoArray(Packed<sno::Sno>);

impl From<Vec<sno::Sno>> for SnoArray {
    fn from(ids: Vec<sno::Sno>) -> Self {
        Self(Packed::new(ids))
    }
}

#[pymethods]
impl SnoArray {
    #[new]
    #[pyo3(signature = (data, /))]
    fn new(data: Octets<'_>) -> PyResult<Self> {
        let data = data.as_bytes();
        let ids = sno::Sno::slice_from_bytes(data).map_err(|_| {
            let (found, whole) = (data.len() % sno::Sno::LEN, sno::Sno::LEN);
            raise(Error::invalid_length(found, whole, whole))
        })?;
        Ok(copy_of(ids)?.into())
    }

    /// The IDs of many texts.
    #[staticmethod]
    #[pyo3(signature = (column, /))]
    fn from_texts(column: &Bound<'_, PyAny>) -> PyResult<Self> {
        column::ids_of(column).map(Self::from)
    }

    /// When each was made, in Unix milliseconds.
    fn unix_ms(&self, py: Python<'_>) -> PyResult<FieldColumn> {
        FieldColumn::unix_ms(py, self.0.ids())
    }

    /// The metabyte of each.
    fn metabytes(&self, py: Python<'_>) -> PyResult<FieldColumn> {
        FieldColumn::metabytes(py, self.0.ids())
    }

    /// The partition of each.
    fn partitions(&self, py: Python<'_>) -> PyResult<FieldColumn> {
        FieldColumn::partitions(py, self.0.ids())
    }

    /// The sequence of each.
    fn sequences(&self, py: Python<'_>) -> PyResult<FieldColumn> {
        FieldColumn::sequences(py, self.0.ids())
    }

    /// Which carry a metabyte.
    #[pyo3(signature = (metabyte, /))]
    fn having_metabyte(&self, py: Python<'_>, metabyte: Metabyte) -> PyResult<Mask> {
        Mask::of(py, self.0.ids(), |ids, bits| sno::having_metabyte(ids, metabyte.0, bits))
    }

    /// Which lie in a half-open time range.
    #[pyo3(signature = (start, end, /))]
    fn in_time_range(&self, py: Python<'_>, start: UnixMs, end: UnixMs) -> PyResult<Mask> {
        Mask::of(py, self.0.ids(), |ids, bits| sno::in_time_range(ids, start.0, end.0, bits))
    }

    /// The texts of all, packed.
    fn text_column(&self, py: Python<'_>) -> PyResult<TextColumn> {
        TextColumn::of(py, self.0.ids())
    }

    /// The texts of all.
    fn texts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.0.ids().iter().map(|id| Ascii(id.text())))
    }

    fn __len__(&self) -> usize {
        self.0.ids().len()
    }

    fn __getitem__<'py>(&self, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        if let Ok(mask) = index.cast::<Mask>() {
            let chosen = mask.get().choose(self.0.ids())?;
            return Ok(Bound::new(index.py(), Self::from(chosen))?.into_any());
        }
        match self.0.at(index)? {
            At::One(id) => Ok(Bound::new(index.py(), Sno(id))?.into_any()),
            At::Many(ids) => Ok(Bound::new(index.py(), Self::from(ids))?.into_any()),
        }
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        iterate(slf)
    }

    fn __repr__(&self) -> String {
        format!("<SnoArray of {} IDs>", self.0.ids().len())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, (Bound<'py, PyBytes>,)) {
        let packed = sno::Sno::slice_as_bytes(slf.get().0.ids());
        (slf.get_type(), (PyBytes::new(slf.py(), packed),))
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        self.0.arrow_schema(py)
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Capsules<'py>> {
        let _ = requested_schema; // is a wish
        self.0.arrow_array(py)
    }

    #[allow(unsafe_code)]
    unsafe fn __getbuffer__(
        slf: &Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        // SAFETY: Python calls this to have `view` filled; `slf` owns the packed IDs.
        unsafe { slf.get().0.export(slf, view, flags) }
    }
}
