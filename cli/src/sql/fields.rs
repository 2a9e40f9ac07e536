//! The fields of an ID, and the expressions that read them.

use polyflake::layout::Tick;
use serde_json::Value;

use super::integer;
use crate::failure::Failure;

/// The kind of a field's values, which determines their SQL type.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// An integer of at most 64 bits.
    Integer,
    /// An integer of more than 64 bits. Only byte IDs have such fields.
    Wide,
    Bytes,
    Text,
}

/// A field of an ID, with its position and whether its bits are inverted.
#[derive(Clone)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) kind: Kind,
    /// The number of bits above the field.
    pub(super) first: u32,
    pub(super) bits: u32,
    pub(super) invert: bool,
}

/// The form in which an expression reads an ID.
#[derive(Clone, Copy)]
pub(super) enum Source {
    /// An integer ID.
    Word(&'static str),
    /// A byte ID. The function receives the position of the first bit and the number of bits, which is at most 64. It
    /// returns an expression that reads these bits as an integer. A 64-bit integer is signed.
    Bytes(fn(u32, u32) -> String),
}

/// The timestamp, with the length of its ticks and the tick of its epoch. Ticks are counted from 1970.
pub(super) struct Time {
    pub(super) field: Field,
    pub(super) tick_us: i64,
    pub(super) epoch: i64,
    /// The number of ticks that ID ranges can cover.
    pub(super) count: i64,
}

/// Returns the largest value of a field with the given number of bits.
pub(super) const fn mask(bits: u32) -> i64 {
    if bits >= 64 { -1 } else { ((1_u64 << bits) - 1).cast_signed() }
}

impl Field {
    pub(super) fn new(json: &Value, first: u32, bits: u32) -> Self {
        let name = json["name"].as_str().or_else(|| json["kind"].as_str()).unwrap_or_default();
        let kind = match json["type"].as_str() {
            Some("bytes") => Kind::Bytes,
            Some("text") => Kind::Text,
            _ if bits > 64 => Kind::Wide,
            _ => Kind::Integer,
        };
        Self { name: name.to_owned(), kind, first, bits, invert: json["invert"] == true }
    }

    /// Returns the SQL type of a value that is an argument of a function.
    pub(super) const fn sql_type(&self) -> &'static str {
        match self.kind {
            Kind::Integer | Kind::Wide => "bigint",
            Kind::Bytes => "bytea",
            Kind::Text => "text",
        }
    }

    /// Returns the number of bits below the field in an integer ID.
    pub(super) const fn shift(&self) -> u32 {
        64 - self.first - self.bits
    }

    /// Returns an expression for the field's value as an integer. SQL shifts signed integers, so even the topmost field is
    /// masked.
    pub(super) fn number(&self, id: Source) -> String {
        let mask = mask(self.bits);
        match id {
            Source::Word(word) => match (self.bits, self.shift(), self.invert) {
                (0, ..) => format!("{word} & 0"),
                (64, _, false) => word.into(),
                (64, _, true) => format!("~{word}"),
                (_, 0, false) => format!("{word} & {mask}"),
                (_, shift, false) => format!("({word} >> {shift}) & {mask}"),
                (_, 0, true) => format!("{mask} - ({word} & {mask})"),
                (_, shift, true) => format!("{mask} - (({word} >> {shift}) & {mask})"),
            },
            Source::Bytes(read) => match (self.bits, self.invert) {
                (0, _) => "0".into(),
                (_, false) => read(self.first, self.bits),
                (64, true) => format!("~({})", read(self.first, self.bits)),
                (_, true) => format!("{mask} - ({})", read(self.first, self.bits)),
            },
        }
    }
}

