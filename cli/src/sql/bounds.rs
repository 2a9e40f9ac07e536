//! The lowest and the highest ID of a span of time, as expressions.

use super::{
    fields::{Field, Kind, Time, mask},
    identifier, literal, quoted,
};

/// The bounds of a range of IDs in the fields other than the timestamp.
pub(super) struct Bounds {
    /// Bindable fields above the timestamp, which a range needs the values of.
    pub(super) above: Vec<Field>,
    /// The bits of the constants, as digits of an ID that has no other bits.
    pub(super) lowest: String,
    /// The same, and all bits of the sequence and the bindable fields below the timestamp.
    pub(super) highest: String,
}

/// How a dialect writes strings of bits, which byte IDs are put together from.
pub(super) struct BitStrings {
    pub(super) constant: fn(&str) -> String,
    /// A number in some bits.
    pub(super) number: fn(&str, u32) -> String,
    pub(super) inverted: fn(&str) -> String,
    /// The bytes of a string of bits.
    pub(super) bytes: fn(&str) -> String,
}

/// A function that returns a bound.
pub(super) struct End {
    pub(super) suffix: &'static str,
    /// The name of the time: `moment` for a start, `before` for an end.
    pub(super) argument: &'static str,
    pub(super) body: String,
    pub(super) comment: String,
}

impl Bounds {
    /// The functions for the lowest and the highest ID. If the timestamp is inverted, the lowest ID is the one of the end.
    pub(super) fn ends(&self, time: &Time, bits: Option<&BitStrings>) -> [End; 2] {
        [("lowest", &self.lowest, false), ("highest", &self.highest, true)].map(
            |(suffix, rest, is_highest)| {
                let is_start = is_highest == time.field.invert;
                let (argument, when) = if is_start {
                    ("moment", "the time `moment` or later")
                } else {
                    ("before", "a time earlier than `before`")
                };
                let tick = time.end(is_start);
                let body = match bits {
                    None => self.word(time, &tick, rest),
                    Some(bits) => self.bytes(time, &tick, rest, bits),
                };
                let comment =
                    format!("The {suffix} ID of {when}. A time outside the layout is an error.");
                End { suffix, argument, body, comment }
            },
        )
    }

    /// An expression for a bound of integers, from one for its tick and the bits of the other fields.
    pub(super) fn word(&self, time: &Time, tick: &str, rest: &str) -> String {
        let (placed, sign) = placed(&time.field, tick);
        let rest = u64::from_str_radix(rest, 2).unwrap_or_default().cast_signed();
        let rest = Some(rest | sign).filter(|rest| *rest != 0).map(literal);
        let above = self.above.iter().filter(|field| field.bits > 0);
        let above = above.map(|field| put(field, &fitting(field)));
        let others: Vec<_> = rest.into_iter().chain(above).collect();
        if others.is_empty() {
            return placed;
        }
        let placed = if time.field.shift() == 0 { placed } else { format!("({placed})") };
        format!("{placed} | {}", others.join(" | "))
    }

    /// An expression for a bound of byte IDs: strings of bits from the top.
    fn bytes(&self, time: &Time, tick: &str, rest: &str, bits: &BitStrings) -> String {
        let (mut parts, mut done) = (Vec::new(), 0);
        for field in self.above.iter().chain([&time.field]).filter(|field| field.bits > 0) {
            let first = field.first as usize;
            if done < first {
                parts.push((bits.constant)(&rest[done..first]));
            }
            done = first + field.bits as usize;
            let value = match field.kind {
                _ if field.first == time.field.first => (bits.number)(tick, field.bits),
                Kind::Integer => (bits.number)(&fitting(field), field.bits),
                _ => fitting(field),
            };
            parts.push(if field.invert { (bits.inverted)(&value) } else { value });
        }
        if done < rest.len() {
            parts.push((bits.constant)(&rest[done..]));
        }
        (bits.bytes)(&parts.join(" || "))
    }

    /// Further arguments of the functions, each with its type: the values of the bindable fields.
    pub(super) fn arguments(&self, form: impl Fn(&Field) -> &'static str) -> String {
        let one = |field: &Field| format!(", {}{}", identifier(&field.name), form(field));
        self.above.iter().map(one).collect()
    }
}

/// The value of a bindable field above the timestamp, if it fits.
fn fitting(field: &Field) -> String {
    let function = match field.kind {
        Kind::Integer | Kind::Wide => "fit",
        Kind::Bytes => "fit_bytes",
        Kind::Text => "fit_text",
    };
    let name = identifier(&field.name);
    format!("flake.{function}({name}, {}, {})", field.bits, quoted(&field.name))
}

/// An expression for a tick in its place of an integer, and the bits that all these ticks have in common.
fn placed(field: &Field, tick: &str) -> (String, i64) {
    let (shift, bits) = (field.shift(), field.bits);
    // Where the timestamp has the sign bit, all ticks are in the first half. Inverted, they have the sign bit set.
    let is_top = field.first == 0;
    let most = mask(if is_top { bits - 1 } else { bits });
    let tick = if field.invert { format!("({most} - {tick})") } else { tick.into() };
    let placed = if shift == 0 { tick } else { format!("{tick} << {shift}") };
    (placed, if field.invert && is_top { i64::MIN } else { 0 })
}

/// An expression for the value of a bindable field in its place of an integer. The sign bit is set apart, because one database
/// reports an overflow for a shift into it.
fn put(field: &Field, value: &str) -> String {
    let flipped =
        if field.invert { format!("({} - {value})", mask(field.bits)) } else { value.into() };
    if field.first > 0 {
        return format!("({flipped} << {})", field.shift());
    }
    let half = mask(field.bits - 1);
    format!(
        "(({flipped} & {half}) << {}) | CASE WHEN {flipped} > {half} THEN {} ELSE 0 END",
        field.shift(),
        literal(i64::MIN)
    )
}
