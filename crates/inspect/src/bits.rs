//! The bits of an ID, most significant bit first, and the alphabets of encoded IDs.

/// The maximum number of bits in an ID. This is the size of the largest possible layout.
pub(crate) const MAX_BITS: u32 = 1024;
const MAX_BYTES: usize = MAX_BITS as usize / 8;

/// An ID's bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bits {
    bytes: [u8; MAX_BYTES],
    pub(crate) len: u32,
}

impl Bits {
    /// Returns the lowest `len` bits of a number, or `None` if the number does not fit in `len` bits.
    pub(crate) fn from_number(number: u128, len: u32) -> Option<Self> {
        let fits = len >= 128 || number >> len == 0;
        fits.then(|| Self::from_low_bits(&number.to_be_bytes(), len))
    }

    /// Decodes a string as a number. Returns `None` if a character is not in the alphabet, or if the number does not fit in
    /// `len` bits.
    pub(crate) fn from_text(text: &str, alphabet: &Alphabet, len: u32) -> Option<Self> {
        let mut number = [0_u8; MAX_BYTES];
        let number = &mut number[..(len as usize).div_ceil(8)];
        for character in text.bytes() {
            let mut carry = u32::from(alphabet.value(character)?);
            for byte in number.iter_mut().rev() {
                carry += u32::from(*byte) * alphabet.base();
                *byte = carry.to_le_bytes()[0];
                carry >>= 8;
            }
            if carry != 0 {
                return None;
            }
        }
        let above = if len.is_multiple_of(8) { 0 } else { number[0] >> (len % 8) };
        (above == 0).then(|| Self::from_low_bits(number, len))
    }

    /// Creates bits from whole bytes. Returns `None` if there are too many bytes.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let len = u32::try_from(bytes.len() * 8).ok()?;
        (bytes.len() <= MAX_BYTES).then(|| Self::from_low_bits(bytes, len))
    }

    /// Creates bits from the last `len` bits of the given bytes.
    pub(crate) fn from_low_bits(bytes: &[u8], len: u32) -> Self {
        let mut of = [0; MAX_BYTES];
        let (from, to) = (bytes.len() - (len as usize).div_ceil(8), (len as usize).div_ceil(8));
        of[..to].copy_from_slice(&bytes[from..]);
        Self { bytes: of, len }
    }

    /// Returns the bits as bytes. If the number of bits is not a multiple of 8, the first byte is padded with leading
    /// zeros.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..(self.len as usize).div_ceil(8)]
    }

    /// Returns the field of `bits` bits (at most 128) that starts at bit `from`.
    pub(crate) fn field(&self, from: u32, bits: u32) -> u128 {
        let above = self.len.next_multiple_of(8) - self.len;
        let (mut at, end, mut value) = (from + above, from + above + bits, 0_u128);
        while at < end {
            let next = (at - at % 8 + 8).min(end);
            let byte = self.bytes[(at / 8) as usize] << (at % 8) >> (8 - (next - at));
            value = value << (next - at) | u128::from(byte);
            at = next;
        }
        value
    }
}

/// Returns the bit at position `at` of the `len` bits in `bytes`, counted from the most significant bit.
pub(crate) fn bit(bytes: &[u8], len: u32, at: u32) -> bool {
    let at = at + len.next_multiple_of(8) - len;
    bytes[(at / 8) as usize] >> (7 - at % 8) & 1 == 1
}

/// The characters of an encoding, sorted by value. The first character has the value 0.
pub(crate) struct Alphabet(pub(crate) &'static [u8]);

impl Alphabet {
    pub(crate) const SNO: Self = Self(b"23456789abcdefghijklmnopqrstuvwx");
    pub(crate) const HEX: Self = Self(b"0123456789abcdef");
    pub(crate) const BASE32HEX: Self = Self(b"0123456789abcdefghijklmnopqrstuv");
    pub(crate) const CROCKFORD: Self = Self(b"0123456789ABCDEFGHJKMNPQRSTVWXYZ");
    pub(crate) const CROCKFORD_LOWER: Self = Self(b"0123456789abcdefghjkmnpqrstvwxyz");
    /// The AT protocol's base32 alphabet, in ASCII order.
    pub(crate) const BASE32_SORTABLE: Self = Self(b"234567abcdefghijklmnopqrstuvwxyz");
    pub(crate) const BASE36: Self = Self(b"0123456789abcdefghijklmnopqrstuvwxyz");
    pub(crate) const BASE36_UPPER: Self = Self(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    pub(crate) const BASE62: Self =
        Self(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
    /// The alphabet of Firebase's push IDs, in ASCII order.
    pub(crate) const PUSH_ID: Self =
        Self(b"-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz");

    pub(crate) const BASE64: Self =
        Self(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
    pub(crate) const NANOID: Self =
        Self(b"useandom-26T198340PX75pxJACKVERYMINDBUSHWOLF_GQZbfghjklqvwyzrict");

    pub(crate) fn value(&self, character: u8) -> Option<u8> {
        self.0.iter().position(|of| *of == character).map(|at| at.to_le_bytes()[0])
    }

    fn base(&self) -> u32 {
        self.0.iter().map(|_| 1).sum()
    }
}
