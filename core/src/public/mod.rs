//! Public IDs: encrypted strings that represent integers, such as the primary keys of a table. For example, a URL contains
//! `order_1x…` instead of the primary key 42. With the same secret, an integer always has the same public ID.
//!
//! Each integer is encrypted under a key that is derived from one secret and the name of the type. The public ID consists
//! of the type's name, the encrypted integer, and a check character. Therefore the public IDs of consecutive integers, or
//! of the same integer in two types, are unrelated, and most typos are rejected without decryption.
//!
//! Public IDs hide how many rows exist and in which order they were created. A public ID does not grant access, and it cannot
//! be revoked. The probability that a forged ID decodes to an integer is 1 in 2^(64 - bits). The exact format is documented at
//! <https://example.invalid/polyflake/blob/main/docs/formats.md#public-ids>.
//!
//! ```
//! use polyflake::public::Keyring;
//!
//! let ids = Keyring::new(&[7; 32])?; // 32 random bytes, from the environment or a file
//! let orders = ids.of("order")?;
//! let text = orders.encode(42)?;
//! assert!(text.starts_with("order_") && text.len() == 21);
//! assert_eq!(orders.decode(&text)?, 42);
//! assert_eq!(ids.of("invoice")?.decode(&text).unwrap_err().code(), "type_mismatch");
//! # Ok::<(), polyflake::Error>(())
//! ```

mod keys;
#[cfg(feature = "serde")]
mod serde;
mod text;

use alloc::{borrow::ToOwned, boxed::Box, format, string::String, vec::Vec};
use core::fmt;

use zeroize::Zeroizing;

#[cfg(feature = "serde")]
pub use self::serde::Field;
use crate::{
    Error, ErrorKind, Result,
    sparx64::{BLOCK_BYTES, Sparx64},
};

/// The length of a secret in bytes.
pub const SECRET_BYTES: usize = 32;

/// The maximum number of characters in a type's name.
pub const MAX_NAME_LEN: usize = 63;

/// The number of characters in a public ID after the type's name and the `_`.
#[doc(hidden)]
pub const TAIL_LEN: usize = text::LEN;

/// The default width of integers in bits: integers are below 2^48 unless [`Keyring::of_bits`] sets a different width.
pub const BITS: u32 = 48;

/// The number of possible versions of a secret.
const VERSION_COUNT: u8 = 32;

/// The number of blocks that are encrypted together.
const BATCH_LEN: usize = 64;

/// The secrets that a program uses to encode and decode its public IDs.
///
/// A public ID contains the version of the secret that it was encoded with. All versions can be decoded, and the highest
/// version is used for encoding unless [`Keyring::write`] selects a different one. To rotate the secret, first provide both
/// secrets to every process, while all of them still encode with the old version. When every process can decode the new
/// version, encode with it. From then on, an integer has two public IDs, so compare integers, not strings.
///
/// ```
/// use polyflake::public::Keyring;
///
/// let ids = Keyring::new(&[7; 32])?; // 32 random bytes, from the environment or a file
/// assert_eq!(format!("{ids:?}"), "Keyring { .. }");
/// # Ok::<(), polyflake::Error>(())
/// ```
#[derive(Clone)]
pub struct Keyring {
    /// The secrets with their versions. The secret used for encoding comes first, followed by the others in descending
    /// order of version.
    secrets: Vec<(u8, Zeroizing<[u8; SECRET_BYTES]>)>,
}

impl Keyring {
    /// Creates a keyring with one secret, which has version 1.
    ///
    /// ```
    /// use polyflake::public::Keyring;
    ///
    /// let ids = Keyring::new(&[7; 32])?;
    /// assert_eq!(Keyring::new(b"short").unwrap_err().to_string(), "expected a secret of 32 bytes, found 5");
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns `invalid_secret` unless the secret has 32 bytes.
    pub fn new(secret: &[u8]) -> Result<Self> {
        Self::with_versions([(1, secret)])
    }

