//! The SPARX-64/128 cipher.

use data_encoding::HEXLOWER;
use polyflake::{
    Error, ErrorKind,
    sparx64::{BLOCK_BYTES, Sparx64},
};
use serde_json::Value;

use crate::args::{Answer, Failure, array, bytes};

pub(crate) fn run(op: &str, args: &Value) -> Answer {
    let cipher = Sparx64::from_slice(&bytes(args, "key")?)?;
    match op {
        "encrypt" => Ok(hex(&cipher.encrypt_block(array(args, "block")?))),
        "decrypt" => Ok(hex(&cipher.decrypt_block(array(args, "block")?))),
        "encrypt_many" => apply_to_blocks(args, |blocks| cipher.encrypt_blocks(blocks)),
        "decrypt_many" => apply_to_blocks(args, |blocks| cipher.decrypt_blocks(blocks)),
        _ => Err(Failure::UnknownOp),
    }
}

/// Applies the cipher to many blocks. The Rust API accepts only whole blocks, so this function itself rejects other
/// lengths.
fn apply_to_blocks(args: &Value, apply: impl FnOnce(&mut [[u8; BLOCK_BYTES]])) -> Answer {
    let mut bytes = bytes(args, "blocks")?;
    let (blocks, rest) = bytes.as_chunks_mut();
    if !rest.is_empty() {
        return Err(Error::new(ErrorKind::InvalidLength).into());
    }
    apply(blocks);
    Ok(hex(&bytes))
}

fn hex(bytes: &[u8]) -> Value {
    HEXLOWER.encode(bytes).into()
}
