//! Public texts for numbers that you have: `order_1x…` in a URL for the row 42, the same text for the same number each time.
//!
//! A number is enciphered under a key that its type's name derives from one secret, and written with the type before it and a check
//! character after it. So texts of neighbouring numbers do not look alike, nor do texts of one number under two types, and a
//! mistyped character is refused without deciphering.
//!
//! It hides how many rows there are and which one was first. A text is no permission: it cannot be revoked, and a made-up text
//! decodes to some number with a chance of 2^bits in 2^64. The format, to the bit:
//! <https://example.invalid/polyflake/blob/main/docs/formats.md#public-ids>
//!
//! ```
//! use polyflake::public::Ids;
//!
//! let ids = Ids::new(&[7; 32])?; // 32 random bytes, from the environment or a file
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

/// Bytes of a secret.
pub const SECRET_BYTES: usize = 32;

/// Most characters of a type's name.
pub const MOST_NAME: usize = 63;

/// Characters of a text after its type and `_`.
#[doc(hidden)]
pub const TAIL: usize = text::LEN;

/// Numbers are below 2^48 unless [`Ids::of_bits`] says otherwise.
pub const BITS: u32 = 48;

/// Versions of secrets are below this.
const VERSIONS: u8 = 32;

/// Number of blocks that are enciphered together.
const TOGETHER: usize = 64;

/// The secrets of a program's public IDs.
///
/// A text names the version of its secret. Texts of all versions are read, and the highest version is written unless [`Ids::write`]
/// chooses another. To rotate the secret, first give every process both secrets while it still writes the old version; when all of
/// them read the new version, write it. From then on a number has two texts, so compare numbers, not texts.
///
/// ```
/// use polyflake::public::Ids;
///
/// let ids = Ids::new(&[7; 32])?; // 32 random bytes, from the environment or a file
/// assert_eq!(format!("{ids:?}"), "Ids { .. }");
/// # Ok::<(), polyflake::Error>(())
/// ```
#[derive(Clone)]
pub struct Ids {
    /// The version that is written, then the others from the highest on.
    secrets: Vec<(u8, Zeroizing<[u8; SECRET_BYTES]>)>,
}

impl Ids {
    /// One secret, of version 1.
    ///
    /// ```
    /// use polyflake::public::Ids;
    ///
    /// let ids = Ids::new(&[7; 32])?;
    /// assert_eq!(Ids::new(b"short").unwrap_err().to_string(), "expected a secret of 32 bytes, found 5");
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// `invalid_secret` unless it has 32 bytes.
    pub fn new(secret: &[u8]) -> Result<Self> {
        Self::with_versions([(1, secret)])
    }

    /// Secrets by their versions, 0 to 31.
    ///
    /// ```
    /// use polyflake::public::Ids;
    ///
    /// let old = Ids::new(&[7; 32])?.of("order")?.encode(42)?;
    /// let orders = Ids::with_versions([(1, &[7; 32]), (2, &[8; 32])])?.of("order")?;
    /// let new = orders.encode(42)?;
    /// assert_ne!(old, new);
    /// assert_eq!((orders.decode(&old)?, orders.decode(&new)?), (42, 42));
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// `missing_field` without a secret; `out_of_range` for a version above 31, and for one that is given twice; `invalid_secret`
    /// unless each has 32 bytes, and for one secret under two versions, whose texts would name a secret that was not replaced.
    pub fn with_versions<S: AsRef<[u8]>>(
        secrets: impl IntoIterator<Item = (u8, S)>,
    ) -> Result<Self> {
        // It never grows: growing would leave a copy of the secrets behind that is not wiped.
        let mut all: Vec<(u8, _)> = Vec::with_capacity(VERSIONS.into());
        for (version, secret) in secrets {
            if version >= VERSIONS {
                let most = i128::from(VERSIONS) - 1;
                return Err(Error::out_of_range("version", version.into(), 0, most));
            }
            if all.iter().any(|(known, _)| *known == version) {
                let reason = format!("expected one secret of version {version}, found two");
                return Err(Error::because(ErrorKind::OutOfRange, reason).of("version"));
            }
            let secret = secret.as_ref();
            let wrong = |_| Error::invalid_secret(secret.len(), SECRET_BYTES);
            let secret = Zeroizing::new(secret.try_into().map_err(wrong)?);
            if let Some((known, _)) = all.iter().find(|(_, known)| *known == secret) {
                let reason = format!(
                    "expected another secret for version {version} than for version {known}"
                );
                return Err(Error::because(ErrorKind::InvalidSecret, reason));
            }
            all.insert(all.partition_point(|(known, _)| *known > version), (version, secret));
        }
        if all.is_empty() {
            return Err(Error::field_error(ErrorKind::MissingField, "secret"));
        }
        Ok(Self { secrets: all })
    }

