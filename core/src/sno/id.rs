//! The ID type, with its fields, its bytes and its string form.

use super::SCALE;
use crate::{
    Error, Result, UnixTime, base32,
    format::{Span, Text, Ticks, impl_byte_id},
    narrow,
};

pub(super) const FIELDS: [Span; 5] = Span::split([39, 1, 8, 16, 16]);
const TICK: Span = FIELDS[0];
const TICK_TOCK: Span = FIELDS[1];
const METABYTE: Span = FIELDS[2];
const PARTITION: Span = FIELDS[3];
const SEQUENCE: Span = FIELDS[4];

/// A sno ID, which consists of 10 big-endian bytes. An encoded ID has 16 characters from `[2-9a-x]`.
///
/// IDs sort in the same order as their bytes, their strings and their times. A slice of IDs has the same memory layout as
/// the packed bytes of the IDs.
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

// A `Result<Sno>` must not be larger than the `Error` that it can contain.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Result<Sno>>() <= 32);

/// The fields of a [`Sno`].
///
/// ```
/// use polyflake::sno::{Parts, Sno};
///
/// let parts = Sno::parse("9d5ve8222622g222")?.parts();
/// assert_eq!(parts, Parts { tick: 126_230_400_000, tick_tock: false, metabyte: 1, partition: 7, sequence: 0 });
/// # Ok::<(), polyflake::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(deny_unknown_fields)
)]
pub struct Parts {
    /// The time, as a 39-bit number of 4 ms units since 2010-01-01T00:00:00Z.
    pub tick: u64,
    /// The tick-tock bit, which flips on each clock rollback.
    pub tick_tock: bool,
    /// The metabyte: a byte whose meaning you choose, for example the type of the object that the ID identifies.
    pub metabyte: u8,
    /// The partition of the generator that generated the ID.
    pub partition: u16,
    /// The sequence number of the ID within its tick.
    pub sequence: u16,
}

impl Sno {
    /// The length of an ID in bytes.
    pub const LEN: usize = 10;
    /// The length of an encoded ID in characters.
    pub const TEXT_LEN: usize = 16;

    /// Parses a string of 16 characters from `[2-9a-x]`.
    ///
    /// ```
    /// use polyflake::sno::Sno;
    ///
    /// assert_eq!(Sno::parse("9d5ve8222622g222")?.partition(), 7);
    /// let error = Sno::parse("9D5ve8222622g222").unwrap_err(); // upper case is not in the alphabet
    /// assert_eq!((error.code(), error.position()), ("invalid_character", Some(1)));
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns `invalid_length` if the string has the wrong length, or `invalid_character` with the position of the first
    /// invalid character.
    #[inline]
    pub fn parse(text: &str) -> Result<Self> {
        match text.as_bytes().first_chunk() {
            // If 16 bytes decode successfully, they are 16 ASCII characters. A string that cannot be decoded may have fewer
            // characters than bytes, in which case the error states that the length is wrong.
            Some(bytes) if text.len() == Self::TEXT_LEN => {
                base32::decode(bytes).map(Self).ok_or_else(|| decode_error(text))
            }
            _ => Err(decode_error(text)),
        }
    }

    /// Creates an ID from its 10 bytes. Any 10 bytes are a valid ID.
    ///
    /// ```
    /// use polyflake::sno::Sno;
    ///
    /// assert_eq!(Sno::from_bytes(*b"\x3a\xc7\xd6\x18\0\x01\0\x07\0\0").to_string(), "9d5ve8222622g222");
    /// ```
    pub const fn from_bytes(bytes: [u8; Self::LEN]) -> Self {
        Self(bytes)
    }

    /// Creates an ID from a 10-byte slice.
    ///
    /// ```
    /// use polyflake::sno::Sno;
    ///
    /// let row = [0x3a, 0xc7, 0xd6, 0x18, 0, 1, 0, 7, 0, 0]; // as a database client returns it
    /// assert_eq!(Sno::from_slice(&row)?.metabyte(), 1);
    /// assert_eq!(Sno::from_slice(&row[1..]).unwrap_err().to_string(), "expected length 10, found 9");
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns `invalid_length` if the slice has the wrong length.
    pub fn from_slice(bytes: &[u8]) -> Result<Self> {
        let exact = bytes
            .try_into()
            .map_err(|_| Error::invalid_length(bytes.len(), Self::LEN, Self::LEN))?;
        Ok(Self(exact))
    }

