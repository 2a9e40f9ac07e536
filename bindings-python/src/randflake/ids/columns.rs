//! The fields of many IDs, which a codec reads.

use polyflake::randflake::{self, Codec, Randflake};
use polyflake_columns::{Packed, Plain};
use pyo3::prelude::*;

use super::Parts;
use crate::{
    errors::raise,
    ids::{
        array::{At, iterate, positions},
        fields::{FieldColumn, of_another_kind},
        memory::room_for,
        record::{Reduced, reduced},
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
    /// The fields of IDs, which are read while other threads run.
    pub(super) fn of(py: Python<'_>, codec: &Codec, ids: &[Randflake]) -> PyResult<Self> {
        let mut timestamps = room_for(ids.len())?;
        let (mut nodes, mut sequences) = (room_for(ids.len())?, room_for(ids.len())?);
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

    fn at(&self, positions: &[usize]) -> PyResult<Self> {
        let (timestamps, nodes) =
            (some(&self.timestamps, positions)?, some(&self.nodes, positions)?);
        Ok(Self { timestamps, nodes, sequences: some(&self.sequences, positions)? })
    }
}

fn some<T: Plain>(numbers: &Packed<T>, positions: &[usize]) -> PyResult<Packed<T>> {
    let mut chosen = room_for(positions.len())?;
    chosen.iter_mut().zip(positions).for_each(|(place, at)| *place = numbers.items()[*at]);
    Ok(Packed::new(chosen))
}

#[pymethods]
impl PartsColumns {
    #[doc = doc!("randflake.PartsColumns.timestamp")]
    #[getter]
    fn timestamp(&self) -> FieldColumn {
        self.timestamps.clone().into()
    }

    #[doc = doc!("randflake.PartsColumns.node")]
    #[getter]
    fn node(&self) -> FieldColumn {
        self.nodes.clone().into()
    }

    #[doc = doc!("randflake.PartsColumns.sequence")]
    #[getter]
    fn sequence(&self) -> FieldColumn {
        self.sequences.clone().into()
    }

    fn __len__(&self) -> usize {
        self.timestamps.len()
    }

    fn __getitem__<'py>(&self, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = index.py();
        match positions(index, self.__len__())? {
            At::One(position) => Ok(Bound::new(py, self.parts(position))?.into_any()),
            At::Many(chosen) => Ok(Bound::new(py, self.at(&chosen)?)?.into_any()),
        }
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        iterate(slf)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py, [FieldColumn; 3]>> {
        let columns = slf.get();
        reduced(slf, [columns.timestamp(), columns.node(), columns.sequence()])
    }

    #[staticmethod]
    fn _restore(
        timestamp: &Bound<'_, FieldColumn>,
        node: &Bound<'_, FieldColumn>,
        sequence: &Bound<'_, FieldColumn>,
    ) -> PyResult<Self> {
        let (nodes, sequences) = (node.get().try_into()?, sequence.get().try_into()?);
        let columns = Self { timestamps: timestamp.get().try_into()?, nodes, sequences };
        let lengths = [columns.nodes.len(), columns.sequences.len()];
        if lengths == [columns.__len__(); 2] { Ok(columns) } else { Err(of_another_kind()) }
    }

    fn __repr__(&self) -> String {
        format!("<PartsColumns of {} IDs>", self.__len__())
    }
}
