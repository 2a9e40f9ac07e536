//! Integers of any size in decimal, nine digits at a time.

use core::fmt;

/// The largest power of ten in 32 bits.
const PIECE: u64 = 1_000_000_000;

/// Writes an integer in decimal digits. The standard library's code for 128 bits adds 1.3 KB to a wasm module.
#[allow(clippy::cast_possible_truncation, reason = "limbs of 32 bits")]
pub(crate) fn put(to: &mut dyn fmt::Write, number: i128) -> fmt::Result {
    let magnitude = number.unsigned_abs();
    let mut limbs = [0, 32, 64, 96].map(|shift| (magnitude >> shift) as u32);
    to.write_str(if number < 0 { "-" } else { "" })?;
    put_pieces(to, &[(); 5].map(|()| divide(&mut limbs)))
}

/// Writes nine digits each of pieces, whose lowest is the first, without leading zeros.
#[allow(clippy::cast_possible_truncation, reason = "a digit")]
pub(crate) fn put_pieces(to: &mut dyn fmt::Write, pieces: &[u32]) -> fmt::Result {
    let mut is_leading = true;
    for (place, piece) in pieces.iter().enumerate().rev() {
        let mut unit = PIECE as u32 / 10;
        while unit > 0 {
            let digit = piece / unit % 10;
            is_leading &= digit == 0 && (place, unit) != (0, 1);
            if !is_leading {
                to.write_char(char::from(b'0' + digit as u8))?;
            }
            unit /= 10;
        }
    }
    Ok(())
}

/// Divides an integer in limbs, whose lowest is the first, by 10^9, and returns the remainder: by divisions of 64 bits, since one of
/// 128 takes 1 KB.
#[allow(clippy::cast_possible_truncation, reason = "quotients and remainders fit 32 bits")]
pub(crate) fn divide(limbs: &mut [u32]) -> u32 {
    let mut rest = 0;
    for limb in limbs.iter_mut().rev() {
        let part = rest << 32 | u64::from(*limb);
        (*limb, rest) = ((part / PIECE) as u32, part % PIECE);
    }
    rest as u32
}

#[cfg(test)]
mod tests {
    use std::string::{String, ToString};

    use proptest::prelude::*;

    use super::*;

    fn written(number: i128) -> String {
        let mut text = String::new();
        put(&mut text, number).unwrap();
        text
    }

    #[test]
    fn writes_the_edges_of_pieces() {
        let piece = i128::from(PIECE);
        for edge in [0, 1, piece, piece * piece, 1 << 32, 1 << 64, 1 << 96, i128::MAX, i128::MIN] {
            for near in [edge.saturating_sub(1), edge, edge.saturating_add(1)] {
                assert_eq!(written(near), near.to_string());
            }
        }
    }

    proptest! {
        #[test]
        fn writes_what_the_standard_library_writes(number in any::<i128>(), shift in 0..128_u32) {
            let number = number >> shift;
            prop_assert_eq!(written(number), number.to_string());
        }
    }
}
