//! SPARX for many blocks at once, one block in each lane, in plain Rust that compilers turn into vector instructions.
//!
//! A block is four 16-bit words, and a round only adds, rotates and xors words. A single block offers little parallelism,
//! because each round depends on the previous round: 24 rounds with their linear layers form one long dependency chain.
//! Blocks, however, do not depend on each other. Therefore a vector holds the *same* word of many blocks, and each
//! instruction performs one step for all of them:
//!
//! ```text
//! in memory, a row per block        in `Words`, a row per place in the block
//!
//! block 0   a0 a1 b0 b1             b1 of all blocks
//! block 1   a0 a1 b0 b1     ->      b0 of all blocks
//! block 2   a0 a1 b0 b1             a1 of all blocks
//! ..                                a0 of all blocks
//! ```
//!
//! The transposition takes a few swaps per block at the start and at the end (`Rows::transposed`). It moves four blocks
//! that are a quarter of the group apart into adjacent lanes, which does not require instructions that shuffle data across
//! lanes. The order of blocks within a group does not matter, because the same swaps restore it.
//!
//! This module uses no intrinsics. It calls the round functions of the scalar reference in a loop over a fixed number of
//! lanes. The compiler vectorizes this loop for the instruction set that the calling module has enabled, so the same source
//! serves SSE2, AVX2, AVX-512, NEON and SIMD128. The generated code is as fast as an earlier version that used intrinsics.
//! The drawback is that every function must be inlined into its caller, because a separate function would be compiled
//! without the caller's features.
//!
//! No branch or index depends on a block's content, so the running time does not depend on the data.

#![allow(clippy::inline_always, reason = "a function that is not inlined lacks the set's features")]

use crate::arch::{
    Block,
    scalar::cipher::{self as scalar, Pair, Schedule},
};

const BLOCK_BYTES: usize = size_of::<Block>();

/// The number of lanes in a group. In every instruction set, a group occupies a few vectors, which share the cost of
/// copying a subkey to all lanes.
const GROUP_LANES: usize = 64;

/// The number of lanes in a small group, which occupies one or two vectors. The blocks that remain after the last full
/// group are padded to a small group or, if there are too many, to a full group. WebAssembly has no small group, because
/// the unrolled code for it would add 2.4 KB to a compressed module, and processing a full group takes only 0.6 us.
const SMALL_GROUP_LANES: usize =
    if cfg!(target_arch = "wasm32") { MAX_BLOCKS_ONE_BY_ONE } else { 16 };

/// The largest number of blocks that are processed faster one by one than as a small group.
const MAX_BLOCKS_ONE_BY_ONE: usize = 2;

/// A direction of the cipher: encryption or decryption.
pub(in crate::arch) trait Direction {
    /// Performs all steps of the cipher for all lanes.
    fn apply_steps<const N: usize>(schedule: &Schedule, words: &mut Words<N>);

    /// Processes the blocks one after the other.
    fn apply_one_by_one(schedule: &Schedule, blocks: &mut [Block]);
}

pub(in crate::arch) struct Encryption;
pub(in crate::arch) struct Decryption;

impl Direction for Encryption {
    #[inline(always)]
    fn apply_steps<const N: usize>(schedule: &Schedule, words: &mut Words<N>) {
        for [subkeys_a, subkeys_b] in &schedule.steps {
            for lane in 0..N {
                let (a, b) = words.get(lane);
                let a = scalar::apply_rounds(a, subkeys_a);
                let b = scalar::apply_rounds(b, subkeys_b);
                words.set(lane, scalar::mix_branches(a, b));
            }
        }
        words.add_last_subkeys(schedule);
    }

    #[inline(always)]
    fn apply_one_by_one(schedule: &Schedule, blocks: &mut [Block]) {
        scalar::encrypt_blocks(schedule, blocks);
    }
}

impl Direction for Decryption {
    #[inline(always)]
    fn apply_steps<const N: usize>(schedule: &Schedule, words: &mut Words<N>) {
        words.add_last_subkeys(schedule);
        for [subkeys_a, subkeys_b] in schedule.steps.iter().rev() {
            for lane in 0..N {
                let (a, b) = words.get(lane);
                let (a, b) = scalar::unmix_branches(a, b);
                let a = scalar::undo_rounds(a, subkeys_a);
                words.set(lane, (a, scalar::undo_rounds(b, subkeys_b)));
            }
        }
    }

    #[inline(always)]
    fn apply_one_by_one(schedule: &Schedule, blocks: &mut [Block]) {
        scalar::decrypt_blocks(schedule, blocks);
    }
}

