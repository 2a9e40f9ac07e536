//! Custom layouts: what they are described as, and IDs of theirs.

mod array;
mod columns;
pub(crate) mod json;
mod value;

pub(crate) use array::LayoutArray;
pub(crate) use columns::ParsedColumns;
use polyflake::layout::{self, Id, preset};
use pyo3::{
    exceptions::PyOverflowError,
    prelude::*,
    types::{PyBytes, PyDict, PyString},
};
pub(crate) use value::Named;
use value::{Given, Time};

use super::{
    convert::{self, Octets, Text, UnixMs, invalid_type, numbers},
    describe::Description,
};
use crate::errors::raise;

numbers! {
    IntegerId(i64) "id" i64::MIN..=i64::MAX;
}

/// Which bits of an ID mean what.
#[pyclass(frozen, eq, module = "polyflake.layout")]
#[derive(PartialEq, Eq)]
pub(crate) struct Layout(pub(crate) layout::Layout);

#[pymethods]
impl Layout {
    #[new]
    #[pyo3(signature = (description, /))]
    fn new(description: &Bound<'_, PyAny>) -> PyResult<Self> {
        layout::Layout::from_value(json::of_dict(description)?).map(Self).map_err(raise)
    }

    /// The layout of a JSON text.
    #[staticmethod]
    #[pyo3(signature = (text, /))]
    fn from_json(text: &Bound<'_, PyAny>) -> PyResult<Self> {
        let Ok(text) = text.cast::<PyString>() else {
            return Err(raise(invalid_type("str", text)));
        };
        layout::Layout::from_json(&json::strict(text)?).map(Self).map_err(raise)
    }

    /// The layout of a service's IDs.
    #[staticmethod]
    #[pyo3(signature = (name, /, **fields), text_signature = "(name, /, **fields)")]
    fn preset(name: Text<'_>, fields: Option<Named>) -> PyResult<Self> {
        let fields = fields.unwrap_or_default();
        preset(&name, fields.iter()).map(Self).map_err(raise)
    }

    /// The layout as a JSON text.
    fn to_json(&self) -> String {
        self.0.to_json()
    }

    /// How many bits an ID has.
    #[getter]
    fn bits(&self) -> u32 {
        self.0.bits()
    }

    /// Whether IDs are integers; else they are bytes.
    #[getter]
    fn is_integer(&self) -> bool {
        self.0.is_integer()
    }

    /// The ID of given values.
    #[pyo3(
        signature = (*, timestamp = None, sequence = None, bindables = None, constants = None),
        text_signature = "($self, *, timestamp=None, sequence=None, bindables=None, constants=None)"
    )]
    fn pack<'py>(
        &self,
        py: Python<'py>,
        timestamp: Option<Time>,
        sequence: Option<Given>,
        bindables: Option<Named>,
        constants: Option<Named>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut values = self.0.values();
        if let Some(time) = timestamp {
            values.time(time.0).map_err(raise)?;
        }
        if let Some(sequence) = sequence {
            values.sequence(sequence.0).map_err(raise)?;
        }
        for (name, value) in bindables.unwrap_or_default().0 {
            values.bind(&name, value).map_err(raise)?;
        }
        for (name, value) in constants.unwrap_or_default().0 {
            values.constant(&name, value).map_err(raise)?;
        }
        id_to_object(py, values.pack().map_err(raise)?)
    }

    /// Many IDs of given values and columns of values.
    #[pyo3(
        signature = (*, timestamp = None, sequence = None, bindables = None, constants = None),
        text_signature = "($self, *, timestamp=None, sequence=None, bindables=None, constants=None)"
    )]
    fn pack_columns(
        &self,
        timestamp: Option<&Bound<'_, PyAny>>,
        sequence: Option<&Bound<'_, PyAny>>,
        bindables: Option<&Bound<'_, PyAny>>,
        constants: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<LayoutArray> {
        let mut packing = columns::Packing::of(&self.0);
        timestamp.map_or(Ok(()), |given| packing.timestamp(given))?;
        sequence.map_or(Ok(()), |given| packing.sequence(given))?;
        bindables.map_or(Ok(()), |given| packing.bindables(given))?;
        constants.map_or(Ok(()), |given| packing.constants(given))?;
        packing.pack()
    }

    /// The fields of many IDs, a column of each.
    #[pyo3(signature = (ids, /))]
    fn parse_columns(slf: &Bound<'_, Self>, ids: &Bound<'_, PyAny>) -> PyResult<ParsedColumns> {
        ParsedColumns::of(slf, ids)
    }

    /// The fields of an ID.
    #[pyo3(signature = (id, /))]
    fn parse(slf: &Bound<'_, Self>, id: &Bound<'_, PyAny>) -> PyResult<Parsed> {
        let id = if slf.get().0.is_integer() {
            Id::Integer(id.extract::<IntegerId>()?.0)
        } else {
            Id::Bytes(id.extract::<Octets<'_>>()?.as_bytes().to_vec())
        };
        slf.get().0.parse(&id).map_err(raise)?;
        Ok(Parsed { layout: slf.clone().unbind(), id })
    }

    /// The lowest and highest ID of a half-open time range, for BETWEEN queries.
    #[pyo3(
        signature = (start, end, /, bindables = None),
        text_signature = "($self, start, end, /, bindables=None)"
    )]
    fn time_range<'py>(
        &self,
        py: Python<'py>,
        start: UnixMs,
        end: UnixMs,
        bindables: Option<Named>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let bindables = bindables.unwrap_or_default();
        let ends = self.0.time_range(start.0, end.0, bindables.iter());
        let (lowest, highest) = ends.map_err(raise)?;
        Ok((id_to_object(py, lowest)?, id_to_object(py, highest)?))
    }

    /// What the layout can do, in figures.
    fn describe(&self) -> Description {
        self.0.describe().into()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("Layout.from_json({})", PyString::new(py, &self.0.to_json()).repr()?))
    }

    /// A layout is a value: it may be copied, pickled and sent to other processes.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((slf.get_type().getattr("from_json")?, (slf.get().to_json(),)))
    }
}

