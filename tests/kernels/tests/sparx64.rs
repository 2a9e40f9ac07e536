//! Tests that, at every level, encrypting a slice with SPARX-64/128 gives the same result as encrypting each block with the
//! scalar code.

use kernel_tests::{XorShift, lengths};
use polyflake::{
    kernels::{decrypt_blocks, encrypt_blocks, levels},
    sparx64::Sparx64,
};

/// Returns lengths of up to several groups of 64 blocks, with small and large remainders.
fn group_lengths() -> impl Iterator<Item = usize> {
    lengths().chain([67, 81])
}

#[test]
fn slices_of_every_length_encrypt_and_decrypt() {
    let mut noise = XorShift::new();
    for length in group_lengths() {
        let cipher = Sparx64::new(noise.bytes());
        let plain: Vec<[u8; 8]> = (0..length).map(|_| noise.bytes()).collect();
        let singly: Vec<_> = plain.iter().map(|&block| cipher.encrypt_block(block)).collect();
        for level in levels() {
            let mut blocks = plain.clone();
            encrypt_blocks(level, &cipher, &mut blocks);
            assert_eq!(blocks, singly, "{level:?} {length}");
            decrypt_blocks(level, &cipher, &mut blocks);
            assert_eq!(blocks, plain, "{level:?} {length}");
        }
    }
}

/// Asserts that random blocks, which are not the result of an encryption, decrypt identically at every level.
#[test]
fn random_blocks_decrypt_identically_at_every_level() {
    let mut noise = XorShift::new();
    let cipher = Sparx64::new(noise.bytes());
    for length in group_lengths() {
        let blocks: Vec<[u8; 8]> = (0..length).map(|_| noise.bytes()).collect();
        let singly: Vec<_> = blocks.iter().map(|&block| cipher.decrypt_block(block)).collect();
        for level in levels() {
            let mut many = blocks.clone();
            decrypt_blocks(level, &cipher, &mut many);
            assert_eq!(many, singly, "{level:?} {length}");
        }
    }
}
