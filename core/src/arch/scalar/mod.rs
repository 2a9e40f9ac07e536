//! Kernels from the instructions that every machine of the target has: the reference that every other kernel is tested against.

pub(crate) mod base32;
pub(crate) mod cipher;
pub(crate) mod columns;
pub(crate) mod fill;
pub(crate) mod hex;

use super::Kernels;

pub(super) const KERNELS: Kernels = Kernels {
    encode_sno: base32::encode_all,
    decode_sno: base32::decode_all,
    encode_hex: hex::encode,
    decode_hex: hex::decode,
    decode_hex_column: hex::decode_column,
    encrypt: cipher::encrypt_blocks,
    decrypt: cipher::decrypt_blocks,
    unix_ms: columns::unix_ms,
    metabyte: columns::metabyte,
    partition: columns::partition,
    sequence: columns::sequence,
    fill_sno: fill::write_run,
    count_up: fill::count_up,
};