    /// Creates a keyring with several secrets, each with a version from 0 to 31.
    ///
    /// ```
    /// use polyflake::public::Keyring;
    ///
    /// let old = Keyring::new(&[7; 32])?.of("order")?.encode(42)?;
    /// let orders = Keyring::with_versions([(1, &[7; 32]), (2, &[8; 32])])?.of("order")?;
    /// let new = orders.encode(42)?;
    /// assert_ne!(old, new);
    /// assert_eq!((orders.decode(&old)?, orders.decode(&new)?), (42, 42));
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns `missing_field` if no secret is passed; `out_of_range` if a version is above 31 or occurs twice; or
    /// `invalid_secret` if a secret does not have 32 bytes, or if two versions have the same secret, because a rotation
    /// between these versions would not replace the secret.
    pub fn with_versions<S: AsRef<[u8]>>(
        secrets: impl IntoIterator<Item = (u8, S)>,
    ) -> Result<Self> {
        // The vector is allocated at full capacity, because reallocation would leave an unwiped copy of the secrets behind.
        let mut all: Vec<(u8, _)> = Vec::with_capacity(VERSION_COUNT.into());
        for (version, secret) in secrets {
            if version >= VERSION_COUNT {
                let most = i128::from(VERSION_COUNT) - 1;
                return Err(Error::out_of_range("version", version.into(), 0, most));
            }
            if all.iter().any(|(known, _)| *known == version) {
                let reason = format!("expected one secret of version {version}, found two");
                return Err(Error::with_reason(ErrorKind::OutOfRange, reason).with_field("version"));
            }
            let secret = secret.as_ref();
            let wrong = |_| Error::invalid_secret(secret.len(), SECRET_BYTES);
            let secret = Zeroizing::new(secret.try_into().map_err(wrong)?);
            if let Some((known, _)) = all.iter().find(|(_, known)| *known == secret) {
                let reason = format!(
                    "expected a different secret for version {version} than for version {known}"
                );
                return Err(Error::with_reason(ErrorKind::InvalidSecret, reason));
            }
            all.insert(all.partition_point(|(known, _)| *known > version), (version, secret));
        }
        if all.is_empty() {
            return Err(Error::field_error(ErrorKind::MissingField, "secret"));
        }
        Ok(Self { secrets: all })
    }

    /// Selects the version to encode with, instead of the highest version. All versions can still be decoded. Call this
    /// method in the first step of a rotation, because every process must be able to decode the new version before any
    /// process encodes with it.
    ///
    /// ```
    /// use polyflake::public::Keyring;
    ///
    /// let old = Keyring::new(&[7; 32])?.of("order")?;
    /// let both = Keyring::with_versions([(1, &[7; 32]), (2, &[8; 32])])?;
    /// let orders = both.write(1)?.of("order")?; // remove `write` later
    /// assert_eq!(orders.encode(42)?, old.encode(42)?);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns `unknown_version` if the version has no secret.
    pub fn write(mut self, version: u8) -> Result<Self> {
        let chosen = self.secrets.iter().position(|(known, _)| *known == version);
        let chosen = chosen.ok_or(Error::field_error(ErrorKind::UnknownVersion, "write"))?;
        self.secrets[..=chosen].rotate_right(1);
        Ok(self)
    }

    /// Returns the type of public ID with the given name, for integers below 2^48.
    ///
    /// ```
    /// use polyflake::public::Keyring;
    ///
    /// let ids = Keyring::new(&[7; 32])?;
    /// assert_eq!(ids.of("order")?.name(), "order");
    /// assert_eq!(ids.of("Order").unwrap_err().position(), Some(0));
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns `invalid_character` or `invalid_length` unless the name matches `[a-z][a-z0-9_]*` and has 1 to 63 characters.
    pub fn of(&self, name: &str) -> Result<IdType> {
        self.of_bits(name, BITS)
    }

