//! Key figures of an ID format.

use alloc::{string::String, vec::Vec};

use super::{Scale, Span};

/// Key figures of an ID format, the same for every family.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Description {
    /// Number of bits of an ID.
    pub bits: u32,
    /// Its fields, from the top.
    pub fields: Vec<FieldDescription>,
    /// Number of IDs that one generator can make in a second, floored; none without both a timestamp and a sequence.
    pub per_second: Option<u128>,
    /// Number of IDs that all generators together can make in a second, floored; none without both a timestamp and a sequence, and
    /// past 2^128.
    pub per_second_in_all: Option<u128>,
    /// The start of the first tick, in Unix milliseconds.
    pub first_ms: Option<i64>,
    /// The start of the last tick that 64-bit milliseconds hold, in Unix milliseconds.
    pub last_ms: Option<i64>,
    /// `true` if IDs sort by time from the first tick to the last: integers as signed ones, bytes and texts bytewise.
    pub sorts_by_time: bool,
    /// `true` if every ID, as an unsigned integer, is below 2^53, so that a JavaScript number holds it.
    pub below_2_53: bool,
    /// `true` if every ID, as an unsigned integer, is below 2^63, so that it is never negative.
    pub below_2_63: bool,
}

/// One field of a format.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldDescription {
    /// Name of the field: `timestamp`, `sequence`, `unused`, or the name of a constant or bindable.
    pub name: String,
    /// Kind of the field, as in a layout's JSON.
    pub kind: &'static str,
    /// Number of bits above the field.
    pub offset: u32,
    /// Width of the field, in bits.
    pub bits: u32,
}

impl FieldDescription {
    /// Lists fields of given names, kinds and widths, from the top.
    pub(crate) fn list<'n>(
        fields: impl IntoIterator<Item = (&'n str, &'static str, u32)>,
    ) -> Vec<Self> {
        let place = |offset: &mut u32, (name, kind, bits): (&str, _, u32)| {
            *offset += bits;
            Some(Self { name: name.into(), kind, offset: *offset - bits, bits })
        };
        fields.into_iter().scan(0, place).collect()
    }
}

/// The facts that a family's figures follow from.
pub(crate) struct Figures<'f> {
    /// Names and kinds of the fields, from the top.
    pub(crate) names: &'f [(&'f str, &'static str)],
    pub(crate) spans: &'f [Span],
    pub(crate) scale: Scale,
    /// Number of IDs that one generator can make in a tick.
    pub(crate) per_tick: u64,
    /// Number of generators that can be told apart.
    pub(crate) generators: u128,
    pub(crate) sorts_by_time: bool,
}

impl Figures<'_> {
    /// The figures. Every family uses all bits of its IDs, so no family stays below 2^63.
    pub(crate) fn describe(self) -> Description {
        let fields = self.names.iter().zip(self.spans);
        let fields = fields.map(|((name, kind), span)| (*name, *kind, span.bits()));
        let per_second =
            u128::from(self.per_tick) * 1000 / u128::from(self.scale.tick_ms.unsigned_abs());
        Description {
            bits: self.spans.iter().map(|span| span.bits()).sum(),
            fields: FieldDescription::list(fields),
            per_second: Some(per_second),
            per_second_in_all: Some(per_second * self.generators),
            first_ms: Some(self.scale.ms_of(0)),
            last_ms: Some(self.scale.ms_of(self.scale.last)),
            sorts_by_time: self.sorts_by_time,
            below_2_53: false,
            below_2_63: false,
        }
    }
}
