//! The snapshot of a closed generator, and the statistics of a running one.

use crate::{
    Result,
    layout::{Json, json::value::ObjectReader},
};

/// The name and the value of the JSON member that specifies the version of the snapshot format. A snapshot without this
/// member also has this version.
const FORMAT_MEMBER: (&str, u64) = ("format", 1);

/// The state of a closed generator, from which one new generator can be restored.
///
/// With the `json` feature, it is serialized to JSON as `{"format": 1, "tick": 5, "next_sequence": 3}`. Integers above 2^53
/// are written as decimal strings.
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
    /// The last tick used, as the number of ticks since the timestamp's epoch, or 0 if the layout has no timestamp.
    pub tick: u64,
    /// The next sequence number in the last tick, or one past the field's maximum if that tick is exhausted.
    pub next_sequence: u128,
}

impl Snapshot {
    /// Returns a number that identifies the state that the snapshot contains.
    pub(super) fn state_number(&self) -> u128 {
        self.next_sequence << 64 | u128::from(self.tick)
    }

    /// Creates a snapshot from its stored fields.
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

    /// Creates a snapshot from a JSON value. Reports every error in the value as `invalid_layout`.
    ///
    /// This function is not part of the public API. It exists for bindings.
    #[doc(hidden)]
    pub fn from_value(json: Json) -> Result<Self> {
        let mut members = ObjectReader::new("the snapshot".into(), json)?;
        let format = members.optional(FORMAT_MEMBER.0, ObjectReader::small_integer)?;
        if format.is_some_and(|found: u64| found != FORMAT_MEMBER.1) {
            return Err(members.invalid_member(FORMAT_MEMBER.0, "1", "another number"));
        }
        let snapshot = Self {
            tick: members.small_integer("tick")?,
            next_sequence: members.small_integer("next_sequence")?,
        };
        members.end().map(|()| snapshot)
    }

    /// Returns the snapshot as a JSON value.
    ///
    /// This method is not part of the public API. It exists for bindings.
    #[doc(hidden)]
    pub fn to_value(&self) -> Json {
        let mut object = Json::object();
        object.insert(FORMAT_MEMBER.0, Json::from_value(FORMAT_MEMBER.1));
        object.insert("tick", Json::from_value(self.tick));
        object.insert("next_sequence", Json::from_value(self.next_sequence));
        object
    }
}

/// A generator's statistics at one point in time.
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
    /// The start of the last tick used, in Unix milliseconds, or `None` if no ID has been generated yet or if the layout
    /// has no timestamp.
    pub last_ms: Option<i64>,
    /// The number of sequence slots already used in the last tick, or in the whole sequence if the layout has no timestamp.
    pub len: u128,
    /// Whether the generator is closed.
    pub closed: bool,
}
