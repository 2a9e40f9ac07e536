//! Single Randflake IDs and arrays of them, their fields, and grants.

mod columns;
mod text;

use std::ops::RangeInclusive;

use polyflake::{
    Error,
    randflake::{self, EPOCH, LAST_NODE, LAST_SECOND, LAST_SEQUENCE},
};
use polyflake_columns::Packed;
use pyo3::{
    prelude::*,
    types::{PyList, PyString, PyTuple, PyType},
};

pub(crate) use self::{columns::PartsColumns, text::TextColumn};
use crate::errors::{raise, reject_copy};
use crate::ids::{
    array::{Array, ArrayClass, Item, array},
    column,
    convert::{self, Argument, UnixSeconds, name, numbers, raise_about_time, raise_named, texts},
    describe::Description,
    integers::{self, Integers},
    record::reduce_by_attributes,
    secret::Secret,
    text::Ascii,
};

texts! {
    /// The string form of a Randflake ID.
    FlakeText 1..=randflake::Randflake::TEXT_LEN;
}

numbers! {
    Id(i64) "id" i64::MIN..=i64::MAX;
    Unsigned(u64) "value" 0..=u64::MAX;
    Node(u32) "node" 0..=LAST_NODE;
    /// A node ID contained in a grant.
    GrantedNode(u32) "nodes" 0..=LAST_NODE;
    Sequence(u32) "sequence" 0..=LAST_SEQUENCE;
    Start(i64) "start" EPOCH..=LAST_SECOND;
    End(i64) "end" EPOCH + 1..=LAST_SECOND + 1;
    ResumeAfter(i64) "resume_after" EPOCH..=LAST_SECOND;
}

impl From<Id> for randflake::Randflake {
    fn from(id: Id) -> Self {
        Self::from_i64(id.0)
    }
}

#[doc = doc!("randflake.encode_text")]
#[pyfunction]
#[pyo3(signature = (id, /))]
pub(crate) fn encode_text(id: Id) -> Ascii<{ randflake::Randflake::TEXT_LEN }> {
    Ascii(randflake::Randflake::from(id).text())
}

#[doc = doc!("randflake.decode_text")]
#[pyfunction]
#[pyo3(signature = (text, /))]
pub(crate) fn decode_text(text: Argument<FlakeText<'_>, name::text>) -> PyResult<i64> {
    randflake::Randflake::parse(&text.0.0).map(randflake::Randflake::to_i64).map_err(raise)
}

#[doc = doc!("randflake.to_unsigned")]
#[pyfunction]
#[pyo3(signature = (id, /))]
pub(crate) fn to_unsigned(id: Id) -> u64 {
    randflake::Randflake::from(id).to_u64()
}

#[doc = doc!("randflake.from_unsigned")]
#[pyfunction]
#[pyo3(signature = (value, /))]
pub(crate) fn from_unsigned(value: Unsigned) -> i64 {
    randflake::Randflake::from_u64(value.0).to_i64()
}

#[doc = doc!("randflake.describe")]
#[pyfunction]
pub(crate) fn describe() -> Description {
    randflake::describe().into()
}

#[doc = doc!("randflake.Parts")]
#[pyclass(frozen, eq, hash, get_all, module = "polyflake.randflake")]
#[derive(PartialEq, Eq, Hash, FromPyObject)]
pub(crate) struct Parts {
    #[doc = doc!("randflake.Parts.timestamp")]
    timestamp: i64,
    #[doc = doc!("randflake.Parts.node")]
    node: u32,
    #[doc = doc!("randflake.Parts.sequence")]
    sequence: u32,
}

impl From<randflake::Parts> for Parts {
    fn from(randflake::Parts { timestamp, node, sequence }: randflake::Parts) -> Self {
        Self { timestamp, node, sequence }
    }
}

#[pymethods]
impl Parts {
    #[doc = doc!("randflake.Parts.datetime")]
    #[getter]
    fn datetime<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        convert::datetime_from_ms(py, self.timestamp * 1000)
    }

    fn __repr__(&self) -> String {
        let Self { timestamp, node, sequence } = self;
        format!("<Parts: timestamp {timestamp}, node {node}, sequence {sequence}>")
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        reduce_by_attributes(slf)
    }

    #[staticmethod]
    fn _restore(attributes: Self) -> Self {
        attributes
    }
}

#[doc = doc!("randflake.Codec")]
#[pyclass(frozen, module = "polyflake.randflake")]
pub(crate) struct Codec(randflake::Codec);

#[pymethods]
impl Codec {
    #[new]
    #[pyo3(signature = (secret, /))]
    fn new(secret: Argument<Secret, name::secret>) -> Self {
        Self(randflake::Codec::new(*secret.0.0))
    }

    #[doc = doc!("randflake.Codec.inspect")]
    #[pyo3(signature = (id, /))]
    fn inspect(&self, id: Id) -> Parts {
        self.0.inspect(id.into()).into()
    }

    #[doc = doc!("randflake.Codec.inspect_columns")]
    #[pyo3(signature = (ids, /))]
    fn inspect_columns(&self, ids: &Bound<'_, PyAny>) -> PyResult<PartsColumns> {
        PartsColumns::new(ids.py(), &self.0, read_ids(ids)?.items())
    }

    #[doc = doc!("randflake.Codec.encrypt")]
    fn encrypt(
        &self,
        timestamp: Argument<UnixSeconds, name::timestamp>,
        node: Node,
        sequence: Sequence,
    ) -> PyResult<i64> {
        let parts =
            randflake::Parts { timestamp: timestamp.0.0, node: node.0, sequence: sequence.0 };
        let id = self.0.encrypt(parts).map(randflake::Randflake::to_i64);
        id.map_err(|error| raise_about_time(error, "timestamp"))
    }

