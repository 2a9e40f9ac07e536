//! The shape of a namespace, which determines the IDs that its generators create. All users of a namespace must agree on
//! the whole shape.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::fmt::Write;

use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::{
    Result,
    rules::error::{damaged_record, out_of_range},
    rules::json::{Fields, MAX_SAFE_INTEGER, check_canonical},
};

/// The number of records whose worker IDs a program or an operator can request. The number is limited because requesting a
/// worker ID creates all records up to it.
const MAX_REQUESTABLE_IDS: u64 = 1 << 20;

/// The number of worker IDs that a record covers. Records and shapes store this number, so that a future version of the
/// record format can support leases that cover several worker IDs.
pub(crate) const IDS_PER_RECORD: u64 = 1;

/// An ID format whose shapes differ only in the range of worker IDs.
pub(crate) struct WorkerIdFormat {
    name: &'static str,
    /// The epoch in Unix milliseconds, and the tick in microseconds.
    time: (u64, u64),
    /// The format's name for a worker ID.
    field: &'static str,
    /// The highest worker ID.
    pub(crate) last: u64,
}

const SNO: WorkerIdFormat = WorkerIdFormat {
    name: "sno",
    time: (1_262_304_000_000, 4000),
    field: "partition",
    last: 65_535,
};
const HOTGUID: WorkerIdFormat =
    WorkerIdFormat { name: "hotguid", time: (0, 1_000_000), field: "machine", last: 1_048_575 };
const UUID7: WorkerIdFormat =
    WorkerIdFormat { name: "uuid7", time: (0, 1000), field: "worker", last: 65_535 };

impl WorkerIdFormat {
    /// Returns the format with the specified name. Returns `None` if there is no such format, or if its shapes have
    /// properties other than the range of worker IDs.
    #[cfg(feature = "hosted")]
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        [SNO, HOTGUID, UUID7].into_iter().find(|format| format.name == name)
    }

    pub(crate) fn shape(self, worker_ids: core::ops::RangeInclusive<u64>) -> Result<Shape> {
        Shape::new(self.name, self.time, self.field, (worker_ids, self.last))
    }
}

/// The properties of an ID format that leases depend on: its name, its epoch, its ticks, and the worker IDs that can be
/// leased.
///
/// ```
/// use polyflake_lease::Shape;
///
/// let shape = Shape::sno(0..=1023)?;
/// assert_eq!(shape.worker_ids(), 0..=1023);
/// # Ok::<(), polyflake_lease::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    family: &'static str,
    epoch_ms: u64,
    tick_us: u64,
    fields: Vec<String>,
    first: u64,
    last: u64,
    layout: Option<String>,
    secret: Option<String>,
}

