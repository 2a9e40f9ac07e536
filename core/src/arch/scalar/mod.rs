//! Kernels for the instructions that every CPU of the target supports. They are the reference against which all other
//! kernels are tested.

pub(crate) mod base32;
pub(crate) mod base32hex;
pub(crate) mod cipher;
pub(crate) mod columns;
pub(crate) mod fill;

use super::Kernels;

pub(super) const KERNELS: Kernels = Kernels {
    encode_sno: base32::encode_all,
    decode_sno: base32::decode_all,
    encode_base32hex: base32hex::encode,
    decode_base32hex: base32hex::decode,
    decode_base32hex_column: base32hex::decode_column,
    encrypt: cipher::encrypt_blocks,
    decrypt: cipher::decrypt_blocks,
    unix_ms: columns::unix_ms,
    metabyte: columns::metabyte,
    partition: columns::partition,
    sequence: columns::sequence,
    fill_sno: fill::write_run,
    count_up: fill::count_up,
};
