//! Single sno IDs and arrays of them.

use polyflake::sno::{self, Parts};
use polyflake_columns::Packed;
use pyo3::{
    prelude::*,
    types::{PyBytes, PyList, PyType},
};

use crate::errors::raise;
#[cfg(not(any(Py_LIMITED_API, Py_GIL_DISABLED)))]
use crate::ids::object::FreeList;
use crate::ids::{
    array::{Array, ArrayClass, Item, array},
    column::{self, PackedBytes},
    convert::{
        self, Argument, Flag, FromArgument, Metabyte, Octets, Partition, Sequence, Tick, UnixMs,
        name, raise_for_time_range, raise_named, texts, wrong_type_exception,
    },
    describe::Description,
    fields::FieldColumn,
    memory::{try_copy, zeroed},
    object::{Value, object},
    text::{Ascii, TextColumn},
    uuid::{self, Uuid},
};

texts! {
    /// The string form of a sno ID.
    SnoText sno::Sno::TEXT_LEN..=sno::Sno::TEXT_LEN;
}

#[doc = doc!("sno.Sno")]
#[pyclass(frozen, eq, ord, hash, module = "polyflake.sno")]
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Sno(pub(crate) sno::Sno);

impl Value for Sno {
    #[cfg(not(any(Py_LIMITED_API, Py_GIL_DISABLED)))]
    #[inline]
    fn free_list() -> &'static FreeList {
        static FREE_LIST: FreeList = FreeList::new();
        &FREE_LIST
    }
}

#[pymethods]
impl Sno {
    #[new]
    #[pyo3(signature = (text, /))]
    fn new(text: Argument<SnoText<'_>, name::text>) -> PyResult<Self> {
        sno::Sno::parse(&text.0.0).map(Self).map_err(raise)
    }

    #[doc = doc!("sno.Sno.parse")]
    #[staticmethod]
    #[pyo3(signature = (text, /))]
    fn parse(text: Argument<SnoText<'_>, name::text>) -> PyResult<Self> {
        Self::new(text)
    }

    #[doc = doc!("sno.Sno.from_bytes")]
    #[staticmethod]
    #[pyo3(signature = (data, /))]
    fn from_bytes(data: Argument<Octets<'_>, name::data>) -> PyResult<Self> {
        let id = sno::Sno::from_slice(data.0.as_bytes());
        id.map(Self).map_err(|error| raise_named(error, "data"))
    }

    #[doc = doc!("sno.Sno.from_parts")]
    #[staticmethod]
    #[pyo3(
        signature = (*, tick, partition, sequence, metabyte = Metabyte(0), tick_tock = Argument::new(Flag(false))),
        text_signature = "(*, tick, partition, sequence, metabyte=0, tick_tock=False)"
    )]
    fn from_parts(
        tick: Tick,
        partition: Partition,
        sequence: Sequence,
        metabyte: Metabyte,
        tick_tock: Argument<Flag, name::tick_tock>,
    ) -> PyResult<Self> {
        let parts = Parts {
            tick: tick.0,
            tick_tock: tick_tock.0.0,
            metabyte: metabyte.0,
            partition: partition.0,
            sequence: sequence.0,
        };
        sno::Sno::from_parts(parts).map(Self).map_err(raise)
    }

    #[doc = doc!("sno.Sno.from_uuid")]
    #[staticmethod]
    #[pyo3(signature = (uuid, /))]
    fn from_uuid(uuid: Argument<Uuid, name::uuid>) -> PyResult<Self> {
        sno::Sno::from_uuid_bytes(uuid.0.0).map(Self).map_err(raise)
    }

    #[doc = doc!("sno.Sno.from_uuid8")]
    #[staticmethod]
    #[pyo3(signature = (uuid, /))]
    fn from_uuid8(uuid: Argument<Uuid, name::uuid>) -> PyResult<Self> {
        sno::Sno::from_uuid8_bytes(uuid.0.0)
            .map(Self)
            .map_err(|error| raise(error.with_field("uuid")))
    }

    #[doc = doc!("sno.Sno.uuid8")]
    #[getter]
    fn uuid8<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        uuid::from_bytes(py, self.0.to_uuid8_bytes())
    }

    #[doc = doc!("sno.Sno.uuid")]
    #[getter]
    fn uuid<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        uuid::from_bytes(py, self.0.to_uuid_bytes())
    }

    #[doc = doc!("sno.Sno.unix_ms")]
    #[getter]
    fn unix_ms(&self) -> i64 {
        self.0.unix_ms()
    }

    #[doc = doc!("sno.Sno.datetime")]
    #[getter]
    fn datetime<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        convert::datetime_from_ms(py, self.0.unix_ms())
    }

    #[doc = doc!("sno.Sno.tick")]
    #[getter]
    fn tick(&self) -> u64 {
        self.0.tick()
    }

    #[doc = doc!("sno.Sno.tick_tock")]
    #[getter]
    fn tick_tock(&self) -> bool {
        self.0.tick_tock()
    }

    #[doc = doc!("sno.Sno.metabyte")]
    #[getter]
    fn metabyte(&self) -> u8 {
        self.0.metabyte()
    }

    #[doc = doc!("sno.Sno.partition")]
    #[getter]
    fn partition(&self) -> u16 {
        self.0.partition()
    }

    #[doc = doc!("sno.Sno.sequence")]
    #[getter]
    fn sequence(&self) -> u16 {
        self.0.sequence()
    }

    #[doc = doc!("sno.Sno.with_metabyte")]
    #[pyo3(signature = (metabyte, /))]
    fn with_metabyte(&self, metabyte: Metabyte) -> Self {
        Self(self.0.with_metabyte(metabyte.0))
    }

    #[doc = doc!("sno.Sno.with_partition")]
    #[pyo3(signature = (partition, /))]
    fn with_partition(&self, partition: Partition) -> Self {
        Self(self.0.with_partition(partition.0))
    }

    #[doc = doc!("sno.Sno.with_sequence")]
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

    /// Supports copying and pickling, because an ID is a plain value that may be sent to other processes.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, (String,)) {
        (slf.get_type(), (slf.get().0.to_string(),))
    }
}

