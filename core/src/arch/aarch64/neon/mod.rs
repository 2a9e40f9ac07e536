//! NEON, little-endian: registers of sixteen bytes. A rotation is a shift and a shift with insertion.

mod base32;
mod columns;
mod hex;

use crate::arch::{
    Block, Id, Kernels,
    lanes::{
        cipher::{self, Decrypt, Encrypt},
        fill,
    },
    scalar::{self, cipher::Schedule},
};
pub(crate) use base32::{decode, encode};

pub(super) const KERNELS: Kernels = Kernels {
    encode_sno: base32::encode_all,
    stream_sno: base32::encode_all,
    decode_sno: base32::decode_all,
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

#[target_feature(enable = "neon")]
fn encrypt(schedule: &Schedule, blocks: &mut [Block]) {
    cipher::apply::<Encrypt>(schedule, blocks);
}

#[target_feature(enable = "neon")]
fn decrypt(schedule: &Schedule, blocks: &mut [Block]) {
    cipher::apply::<Decrypt>(schedule, blocks);
}

#[target_feature(enable = "neon")]
fn fill_sno(ids: &mut [u8], first: Id) {
    fill::write_run(ids, first);
}
