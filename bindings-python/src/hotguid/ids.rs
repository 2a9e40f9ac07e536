//! Single Hot Guids and arrays of them. In Python, a single Hot Guid is a `uuid.UUID`.

use polyflake::hotguid::{self, HotGuid, LAST_COUNTER};
use polyflake_columns::Packed;
use pyo3::{
    prelude::*,
    types::{PyBytes, PyList},
};

use crate::errors::raise;
use crate::ids::{
    array::{Array, ArrayClass, Item, array},
    column::{self, PackedBytes},
    convert::{
        self, Argument, Flag, FromArgument as _, Octets, UnixMs, UnixSeconds, name, numbers,
        raise_about_time, raise_for_time_range, raise_named,
    },
    describe::Description,
    fields::FieldColumn,
    record::reduce_by_attributes,
    text::{Ascii, TextColumn},
    uuid::{self, Uuid, UuidText},
};

numbers! {
    ShardKey(u32) "shard_key" 0..=u32::MAX;
    Counter(u32) "counter" 0..=LAST_COUNTER;
}

/// The highest machine number in a version 8 UUID, which has 34 machine bits.
const LAST_UUID8_MACHINE: u64 = (1 << 34) - 1;

/// The `machine` field of a Hot Guid, passed as an integer or as bytes. Bytes are copied before other arguments can run
/// Python code.
pub(crate) struct Machine<'py> {
    value: Bound<'py, PyAny>,
    /// The bytes of a buffer, or the exception for a buffer of other items. Some types of integers have buffers.
    bytes: Option<PyResult<Octets<'py>>>,
}

impl<'py> FromPyObject<'_, 'py> for Machine<'py> {
    type Error = PyErr;
    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let is_buffer = convert::has_buffer(&value);
        let bytes = is_buffer.then(|| Octets::from_argument(value, "machine"));
        Ok(Self { value: value.to_owned(), bytes })
    }
}

/// An ID passed as an argument.
type Id = Argument<Uuid, name::id>;

impl From<Uuid> for HotGuid {
    fn from(uuid: Uuid) -> Self {
        Self::from_bytes(uuid.0)
    }
}

/// Returns the Python object for an ID.
pub(crate) fn to_uuid(py: Python<'_>, id: HotGuid) -> PyResult<Bound<'_, PyAny>> {
    uuid::from_bytes(py, id.to_bytes())
}

#[doc = doc!("hotguid.parse")]
#[pyfunction]
#[pyo3(signature = (text, /))]
pub(crate) fn parse<'py>(
    py: Python<'py>,
    text: Argument<UuidText<'_>, name::text>,
) -> PyResult<Bound<'py, PyAny>> {
    to_uuid(py, HotGuid::parse(&text.0.0).map_err(raise)?)
}

#[doc = doc!("hotguid.parts")]
#[pyfunction]
#[pyo3(signature = (id, /, *, uuid8 = Argument::new(Flag(false))), text_signature = "(id, /, *, uuid8=False)")]
pub(crate) fn parts(
    py: Python<'_>,
    id: Id,
    uuid8: Argument<Flag, name::uuid8>,
) -> PyResult<Bound<'_, PyAny>> {
    let id = HotGuid::from(id.0);
    if !uuid8.0.0 {
        return Ok(Bound::new(py, Parts::from(id.parts()))?.into_any());
    }
    let parts = id.uuid8_parts().map_err(|error| raise_named(error, "id"))?;
    Ok(Bound::new(py, Uuid8Parts::from(parts))?.into_any())
}

#[doc = doc!("hotguid.from_parts")]
#[pyfunction]
#[pyo3(
    signature = (*, timestamp, machine, counter, shard_key = ShardKey(0), uuid8 = Argument::new(Flag(false))),
    text_signature = "(*, timestamp, machine, counter, shard_key=0, uuid8=False)"
)]
pub(crate) fn from_parts<'py>(
    py: Python<'py>,
    timestamp: Argument<UnixSeconds, name::timestamp>,
    machine: Machine<'py>,
    counter: Counter,
    shard_key: ShardKey,
    uuid8: Argument<Flag, name::uuid8>,
) -> PyResult<Bound<'py, PyAny>> {
    let (timestamp, counter, shard_key) = (timestamp.0.0, counter.0, shard_key.0);
    let id = if uuid8.0.0 {
        let machine = convert::number(&machine.value, "machine", 0..=LAST_UUID8_MACHINE)?;
        let parts = hotguid::Uuid8Parts { timestamp, machine, counter, shard_key };
        HotGuid::from_uuid8_parts(parts)
    } else {
        let no_bytes = || convert::wrong_type_exception("machine", "bytes", &machine.value);
        let machine = machine.bytes.ok_or_else(no_bytes)??.to_array("machine")?;
        HotGuid::from_parts(hotguid::Parts { timestamp, machine, counter, shard_key })
    };
    to_uuid(py, id.map_err(|error| raise_about_time(error, "timestamp"))?)
}