    /// Returns the type of public ID with the given name, for integers below 2^bits.
    ///
    /// With a smaller width, more forged IDs are rejected. On average, one in 2^(64 - bits) forged IDs is accepted: one in
    /// 65,536 with 48 bits, and one in two with 63 bits. The same probability applies to an ID of a different type or width
    /// if its type name was replaced with the name of this type. The key depends on the width, so changing the width of a
    /// type changes all public IDs of that type.
    ///
    /// ```
    /// use polyflake::public::Keyring;
    ///
    /// let flakes = Keyring::new(&[7; 32])?.of_bits("post", 63)?; // snowflakes
    /// assert_eq!(flakes.decode(&flakes.encode(175928847299117063)?)?, 175928847299117063);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`Keyring::of`], and `out_of_range` unless `bits` is from 1 to 64.
    pub fn of_bits(&self, name: &str, bits: u32) -> Result<IdType> {
        check_type_name(name)?;
        if !(1..=64).contains(&bits) {
            return Err(Error::out_of_range("bits", bits.into(), 1, 64));
        }
        let cipher = |(version, secret): &(u8, Zeroizing<[u8; SECRET_BYTES]>)| {
            (*version, keys::derive_cipher(secret, name, bits))
        };
        let ciphers = self.secrets.iter().map(cipher).collect();
        Ok(IdType { name: name.into(), bits, ciphers })
    }
}

impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keyring").finish_non_exhaustive()
    }
}

/// A type of public ID. It encodes integers as strings, and decodes these strings into integers.
///
/// ```
/// use polyflake::public::Keyring;
///
/// let orders = Keyring::new(&[7; 32])?.of("order")?;
/// let (one, next) = (orders.encode(42)?, orders.encode(43)?);
/// assert_ne!(one[8..], next[8..]); // the strings do not reveal that the integers are consecutive
/// # Ok::<(), polyflake::Error>(())
/// ```
#[derive(Clone)]
pub struct IdType {
    name: Box<str>,
    bits: u32,
    /// The cipher of each version, starting with the version used for encoding. The list is never empty.
    ciphers: Box<[(u8, Sparx64)]>,
}

impl IdType {
    /// Returns the type's name.
    ///
    /// ```
    /// use polyflake::public::Keyring;
    ///
    /// assert_eq!(Keyring::new(&[7; 32])?.of("order")?.name(), "order");
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the width of the type's integers in bits.
    ///
    /// ```
    /// use polyflake::public::Keyring;
    ///
    /// let ids = Keyring::new(&[7; 32])?;
    /// assert_eq!((ids.of("order")?.bits(), ids.of_bits("post", 63)?.bits()), (48, 63));
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    #[must_use]
    pub const fn bits(&self) -> u32 {
        self.bits
    }

    /// Encodes an integer as a public ID. With the same secret, an integer always has the same public ID.
    ///
    /// ```
    /// use polyflake::public::Keyring;
    ///
    /// let secret: [u8; 32] = core::array::from_fn(|at| at as u8);
    /// let orders = Keyring::new(&secret)?.of("order")?;
    /// assert_eq!(orders.encode(0)?, "order_1abpg7dgwhjba5j");
    /// assert!(orders.encode(1 << 48).is_err());
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns `out_of_range` if the integer has more bits than the type allows.
    pub fn encode(&self, number: u64) -> Result<String> {
        let tail = self.encode_tail(number)?;
        let mut text = self.prefix();
        text.extend(tail.map(char::from));
        Ok(text)
    }

    /// Encodes an integer as the part of a public ID after the type's name and the `_`. Does not allocate if the integer is
    /// in range.
    #[doc(hidden)]
    pub fn encode_tail(&self, number: u64) -> Result<[u8; TAIL_LEN]> {
        if number > self.max_number() {
            return Err(self.too_large(number));
        }
        let (version, cipher) = &self.ciphers[0];
        Ok(text::encode(*version, u64::from_be_bytes(cipher.encrypt_block(number.to_be_bytes()))))
    }

