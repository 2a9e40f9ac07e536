//! Hot Guids, which Python has as `uuid.UUID`, one and many.

use std::ffi::c_int;

use polyflake::{
    Error,
    hotguid::{self, HotGuid, LAST_COUNTER},
};
use pyo3::{
    ffi,
    prelude::*,
    types::{PyBytes, PyCapsule, PyList, PyType},
};

use super::{
    array::{At, Packed, iterate},
    convert::{self, Flag, Octets, Text, UnixMs, UnixSeconds, numbers},
    describe::Description,
    text::Ascii,
    uuid::{self, Uuid},
};
use crate::{arrow::export::Capsules, errors::raise};

numbers! {
    ShardKey(u32) "shard_key" 0..=u32::MAX;
    Counter(u32) "counter" 0..=LAST_COUNTER;
}

impl From<Uuid> for HotGuid {
    fn from(uuid: Uuid) -> Self {
        Self::from_rfc_bytes(uuid.0)
    }
}

/// An ID as Python has it.
pub(crate) fn to_uuid(py: Python<'_>, id: HotGuid) -> PyResult<Bound<'_, PyAny>> {
    uuid::of_bytes(py, id.to_rfc_bytes())
}

/// The ID of a text.
#[pyfunction]
#[pyo3(signature = (text, /))]
pub(crate) fn parse<'py>(py: Python<'py>, text: Text<'_>) -> PyResult<Bound<'py, PyAny>> {
    to_uuid(py, HotGuid::parse(&text).map_err(raise)?)
}

/// The fields of an ID.
#[pyfunction]
#[pyo3(signature = (id, /))]
pub(crate) fn parts(id: Uuid) -> Parts {
    Parts(HotGuid::from(id).parts())
}

/// The ID of given fields.
#[pyfunction]
#[pyo3(
    signature = (*, timestamp, machine, counter, shard_key = ShardKey(0)),
    text_signature = "(*, timestamp, machine, counter, shard_key=0)"
)]
pub(crate) fn from_parts<'py>(
    py: Python<'py>,
    timestamp: UnixSeconds,
    machine: Octets<'_>,
    counter: Counter,
    shard_key: ShardKey,
) -> PyResult<Bound<'py, PyAny>> {
    let found = machine.as_bytes();
    let machine = found.try_into().map_err(|_| raise(Error::invalid_length(found.len(), 5, 5)))?;
    let (timestamp, counter, shard_key) = (timestamp.0, counter.0, shard_key.0);
    let id = HotGuid::from_parts(hotguid::Parts { timestamp, machine, counter, shard_key });
    to_uuid(py, id.map_err(raise)?)
}

/// What the application routes by.
#[pyfunction]
#[pyo3(signature = (id, /))]
pub(crate) fn shard_key(id: Uuid) -> u32 {
    HotGuid::from(id).shard_key()
}

/// When an ID was made, in Unix seconds.
#[pyfunction]
#[pyo3(signature = (id, /))]
pub(crate) fn timestamp(id: Uuid) -> i64 {
    HotGuid::from(id).timestamp()
}

/// The GUID that SQL Server sorts by time.
#[pyfunction]
#[pyo3(signature = (id, /))]
pub(crate) fn to_sql(py: Python<'_>, id: Uuid) -> PyResult<Bound<'_, PyAny>> {
    to_uuid(py, sorted_by_sql_server(id.into()))
}

/// As the GUID of those bytes, which are in the order of .NET.
fn sorted_by_sql_server(id: HotGuid) -> HotGuid {
    HotGuid::from_bytes(id.to_sql())
}

/// The ID of a GUID that SQL Server sorts by time.
#[pyfunction]
#[pyo3(signature = (guid, /))]
pub(crate) fn from_sql(py: Python<'_>, guid: Uuid) -> PyResult<Bound<'_, PyAny>> {
    to_uuid(py, HotGuid::from_sql(HotGuid::from(guid).to_bytes()))
}

/// The 16 bytes in the order of .NET.
#[pyfunction]
#[pyo3(signature = (id, /))]
pub(crate) fn to_dotnet_bytes(py: Python<'_>, id: Uuid) -> Bound<'_, PyBytes> {
    PyBytes::new(py, &HotGuid::from(id).to_bytes())
}

/// The ID of 16 bytes in the order of .NET.
#[pyfunction]
#[pyo3(signature = (data, /))]
pub(crate) fn from_dotnet_bytes<'py>(
    py: Python<'py>,
    data: Octets<'_>,
) -> PyResult<Bound<'py, PyAny>> {
    to_uuid(py, HotGuid::from_slice(data.as_bytes()).map_err(raise)?)
}

/// The lowest and highest ID of a half-open time range, for BETWEEN queries.
#[pyfunction]
#[pyo3(
    signature = (start, end, /, *, sql = Flag(false)),
    text_signature = "(start, end, /, *, sql=False)"
)]
pub(crate) fn time_range(
    py: Python<'_>,
    start: UnixMs,
    end: UnixMs,
    sql: Flag,
) -> PyResult<(Bound<'_, PyAny>, Bound<'_, PyAny>)> {
    let (lowest, highest) = HotGuid::time_range(start.0, end.0).map_err(raise)?;
    let bound = |id| to_uuid(py, if sql.0 { sorted_by_sql_server(id) } else { id });
    Ok((bound(lowest)?, bound(highest)?))
}

