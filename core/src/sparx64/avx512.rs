//! AVX-512: 32 blocks in four registers. VBMI2 rotates in one instruction, and one of three operands joins word, key and sum.

use super::{
    Block,
    lanes::{self, Decrypt, Encrypt},
    schedule::Schedule,
    slices::Kernels,
};

pub(super) const KERNELS: Kernels = Kernels { encrypt, decrypt };

#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2")]
fn encrypt(schedule: &Schedule, blocks: &mut [Block]) {
    lanes::apply::<Encrypt>(schedule, blocks);
}

#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2")]
fn decrypt(schedule: &Schedule, blocks: &mut [Block]) {
    lanes::apply::<Decrypt>(schedule, blocks);
}
