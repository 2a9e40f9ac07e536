//! The ID: its parts, its text, its bytes.

use super::SCALE;
use crate::{
    Error, Result, UnixTime, base32,
    format::{Span, Text, Ticks, ascii_of_utf16, byte_id},
};

pub(super) const FIELDS: [Span; 5] = Span::split([39, 1, 8, 16, 16]);
const TICK: Span = FIELDS[0];
const TICK_TOCK: Span = FIELDS[1];
const METABYTE: Span = FIELDS[2];
const PARTITION: Span = FIELDS[3];
const SEQUENCE: Span = FIELDS[4];

/// A sno ID: 10 bytes, big-endian, or 16 characters of `[2-9a-x]`.
///
/// IDs compare as their bytes, their texts and their times do. In memory, a slice of IDs is the IDs' packed bytes.
///
/// ```
/// use polyflake::sno::Sno;
///
/// let id = Sno::parse("93bm44ab22flxhjb")?;
/// assert_eq!(id.metabyte(), 0);
/// assert_eq!(id.with_metabyte(7).metabyte(), 7);
/// assert_eq!(id.to_string(), "93bm44ab22flxhjb");
/// # Ok::<(), polyflake::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(transparent)]
pub struct Sno([u8; Sno::LEN]);

// A result must be no larger than its error.
#[cfg(all(feature = "alloc", target_pointer_width = "64"))]
const _: () = assert!(size_of::<Result<Sno>>() <= 24);

/// The fields of a [`Sno`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Parts {
    /// 4 ms units since 2010-01-01T00:00:00Z: 39 bits.
    pub tick: u64,
    /// A bit that flips when the clock steps back.
    pub tick_tock: bool,
    /// A byte whose meaning you choose, for example the type of the thing that the ID names.
    pub metabyte: u8,
    /// The partition of the generator that made the ID.
    pub partition: u16,
    /// Number of the ID within its tick.
    pub sequence: u16,
}

impl Sno {
    /// Bytes of an ID.
    pub const LEN: usize = 10;
    /// Characters of its text.
    pub const TEXT_LEN: usize = 16;

    /// The ID of a text: 16 characters of `[2-9a-x]`.
    ///
    /// # Errors
    /// `invalid_length` (in characters) or `invalid_character` with the position of the first bad one.
    #[inline]
    pub fn parse(text: &str) -> Result<Self> {
        match text.as_bytes().first_chunk() {
            // 16 bytes that decode are 16 characters. With a bad character they may be fewer, and that error comes first.
            Some(bytes) if text.len() == Self::TEXT_LEN => {
                base32::decode(bytes).map(Self).ok_or_else(|| why_not(text))
            }
            _ => Err(why_not(text)),
        }
    }

    /// As [`Sno::parse`], for UTF-16: length and position are counted in its units.
    ///
    /// Not part of the public API: for bindings.
    #[doc(hidden)]
    pub fn parse_utf16(text: &[u16]) -> Result<Self> {
        let ascii = text.try_into().ok().map(ascii_of_utf16);
        let id = ascii.as_ref().and_then(base32::decode).map(Self);
        id.ok_or_else(|| base32::why_not(text.iter().copied().map(u32::from)))
    }

    /// The ID of 10 bytes; any 10 bytes are an ID.
    pub const fn from_bytes(bytes: [u8; Self::LEN]) -> Self {
        Self(bytes)
    }

    /// The ID of a slice of 10 bytes.
    ///
    /// # Errors
    /// `invalid_length`, in bytes.
    pub fn from_slice(bytes: &[u8]) -> Result<Self> {
        let exact = bytes
            .try_into()
            .map_err(|_| Error::invalid_length(bytes.len(), Self::LEN, Self::LEN))?;
        Ok(Self(exact))
    }

    /// The ID of given fields.
    ///
    /// # Errors
    /// `out_of_range` where the tick has more than 39 bits.
    pub fn from_parts(parts: Parts) -> Result<Self> {
        if parts.tick > TICK.max() {
            return Err(Error::out_of_range("tick", parts.tick.into(), 0, TICK.max().into()));
        }
        Ok(Self::pack(parts))
    }

    /// Packs parts whose tick is known to fit.
    #[inline]
    pub(super) const fn pack(parts: Parts) -> Self {
        Self::of_word(
            TICK.put(parts.tick)
                | TICK_TOCK.put(parts.tick_tock as u64)
                | METABYTE.put(parts.metabyte as u64)
                | PARTITION.put(parts.partition as u64)
                | SEQUENCE.put(parts.sequence as u64),
        )
    }

    /// The 10 bytes, in the order of time.
    pub const fn to_bytes(self) -> [u8; Self::LEN] {
        self.0
    }

    /// The 10 bytes, in the order of time.
    pub const fn as_bytes(&self) -> &[u8; Self::LEN] {
        &self.0
    }

    /// The text, on the stack.
    #[inline]
    pub fn text(&self) -> Text<{ Self::TEXT_LEN }> {
        // SAFETY: the encoder writes characters of the alphabet, which are ASCII.
        #[allow(unsafe_code)]
        unsafe {
            Text::new_unchecked(base32::encode(&self.0), Self::TEXT_LEN)
        }
    }

    /// All fields.
    pub fn parts(&self) -> Parts {
        Parts {
            tick: self.tick(),
            tick_tock: self.tick_tock(),
            metabyte: self.metabyte(),
            partition: self.partition(),
            sequence: self.sequence(),
        }
    }