/// What the format can do, in figures.
#[pyfunction]
pub(crate) fn describe() -> Description {
    hotguid::describe().into()
}

/// What an ID holds.
#[pyclass(frozen, eq, hash, module = "polyflake.hotguid")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Parts(hotguid::Parts);

#[pymethods]
impl Parts {
    /// When it was made, in Unix seconds.
    #[getter]
    fn timestamp(&self) -> i64 {
        self.0.timestamp
    }

    /// When it was made, as an aware datetime in UTC.
    #[getter]
    fn datetime<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        convert::datetime_of_ms(py, self.0.timestamp * 1000)
    }

    /// The 5 bytes that tell its generator from all others.
    #[getter]
    fn machine(&self) -> [u8; 5] {
        self.0.machine
    }

    /// Which one of its second it was, from any start.
    #[getter]
    fn counter(&self) -> u32 {
        self.0.counter
    }

    /// What the application routes by.
    #[getter]
    fn shard_key(&self) -> u32 {
        self.0.shard_key
    }

    fn __repr__(&self) -> String {
        let hotguid::Parts { timestamp, machine, counter, shard_key } = self.0;
        let machine = hex(machine);
        format!(
            "<Parts: timestamp {timestamp}, machine {machine}, counter {counter}, shard key {shard_key}>"
        )
    }
}

/// A machine as people read it.
pub(crate) fn hex(machine: [u8; 5]) -> String {
    let [a, b, c, d, e] = machine;
    format!("{:010x}", u64::from_be_bytes([0, 0, 0, a, b, c, d, e]))
}

/// Many IDs, packed.
#[pyclass(frozen, eq, hash, sequence, module = "polyflake.hotguid")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct HotGuidArray(Packed<HotGuid>);

impl From<Vec<HotGuid>> for HotGuidArray {
    fn from(ids: Vec<HotGuid>) -> Self {
        Self(Packed::new(ids))
    }
}

#[pymethods]
impl HotGuidArray {
    #[new]
    #[pyo3(signature = (data, /))]
    fn new(data: Octets<'_>) -> PyResult<Self> {
        let (ids, rest) = data.as_bytes().as_chunks();
        if !rest.is_empty() {
            return Err(raise(Error::invalid_length(rest.len(), HotGuid::LEN, HotGuid::LEN)));
        }
        Ok(ids.iter().map(|bytes| HotGuid::from_rfc_bytes(*bytes)).collect::<Vec<_>>().into())
    }

    /// The texts of all.
    fn texts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.0.ids().iter().map(|id| Ascii(id.text())))
    }

    fn __len__(&self) -> usize {
        self.0.ids().len()
    }

    fn __getitem__<'py>(&self, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        match self.0.at(index)? {
            At::One(id) => to_uuid(index.py(), id),
            At::Many(ids) => Ok(Bound::new(index.py(), Self::from(ids))?.into_any()),
        }
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        iterate(slf)
    }

    fn __repr__(&self) -> String {
        format!("<HotGuidArray of {} IDs>", self.0.ids().len())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, (Bound<'py, PyBytes>,)) {
        let packed: Vec<u8> = slf.get().0.ids().iter().flat_map(|id| id.to_rfc_bytes()).collect();
        (slf.get_type(), (PyBytes::new(slf.py(), &packed),))
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
