//! Packs columns of values into IDs of a layout, and parses many IDs into columns of fields.

use polyflake::{
    Error, ErrorKind,
    layout::{self, FieldIndex, Id, Value, Values},
};
use pyo3::{
    prelude::*,
    types::{PyByteArray, PyBytes, PyDict, PyMemoryView},
};

use super::{
    Layout, LayoutArray, Parsed,
    array::Ids,
    value::{self, Names, Time},
};
use crate::{
    arrow,
    errors::raise,
    ids::{
        array::{Selection, iterate, positions},
        column::IDS,
        convert::{FromArgument, has_buffer, raise_named, wrong_type_exception},
        fields::FieldColumn,
        integers::{Integers, get_buffer},
        memory::{memory_error, zeroed},
        record::{PickleParts, reduce_record},
    },
};

/// The input for packing: columns, and single values that apply to all IDs.
pub(super) struct ColumnPacker<'l> {
    layout: &'l layout::Layout,
    values: Values<'l>,
    columns: Vec<(FieldIndex, Integers)>,
    names: Names,
}

impl<'l> ColumnPacker<'l> {
    pub(super) fn new(layout: &'l layout::Layout) -> Self {
        Self { layout, values: layout.values(), columns: vec![], names: Names::default() }
    }

    pub(super) fn timestamp(&mut self, given: &Bound<'_, PyAny>) -> PyResult<()> {
        const NAME: &str = "timestamp";
        if let Some(column) = column_from_argument(given, NAME)? {
            return self.column(self.layout.timestamp(), column);
        }
        let time = Time::from_argument(given.as_borrowed(), NAME)?;
        self.names.has_datetime = time.is_datetime;
        self.values.time(time.value).map_err(|error| self.names.raise(error)).map(drop)
    }

    pub(super) fn sequence(&mut self, given: &Bound<'_, PyAny>) -> PyResult<()> {
        const NAME: &str = "sequence";
        if let Some(column) = column_from_argument(given, NAME)? {
            return self.column(self.layout.sequence(), column);
        }
        self.values
            .sequence(value::read_value(given, NAME)?)
            .map_err(|error| self.names.raise(error))
            .map(drop)
    }

    pub(super) fn bindables(&mut self, given: &Bound<'_, PyAny>) -> PyResult<()> {
        self.add_named_fields(
            given,
            "bindables",
            layout::Layout::bindable,
            |values, name, value| values.bind(name, value).map(drop),
        )
    }

    pub(super) fn constants(&mut self, given: &Bound<'_, PyAny>) -> PyResult<()> {
        self.add_named_fields(
            given,
            "constants",
            layout::Layout::constant,
            |values, name, value| values.constant(name, value).map(drop),
        )
    }

    fn add_named_fields(
        &mut self,
        given: &Bound<'_, PyAny>,
        parameter: &str,
        slot: fn(&layout::Layout, &str) -> polyflake::Result<FieldIndex>,
        set: fn(&mut Values<'l>, &str, Value<'static>) -> polyflake::Result<()>,
    ) -> PyResult<()> {
        for (name, given) in value::items(given, parameter)? {
            self.names.add(&name);
            match column_from_argument(&given, &name)? {
                Some(column) => self.column(slot(self.layout, &name), column)?,
                None => set(&mut self.values, &name, value::read_value(&given, &name)?)
                    .map_err(|error| self.names.raise(error))?,
            }
        }
        Ok(())
    }

    fn column(&mut self, slot: polyflake::Result<FieldIndex>, column: Integers) -> PyResult<()> {
        self.columns.push((slot.map_err(raise)?, column));
        Ok(())
    }

    /// Returns the IDs, one for each row of the columns.
    pub(super) fn pack(&self) -> PyResult<Ids> {
        let columns: Vec<_> =
            self.columns.iter().map(|(slot, column)| (*slot, column.as_slice())).collect();
        let Some((_, first)) = columns.first() else {
            return Err(raise(Error::invalid_type("at least one column", "values alone")));
        };
        let named = |error| self.names.raise(error);
        Ids::write_ids(self.layout, first.len(), named, |ids| {
            self.values.pack_columns(&columns, ids)
        })
    }
}

/// Returns the column in an argument. Returns `None` if the argument is a single value or has a type that no field accepts.
/// Bytes count as single values, and so do numbers whose buffers have no dimensions.
fn column_from_argument(given: &Bound<'_, PyAny>, name: &str) -> PyResult<Option<Integers>> {
    if given.is_instance_of::<PyBytes>() || given.is_instance_of::<PyByteArray>() {
        return Ok(None);
    }
    if !has_buffer(given) {
        let is_column = arrow::is_column(given)?;
        return if is_column {
            Integers::from_value(given, name, None).map(Some)
        } else {
            Ok(None)
        };
    }
    let Some(buffer) = get_buffer(given)? else { return Ok(None) };
    let is_bytes = given.is_instance_of::<PyMemoryView>() && buffer.item_size() == 1;
    if buffer.dimensions() == 0 || is_bytes {
        return Ok(None);
    }
    Integers::from_value(given, name, Some(1)).map(Some)
}

#[doc = doc!("layout.ParsedColumns")]
#[pyclass(frozen, eq, sequence, module = "polyflake.layout")]
pub(crate) struct ParsedColumns {
    layout: Py<Layout>,
    /// The IDs. Their type has been checked against the layout.
    ids: Ids,
}

