//! The description of an ID format. The built-in formats' descriptions need no heap allocation.

use super::{Scale, Span};
use crate::error::Name;

/// The fields, either static or on the heap.
type Fields = alloc::borrow::Cow<'static, [FieldDescription]>;

/// The size, fields, rate and time span of an ID format. All formats use this type.
///
/// ```
/// let sno = polyflake::sno::describe();
/// assert_eq!((sno.bits, sno.per_second), (80, Some(16_384_000)));
/// assert!(sno.sorts_by_time && !sno.below_2_53); // does not fit a JavaScript number
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Description {
    /// The number of bits in an ID.
    pub bits: u32,
    fields: Fields,
    /// The number of IDs that one generator can generate per second, rounded down. It is `None` unless the format has both
    /// a timestamp and a sequence.
    pub per_second: Option<u128>,
    /// The number of IDs that all generators together can generate per second, rounded down. It is `None` if the number
    /// does not fit in 128 bits, or if the format lacks a timestamp or a sequence.
    pub per_second_in_all: Option<u128>,
    /// The start of the first tick, in Unix milliseconds.
    pub first_ms: Option<i64>,
    /// The start of the last tick, in Unix milliseconds. Ticks whose start does not fit in a signed 64-bit number of
    /// milliseconds are ignored.
    pub last_ms: Option<i64>,
    /// Whether IDs sort by time from the first tick to the last. Integers are compared as signed integers, and bytes and
    /// strings lexicographically.
    pub sorts_by_time: bool,
    /// Whether every ID, as an unsigned integer, is below 2^53, so that a JavaScript number can hold it.
    pub below_2_53: bool,
    /// Whether every ID, as an unsigned integer, is below 2^63, so that it is never negative as a signed integer.
    pub below_2_63: bool,
}

/// One field of an ID format.
///
/// ```
/// let fields = polyflake::sno::describe();
/// let metabyte = &fields.fields()[2];
/// assert_eq!((metabyte.name(), metabyte.offset, metabyte.bits), ("metabyte", 40, 8));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldDescription {
    name: Name,
    /// The field's kind, as named in a layout's JSON.
    pub kind: &'static str,
    /// The number of bits before the field, counted from the most significant bit.
    pub offset: u32,
    /// The width of the field in bits.
    pub bits: u32,
}

impl Description {
    /// Returns the fields, starting with the most significant one.
    ///
    /// ```
    /// let description = polyflake::randflake::describe();
    /// let names: Vec<_> = description.fields().iter().map(|field| field.name()).collect();
    /// assert_eq!(names, ["timestamp", "node", "sequence"]);
    /// ```
    pub fn fields(&self) -> &[FieldDescription] {
        &self.fields
    }

    /// Creates a description, with the values that can be derived from the fields. The caller sets all other values.
    pub(crate) fn from_fields<'n>(
        fields: impl IntoIterator<Item = (&'n str, &'static str, u32)>,
    ) -> Self {
        let place = |offset: &mut u32, (name, kind, bits): (&str, _, u32)| {
            *offset += bits;
            let name = alloc::string::String::from(name).into();
            Some(FieldDescription { name, kind, offset: *offset - bits, bits })
        };
        let fields: alloc::vec::Vec<_> = fields.into_iter().scan(0, place).collect();
        Self {
            bits: fields.iter().map(|field| field.bits).sum(),
            fields: fields.into(),
            per_second: None,
            per_second_in_all: None,
            first_ms: None,
            last_ms: None,
            sorts_by_time: false,
            below_2_53: false,
            below_2_63: false,
        }
    }
}

impl FieldDescription {
    /// Describes a field of a format. `of` is the number of bits in an ID.
    pub(crate) const fn from_span(
        name: &'static str,
        kind: &'static str,
        span: Span,
        of: u32,
    ) -> Self {
        let name = Name::Borrowed(name);
        Self { name, kind, offset: of - span.shift() - span.bits(), bits: span.bits() }
    }

    /// Returns the field's name: `timestamp`, `sequence`, `unused`, or the name of a constant or bindable field.
    ///
    /// ```
    /// let description = polyflake::sno::describe();
    /// assert_eq!(description.fields()[3].name(), "partition");
    /// ```
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// The values from which the description of a format family is computed.
pub(crate) struct DescriptionInputs {
    pub(crate) bits: u32,
    pub(crate) fields: &'static [FieldDescription],
    pub(crate) scale: Scale,
    /// The number of IDs that one generator can generate in a tick.
    pub(crate) per_tick: u64,
    /// The number of generators that the format can distinguish.
    pub(crate) generators: u128,
    pub(crate) sorts_by_time: bool,
}

impl DescriptionInputs {
    /// Returns the description. Every family uses all bits of its IDs, so not all IDs are below 2^63.
    pub(crate) const fn describe(&self) -> Description {
        let per_second = self.per_tick as u128 * 1000 / self.scale.tick_ms.unsigned_abs() as u128;
        let fields = Fields::Borrowed(self.fields);
        Description {
            bits: self.bits,
            fields,
            per_second: Some(per_second),
            per_second_in_all: Some(per_second * self.generators),
            first_ms: Some(self.scale.tick_start_ms(0)),
            last_ms: Some(self.scale.tick_start_ms(self.scale.last)),
            sorts_by_time: self.sorts_by_time,
            below_2_53: false,
            below_2_63: false,
        }
    }
}
