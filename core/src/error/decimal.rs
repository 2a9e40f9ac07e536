//! Integers of 128 bits in decimal.

use core::fmt;

/// The largest power of ten in 32 bits.
const PIECE: u64 = 1_000_000_000;

/// Displays an integer in decimal digits. The standard library's code for 128 bits adds 1.3 KB to a wasm module.
pub(crate) struct Decimal(pub(crate) i128);

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0 < 0 { "-" } else { "" })?;
        let pieces = pieces(self.0.unsigned_abs());
        let first = pieces.iter().position(|piece| *piece > 0).unwrap_or(pieces.len() - 1);
        write!(f, "{}", pieces[first])?;
        for piece in &pieces[first + 1..] {
            write!(f, "{piece:09}")?;
        }
        Ok(())
    }
}

/// Nine digits each, from the highest: by divisions of 64 bits, since one of 128 takes 1 KB.
#[allow(clippy::cast_possible_truncation, reason = "quotients and remainders fit 32 bits")]
fn pieces(number: u128) -> [u32; 5] {
    let mut limbs = [96, 64, 32, 0].map(|shift| (number >> shift) as u32);
    let mut pieces = [0; 5];
    for piece in pieces.iter_mut().rev() {
        let mut rest = 0;
        for limb in &mut limbs {
            let part = rest << 32 | u64::from(*limb);
            (*limb, rest) = ((part / PIECE) as u32, part % PIECE);
        }
        *piece = rest as u32;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn writes_the_edges_of_pieces() {
        let piece = i128::from(PIECE);
        for edge in [0, 1, piece, piece * piece, 1 << 32, 1 << 64, 1 << 96, i128::MAX, i128::MIN] {
            for near in [edge.saturating_sub(1), edge, edge.saturating_add(1)] {
                assert_eq!(Decimal(near).to_string(), near.to_string());
            }
        }
    }

    proptest! {
        #[test]
        fn writes_what_the_standard_library_writes(number in any::<i128>(), shift in 0..128_u32) {
            let number = number >> shift;
            prop_assert_eq!(Decimal(number).to_string(), number.to_string());
        }
    }
}