impl Shape {
    /// The names of the ID formats. The full name of each namespace ends with one of these names. Not part of the public
    /// API: used by the command-line program.
    #[doc(hidden)]
    pub const FORMATS: [&'static str; 5] = ["sno", "randflake", "hotguid", "layout", "uuid7"];

    fn new(
        family: &'static str,
        (epoch_ms, tick_us): (u64, u64),
        field: &str,
        (worker_ids, most): (core::ops::RangeInclusive<u64>, u64),
    ) -> Result<Self> {
        let (first, last) = worker_ids.into_inner();
        if first > last || last > most {
            let reason = format!("expected worker IDs in 0 to {most}, found {first} to {last}");
            return Err(out_of_range(reason));
        }
        let fields = [field.to_string()].into();
        let (layout, secret) = (None, None);
        Ok(Self { family, epoch_ms, tick_us, fields, first, last, layout, secret })
    }

    /// Creates the shape for sno partitions.
    ///
    /// # Errors
    /// Returns `out_of_range` unless the partitions are in the range 0 to 65535.
    pub fn sno(partitions: core::ops::RangeInclusive<u64>) -> Result<Self> {
        SNO.shape(partitions)
    }

    /// Creates the shape for Randflake node IDs that are used with the given secret. The shape contains only 8 bytes of a
    /// keyed hash of the secret.
    ///
    /// # Errors
    /// Returns `out_of_range` unless the node IDs are in the range 0 to 131071.
    pub fn randflake(nodes: core::ops::RangeInclusive<u64>, secret: &[u8; 16]) -> Result<Self> {
        let shape =
            Self::new("randflake", (1_730_000_000_000, 1_000_000), "node", (nodes, 131_071))?;
        Ok(Self { secret: Some(secret_check_value(secret)), ..shape })
    }

    /// Creates the shape for Hot Guid machine numbers.
    ///
    /// # Errors
    /// Returns `out_of_range` unless the machine numbers are in the range 0 to 1048575.
    pub fn hotguid(machines: core::ops::RangeInclusive<u64>) -> Result<Self> {
        HOTGUID.shape(machines)
    }

    /// Creates the shape for worker IDs in version 7 UUIDs.
    ///
    /// # Errors
    /// Returns `out_of_range` unless the worker IDs are in the range 0 to 65535.
    pub fn uuid7(workers: core::ops::RangeInclusive<u64>) -> Result<Self> {
        UUID7.shape(workers)
    }

    /// Creates the shape for a layout whose worker IDs are split across the named fields, starting with the most
    /// significant one. `layout` is the layout's JSON with 0 in these fields.
    ///
    /// # Errors
    /// Returns `out_of_range` for a tick of 0, an epoch before 1970, worker IDs of 2^53 or more, or an empty list of
    /// fields.
    pub fn layout(
        layout: &str,
        (epoch_ms, tick_us): (u64, u64),
        fields: &[&str],
        worker_ids: core::ops::RangeInclusive<u64>,
    ) -> Result<Self> {
        if tick_us == 0
            || tick_us > MAX_SAFE_INTEGER
            || epoch_ms > MAX_SAFE_INTEGER
            || fields.is_empty()
        {
            return Err(out_of_range("expected a tick, an epoch from 1970 on, and a field"));
        }
        let shape = Self::new(
            "layout",
            (epoch_ms, tick_us),
            fields[0],
            (worker_ids, MAX_SAFE_INTEGER - 1),
        )?;
        let fields = fields.iter().map(ToString::to_string).collect();
        Ok(Self { fields, layout: Some(layout.to_string()), ..shape })
    }

    /// Returns the shape for a check that does not depend on the ID format of the program's generators. The shape allows
    /// every value that at least one format allows.
    #[cfg(feature = "hosted")]
    pub(crate) fn for_any_format(worker_ids: core::ops::RangeInclusive<u64>) -> Result<Self> {
        Self::new("sno", (0, 1000), "worker", (worker_ids, MAX_SAFE_INTEGER - 1))
    }

    /// Returns the index of the record for a worker ID that a holder or an operator requests.
    pub(crate) fn record_index(&self, worker_id: u64) -> Result<u64> {
        let index = self.index_of(worker_id).ok_or_else(|| {
            let (first, last) = self.worker_ids().into_inner();
            out_of_range(format!("expected a worker ID from {first} to {last}, found {worker_id}"))
        })?;
        if index < MAX_REQUESTABLE_IDS {
            return Ok(index);
        }
        let reason = format!(
            "expected one of the first {MAX_REQUESTABLE_IDS} worker IDs, found {worker_id}"
        );
        Err(out_of_range(reason))
    }

    /// Returns the range of worker IDs that can be leased.
    pub fn worker_ids(&self) -> core::ops::RangeInclusive<u64> {
        self.first..=self.last
    }

    /// Returns the name of the ID format.
    pub(crate) fn family(&self) -> &str {
        self.family
    }

    #[cfg(feature = "std")]
    pub(crate) fn has_secret(&self, secret: &[u8; 16]) -> bool {
        self.secret.as_ref() == Some(&secret_check_value(secret))
    }

    /// Returns the maximum number of records in a namespace with this shape.
    pub fn capacity(&self) -> u64 {
        self.last - self.first + 1
    }

    /// Returns the first worker ID of the record at the given index.
    pub(crate) fn first_id_at(&self, index: u64) -> u64 {
        self.first + index
    }

    /// Returns the index of the record that contains a worker ID.
    pub(crate) fn index_of(&self, worker_id: u64) -> Option<u64> {
        self.worker_ids().contains(&worker_id).then(|| worker_id - self.first)
    }

    /// Describes the first difference between this shape and another, for use in a message. If possible, the description
    /// contains both values.
    pub(crate) fn describe_difference(&self, other: &Self) -> String {
        let range = |shape: &Self| format!("worker IDs {} to {}", shape.first, shape.last);
        if self.family != other.family {
            format!("{}, not {}", self.family, other.family)
        } else if (self.first, self.last) != (other.first, other.last) {
            format!("{}, not {}", range(self), range(other))
        } else if self.secret != other.secret {
            "another secret".into()
        } else {
            "another layout".into()
        }
    }

    /// Returns the grid of times at which grants may start and end.
    pub fn grid(&self) -> Grid {
        let step = lcm(self.tick_us, 1000) / 1000;
        Grid { step, offset: self.epoch_ms % step }
    }

    /// Parses a shape from canonical JSON, in the form stored in a [`Namespace`](crate::protocol::Namespace).
    ///
    /// # Errors
    /// Returns `store_damaged` for any other string, or `schema_too_new` for a shape in a newer format.
    pub fn from_json(text: &str) -> Result<Self> {
        let read = Fields::parse(text)?;
        read.check_format()?;
        let [block, epoch_ms, first, last, tick_us] =
            ["block", "epoch_ms", "first", "last", "tick_us"].map(|key| read.integer(key));
        let (block, epoch_ms, tick_us) = (block?, epoch_ms?, tick_us?);
        let (first, last, fields) = (first?, last?, read.nonempty_strings("fields")?);
        let (layout, secret) = (read.optional_string("layout")?, read.optional_string("secret")?);
        let family = read.string("family")?;
        let known = Self::FORMATS.into_iter().find(|known| **known == family);
        let family = known.ok_or_else(|| damaged_record("expected a family in a shape"))?;
        let is_range = first <= last && last < MAX_SAFE_INTEGER && tick_us > 0;
        if !is_range || block != IDS_PER_RECORD {
            return Err(damaged_record(
                "expected a range of worker IDs, a tick and a block of 1 in a shape",
            ));
        }
        let shape = Self { family, epoch_ms, tick_us, fields, first, last, layout, secret };
        check_canonical(text, &shape.to_json())?;
        Ok(shape)
    }

    /// Returns the shape as canonical JSON.
    pub fn to_json(&self) -> String {
        let mut shape = json!({
            "block": IDS_PER_RECORD,
            "epoch_ms": self.epoch_ms,
            "family": self.family,
            "fields": self.fields,
            "first": self.first,
            "format": 1,
            "last": self.last,
            "layout": self.layout,
            "secret": self.secret,
            "tick_us": self.tick_us,
        });
        if let Value::Object(fields) = &mut shape {
            fields.retain(|_, value| !value.is_null());
        }
        shape.to_string()
    }
}

/// The grid of times at which grants may start and end. Adjacent grid times are `step` milliseconds apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    step: u64,
    offset: u64,
}

