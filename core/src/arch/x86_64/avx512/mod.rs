//! The kernels for AVX-512 with BW, VL, VBMI and VBMI2. AVX-512 registers have 64 bytes. The cipher needs fewer
//! instructions than with AVX2: a rotation is a single VBMI2 instruction, and another AVX-512 instruction combines three
//! operands, namely a cipher word, a subkey and a sum.

mod base32;
mod base32hex;

use super::avx2;
use crate::arch::{
    Block, Kernels,
    lanes::cipher::{self, Decryption, Encryption},
    scalar::cipher::Schedule,
};

pub(super) const KERNELS: Kernels = Kernels {
    encode_sno: base32::encode,
    decode_sno: base32::decode,
    encode_base32hex: base32hex::encode,
    decode_base32hex: base32hex::decode,
    encrypt,
    decrypt,
    // All other kernels are the AVX2 kernels. Decoding concatenated strings requires one load for each string in every
    // instruction set, and the other loops are no faster when they are compiled for wider registers.
    ..avx2::KERNELS
};

#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2")]
fn encrypt(schedule: &Schedule, blocks: &mut [Block]) {
    cipher::apply::<Encryption>(schedule, blocks);
}

#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2")]
fn decrypt(schedule: &Schedule, blocks: &mut [Block]) {
    cipher::apply::<Decryption>(schedule, blocks);
}