    /// Creates an ID from its fields.
    ///
    /// ```
    /// use polyflake::sno::{Parts, Sno};
    ///
    /// let parts = Parts { tick: 126_230_400_000, tick_tock: false, metabyte: 1, partition: 7, sequence: 0 };
    /// assert_eq!(Sno::from_parts(parts)?.to_string(), "9d5ve8222622g222");
    /// assert_eq!(Sno::from_parts(Parts { tick: 1 << 39, ..parts }).unwrap_err().field(), Some("tick"));
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns `out_of_range` if the tick has more than 39 bits.
    pub fn from_parts(parts: Parts) -> Result<Self> {
        Error::check_range("tick", parts.tick, 0..=TICK.max())?;
        Ok(Self::pack(parts))
    }

    /// Packs parts into an ID. The tick must fit in its field.
    #[inline]
    pub(super) const fn pack(parts: Parts) -> Self {
        Self::from_word(
            TICK.insert(parts.tick)
                | TICK_TOCK.insert(parts.tick_tock as u64)
                | METABYTE.insert(parts.metabyte as u64)
                | PARTITION.insert(parts.partition as u64)
                | SEQUENCE.insert(parts.sequence as u64),
        )
    }

    /// Returns the 10 bytes, which sort by time.
    ///
    /// ```
    /// use polyflake::sno::Sno;
    ///
    /// let (early, late) = (Sno::parse("9d5ve8222622g222")?, Sno::parse("9d5ve8242622g222")?);
    /// assert!(early.to_bytes() < late.to_bytes());
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub const fn to_bytes(self) -> [u8; Self::LEN] {
        self.0
    }

    /// Returns a reference to the 10 bytes, which sort by time.
    ///
    /// ```
    /// use polyflake::sno::Sno;
    ///
    /// let id = Sno::parse("9d5ve8222622g222")?;
    /// assert_eq!(id.as_bytes().len(), Sno::LEN); // a parameter for a column of type BYTEA or BINARY(10)
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub const fn as_bytes(&self) -> &[u8; Self::LEN] {
        &self.0
    }

    /// Returns the ID as a string, without allocating.
    ///
    /// ```
    /// use polyflake::sno::Sno;
    ///
    /// let text = Sno::parse("9d5ve8222622g222")?.text(); // no heap allocation, unlike `to_string`
    /// assert_eq!(text.as_str(), "9d5ve8222622g222");
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    #[inline]
    pub fn text(&self) -> Text<{ Self::TEXT_LEN }> {
        // SAFETY: the encoder writes characters of the alphabet, which are ASCII.
        #[allow(unsafe_code)]
        unsafe {
            Text::new_unchecked(base32::encode(&self.0), Self::TEXT_LEN)
        }
    }

    /// Returns all fields of the ID.
    ///
    /// ```
    /// use polyflake::sno::Sno;
    ///
    /// let parts = Sno::parse("9d5ve8222622g222")?.parts();
    /// assert_eq!((parts.metabyte, parts.partition, parts.sequence), (1, 7, 0));
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn parts(&self) -> Parts {
        Parts {
            tick: self.tick(),
            tick_tock: self.tick_tock(),
            metabyte: self.metabyte(),
            partition: self.partition(),
            sequence: self.sequence(),
        }
    }

    /// Returns the start of the ID's tick in Unix milliseconds.
    ///
    /// ```
    /// use polyflake::sno::Sno;
    ///
    /// assert_eq!(Sno::parse("9d5ve8222622g222")?.unix_ms(), 1_767_225_600_000); // 2026-01-01
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub const fn unix_ms(&self) -> i64 {
        SCALE.tick_start_ms(self.tick())
    }