    /// Writes the secret of another version than the highest, and reads all as before: the first step of a rotation, in which
    /// every process learns to read the new version before any process writes it.
    ///
    /// ```
    /// use polyflake::public::Ids;
    ///
    /// let old = Ids::new(&[7; 32])?.of("order")?;
    /// let both = Ids::with_versions([(1, &[7; 32]), (2, &[8; 32])])?;
    /// let orders = both.write(1)?.of("order")?; // later without `write`
    /// assert_eq!(orders.encode(42)?, old.encode(42)?);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// `unknown_version` for a version without a secret.
    pub fn write(mut self, version: u8) -> Result<Self> {
        let chosen = self.secrets.iter().position(|(known, _)| *known == version);
        let chosen = chosen.ok_or(Error::field_error(ErrorKind::UnknownVersion, "write"))?;
        self.secrets[..=chosen].rotate_right(1);
        Ok(self)
    }

    /// The IDs of a type, of numbers below 2^48.
    ///
    /// ```
    /// use polyflake::public::Ids;
    ///
    /// let ids = Ids::new(&[7; 32])?;
    /// assert_eq!(ids.of("order")?.name(), "order");
    /// assert_eq!(ids.of("Order").unwrap_err().position(), Some(0));
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// `invalid_character` and `invalid_length` for a name that is not `[a-z][a-z0-9_]*` of 1 to 63 characters.
    pub fn of(&self, name: &str) -> Result<Type> {
        self.of_bits(name, BITS)
    }

    /// The IDs of a type, of numbers below 2^bits. The fewer bits, the more made-up texts are refused: all but one in 2^(64 - bits).
    /// The same holds for texts of another type or width whose name was exchanged: at 48 bits one in 65,536 decodes, at 63 every
    /// second one. The key depends on the bits, so a type that gets more of them later has other texts.
    ///
    /// ```
    /// use polyflake::public::Ids;
    ///
    /// let flakes = Ids::new(&[7; 32])?.of_bits("post", 63)?; // snowflakes
    /// assert_eq!(flakes.decode(&flakes.encode(175928847299117063)?)?, 175928847299117063);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Ids::of`]; `out_of_range` for no bits, and for more than 64.
    pub fn of_bits(&self, name: &str, bits: u32) -> Result<Type> {
        checked_name(name)?;
        if !(1..=64).contains(&bits) {
            return Err(Error::out_of_range("bits", bits.into(), 1, 64));
        }
        let cipher = |(version, secret): &(u8, Zeroizing<[u8; SECRET_BYTES]>)| {
            (*version, keys::cipher(secret, name, bits))
        };
        let ciphers = self.secrets.iter().map(cipher).collect();
        Ok(Type { name: name.into(), bits, ciphers })
    }
}

impl fmt::Debug for Ids {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ids").finish_non_exhaustive()
    }
}

/// The public IDs of one type: the texts of numbers.
///
/// ```
/// use polyflake::public::Ids;
///
/// let orders = Ids::new(&[7; 32])?.of("order")?;
/// let (one, next) = (orders.encode(42)?, orders.encode(43)?);
/// assert_ne!(one[8..], next[8..]); // nothing tells that they are neighbours
/// # Ok::<(), polyflake::Error>(())
/// ```
#[derive(Clone)]
pub struct Type {
    name: Box<str>,
    bits: u32,
    /// By version, the one that is written first: there is one.
    ciphers: Box<[(u8, Sparx64)]>,
}

