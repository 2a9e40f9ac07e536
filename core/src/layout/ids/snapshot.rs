//! The snapshot that a closed generator leaves, and the figures of a running one.

use crate::{
    Result,
    layout::{Json, json::value::ObjectReader},
};

/// The name and the number of the format that snapshots are written in. A snapshot without one is of this format too.
const FORMAT: (&str, u64) = ("format", 1);

/// The state of a closed generator, to restore from once.
///
/// As JSON (feature `json`) it is `{"format": 1, "tick": 5, "next_sequence": 3}`; integers past 2^53 are decimal texts.
///
/// ```
/// use polyflake::layout::{Generator, preset};
///
/// let builder = |layout| Generator::builder(layout).bind("machine", 7);
/// let ids = builder(preset("sonyflake", [])?).build()?;
/// let last = ids.generate()?;
/// let stored = serde_json::to_string(&ids.close()?)?;
/// let ids = builder(preset("sonyflake", [])?).restore(serde_json::from_str(&stored)?)?;
/// assert!(ids.generate()? > last);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Snapshot {
    /// The last tick used, as the timestamp counts them; 0 in a layout without one.
    pub tick: u64,
    /// The next sequence in that tick; one past the field's last if it is used up.
    pub next_sequence: u128,
}

impl Snapshot {
    /// The snapshot with these fields, wherever they were stored.
    ///
    /// ```
    /// use polyflake::layout::{Generator, Snapshot, preset};
    ///
    /// let machine = || Ok(Generator::builder(preset("sonyflake", [])?).bind("machine", 7));
    /// let kept = machine()?.build()?.close()?;
    /// let again = Snapshot::new(kept.tick, kept.next_sequence);
    /// assert_eq!(machine()?.restore(again)?.stats().len, 0);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub const fn new(tick: u64, next_sequence: u128) -> Self {
        Self { tick, next_sequence }
    }

    /// The snapshot of a JSON value. Any fault of the value is `invalid_layout`.
    ///
    /// Not part of the public API: for bindings.
    #[doc(hidden)]
    pub fn from_value(json: Json) -> Result<Self> {
        let mut members = ObjectReader::new("the snapshot".into(), json)?;
        let format = members.optional(FORMAT.0, ObjectReader::small)?;
        if format.is_some_and(|found: u64| found != FORMAT.1) {
            return Err(members.wrong(FORMAT.0, "1", "another number"));
        }
        let snapshot =
            Self { tick: members.small("tick")?, next_sequence: members.small("next_sequence")? };
        members.end().map(|()| snapshot)
    }

    /// The snapshot as a JSON value.
    ///
    /// Not part of the public API: for bindings.
    #[doc(hidden)]
    pub fn to_value(&self) -> Json {
        let mut object = Json::object();
        object.put(FORMAT.0, Json::of(FORMAT.1));
        object.put("tick", Json::of(self.tick));
        object.put("next_sequence", Json::of(self.next_sequence));
        object
    }
}

/// Figures of a generator, at one moment.
///
/// ```
/// use polyflake::layout::{Generator, preset};
///
/// let ids = Generator::builder(preset("sonyflake", [])?).bind("machine", 7).build()?;
/// assert_eq!((ids.stats().last_ms, ids.stats().len), (None, 0));
/// ids.fill(&mut [0_i64; 10][..])?;
/// assert!(ids.stats().last_ms.is_some());
/// # Ok::<(), polyflake::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Stats {
    /// The start of the last tick used, in Unix milliseconds; none before the first ID, and in a layout without a timestamp.
    pub last_ms: Option<i64>,
    /// Number of IDs of that tick that are used up; in a layout without a timestamp, of the whole sequence.
    pub len: u128,
    /// `true` if the generator was closed.
    pub closed: bool,
}
