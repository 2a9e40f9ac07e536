//! SSSE3 and SSE4.1: eight blocks in four registers.

use super::{
    Block,
    lanes::{self, Decrypt, Encrypt},
    schedule::Schedule,
    slices::Kernels,
};

pub(super) const KERNELS: Kernels = Kernels { encrypt, decrypt };

#[target_feature(enable = "ssse3,sse4.1")]
fn encrypt(schedule: &Schedule, blocks: &mut [Block]) {
    lanes::apply::<Encrypt>(schedule, blocks);
}

#[target_feature(enable = "ssse3,sse4.1")]
fn decrypt(schedule: &Schedule, blocks: &mut [Block]) {
    lanes::apply::<Decrypt>(schedule, blocks);
}
