//! Single version 7 UUIDs and arrays of them. In Python, a single UUID is a `uuid.UUID`.

use polyflake::uuid7::{self, LAST_SEQUENCE, Uuid7};
use polyflake_columns::Packed;
use pyo3::{prelude::*, types::PyList};

use crate::errors::raise;
use crate::ids::{
    array::{Array, ArrayClass, Item, array},
    column::{self, PackedBytes},
    convert::{
        self, Argument, FromArgument, UnixMs, name, numbers, raise_for_time_range, raise_named,
    },
    describe::Description,
    fields::FieldColumn,
    record::reduce_by_attributes,
    text::{Ascii, TextColumn},
    uuid::{self, Uuid, UuidText},
};

numbers! {
    Sequence(u32) "sequence" 0..=LAST_SEQUENCE;
    /// The random bits that follow the sequence.
    RandomBits(u64) "random" 0..=(1 << 56) - 1;
}

/// An ID passed as an argument: a version 7 `uuid.UUID`.
pub(crate) struct Id(Uuid7);

impl<'a, 'py> FromArgument<'a, 'py> for Id {
    fn from_argument(value: Borrowed<'a, 'py, PyAny>, name: &str) -> PyResult<Self> {
        let uuid = Uuid::from_argument(value, name)?;
        Uuid7::from_bytes(uuid.0).map(Self).map_err(|error| raise_named(error, name))
    }
}

/// Returns the Python object for an ID.
pub(crate) fn to_uuid(py: Python<'_>, id: Uuid7) -> PyResult<Bound<'_, PyAny>> {
    uuid::from_bytes(py, id.to_bytes())
}

#[doc = doc!("uuid7.parse")]
#[pyfunction]
#[pyo3(signature = (text, /))]
pub(crate) fn parse<'py>(
    py: Python<'py>,
    text: Argument<UuidText<'_>, name::text>,
) -> PyResult<Bound<'py, PyAny>> {
    to_uuid(py, Uuid7::parse(&text.0.0).map_err(raise)?)
}

#[doc = doc!("uuid7.parts")]
#[pyfunction]
#[pyo3(signature = (id, /))]
pub(crate) fn parts(id: Argument<Id, name::id>) -> Parts {
    id.0.0.parts().into()
}

#[doc = doc!("uuid7.from_parts")]
#[pyfunction]
#[pyo3(signature = (*, unix_ms, sequence, random))]
pub(crate) fn from_parts(
    py: Python<'_>,
    unix_ms: Argument<UnixMs, name::unix_ms>,
    sequence: Sequence,
    random: RandomBits,
) -> PyResult<Bound<'_, PyAny>> {
    let parts = uuid7::Parts { unix_ms: unix_ms.0.0, sequence: sequence.0, random: random.0 };
    to_uuid(py, Uuid7::from_parts(parts).map_err(|error| unix_ms.0.raise(error, "unix_ms"))?)
}

#[doc = doc!("uuid7.generate_at")]
#[pyfunction]
#[pyo3(signature = (time, /))]
pub(crate) fn generate_at(
    py: Python<'_>,
    time: Argument<UnixMs, name::time>,
) -> PyResult<Bound<'_, PyAny>> {
    to_uuid(py, uuid7::generate_at(time.0).map_err(|error| time.0.raise(error, "time"))?)
}

#[doc = doc!("uuid7.unix_ms")]
#[pyfunction]
#[pyo3(signature = (id, /))]
pub(crate) fn unix_ms(id: Argument<Id, name::id>) -> i64 {
    id.0.0.unix_ms()
}

#[doc = doc!("uuid7.worker_id")]
#[pyfunction]
#[pyo3(signature = (id, /))]
pub(crate) fn worker_id(id: Argument<Id, name::id>) -> u16 {
    uuid7::worker_id(id.0.0)
}

#[doc = doc!("uuid7.time_range")]
#[pyfunction]
#[pyo3(signature = (start, end, /))]
pub(crate) fn time_range(
    py: Python<'_>,
    start: Argument<UnixMs, name::start>,
    end: Argument<UnixMs, name::end>,
) -> PyResult<(Bound<'_, PyAny>, Bound<'_, PyAny>)> {
    let (lowest, highest) = Uuid7::time_range(start.0, end.0)
        .map_err(|error| raise_for_time_range(error, start.0, end.0))?;
    Ok((to_uuid(py, lowest)?, to_uuid(py, highest)?))
}

#[doc = doc!("uuid7.describe")]
#[pyfunction]
pub(crate) fn describe() -> Description {
    uuid7::describe().into()
}

