//! The message of an error: lower case, no full stop, expected and found.

use core::fmt;

use super::{
    Error, ErrorKind,
    facts::{Detail, Progress},
    words::{Words, hex, put, words},
};

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.put(f)
    }
}

impl Error {
    /// Writes the message without the standard library's formatting, which wasm modules do without.
    ///
    /// Not part of the public API: for bindings.
    ///
    /// # Errors
    /// The errors of `f`.
    #[doc(hidden)]
    pub fn put(&self, f: &mut dyn fmt::Write) -> fmt::Result {
        let kind = self.kind();
        if let Progress::Item(item) = self.0.progress() {
            put(f, words!("item {}: ", item))?;
        }
        match self.0.detail() {
            Detail::None => self.plain(f),
            Detail::Reason(reason) => f.write_str(reason),
            Detail::RetryAt(unix_ms) => {
                let unix_ms = i128::from(unix_ms);
                put(f, words!("{}: retry at {} ms", kind.meaning(), &unix_ms))
            }
            Detail::Character { position, unit } => {
                f.write_str(kind.meaning())?;
                unit.map_or(Ok(()), |unit| write_unit(f, unit))?;
                put(f, words!(" at position {}", position))
            }
            Detail::Range { value, least, most } if least == most => {
                put(f, words!("expected {} {}, found {}", self.subject(), &least, &value))
            }
            Detail::Range { value, least, most } => {
                put(f, words!("expected {} from {} to {}", self.subject(), &least, &most))?;
                put(f, words!(", found {}", &value))
            }
            #[cfg(feature = "alloc")]
            Detail::Misfit { bits, value } => {
                let subject = self.subject();
                put(f, words!("expected {} of at most {} bits, found {}", subject, bits, value))
            }
            Detail::Type { expected, found } => {
                put(f, words!("expected {}", expected))?;
                self.of_field(f)?;
                put(f, words!(", found {}", found))
            }
            Detail::Multiple { found, of } => {
                self.length(f, found, words!("a multiple of {} bytes", of))
            }
            Detail::Length { found, least, .. } if kind == ErrorKind::InvalidSecret => {
                self.length(f, found, words!("a secret of {} bytes", least))
            }
            Detail::Length { found, least, most } if least == most => {
                self.length(f, found, words!("length {}", least))
            }
            Detail::Length { found, least, most: usize::MAX } => {
                self.length(f, found, words!("length {} or more", least))
            }
            Detail::Length { found, least, most } => {
                self.length(f, found, words!("length {} to {}", least, most))
            }
        }
    }
}

impl Error {
    fn plain(&self, f: &mut dyn fmt::Write) -> fmt::Result {
        let (what, of) = match (self.field().is_some(), self.kind()) {
            (true, ErrorKind::InvalidCharacter) => ("expected UTF-8", " for"),
            (_, ErrorKind::UnknownField) => (self.kind().meaning(), ""),
            (_, ErrorKind::MissingField) => (self.kind().meaning(), " for field"),
            _ => (self.kind().meaning(), " for"),
        };
        f.write_str(what)?;
        self.field().map_or(Ok(()), |field| put(f, words!("{} `{}`", of, field)))
    }

    fn length(&self, f: &mut dyn fmt::Write, found: usize, expected: Words<'_>) -> fmt::Result {
        f.write_str("expected ")?;
        put(f, expected)?;
        self.of_field(f)?;
        put(f, words!(", found {}", found))
    }

    /// The quantity that a range limits.
    fn subject(&self) -> &str {
        self.field().unwrap_or("a value")
    }

    /// The field, after what was expected of it.
    fn of_field(&self, f: &mut dyn fmt::Write) -> fmt::Result {
        self.field().map_or(Ok(()), |field| put(f, words!(" for `{}`", field)))
    }
}

/// Writes a bad character, in the form that [`Error::bad_character`] takes: itself if it is printable ASCII, else its number.
/// The library's tables of all printable characters would add 5 KB.
fn write_unit(f: &mut dyn fmt::Write, unit: u32) -> fmt::Result {
    if let Ok(byte @ b' '..=b'~') = u8::try_from(unit) {
        f.write_str(" '")?;
        f.write_char(char::from(byte))?;
        return f.write_str("'");
    }
    let (name, number) = if unit > 0x10_ffff { (" byte 0x", unit & 0xff) } else { (" U+", unit) };
    f.write_str(name)?;
    hex(f, number, if number > 0xffff { 6 } else { 4 }, true)
}
