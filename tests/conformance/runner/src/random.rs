//! Random cases. The same seed produces the same cases. The correct results are unknown, so the test compares the runtimes
//! with each other.

use data_encoding::HEXLOWER;
use fastrand::Rng;

use super::{Case, hotguid, layout, public, randflake, sno, sparx64, uuid7};

/// A function that creates a case.
type CaseMaker = fn(&mut Rng) -> Case;

/// The functions that create cases, with their weights.
const CASE_MAKERS: [(usize, CaseMaker); 14] = [
    (32, sno::id_case),
    (4, sno::trace_case),
    (8, sparx64::random_case),
    (20, randflake::id_case),
    (6, randflake::trace_case),
    (16, hotguid::id_case),
    (4, hotguid::trace_case),
    (40, layout::id_case),
    (10, layout::description_case),
    (6, layout::text_case),
    (10, layout::trace_case),
    (12, public::random_case),
    (8, uuid7::id_case),
    (4, uuid7::trace_case),
];

pub(crate) fn cases(seed: u64, count: usize) -> impl Iterator<Item = Case> {
    let mut rng = Rng::with_seed(seed);
    (0..count).map(move |index| {
        let case = maker(&mut rng)(&mut rng);
        Case { name: format!("random case {index} of seed {seed}: {}", case.name), ..case }
    })
}

fn maker(rng: &mut Rng) -> CaseMaker {
    let all: usize = CASE_MAKERS.iter().map(|(share, _)| share).sum();
    let mut pick = rng.usize(..all);
    for (share, maker) in CASE_MAKERS {
        match pick.checked_sub(share) {
            Some(rest) => pick = rest,
            None => return maker,
        }
    }
    unreachable!("a pick is below the sum of all shares")
}

/// Returns a random number, often near a power of two, because limits are often powers of two. A JavaScript number can
/// represent every result exactly.
pub(crate) fn number(rng: &mut Rng) -> i64 {
    let near = (1_i64 << rng.u32(..53)) + rng.i64(-2..=2);
    match rng.u32(..6) {
        0 => -near,
        1 => rng.i64(-3..=3),
        2 => rng.i64(0..1 << 53),
        _ => near,
    }
}

/// Returns a number that usually fits in `bits` bits.
pub(crate) fn field(rng: &mut Rng, bits: u32) -> i64 {
    if rng.u32(..10) == 0 { number(rng) } else { rng.i64(0..1 << bits) }
}

/// Returns `length` random bytes in hexadecimal.
pub(crate) fn hex(rng: &mut Rng, length: usize) -> String {
    HEXLOWER.encode(&std::iter::repeat_with(|| rng.u8(..)).take(length).collect::<Vec<_>>())
}

/// Returns a random item of a list.
pub(crate) fn choose<T: Copy>(rng: &mut Rng, things: &[T]) -> T {
    things[rng.usize(..things.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_reproduces_the_same_cases() {
        let requests = |seed| cases(seed, 200).map(|case| case.request).collect::<Vec<_>>();
        assert_eq!(requests(7), requests(7));
        assert_ne!(requests(7), requests(8));
    }
}
