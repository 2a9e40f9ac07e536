//! SPARX-64/128, one block at a time. This code is the reference: all other kernels are built from it and tested against
//! it.

#![allow(
    clippy::inline_always,
    reason = "in `lanes/cipher.rs`, what is not inlined would lack the set's features"
)]

use crate::arch::Block;

/// The number of steps in an encryption.
pub(crate) const STEPS: usize = 8;

/// The number of rounds that a step performs on each branch.
pub(crate) const ROUNDS: usize = 3;

/// The number of branches in a block. Each branch is a pair of 16-bit words.
pub(crate) const BRANCHES: usize = 2;

/// The subkeys of one branch for one step: two words for each round.
pub(crate) type Subkeys = [[u16; 2]; ROUNDS];

/// The subkeys of every branch of every step, in order of use. `sparx64` derives them from a key, and wipes them on drop.
#[derive(Clone)]
pub(crate) struct Schedule {
    pub(crate) steps: [[Subkeys; BRANCHES]; STEPS],
    /// The subkeys that are mixed into the two branches at the end.
    pub(crate) last: [[u16; 2]; BRANCHES],
}

/// One half of a block: the left and the right word of a branch.
pub(in crate::arch) type Pair = (u16, u16);

pub(in crate::arch) fn encrypt_blocks(schedule: &Schedule, blocks: &mut [Block]) {
    for block in blocks {
        *block = encrypt_block(schedule, *block);
    }
}

pub(in crate::arch) fn decrypt_blocks(schedule: &Schedule, blocks: &mut [Block]) {
    for block in blocks {
        *block = decrypt_block(schedule, *block);
    }
}

#[inline]
pub(crate) fn encrypt_block(schedule: &Schedule, block: Block) -> Block {
    let (mut a, mut b) = load(block);
    for [subkeys_a, subkeys_b] in &schedule.steps {
        a = apply_rounds(a, subkeys_a);
        b = apply_rounds(b, subkeys_b);
        (a, b) = mix_branches(a, b);
    }
    let [last_a, last_b] = schedule.last.map(Pair::from);
    store(xor(a, last_a), xor(b, last_b))
}

#[inline]
pub(crate) fn decrypt_block(schedule: &Schedule, block: Block) -> Block {
    let (a, b) = load(block);
    let [last_a, last_b] = schedule.last.map(Pair::from);
    let (mut a, mut b) = (xor(a, last_a), xor(b, last_b));
    for [subkeys_a, subkeys_b] in schedule.steps.iter().rev() {
        (a, b) = unmix_branches(a, b);
        a = undo_rounds(a, subkeys_a);
        b = undo_rounds(b, subkeys_b);
    }
    store(a, b)
}

/// Performs the cipher's only nonlinear operation: one round of SPECKEY without its key.
#[inline(always)]
pub(crate) fn arx_box((left, right): Pair) -> Pair {
    let left = left.rotate_right(7).wrapping_add(right);
    (left, right.rotate_left(2) ^ left)
}

#[inline(always)]
fn undo_arx_box((left, right): Pair) -> Pair {
    let right = (right ^ left).rotate_right(2);
    (left.wrapping_sub(right).rotate_left(7), right)
}

/// Performs the rounds of one step on one branch.
#[inline(always)]
pub(in crate::arch) fn apply_rounds(pair: Pair, subkeys: &Subkeys) -> Pair {
    subkeys.iter().fold(pair, |pair, subkey| arx_box(xor(pair, (*subkey).into())))
}

#[inline(always)]
pub(in crate::arch) fn undo_rounds(pair: Pair, subkeys: &Subkeys) -> Pair {
    subkeys.iter().rev().fold(pair, |pair, subkey| xor(undo_arx_box(pair), (*subkey).into()))
}

/// Applies the linear layer: a Feistel step, followed by a swap of the branches.
#[inline(always)]
pub(in crate::arch) fn mix_branches(a: Pair, b: Pair) -> (Pair, Pair) {
    (xor(b, diffuse(a)), a)
}

#[inline(always)]
pub(in crate::arch) fn unmix_branches(a: Pair, b: Pair) -> (Pair, Pair) {
    (b, xor(a, diffuse(b)))
}

/// Returns the part of a branch that the linear layer mixes into the other branch.
#[inline(always)]
fn diffuse((left, right): Pair) -> Pair {
    let both = (left ^ right).rotate_left(8);
    (left ^ both, right ^ both)
}

#[inline(always)]
pub(in crate::arch) fn xor(a: Pair, b: Pair) -> Pair {
    (a.0 ^ b.0, a.1 ^ b.1)
}

#[inline(always)]
pub(in crate::arch) fn load([b0, b1, b2, b3, b4, b5, b6, b7]: Block) -> (Pair, Pair) {
    let word = |high, low| u16::from_be_bytes([high, low]);
    ((word(b0, b1), word(b2, b3)), (word(b4, b5), word(b6, b7)))
}

#[inline(always)]
pub(in crate::arch) fn store(a: Pair, b: Pair) -> Block {
    let ([b0, b1], [b2, b3]) = (a.0.to_be_bytes(), a.1.to_be_bytes());
    let ([b4, b5], [b6, b7]) = (b.0.to_be_bytes(), b.1.to_be_bytes());
    [b0, b1, b2, b3, b4, b5, b6, b7]
}
