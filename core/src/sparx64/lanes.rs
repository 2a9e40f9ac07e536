//! Many blocks at once, one in each lane: the rounds of `scalar.rs`, in a shape that compilers make vectors of.
//!
//! Words lie by their place in the block, so a vector holds the same word of many blocks, and a step is one loop over lanes.
//! The file of an instruction set calls this with the set's features switched on, and gets what the set's intrinsics
//! would give. All of it is inlined there: a function of its own would be compiled without the features.

#![allow(clippy::inline_always, reason = "what is not inlined would lack the set's features")]

use super::{
    BLOCK_BYTES, Block,
    scalar::{self, Pair},
    schedule::Schedule,
};

/// Lanes of a group: a few vectors of every instruction set, which share what it costs to bring a subkey to all lanes.
const GROUP: usize = 64;

/// Lanes of a small group, a vector or two. What is left over is padded to the one or the other.
const SMALL: usize = 16;

/// As many blocks take less time one after the other than a small group does.
const FEW: usize = 2;

/// One way through the cipher.
pub(super) trait Direction {
    /// All steps, for all lanes.
    fn steps<const N: usize>(schedule: &Schedule, words: &mut Words<N>);

    /// One block after the other.
    fn one_by_one(schedule: &Schedule, blocks: &mut [Block]);
}

pub(super) struct Encrypt;
pub(super) struct Decrypt;

impl Direction for Encrypt {
    #[inline(always)]
    fn steps<const N: usize>(schedule: &Schedule, words: &mut Words<N>) {
        for [subkeys_a, subkeys_b] in &schedule.steps {
            for lane in 0..N {
                let (a, b) = words.get(lane);
                let a = scalar::rounds(a, subkeys_a);
                let b = scalar::rounds(b, subkeys_b);
                words.set(lane, scalar::mix(a, b));
            }
        }
        words.add_last(schedule);
    }

    #[inline(always)]
    fn one_by_one(schedule: &Schedule, blocks: &mut [Block]) {
        scalar::encrypt_blocks(schedule, blocks);
    }
}

impl Direction for Decrypt {
    #[inline(always)]
    fn steps<const N: usize>(schedule: &Schedule, words: &mut Words<N>) {
        words.add_last(schedule);
        for [subkeys_a, subkeys_b] in schedule.steps.iter().rev() {
            for lane in 0..N {
                let (a, b) = words.get(lane);
                let (a, b) = scalar::unmix(a, b);
                let a = scalar::undo_rounds(a, subkeys_a);
                words.set(lane, (a, scalar::undo_rounds(b, subkeys_b)));
            }
        }
    }

    #[inline(always)]
    fn one_by_one(schedule: &Schedule, blocks: &mut [Block]) {
        scalar::decrypt_blocks(schedule, blocks);
    }
}

/// All blocks in place: whole groups, and a padded one for the rest.
#[inline(always)]
pub(super) fn apply<D: Direction>(schedule: &Schedule, blocks: &mut [Block]) {
    let (groups, rest) = blocks.as_chunks_mut();
    let mut padded = [[0; BLOCK_BYTES]; GROUP];
    padded[..rest.len()].copy_from_slice(rest);
    let last = (rest.len() > SMALL).then_some(&mut padded);
    for group in groups.iter_mut().chain(last) {
        apply_to_group::<D, GROUP>(schedule, group);
    }
    match (rest.len(), padded.first_chunk_mut()) {
        (..=FEW, _) => return D::one_by_one(schedule, rest),
        (..=SMALL, Some(small)) => apply_to_group::<D, SMALL>(schedule, small),
        _ => {}
    }
    rest.copy_from_slice(&padded[..rest.len()]);
}

#[inline(always)]
fn apply_to_group<D: Direction, const N: usize>(schedule: &Schedule, blocks: &mut [Block; N]) {
    let mut words = Words([[0; N]; 4]);
    for (lane, block) in blocks.iter().enumerate() {
        words.set(lane, scalar::load(*block));
    }
    D::steps(schedule, &mut words);
    for (lane, block) in blocks.iter_mut().enumerate() {
        let (a, b) = words.get(lane);
        *block = scalar::store(a, b);
    }
}

/// The words of `N` blocks: the first of each, the second of each, and so on.
pub(super) struct Words<const N: usize>([[u16; N]; 4]);

impl<const N: usize> Words<N> {
    #[inline(always)]
    fn get(&self, lane: usize) -> (Pair, Pair) {
        let [a0, a1, b0, b1] = &self.0;
        ((a0[lane], a1[lane]), (b0[lane], b1[lane]))
    }

    #[inline(always)]
    fn set(&mut self, lane: usize, pairs: (Pair, Pair)) {
        let [a0, a1, b0, b1] = &mut self.0;
        ((a0[lane], a1[lane]), (b0[lane], b1[lane])) = pairs;
    }

    #[inline(always)]
    fn add_last(&mut self, schedule: &Schedule) {
        let [last_a, last_b] = schedule.last.map(Pair::from);
        for lane in 0..N {
            let (a, b) = self.get(lane);
            self.set(lane, (scalar::xor(a, last_a), scalar::xor(b, last_b)));
        }
    }
}