impl Type {
    /// The type's name.
    ///
    /// ```
    /// use polyflake::public::Ids;
    ///
    /// assert_eq!(Ids::new(&[7; 32])?.of("order")?.name(), "order");
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text of a number: always the same one, under one secret.
    ///
    /// ```
    /// use polyflake::public::Ids;
    ///
    /// let secret: [u8; 32] = core::array::from_fn(|at| at as u8);
    /// let orders = Ids::new(&secret)?.of("order")?;
    /// assert_eq!(orders.encode(0)?, "order_1abpg7dgwhjba5j");
    /// assert!(orders.encode(1 << 48).is_err());
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// `out_of_range` for a number of more bits than the type's.
    pub fn encode(&self, number: u64) -> Result<String> {
        let tail = self.encode_tail(number)?;
        let mut text = self.prefix();
        text.extend(tail.map(char::from));
        Ok(text)
    }

    /// The characters of a number's text after the type and its `_`. Allocates nothing for a number of the type.
    #[doc(hidden)]
    pub fn encode_tail(&self, number: u64) -> Result<[u8; TAIL]> {
        if number > self.most() {
            return Err(self.too_large(number));
        }
        let (version, cipher) = &self.ciphers[0];
        Ok(text::write(*version, u64::from_be_bytes(cipher.encrypt_block(number.to_be_bytes()))))
    }

    /// The texts of many numbers, which a function gets one by one. The cipher works on many blocks together.
    ///
    /// ```
    /// use polyflake::public::Ids;
    ///
    /// let orders = Ids::new(&[7; 32])?.of("order")?;
    /// let mut texts = vec![];
    /// orders.encode_many(&[42, 43], |text| texts.push(text.to_owned()))?;
    /// assert_eq!(texts, [orders.encode(42)?, orders.encode(43)?]);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Type::encode`], with the item, before the function is called.
    pub fn encode_many(&self, numbers: &[u64], mut each: impl FnMut(&str)) -> Result<()> {
        let most = self.most();
        if let Some(at) = numbers.iter().position(|number| *number > most) {
            return Err(self.too_large(numbers[at]).in_item(at));
        }
        let (version, cipher) = &self.ciphers[0];
        let mut text = self.prefix();
        for numbers in numbers.chunks(TOGETHER) {
            let mut blocks = [[0; BLOCK_BYTES]; TOGETHER];
            let blocks = &mut blocks[..numbers.len()];
            blocks
                .iter_mut()
                .zip(numbers)
                .for_each(|(block, number)| *block = number.to_be_bytes());
            cipher.encrypt_blocks(blocks);
            for block in blocks {
                text.truncate(self.name.len() + 1);
                Self::write(&mut text, *version, *block);
                each(&text);
            }
        }
        Ok(())
    }

    /// The number of a text.
    ///
    /// ```
    /// use polyflake::public::Ids;
    ///
    /// let orders = Ids::new(&[7; 32])?.of("order")?;
    /// assert_eq!(orders.decode(&orders.encode(42)?)?, 42);
    /// assert_eq!(orders.decode("order_0123456789abcde").unwrap_err().code(), "check_failed");
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// `type_mismatch` for a text of another type; `invalid_length`, or `invalid_character` with the character that was meant,
    /// for a text that is no public ID; `check_failed` for a mistyped text; `unknown_version` for a version without a secret
    /// here; `unknown_id` for a text that was made up, or made with another secret.
    pub fn decode(&self, text: &str) -> Result<u64> {
        let (cipher, block) = self.read(text)?;
        self.number(self.ciphers[cipher].1.decrypt_block(block))
    }

    /// The number of a text, from its characters after the type and its `_`. Allocates nothing for characters of the alphabet.
    #[doc(hidden)]
    pub fn decode_tail(&self, tail: &[u8]) -> Result<u64> {
        let (cipher, block) = self.read_tail(tail)?;
        self.number(self.ciphers[cipher].1.decrypt_block(block))
    }