/// An ID as Python has it: an integer or bytes.
pub(crate) fn id_to_object(py: Python<'_>, id: Id) -> PyResult<Bound<'_, PyAny>> {
    Ok(match id {
        Id::Integer(id) => id.into_pyobject(py)?.into_any(),
        Id::Bytes(id) => PyBytes::new(py, &id).into_any(),
    })
}

/// What an ID holds.
#[pyclass(frozen, eq, module = "polyflake.layout")]
pub(crate) struct Parsed {
    layout: Py<Layout>,
    /// Known to be one of the layout's.
    id: Id,
}

impl PartialEq for Parsed {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id && self.layout.get() == other.layout.get()
    }
}

impl Parsed {
    fn fields(&self) -> PyResult<layout::Parsed<'_>> {
        self.layout.get().0.parse(&self.id).map_err(raise)
    }
}

#[pymethods]
impl Parsed {
    /// When its tick begins, in Unix milliseconds.
    #[getter]
    fn unix_ms(&self) -> PyResult<Option<i64>> {
        Ok(self.fields()?.unix_ms())
    }

    /// When its tick begins, as an aware datetime in UTC.
    #[getter]
    fn datetime<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(nanos) = self.fields()?.unix_nanos() else { return Ok(None) };
        match convert::datetime_of_micros(py, nanos.div_euclid(1000)) {
            Err(outside) if outside.is_instance_of::<PyOverflowError>(py) => Ok(None),
            datetime => datetime.map(Some),
        }
    }

    /// The sequence.
    #[getter]
    fn sequence(&self) -> PyResult<Option<i128>> {
        Ok(self.fields()?.sequence())
    }

    /// The bindables, by name.
    #[getter]
    fn bindables<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        values_to_dict(py, self.fields()?.bindables())
    }

    /// The constants, by name.
    #[getter]
    fn constants<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        values_to_dict(py, self.fields()?.constants())
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let fields = self.fields()?;
        let mut said = Vec::new();
        if let Some(unix_ms) = fields.unix_ms() {
            said.push(format!("unix_ms {unix_ms}"));
        }
        if let Some(sequence) = fields.sequence() {
            said.push(format!("sequence {sequence}"));
        }
        said.push(format!("bindables {}", self.bindables(py)?.repr()?));
        said.push(format!("constants {}", self.constants(py)?.repr()?));
        Ok(format!("<Parsed: {}>", said.join(", ")))
    }
}

fn values_to_dict<'py, 'v>(
    py: Python<'py>,
    values: impl Iterator<Item = (&'v str, layout::Value<'v>)>,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, value) in values {
        dict.set_item(name, value::to_object(py, &value)?)?;
    }
    Ok(dict)
}
