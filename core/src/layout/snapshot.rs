//! What a generator leaves, and what it tells of itself.

use super::{
    Json,
    json::{Members, Object},
};
use crate::Result;

/// What a closed generator leaves to restore from, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Snapshot {
    /// The last tick used, as the timestamp counts them; 0 in a layout without one.
    pub tick: u64,
    /// The sequence that follows in that tick, one past the field's last if it is used up.
    pub next_sequence: u128,
}

impl Snapshot {
    /// The snapshot with these fields, from wherever they were kept.
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

    /// The snapshot of a JSON value; everything wrong with that is `invalid_layout`.
    ///
    /// No part of what is promised: for bindings.
    #[doc(hidden)]
    pub fn from_value(json: Json) -> Result<Self> {
        let mut members = Members::new("the snapshot".into(), json)?;
        let snapshot =
            Self { tick: members.small("tick")?, next_sequence: members.small("next_sequence")? };
        members.end().map(|()| snapshot)
    }

    /// The snapshot as a JSON value.
    ///
    /// No part of what is promised: for bindings.
    #[doc(hidden)]
    pub fn to_value(&self) -> Json {
        let mut object = Object::default();
        object.put_integer("tick", Some(self.tick.into()));
        object.put_integer("next_sequence", Some(self.next_sequence.into()));
        object.into()
    }
}

/// Figures of a generator, at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Stats {
    /// When the last tick used began, in Unix milliseconds; none before the first ID, and in a layout without a timestamp.
    pub last_ms: Option<i64>,
    /// How many IDs of that tick are used up, or of the whole sequence in a layout without a timestamp.
    pub len: u128,
    /// Whether the generator was closed.
    pub closed: bool,
}