#[doc = doc!("uuid7.Parts")]
#[pyclass(frozen, eq, hash, get_all, module = "polyflake.uuid7")]
#[derive(PartialEq, Eq, Hash, FromPyObject)]
pub(crate) struct Parts {
    #[doc = doc!("uuid7.Parts.unix_ms")]
    unix_ms: i64,
    #[doc = doc!("uuid7.Parts.sequence")]
    sequence: u32,
    #[doc = doc!("uuid7.Parts.random")]
    random: u64,
}

impl From<uuid7::Parts> for Parts {
    fn from(parts: uuid7::Parts) -> Self {
        let uuid7::Parts { unix_ms, sequence, random } = parts;
        Self { unix_ms, sequence, random }
    }
}

#[pymethods]
impl Parts {
    #[doc = doc!("uuid7.Parts.datetime")]
    #[getter]
    fn datetime<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        convert::datetime_from_ms(py, self.unix_ms)
    }

    fn __repr__(&self) -> String {
        let Self { unix_ms, sequence, random } = self;
        format!("<Parts: {unix_ms} ms, sequence {sequence}, random {random:014x}>")
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        reduce_by_attributes(slf)
    }

    #[staticmethod]
    fn _restore(attributes: Self) -> Self {
        attributes
    }
}

#[doc = doc!("uuid7.Uuid7Array")]
#[pyclass(frozen, extends = Array, module = "polyflake.uuid7")]
pub(crate) struct Uuid7Array(Packed<Uuid7>);

impl ArrayClass<Uuid7> for Uuid7Array {
    fn from_packed(ids: Packed<Uuid7>) -> Self {
        Self(ids)
    }
}

impl Item for Uuid7 {
    fn object<'py>(
        py: Python<'py>,
        ids: &Packed<Self>,
        position: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        to_uuid(py, ids.items()[position])
    }
}

/// Reads a list item as an ID. The item is a UUID or a string.
fn parse_item(id: &Bound<'_, PyAny>) -> PyResult<polyflake::Result<Uuid7>> {
    match Uuid::try_from_value(id, column::IDS)? {
        Some(uuid) => Ok(Uuid7::from_bytes(uuid.0)),
        None => column::parse_text_item(id, column::IDS, "uuid.UUID or str"),
    }
}

/// Reads packed IDs. An error contains the index of the invalid item.
fn unpack(bytes: &[u8]) -> polyflake::Result<Vec<Uuid7>> {
    let (ids, _) = bytes.as_chunks();
    let id = |(item, bytes): (usize, &[u8; Uuid7::LEN])| {
        Uuid7::from_bytes(*bytes).map_err(|error| error.in_item(item))
    };
    ids.iter().enumerate().map(id).collect()
}

#[pymethods]
impl Uuid7Array {
    #[new]
    #[pyo3(signature = (ids, /))]
    fn new<'py>(ids: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
        let packed = match PackedBytes::from_value(
            ids,
            column::IDS,
            Uuid7::LEN,
            &ids.py().get_type::<Self>(),
        )? {
            Some(bytes) => unpack(bytes.as_bytes()).map_err(raise)?,
            None => column::parse_items(ids, column::IDS, "IDs", parse_item)?,
        };
        array(ids.py(), Packed::new(packed))
    }

    #[doc = doc!("uuid7.Uuid7Array.from_texts")]
    #[staticmethod]
    #[pyo3(signature = (column, /))]
    fn from_texts<'py>(column: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
        array(column.py(), Packed::new(column::ids_from_column(column)?))
    }

    #[doc = doc!("uuid7.Uuid7Array.unix_ms")]
    fn unix_ms<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, FieldColumn>> {
        FieldColumn::map_each(py, self.0.items(), Uuid7::unix_ms)
    }

    #[doc = doc!("uuid7.Uuid7Array.sequences")]
    fn sequences<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, FieldColumn>> {
        FieldColumn::map_each(py, self.0.items(), Uuid7::sequence)
    }

    #[doc = doc!("uuid7.Uuid7Array.worker_ids")]
    fn worker_ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, FieldColumn>> {
        FieldColumn::map_each(py, self.0.items(), uuid7::worker_id)
    }

    #[doc = doc!("uuid7.Uuid7Array.text_column")]
    fn text_column<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, TextColumn>> {
        TextColumn::encode_guids(py, self.0.items(), Uuid7::text)
    }

    #[doc = doc!("uuid7.Uuid7Array.texts")]
    fn texts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.0.items().iter().map(|id| Ascii(id.text())))
    }
}
