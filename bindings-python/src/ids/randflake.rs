//! Randflake IDs, one and many; what they hold, who may make them.

mod text;

use std::{ffi::c_int, ops::RangeInclusive};

use polyflake::randflake::{self, EPOCH, LAST_NODE, LAST_SECOND, LAST_SEQUENCE};
use pyo3::{
    ffi,
    prelude::*,
    types::{PyCapsule, PyList, PyTuple, PyType},
};

pub(crate) use self::text::TextColumn;
use super::{
    array::{At, Packed, iterate, portable},
    column,
    convert::{self, Text, UnixSeconds, numbers},
    describe::Description,
    integers::Integers,
    secret::Secret,
    text::Ascii,
};
use crate::{
    arrow::export::Capsules,
    errors::{no_copy, raise},
};

numbers! {
    Id(i64) "id" i64::MIN..=i64::MAX;
    Unsigned(u64) "value" 0..=u64::MAX;
    Node(u32) "node" 0..=LAST_NODE;
    LastNode(u32) "last node" 0..=LAST_NODE;
    Sequence(u32) "sequence" 0..=LAST_SEQUENCE;
    Start(i64) "start of the lease" EPOCH..=LAST_SECOND;
    End(i64) "end of the lease" EPOCH + 1..=LAST_SECOND + 1;
    ResumeAfter(i64) "resume_after" EPOCH..=LAST_SECOND;
}

impl From<Id> for randflake::Randflake {
    fn from(id: Id) -> Self {
        Self::from_i64(id.0)
    }
}

/// The text of an ID.
#[pyfunction]
#[pyo3(signature = (id, /))]
pub(crate) fn encode_text(id: Id) -> Ascii<{ randflake::Randflake::TEXT_LEN }> {
    Ascii(randflake::Randflake::from(id).text())
}

/// The ID of a text.
#[pyfunction]
#[pyo3(signature = (text, /))]
pub(crate) fn decode_text(text: Text<'_>) -> PyResult<i64> {
    randflake::Randflake::parse(&text).map(randflake::Randflake::to_i64).map_err(raise)
}

/// The same 64 bits, without a sign.
#[pyfunction]
#[pyo3(signature = (id, /))]
pub(crate) fn to_unsigned(id: Id) -> u64 {
    randflake::Randflake::from(id).to_u64()
}

/// The ID whose 64 bits are this number without a sign.
#[pyfunction]
#[pyo3(signature = (value, /))]
pub(crate) fn from_unsigned(value: Unsigned) -> i64 {
    randflake::Randflake::from_u64(value.0).to_i64()
}

/// What the format can do, in figures.
#[pyfunction]
pub(crate) fn describe() -> Description {
    randflake::describe().into()
}

/// What an ID holds.
#[pyclass(frozen, eq, hash, get_all, module = "polyflake.randflake")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Parts {
    /// When it was made, in Unix seconds.
    timestamp: i64,
    /// The node that made it.
    node: u32,
    /// Which one of its node's second it was.
    sequence: u32,
}

impl From<randflake::Parts> for Parts {
    fn from(randflake::Parts { timestamp, node, sequence }: randflake::Parts) -> Self {
        Self { timestamp, node, sequence }
    }
}

#[pymethods]
impl Parts {
    /// When it was made, as an aware datetime in UTC.
    #[getter]
    fn datetime<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        convert::datetime_of_ms(py, self.timestamp * 1000)
    }

    fn __repr__(&self) -> String {
        let Self { timestamp, node, sequence } = self;
        format!("<Parts: timestamp {timestamp}, node {node}, sequence {sequence}>")
    }
}

/// Reads IDs, and makes those of given fields, under a secret.
#[pyclass(frozen, module = "polyflake.randflake")]
pub(crate) struct Codec(randflake::Codec);

#[pymethods]
impl Codec {
    #[new]
    #[pyo3(signature = (secret, /))]
    fn new(secret: Secret) -> Self {
        Self(randflake::Codec::new(*secret.0))
    }

