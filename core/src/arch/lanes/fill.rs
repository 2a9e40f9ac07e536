//! Writes runs of sno IDs in blocks of sixteen. A block consists of 80 16-bit words: five AVX2 vectors or ten 128-bit
//! vectors. Larger blocks would not be faster, because these blocks are already written as fast as memory can be cleared.
//! With AVX2, writing 10 KB takes 0.06 ns per ID.

#![allow(clippy::inline_always, reason = "a function that is not inlined lacks the set's features")]

use crate::arch::{Id, scalar::fill::sequence_of};

/// The number of IDs in a block.
const BLOCK_LEN: u16 = 16;
const WORDS: usize = BLOCK_LEN as usize * size_of::<Id>() / 2;

/// A mask that selects the sequence numbers: all bits of every fifth word.
const SEQUENCES: [u16; WORDS] = {
    let mut words = [0; WORDS];
    let mut word = 4;
    while word < WORDS {
        words[word] = u16::MAX;
        word += 5;
    }
    words
};

/// Creates the first block, and writes copies of it. In each copy, the sequence numbers are increased by the number of IDs
/// already written.
#[inline(always)]
pub(in crate::arch) fn write_run(ids: &mut [u8], first: Id) {
    let words = block_from(first);
    let (blocks, rest) = ids.as_chunks_mut().0.as_chunks_mut::<WORDS>();
    let mut ahead = 0;
    for block in blocks {
        write_words(block, &words, ahead);
        // The sequence may overflow after the run's last ID, but then it is no longer used.
        ahead = ahead.wrapping_add(BLOCK_LEN);
    }
    write_words(rest, &words, ahead);
}

#[inline(always)]
fn write_words(places: &mut [[u8; 2]], words: &[u16; WORDS], ahead: u16) {
    for ((place, word), sequence) in places.iter_mut().zip(words).zip(&SEQUENCES) {
        *place = word.wrapping_add(ahead & sequence).to_be_bytes();
    }
}

#[inline(always)]
fn block_from(first: Id) -> [u16; WORDS] {
    let mut words = [0; WORDS];
    let mut sequence = sequence_of(first);
    for id in words.as_chunks_mut::<5>().0 {
        for (word, bytes) in id.iter_mut().zip(first.as_chunks().0) {
            *word = u16::from_be_bytes(*bytes);
        }
        id[4] = sequence;
        sequence = sequence.wrapping_add(1);
    }
    words
}
