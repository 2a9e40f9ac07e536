//! The ID type, with its fields and its conversions to bytes and integers.

use super::{
    LAST_SEQUENCE, RANDOM, SCALE, SEQUENCE_HIGH, SEQUENCE_LOW, TIMESTAMP, VARIANT, VERSION,
    WORKER_ID,
};
use crate::{Error, ErrorKind, Result, UnixTime, format::Ticks, narrow};

/// The fields of an ID.
///
/// ```
/// use polyflake::uuid7::{Parts, Uuid7};
///
/// let parts = Uuid7::parse("017f22e2-79b0-7cc3-98c4-dc0c0c07398f")?.parts();
/// let (unix_ms, sequence, random) = (1_645_557_742_000, 0x330d8, 0xc4_dc0c_0c07_398f);
/// assert_eq!(parts, Parts { unix_ms, sequence, random });
/// # Ok::<(), polyflake::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(deny_unknown_fields)
)]
pub struct Parts {
    /// The creation time in Unix milliseconds, 0..=281474976710655.
    pub unix_ms: i64,
    /// The 18-bit sequence, 0..=262143. In UUIDs from other libraries, these bits may have another meaning.
    pub sequence: u32,
    /// The 56 bits after the sequence. If the generator has a worker ID, it is in the highest 16 of these bits.
    pub random: u64,
}

/// A version 7 UUID. The value always has this version and the variant of RFC 9562.
///
/// ```
/// use polyflake::uuid7::Uuid7;
///
/// let id = Uuid7::parse("017f22e2-79b0-7cc3-98c4-dc0c0c07398f")?; // the example of RFC 9562
/// assert_eq!(id.unix_ms(), 1_645_557_742_000);
/// assert!(Uuid7::parse("919108f7-52d1-4320-9bac-f847db4148a8").is_err()); // version 4
/// # Ok::<(), polyflake::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Uuid7([u8; Uuid7::LEN]);

/// An ID in which only the version and the variant are set.
const VERSION_AND_VARIANT: u128 = VERSION.insert(7) | VARIANT.insert(0b10);
/// The bits that contain the version and the variant.
const VERSION_AND_VARIANT_MASK: u128 =
    VERSION.insert(VERSION.max()) | VARIANT.insert(VARIANT.max());

impl Uuid7 {
    /// The length of an ID in bytes.
    pub const LEN: usize = 16;
    /// The lowest ID: all fields are 0.
    pub const MIN: Self = Self(VERSION_AND_VARIANT.to_be_bytes());
    /// The highest ID: all fields have their maximum value.
    pub const MAX: Self = Self((!VERSION_AND_VARIANT_MASK | VERSION_AND_VARIANT).to_be_bytes());

    /// Creates an ID from its fields.
    ///
    /// ```
    /// use polyflake::uuid7::{Parts, Uuid7};
    ///
    /// let parts = Parts { unix_ms: 1_767_225_600_000, sequence: 1, random: 2 };
    /// assert_eq!(Uuid7::from_parts(parts)?.to_string(), "019b76da-a800-7000-8100-000000000002");
    /// assert!(Uuid7::from_parts(Parts { unix_ms: -1, ..parts }).is_err()); // before 1970
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns `time_out_of_range` if the time is out of range, or `out_of_range` if the sequence or the random bits are
    /// out of range.
    pub fn from_parts(parts: Parts) -> Result<Self> {
        let Parts { unix_ms, sequence, random } = parts;
        let tick = SCALE.tick_of(UnixTime::from_ms(unix_ms))?;
        Error::check_range("sequence", sequence, 0..=LAST_SEQUENCE)?;
        Error::check_range("random", random, 0..=RANDOM.max())?;
        Ok(Self::pack(tick, sequence.into(), random))
    }

    /// Returns the ID with the given fields. Each value must fit in its field.
    #[inline]
    pub(super) const fn pack(unix_ms: u64, sequence: u64, random: u64) -> Self {
        let word = TIMESTAMP.insert(unix_ms)
            | SEQUENCE_HIGH.insert(sequence >> SEQUENCE_LOW.bits())
            | SEQUENCE_LOW.insert(sequence & SEQUENCE_LOW.max())
            | RANDOM.insert(random)
            | VERSION_AND_VARIANT;
        Self(word.to_be_bytes())
    }

    /// Returns the ID with the given time and 74 bits from a source of random bytes. See
    /// [`generate_at`](super::generate_at).
    ///
    /// This function is not part of the public API. It exists for the JavaScript binding, whose modules have no random bytes
    /// of their own.
    #[cfg(any(feature = "std", feature = "internals"))]
    #[doc(hidden)]
    pub fn at_random(time: impl Into<UnixTime>, draw: fn() -> Result<[u8; 32]>) -> Result<Self> {
        let tick = SCALE.tick_of(time.into())?;
        let bytes = draw()?;
        let [sequence, random] =
            [0, 8].map(|at| u64::from_le_bytes(*bytes[at..].first_chunk().expect("32 bytes")));
        Ok(Self::pack(tick, sequence & u64::from(LAST_SEQUENCE), random & RANDOM.max()))
    }