    /// The fields of an ID.
    #[pyo3(signature = (id, /))]
    fn inspect(&self, id: Id) -> Parts {
        self.0.inspect(id.into()).into()
    }

    /// The ID of given fields.
    fn encrypt(&self, timestamp: UnixSeconds, node: Node, sequence: Sequence) -> PyResult<i64> {
        let parts = randflake::Parts { timestamp: timestamp.0, node: node.0, sequence: sequence.0 };
        self.0.encrypt(parts).map(randflake::Randflake::to_i64).map_err(raise)
    }

    /// The secret is in no text and in no copy.
    #[allow(clippy::unused_self, reason = "Python calls it with one")]
    fn __reduce__(&self) -> PyResult<()> {
        no_copy("expected one codec of a secret, found a copy: make it of the secret again")
    }
}

/// One node, or the first and the last of a range.
pub(crate) struct Nodes(RangeInclusive<u32>);

impl FromPyObject<'_, '_> for Nodes {
    type Error = PyErr;
    fn extract(value: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        if value.is_instance_of::<PyTuple>() || value.is_instance_of::<PyList>() {
            let [first, last] = convert::pair(&value, "int or a pair of them")?;
            return Ok(Self(first.extract::<Node>()?.0..=last.extract::<LastNode>()?.0));
        }
        let node = value.extract::<Node>()?.0;
        Ok(Self(node..=node))
    }
}

/// The right to use one node, or a range of nodes, for a span of time.
#[pyclass(frozen, eq, hash, module = "polyflake.randflake")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Lease(pub(crate) randflake::Lease);

#[pymethods]
impl Lease {
    #[new]
    fn new(nodes: Nodes, start: Start, end: End) -> PyResult<Self> {
        randflake::Lease::with_nodes(nodes.0, start.0, end.0).map(Self).map_err(raise)
    }

    /// The first and the last node.
    #[getter]
    fn nodes(&self) -> (u32, u32) {
        self.0.nodes().into_inner()
    }

    /// The first second, in Unix seconds.
    #[getter]
    fn start(&self) -> i64 {
        self.0.start()
    }

    /// One past the last second, in Unix seconds.
    #[getter]
    fn end(&self) -> i64 {
        self.0.end()
    }

    fn __repr__(&self) -> String {
        format!("Lease({:?}, {}, {})", self.nodes(), self.start(), self.end())
    }

    /// A lease is a value; that it serves one generator once is its owner's concern.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, ((u32, u32), i64, i64)) {
        let lease = slf.get();
        (slf.get_type(), (lease.nodes(), lease.start(), lease.end()))
    }
}

/// Many IDs, packed.
#[pyclass(frozen, eq, hash, sequence, module = "polyflake.randflake")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct RandflakeArray(Packed<randflake::Randflake>);

impl From<Vec<randflake::Randflake>> for RandflakeArray {
    fn from(ids: Vec<randflake::Randflake>) -> Self {
        Self(Packed::new(ids))
    }
}

#[pymethods]
impl RandflakeArray {
    #[new]
    #[pyo3(signature = (ids, /))]
    fn new(ids: Integers) -> Self {
        ids.as_slice()
            .iter()
            .copied()
            .map(randflake::Randflake::from_i64)
            .collect::<Vec<_>>()
            .into()
    }

    /// The IDs of many texts.
    #[staticmethod]
    #[pyo3(signature = (column, /))]
    fn from_texts(column: &Bound<'_, PyAny>) -> PyResult<Self> {
        column::ids_of(column).map(Self::from)
    }

    /// The texts of all, packed.
    fn text_column(&self) -> TextColumn {
        TextColumn::of(self.0.shared())
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
            At::One(id) => Ok(id.to_i64().into_pyobject(index.py())?.into_any()),
            At::Many(ids) => Ok(Bound::new(index.py(), Self::from(ids))?.into_any()),
        }
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        iterate(slf)
    }

    fn __repr__(&self) -> String {
        format!("<RandflakeArray of {} IDs>", self.0.ids().len())
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyType>, (Bound<'py, PyAny>,))> {
        Ok((slf.get_type(), (portable(slf)?,)))
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