    /// Rejects copying, so that no copy contains the secret.
    #[allow(clippy::unused_self, reason = "Python calls it with one")]
    fn __reduce__(&self) -> PyResult<()> {
        reject_copy("expected one codec, found a copy: make another one from the secret")
    }
}

/// One node ID, or the first and the last node ID of a range.
pub(crate) struct Nodes(RangeInclusive<u32>);

impl FromPyObject<'_, '_> for Nodes {
    type Error = PyErr;
    fn extract(value: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        if value.is_instance_of::<PyTuple>() || value.is_instance_of::<PyList>() {
            let [first, last] = convert::items(&value, "int or a pair of them", "nodes")?;
            return Ok(Self(first.extract::<GrantedNode>()?.0..=last.extract::<GrantedNode>()?.0));
        }
        let node = value.extract::<GrantedNode>()?.0;
        Ok(Self(node..=node))
    }
}

/// Returns the exception for an invalid grant. The exception names the parameter that is invalid.
#[cold]
fn to_exception(error: Error) -> PyErr {
    let names = ["node", "start", "end"].into_iter();
    let named = names.zip(["nodes", "start", "end"]);
    let found = error.field().unwrap_or_default();
    let parameter = named.into_iter().find(|(part, _)| found.contains(part));
    match parameter {
        Some((_, parameter)) => raise_named(error, parameter),
        None => raise(error),
    }
}

#[doc = doc!("randflake.Grant")]
#[pyclass(frozen, eq, hash, module = "polyflake.randflake")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Grant(pub(crate) randflake::GrantInfo);

impl Grant {
    /// Creates the core's grant from this grant. A core grant serves a single generator, whereas a Python grant is a value
    /// that may be used again.
    pub(crate) fn to_single_node(&self) -> PyResult<randflake::Grant> {
        let terms = self.0;
        randflake::Grant::with_nodes(terms.nodes(), terms.start(), terms.end()).map_err(raise)
    }
}

#[pymethods]
impl Grant {
    #[new]
    fn new(nodes: Nodes, start: Start, end: End) -> PyResult<Self> {
        let grant = randflake::Grant::with_nodes(nodes.0, start.0, end.0);
        grant.map(|grant| Self(grant.info())).map_err(to_exception)
    }

    #[doc = doc!("randflake.Grant.nodes")]
    #[getter]
    fn nodes(&self) -> (u32, u32) {
        self.0.nodes().into_inner()
    }

    #[doc = doc!("randflake.Grant.start")]
    #[getter]
    fn start(&self) -> i64 {
        self.0.start()
    }

    #[doc = doc!("randflake.Grant.end")]
    #[getter]
    fn end(&self) -> i64 {
        self.0.end()
    }

    fn __repr__(&self) -> String {
        format!("Grant({:?}, {}, {})", self.nodes(), self.start(), self.end())
    }

    /// Supports copying and pickling, because a grant is a plain value. The grant's owner must ensure that only one
    /// generator uses it, and only once.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, ((u32, u32), i64, i64)) {
        let grant = slf.get();
        (slf.get_type(), (grant.nodes(), grant.start(), grant.end()))
    }
}

#[doc = doc!("randflake.RandflakeArray")]
#[pyclass(frozen, extends = Array, module = "polyflake.randflake")]
pub(crate) struct RandflakeArray(Packed<randflake::Randflake>);

impl ArrayClass<randflake::Randflake> for RandflakeArray {
    fn from_packed(ids: Packed<randflake::Randflake>) -> Self {
        Self(ids)
    }
}

impl Item for randflake::Randflake {
    fn object<'py>(
        py: Python<'py>,
        ids: &Packed<Self>,
        position: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        Ok(ids.items()[position].to_i64().into_pyobject(py)?.into_any())
    }
}

/// Reads a list item as an ID. The item is an integer or a string.
fn read_list_item(id: &Bound<'_, PyAny>) -> PyResult<polyflake::Result<randflake::Randflake>> {
    const EXPECTED: &str = "int or str";
    if id.is_instance_of::<PyString>() {
        return column::parse_text_item(id, column::IDS, EXPECTED);
    }
    let id = integers::parse_integer_item(id, column::IDS, EXPECTED)?;
    Ok(id.map(randflake::Randflake::from_i64))
}

/// Returns the IDs in an array, a buffer, an Arrow column or a list.
fn read_ids(ids: &Bound<'_, PyAny>) -> PyResult<Packed<randflake::Randflake>> {
    if let Ok(array) = ids.cast::<RandflakeArray>() {
        return Ok(array.get().0.clone());
    }
    let Some(integers) = Integers::try_from_value(ids, column::IDS, None)? else {
        return column::parse_items(ids, column::IDS, integers::EXPECTED, read_list_item)
            .map(Packed::new);
    };
    let ids = integers.as_slice().iter().copied().map(randflake::Randflake::from_i64);
    Ok(Packed::new(ids.collect()))
}

#[pymethods]
impl RandflakeArray {
    #[new]
    #[pyo3(signature = (ids, /))]
    fn new<'py>(ids: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
        array(ids.py(), read_ids(ids)?)
    }

    #[doc = doc!("randflake.RandflakeArray.from_texts")]
    #[staticmethod]
    #[pyo3(signature = (column, /))]
    fn from_texts<'py>(column: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
        array(column.py(), Packed::new(column::ids_from_column(column)?))
    }

    #[doc = doc!("randflake.RandflakeArray.text_column")]
    fn text_column<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, TextColumn>> {
        TextColumn::new(py, self.0.shared())
    }

    #[doc = doc!("randflake.RandflakeArray.texts")]
    fn texts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.0.items().iter().map(|id| Ascii(id.text())))
    }
}