    /// Returns all fields of the ID.
    ///
    /// ```
    /// use polyflake::uuid7::Uuid7;
    ///
    /// let id = Uuid7::parse("017f22e2-79b0-7cc3-98c4-dc0c0c07398f")?;
    /// assert_eq!(Uuid7::from_parts(id.parts())?, id);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn parts(self) -> Parts {
        Parts { unix_ms: self.unix_ms(), sequence: self.sequence(), random: self.random() }
    }

    /// Returns the creation time in Unix milliseconds.
    ///
    /// ```
    /// use polyflake::uuid7::Uuid7;
    ///
    /// let id = Uuid7::parse("017f22e2-79b0-7cc3-98c4-dc0c0c07398f")?;
    /// assert_eq!(id.unix_ms(), 1_645_557_742_000);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn unix_ms(self) -> i64 {
        SCALE.tick_start_ms(TIMESTAMP.extract(self.to_u128()))
    }

    /// Returns the 18-bit sequence, which determines the order of a generator's IDs within a millisecond. In UUIDs from
    /// other libraries, these bits may have a different meaning.
    ///
    /// ```
    /// use polyflake::uuid7::Generator;
    ///
    /// let ids = Generator::new();
    /// let (first, second) = (ids.generate()?, ids.generate()?);
    /// assert!(second.unix_ms() > first.unix_ms() || second.sequence() == first.sequence() + 1);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn sequence(self) -> u32 {
        let word = self.to_u128();
        narrow::u32(SEQUENCE_HIGH.extract(word) << SEQUENCE_LOW.bits() | SEQUENCE_LOW.extract(word))
    }

    /// Returns the 56 bits after the sequence. In IDs of a generator with a worker ID, the highest 16 of these bits are the
    /// worker ID, which [`worker_id`] returns.
    ///
    /// ```
    /// use polyflake::uuid7::Uuid7;
    ///
    /// let id = Uuid7::parse("017f22e2-79b0-7cc3-98c4-dc0c0c07398f")?;
    /// assert_eq!(id.random(), 0xc4_dc0c_0c07_398f);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn random(self) -> u64 {
        RANDOM.extract(self.to_u128())
    }

    /// Creates an ID from its 16 bytes in the byte order of RFC 9562, as in `uuid::Uuid`.
    ///
    /// ```
    /// use polyflake::uuid7::Uuid7;
    ///
    /// let uuid = uuid::uuid!("017f22e2-79b0-7cc3-98c4-dc0c0c07398f");
    /// assert_eq!(Uuid7::from_bytes(uuid.into_bytes())?.unix_ms(), 1_645_557_742_000);
    /// assert_eq!(Uuid7::from_bytes([0; 16]).unwrap_err().code(), "not_canonical");
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns `not_canonical` if the UUID has a different version or variant.
    pub fn from_bytes(bytes: [u8; Self::LEN]) -> Result<Self> {
        Self::from_bytes_checked(bytes).ok_or_else(wrong_version)
    }

    /// Returns the ID with the given bytes, or `None` if their version or variant is wrong.
    pub(super) const fn from_bytes_checked(bytes: [u8; Self::LEN]) -> Option<Self> {
        if u128::from_be_bytes(bytes) & VERSION_AND_VARIANT_MASK == VERSION_AND_VARIANT {
            Some(Self(bytes))
        } else {
            None
        }
    }

    /// Returns the ID with the given bytes, after replacing their version and variant.
    #[cfg(feature = "arbitrary")]
    pub(super) const fn from_random_bytes(bytes: [u8; Self::LEN]) -> Self {
        Self(
            (u128::from_be_bytes(bytes) & !VERSION_AND_VARIANT_MASK | VERSION_AND_VARIANT)
                .to_be_bytes(),
        )
    }

    /// Creates an ID from a 16-byte slice in the byte order of RFC 9562.
    ///
    /// ```
    /// use polyflake::uuid7::Uuid7;
    ///
    /// let id = Uuid7::parse("017f22e2-79b0-7cc3-98c4-dc0c0c07398f")?;
    /// assert_eq!(Uuid7::from_slice(&id.to_bytes())?, id);
    /// assert_eq!(Uuid7::from_slice(&[0; 10]).unwrap_err().to_string(), "expected length 16, found 10");
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns `invalid_length` if the slice has the wrong length, or the same error as [`Uuid7::from_bytes`].
    pub fn from_slice(bytes: &[u8]) -> Result<Self> {
        let wrong = |_| Error::invalid_length(bytes.len(), Self::LEN, Self::LEN);
        Self::from_bytes(bytes.try_into().map_err(wrong)?)
    }

    /// Returns the 16 bytes in the byte order of RFC 9562, which is the order of the string.
    ///
    /// ```
    /// use polyflake::uuid7::Uuid7;
    ///
    /// let id = Uuid7::parse("017f22e2-79b0-7cc3-98c4-dc0c0c07398f")?;
    /// assert_eq!(id.to_bytes()[..6], [0x01, 0x7f, 0x22, 0xe2, 0x79, 0xb0]);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    #[inline]
    pub const fn to_bytes(self) -> [u8; Self::LEN] {
        self.0
    }

    pub(super) const fn as_bytes(&self) -> &[u8; Self::LEN] {
        &self.0
    }

    /// Creates an ID from a 128-bit integer.
    ///
    /// ```
    /// use polyflake::uuid7::Uuid7;
    ///
    /// let id = Uuid7::from_u128(0x017f22e2_79b0_7cc3_98c4_dc0c0c07398f)?;
    /// assert_eq!(id.to_string(), "017f22e2-79b0-7cc3-98c4-dc0c0c07398f");
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns `not_canonical` if the UUID has a different version or variant.
    pub fn from_u128(word: u128) -> Result<Self> {
        Self::from_bytes(word.to_be_bytes())
    }

    /// Returns the ID as a 128-bit integer, which sorts like the ID.
    ///
    /// ```
    /// use polyflake::uuid7::Uuid7;
    ///
    /// let id = Uuid7::parse("017f22e2-79b0-7cc3-98c4-dc0c0c07398f")?;
    /// assert_eq!(id.to_u128(), 0x017f22e2_79b0_7cc3_98c4_dc0c0c07398f);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    #[inline]
    pub const fn to_u128(self) -> u128 {
        u128::from_be_bytes(self.0)
    }

    /// Returns the lowest and the highest ID in the half-open time range `start .. end`. Both IDs belong to the range, so
    /// you can use them directly in `BETWEEN` queries. `start` and `end` are Unix milliseconds or `SystemTime`s. An ID is
    /// in the range if its millisecond starts within the range, even if a different library generated the ID.
    ///
    /// ```
    /// use polyflake::uuid7::Uuid7;
    ///
    /// let (lowest, highest) = Uuid7::time_range(1_767_225_600_000, 1_767_312_000_000)?; // all of 2026-01-01
    /// let id = Uuid7::parse("019b76da-a800-7000-8100-000000000002")?;
    /// assert!((lowest..=highest).contains(&id)); // SELECT ... WHERE id BETWEEN lowest AND highest
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns `time_out_of_range` if a bound is before 1970 or past the format's last millisecond. Returns `out_of_range`
    /// if the range is reversed or contains no millisecond.
    pub fn time_range(
        start: impl Into<UnixTime>,
        end: impl Into<UnixTime>,
    ) -> Result<(Self, Self)> {
        let ticks = SCALE.ticks_in_range(start.into(), end.into())?;
        let highest = Self::pack(ticks.end - 1, LAST_SEQUENCE.into(), RANDOM.max());
        Ok((Self::pack(ticks.start, 0, 0), highest))
    }
}

