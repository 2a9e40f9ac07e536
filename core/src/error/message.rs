//! The message of an error: lower case, no full stop, expected and found.

use core::fmt;

use super::{
    Error, ErrorKind,
    fact::{Fact, NO_UNIT, Progress, UNLIMITED, Wide},
};

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.progress == Progress::Item {
            write!(f, "item {}: ", self.count)?;
        }
        match self.wide() {
            None => self.write_short(f),
            Some(Wide::Length { found, least, most }) => {
                self.write_length(f, *found, *least, *most)
            }
            Some(Wide::Misfit { bits, value }) => {
                write!(f, "expected {} of at most {bits} bits, found {value}", self.subject())
            }
            Some(Wide::Reason(reason)) => f.write_str(reason),
            Some(Wide::Type { expected, found }) => {
                write!(f, "expected {expected}{}, found {found}", self.of_field())
            }
            Some(Wide::Mistaken { position, unit, meant }) => {
                let (meaning, unit) = (self.kind.meaning(), Unit(*unit));
                write!(f, "{meaning}{unit} at position {position}, did you mean '{meant}'?")
            }
            Some(Wide::Range { value, least, most }) => self.write_range(f, *value, *least, *most),
            Some(Wide::Short(_)) => Ok(()),
        }
    }
}

impl Error {
    fn write_short(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.kind;
        match *self.fact() {
            Fact::Character { position, unit } => {
                write!(f, "{}{} at position {position}", kind.meaning(), Unit(unit))
            }
            Fact::RetryAt(unix_ms) => write!(f, "{}: retry at {unix_ms} ms", kind.meaning()),
            Fact::Length { found, least, most } => {
                let most = if most == UNLIMITED { usize::MAX } else { most.into() };
                self.write_length(f, found, least.into(), most)
            }
            Fact::Multiple { found, of } => {
                let of_field = self.of_field();
                write!(f, "expected a multiple of {of} bytes{of_field}, found {found}")
            }
            Fact::TooLarge(_) => {
                let (value, least, most) = self.range().unwrap_or_default();
                self.write_range(f, value, least, most)
            }
            Fact::Reason(reason) => f.write_str(reason),
            Fact::None | Fact::More(_) => self.write_plain(f),
        }
    }

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
        write!(f, "{}, found {found}", self.of_field())
    }

    fn write_range(
        &self,
        f: &mut fmt::Formatter<'_>,
        value: i128,
        least: i128,
        most: i128,
    ) -> fmt::Result {
        write!(f, "expected {} ", self.subject())?;
        if least == most {
            write!(f, "{least}, found {value}")
        } else {
            write!(f, "from {least} to {most}, found {value}")
        }
    }

    /// The quantity that a range limits.
    fn subject(&self) -> &str {
        self.field().unwrap_or("a value")
    }

    /// The field, after what was expected of it.
    const fn of_field(&self) -> OfField<'_> {
        OfField(self)
    }
}

struct OfField<'e>(&'e Error);

impl fmt::Display for OfField<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.field().map_or(Ok(()), |field| write!(f, " for `{field}`"))
    }
}

/// A bad character, in the form that [`Error::bad_character`] takes: itself if it is printable ASCII, else its number. The
/// library's tables of all printable characters would add 5 KB to a wasm module.
struct Unit(u32);

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            NO_UNIT => Ok(()),
            unit @ 0x20..=0x7e => write!(f, " '{}'", char::from(unit.to_le_bytes()[0])),
            unit @ 0..=0xffff => write!(f, " U+{unit:04X}"),
            unit @ 0..=0x10_ffff => write!(f, " U+{unit:06X}"),
            byte => write!(f, " byte 0x{:04X}", byte & 0xff),
        }
    }
}