impl PartialEq for ParsedColumns {
    fn eq(&self, other: &Self) -> bool {
        self.ids == other.ids && self.layout() == other.layout()
    }
}

/// The pickled form of parsed columns: the layout and the IDs. Unpickling parses the IDs again.
type Content<'py> = (Bound<'py, Layout>, Bound<'py, LayoutArray>);

impl ParsedColumns {
    pub(super) fn new(layout: &Bound<'_, Layout>, ids: &Bound<'_, PyAny>) -> PyResult<Self> {
        let ids = ids_from_argument(&layout.get().0, ids)?;
        Ok(Self { layout: layout.clone().unbind(), ids })
    }

    fn layout(&self) -> &layout::Layout {
        &self.layout.get().0
    }

    /// Returns a field's column. Returns `None` if the layout lacks the field, or if a column cannot store the field's
    /// values.
    fn column<'py>(
        &self,
        py: Python<'py>,
        slot: polyflake::Result<FieldIndex>,
    ) -> PyResult<Option<Bound<'py, FieldColumn>>> {
        let (Ok(slot), layout) = (slot, self.layout()) else { return Ok(None) };
        let mut numbers = zeroed::<i64>(self.ids.len())?;
        let read = py.detach(|| match &self.ids {
            Ids::Integers(ids) => layout.integer_column(slot, ids.items(), &mut numbers),
            Ids::Bytes(ids) => layout.bytes_column(slot, ids.items(), &mut numbers),
        });
        match read {
            Ok(()) => FieldColumn::new(py, numbers).map(Some),
            Err(error) if error.kind() == ErrorKind::InvalidType => Ok(None),
            Err(error) => Err(raise(error)),
        }
    }

    /// Returns the columns of the named fields, except for fields whose values a column cannot hold.
    fn columns<'py, 'n>(
        &self,
        py: Python<'py>,
        names: impl Iterator<Item = &'n str>,
        slot: impl Fn(&str) -> polyflake::Result<FieldIndex>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        for name in names {
            if let Some(column) = self.column(py, slot(name))? {
                columns.set_item(name, column)?;
            }
        }
        Ok(columns)
    }
}

/// Reads the IDs in an argument: an array, a buffer, a column or a list.
fn ids_from_argument(layout: &layout::Layout, given: &Bound<'_, PyAny>) -> PyResult<Ids> {
    let size = layout.bits() as usize / 8;
    let Ok(array) = given.cast::<LayoutArray>() else {
        return if layout.is_integer() {
            Ids::from_integers(given)
        } else {
            Ids::from_bytes(given, size)
        };
    };
    match (&array.get().0, layout.is_integer()) {
        (Ids::Integers(_), true) => {}
        (Ids::Bytes(ids), false) if ids.width() == size => {}
        (Ids::Bytes(ids), false) => {
            return Err(raise_named(Error::invalid_length(ids.width(), size, size), IDS));
        }
        (_, true) => return Err(wrong_type_exception(IDS, "integers", given)),
        (_, false) => return Err(wrong_type_exception(IDS, "bytes", given)),
    }
    Ok(array.get().0.clone())
}

#[pymethods]
impl ParsedColumns {
    #[doc = doc!("layout.ParsedColumns.unix_ms")]
    #[getter]
    fn unix_ms<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, FieldColumn>>> {
        self.column(py, self.layout().timestamp())
    }

    #[doc = doc!("layout.ParsedColumns.sequence")]
    #[getter]
    fn sequence<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, FieldColumn>>> {
        self.column(py, self.layout().sequence())
    }

    #[doc = doc!("layout.ParsedColumns.bindables")]
    #[getter]
    fn bindables<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.columns(py, self.layout().bindable_names(), |name| self.layout().bindable(name))
    }

    #[doc = doc!("layout.ParsedColumns.constants")]
    #[getter]
    fn constants<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.columns(py, self.layout().constant_names(), |name| self.layout().constant(name))
    }

    fn __len__(&self) -> usize {
        self.ids.len()
    }

    fn __getitem__<'py>(&self, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (py, layout) = (index.py(), self.layout.clone_ref(index.py()));
        let position = match positions(index, self.ids.len())? {
            Selection::One(position) => position,
            Selection::Many(positions) => {
                let ids = self.ids.select(&positions).map_err(memory_error)?;
                return Ok(Bound::new(py, Self { layout, ids })?.into_any());
            }
        };
        let id = match &self.ids {
            Ids::Integers(ids) => Id::Integer(ids.items()[position]),
            Ids::Bytes(ids) => Id::Bytes(ids.row(position).to_vec()),
        };
        Ok(Bound::new(py, Parsed::new(layout, id)?)?.into_any())
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        iterate(slf)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<PickleParts<'py, Content<'py>>> {
        let parsed = slf.get();
        let ids = parsed.ids.clone().into_array(slf.py())?;
        reduce_record(slf, (parsed.layout.bind(slf.py()).clone(), ids))
    }

    #[staticmethod]
    fn _restore(layout: &Bound<'_, Layout>, ids: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::new(layout, ids)
    }

    fn __repr__(&self) -> String {
        format!("<ParsedColumns of {} IDs>", self.__len__())
    }
}
