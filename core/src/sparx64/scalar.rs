//! One block after the other: the truth that every other kernel is held against.

use super::BLOCK_BYTES;
use super::schedule::{Schedule, Subkeys};

/// One half of a block: the left and the right word of a branch.
type Pair = [u16; 2];

pub(super) fn encrypt_blocks(schedule: &Schedule, blocks: &mut [[u8; BLOCK_BYTES]]) {
    for block in blocks {
        *block = encrypt_block(schedule, *block);
    }
}

pub(super) fn decrypt_blocks(schedule: &Schedule, blocks: &mut [[u8; BLOCK_BYTES]]) {
    for block in blocks {
        *block = decrypt_block(schedule, *block);
    }
}

#[inline]
pub(super) fn encrypt_block(schedule: &Schedule, block: [u8; BLOCK_BYTES]) -> [u8; BLOCK_BYTES] {
    let [mut a, mut b] = load(block);
    for [subkeys_a, subkeys_b] in &schedule.steps {
        a = rounds(a, subkeys_a);
        b = rounds(b, subkeys_b);
        [a, b] = mix(a, b);
    }
    let [k0, k1, k2, k3] = schedule.last;
    store(xor(a, [k0, k1]), xor(b, [k2, k3]))
}

#[inline]
pub(super) fn decrypt_block(schedule: &Schedule, block: [u8; BLOCK_BYTES]) -> [u8; BLOCK_BYTES] {
    let [a, b] = load(block);
    let [k0, k1, k2, k3] = schedule.last;
    let (mut a, mut b) = (xor(a, [k0, k1]), xor(b, [k2, k3]));
    for [subkeys_a, subkeys_b] in schedule.steps.iter().rev() {
        [a, b] = unmix(a, b);
        a = undo_rounds(a, subkeys_a);
        b = undo_rounds(b, subkeys_b);
    }
    store(a, b)
}

/// The cipher's only nonlinear part: one round of SPECKEY without its key.
#[inline]
pub(super) fn arx_box([left, right]: Pair) -> Pair {
    let left = left.rotate_right(7).wrapping_add(right);
    [left, right.rotate_left(2) ^ left]
}

#[inline]
fn undo_arx_box([left, right]: Pair) -> Pair {
    let right = (right ^ left).rotate_right(2);
    [left.wrapping_sub(right).rotate_left(7), right]
}

/// One branch's rounds of one step.
#[inline]
fn rounds(pair: Pair, subkeys: &Subkeys) -> Pair {
    subkeys.iter().fold(pair, |pair, subkey| arx_box(xor(pair, *subkey)))
}

#[inline]
fn undo_rounds(pair: Pair, subkeys: &Subkeys) -> Pair {
    subkeys.iter().rev().fold(pair, |pair, subkey| xor(undo_arx_box(pair), *subkey))
}

/// The linear layer: a Feistel step with the branches swapped after it.
#[inline]
fn mix(a: Pair, b: Pair) -> [Pair; 2] {
    [xor(b, spread(a)), a]
}

#[inline]
fn unmix(a: Pair, b: Pair) -> [Pair; 2] {
    [b, xor(a, spread(b))]
}

/// What the linear layer mixes into the other branch.
#[inline]
fn spread([left, right]: Pair) -> Pair {
    let both = (left ^ right).rotate_left(8);
    [left ^ both, right ^ both]
}

#[inline]
fn xor(a: Pair, b: Pair) -> Pair {
    [a[0] ^ b[0], a[1] ^ b[1]]
}

#[inline]
fn load([b0, b1, b2, b3, b4, b5, b6, b7]: [u8; BLOCK_BYTES]) -> [Pair; 2] {
    let word = |high, low| u16::from_be_bytes([high, low]);
    [[word(b0, b1), word(b2, b3)], [word(b4, b5), word(b6, b7)]]
}

#[inline]
fn store(a: Pair, b: Pair) -> [u8; BLOCK_BYTES] {
    let ([b0, b1], [b2, b3]) = (a[0].to_be_bytes(), a[1].to_be_bytes());
    let ([b4, b5], [b6, b7]) = (b[0].to_be_bytes(), b[1].to_be_bytes());
    [b0, b1, b2, b3, b4, b5, b6, b7]
}
