//! Eight IDs at a time, in ten words of 64 bits.

use super::Sno;

/// IDs in a block whose bytes are whole 64-bit words.
const BLOCK: usize = 8;
const WORDS: usize = BLOCK * Sno::LEN / 8;

/// Makes a block once, and each further one by adding eight to every sequence in place. A block of eight IDs is ten words, and
/// no sequence lies across two words.
pub(super) fn write_run(ids: &mut [u8], first: Sno) {
    let mut blocks = ids.chunks_exact_mut(BLOCK * Sno::LEN);
    let mut block = block_from(first);
    let mut sequence = first.sequence();
    for bytes in &mut blocks {
        for (slot, word) in bytes.chunks_exact_mut(8).zip(&block) {
            slot.copy_from_slice(&word.to_be_bytes());
        }
        // Past the end of the run these overflow, but they are not used there.
        block.iter_mut().zip(STEPS).for_each(|(word, step)| *word = word.wrapping_add(step));
        sequence = sequence.wrapping_add(8);
    }
    for slot in blocks.into_remainder().chunks_exact_mut(Sno::LEN) {
        slot.copy_from_slice(first.with_sequence(sequence).as_bytes());
        sequence = sequence.wrapping_add(1);
    }
}

/// The value eight at the place of each sequence.
const STEPS: [u64; WORDS] = {
    let mut steps = [0; WORDS];
    let mut id = 0;
    while id < BLOCK {
        let end = (id + 1) * Sno::LEN;
        steps[(end - 1) / 8] = (BLOCK as u64) << (8 * ((8 - end % 8) % 8));
        id += 1;
    }
    steps
};

fn block_from(first: Sno) -> [u64; WORDS] {
    let mut bytes = [0; BLOCK * Sno::LEN];
    let sequences = (0..8).map(|k| first.sequence().wrapping_add(k));
    for (slot, sequence) in bytes.chunks_exact_mut(Sno::LEN).zip(sequences) {
        slot.copy_from_slice(first.with_sequence(sequence).as_bytes());
    }
    let mut words = [0; WORDS];
    for (word, slot) in words.iter_mut().zip(bytes.chunks_exact(8)) {
        *word = u64::from_be_bytes(*slot.first_chunk().unwrap_or(&[0; 8]));
    }
    words
}
