//! Error messages. They are lowercase, have no final period, and state both the expected and the actual value. Names and
//! rejected strings are in backticks, and quantities include their units.

use core::fmt;

use super::{
    Error, ErrorKind,
    fact::{Fact, Progress, UNKNOWN_UNIT, UNLIMITED},
};

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.progress == Progress::Item {
            write!(f, "item {}: ", self.count)?;
        }
        let meaning = self.kind.meaning();
        match self.fact() {
            Fact::Character { position, unit, meant } => {
                write!(f, "{meaning}{} at position {position}", CodeUnit(*unit))?;
                match meant {
                    0 => Ok(()),
                    meant => write!(f, ", did you mean{}?", CodeUnit((*meant).into())),
                }
            }
            Fact::RetryAt(unix_ms) => write!(f, "{meaning}: retry at {unix_ms} ms"),
            Fact::AwaitUntil(unix_ms) => write!(
                f,
                "{meaning}: this thread cannot sleep until {unix_ms} ms, await the asynchronous call"
            ),
            Fact::StoppedClock(unix_ms) => write!(
                f,
                "{meaning}: the clock does not advance to {unix_ms} ms; for a test, use `ManualClock` in Rust, \
                 `test_clock` in Python or `testClock` in JavaScript"
            ),
            Fact::Length { found, least, most: UNLIMITED } => {
                self.write_length(f, *found, (*least).into(), usize::MAX)
            }
            Fact::Length { found, least, most } => {
                self.write_length(f, *found, (*least).into(), (*most).into())
            }
            Fact::LongLength(lengths) => {
                let [found, least, most] = **lengths;
                self.write_length(f, found, least, most)
            }
            Fact::Multiple { found, of } => {
                write!(f, "expected a multiple of {of} bytes{}, found {found}", FieldSuffix(self))
            }
            Fact::TooLarge(_) | Fact::Range(_) => self.write_range(f),
            Fact::Constant(reason) => f.write_str(reason),
            Fact::Reason(reason) => f.write_str(reason),
            Fact::Type(types) => {
                write!(f, "expected {}{}, found {}", types.0, FieldSuffix(self), types.1)
            }
            // `fact` returns the fact inside `Details`, so only `None` reaches this arm.
            Fact::None | Fact::More(_) => self.write_plain(f),
        }
    }
}

impl Error {
    fn write_plain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let meaning = self.kind.meaning();
        match (self.field(), self.kind) {
            (None, _) => f.write_str(meaning),
            (Some(field), ErrorKind::InvalidCharacter) => write!(f, "expected UTF-8 for `{field}`"),
            (Some(field), ErrorKind::UnknownField) => write!(f, "{meaning} `{field}`"),
            (Some(field), ErrorKind::MissingField) => write!(f, "{meaning} for field `{field}`"),
            (Some(field), _) => write!(f, "{meaning} for `{field}`"),
        }
    }

    fn write_length(
        &self,
        f: &mut fmt::Formatter<'_>,
        found: usize,
        least: usize,
        most: usize,
    ) -> fmt::Result {
        match most {
            _ if self.kind == ErrorKind::InvalidSecret => {
                write!(f, "expected a secret of {least} bytes")?;
            }
            most if most == least => write!(f, "expected length {least}")?,
            usize::MAX => write!(f, "expected length {least} or more")?,
            most => write!(f, "expected length {least} to {most}")?,
        }
        write!(f, "{}, found {found}", FieldSuffix(self))
    }

    fn write_range(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (value, least, most) = self.range().unwrap_or_default();
        write!(f, "expected {} ", self.field().unwrap_or("a value"))?;
        if least != most {
            write!(f, "from {least} to ")?;
        }
        let unit = match self.fact() {
            Fact::Range(range) => range.unit,
            _ => "",
        };
        let space = if unit.is_empty() { "" } else { " " };
        write!(f, "{most}{space}{unit}, found {value}")
    }
}

struct FieldSuffix<'e>(&'e Error);

impl fmt::Display for FieldSuffix<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.field().map_or(Ok(()), |field| write!(f, " for `{field}`"))
    }
}

/// Formats an invalid character, in the form that [`Error::invalid_character_unit`] accepts: the character itself if it
/// is printable ASCII, otherwise its number. The standard library's tables of printable characters would add 5 KB to a
/// wasm module.
struct CodeUnit(u32);

impl fmt::Display for CodeUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            UNKNOWN_UNIT => Ok(()),
            unit @ 0x20..=0x7e => write!(f, " `{}`", char::from(unit.to_le_bytes()[0])),
            unit @ 0..=0xffff => write!(f, " U+{unit:04X}"),
            unit @ 0..=0x10_ffff => write!(f, " U+{unit:06X}"),
            // Numbers above the last character represent non-ASCII bytes (see `unit_of_byte`).
            byte => write!(f, " byte 0x{:04X}", byte & 0xff),
        }
    }
}
