//! Columns with the decrypted fields of many IDs.

use polyflake::randflake::{self, Codec, Randflake};
use polyflake_columns::{OutOfMemory, Packed};
use pyo3::prelude::*;

use super::Parts;
use crate::{
    errors::raise,
    ids::{
        array::{Selection, array, iterate, positions},
        fields::{FieldColumn, wrong_kind_error},
        memory::{memory_error, zeroed},
        record::{PickleParts, reduce_record},
    },
};

#[doc = doc!("randflake.PartsColumns")]
#[pyclass(frozen, eq, hash, sequence, module = "polyflake.randflake")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct PartsColumns {
    timestamps: Packed<i64>,
    nodes: Packed<u32>,
    sequences: Packed<u32>,
}

impl PartsColumns {
    /// Decrypts the fields of IDs. Other threads can run in the meantime.
    pub(super) fn new(py: Python<'_>, codec: &Codec, ids: &[Randflake]) -> PyResult<Self> {
        let mut timestamps = zeroed(ids.len())?;
        let (mut nodes, mut sequences) = (zeroed(ids.len())?, zeroed(ids.len())?);
        let read = || codec.inspect_columns(ids, &mut timestamps, &mut nodes, &mut sequences);
        py.detach(read).map_err(raise)?;
        let (nodes, sequences) = (Packed::new(nodes), Packed::new(sequences));
        Ok(Self { timestamps: Packed::new(timestamps), nodes, sequences })
    }

    fn parts(&self, position: usize) -> Parts {
        let timestamp = self.timestamps.items()[position];
        let (node, sequence) = (self.nodes.items()[position], self.sequences.items()[position]);
        randflake::Parts { timestamp, node, sequence }.into()
    }

    fn select(&self, positions: &[usize]) -> Result<Self, OutOfMemory> {
        Ok(Self {
            timestamps: self.timestamps.rows(positions)?,
            nodes: self.nodes.rows(positions)?,
            sequences: self.sequences.rows(positions)?,
        })
    }
}

#[pymethods]
impl PartsColumns {
    #[doc = doc!("randflake.PartsColumns.timestamp")]
    #[getter]
    fn timestamp<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, FieldColumn>> {
        array(py, self.timestamps.clone())
    }

    #[doc = doc!("randflake.PartsColumns.node")]
    #[getter]
    fn node<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, FieldColumn>> {
        array(py, self.nodes.clone())
    }

    #[doc = doc!("randflake.PartsColumns.sequence")]
    #[getter]
    fn sequence<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, FieldColumn>> {
        array(py, self.sequences.clone())
    }

    fn __len__(&self) -> usize {
        self.timestamps.len()
    }

    fn __getitem__<'py>(&self, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = index.py();
        match positions(index, self.__len__())? {
            Selection::One(position) => Ok(Bound::new(py, self.parts(position))?.into_any()),
            Selection::Many(chosen) => {
                Ok(Bound::new(py, self.select(&chosen).map_err(memory_error)?)?.into_any())
            }
        }
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        iterate(slf)
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<PickleParts<'py, [Bound<'py, FieldColumn>; 3]>> {
        let (py, columns) = (slf.py(), slf.get());
        reduce_record(slf, [columns.timestamp(py)?, columns.node(py)?, columns.sequence(py)?])
    }

    #[staticmethod]
    fn _restore(
        timestamp: &Bound<'_, FieldColumn>,
        node: &Bound<'_, FieldColumn>,
        sequence: &Bound<'_, FieldColumn>,
    ) -> PyResult<Self> {
        let columns = Self {
            timestamps: FieldColumn::column_numbers(timestamp)?,
            nodes: FieldColumn::column_numbers(node)?,
            sequences: FieldColumn::column_numbers(sequence)?,
        };
        let lengths = [columns.nodes.len(), columns.sequences.len()];
        if lengths == [columns.__len__(); 2] { Ok(columns) } else { Err(wrong_kind_error()) }
    }

    fn __repr__(&self) -> String {
        format!("<PartsColumns of {} IDs>", self.__len__())
    }
}
