//! What a family can do, in figures.

use super::Scale;
use crate::layout::{Description, FieldDescription, Span};

/// What the figures of a family follow from.
pub(super) struct Family<'f> {
    /// Names and kinds of the fields, from the top.
    pub(super) names: &'f [(&'f str, &'static str)],
    pub(super) spans: &'f [Span],
    pub(super) scale: Scale,
    /// IDs that one generator can make in a tick.
    pub(super) per_tick: u64,
    /// Generators that can be told apart.
    pub(super) generators: u128,
    pub(super) sorts_by_time: bool,
}

impl Family<'_> {
    /// The figures. All bits of every family's IDs are used, so none stays below 2^63.
    pub(super) fn describe(self) -> Description {
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
