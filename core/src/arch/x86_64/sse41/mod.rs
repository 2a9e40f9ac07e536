//! SSSE3 and SSE4.1: registers of sixteen bytes.

pub(super) mod base32;
mod columns;
pub(super) mod hex;

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
    stream_sno: base32::encode,
    decode_sno: base32::decode,
    encode_hex: hex::encode,
    decode_hex: hex::decode,
    decode_hex_column: hex::decode_column,
    encrypt,
    decrypt,
    unix_ms: columns::unix_ms,
    metabyte: columns::metabyte,
    partition: columns::partition,
    sequence: columns::sequence,
    having_metabyte: columns::having_metabyte,
    in_ticks: columns::in_ticks,
    fill_sno,
    // Vectors of 128 bits count up no faster than words.
    ..scalar::KERNELS
};

#[target_feature(enable = "ssse3,sse4.1")]
fn encrypt(schedule: &Schedule, blocks: &mut [Block]) {
    cipher::apply::<Encrypt>(schedule, blocks);
}

#[target_feature(enable = "ssse3,sse4.1")]
fn decrypt(schedule: &Schedule, blocks: &mut [Block]) {
    cipher::apply::<Decrypt>(schedule, blocks);
}

#[target_feature(enable = "ssse3,sse4.1")]
fn fill_sno(ids: &mut [u8], first: Id) {
    fill::write_run(ids, first);
}