/// Processes all blocks in place: first in whole groups, then the remaining blocks in a padded group.
#[inline(always)]
pub(in crate::arch) fn apply<D: Direction>(schedule: &Schedule, blocks: &mut [Block]) {
    let (groups, rest) = blocks.as_chunks_mut();
    // The compiler vectorizes only loops of a fixed length, so the remaining blocks are padded to a group. The padding is
    // not copied back below.
    let mut padded = [[0; BLOCK_BYTES]; GROUP_LANES];
    padded[..rest.len()].copy_from_slice(rest);
    // The loop over the whole groups also processes the padded group, so that the code for groups of this length is inlined
    // only once.
    let last = (rest.len() > SMALL_GROUP_LANES).then_some(&mut padded);
    for group in groups.iter_mut().chain(last) {
        apply_to_group::<D, GROUP_LANES>(schedule, group);
    }
    match (rest.len(), padded.first_chunk_mut()) {
        (..=MAX_BLOCKS_ONE_BY_ONE, _) => return D::apply_one_by_one(schedule, rest),
        (count, Some(small)) if count <= SMALL_GROUP_LANES => {
            apply_to_group::<D, SMALL_GROUP_LANES>(schedule, small);
        }
        _ => {}
    }
    rest.copy_from_slice(&padded[..rest.len()]);
}

#[inline(always)]
fn apply_to_group<D: Direction, const N: usize>(schedule: &Schedule, blocks: &mut [Block; N]) {
    let mut words = Words::load(blocks);
    D::apply_steps(schedule, &mut words);
    words.store(blocks);
}

/// The words of `N` blocks, with one row for each word position in the block: first the last words of all blocks, then the
/// words before them, and so on.
#[repr(align(64))] // Without this alignment, a vector could span two cache lines.
pub(in crate::arch) struct Words<const N: usize>([[u16; N]; 4]);

impl<const N: usize> Words<N> {
    #[inline(always)]
    fn load(blocks: &[Block; N]) -> Self {
        let rows = Rows(blocks.map(|block| u64::from_be_bytes(block).to_ne_bytes())).transposed();
        let mut words = Self([[0; N]; 4]);
        let bytes = rows.0.as_flattened().as_chunks().0;
        for (word, bytes) in words.0.as_flattened_mut().iter_mut().zip(bytes) {
            *word = u16::from_ne_bytes(*bytes);
        }
        words
    }

    #[inline(always)]
    fn store(&self, blocks: &mut [Block; N]) {
        let mut rows = Rows([[0; BLOCK_BYTES]; N]);
        let bytes = rows.0.as_flattened_mut().as_chunks_mut().0;
        for (word, bytes) in self.0.as_flattened().iter().zip(bytes) {
            *bytes = word.to_ne_bytes();
        }
        *blocks = rows.transposed().0.map(|row| u64::from_ne_bytes(row).to_be_bytes());
    }

    #[inline(always)]
    fn get(&self, lane: usize) -> (Pair, Pair) {
        let [b1, b0, a1, a0] = &self.0;
        ((a0[lane], a1[lane]), (b0[lane], b1[lane]))
    }

    #[inline(always)]
    fn set(&mut self, lane: usize, pairs: (Pair, Pair)) {
        let [b1, b0, a1, a0] = &mut self.0;
        ((a0[lane], a1[lane]), (b0[lane], b1[lane])) = pairs;
    }

    #[inline(always)]
    fn add_last_subkeys(&mut self, schedule: &Schedule) {
        let [last_a, last_b] = schedule.last.map(Pair::from);
        for lane in 0..N {
            let (a, b) = self.get(lane);
            self.set(lane, (scalar::xor(a, last_a), scalar::xor(b, last_b)));
        }
    }
}

/// The blocks of a group, each as the bytes of a 64-bit number in native byte order.
#[repr(align(64))]
struct Rows<const N: usize>([[u8; BLOCK_BYTES]; N]);

impl<const N: usize> Rows<N> {
    /// Transposes blocks into rows of words, or back. Four blocks that are a quarter of the group apart end up in adjacent
    /// lanes.
    #[inline(always)]
    fn transposed(mut self) -> Self {
        for i in 0..N / 4 {
            let at = [0, 1, 2, 3].map(|quarter| quarter * N / 4 + i);
            let [a, b, c, d] = at.map(|at| u64::from_ne_bytes(self.0[at]));
            let ((a, c), (b, d)) = (swap_halves(a, c), swap_halves(b, d));
            let ((a, b), (c, d)) = (swap_words(a, b), swap_words(c, d));
            for (at, row) in at.into_iter().zip([a, b, c, d]) {
                self.0[at] = row.to_ne_bytes();
            }
        }
        self
    }
}

/// Swaps the high half of one row with the low half of another.
#[inline(always)]
const fn swap_halves(a: u64, b: u64) -> (u64, u64) {
    const LOW_HALF: u64 = 0x0000_0000_ffff_ffff;
    (a & LOW_HALF | b << 32, a >> 32 | b & !LOW_HALF)
}

/// Within each 32-bit half of two rows, swaps the high word of `a` with the low word of `b`.
#[inline(always)]
const fn swap_words(a: u64, b: u64) -> (u64, u64) {
    const LOW_WORDS: u64 = 0x0000_ffff_0000_ffff;
    (a & LOW_WORDS | (b & LOW_WORDS) << 16, (a >> 16) & LOW_WORDS | b & !LOW_WORDS)
}
