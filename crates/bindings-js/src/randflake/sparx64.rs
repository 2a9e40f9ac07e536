//! SPARX-64/128, the cipher that Randflake uses.

use polyflake::{
    Result,
    sparx64::{BLOCK_BYTES, Sparx64},
};

use crate::{Host, Machine, ScratchRef, handles::Object, protocol::BATCH};

/// Operations on ciphers. All operations except the first also read a handle, and a count of at most [`BATCH`] blocks.
impl<C: Host> Machine<C> {
    /// Reads a key and its length. Writes a handle.
    pub fn sparx64_build(&self, at: ScratchRef) -> Result<()> {
        self.put_object(at, Object::Cipher(Sparx64::new(at.take_secret("key")?)));
        Ok(())
    }

    /// Encrypts packed blocks in place.
    pub fn sparx64_encrypt(&self, at: ScratchRef) -> Result<()> {
        self.transform_in_place(at, Sparx64::encrypt_blocks)
    }

    /// Decrypts packed blocks in place.
    pub fn sparx64_decrypt(&self, at: ScratchRef) -> Result<()> {
        self.transform_in_place(at, Sparx64::decrypt_blocks)
    }

    fn transform_in_place(
        &self,
        at: ScratchRef,
        work: fn(&Sparx64, &mut [[u8; BLOCK_BYTES]]),
    ) -> Result<()> {
        let (object, mut blocks) = (self.object(at)?, [[0; BLOCK_BYTES]; BATCH]);
        let blocks = &mut blocks[..at.count()];
        self.scratch.get_bytes(0, blocks.as_flattened_mut());
        work(object.cipher()?, blocks);
        self.scratch.put_bytes(0, blocks.as_flattened());
        Ok(())
    }
}
