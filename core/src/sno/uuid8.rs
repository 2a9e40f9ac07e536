//! Conversion of IDs to version 8 UUIDs (RFC 9562), which strict validators accept.
//!
//! ```text
//! 40 timestamp and tick-tock, 8 metabyte | 4 version = 8 | 12 partition, its upper
//!     | 2 variant = 10 | 4 partition, its lower | 16 sequence | 42 zero
//! ```
//!
//! The UUID contains all 80 bits of the ID in their original order, so bytes, strings and times still sort in the same
//! order.

use super::Sno;
use crate::{Error, ErrorKind, Result, error::check_same_length};

const VERSION: u128 = 8 << 76;
const VERSION_MASK: u128 = 15 << 76;
const VARIANT: u128 = 2 << 62;
const VARIANT_MASK: u128 = 3 << 62;
/// The number of zero bits after the sequence number.
const ZERO_BIT_COUNT: u32 = 42;

/// Masks for the ID's bits above the version, between the version and the variant, and below the variant. Each mask is
/// paired with the left shift that moves the bits from their position in the ID to their position in the UUID.
const HIGH_BITS: (u128, u32) = (0xffff_ffff_ffff << 32, 48);
const MIDDLE_BITS: (u128, u32) = (0xfff << 20, 44);
const LOW_BITS: (u128, u32) = (0xf_ffff, ZERO_BIT_COUNT);

impl Sno {
    /// Returns the ID as the bytes of a version 8 UUID, which strict validators accept. The UUID contains all bits of the
    /// ID in the same order.
    ///
    /// ```
    /// use polyflake::sno::Sno;
    ///
    /// let id = Sno::parse("22222223nbcndcnc")?;
    /// let uuid = 0x00000000_01aa_8555_96aa_a80000000000_u128;
    /// assert_eq!(id.to_uuid8_bytes(), uuid.to_be_bytes());
    /// assert_eq!(Sno::from_uuid8_bytes(uuid.to_be_bytes())?, id);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub const fn to_uuid8_bytes(&self) -> [u8; 16] {
        let word = self.word();
        let bits = (word & HIGH_BITS.0) << HIGH_BITS.1
            | (word & MIDDLE_BITS.0) << MIDDLE_BITS.1
            | (word & LOW_BITS.0) << LOW_BITS.1;
        (bits | VERSION | VARIANT).to_be_bytes()
    }

    /// Creates an ID from the bytes of a version 8 UUID.
    ///
    /// ```
    /// use polyflake::sno::Sno;
    ///
    /// let random = 0x3d3df1a5_7f0b_4d39_9f6f_0c2a6a6f5d21_u128; // of version 4
    /// let error = Sno::from_uuid8_bytes(random.to_be_bytes()).unwrap_err();
    /// assert_eq!(error.to_string(), "expected a UUID of version 8, found another version");
    /// ```
    ///
    /// # Errors
    /// Returns `not_canonical` if the UUID has a different version or variant, or if any bit after the bits of the ID is
    /// set.
    pub fn from_uuid8_bytes(bytes: [u8; 16]) -> Result<Self> {
        let uuid = u128::from_be_bytes(bytes);
        let reason = if uuid & VERSION_MASK != VERSION {
            &"expected a UUID of version 8, found another version"
        } else if uuid & VARIANT_MASK != VARIANT {
            &"expected a UUID of RFC 9562's variant, found another variant"
        } else if uuid & ((1 << ZERO_BIT_COUNT) - 1) != 0 {
            &"expected a UUID that ends in 42 zero bits, found others"
        } else {
            let bits = (uuid >> HIGH_BITS.1 & HIGH_BITS.0)
                | (uuid >> MIDDLE_BITS.1 & MIDDLE_BITS.0)
                | uuid >> LOW_BITS.1 & LOW_BITS.0;
            return Ok(Self::from_word(bits));
        };
        Err(Error::with_static_reason(ErrorKind::NotCanonical, reason))
    }
}

/// Writes each ID to `column` as the bytes of a version 8 UUID.
///
/// ```
/// use polyflake::sno::{self, Sno};
///
/// let ids = [Sno::parse("9d5ve8222622g222")?, Sno::default()];
/// let mut uuids = [[0; 16]; 2];
/// sno::uuid8_column(&ids, &mut uuids)?;
/// assert_eq!(uuids, ids.map(|id| id.to_uuid8_bytes()));
/// # Ok::<(), polyflake::Error>(())
/// ```
///
/// # Errors
/// Returns `invalid_length` unless both slices have the same length.
pub fn uuid8_column(ids: &[Sno], column: &mut [[u8; 16]]) -> Result<()> {
    check_same_length(ids.len(), column.len())?;
    column.iter_mut().zip(ids).for_each(|(uuid, id)| *uuid = id.to_uuid8_bytes());
    Ok(())
}

/// Converts version 8 UUIDs into IDs.
///
/// ```
/// use polyflake::sno::{self, Sno};
///
/// let uuids = [Sno::default().to_uuid8_bytes(), [0; 16]];
/// let error = sno::from_uuid8_column(&uuids, &mut [Sno::default(); 2]).unwrap_err();
/// assert_eq!((error.code(), error.item()), ("not_canonical", Some(1)));
/// # Ok::<(), polyflake::Error>(())
/// ```
///
/// # Errors
/// Returns the same errors as [`Sno::from_uuid8_bytes`], with the index of the item, or `invalid_length` unless both slices
/// have the same length.
pub fn from_uuid8_column(column: &[[u8; 16]], ids: &mut [Sno]) -> Result<()> {
    check_same_length(column.len(), ids.len())?;
    for (item, (id, uuid)) in ids.iter_mut().zip(column).enumerate() {
        *id = Sno::from_uuid8_bytes(*uuid).map_err(|error| error.in_item(item))?;
    }
    Ok(())
}

/// Returns the ID as a version 8 UUID, which strict validators accept and which sorts by time. For the UUID columns of the
/// Go library, use [`Sno::to_uuid_bytes`].
///
/// ```
/// use polyflake::sno::Sno;
/// use uuid::Uuid;
///
/// let id = Sno::parse("9d5ve8222622g222")?;
/// let uuid = Uuid::from(id);
/// assert_eq!(uuid.get_version_num(), 8);
/// assert_eq!(Sno::try_from(uuid)?, id);
/// # Ok::<(), polyflake::Error>(())
/// ```
#[cfg(feature = "uuid")]
impl From<Sno> for uuid::Uuid {
    fn from(id: Sno) -> Self {
        Self::from_bytes(id.to_uuid8_bytes())
    }
}

/// Works like [`Sno::from_uuid8_bytes`].
#[cfg(feature = "uuid")]
impl TryFrom<uuid::Uuid> for Sno {
    type Error = Error;

    fn try_from(uuid: uuid::Uuid) -> Result<Self> {
        Self::from_uuid8_bytes(uuid.into_bytes())
    }
}
