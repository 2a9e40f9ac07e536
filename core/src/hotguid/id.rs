//! The ID type, including its fields, byte orders and string conversions.

use super::{COUNTER, LAST_COUNTER, MACHINE, SCALE, SHARD_KEY, TIMESTAMP};
use crate::{
    Error, Result, UnixTime,
    format::{Text, Ticks, guid, impl_byte_id},
    narrow,
};

/// The fields of an ID.
///
/// ```
/// use polyflake::hotguid::{HotGuid, Parts};
///
/// let parts = HotGuid::parse("691f29d0-bbaa-ddcc-ee01-0203ffffff7f")?.parts();
/// let machine = [0xaa, 0xbb, 0xcc, 0xdd, 0xee];
/// assert_eq!(parts, Parts { timestamp: 1_763_650_000, machine, counter: 0x01_0203, shard_key: 0x7fff_ffff });
/// # Ok::<(), polyflake::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(deny_unknown_fields)
)]
pub struct Parts {
    /// The creation time in Unix seconds, 0..=4294967295.
    pub timestamp: i64,
    /// The random bytes that identify the generator. The original C# library derives them from the host and the process.
    pub machine: [u8; 5],
    /// The counter, 0..=16777215, which distinguishes IDs generated in the same second. It may start at any value.
    pub counter: u32,
    /// The key that the application uses to route requests to a shard.
    pub shard_key: u32,
}

/// A Hot Guid, a 16-byte ID whose string form sorts by time.
///
/// ```
/// use polyflake::hotguid::HotGuid;
///
/// let id = HotGuid::parse("691f29d0-bbaa-ddcc-ee01-0203ffffff7f")?;
/// assert_eq!(id.timestamp(), 1_763_650_000);
/// assert_eq!(id.shard_key(), 0x7fff_ffff);
/// assert_eq!(&*id.sql_text(), "7fffffff-0302-01ee-ddcc-691f29d0bbaa");
/// # Ok::<(), polyflake::Error>(())
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct HotGuid([u8; HotGuid::LEN]);

/// The 5 machine bytes in the order used within an ID, where the first four bytes are swapped in pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MachineBytes(u64);

impl MachineBytes {
    /// Creates the machine bytes from the low 40 bits of a word. The first byte is the most significant one.
    pub(super) const fn from_word(word: u64) -> Self {
        Self(swap_pairs(word))
    }

    pub(super) const fn to_bytes(self) -> [u8; 5] {
        let [.., m0, m1, m2, m3, m4] = swap_pairs(self.0).to_be_bytes();
        [m0, m1, m2, m3, m4]
    }
}

/// Swaps byte 4 with byte 3 and byte 2 with byte 1 in the low 40 bits, where byte 0 is the lowest. Discards all higher
/// bits.
const fn swap_pairs(word: u64) -> u64 {
    (word & 0x00_ff00_ff00) << 8 | (word >> 8) & 0x00_ff00_ff00 | word & 0xff
}

impl HotGuid {
    /// The length of an ID in bytes.
    pub const LEN: usize = 16;
    /// The length of an encoded ID in characters.
    pub const TEXT_LEN: usize = guid::LENGTH;
    /// The lowest ID: all bits are 0.
    pub const MIN: Self = Self([0; Self::LEN]);
    /// The highest ID: all bits are 1.
    pub const MAX: Self = Self([0xff; Self::LEN]);

    /// Creates an ID from its fields.
    ///
    /// ```
    /// use polyflake::hotguid::{HotGuid, Parts};
    ///
    /// let parts = Parts { timestamp: 1_767_225_600, machine: [0; 5], counter: 0, shard_key: 3 };
    /// assert_eq!(HotGuid::from_parts(parts)?.to_string(), "6955b900-0000-0000-0000-000003000000");
    /// assert!(HotGuid::from_parts(Parts { timestamp: -1, ..parts }).is_err()); // before 1970
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns `time_out_of_range` if the timestamp is out of range, or `out_of_range` if the counter is out of range.
    pub fn from_parts(parts: Parts) -> Result<Self> {
        let Parts { timestamp, machine, counter, shard_key } = parts;
        let seconds = SCALE.tick_of_seconds(timestamp)?;
        Error::check_range("counter", counter, 0..=LAST_COUNTER)?;
        let [m0, m1, m2, m3, m4] = machine;
        let machine = MachineBytes::from_word(u64::from_be_bytes([0, 0, 0, m0, m1, m2, m3, m4]));
        Ok(Self::pack(seconds, machine, counter, shard_key))
    }