#[doc = doc!("hotguid.shard_key")]
#[pyfunction]
#[pyo3(signature = (id, /))]
pub(crate) fn shard_key(id: Id) -> u32 {
    HotGuid::from(id.0).shard_key()
}

#[doc = doc!("hotguid.timestamp")]
#[pyfunction]
#[pyo3(signature = (id, /))]
pub(crate) fn timestamp(id: Id) -> i64 {
    HotGuid::from(id.0).timestamp()
}

#[doc = doc!("hotguid.to_sql")]
#[pyfunction]
#[pyo3(signature = (id, /))]
pub(crate) fn to_sql(py: Python<'_>, id: Id) -> PyResult<Bound<'_, PyAny>> {
    to_uuid(py, to_sql_server_order(id.0.into()))
}

/// Returns the GUID that SQL Server sorts by time. The result is stored as a Hot Guid whose bytes are in .NET's order.
fn to_sql_server_order(id: HotGuid) -> HotGuid {
    HotGuid::from_dotnet_bytes(id.to_sql())
}

#[doc = doc!("hotguid.from_sql")]
#[pyfunction]
#[pyo3(signature = (guid, /))]
pub(crate) fn from_sql(
    py: Python<'_>,
    guid: Argument<Uuid, name::guid>,
) -> PyResult<Bound<'_, PyAny>> {
    to_uuid(py, HotGuid::from_sql(HotGuid::from(guid.0).to_dotnet_bytes()))
}

#[doc = doc!("hotguid.to_dotnet_bytes")]
#[pyfunction]
#[pyo3(signature = (id, /))]
pub(crate) fn to_dotnet_bytes(py: Python<'_>, id: Id) -> Bound<'_, PyBytes> {
    PyBytes::new(py, &HotGuid::from(id.0).to_dotnet_bytes())
}

#[doc = doc!("hotguid.from_dotnet_bytes")]
#[pyfunction]
#[pyo3(signature = (data, /))]
pub(crate) fn from_dotnet_bytes<'py>(
    py: Python<'py>,
    data: Argument<Octets<'_>, name::data>,
) -> PyResult<Bound<'py, PyAny>> {
    let id = HotGuid::from_slice(data.0.as_bytes());
    let id = id.map(|id| HotGuid::from_dotnet_bytes(id.to_bytes()));
    to_uuid(py, id.map_err(|error| raise_named(error, "data"))?)
}

#[doc = doc!("hotguid.time_range")]
#[pyfunction]
#[pyo3(
    signature = (start, end, /, *, sql = Argument::new(Flag(false))),
    text_signature = "(start, end, /, *, sql=False)"
)]
pub(crate) fn time_range(
    py: Python<'_>,
    start: Argument<UnixMs, name::start>,
    end: Argument<UnixMs, name::end>,
    sql: Argument<Flag, name::sql>,
) -> PyResult<(Bound<'_, PyAny>, Bound<'_, PyAny>)> {
    let (lowest, highest) = HotGuid::time_range(start.0, end.0)
        .map_err(|error| raise_for_time_range(error, start.0, end.0))?;
    let bound = |id| to_uuid(py, if sql.0.0 { to_sql_server_order(id) } else { id });
    Ok((bound(lowest)?, bound(highest)?))
}

#[doc = doc!("hotguid.describe")]
#[pyfunction]
pub(crate) fn describe() -> Description {
    hotguid::describe().into()
}

#[doc = doc!("hotguid.Parts")]
#[pyclass(frozen, eq, hash, get_all, module = "polyflake.hotguid")]
#[derive(PartialEq, Eq, Hash, FromPyObject)]
pub(crate) struct Parts {
    #[doc = doc!("hotguid.Parts.timestamp")]
    timestamp: i64,
    #[doc = doc!("hotguid.Parts.machine")]
    machine: [u8; 5],
    #[doc = doc!("hotguid.Parts.counter")]
    counter: u32,
    #[doc = doc!("hotguid.Parts.shard_key")]
    shard_key: u32,
}

impl From<hotguid::Parts> for Parts {
    fn from(parts: hotguid::Parts) -> Self {
        let hotguid::Parts { timestamp, machine, counter, shard_key } = parts;
        Self { timestamp, machine, counter, shard_key }
    }
}

#[pymethods]
impl Parts {
    #[doc = doc!("hotguid.Parts.datetime")]
    #[getter]
    fn datetime<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        convert::datetime_from_ms(py, self.timestamp * 1000)
    }

    fn __repr__(&self) -> String {
        let Self { timestamp, machine, counter, shard_key } = self;
        let machine = hex(*machine);
        format!(
            "<Parts: timestamp {timestamp}, machine {machine}, counter {counter}, shard key {shard_key}>"
        )
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        reduce_by_attributes(slf)
    }

    #[staticmethod]
    fn _restore(attributes: Self) -> Self {
        attributes
    }
}

