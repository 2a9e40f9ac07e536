//! Tests the cipher against its published test vector, the outputs of the original implementations, and its inverse.

mod support;

use polyflake::{ErrorKind, kernels, sparx64::Sparx64};
use proptest::prelude::*;
use serde::Deserialize;
use support::{LONG_INPUT, hex, miri_step, typed_vectors, unhex};

#[derive(Deserialize)]
struct Case {
    key: String,
    plaintext: String,
    ciphertext: String,
}

#[derive(Deserialize)]
struct VectorFile {
    cases: Vec<Case>,
}

fn cases() -> Vec<Case> {
    let VectorFile { cases } = typed_vectors("sparx64.json");
    assert!(cases.len() > 100, "found {} cases", cases.len());
    cases
}

#[test]
fn encryption_matches_the_vectors() {
    for Case { key, plaintext, ciphertext } in cases() {
        let block = Sparx64::new(unhex(&key)).encrypt_block(unhex(&plaintext));
        assert_eq!(hex(&block), ciphertext, "{plaintext} under {key}");
    }
}

#[test]
fn decryption_matches_the_vectors() {
    for Case { key, plaintext, ciphertext } in cases() {
        let block = Sparx64::new(unhex(&key)).decrypt_block(unhex(&ciphertext));
        assert_eq!(hex(&block), plaintext, "{ciphertext} under {key}");
    }
}

#[test]
fn a_key_has_16_bytes() {
    for length in [0, 1, 8, 15, 17, 32, LONG_INPUT] {
        let error = Sparx64::from_slice(&vec![0; length]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidSecret, "{length} bytes");
        assert_eq!(error.to_string(), format!("expected a secret of 16 bytes, found {length}"));
    }
    assert!(Sparx64::from_slice(&[0; 16]).is_ok());
}

#[test]
fn debug_hides_the_key() {
    let shown = |key| format!("{:?}", Sparx64::new(key));
    assert_eq!(shown([0x41; 16]), "Sparx64 { .. }");
    assert_eq!(shown([0x41; 16]), shown([0x42; 16]));
}

proptest! {
    #[test]
    fn decryption_reverses_encryption(key: [u8; 16], block: [u8; 8]) {
        let cipher = Sparx64::new(key);
        prop_assert_eq!(cipher.decrypt_block(cipher.encrypt_block(block)), block);
        prop_assert_eq!(cipher.encrypt_block(cipher.decrypt_block(block)), block);
    }

    #[test]
    fn batches_equal_encrypting_each_block(key: [u8; 16], blocks in prop::collection::vec(any::<[u8; 8]>(), 0..200)) {
        let cipher = Sparx64::new(key);
        let mut many = blocks.clone();
        cipher.encrypt_blocks(&mut many);
        let singly: Vec<_> = blocks.iter().map(|block| cipher.encrypt_block(*block)).collect();
        prop_assert_eq!(&many, &singly);
        cipher.decrypt_blocks(&mut many);
        prop_assert_eq!(&many, &blocks);
        for level in kernels::levels() {
            kernels::encrypt_blocks(level, &cipher, &mut many);
            prop_assert_eq!(&many, &singly, "{:?}", level);
            kernels::decrypt_blocks(level, &cipher, &mut many);
            prop_assert_eq!(&many, &blocks, "{:?}", level);
        }
    }
}

#[test]
fn every_instruction_set_matches_the_vectors() {
    for level in kernels::levels() {
        for Case { key, plaintext, ciphertext } in cases().into_iter().step_by(miri_step(50)) {
            let (cipher, mut blocks) = (Sparx64::new(unhex(&key)), [unhex::<8>(&plaintext); 90]);
            kernels::encrypt_blocks(level, &cipher, &mut blocks);
            assert_eq!(blocks, [unhex(&ciphertext); 90], "{level:?}, {plaintext} under {key}");
            kernels::decrypt_blocks(level, &cipher, &mut blocks);
            assert_eq!(blocks, [unhex(&plaintext); 90], "{level:?}, {ciphertext} under {key}");
        }
    }
}
