//! Up to 1,024 bits, from the most significant one, and the alphabets in which they are encoded.

/// The most bits of an ID: those of the largest layout.
pub(crate) const MOST: u32 = 1024;
const BYTES: usize = MOST as usize / 8;

/// An ID's bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bits {
    bytes: [u8; BYTES],
    pub(crate) len: u32,
}

impl Bits {
    /// The lowest `len` bits of a number, or `None` if it has more.
    pub(crate) fn from_number(number: u128, len: u32) -> Option<Self> {
        let fits = len >= 128 || number >> len == 0;
        fits.then(|| Self::from_low(&number.to_be_bytes(), len))
    }

    /// A text as a number: `None` for another character, and where the number has more than `len` bits.
    pub(crate) fn from_text(text: &str, alphabet: &Alphabet, len: u32) -> Option<Self> {
        let mut number = [0_u8; BYTES];
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
        (above == 0).then(|| Self::from_low(number, len))
    }

    /// Whole bytes.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let len = u32::try_from(bytes.len() * 8).ok()?;
        (bytes.len() <= BYTES).then(|| Self::from_low(bytes, len))
    }

    /// The last `len` bits of some bytes.
    pub(crate) fn from_low(bytes: &[u8], len: u32) -> Self {
        let mut of = [0; BYTES];
        let (from, to) = (bytes.len() - (len as usize).div_ceil(8), (len as usize).div_ceil(8));
        of[..to].copy_from_slice(&bytes[from..]);
        Self { bytes: of, len }
    }

    /// The bytes, the first of them filled with zeros from the top where the bits are no whole bytes.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..(self.len as usize).div_ceil(8)]
    }

    /// `bits` bits, at most 128, from the bit `from`.
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

/// The bit `at` of `len` bits in `bytes`, counted from the most significant one.
pub(crate) fn bit(bytes: &[u8], len: u32, at: u32) -> bool {
    let at = at + len.next_multiple_of(8) - len;
    bytes[(at / 8) as usize] >> (7 - at % 8) & 1 == 1
}

/// The characters of a text, from the value 0.
pub(crate) struct Alphabet(pub(crate) &'static [u8]);

impl Alphabet {
    pub(crate) const SNO: Self = Self(b"23456789abcdefghijklmnopqrstuvwx");
    pub(crate) const HEX: Self = Self(b"0123456789abcdef");
    pub(crate) const BASE32HEX: Self = Self(b"0123456789abcdefghijklmnopqrstuv");
    pub(crate) const CROCKFORD: Self = Self(b"0123456789ABCDEFGHJKMNPQRSTVWXYZ");
    pub(crate) const CROCKFORD_LOWER: Self = Self(b"0123456789abcdefghjkmnpqrstvwxyz");
    /// Base32 in the order of ASCII, of the AT protocol.
    pub(crate) const SORTABLE: Self = Self(b"234567abcdefghijklmnopqrstuvwxyz");
    pub(crate) const BASE36: Self = Self(b"0123456789abcdefghijklmnopqrstuvwxyz");
    pub(crate) const BASE36_UPPER: Self = Self(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    pub(crate) const BASE62: Self =
        Self(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
    /// The alphabet of Firebase's push IDs, in the order of ASCII.
    pub(crate) const PUSH: Self =
        Self(b"-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz");

    pub(crate) const NANO: Self =
        Self(b"useandom-26T198340PX75pxJACKVERYMINDBUSHWOLF_GQZbfghjklqvwyzrict");

    pub(crate) fn value(&self, character: u8) -> Option<u8> {
        self.0.iter().position(|of| *of == character).map(|at| at.to_le_bytes()[0])
    }

    fn base(&self) -> u32 {
        self.0.iter().map(|_| 1).sum()
    }
}
