//! Custom layouts: their descriptions and their IDs.

mod array;
mod columns;
pub(crate) mod json;
mod value;

pub(crate) use array::LayoutArray;
pub(crate) use columns::ParsedColumns;
use polyflake::{
    Error, ErrorKind,
    layout::{self, Id, PRESETS, preset},
};
use pyo3::{
    exceptions::PyOverflowError,
    prelude::*,
    types::{PyBytes, PyDict, PyString},
};
pub(crate) use value::{NamedValues, Names};
use value::{Time, ValueArgument};

use crate::errors::raise;
use crate::ids::{
    convert::{
        self, Argument, FromArgument, Octets, Text, UnixMs, name, numbers, raise_for_time_range,
        wrong_type_exception,
    },
    describe::Description,
    record::{PickleParts, reduce_record},
};

numbers! {
    IntegerId(i64) "id" i64::MIN..=i64::MAX;
}

#[doc = doc!("layout.presets")]
#[pyfunction]
pub(crate) fn presets() -> Vec<&'static str> {
    PRESETS.to_vec()
}

#[doc = doc!("layout.Layout")]
#[pyclass(frozen, eq, module = "polyflake.layout")]
#[derive(PartialEq, Eq)]
pub(crate) struct Layout(pub(crate) layout::Layout);

#[pymethods]
impl Layout {
    #[new]
    #[pyo3(signature = (description, /))]
    fn new(description: &Bound<'_, PyAny>) -> PyResult<Self> {
        layout::Layout::from_value(json::json_from_dict(description, "description")?)
            .map(Self)
            .map_err(raise)
    }

    #[doc = doc!("layout.Layout.from_json")]
    #[staticmethod]
    #[pyo3(signature = (text, /))]
    fn from_json(text: &Bound<'_, PyAny>) -> PyResult<Self> {
        let Ok(text) = text.cast::<PyString>() else {
            return Err(wrong_type_exception("text", "str", text));
        };
        layout::Layout::from_json(&json::unicode_string(text)?).map(Self).map_err(raise)
    }

    #[doc = doc!("layout.Layout.preset")]
    #[staticmethod]
    #[pyo3(signature = (name, /, **fields), text_signature = "(name, /, **fields)")]
    fn preset(
        name: Argument<Text<'_>, name::name>,
        fields: Option<Argument<NamedValues, name::fields>>,
    ) -> PyResult<Self> {
        let fields = fields.map(|given| given.0).unwrap_or_default();
        let layout = preset(&name.0, fields.iter()).map(Self);
        layout.map_err(|error| fields.names().raise(error))
    }

    #[doc = doc!("layout.Layout.to_json")]
    fn to_json(&self) -> String {
        self.0.to_json()
    }

    #[doc = doc!("layout.Layout.bits")]
    #[getter]
    fn bits(&self) -> u32 {
        self.0.bits()
    }

    #[doc = doc!("layout.Layout.is_integer")]
    #[getter]
    fn is_integer(&self) -> bool {
        self.0.is_integer()
    }

