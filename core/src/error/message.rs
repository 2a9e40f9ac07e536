//! The message of an error: lower case, no full stop, expected and found.

use core::fmt::{self, Write as _};

use super::{
    Error, ErrorKind,
    decimal::Decimal,
    facts::{Detail, Progress},
};

// Few format strings in all: browsers load this code.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.kind();
        if let Progress::Item(item) = self.0.progress() {
            write!(f, "item {item}: ")?;
        }
        match self.0.detail() {
            Detail::None => self.plain(f),
            Detail::Reason(reason) => f.write_str(reason),
            Detail::RetryAt(unix_ms) => write!(f, "{}: retry at {unix_ms} ms", kind.meaning()),
            Detail::Character { position, unit } => {
                f.write_str(kind.meaning())?;
                unit.map_or(Ok(()), |unit| write_unit(f, unit))?;
                write!(f, " at position {position}")
            }
            Detail::Range { value, least, most } if least == most => {
                let [expected, found] = [least, value].map(Decimal);
                write!(f, "expected {} {expected}, found {found}", self.subject())
            }
            Detail::Range { value, least, most } => {
                let [least, most, value] = [least, most, value].map(Decimal);
                write!(f, "expected {} from {least} to {most}, found {value}", self.subject())
            }
            #[cfg(feature = "alloc")]
            Detail::Misfit { bits, value } => {
                write!(f, "expected {} of at most {bits} bits, found {value}", self.subject())
            }
            Detail::Type { expected, found } => {
                f.write_str("expected ")?;
                f.write_str(expected)?;
                self.of_field(f)?;
                f.write_str(", found ")?;
                f.write_str(found)
            }
            Detail::Multiple { found, of } => {
                self.length(f, found, format_args!("a multiple of {of} bytes"))
            }
            Detail::Length { found, least, .. } if kind == ErrorKind::InvalidSecret => {
                self.length(f, found, format_args!("a secret of {least} bytes"))
            }
            Detail::Length { found, least, most } if least == most => {
                self.length(f, found, format_args!("length {least}"))
            }
            Detail::Length { found, least, most: usize::MAX } => {
                self.length(f, found, format_args!("length {least} or more"))
            }
            Detail::Length { found, least, most } => {
                self.length(f, found, format_args!("length {least} to {most}"))
            }
        }
    }
}

impl Error {
    fn plain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, of) = match (self.field().is_some(), self.kind()) {
            (true, ErrorKind::InvalidCharacter) => ("expected UTF-8", " for"),
            (_, ErrorKind::UnknownField) => (self.kind().meaning(), ""),
            (_, ErrorKind::MissingField) => (self.kind().meaning(), " for field"),
            _ => (self.kind().meaning(), " for"),
        };
        f.write_str(what)?;
        self.field().map_or(Ok(()), |field| write!(f, "{of} `{field}`"))
    }

    fn length(
        &self,
        f: &mut fmt::Formatter<'_>,
        found: usize,
        expected: fmt::Arguments<'_>,
    ) -> fmt::Result {
        write!(f, "expected {expected}")?;
        self.of_field(f)?;
        write!(f, ", found {found}")
    }

    /// The quantity that a range limits.
    fn subject(&self) -> &str {
        self.field().unwrap_or("a value")
    }

    /// The field, after what was expected of it.
    fn of_field(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.field().map_or(Ok(()), |field| write!(f, " for `{field}`"))
    }
}

/// Writes a bad character, in the form that [`Error::bad_character`] takes: itself if it is printable ASCII, else its number.
/// The library's tables of all printable characters would add 5 KB.
fn write_unit(f: &mut fmt::Formatter<'_>, unit: u32) -> fmt::Result {
    if let Ok(byte @ b' '..=b'~') = u8::try_from(unit) {
        return write!(f, " '{}'", char::from(byte));
    }
    let (name, number) = if unit > 0x10_ffff { (" byte 0x", unit & 0xff) } else { (" U+", unit) };
    let digits = if number > 0xffff { 6 } else { 4 };
    f.write_str(name)?;
    for digit in (0..digits).rev() {
        f.write_char(char::from(b"0123456789ABCDEF"[(number >> (4 * digit)) as usize & 15]))?;
    }
    Ok(())
}
