//! What a generator leaves behind, and its figures.

use polyflake::{Error, ErrorKind, sno};
use pyo3::{intern, prelude::*, types::PyDict};

use crate::{
    errors::{raise, raise_from},
    ids::convert::{Text, invalid_type, number, pair},
};

/// What a closed generator leaves to restore from.
#[pyclass(frozen, eq, hash, get_all, module = "polyflake.sno")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Snapshot {
    /// The partition.
    partition: u16,
    /// The first sequence of a tick.
    sequence_min: u16,
    /// The last sequence of a tick.
    sequence_max: u16,
    /// The last sequence given out in tick `wall_hi`.
    sequence: u32,
    /// When the snapshot was taken, in ticks.
    now: u64,
    /// The tick of the last ID.
    wall_hi: u64,
    /// Up to this tick a step back of the clock is waited out.
    wall_safe: u64,
    /// How often the clock stepped back.
    drifts: u32,
}

/// The original's member names, in the order of the fields.
const MEMBERS: [&str; 8] =
    ["partition", "sequenceMin", "sequenceMax", "sequence", "now", "wallHi", "wallSafe", "drifts"];

#[pymethods]
impl Snapshot {
    /// The snapshot of a dict with the original's member names.
    #[staticmethod]
    #[pyo3(signature = (members, /))]
    fn from_dict(members: &Bound<'_, PyAny>) -> PyResult<Self> {
        let Ok(members) = members.cast::<PyDict>() else {
            return Err(raise(invalid_type("dict", members)));
        };
        refuse_unknown(members)?;
        let [partition, least, most, sequence, now, wall_hi, wall_safe, drifts] = MEMBERS;
        let bytes = pair(&required(members, partition)?, "a pair of bytes")?;
        let [high, low] = [&bytes[0], &bytes[1]].map(|byte| number(byte, partition, 0..=u8::MAX));
        Ok(Self {
            partition: u16::from_be_bytes([high?, low?]),
            sequence_min: member(members, least, u16::MAX)?,
            sequence_max: member(members, most, u16::MAX)?,
            sequence: member(members, sequence, u32::MAX)?,
            now: member(members, now, u64::MAX)?,
            wall_hi: member(members, wall_hi, u64::MAX)?,
            wall_safe: member(members, wall_safe, u64::MAX)?,
            drifts: member(members, drifts, u32::MAX)?,
        })
    }

    /// A dict with the original's member names.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let bytes = self.partition.to_be_bytes();
        let numbers = [
            self.sequence_min.into(),
            self.sequence_max.into(),
            self.sequence.into(),
            self.now,
            self.wall_hi,
            self.wall_safe,
            u64::from(self.drifts),
        ];
        let members = PyDict::new(py);
        members.set_item(MEMBERS[0], bytes.map(u32::from))?;
        for (name, number) in MEMBERS[1..].iter().zip(numbers) {
            members.set_item(name, number)?;
        }
        Ok(members)
    }

    /// The snapshot of a JSON text with the original's member names.
    #[staticmethod]
    #[pyo3(signature = (text, /))]
    fn from_json(py: Python<'_>, text: Text<'_>) -> PyResult<Self> {
        let members = py
            .import("json")?
            .call_method1("loads", (&*text,))
            .map_err(|raised| malformed(py, raised))?;
        Self::from_dict(&members)
    }

    /// A JSON text with the original's member names.
    fn to_json<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("json")?.call_method1("dumps", (self.to_dict(py)?,))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("Snapshot.from_dict({})", self.to_dict(py)?.repr()?))
    }
}

impl From<sno::Snapshot> for Snapshot {
    fn from(left: sno::Snapshot) -> Self {
        Self {
            partition: u16::from_be_bytes(left.partition),
            sequence_min: left.sequence_min,
            sequence_max: left.sequence_max,
            sequence: left.sequence,
            now: left.now,
            wall_hi: left.wall_hi,
            wall_safe: left.wall_safe,
            drifts: left.drifts,
        }
    }
}

/// A snapshot as an argument.
#[derive(Clone, Copy)]
pub(super) struct Argument(pub(super) sno::Snapshot);

impl FromPyObject<'_, '_> for Argument {
    type Error = PyErr;
    fn extract(value: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        let Ok(given) = value.cast::<Snapshot>() else {
            return Err(raise(invalid_type("Snapshot", &value)));
        };
        let given = given.get();
        Ok(Self(sno::Snapshot {
            partition: given.partition.to_be_bytes(),
            sequence_min: given.sequence_min,
            sequence_max: given.sequence_max,
            sequence: given.sequence,
            now: given.now,
            wall_hi: given.wall_hi,
            wall_safe: given.wall_safe,
            drifts: given.drifts,
        }))
    }
}

fn refuse_unknown(members: &Bound<'_, PyDict>) -> PyResult<()> {
    for name in members.keys() {
        let name: Text<'_> = name.extract()?;
        if !MEMBERS.contains(&&*name) {
            return Err(raise(Error::field_error(ErrorKind::UnknownField, name.to_string())));
        }
    }
    Ok(())
}

fn required<'py>(members: &Bound<'py, PyDict>, name: &'static str) -> PyResult<Bound<'py, PyAny>> {
    members.get_item(name)?.ok_or_else(|| raise(Error::field_error(ErrorKind::MissingField, name)))
}

fn member<T>(members: &Bound<'_, PyDict>, name: &'static str, most: T) -> PyResult<T>
where
    T: Copy + Default + PartialOrd + TryFrom<i128> + Into<i128>,
{
    number(&required(members, name)?, name, T::default()..=most)
}

/// The error for a text that is no JSON, at the position that Python's parser says.
fn malformed(py: Python<'_>, raised: PyErr) -> PyErr {
    let position =
        raised.value(py).getattr(intern!(py, "pos")).and_then(|position| position.extract());
    let error = match position {
        Ok(position) => Error::invalid_character(position),
        Err(_) => Error::because(
            ErrorKind::InvalidType,
            "expected the JSON of a snapshot, found another text",
        ),
    };
    raise_from(py, &error, raised)
}

/// Figures of a generator.
#[pyclass(frozen, eq, hash, get_all, module = "polyflake.sno")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Stats {
    /// The partition, once the generator has one.
    partition: Option<u16>,
    /// The first sequence of a tick.
    sequence_min: u16,
    /// The last sequence of a tick.
    sequence_max: u16,
    /// The last sequence given out in this tick; the first one if none was.
    sequence: u16,
    /// How many IDs were made in this tick.
    len: u32,
    /// This tick, by the generator's clock.
    now: u64,
    /// The tick of the last ID.
    wall_hi: u64,
    /// Up to this tick a step back of the clock is waited out.
    wall_safe: u64,
    /// How often the clock stepped back.
    drifts: u32,
    /// Whether the generator was closed.
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
}
