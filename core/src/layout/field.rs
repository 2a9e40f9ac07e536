//! One field of a layout, as it is described.

use alloc::string::String;

use super::{Tick, Type, Value};

/// A field of a [`Layout`](super::Layout): its content and its width in bits.
///
/// A width of 0 is allowed; a field of width 0 holds 0. The layout checks its fields when it is built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    pub(super) kind: Kind,
    pub(super) bits: u32,
    pub(super) invert: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Timestamp { tick: Tick, epoch_ms: i64 },
    Sequence { start: Value<'static> },
    Constant { name: Option<String>, value: Value<'static> },
    Bindable { name: Option<String>, kind: Type },
    Unused,
}

impl Field {
    const fn new(bits: u32, kind: Kind) -> Self {
        Self { kind, bits, invert: false }
    }

    /// The time, in ticks since the tick of `epoch_ms` (Unix milliseconds). A layout has at most one, of at most 64 bits.
    pub const fn timestamp(bits: u32, tick: Tick, epoch_ms: i64) -> Self {
        Self::new(bits, Kind::Timestamp { tick, epoch_ms })
    }

    /// The sequence within a tick, from 0. A layout has at most one, of at most 64 bits.
    pub const fn sequence(bits: u32) -> Self {
        Self::new(bits, Kind::Sequence { start: Value::Integer(0) })
    }

    /// The sequence within a tick, from `start`.
    pub fn sequence_from(bits: u32, start: impl Into<Value<'static>>) -> Self {
        Self::new(bits, Kind::Sequence { start: start.into().normal() })
    }

    /// A value that is the same in every ID, unless an ID overrides it. Without a name it is called `const-<offset>-<bits>`.
    /// Bytes and texts are for byte layouts.
    pub fn constant<'n>(
        bits: u32,
        name: impl Into<Option<&'n str>>,
        value: impl Into<Value<'static>>,
    ) -> Self {
        Self::new(
            bits,
            Kind::Constant { name: name.into().map(String::from), value: value.into().normal() },
        )
    }

    /// An integer given for each ID. Without a name it is called `bindable-<offset>-<bits>`.
    pub fn bindable<'n>(bits: u32, name: impl Into<Option<&'n str>>) -> Self {
        Self::bindable_of(Type::Integer, bits, name)
    }

    /// A value of any type given for each ID. Bytes and texts are for byte layouts.
    pub fn bindable_of<'n>(kind: Type, bits: u32, name: impl Into<Option<&'n str>>) -> Self {
        Self::new(bits, Kind::Bindable { name: name.into().map(String::from), kind })
    }

    /// Bits that are zero in every new ID, and ignored when an ID is read.
    pub const fn unused(bits: u32) -> Self {
        Self::new(bits, Kind::Unused)
    }

    /// The same field with all its bits flipped, for example to sort the newest IDs first. Unused bits stay zero.
    #[must_use]
    pub const fn inverted(mut self) -> Self {
        self.invert = true;
        self
    }
}
