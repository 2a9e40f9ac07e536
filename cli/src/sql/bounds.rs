//! Expressions for the lowest and the highest ID in a time range.

use super::{
    fields::{Field, Kind, Time, mask},
    functions::Argument,
    identifier, literal, quote,
};

/// The bits of the lowest and the highest ID in a time range, without the bits of the timestamp.
pub(super) struct Bounds {
    /// The bindable fields above the timestamp. A range requires their values.
    pub(super) above: Vec<Field>,
    /// The binary digits of an ID that contains only the constants.
    pub(super) lowest: String,
    /// The binary digits of an ID that contains the constants, with all bits set to 1 in the sequence and in the bindable
    /// fields below the timestamp.
    pub(super) highest: String,
}

/// A dialect's syntax for bit strings, which are concatenated to form byte IDs.
pub(super) struct BitStrings {
    pub(super) constant: fn(&str) -> String,
    /// Formats a number as a string of the given number of bits.
    pub(super) number: fn(&str, u32) -> String,
    pub(super) inverted: fn(&str) -> String,
    /// Converts a string of bits to bytes.
    pub(super) bytes: fn(&str) -> String,
}

/// An SQL function that returns a bound.
#[derive(Clone)]
pub(super) struct BoundFunction {
    pub(super) suffix: &'static str,
    /// The name of the time argument: `moment` for a start, or `before` for an end.
    pub(super) argument: &'static str,
    pub(super) body: String,
    pub(super) comment: String,
}

impl BoundFunction {
    /// Returns the function for the lowest or the highest ID of the times from a start on, or before an end.
    ///
    /// The lowest ID of an inverted timestamp is at the end of a span. Its functions have other names, so that a query with
    /// `BETWEEN lowest(start) AND highest(end)` fails. With the same names, it would find no rows.
    pub(super) fn new(is_highest: bool, is_start: bool, description: &str, body: String) -> Self {
        let (suffix, argument) = match (is_highest, is_start) {
            (false, true) => ("lowest", "moment"),
            (true, false) => ("highest", "before"),
            (false, false) => ("lowest_before", "before"),
            (true, true) => ("highest_from", "moment"),
        };
        let end = if is_highest { "highest" } else { "lowest" };
        let when =
            if is_start { "the time `moment` or later" } else { "a time earlier than `before`" };
        let comment =
            format!("The {end} {description} of {when}. A time outside the format is an error.");
        Self { suffix, argument, body, comment }
    }
}

impl Bounds {
    /// Returns the functions for the lowest and the highest ID in a time range.
    pub(super) fn bound_functions(
        &self,
        time: &Time,
        bits: Option<&BitStrings>,
    ) -> [BoundFunction; 2] {
        [(&self.lowest, false), (&self.highest, true)].map(|(rest, is_highest)| {
            let is_start = is_highest == time.field.invert;
            let tick = time.end(is_start);
            let body = match bits {
                None => self.word(time, &tick, rest),
                Some(bits) => self.bytes(time, &tick, rest, bits),
            };
            BoundFunction::new(is_highest, is_start, "ID", body)
        })
    }

    /// Returns an expression for a bound of integer IDs, given an expression for the tick and the bits of the other fields.
    pub(super) fn word(&self, time: &Time, tick: &str, rest: &str) -> String {
        let (placed, sign) = shifted_tick(&time.field, tick);
        let rest = u64::from_str_radix(rest, 2).unwrap_or_default().cast_signed();
        let rest = Some(rest | sign).filter(|rest| *rest != 0).map(literal);
        let above = self.above.iter().filter(|field| field.bits > 0);
        let above = above.map(|field| shifted_value(field, &checked_value(field)));
        let others: Vec<_> = rest.into_iter().chain(above).collect();
        if others.is_empty() {
            return placed;
        }
        let placed = if time.field.shift() == 0 { placed } else { format!("({placed})") };
        format!("{placed} | {}", others.join(" | "))
    }

    /// Returns an expression for a bound of byte IDs. The expression concatenates bit strings, starting with the most
    /// significant bits.
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
                Kind::Integer => (bits.number)(&checked_value(field), field.bits),
                _ => checked_value(field),
            };
            parts.push(if field.invert { (bits.inverted)(&value) } else { value });
        }
        if done < rest.len() {
            parts.push((bits.constant)(&rest[done..]));
        }
        (bits.bytes)(&parts.join(" || "))
    }

    /// Returns the additional arguments of the functions. These arguments are the values of bindable fields.
    pub(super) fn arguments(&self) -> Vec<Argument> {
        let argument = |field: &Field| (identifier(&field.name), field.sql_type());
        self.above.iter().map(argument).collect()
    }
}

/// Returns an expression for the value of a bindable field above the timestamp. The expression fails if the value does not
/// fit.
fn checked_value(field: &Field) -> String {
    let function = match field.kind {
        Kind::Integer | Kind::Wide => "fit",
        Kind::Bytes => "fit_bytes",
        Kind::Text => "fit_text",
    };
    let name = identifier(&field.name);
    format!("flake.{function}({name}, {}, {})", field.bits, quote(&field.name))
}

/// Returns an expression for a tick that is shifted to the timestamp's position in an integer ID. Also returns a mask of
/// the ID's bits that the timestamp sets for every tick.
fn shifted_tick(field: &Field, tick: &str) -> (String, i64) {
    let (shift, bits) = (field.shift(), field.bits);
    // If the timestamp field includes the ID's sign bit, ticks use only the lower half of the field's range. If the field
    // is also inverted, the sign bit is set in all of its values.
    let is_top = field.first == 0;
    let most = mask(if is_top { bits - 1 } else { bits });
    let tick = if field.invert { format!("({most} - {tick})") } else { tick.into() };
    let placed = if shift == 0 { tick } else { format!("{tick} << {shift}") };
    (placed, if field.invert && is_top { i64::MIN } else { 0 })
}

/// Returns an expression for the value of a bindable field at its position in an integer. The sign bit is handled
/// separately, because one of the databases reports an overflow if a shift changes the sign bit.
fn shifted_value(field: &Field, value: &str) -> String {
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
