//! The instruction sets of x86-64. Every CPU supports SSE2.

mod avx2;
mod avx512;
mod sse2;
mod sse41;

/// Kernels for one ID or one number. For a single item, detecting the CPU's level would cost more than it saves.
pub(crate) mod single {
    pub(crate) use super::sse2::{decode, decode_integer, digits, encode};
    pub(crate) use crate::arch::scalar::base32hex::shifted_slot as slot;
}

/// Checks whether this CPU supports all of the given features. Without `std`, the result is determined at compile time.
macro_rules! has {
    ($($feature:tt),*) => {{
        #[cfg(feature = "std")]
        { $(std::arch::is_x86_feature_detected!($feature))&&* }
        #[cfg(not(feature = "std"))]
        { $(cfg!(target_feature = $feature))&&* }
    }};
}

define_instruction_sets! {
    /// The set for CPUs with SSSE3 and SSE4.1.
    Sse41: "sse41", sse41, has!("ssse3", "sse4.1");
    /// The set for CPUs with AVX2 and POPCNT.
    Avx2: "avx2", avx2, has!("avx2", "popcnt");
    /// The set for CPUs with AVX-512 BW, VL, VBMI and VBMI2.
    Avx512: "avx512", avx512, has!("avx512f", "avx512bw", "avx512vl", "avx512vbmi", "avx512vbmi2");
}