    /// Creates an ID from field values. Each value must fit in its field.
    #[inline]
    pub(super) fn pack(seconds: u64, machine: MachineBytes, counter: u32, shard_key: u32) -> Self {
        let word = TIMESTAMP.insert(seconds)
            | MACHINE.insert(machine.0)
            | COUNTER.insert(counter.into())
            | SHARD_KEY.insert(shard_key.swap_bytes().into());
        Self(word.to_be_bytes())
    }

    /// Returns the same ID with a different 24-bit counter.
    #[inline]
    pub(super) fn with_counter(self, counter: u32) -> Self {
        let others = self.word() & !COUNTER.insert(COUNTER.max());
        Self((others | COUNTER.insert(counter.into())).to_be_bytes())
    }

    /// Returns all fields of the ID.
    ///
    /// ```
    /// use polyflake::hotguid::HotGuid;
    ///
    /// let id = HotGuid::parse("691f29d0-bbaa-ddcc-ee01-0203ffffff7f")?;
    /// assert_eq!(HotGuid::from_parts(id.parts())?, id);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn parts(self) -> Parts {
        Parts {
            timestamp: self.timestamp(),
            machine: MachineBytes(MACHINE.extract(self.word())).to_bytes(),
            counter: self.counter(),
            shard_key: self.shard_key(),
        }
    }

    /// Returns the creation time in Unix seconds.
    ///
    /// ```
    /// use polyflake::hotguid::HotGuid;
    ///
    /// assert_eq!(HotGuid::parse("6955b900-0000-0000-0000-000003000000")?.timestamp(), 1_767_225_600);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn timestamp(self) -> i64 {
        TIMESTAMP.extract(self.word()).cast_signed()
    }

    /// Returns the creation time in Unix milliseconds, which is always a multiple of 1000.
    ///
    /// ```
    /// use polyflake::hotguid::HotGuid;
    ///
    /// assert_eq!(HotGuid::parse("6955b900-0000-0000-0000-000003000000")?.unix_ms(), 1_767_225_600_000);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn unix_ms(self) -> i64 {
        SCALE.tick_start_ms(TIMESTAMP.extract(self.word()))
    }

    /// Returns the random bytes that identify the ID's generator.
    ///
    /// ```
    /// use polyflake::hotguid::Generator;
    ///
    /// let (here, there) = (Generator::new(), Generator::new());
    /// assert_eq!(here.generate(3)?.machine(), here.generate(3)?.machine());
    /// assert_ne!(here.generate(3)?.machine(), there.generate(3)?.machine()); // except with a probability of 1 in 2^40
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn machine(self) -> [u8; 5] {
        self.parts().machine
    }

    /// Returns the 24-bit counter, which distinguishes IDs generated in the same second. It may start at any value.
    ///
    /// ```
    /// use polyflake::hotguid::HotGuid;
    ///
    /// assert_eq!(HotGuid::parse("691f29d0-bbaa-ddcc-ee01-0203ffffff7f")?.counter(), 0x01_0203);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn counter(self) -> u32 {
        narrow::u32(COUNTER.extract(self.word()))
    }

    /// Returns the key that the application uses to route requests to a shard.
    ///
    /// ```
    /// use polyflake::hotguid::HotGuid;
    ///
    /// let id = HotGuid::parse("6955b900-0000-0000-0000-000003000000")?;
    /// assert_eq!(id.shard_key() % 16, 3); // one of 16 shards
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn shard_key(self) -> u32 {
        narrow::u32(SHARD_KEY.extract(self.word())).swap_bytes()
    }

    fn word(self) -> u128 {
        u128::from_be_bytes(self.0)
    }

    /// Creates an ID from its 16 bytes in the byte order of the string form, which is also the order of RFC 9562 and of
    /// `uuid::Uuid`.
    ///
    /// ```
    /// use polyflake::hotguid::HotGuid;
    ///
    /// let uuid = uuid::uuid!("6955b900-0000-0000-0000-000003000000");
    /// assert_eq!(HotGuid::from_bytes(uuid.into_bytes()).shard_key(), 3);
    /// ```
    pub const fn from_bytes(bytes: [u8; Self::LEN]) -> Self {
        Self(bytes)
    }

    /// Creates an ID from a 16-byte slice in the byte order of the string form.
    ///
    /// ```
    /// use polyflake::hotguid::HotGuid;
    ///
    /// assert_eq!(HotGuid::from_slice(&[0; 16])?, HotGuid::MIN);
    /// assert_eq!(HotGuid::from_slice(&[0; 10]).unwrap_err().to_string(), "expected length 16, found 10");
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns `invalid_length` if the slice has the wrong length.
    pub fn from_slice(bytes: &[u8]) -> Result<Self> {
        bytes
            .try_into()
            .map(Self::from_bytes)
            .map_err(|_| Error::invalid_length(bytes.len(), Self::LEN, Self::LEN))
    }

    /// Returns the 16 bytes in the byte order of the string form. Like the string form, they sort by time.
    ///
    /// ```
    /// use polyflake::hotguid::HotGuid;
    ///
    /// let id = HotGuid::parse("6955b900-0000-0000-0000-000003000000")?;
    /// assert_eq!(id.to_bytes()[..4], [0x69, 0x55, 0xb9, 0]);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub const fn to_bytes(self) -> [u8; Self::LEN] {
        self.0
    }

    /// Creates an ID from its 16 bytes in the byte order of .NET's `Guid.ToByteArray()`.
    ///
    /// ```
    /// use polyflake::hotguid::HotGuid;
    ///
    /// // `Guid.ToByteArray()` of C# reverses the bytes of the first three groups of the string.
    /// let id = HotGuid::from_dotnet_bytes(*b"\0\xb9\x55\x69\0\0\0\0\0\0\0\0\x03\0\0\0");
    /// assert_eq!(id.to_string(), "6955b900-0000-0000-0000-000003000000");
    /// ```
    pub const fn from_dotnet_bytes(bytes: [u8; Self::LEN]) -> Self {
        Self(guid::reverse_groups(bytes))
    }

    /// Returns the 16 bytes in the byte order of .NET's `Guid.ToByteArray()`. They do not sort by time.
    ///
    /// ```
    /// use polyflake::hotguid::HotGuid;
    ///
    /// let id = HotGuid::parse("6955b900-0000-0000-0000-000003000000")?;
    /// assert_eq!(id.to_dotnet_bytes()[..4], [0, 0xb9, 0x55, 0x69]);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub const fn to_dotnet_bytes(self) -> [u8; Self::LEN] {
        guid::reverse_groups(self.0)
    }

    /// Returns a reference to the 16 bytes in the order of the string form.
    pub(super) const fn as_bytes(&self) -> &[u8; Self::LEN] {
        &self.0
    }

    /// Creates an ID from a GUID that SQL Server sorts by time. The bytes are in the order of .NET's `Guid.ToByteArray()`.
    ///
    /// ```
    /// use polyflake::hotguid::HotGuid;
    ///
    /// let id = HotGuid::parse("691f29d0-bbaa-ddcc-ee01-0203ffffff7f")?;
    /// assert_eq!(HotGuid::from_sql(id.to_sql()), id);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub const fn from_sql(bytes: [u8; Self::LEN]) -> Self {
        Self(guid::from_sql_order(bytes))
    }

    /// Returns the GUID that SQL Server sorts by time. The bytes are in the order of .NET's `Guid.ToByteArray()`, the order
    /// in which SQL Server clients send GUIDs.
    ///
    /// ```
    /// use polyflake::hotguid::HotGuid;
    ///
    /// let early = HotGuid::parse("691f29d0-bbaa-ddcc-ee01-0203ffffff7f")?;
    /// let late = HotGuid::parse("6955b900-0000-0000-0000-000003000000")?;
    /// assert!(early.to_sql()[10..] < late.to_sql()[10..]); // the bytes that SQL Server compares first
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub const fn to_sql(self) -> [u8; Self::LEN] {
        guid::to_sql_order(self.0)
    }

    /// Returns the ID as a lowercase string.
    ///
    /// ```
    /// use polyflake::hotguid::HotGuid;
    ///
    /// assert_eq!(HotGuid::MAX.text().as_str(), "ffffffff-ffff-ffff-ffff-ffffffffffff");
    /// ```
    #[inline]
    pub fn text(self) -> Text<{ Self::TEXT_LEN }> {
        guid::encode(&self.0)
    }

    /// Returns the string form of the GUID that SQL Server sorts by time.
    ///
    /// ```
    /// use polyflake::hotguid::HotGuid;
    ///
    /// let id = HotGuid::parse("691f29d0-bbaa-ddcc-ee01-0203ffffff7f")?;
    /// assert_eq!(id.sql_text().as_str(), "7fffffff-0302-01ee-ddcc-691f29d0bbaa");
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn sql_text(self) -> Text<{ Self::TEXT_LEN }> {
        guid::encode(&guid::reverse_groups(self.to_sql()))
    }

    /// Parses a string of hexadecimal digits with hyphens, in upper or lower case.
    ///
    /// ```
    /// use polyflake::hotguid::HotGuid;
    ///
    /// let id = HotGuid::parse("6955B900-0000-0000-0000-000003000000")?; // either case
    /// assert_eq!(id.shard_key(), 3);
    /// assert_eq!(HotGuid::parse("6955b90").unwrap_err().to_string(), "expected length 36, found 7");
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns `invalid_length` if the string has the wrong length, or `invalid_character` with the position of the first
    /// invalid character.
    #[inline]
    pub fn parse(text: &str) -> Result<Self> {
        guid::decode(text).map(Self)
    }

    /// Works like [`HotGuid::parse`], but accepts the string as bytes.
    ///
    /// This function is not part of the public API. It exists for bindings.
    #[doc(hidden)]
    pub fn parse_bytes(text: &[u8; Self::TEXT_LEN]) -> Result<Self> {
        guid::decode_bytes(text).map(Self)
    }

    /// Parses an ID at compile time. Returns `None` if [`HotGuid::parse`] would return an error.
    ///
    /// ```
    /// use polyflake::hotguid::HotGuid;
    ///
    /// const FIRST: HotGuid =
    ///     HotGuid::parse_const("691f29d0-bbaa-ddcc-ee01-0203ffffff7f").unwrap();
    /// assert_eq!(FIRST.to_string(), "691f29d0-bbaa-ddcc-ee01-0203ffffff7f");
    /// ```
    pub const fn parse_const(text: &str) -> Option<Self> {
        match guid::bytes_of(text.as_bytes()) {
            Some(bytes) => Some(Self::from_bytes(bytes)),
            None => None,
        }
    }

    /// Parses a GUID that SQL Server sorts by time.
    ///
    /// ```
    /// use polyflake::hotguid::HotGuid;
    ///
    /// let id = HotGuid::parse_sql("7fffffff-0302-01ee-ddcc-691f29d0bbaa")?; // as SQL Server prints it
    /// assert_eq!(id.timestamp(), 1_763_650_000);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`HotGuid::parse`].
    pub fn parse_sql(text: &str) -> Result<Self> {
        guid::decode(text).map(|bytes| Self::from_sql(guid::reverse_groups(bytes)))
    }

    /// Returns the lowest and the highest ID in the half-open time range `start .. end`. Both IDs belong to the range, so
    /// you can use them directly in `BETWEEN` queries. `start` and `end` are Unix milliseconds or `SystemTime`s. An ID is
    /// in the range if its second starts within the range. For SQL Server, convert both IDs with [`HotGuid::to_sql`]; the
    /// converted IDs sort in the same order.
    ///
    /// ```
    /// use polyflake::hotguid::HotGuid;
    ///
    /// let (lowest, highest) = HotGuid::time_range(1_767_225_600_000, 1_767_312_000_000)?; // all of 2026-01-01
    /// let id = HotGuid::parse("6955b900-0000-0000-0000-000003000000")?;
    /// assert!((lowest..=highest).contains(&id)); // SELECT ... WHERE id BETWEEN lowest AND highest
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns `time_out_of_range` if a bound is before 1970 or after 2106, except that the end may be one second past the
    /// last second. Returns `out_of_range` if the range is reversed or contains no second.
    pub fn time_range(
        start: impl Into<UnixTime>,
        end: impl Into<UnixTime>,
    ) -> Result<(Self, Self)> {
        let seconds = SCALE.ticks_in_range(start.into(), end.into())?;
        let highest =
            Self::pack(seconds.end - 1, MachineBytes::from_word(u64::MAX), LAST_COUNTER, u32::MAX);
        Ok((Self::pack(seconds.start, MachineBytes::from_word(0), 0, 0), highest))
    }
}

#[cfg(feature = "uuid")]
impl From<HotGuid> for uuid::Uuid {
    fn from(id: HotGuid) -> Self {
        Self::from_bytes(id.to_bytes())
    }
}

#[cfg(feature = "uuid")]
impl From<uuid::Uuid> for HotGuid {
    fn from(id: uuid::Uuid) -> Self {
        Self::from_bytes(id.into_bytes())
    }
}

impl_byte_id!(HotGuid);
