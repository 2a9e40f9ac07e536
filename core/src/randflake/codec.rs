//! The codec, which uses a secret to encrypt an ID's fields and to decrypt them again.

use super::{EPOCH, LAST_NODE, LAST_SEQUENCE, NODE, Randflake, SCALE, SEQUENCE, TIMESTAMP};
use crate::format::Span;
use crate::sparx64::Sparx64;
use crate::{Error, Result, narrow};

/// The fields of an ID.
///
/// ```
/// use polyflake::randflake::{Codec, Parts, Randflake};
///
/// let parts = Codec::new(*b"sixteen byte key").inspect(Randflake::parse("amb6fiq6d10u2")?);
/// assert_eq!(parts, Parts { timestamp: 1_767_225_600, node: 7, sequence: 0 });
/// # Ok::<(), polyflake::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(deny_unknown_fields)
)]
pub struct Parts {
    /// The creation time in Unix seconds, 1730000000..=2803741823.
    pub timestamp: i64,
    /// The node ID of the generator that created the ID, 0..=131071.
    pub node: u32,
    /// The sequence number of the ID within its second, 0..=131071.
    pub sequence: u32,
}

/// Uses a secret to decrypt IDs into their fields and to encrypt fields into IDs.
///
/// ```
/// use polyflake::randflake::{Codec, Parts};
///
/// let codec = Codec::from_slice(b"sixteen byte key")?;
/// let parts = Parts { timestamp: 1_763_650_000, node: 42, sequence: 7 };
/// assert_eq!(codec.inspect(codec.encrypt(parts)?), parts);
/// # Ok::<(), polyflake::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Codec {
    cipher: Sparx64,
}