    /// Returns the start of the ID's tick as a `SystemTime`.
    ///
    /// ```
    /// use std::time::{Duration, UNIX_EPOCH};
    ///
    /// use polyflake::sno::Sno;
    ///
    /// let made = Sno::parse("9d5ve8222622g222")?.system_time();
    /// assert_eq!(made.duration_since(UNIX_EPOCH)?, Duration::from_secs(1_767_225_600));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "std")]
    pub fn system_time(&self) -> std::time::SystemTime {
        let since_1970 = core::time::Duration::from_millis(self.unix_ms().cast_unsigned());
        std::time::UNIX_EPOCH + since_1970
    }

    /// Returns the time in 4 ms units since 2010-01-01T00:00:00Z.
    ///
    /// ```
    /// use polyflake::sno::Sno;
    ///
    /// let id = Sno::parse("9d5ve8222622g222")?;
    /// assert_eq!(id.tick(), 126_230_400_000);
    /// assert_eq!(id.unix_ms(), 1_262_304_000_000 + 4 * 126_230_400_000);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub const fn tick(&self) -> u64 {
        TICK.extract(self.word())
    }

    /// Returns the tick-tock bit, which flips on each clock rollback.
    ///
    /// ```
    /// use polyflake::{clock::ManualClock, sno::Builder};
    ///
    /// let clock = ManualClock::at_unix_ms(1_767_225_600_000);
    /// let ids = Builder::with_clock(&clock).partition(7).build()?;
    /// assert!(!ids.generate(1)?.tick_tock());
    /// clock.set_unix_ms(1_767_225_500_000); // the clock moves backwards
    /// assert!(ids.generate(1)?.tick_tock());
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub const fn tick_tock(&self) -> bool {
        TICK_TOCK.extract(self.word()) == 1
    }

    /// Returns the metabyte, whose meaning you choose.
    ///
    /// ```
    /// use polyflake::sno::Sno;
    ///
    /// const USER: u8 = 1;
    /// assert_eq!(Sno::parse("9d5ve8222622g222")?.metabyte(), USER);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub const fn metabyte(&self) -> u8 {
        self.0[5]
    }

    /// Returns the partition of the generator that generated the ID, as an integer. Call `to_be_bytes` on the integer to
    /// get the two bytes.
    ///
    /// ```
    /// use polyflake::sno::Sno;
    ///
    /// let id = Sno::parse("9d5ve8222622g222")?;
    /// assert_eq!((id.partition(), id.partition().to_be_bytes()), (7, [0, 7]));
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub const fn partition(&self) -> u16 {
        u16::from_be_bytes([self.0[6], self.0[7]])
    }

    /// Returns the sequence number of the ID within its tick.
    ///
    /// ```
    /// use polyflake::sno::Generator;
    ///
    /// let ids = Generator::builder().partition(7).sequence_min(1000).build()?;
    /// assert_eq!(ids.generate(1)?.sequence(), 1000); // the first of its tick
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub const fn sequence(&self) -> u16 {
        u16::from_be_bytes([self.0[8], self.0[9]])
    }

    /// Returns a copy of the ID with the given metabyte, for example for a different version or type of the same object.
    ///
    /// ```
    /// use polyflake::sno::Sno;
    ///
    /// let user = Sno::parse("9d5ve8222622g222")?;
    /// let profile = user.with_metabyte(2); // same time and sequence, another type
    /// assert_eq!((profile.metabyte(), profile.unix_ms()), (2, user.unix_ms()));
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    #[must_use]
    pub const fn with_metabyte(mut self, metabyte: u8) -> Self {
        self.0[5] = metabyte;
        self
    }

    /// Returns a copy of the ID with the given partition.
    ///
    /// ```
    /// use polyflake::sno::Sno;
    ///
    /// assert_eq!(Sno::parse("9d5ve8222622g222")?.with_partition(300).partition(), 300);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    #[must_use]
    pub const fn with_partition(mut self, partition: u16) -> Self {
        [self.0[6], self.0[7]] = partition.to_be_bytes();
        self
    }

    /// Returns a copy of the ID with the given sequence number.
    ///
    /// ```
    /// use polyflake::sno::Sno;
    ///
    /// assert_eq!(Sno::parse("9d5ve8222622g222")?.with_sequence(9).sequence(), 9);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    #[must_use]
    pub const fn with_sequence(mut self, sequence: u16) -> Self {
        [self.0[8], self.0[9]] = sequence.to_be_bytes();
        self
    }

    /// Returns the ID as a UUID whose 16 bytes are the 16 ASCII characters of the encoded ID.
    ///
    /// ```
    /// use polyflake::sno::Sno;
    ///
    /// assert_eq!(&Sno::parse("9d5ve8222622g222")?.to_uuid_bytes(), b"9d5ve8222622g222");
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn to_uuid_bytes(&self) -> [u8; Self::TEXT_LEN] {
        base32::encode(&self.0)
    }

    /// Creates an ID from the bytes of a UUID that [`Sno::to_uuid_bytes`] returned.
    ///
    /// ```
    /// use polyflake::sno::Sno;
    ///
    /// let id = Sno::parse("9d5ve8222622g222")?;
    /// assert_eq!(Sno::from_uuid_bytes(id.to_uuid_bytes())?, id);
    /// assert_eq!(Sno::from_uuid_bytes([0; 16]).unwrap_err().position(), Some(0)); // another UUID
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns `invalid_character` with the position of the first byte that is not in `[2-9a-x]`.
    pub fn from_uuid_bytes(bytes: [u8; Self::TEXT_LEN]) -> Result<Self> {
        base32::decode(&bytes).map(Self).ok_or_else(|| base32::decode_error_of_bytes(&bytes))
    }

    /// Returns the lowest and the highest ID in the half-open time range `start .. end`. Both IDs belong to the range, so
    /// you can use them directly in `BETWEEN` queries. `start` and `end` are Unix milliseconds or `SystemTime`s. An ID is
    /// in the range if its tick starts within the range.
    ///
    /// ```
    /// use polyflake::sno::Sno;
    ///
    /// let (lowest, highest) = Sno::time_range(1_767_225_600_000, 1_767_312_000_000)?; // all of 2026-01-01
    /// let id = Sno::parse("9d5ve8222622g222")?;
    /// assert!((lowest..=highest).contains(&id)); // SELECT ... WHERE id BETWEEN lowest AND highest
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns `time_out_of_range` if a bound is before 2010 or after 2079, except that the end may be one tick past the
    /// last tick. Returns `out_of_range` if the range is reversed or contains no tick.
    pub fn time_range(
        start: impl Into<UnixTime>,
        end: impl Into<UnixTime>,
    ) -> Result<(Self, Self)> {
        let ticks = SCALE.ticks_in_range(start.into(), end.into())?;
        let below_end = TICK.insert(ticks.end - 1) | (TICK.insert(1) - 1);
        Ok((Self::from_word(TICK.insert(ticks.start)), Self::from_word(below_end)))
    }

    /// Returns the ID whose bytes are the low 80 bits of a word. This function uses two stores, because the compiler turns
    /// a bytewise copy into a shuffle that costs an extra nanosecond.
    #[inline]
    pub(super) const fn from_word(word: u128) -> Self {
        let mut bytes = [0; Self::LEN];
        let (high, low) = bytes.split_at_mut(8);
        high.copy_from_slice(&narrow::u64(word >> 16).to_be_bytes());
        low.copy_from_slice(&narrow::u16(narrow::low_u64(word) & 0xffff).to_be_bytes());
        Self(bytes)
    }

    pub(super) const fn word(self) -> u128 {
        let [a, b, c, d, e, f, g, h, i, j] = self.0;
        let (high, low) =
            (u64::from_be_bytes([a, b, c, d, e, f, g, h]), u16::from_be_bytes([i, j]));
        (high as u128) << 16 | low as u128
    }
}

/// Returns the error for a string that is not an ID. The length is checked first because a string of 16 bytes with an
/// invalid character may have fewer than 16 characters.
#[cold]
fn decode_error(text: &str) -> Error {
    base32::decode_error(text.chars().map(u32::from))
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

impl_byte_id!(Sno);
