//! SPARX-64/128, the block cipher that Randflake uses, which encrypts 64-bit blocks under a 128-bit key.
//!
//! Dinu, Perrin, Udovenko, Velichkov, Großschädl and Biryukov published it in "Design Strategies for ARX with Provable
//! Bounds: SPARX and LAX" (ASIACRYPT 2016). The best known attacks reach 18 of its 24 rounds. The cipher hides and shuffles
//! IDs, but it does not authenticate them, and equal blocks always encrypt to equal blocks.
//!
//! The words of keys and blocks are big-endian. No branch or memory index depends on a secret.
//!
//! ```
//! use polyflake::sparx64::Sparx64;
//!
//! let cipher = Sparx64::new(*b"sixteen byte key");
//! let hidden = cipher.encrypt_block(42_u64.to_be_bytes()); // does not reveal consecutive numbers
//! assert_eq!(u64::from_be_bytes(cipher.decrypt_block(hidden)), 42);
//! ```

mod schedule;
pub(crate) mod slices;

use core::fmt;

use crate::{
    Error, Result,
    arch::{
        self,
        scalar::cipher::{Schedule, decrypt_block, encrypt_block},
    },
};

/// The length of a key in bytes.
pub const KEY_BYTES: usize = 16;

/// The length of a block in bytes.
pub const BLOCK_BYTES: usize = 8;

/// The SPARX-64/128 cipher, initialized with one key.
///
/// The key itself is not stored, and the subkeys derived from it are wiped on drop. Moving this value can leave copies on
/// the stack that are not wiped, so avoid moving it.
///
/// ```
/// use polyflake::sparx64::Sparx64;
///
/// let cipher = Sparx64::new(0x00112233_44556677_8899aabb_ccddeeff_u128.to_be_bytes());
/// let block = 0x01234567_89abcdef_u64.to_be_bytes();
/// let encrypted = cipher.encrypt_block(block);
/// assert_eq!(u64::from_be_bytes(encrypted), 0x2bbef152_01f55f98);
/// assert_eq!(cipher.decrypt_block(encrypted), block);
/// ```
#[derive(Clone)]
pub struct Sparx64 {
    schedule: Schedule,
}

impl Sparx64 {
    /// Creates the cipher from a 16-byte key.
    ///
    /// ```
    /// use polyflake::sparx64::Sparx64;
    ///
    /// let (one, other) = (Sparx64::new([1; 16]), Sparx64::new([2; 16]));
    /// assert_ne!(one.encrypt_block([0; 8]), other.encrypt_block([0; 8]));
    /// ```
    pub fn new(key: [u8; KEY_BYTES]) -> Self {
        Self { schedule: Schedule::new(key) }
    }

    /// Creates the cipher from a slice that contains the key.
    ///
    /// ```
    /// use polyflake::sparx64::Sparx64;
    ///
    /// assert!(Sparx64::from_slice(b"sixteen byte key").is_ok());
    /// assert_eq!(Sparx64::from_slice(b"short").unwrap_err().to_string(), "expected a secret of 16 bytes, found 5");
    /// ```
    ///
    /// # Errors
    /// Returns `invalid_secret` unless the key has 16 bytes.
    pub fn from_slice(key: &[u8]) -> Result<Self> {
        key.try_into().map(Self::new).map_err(|_| Error::invalid_secret(key.len(), KEY_BYTES))
    }

    /// Returns whether both ciphers have the same key. The comparison takes the same time no matter where the keys differ.
    pub(crate) fn has_same_key(&self, other: &Self) -> bool {
        self.schedule.difference_bits(&other.schedule) == 0
    }

    /// Encrypts one block.
    ///
    /// ```
    /// use polyflake::sparx64::Sparx64;
    ///
    /// let cipher = Sparx64::new(0x00112233_44556677_8899aabb_ccddeeff_u128.to_be_bytes());
    /// let encrypted = cipher.encrypt_block(0x01234567_89abcdef_u64.to_be_bytes());
    /// assert_eq!(encrypted, 0x2bbef152_01f55f98_u64.to_be_bytes()); // the paper's test vector
    /// ```
    #[inline]
    #[must_use]
    pub fn encrypt_block(&self, block: [u8; BLOCK_BYTES]) -> [u8; BLOCK_BYTES] {
        encrypt_block(&self.schedule, block)
    }

    /// Decrypts one block.
    ///
    /// ```
    /// use polyflake::sparx64::Sparx64;
    ///
    /// let cipher = Sparx64::new(*b"sixteen byte key");
    /// assert_eq!(cipher.decrypt_block(cipher.encrypt_block(*b"my block")), *b"my block");
    /// ```
    #[inline]
    #[must_use]
    pub fn decrypt_block(&self, block: [u8; BLOCK_BYTES]) -> [u8; BLOCK_BYTES] {
        decrypt_block(&self.schedule, block)
    }

    /// Encrypts many blocks in place, each independently.
    ///
    /// ```
    /// use polyflake::sparx64::Sparx64;
    ///
    /// let cipher = Sparx64::new(*b"sixteen byte key");
    /// let mut blocks = [[0; 8], [1; 8]];
    /// cipher.encrypt_blocks(&mut blocks);
    /// assert_eq!(blocks[1], cipher.encrypt_block([1; 8]));
    /// ```
    pub fn encrypt_blocks(&self, blocks: &mut [[u8; BLOCK_BYTES]]) {
        slices::encrypt_blocks(arch::level(), self, blocks);
    }

    /// Decrypts many blocks in place, each independently.
    ///
    /// ```
    /// use polyflake::sparx64::Sparx64;
    ///
    /// let cipher = Sparx64::new(*b"sixteen byte key");
    /// let mut blocks = [[7; 8]; 1000];
    /// cipher.encrypt_blocks(&mut blocks);
    /// cipher.decrypt_blocks(&mut blocks);
    /// assert_eq!(blocks, [[7; 8]; 1000]);
    /// ```
    pub fn decrypt_blocks(&self, blocks: &mut [[u8; BLOCK_BYTES]]) {
        slices::decrypt_blocks(arch::level(), self, blocks);
    }
}

impl fmt::Debug for Sparx64 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sparx64").finish_non_exhaustive()
    }
}