impl Codec {
    /// Creates a codec with a 16-byte secret. Generate the secret at random, because any 16 bytes are accepted, even if all
    /// of them are zero.
    ///
    /// ```
    /// use polyflake::randflake::{Codec, Randflake};
    ///
    /// let codec = Codec::new(*b"sixteen byte key");
    /// assert_eq!(codec.inspect(Randflake::parse("amb6fiq6d10u2")?).node, 7);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn new(secret: [u8; 16]) -> Self {
        Self { cipher: Sparx64::new(secret) }
    }

    /// Creates a codec from a slice that contains the secret.
    ///
    /// ```
    /// use polyflake::randflake::Codec;
    ///
    /// let secret = std::env::var("SECRET").unwrap_or_else(|_| "too short".into());
    /// let error = Codec::from_slice(secret.as_bytes()).unwrap_err();
    /// assert_eq!(error.to_string(), "expected a secret of 16 bytes, found 9");
    /// ```
    ///
    /// # Errors
    /// Returns `invalid_secret` unless the secret has 16 bytes.
    pub fn from_slice(secret: &[u8]) -> Result<Self> {
        Sparx64::from_slice(secret).map(|cipher| Self { cipher })
    }

    /// Encrypts fields into an ID. The caller must ensure that no two IDs have the same fields.
    ///
    /// ```
    /// use polyflake::randflake::{Codec, Parts};
    ///
    /// let codec = Codec::new(*b"sixteen byte key");
    /// let id = codec.encrypt(Parts { timestamp: 1_767_225_600, node: 7, sequence: 0 })?;
    /// assert_eq!(id.to_string(), "amb6fiq6d10u2");
    /// assert!(codec.encrypt(Parts { timestamp: 0, node: 7, sequence: 0 }).is_err()); // before 2024
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns `time_out_of_range` if the timestamp is out of range, or `out_of_range` if any other field is out of range.
    pub fn encrypt(&self, parts: Parts) -> Result<Randflake> {
        Ok(self.encrypt_raw(parts.to_raw()?))
    }

    /// Decrypts an ID into its fields. Every integer decrypts to plausible fields, so plausible fields do not prove that
    /// the ID is genuine.
    ///
    /// ```
    /// use polyflake::randflake::{Codec, Randflake};
    ///
    /// let codec = Codec::new(*b"sixteen byte key");
    /// assert_eq!(codec.inspect(Randflake::parse("amb6fiq6d10u2")?).timestamp, 1_767_225_600);
    /// let nobodys = codec.inspect(Randflake::from_i64(0)); // not an ID of ours, but every integer decrypts to some fields
    /// assert!(nobodys.node <= 131_071);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    #[inline]
    pub fn inspect(&self, id: Randflake) -> Parts {
        let raw = self.cipher.decrypt_block(id.to_u64().to_le_bytes());
        Parts::from_raw(u64::from_le_bytes(raw))
    }

    /// Decrypts many IDs at once, using the cipher's vector kernels, and writes each field to a separate column.
    ///
    /// ```
    /// use polyflake::randflake::{Codec, Parts};
    ///
    /// let codec = Codec::from_slice(b"sixteen byte key")?;
    /// let ids = [codec.encrypt(Parts { timestamp: 1_763_650_000, node: 42, sequence: 7 })?; 2];
    /// let (mut timestamps, mut nodes, mut sequences) = ([0; 2], [0; 2], [0; 2]);
    /// codec.inspect_columns(&ids, &mut timestamps, &mut nodes, &mut sequences)?;
    /// assert_eq!((timestamps, nodes, sequences), ([1_763_650_000; 2], [42; 2], [7; 2]));
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns `invalid_length` unless all slices have the same length.
    pub fn inspect_columns(
        &self,
        ids: &[Randflake],
        timestamps: &mut [i64],
        nodes: &mut [u32],
        sequences: &mut [u32],
    ) -> Result<()> {
        /// The number of blocks in a group. No kernel processes that many blocks at once.
        const GROUP_LEN: usize = 64;
        let count = ids.len();
        let lengths = [timestamps.len(), nodes.len(), sequences.len()];
        if let Some(other) = lengths.into_iter().find(|length| *length != count) {
            return Err(Error::invalid_length(other, count, count));
        }
        // The IDs are decrypted in groups, because decryption takes 33 ns for a single block, but only 2 ns per block in a
        // group of 64. Each group is stored on the stack, because a buffer for the whole column would have to be allocated
        // on the heap.
        let mut blocks = [[0; 8]; GROUP_LEN];
        let fields = timestamps.chunks_mut(GROUP_LEN).zip(nodes.chunks_mut(GROUP_LEN));
        let fields = fields.zip(sequences.chunks_mut(GROUP_LEN));
        for (ids, ((timestamps, nodes), sequences)) in ids.chunks(GROUP_LEN).zip(fields) {
            let blocks = &mut blocks[..ids.len()];
            for (block, id) in blocks.iter_mut().zip(ids) {
                *block = id.to_u64().to_le_bytes();
            }
            self.cipher.decrypt_blocks(blocks);
            for (index, block) in blocks.iter().enumerate() {
                let parts = Parts::from_raw(u64::from_le_bytes(*block));
                timestamps[index] = parts.timestamp;
                nodes[index] = parts.node;
                sequences[index] = parts.sequence;
            }
        }
        Ok(())
    }

    /// Returns a number that depends on the secret and does not reveal it: two encrypted constants.
    pub(super) fn fingerprint(&self) -> u128 {
        let [one, other] = [u64::MAX, u64::MAX - 1].map(|raw| self.encrypt_raw(raw).to_u64());
        u128::from(one) << 64 | u128::from(other)
    }

    /// Returns whether both codecs use the same secret.
    pub(super) fn has_same_secret(&self, other: &Self) -> bool {
        self.cipher.has_same_key(&other.cipher)
    }

    /// Encrypts raw values into the same number of IDs, and overwrites the raw values.
    pub(super) fn encrypt_many(&self, raw: &mut [[u8; 8]], ids: &mut [Randflake]) {
        self.cipher.encrypt_blocks(raw);
        for (id, block) in ids.iter_mut().zip(raw) {
            *id = Randflake::from_u64(u64::from_le_bytes(*block));
        }
    }

    #[inline]
    pub(super) fn encrypt_raw(&self, raw: u64) -> Randflake {
        Randflake::from_u64(u64::from_le_bytes(self.cipher.encrypt_block(raw.to_le_bytes())))
    }
}

impl From<[u8; 16]> for Codec {
    fn from(secret: [u8; 16]) -> Self {
        Self::new(secret)
    }
}

impl Parts {
    /// Returns the creation time in Unix milliseconds, which is always a multiple of 1000.
    ///
    /// ```
    /// use polyflake::randflake::Parts;
    ///
    /// assert_eq!(Parts { timestamp: 1_767_225_600, node: 7, sequence: 0 }.unix_ms(), 1_767_225_600_000);
    /// ```
    pub const fn unix_ms(&self) -> i64 {
        self.timestamp.saturating_mul(1000)
    }

    fn to_raw(self) -> Result<u64> {
        let tick = SCALE.tick_of_seconds(self.timestamp)?;
        Error::check_range("node", self.node, 0..=LAST_NODE)?;
        Error::check_range("sequence", self.sequence, 0..=LAST_SEQUENCE)?;
        Ok(pack_raw(tick, self.node, self.sequence))
    }

    fn from_raw(raw: u64) -> Self {
        let take = |field: Span| field.extract(raw.into());
        let timestamp = EPOCH + take(TIMESTAMP).cast_signed();
        Self { timestamp, node: narrow::u32(take(NODE)), sequence: narrow::u32(take(SEQUENCE)) }
    }
}

/// Packs fields into a raw value. Each value must fit in its field.
#[inline]
pub(super) fn pack_raw(tick: u64, node: u32, sequence: u32) -> u64 {
    narrow::u64(
        TIMESTAMP.insert(tick) | NODE.insert(node.into()) | SEQUENCE.insert(sequence.into()),
    )
}
