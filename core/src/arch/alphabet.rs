//! The base32 alphabets, and conversions of eight characters at a time, one in each byte of a word.

/// An alphabet that consists of two character ranges: digits for the lowest values, and letters from `a` for all other
/// values.
#[derive(Clone, Copy)]
pub(crate) struct Alphabet {
    /// The digit that represents the value 0.
    pub(crate) digit: u8,
    /// The number of values that are encoded as digits.
    pub(crate) digits: u8,
}

/// sno's alphabet: `2`-`9` and `a`-`x` (source: sno 1.2.1).
pub(crate) const SNO: Alphabet = Alphabet { digit: b'2', digits: 8 };

/// The base32hex alphabet: `0`-`9` and `a`-`v` (RFC 4648, section 7, in lowercase).
pub(crate) const HEX: Alphabet = Alphabet { digit: b'0', digits: 10 };

/// The first letter of both alphabets.
pub(crate) const FIRST_LETTER: u8 = b'a';

/// Returns a word with the same value in every byte.
pub(crate) const fn splat(byte: u8) -> u64 {
    byte as u64 * 0x0101_0101_0101_0101
}

const HIGH_BITS: u64 = splat(0x80);

impl Alphabet {
    /// Returns the number of values that are encoded as letters.
    pub(crate) const fn letter_count(self) -> u8 {
        32 - self.digits
    }

    /// Returns all characters, in the order of their values, for kernels that look them up.
    #[allow(dead_code, reason = "not every set looks characters up")]
    pub(crate) const fn table(self) -> [u8; 32] {
        let mut table = [0; 32];
        let mut value = 0;
        while value < 32 {
            table[value] = self.characters(value as u64).to_le_bytes()[0];
            value += 1;
        }
        table
    }

    /// Returns the offsets from values to characters. The offset for each digit is stored at the index of its value, and
    /// the offset that all letters share is stored at index `digits`.
    #[allow(dead_code, reason = "not every set adds offsets")]
    pub(crate) const fn offsets(self) -> [u8; 16] {
        let mut offsets = [self.digit; 16];
        offsets[self.digits as usize] = FIRST_LETTER - self.digits;
        offsets
    }

    /// Returns the characters of eight values below 32.
    #[inline]
    pub(crate) const fn characters(self, values: u64) -> u64 {
        let letters = (values + splat(0x80 - self.digits)) >> 7 & splat(1);
        values + splat(self.digit) + letters * (FIRST_LETTER - self.digit - self.digits) as u64
    }

    /// Returns the values of eight characters, and a word with a bit set for each character that is not in the alphabet.
    #[inline]
    pub(crate) const fn values(self, characters: u64) -> (u64, u64) {
        let letters = characters >> 6 & splat(1);
        let lifted = characters | HIGH_BITS;
        // The high bit of each byte remains set after the subtraction unless the character is less than the subtracted
        // number.
        let first = FIRST_LETTER - self.digit;
        let above_first = lifted - (splat(self.digit) + letters * first as u64);
        let past = first + self.letter_count() - self.digits;
        let past_last = lifted - (splat(self.digit + self.digits) + letters * past as u64);
        let bad = (characters | !above_first | past_last) & HIGH_BITS;
        ((above_first & !HIGH_BITS) + letters * self.digits as u64, bad)
    }
}

/// Spreads 40 bits over the eight bytes of a word, five bits to each byte.
#[inline]
pub(crate) const fn spread_to_bytes(bits: u64) -> u64 {
    // Each step halves every group and moves the halves apart: from 40 bits to two groups of 20, four of 10, and eight of 5.
    // These three steps replace eight shifts.
    let twenties = (bits & 0xff_fff0_0000) << 12 | bits & 0xf_ffff;
    let tens = (twenties & 0x000f_fc00_000f_fc00) << 6 | twenties & 0x0000_03ff_0000_03ff;
    (tens & 0x03e0_03e0_03e0_03e0) << 3 | tens & 0x001f_001f_001f_001f
}

/// Gathers five bits from each byte of a word into 40 bits.
#[inline]
pub(crate) const fn gather_from_bytes(fives: u64) -> u64 {
    // Reverses the steps of `spread_to_bytes`.
    let tens = (fives & 0x1f00_1f00_1f00_1f00) >> 3 | fives & 0x001f_001f_001f_001f;
    let twenties = (tens & 0x03ff_0000_03ff_0000) >> 6 | tens & 0x0000_03ff_0000_03ff;
    (twenties & 0x000f_ffff_0000_0000) >> 12 | twenties & 0xf_ffff
}
