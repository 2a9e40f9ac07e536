//! Snapshots of closed generators, and generator statistics.

use polyflake::{Error, ErrorKind, sno};
use pyo3::{
    exceptions::{PyRecursionError, PyValueError},
    prelude::*,
    types::{PyDict, PyString},
};

use crate::{
    errors::{raise, raise_from},
    first_value::intern,
    ids::{
        convert::{FromArgument, Text, items, number, wrong_type_exception},
        record::{PickleParts, reduce_by_attributes, reduce_record},
    },
};

/// The name of the only member that is not a number. This member contains the two bytes of the partition.
const PARTITION: &str = sno::Snapshot::MEMBERS[0].0;

#[doc = doc!("sno.Snapshot")]
#[pyclass(frozen, eq, hash, module = "polyflake.sno")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Snapshot(pub(super) sno::Snapshot);

/// Defines attributes that return fields of the core's type.
macro_rules! attributes {
    ($($name:ident: $kind:ty, $doc:tt;)*) => {
        #[pymethods]
        impl Snapshot {$(
            #[doc = doc!($doc)]
            #[getter]
            fn $name(&self) -> $kind {
                self.0.$name
            }
        )*}
    };
}

attributes! {
    sequence_min: u16, "sno.Snapshot.sequence_min";
    sequence_max: u16, "sno.Snapshot.sequence_max";
    sequence: u32, "sno.Snapshot.sequence";
    now: u64, "sno.Snapshot.now";
    wall_hi: u64, "sno.Snapshot.wall_hi";
    wall_safe: u64, "sno.Snapshot.wall_safe";
    drifts: u32, "sno.Snapshot.drifts";
}

#[pymethods]
impl Snapshot {
    #[doc = doc!("sno.Snapshot.partition")]
    #[getter]
    fn partition(&self) -> u16 {
        u16::from_be_bytes(self.0.partition)
    }

    #[doc = doc!("sno.Snapshot.from_dict")]
    #[staticmethod]
    #[pyo3(signature = (members, /))]
    fn from_dict(members: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::from_members(members, "members")
    }

    #[doc = doc!("sno.Snapshot.to_dict")]
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let members = PyDict::new(py);
        let (format, known) = sno::Snapshot::FORMAT;
        members.set_item(format, known)?;
        for ((name, _), number) in sno::Snapshot::MEMBERS.into_iter().zip(self.0.to_numbers()) {
            members.set_item(name, number)?;
        }
        members.set_item(PARTITION, self.0.partition.map(u32::from))?;
        Ok(members)
    }

    #[doc = doc!("sno.Snapshot.from_json")]
    #[staticmethod]
    #[pyo3(signature = (text, /))]
    fn from_json(text: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = text.py();
        if !text.is_instance_of::<PyString>() {
            return Err(wrong_type_exception("text", "str", text));
        }
        let members = py
            .import("json")?
            .call_method1("loads", (text,))
            .map_err(|raised| invalid_json_exception(py, raised))?;
        Self::from_members(&members, "text")
    }

    #[doc = doc!("sno.Snapshot.to_json")]
    fn to_json<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("json")?.call_method1("dumps", (self.to_dict(py)?,))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("Snapshot.from_dict({})", self.to_dict(py)?.repr()?))
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<PickleParts<'py, (Bound<'py, PyDict>,)>> {
        reduce_record(slf, (slf.get().to_dict(slf.py())?,))
    }

    #[staticmethod]
    fn _restore(members: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::from_dict(members)
    }
}

impl Snapshot {
    fn from_members(members: &Bound<'_, PyAny>, name: &str) -> PyResult<Self> {
        let Ok(members) = members.cast::<PyDict>() else {
            return Err(wrong_type_exception(name, "dict", members));
        };
        reject_unknown_members(members)?;
        let (format, _) = sno::Snapshot::FORMAT;
        if let Some(found) = members.get_item(format)? {
            sno::Snapshot::check_format(number(&found, format, 0..=u64::MAX)?).map_err(raise)?;
        }
        let bytes: [_; 2] =
            items(&required_member(members, PARTITION)?, "a pair of bytes", PARTITION)?;
        let [high, low] = [&bytes[0], &bytes[1]].map(|byte| number(byte, PARTITION, 0..=u8::MAX));
        let mut numbers = [u64::from(u16::from_be_bytes([high?, low?])); 8];
        for ((name, most), place) in sno::Snapshot::MEMBERS.into_iter().zip(&mut numbers).skip(1) {
            *place = number(&required_member(members, name)?, name, 0..=most)?;
        }
        sno::Snapshot::from_numbers(numbers).map(Self).map_err(raise)
    }
}