    #[doc = doc!("layout.Layout.pack")]
    #[pyo3(
        signature = (*, timestamp = None, sequence = None, bindables = None, constants = None),
        text_signature = "($self, *, timestamp=None, sequence=None, bindables=None, constants=None)"
    )]
    fn pack<'py>(
        &self,
        py: Python<'py>,
        timestamp: Option<Argument<Time, name::timestamp>>,
        sequence: Option<Argument<ValueArgument, name::sequence>>,
        bindables: Option<Argument<NamedValues, name::bindables>>,
        constants: Option<Argument<NamedValues, name::constants>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (mut values, mut names) = (self.0.values(), Names::default());
        if let Some(time) = timestamp {
            names.has_datetime = time.0.is_datetime;
            values.time(time.0.value).map_err(|error| names.raise(error))?;
        }
        if let Some(sequence) = sequence {
            values.sequence(sequence.0.0).map_err(|error| names.raise(error))?;
        }
        for (name, value) in bindables.into_iter().flat_map(|given| given.0.0) {
            names.add(&name);
            values.bind(&name, value).map_err(|error| names.raise(error))?;
        }
        for (name, value) in constants.into_iter().flat_map(|given| given.0.0) {
            names.add(&name);
            values.constant(&name, value).map_err(|error| names.raise(error))?;
        }
        id_to_object(py, values.pack().map_err(|error| names.raise(error))?)
    }

    #[doc = doc!("layout.Layout.pack_columns")]
    #[pyo3(
        signature = (*, timestamp = None, sequence = None, bindables = None, constants = None),
        text_signature = "($self, *, timestamp=None, sequence=None, bindables=None, constants=None)"
    )]
    fn pack_columns<'py>(
        &self,
        py: Python<'py>,
        timestamp: Option<&Bound<'_, PyAny>>,
        sequence: Option<&Bound<'_, PyAny>>,
        bindables: Option<&Bound<'_, PyAny>>,
        constants: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, LayoutArray>> {
        let mut packing = columns::ColumnPacker::new(&self.0);
        timestamp.map_or(Ok(()), |given| packing.timestamp(given))?;
        sequence.map_or(Ok(()), |given| packing.sequence(given))?;
        bindables.map_or(Ok(()), |given| packing.bindables(given))?;
        constants.map_or(Ok(()), |given| packing.constants(given))?;
        packing.pack()?.into_array(py)
    }

    #[doc = doc!("layout.Layout.parse_columns")]
    #[pyo3(signature = (ids, /))]
    fn parse_columns(slf: &Bound<'_, Self>, ids: &Bound<'_, PyAny>) -> PyResult<ParsedColumns> {
        ParsedColumns::new(slf, ids)
    }

    #[doc = doc!("layout.Layout.parse")]
    #[pyo3(signature = (id, /))]
    fn parse(slf: &Bound<'_, Self>, id: &Bound<'_, PyAny>) -> PyResult<Parsed> {
        let id = if slf.get().0.is_integer() {
            match id.cast::<PyString>() {
                // Replace lone surrogates, because UTF-8 cannot encode them.
                Ok(text) => Id::from_decimal(&text.to_string_lossy()).map_err(raise)?,
                Err(_) => Id::Integer(id.extract::<IntegerId>()?.0),
            }
        } else {
            Id::Bytes(Octets::from_argument(id.as_borrowed(), "id")?.as_bytes().to_vec())
        };
        Parsed::new(slf.clone().unbind(), id)
    }

    #[doc = doc!("layout.Layout.time_range")]
    #[pyo3(
        signature = (start, end, /, bindables = None),
        text_signature = "($self, start, end, /, bindables=None)"
    )]
    fn time_range<'py>(
        &self,
        py: Python<'py>,
        start: Argument<UnixMs, name::start>,
        end: Argument<UnixMs, name::end>,
        bindables: Option<Argument<NamedValues, name::bindables>>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let bindables = bindables.map(|given| given.0).unwrap_or_default();
        let ends = self.0.time_range(start.0, end.0, bindables.iter());
        let (lowest, highest) = ends.map_err(|error| match error.kind() {
            ErrorKind::InvalidType => bindables.names().raise(error),
            _ => raise_for_time_range(error, start.0, end.0),
        })?;
        Ok((id_to_object(py, lowest)?, id_to_object(py, highest)?))
    }

    #[doc = doc!("layout.Layout.describe")]
    fn describe(&self) -> Description {
        self.0.describe().into()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("Layout.from_json({})", PyString::new(py, &self.0.to_json()).repr()?))
    }

    /// Supports copying and pickling, because a layout is a plain value that may be sent to other processes.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((slf.get_type().getattr("from_json")?, (slf.get().to_json(),)))
    }
}

/// Returns the Python object for an ID: an integer or bytes.
pub(crate) fn id_to_object(py: Python<'_>, id: Id) -> PyResult<Bound<'_, PyAny>> {
    Ok(match id {
        Id::Integer(id) => id.into_pyobject(py)?.into_any(),
        Id::Bytes(id) => PyBytes::new(py, &id).into_any(),
        // The core has no other ID type.
        _ => return Err(raise(Error::new(ErrorKind::InvalidType))),
    })
}

#[doc = doc!("layout.Parsed")]
#[pyclass(frozen, eq, module = "polyflake.layout")]
pub(crate) struct Parsed {
    layout: Py<Layout>,
    /// The ID, which has been checked against the layout.
    id: Id,
}

/// The pickled form of parsed fields: the layout and the ID. Unpickling parses the ID again.
type Fields<'py> = (Bound<'py, Layout>, Bound<'py, PyAny>);

impl PartialEq for Parsed {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id && self.layout.get() == other.layout.get()
    }
}

impl Parsed {
    pub(super) fn new(layout: Py<Layout>, id: Id) -> PyResult<Self> {
        layout.get().0.parse(&id).map_err(raise)?;
        Ok(Self { layout, id })
    }

    fn fields(&self) -> PyResult<layout::Parsed<'_>> {
        self.layout.get().0.parse(&self.id).map_err(raise)
    }
}

#[pymethods]
impl Parsed {
    #[doc = doc!("layout.Parsed.unix_ms")]
    #[getter]
    fn unix_ms(&self) -> PyResult<Option<i64>> {
        Ok(self.fields()?.unix_ms())
    }

    #[doc = doc!("layout.Parsed.datetime")]
    #[getter]
    fn datetime<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(nanos) = self.fields()?.unix_nanos() else { return Ok(None) };
        match convert::datetime_from_micros(py, nanos.div_euclid(1000)) {
            Err(outside) if outside.is_instance_of::<PyOverflowError>(py) => Ok(None),
            datetime => datetime.map(Some),
        }
    }

    #[doc = doc!("layout.Parsed.sequence")]
    #[getter]
    fn sequence(&self) -> PyResult<Option<i128>> {
        Ok(self.fields()?.sequence())
    }

    #[doc = doc!("layout.Parsed.bindables")]
    #[getter]
    fn bindables<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        values_to_dict(py, self.fields()?.bindables())
    }

    #[doc = doc!("layout.Parsed.constants")]
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

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<PickleParts<'py, Fields<'py>>> {
        let (py, parsed) = (slf.py(), slf.get());
        let id = id_to_object(py, parsed.id.clone())?;
        reduce_record(slf, (parsed.layout.bind(py).clone(), id))
    }

    #[staticmethod]
    fn _restore(layout: &Bound<'_, Layout>, id: &Bound<'_, PyAny>) -> PyResult<Self> {
        Layout::parse(layout, id)
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
