//! AVX2 and POPCNT: registers of 32 bytes.

mod base32;
pub(super) mod hex;

use super::sse41;
use crate::arch::{
    Block, Id, Kernels,
    lanes::{
        cipher::{self, Decrypt, Encrypt},
        fill,
    },
    scalar::{self, cipher::Schedule},
};

pub(super) const KERNELS: Kernels = Kernels {
    encode_sno: base32::encode,
    stream_sno: base32::stream,
    decode_sno: base32::decode,
    encode_hex: hex::encode,
    decode_hex: hex::decode,
    decode_hex_column: hex::decode_column,
    encrypt,
    decrypt,
    fill_sno,
    count_up,
    // Columns would be no faster.
    ..sse41::KERNELS
};

#[target_feature(enable = "avx2")]
fn encrypt(schedule: &Schedule, blocks: &mut [Block]) {
    cipher::apply::<Encrypt>(schedule, blocks);
}

#[target_feature(enable = "avx2")]
fn decrypt(schedule: &Schedule, blocks: &mut [Block]) {
    cipher::apply::<Decrypt>(schedule, blocks);
}

#[target_feature(enable = "avx2")]
fn fill_sno(ids: &mut [u8], first: Id) {
    fill::write_run(ids, first);
}

#[target_feature(enable = "avx2")]
fn count_up(values: &mut [[u8; 16]], first: [u8; 16]) {
    scalar::fill::count(values, first);
}