#[doc = doc!("sno.metabyte")]
#[pyfunction]
#[pyo3(signature = (text, /))]
pub(crate) fn metabyte(text: Argument<SnoText<'_>, name::text>) -> PyResult<u8> {
    sno::metabyte(&text.0.0).map_err(raise)
}

#[doc = doc!("sno.from_json_value")]
#[pyfunction]
#[pyo3(
    signature = (value, /, *, null_is_zero = Argument::new(Flag(false))),
    text_signature = "(value, /, *, null_is_zero=False)"
)]
pub(crate) fn from_json_value(
    value: &Bound<'_, PyAny>,
    null_is_zero: Argument<Flag, name::null_is_zero>,
) -> PyResult<Sno> {
    if null_is_zero.0.0 && value.is_none() {
        return Ok(Sno(sno::Sno::default()));
    }
    let text = SnoText::from_argument(value.as_borrowed(), "value")?;
    sno::Sno::parse(&text.0).map(Sno).map_err(raise)
}

#[doc = doc!("sno.to_json_value")]
#[pyfunction]
#[pyo3(
    signature = (id, /, *, null_is_zero = Argument::new(Flag(false))),
    text_signature = "(id, /, *, null_is_zero=False)"
)]
pub(crate) fn to_json_value(
    id: &Bound<'_, PyAny>,
    null_is_zero: Argument<Flag, name::null_is_zero>,
) -> PyResult<Option<String>> {
    let Ok(id) = id.cast::<Sno>() else {
        return Err(wrong_type_exception("id", "Sno", id));
    };
    let id = id.get().0;
    Ok((!null_is_zero.0.0 || id != sno::Sno::default()).then(|| id.to_string()))
}

#[doc = doc!("sno.describe")]
#[pyfunction]
pub(crate) fn describe() -> Description {
    sno::describe().into()
}

#[doc = doc!("sno.time_range")]
#[pyfunction]
#[pyo3(signature = (start, end, /))]
pub(crate) fn time_range(
    start: Argument<UnixMs, name::start>,
    end: Argument<UnixMs, name::end>,
) -> PyResult<(Sno, Sno)> {
    let (lowest, highest) = sno::Sno::time_range(start.0, end.0)
        .map_err(|error| raise_for_time_range(error, start.0, end.0))?;
    Ok((Sno(lowest), Sno(highest)))
}

#[doc = doc!("sno.SnoArray")]
#[pyclass(frozen, extends = Array, module = "polyflake.sno")]
pub(crate) struct SnoArray(Packed<sno::Sno>);

