//! AVX2: sixteen blocks in four registers.

use super::{
    Block,
    lanes::{self, Decrypt, Encrypt},
    schedule::Schedule,
    slices::Kernels,
};

pub(super) const KERNELS: Kernels = Kernels { encrypt, decrypt };

#[target_feature(enable = "avx2")]
fn encrypt(schedule: &Schedule, blocks: &mut [Block]) {
    lanes::apply::<Encrypt>(schedule, blocks);
}

#[target_feature(enable = "avx2")]
fn decrypt(schedule: &Schedule, blocks: &mut [Block]) {
    lanes::apply::<Decrypt>(schedule, blocks);
}