#[doc = doc!("hotguid.Uuid8Parts")]
#[pyclass(frozen, eq, hash, get_all, module = "polyflake.hotguid")]
#[derive(PartialEq, Eq, Hash, FromPyObject)]
pub(crate) struct Uuid8Parts {
    #[doc = doc!("hotguid.Uuid8Parts.timestamp")]
    timestamp: i64,
    #[doc = doc!("hotguid.Uuid8Parts.machine")]
    machine: u64,
    #[doc = doc!("hotguid.Uuid8Parts.counter")]
    counter: u32,
    #[doc = doc!("hotguid.Uuid8Parts.shard_key")]
    shard_key: u32,
}

impl From<hotguid::Uuid8Parts> for Uuid8Parts {
    fn from(parts: hotguid::Uuid8Parts) -> Self {
        let hotguid::Uuid8Parts { timestamp, machine, counter, shard_key } = parts;
        Self { timestamp, machine, counter, shard_key }
    }
}

#[pymethods]
impl Uuid8Parts {
    #[doc = doc!("hotguid.Uuid8Parts.datetime")]
    #[getter]
    fn datetime<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        convert::datetime_from_ms(py, self.timestamp * 1000)
    }

    fn __repr__(&self) -> String {
        let Self { timestamp, machine, counter, shard_key } = self;
        format!(
            "<Uuid8Parts: timestamp {timestamp}, machine {machine}, counter {counter}, shard key {shard_key}>"
        )
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        reduce_by_attributes(slf)
    }

    #[staticmethod]
    fn _restore(attributes: Self) -> Self {
        attributes
    }
}

/// Formats the 5 machine bytes in hexadecimal for display.
pub(crate) fn hex(machine: [u8; 5]) -> String {
    let [a, b, c, d, e] = machine;
    format!("{:010x}", u64::from_be_bytes([0, 0, 0, a, b, c, d, e]))
}

#[doc = doc!("hotguid.HotGuidArray")]
#[pyclass(frozen, extends = Array, module = "polyflake.hotguid")]
pub(crate) struct HotGuidArray(Packed<HotGuid>);

impl ArrayClass<HotGuid> for HotGuidArray {
    fn from_packed(ids: Packed<HotGuid>) -> Self {
        Self(ids)
    }
}

impl Item for HotGuid {
    fn object<'py>(
        py: Python<'py>,
        ids: &Packed<Self>,
        position: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        to_uuid(py, ids.items()[position])
    }
}

/// Reads an item of a list as an ID. The item is a UUID or a string.
fn parse_item(id: &Bound<'_, PyAny>) -> PyResult<polyflake::Result<HotGuid>> {
    match Uuid::try_from_value(id, column::IDS)? {
        Some(id) => Ok(Ok(id.into())),
        None => column::parse_text_item(id, column::IDS, "uuid.UUID or str"),
    }
}

#[pymethods]
impl HotGuidArray {
    #[new]
    #[pyo3(signature = (ids, /))]
    fn new<'py>(ids: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
        let packed = match PackedBytes::from_value(
            ids,
            column::IDS,
            HotGuid::LEN,
            &ids.py().get_type::<Self>(),
        )? {
            Some(bytes) => {
                let (ids, _) = bytes.as_bytes().as_chunks();
                ids.iter().map(|bytes| HotGuid::from_bytes(*bytes)).collect()
            }
            None => column::parse_items(ids, column::IDS, "IDs", parse_item)?,
        };
        array(ids.py(), Packed::new(packed))
    }

    #[doc = doc!("hotguid.HotGuidArray.from_texts")]
    #[staticmethod]
    #[pyo3(signature = (column, /))]
    fn from_texts<'py>(column: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
        array(column.py(), Packed::new(column::ids_from_column(column)?))
    }

    #[doc = doc!("hotguid.HotGuidArray.timestamps")]
    fn timestamps<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, FieldColumn>> {
        FieldColumn::map_each(py, self.0.items(), HotGuid::timestamp)
    }

    #[doc = doc!("hotguid.HotGuidArray.machines")]
    fn machines<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, FieldColumn>> {
        FieldColumn::rows(py, self.0.items(), HotGuid::machine)
    }

    #[doc = doc!("hotguid.HotGuidArray.counters")]
    fn counters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, FieldColumn>> {
        FieldColumn::map_each(py, self.0.items(), HotGuid::counter)
    }

    #[doc = doc!("hotguid.HotGuidArray.shard_keys")]
    fn shard_keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, FieldColumn>> {
        FieldColumn::map_each(py, self.0.items(), HotGuid::shard_key)
    }

    #[doc = doc!("hotguid.HotGuidArray.text_column")]
    fn text_column<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, TextColumn>> {
        TextColumn::encode_guids(py, self.0.items(), HotGuid::text)
    }

    #[doc = doc!("hotguid.HotGuidArray.texts")]
    fn texts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.0.items().iter().map(|id| Ascii(id.text())))
    }
}