/// Uses the lowest ID, [`Uuid7::MIN`], as the default value.
impl Default for Uuid7 {
    fn default() -> Self {
        Self::MIN
    }
}

#[cold]
pub(super) fn wrong_version() -> Error {
    let reason = &"expected a UUID of version 7 and RFC 9562's variant, found another";
    Error::with_static_reason(ErrorKind::NotCanonical, reason)
}

/// Returns the worker ID that an ID contains in the highest 16 of the 56 bits after the sequence. If the generator of the
/// ID has no worker ID, these bits are random. An ID does not reveal whether it contains a worker ID.
///
/// ```
/// use polyflake::uuid7::{Generator, worker_id};
///
/// let ids = Generator::builder().worker_id(42).build()?;
/// assert_eq!(worker_id(ids.generate()?), 42);
/// # Ok::<(), polyflake::Error>(())
/// ```
pub fn worker_id(id: Uuid7) -> u16 {
    narrow::u16(WORKER_ID.extract(id.random().into()))
}

#[cfg(feature = "uuid")]
impl From<Uuid7> for uuid::Uuid {
    fn from(id: Uuid7) -> Self {
        Self::from_bytes(id.to_bytes())
    }
}

/// Checks the version and the variant, as [`Uuid7::from_bytes`] does.
#[cfg(feature = "uuid")]
impl TryFrom<uuid::Uuid> for Uuid7 {
    type Error = Error;
    fn try_from(uuid: uuid::Uuid) -> Result<Self> {
        Self::from_bytes(uuid.into_bytes())
    }
}