/// A snapshot passed as an argument.
#[derive(Clone, Copy)]
pub(super) struct SnapshotArgument(pub(super) sno::Snapshot);

impl<'a, 'py> FromArgument<'a, 'py> for SnapshotArgument {
    fn from_argument(value: Borrowed<'a, 'py, PyAny>, name: &str) -> PyResult<Self> {
        let Ok(given) = value.cast::<Snapshot>() else {
            return Err(wrong_type_exception(name, "sno.Snapshot", &value));
        };
        Ok(Self(given.get().0))
    }
}

fn reject_unknown_members(members: &Bound<'_, PyDict>) -> PyResult<()> {
    for name in members.keys() {
        let name = Text::from_argument(name.as_borrowed(), "members")?;
        let known = sno::Snapshot::MEMBERS.iter().chain([&sno::Snapshot::FORMAT]);
        let known = known.map(|(member, _)| *member);
        if known.clone().all(|member| *member != *name) {
            return Err(raise(Error::unknown_field(name.to_string(), known)));
        }
    }
    Ok(())
}

fn required_member<'py>(
    members: &Bound<'py, PyDict>,
    name: &'static str,
) -> PyResult<Bound<'py, PyAny>> {
    members.get_item(name)?.ok_or_else(|| raise(Error::field_error(ErrorKind::MissingField, name)))
}

/// Returns the error for a string that is not valid JSON. The error contains the position if Python's parser reports one.
/// Other exceptions are returned unchanged.
fn invalid_json_exception(py: Python<'_>, raised: PyErr) -> PyErr {
    let is_of_text =
        raised.is_instance_of::<PyValueError>(py) || raised.is_instance_of::<PyRecursionError>(py);
    if !is_of_text {
        return raised;
    }
    let position =
        raised.value(py).getattr(intern!(py, "pos")).and_then(|position| position.extract());
    let error = match position {
        Ok(position) => Error::invalid_character(position),
        Err(_) => Error::with_reason(
            ErrorKind::InvalidType,
            "expected the JSON of a snapshot, found another text",
        ),
    };
    raise_from(py, &error, Some("text"), raised)
}

#[doc = doc!("sno.Stats")]
#[pyclass(frozen, eq, hash, get_all, module = "polyflake.sno")]
#[derive(PartialEq, Eq, Hash, FromPyObject)]
pub(crate) struct Stats {
    #[doc = doc!("sno.Stats.partition")]
    partition: Option<u16>,
    #[doc = doc!("sno.Stats.sequence_min")]
    sequence_min: u16,
    #[doc = doc!("sno.Stats.sequence_max")]
    sequence_max: u16,
    #[doc = doc!("sno.Stats.sequence")]
    sequence: u16,
    #[doc = doc!("sno.Stats.len")]
    len: u32,
    #[doc = doc!("sno.Stats.now")]
    now: u64,
    #[doc = doc!("sno.Stats.wall_hi")]
    wall_hi: u64,
    #[doc = doc!("sno.Stats.wall_safe")]
    wall_safe: u64,
    #[doc = doc!("sno.Stats.drifts")]
    drifts: u32,
    #[doc = doc!("sno.Stats.closed")]
    closed: bool,
}

impl From<sno::Stats> for Stats {
    fn from(found: sno::Stats) -> Self {
        Self {
            partition: found.partition,
            sequence_min: found.sequence_min,
            sequence_max: found.sequence_max,
            sequence: found.sequence,
            len: found.len,
            now: found.now,
            wall_hi: found.wall_hi,
            wall_safe: found.wall_safe,
            drifts: found.drifts,
            closed: found.closed,
        }
    }
}

#[pymethods]
impl Stats {
    fn __repr__(&self) -> String {
        let Self { sequence, len, now, wall_hi, drifts, .. } = self;
        let open = if self.closed { "closed" } else { "open" };
        format!(
            "<Stats: {open}, sequence {sequence}, {len} IDs in tick {now}, last tick {wall_hi}, {drifts} drifts>"
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