impl Grid {
    /// Rounds a time down to the grid. Returns 0 if no grid time is at or before `ms`.
    pub fn floor(self, ms: u64) -> u64 {
        let Some(since) = ms.checked_sub(self.offset) else { return 0 };
        ms - since % self.step
    }

    /// Rounds a time up to the grid. Returns the last grid time if no grid time is at or after `ms`.
    pub fn ceil(self, ms: u64) -> u64 {
        let down = self.floor(ms);
        if down == ms || (down == 0 && ms == 0) {
            return ms;
        }
        let up = if ms < self.offset { self.offset } else { down.saturating_add(self.step) };
        up.min(self.floor(MAX_SAFE_INTEGER))
    }

    /// Returns the interval between two adjacent grid times, in milliseconds.
    pub fn interval(self) -> u64 {
        self.step
    }
}

fn lcm(a: u64, b: u64) -> u64 {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    // Saturation is harmless: a step that does not fit in 64 bits is longer than any lease, so `Options::lease_ms` rejects
    // it.
    (a / x).saturating_mul(b)
}

pub(crate) fn digest(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}

fn secret_check_value(secret: &[u8; 16]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).expect("HMAC takes a key of any length");
    // The hash is keyed with the secret, and its input is a fixed string. Equal hashes mean equal secrets, so a wrong
    // secret is detected, but the stored hash does not reveal the secret.
    mac.update(b"polyflake lease 1");
    hex(&mac.finalize().into_bytes()[..8])
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // The result can be ignored, because writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