    /// Encodes many integers and passes each public ID to a function. This is faster than encoding them one at a time,
    /// because the cipher encrypts many blocks at once.
    ///
    /// ```
    /// use polyflake::public::Keyring;
    ///
    /// let orders = Keyring::new(&[7; 32])?.of("order")?;
    /// let mut texts = vec![];
    /// orders.encode_many(&[42, 43], |text| texts.push(text.to_owned()))?;
    /// assert_eq!(texts, [orders.encode(42)?, orders.encode(43)?]);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`IdType::encode`], with the index of the item. All integers are checked before the
    /// function is first called.
    pub fn encode_many(&self, numbers: &[u64], mut each: impl FnMut(&str)) -> Result<()> {
        let most = self.max_number();
        if let Some(at) = numbers.iter().position(|number| *number > most) {
            return Err(self.too_large(numbers[at]).in_item(at));
        }
        let (version, cipher) = &self.ciphers[0];
        let mut text = self.prefix();
        for numbers in numbers.chunks(BATCH_LEN) {
            let mut blocks = [[0; BLOCK_BYTES]; BATCH_LEN];
            let blocks = &mut blocks[..numbers.len()];
            blocks
                .iter_mut()
                .zip(numbers)
                .for_each(|(block, number)| *block = number.to_be_bytes());
            cipher.encrypt_blocks(blocks);
            for block in blocks {
                // All strings share one buffer, in which only the part after the prefix changes. Each call therefore
                // allocates once instead of once per ID.
                text.truncate(self.name.len() + 1);
                Self::write(&mut text, *version, *block);
                each(&text);
            }
        }
        Ok(())
    }

    /// Decodes a public ID into its integer.
    ///
    /// ```
    /// use polyflake::public::Keyring;
    ///
    /// let orders = Keyring::new(&[7; 32])?.of("order")?;
    /// assert_eq!(orders.decode(&orders.encode(42)?)?, 42);
    /// assert_eq!(orders.decode("order_0123456789abcde").unwrap_err().code(), "check_failed");
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns `type_mismatch` if the ID belongs to a different type; `invalid_length` or `invalid_character` if the string
    /// is not a public ID; `check_failed` if a character was mistyped; `unknown_version` if its version has no secret; or
    /// `unknown_id` if the ID was forged or encoded with a different secret. For an invalid character, the error may
    /// suggest a replacement.
    pub fn decode(&self, text: &str) -> Result<u64> {
        let (cipher, block) = self.read_text(text)?;
        self.decrypted_number(self.ciphers[cipher].1.decrypt_block(block))
    }

    /// Decodes a public ID into its integer, given the part of the ID after the type's name and the `_`. Does not allocate
    /// if all characters are in the alphabet.
    #[cfg(feature = "internals")]
    #[doc(hidden)]
    pub fn decode_tail(&self, tail: &[u8]) -> Result<u64> {
        let (cipher, block) = self.read_tail(tail)?;
        self.decrypted_number(self.ciphers[cipher].1.decrypt_block(block))
    }

    /// Decodes many public IDs. This is faster than decoding them one at a time, because the cipher decrypts many blocks at
    /// once.
    ///
    /// ```
    /// use polyflake::public::Keyring;
    ///
    /// let orders = Keyring::new(&[7; 32])?.of("order")?;
    /// let texts = [orders.encode(42)?, orders.encode(43)?];
    /// assert_eq!(orders.decode_many(&texts)?, [42, 43]);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`IdType::decode`], with the index of the item.
    pub fn decode_many<S: AsRef<str>>(
        &self,
        texts: impl IntoIterator<Item = S>,
    ) -> Result<Vec<u64>> {
        let (mut ciphers, mut blocks) = (Vec::new(), Vec::new());
        for (at, text) in texts.into_iter().enumerate() {
            let (cipher, block) =
                self.read_text(text.as_ref()).map_err(|error| error.in_item(at))?;
            ciphers.push(cipher);
            blocks.push(block);
        }
        let mut rest = &mut *blocks;
        // Adjacent IDs with the same version of the secret are decrypted together, because the cipher is much faster on
        // many blocks at once.
        for run in ciphers.chunk_by(usize::eq) {
            let (those, after) = rest.split_at_mut(run.len());
            self.ciphers[run[0]].1.decrypt_blocks(those);
            rest = after;
        }
        let number = |(at, block)| self.decrypted_number(block).map_err(|error| error.in_item(at));
        blocks.into_iter().enumerate().map(number).collect()
    }