    /// The start of its tick, in Unix milliseconds.
    pub const fn unix_ms(&self) -> i64 {
        SCALE.ms_of(self.tick())
    }

    /// The start of its tick.
    #[cfg(feature = "std")]
    pub fn system_time(&self) -> std::time::SystemTime {
        let since_1970 = core::time::Duration::from_millis(self.unix_ms().cast_unsigned());
        std::time::UNIX_EPOCH + since_1970
    }

    /// Its time in 4 ms units since 2010-01-01T00:00:00Z.
    pub const fn tick(&self) -> u64 {
        TICK.take(self.word())
    }

    /// The bit that flips when the clock steps back.
    pub const fn tick_tock(&self) -> bool {
        TICK_TOCK.take(self.word()) == 1
    }

    /// The byte whose meaning you choose.
    pub const fn metabyte(&self) -> u8 {
        self.0[5]
    }

    /// The partition of the generator that made it, as an integer; `to_be_bytes` returns its two bytes.
    pub const fn partition(&self) -> u16 {
        u16::from_be_bytes([self.0[6], self.0[7]])
    }

    /// Number of the ID within its tick.
    pub const fn sequence(&self) -> u16 {
        u16::from_be_bytes([self.0[8], self.0[9]])
    }

    /// The same ID with another metabyte, for example of another version or type.
    #[must_use]
    pub const fn with_metabyte(mut self, metabyte: u8) -> Self {
        self.0[5] = metabyte;
        self
    }

    /// The same ID with another partition.
    #[must_use]
    pub const fn with_partition(mut self, partition: u16) -> Self {
        [self.0[6], self.0[7]] = partition.to_be_bytes();
        self
    }

    /// The same ID with another sequence.
    #[must_use]
    pub const fn with_sequence(mut self, sequence: u16) -> Self {
        [self.0[8], self.0[9]] = sequence.to_be_bytes();
        self
    }

    /// The value of a UUID column: the 16 ASCII characters of the text are its 16 bytes.
    pub fn to_uuid_bytes(&self) -> [u8; Self::TEXT_LEN] {
        base32::encode(&self.0)
    }

    /// The ID in a UUID column's value.
    ///
    /// # Errors
    /// `invalid_character` with the position of the first byte that is not in `[2-9a-x]`.
    pub fn from_uuid_bytes(bytes: [u8; Self::TEXT_LEN]) -> Result<Self> {
        base32::decode(&bytes).map(Self).ok_or_else(|| base32::refuse(&bytes))
    }

    /// [`Sno::to_uuid_bytes`] as a [`uuid::Uuid`].
    #[cfg(feature = "uuid")]
    pub fn to_uuid(&self) -> uuid::Uuid {
        uuid::Uuid::from_bytes(self.to_uuid_bytes())
    }

    /// [`Sno::from_uuid_bytes`] of a [`uuid::Uuid`].
    ///
    /// # Errors
    /// As [`Sno::from_uuid_bytes`].
    #[cfg(feature = "uuid")]
    pub fn from_uuid(uuid: uuid::Uuid) -> Result<Self> {
        Self::from_uuid_bytes(uuid.into_bytes())
    }

    /// The lowest and the highest ID (both inclusive) of the half-open time range `start .. end`, in Unix milliseconds or as
    /// `SystemTime`s, for BETWEEN queries. An ID is in the range if its own tick begins in it.
    ///
    /// # Errors
    /// `time_out_of_range` before 2010 or past 2079 (the end may be one tick past the last); `out_of_range` if the
    /// range is reversed or holds no tick.
    pub fn time_range(
        start: impl Into<UnixTime>,
        end: impl Into<UnixTime>,
    ) -> Result<(Self, Self)> {
        let ticks = SCALE.ticks_within(start.into(), end.into())?;
        let below_end = TICK.put(ticks.end - 1) | (TICK.put(1) - 1);
        Ok((Self::of_word(TICK.put(ticks.start)), Self::of_word(below_end)))
    }

    /// The ID of a word's low 80 bits. It writes them in two stores: out of a copy byte by byte, the compiler makes a shuffle that
    /// costs a nanosecond.
    #[inline]
    #[allow(clippy::cast_possible_truncation, reason = "the word's parts")]
    pub(super) const fn of_word(word: u128) -> Self {
        let mut bytes = [0; Self::LEN];
        let (high, low) = bytes.split_at_mut(8);
        high.copy_from_slice(&((word >> 16) as u64).to_be_bytes());
        low.copy_from_slice(&(word as u16).to_be_bytes());
        Self(bytes)
    }

    pub(super) const fn word(self) -> u128 {
        let [a, b, c, d, e, f, g, h, i, j] = self.0;
        let (high, low) =
            (u64::from_be_bytes([a, b, c, d, e, f, g, h]), u16::from_be_bytes([i, j]));
        (high as u128) << 16 | low as u128
    }
}

/// The error for a text that is no ID. A wrong length comes first: a text of 16 bytes with a bad character may have fewer than
/// 16 characters.
#[cold]
fn why_not(text: &str) -> Error {
    base32::why_not(text.chars().map(u32::from))
}

impl From<Sno> for [u8; Sno::LEN] {
    fn from(id: Sno) -> Self {
        id.0
    }
}

impl From<[u8; Sno::LEN]> for Sno {
    fn from(bytes: [u8; Self::LEN]) -> Self {
        Self(bytes)
    }
}

impl AsRef<[u8]> for Sno {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

byte_id!(Sno);
