//! Writes runs of consecutive IDs. A run of sno IDs is written in blocks of eight IDs (ten 64-bit words). This module also
//! writes runs of 128-bit values that contain an increasing counter.

use crate::arch::Id;

/// The number of IDs in a block, chosen so that a block is a whole number of 64-bit words.
const BLOCK_LEN: usize = 8;
const ID_LEN: usize = size_of::<Id>();
const WORDS: usize = BLOCK_LEN * ID_LEN / 8;

/// Creates the first block, and derives each subsequent block from the previous block by adding eight to every sequence
/// number. A block of eight IDs occupies ten words, and no sequence number spans two words.
pub(crate) fn write_run(ids: &mut [u8], first: Id) {
    let mut blocks = ids.chunks_exact_mut(BLOCK_LEN * ID_LEN);
    let mut block = block_from(first);
    let mut sequence = sequence_of(first);
    for bytes in &mut blocks {
        for (slot, word) in bytes.chunks_exact_mut(8).zip(&block) {
            slot.copy_from_slice(&word.to_be_bytes());
        }
        // The sequences may overflow after the run's last ID, but then they are no longer used.
        block.iter_mut().zip(STEPS).for_each(|(word, step)| *word = word.wrapping_add(step));
        sequence = sequence.wrapping_add(8);
    }
    for slot in blocks.into_remainder().chunks_exact_mut(ID_LEN) {
        slot.copy_from_slice(&with_sequence(first, sequence));
        sequence = sequence.wrapping_add(1);
    }
}

/// Returns an ID's sequence number, which is its last two bytes.
pub(in crate::arch) const fn sequence_of([.., high, low]: Id) -> u16 {
    u16::from_be_bytes([high, low])
}

const fn with_sequence(mut id: Id, sequence: u16) -> Id {
    [id[8], id[9]] = sequence.to_be_bytes();
    id
}

/// The increments from one block to the next: the number eight at the position of each sequence number.
const STEPS: [u64; WORDS] = {
    let mut steps = [0; WORDS];
    let mut id = 0;
    while id < BLOCK_LEN {
        let end = (id + 1) * ID_LEN;
        steps[(end - 1) / 8] = (BLOCK_LEN as u64) << (8 * ((8 - end % 8) % 8));
        id += 1;
    }
    steps
};

fn block_from(first: Id) -> [u64; WORDS] {
    let mut bytes = [0; BLOCK_LEN * ID_LEN];
    let sequences = (0..8).map(|k| sequence_of(first).wrapping_add(k));
    for (slot, sequence) in bytes.chunks_exact_mut(ID_LEN).zip(sequences) {
        slot.copy_from_slice(&with_sequence(first, sequence));
    }
    let mut words = [0; WORDS];
    for (word, slot) in words.iter_mut().zip(bytes.chunks_exact(8)) {
        *word = u64::from_be_bytes(*slot.first_chunk().unwrap_or(&[0; 8]));
    }
    words
}

/// The lowest bit of the counter. The counter is in the lower half of each value.
pub(crate) const COUNTER_STEP: u64 = 1 << 32;

/// Writes values whose lower halves contain an increasing counter.
#[inline(never)] // The caller uses this function for two parts of a run, so inlining would double the loop's code.
pub(super) fn count_up(values: &mut [[u8; 16]], first: [u8; 16]) {
    count_up_inlined(values, first);
}

/// The loop of `count_up`, which compilers vectorize. It is inlined so that it is compiled for each instruction set.
#[inline(always)]
#[allow(clippy::inline_always, reason = "a function that is not inlined lacks the set's features")]
pub(in crate::arch) fn count_up_inlined(values: &mut [[u8; 16]], first: [u8; 16]) {
    let [upper, lower] = [0, 8].map(|at| core::array::from_fn(|byte| first[at + byte]));
    let mut lower = u64::from_be_bytes(lower);
    for value in values {
        let halves: [[u8; 8]; 2] = [upper, lower.to_be_bytes()];
        value.copy_from_slice(halves.as_flattened());
        // The sequence may overflow after the run's last ID, but then it is no longer used.
        lower = lower.wrapping_add(COUNTER_STEP);
    }
}
