//! IDs as version 8 UUIDs (RFC 9562), which strict validators accept. Their fields differ from those of the compatible
//! form.
//!
//! ```text
//! 32 Unix seconds, 16 machine | 4 version = 8 | 12 machine | 2 variant = 10 | 6 machine | 24 counter | 32 shard key
//! ```
//!
//! The version and the variant leave 34 bits for the machine field instead of 40. The shard key is big-endian in this form.
//! All other fields are at the same positions as in the compatible form.

use super::{COUNTER, HotGuid, LAST_COUNTER, SCALE, SHARD_KEY, TIMESTAMP};
use crate::{Error, ErrorKind, Result, narrow};

/// The width of the machine field: 34 bits, which generators pick at random.
const MACHINE_BITS: u32 = 34;
const MAX_MACHINE: u64 = (1 << MACHINE_BITS) - 1;

/// The version and variant within the 40-bit machine field of the compatible form.
const VERSION_AND_VARIANT: u64 = 0x80_0080;
/// The bits that contain the version and the variant.
const VERSION_AND_VARIANT_MASK: u64 = 0xf0_00c0;
/// The lowest bit of the 40-bit machine field in an ID.
const MACHINE_SHIFT: u32 = 56;

/// The fields of an ID in the form of a version 8 UUID.
///
/// ```
/// use polyflake::hotguid::{HotGuid, Uuid8Parts};
///
/// let parts = Uuid8Parts { timestamp: 1_767_225_600, machine: 0, counter: 0, shard_key: 3 };
/// assert_eq!(HotGuid::from_uuid8_parts(parts)?.to_string(), "6955b900-0000-8000-8000-000000000003");
/// # Ok::<(), polyflake::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(deny_unknown_fields)
)]
pub struct Uuid8Parts {
    /// The creation time in Unix seconds, 0..=4294967295.
    pub timestamp: i64,
    /// The 34 random bits that identify the generator.
    pub machine: u64,
    /// The counter, 0..=16777215, which distinguishes IDs generated in the same second. It may start at any value.
    pub counter: u32,
    /// The shard key.
    pub shard_key: u32,
}

/// The version and variant within 8 random bytes. The first five bytes are the machine field before its byte pairs are
/// swapped.
const RAW_VERSION_AND_VARIANT: u64 = 0x8080 << 24;
const RAW_VERSION_AND_VARIANT_MASK: u64 = 0xf0c0 << 24;

/// Inserts the version and the variant into random bytes.
pub(super) const fn with_version(drawn: u64) -> u64 {
    drawn & !RAW_VERSION_AND_VARIANT_MASK | RAW_VERSION_AND_VARIANT
}

/// Changes the version if the random bytes happen to have the version and variant of a version 8 UUID, which has a
/// probability of 1 in 64. Otherwise, returns the bytes unchanged.
pub(super) const fn without_version(drawn: u64) -> u64 {
    // Picking new bytes instead would loop forever if the source always returned the same bytes.
    if drawn & RAW_VERSION_AND_VARIANT_MASK == RAW_VERSION_AND_VARIANT {
        drawn ^ 0x1000 << 24
    } else {
        drawn
    }
}

impl HotGuid {
    /// Returns the fields of a version 8 UUID. A generator creates version 8 UUIDs if
    /// [`Builder::uuid8`](super::Builder::uuid8) is set.
    ///
    /// ```
    /// use polyflake::hotguid::Generator;
    ///
    /// let ids = Generator::builder().uuid8(true).build()?;
    /// assert_eq!(ids.generate(3)?.uuid8_parts()?.shard_key, 3);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns `not_canonical` if the UUID has a different version or variant.
    pub fn uuid8_parts(self) -> Result<Uuid8Parts> {
        let word = u128::from_be_bytes(self.to_bytes());
        let machine = narrow::low_u64(word >> MACHINE_SHIFT) & ((1 << 40) - 1);
        let (counter, shard_key) = (narrow::u32(COUNTER.extract(word)), narrow::low_u32(word));
        if machine & VERSION_AND_VARIANT_MASK != VERSION_AND_VARIANT {
            let reason = &"expected a UUID of version 8 and RFC 9562's variant, found another";
            return Err(Error::with_static_reason(ErrorKind::NotCanonical, reason));
        }
        let machine = machine >> 24 << 18 | (machine >> 8 & 0xfff) << 6 | machine & 0x3f;
        let timestamp = TIMESTAMP.extract(word).cast_signed();
        Ok(Uuid8Parts { timestamp, machine, counter, shard_key })
    }

    /// Creates a version 8 UUID from its fields.
    ///
    /// ```
    /// use polyflake::hotguid::{HotGuid, Uuid8Parts};
    ///
    /// let parts = Uuid8Parts { timestamp: 1_767_225_600, machine: 1 << 33, counter: 7, shard_key: 3 };
    /// assert_eq!(HotGuid::from_uuid8_parts(parts)?.uuid8_parts()?, parts);
    /// assert!(HotGuid::from_uuid8_parts(Uuid8Parts { machine: 1 << 34, ..parts }).is_err()); // 34 bits
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns `time_out_of_range` if the timestamp is out of range, or `out_of_range` if the machine field or the counter
    /// is out of range.
    pub fn from_uuid8_parts(parts: Uuid8Parts) -> Result<Self> {
        let Uuid8Parts { timestamp, machine, counter, shard_key } = parts;
        let seconds = SCALE.tick_of_seconds(timestamp)?;
        Error::check_range("machine", machine, 0..=MAX_MACHINE)?;
        Error::check_range("counter", counter, 0..=LAST_COUNTER)?;
        let bits = machine >> 18 << 24
            | (machine >> 6 & 0xfff) << 8
            | machine & 0x3f
            | VERSION_AND_VARIANT;
        let word = TIMESTAMP.insert(seconds)
            | u128::from(bits) << MACHINE_SHIFT
            | COUNTER.insert(counter.into())
            | SHARD_KEY.insert(shard_key.into());
        Ok(Self::from_bytes(word.to_be_bytes()))
    }
}