impl ArrayClass<sno::Sno> for SnoArray {
    fn from_packed(ids: Packed<sno::Sno>) -> Self {
        Self(ids)
    }
}

impl Item for sno::Sno {
    fn object<'py>(
        py: Python<'py>,
        ids: &Packed<Self>,
        position: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        object(py, Sno(ids.items()[position]))
    }
}

/// Reads a list item as an ID. The item is an ID object or a string.
fn read_list_item(id: &Bound<'_, PyAny>) -> PyResult<polyflake::Result<sno::Sno>> {
    match id.cast::<Sno>() {
        Ok(id) => Ok(Ok(id.get().0)),
        Err(_) => column::parse_text_item(id, column::IDS, "Sno or str"),
    }
}

/// The number of bytes in a UUID.
const UUID_LEN: usize = 16;

/// Reads an item from a list of UUIDs as an ID.
fn read_uuid8_item(uuid: &Bound<'_, PyAny>) -> PyResult<polyflake::Result<sno::Sno>> {
    Ok(match Uuid::try_from_value(uuid, column::NAME)? {
        Some(uuid) => sno::Sno::from_uuid8_bytes(uuid.0),
        None => {
            Err(convert::wrong_type_error(column::NAME, "uuid.UUID", &convert::type_name(uuid)))
        }
    })
}

#[pymethods]
impl SnoArray {
    #[new]
    #[pyo3(signature = (ids, /))]
    fn new<'py>(ids: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
        let packed = match PackedBytes::from_value(
            ids,
            column::IDS,
            sno::Sno::LEN,
            &ids.py().get_type::<Self>(),
        )? {
            Some(bytes) => try_copy(sno::Sno::slice_from_bytes(bytes.as_bytes()).map_err(raise)?)?,
            None => column::parse_items(ids, column::IDS, "IDs", read_list_item)?,
        };
        array(ids.py(), Packed::new(packed))
    }

    #[doc = doc!("sno.SnoArray.from_texts")]
    #[staticmethod]
    #[pyo3(signature = (column, /))]
    fn from_texts<'py>(column: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
        array(column.py(), Packed::new(column::ids_from_column(column)?))
    }

    #[doc = doc!("sno.SnoArray.from_uuid8")]
    #[staticmethod]
    #[pyo3(signature = (column, /))]
    fn from_uuid8<'py>(column: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
        let ids = match PackedBytes::from_value(
            column,
            column::NAME,
            UUID_LEN,
            &column.py().get_type::<FieldColumn>(),
        )? {
            Some(bytes) => {
                let (uuids, _) = bytes.as_bytes().as_chunks();
                let mut ids = zeroed(uuids.len())?;
                sno::from_uuid8_column(uuids, &mut ids).map_err(raise)?;
                ids
            }
            None => {
                column::parse_items(column, column::NAME, "a column of UUIDs", read_uuid8_item)?
            }
        };
        array(column.py(), Packed::new(ids))
    }

    #[doc = doc!("sno.SnoArray.uuid8_column")]
    fn uuid8_column<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, FieldColumn>> {
        FieldColumn::rows(py, self.0.items(), |id| id.to_uuid8_bytes())
    }

    #[doc = doc!("sno.SnoArray.unix_ms")]
    fn unix_ms<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, FieldColumn>> {
        FieldColumn::from_fill(py, self.0.items(), sno::unix_ms_column)
    }

    #[doc = doc!("sno.SnoArray.metabytes")]
    fn metabytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, FieldColumn>> {
        FieldColumn::from_fill(py, self.0.items(), sno::metabyte_column)
    }

    #[doc = doc!("sno.SnoArray.partitions")]
    fn partitions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, FieldColumn>> {
        FieldColumn::from_fill(py, self.0.items(), sno::partition_column)
    }

    #[doc = doc!("sno.SnoArray.sequences")]
    fn sequences<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, FieldColumn>> {
        FieldColumn::from_fill(py, self.0.items(), sno::sequence_column)
    }

    #[doc = doc!("sno.SnoArray.text_column")]
    fn text_column<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, TextColumn>> {
        TextColumn::new(py, self.0.items())
    }

    #[doc = doc!("sno.SnoArray.texts")]
    fn texts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.0.items().iter().map(|id| Ascii(id.text())))
    }
}