    /// Returns the largest integer of the type.
    const fn max_number(&self) -> u64 {
        u64::MAX >> (64 - self.bits)
    }

    #[cold]
    fn too_large(&self, number: u64) -> Error {
        Error::out_of_range("number", number.into(), 0, self.max_number().into())
    }

    /// Returns a string that contains the type's name and the `_`, with enough capacity for the remaining characters.
    fn prefix(&self) -> String {
        let mut text = String::with_capacity(self.name.len() + 1 + text::LEN);
        text.push_str(&self.name);
        text.push('_');
        text
    }

    /// Appends the part of a public ID after the type's name and the `_`.
    fn write(text: &mut String, version: u8, block: [u8; BLOCK_BYTES]) {
        let tail = text::encode(version, u64::from_be_bytes(block));
        text.push_str(core::str::from_utf8(&tail).expect("ASCII"));
    }

    /// Reads a public ID and returns the index of its cipher and its encrypted block.
    fn read_text(&self, text: &str) -> Result<(usize, [u8; BLOCK_BYTES])> {
        let (name, tail) = text.rsplit_once('_').ok_or_else(|| self.type_mismatch_error(None))?;
        if *name != *self.name {
            return Err(self.type_mismatch_error(Some(name)));
        }
        if !tail.is_ascii() {
            return Err(text::non_ascii_tail(tail, name.len() + 1));
        }
        self.read_tail(tail.as_bytes())
    }

    fn read_tail(&self, tail: &[u8]) -> Result<(usize, [u8; BLOCK_BYTES])> {
        let (version, block) = text::decode(tail, self.name.len() + 1)?;
        let cipher = self.ciphers.iter().position(|(known, _)| *known == version);
        Ok((cipher.ok_or(Error::new(ErrorKind::UnknownVersion))?, block.to_be_bytes()))
    }

    /// Returns the integer in a decrypted block.
    fn decrypted_number(&self, block: [u8; BLOCK_BYTES]) -> Result<u64> {
        let number = u64::from_be_bytes(block);
        if number <= self.max_number() { Ok(number) } else { Err(Error::new(ErrorKind::UnknownId)) }
    }

    #[cold]
    fn type_mismatch_error(&self, found: Option<&str>) -> Error {
        let is_short = |name: &&str| name.len() <= MAX_NAME_LEN;
        let found = found
            .filter(is_short)
            .map_or("another".to_owned(), |name| format!("`{}`", name.escape_debug()));
        Error::with_reason(
            ErrorKind::TypeMismatch,
            format!("expected an ID of the type `{}`, found {found}", self.name),
        )
    }
}

impl fmt::Debug for IdType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IdType")
            .field("name", &self.name)
            .field("bits", &self.bits)
            .finish_non_exhaustive()
    }
}

/// Returns the lowercase form of an uppercase letter, or 0 for any other character.
fn lower_case(c: char) -> u8 {
    u8::try_from(c.to_ascii_lowercase()).ok().filter(|_| c.is_ascii_uppercase()).unwrap_or(0)
}

fn check_type_name(name: &str) -> Result<()> {
    let is_wrong = |(at, c): &(usize, char)| {
        !(c.is_ascii_lowercase() || *at > 0 && (c.is_ascii_digit() || *c == '_'))
    };
    if let Some((at, c)) = name.chars().enumerate().find(is_wrong) {
        return Err(Error::mistyped_character(at, c.into(), lower_case(c)).with_field("type"));
    }
    if !(1..=MAX_NAME_LEN).contains(&name.len()) {
        return Err(Error::invalid_length(name.len(), 1, MAX_NAME_LEN).with_field("type"));
    }
    Ok(())
}