    /// The numbers of many texts. The cipher works on many blocks together.
    ///
    /// ```
    /// use polyflake::public::Ids;
    ///
    /// let orders = Ids::new(&[7; 32])?.of("order")?;
    /// let texts = [orders.encode(42)?, orders.encode(43)?];
    /// assert_eq!(orders.decode_many(&texts)?, [42, 43]);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Type::decode`], with the item.
    pub fn decode_many<S: AsRef<str>>(
        &self,
        texts: impl IntoIterator<Item = S>,
    ) -> Result<Vec<u64>> {
        let (mut ciphers, mut blocks) = (Vec::new(), Vec::new());
        for (at, text) in texts.into_iter().enumerate() {
            let (cipher, block) = self.read(text.as_ref()).map_err(|error| error.in_item(at))?;
            ciphers.push(cipher);
            blocks.push(block);
        }
        let mut rest = &mut *blocks;
        for run in ciphers.chunk_by(usize::eq) {
            let (those, after) = rest.split_at_mut(run.len());
            self.ciphers[run[0]].1.decrypt_blocks(those);
            rest = after;
        }
        let number = |(at, block)| self.number(block).map_err(|error| error.in_item(at));
        blocks.into_iter().enumerate().map(number).collect()
    }

    /// The largest number.
    const fn most(&self) -> u64 {
        u64::MAX >> (64 - self.bits)
    }

    #[cold]
    fn too_large(&self, number: u64) -> Error {
        Error::out_of_range("number", number.into(), 0, self.most().into())
    }

    /// The type and its `_`, with room for the rest.
    fn prefix(&self) -> String {
        let mut text = String::with_capacity(self.name.len() + 1 + text::LEN);
        text.push_str(&self.name);
        text.push('_');
        text
    }

    /// Adds what follows the type.
    fn write(text: &mut String, version: u8, block: [u8; BLOCK_BYTES]) {
        let tail = text::write(version, u64::from_be_bytes(block));
        text.push_str(core::str::from_utf8(&tail).expect("ASCII"));
    }

    /// The cipher of a text, and its block.
    fn read(&self, text: &str) -> Result<(usize, [u8; BLOCK_BYTES])> {
        let (name, tail) = text.rsplit_once('_').ok_or_else(|| self.mismatch(None))?;
        if *name != *self.name {
            return Err(self.mismatch(Some(name)));
        }
        if !tail.is_ascii() {
            return Err(text::past_ascii(tail, name.len() + 1));
        }
        self.read_tail(tail.as_bytes())
    }

    fn read_tail(&self, tail: &[u8]) -> Result<(usize, [u8; BLOCK_BYTES])> {
        let (version, block) = text::read(tail, self.name.len() + 1)?;
        let cipher = self.ciphers.iter().position(|(known, _)| *known == version);
        Ok((cipher.ok_or(Error::new(ErrorKind::UnknownVersion))?, block.to_be_bytes()))
    }

    /// The number of a deciphered block.
    fn number(&self, block: [u8; BLOCK_BYTES]) -> Result<u64> {
        let number = u64::from_be_bytes(block);
        if number <= self.most() { Ok(number) } else { Err(Error::new(ErrorKind::UnknownId)) }
    }

    #[cold]
    fn mismatch(&self, found: Option<&str>) -> Error {
        let is_short = |name: &&str| name.len() <= MOST_NAME;
        let found = found
            .filter(is_short)
            .map_or("another".to_owned(), |name| format!("'{}'", name.escape_debug()));
        Error::because(
            ErrorKind::TypeMismatch,
            format!("expected an ID of the type '{}', found {found}", self.name),
        )
    }
}

impl fmt::Debug for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Type")
            .field("name", &self.name)
            .field("bits", &self.bits)
            .finish_non_exhaustive()
    }
}

/// The lower case of a capital, or 0.
fn lower_case(c: char) -> u8 {
    u8::try_from(c.to_ascii_lowercase()).ok().filter(|_| c.is_ascii_uppercase()).unwrap_or(0)
}

fn checked_name(name: &str) -> Result<()> {
    let is_wrong = |(at, c): &(usize, char)| {
        !(c.is_ascii_lowercase() || *at > 0 && (c.is_ascii_digit() || *c == '_'))
    };
    if let Some((at, c)) = name.chars().enumerate().find(is_wrong) {
        return Err(Error::mistaken_character(at, c.into(), lower_case(c)).of("type"));
    }
    if !(1..=MOST_NAME).contains(&name.len()) {
        return Err(Error::invalid_length(name.len(), 1, MOST_NAME).of("type"));
    }
    Ok(())
}
