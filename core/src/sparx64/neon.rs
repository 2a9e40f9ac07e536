//! NEON: eight blocks in four registers; a rotation is a shift and a shift with insertion.

use super::{
    Block,
    lanes::{self, Decrypt, Encrypt},
    schedule::Schedule,
    slices::Kernels,
};

pub(super) const KERNELS: Kernels = Kernels { encrypt, decrypt };

#[target_feature(enable = "neon")]
fn encrypt(schedule: &Schedule, blocks: &mut [Block]) {
    lanes::apply::<Encrypt>(schedule, blocks);
}

#[target_feature(enable = "neon")]
fn decrypt(schedule: &Schedule, blocks: &mut [Block]) {
    lanes::apply::<Decrypt>(schedule, blocks);
}