impl Time {
    pub(super) fn new(json: &Value, field: Field, is_word: bool) -> Result<Self, Failure> {
        let tick: Tick = json["tick"].as_str().unwrap_or_default().parse()?;
        let tick_us = tick.as_micros().cast_signed();
        let epoch = i64::try_from((integer(&json["epoch_ms"]) * 1000).div_euclid(tick_us.into()));
        let epoch = epoch.map_err(|_| {
            Failure::new(
                "invalid_layout",
                "expected an epoch of at most 64 bits in ticks, found more",
            )
        })?;
        // Integer ranges end where the sign bit changes, because databases compare integers as signed values. Stopping one
        // tick below 2^63 ensures that the end of the last tick fits in 64 bits.
        let bits = field.bits.min(if is_word { 63 - field.shift() } else { 63 });
        let count = if bits == 63 { i64::MAX } else { 1 << bits };
        Ok(Self { field, tick_us, epoch, count })
    }

    /// Returns whether a tick is a whole number of milliseconds.
    pub(super) const fn is_whole_ms(&self) -> bool {
        self.tick_us % 1000 == 0
    }

    /// Returns an expression for the tick of an ID, counted from 1970.
    fn tick(&self, id: Source) -> String {
        let tick = format!("({})", self.field.number(id));
        if self.epoch == 0 { tick } else { format!("({tick} + {})", self.epoch) }
    }

    /// Returns an expression that multiplies the tick of an ID by the length of a tick.
    fn scaled_tick(&self, id: Source, length: i64) -> String {
        let tick = self.tick(id);
        if length == 1 { tick } else { format!("{tick} * {length}") }
    }

    pub(super) fn micros(&self, id: Source) -> String {
        self.scaled_tick(id, self.tick_us)
    }

    /// Returns an expression for the Unix milliseconds of an ID, rounded down. `divide` is the operator for integer
    /// division.
    pub(super) fn ms(&self, id: Source, divide: &str) -> String {
        let (length, ms) = if self.is_whole_ms() {
            (self.tick_us / 1000, self.scaled_tick(id, self.tick_us / 1000))
        } else {
            let us = self.micros(id);
            let ms = if self.epoch >= 0 && self.field.bits < 64 {
                format!("({us}) {divide} 1000")
            } else {
                // Division rounds toward zero, so the remainder is subtracted first.
                format!("({us} - (({us}) % 1000 + 1000) % 1000) {divide} 1000")
            };
            (self.tick_us, ms)
        };
        self.null_outside_bounds(id, i64::MIN.into(), i64::MAX.into(), length, ms)
    }

    /// Wraps an expression so that it is NULL for an ID whose time is outside the bounds. `length` is the length of a tick
    /// in the same unit as the bounds.
    fn null_outside_bounds(
        &self,
        id: Source,
        low: i128,
        high: i128,
        length: i64,
        value: String,
    ) -> String {
        let most = mask(self.field.bits.min(63));
        let least = if self.field.bits == 64 { i64::MIN } else { 0 };
        let (epoch, length) = (i128::from(self.epoch), i128::from(length));
        // The first and the last field value for which the ID's time is within the bounds.
        let first = -(-low).div_euclid(length) - epoch;
        let last = high.div_euclid(length) - epoch;
        let (first, last) = (first.max(least.into()), last.min(most.into()));
        if (first, last) == (least.into(), most.into()) {
            return value;
        }
        let number = self.field.number(id);
        format!("CASE WHEN {number} BETWEEN {first} AND {last} THEN {value} END")
    }

    /// Wraps an expression so that it is NULL for an ID whose time the databases do not support: before 4714 BC or after
    /// 294246.
    pub(super) fn null_outside_calendar(&self, id: Source, value: String) -> String {
        let (low, high) = (-210_866_803_200_000_000, i64::MAX);
        self.null_outside_bounds(id, low, high.into(), self.tick_us, value)
    }

    /// Returns an expression for the first tick at or after the time `moment`, or for the last tick before the time
    /// `before`.
    pub(super) fn end(&self, is_start: bool) -> String {
        bound_tick(self.tick_us, self.epoch, self.count, is_start)
    }
}

/// Returns an expression for the first tick at or after the time `moment`, or for the last tick before the time `before`.
pub(super) fn bound_tick(tick_us: i64, epoch: i64, count: i64, is_start: bool) -> String {
    if is_start {
        format!("flake.tick(moment, {tick_us}, {epoch}, 0, {})", count - 1)
    } else {
        format!("(flake.tick(before, {tick_us}, {epoch}, 1, {count}) - 1)")
    }
}
