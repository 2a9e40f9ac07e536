//! The instruction sets of this machine: detected once, lowered on request.
//!
//! A kernel is a safe function for one [`Set`]'s target features, in a file of that set's name. Callers of kernels take a
//! [`Level`] once for a slice and match its set. A level is only made for a set that the machine has, so holding one is the
//! proof that `unsafe` calls of these functions need.
//!
//! With `std`, the environment variable `POLYFLAKE_CPU` simulates a weaker machine: it names the highest set to use, `scalar`
//! for none. It is read once. The name of a set that the machine lacks, or any other word, lowers nothing.

pub(crate) mod memory;
#[cfg(any(
    all(target_arch = "x86_64", target_feature = "sse2"),
    all(target_arch = "aarch64", target_endian = "little", target_feature = "neon"),
    all(target_arch = "wasm32", target_feature = "simd128")
))]
pub(crate) mod parts;

/// Instruction sets that kernels are written for, weakest first. Each includes all before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Set {
    /// The instructions that every machine of the target has.
    Scalar,
    /// SSSE3 and SSE4.1.
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    Sse41,
    /// AVX2 and POPCNT.
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    Avx2,
    /// AVX-512 with BW, VL, VBMI and VBMI2.
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    Avx512,
    /// NEON, little-endian.
    #[cfg(all(target_arch = "aarch64", target_endian = "little", target_feature = "neon"))]
    Neon,
    /// SIMD of 128 bits. An engine without it refuses any module that uses it, so this is decided at compile time.
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    Simd128,
}

impl Set {
    /// Every set of this architecture, weakest first.
    pub const ALL: &[Self] = &[
        Self::Scalar,
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        Self::Sse41,
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        Self::Avx2,
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        Self::Avx512,
        #[cfg(all(target_arch = "aarch64", target_endian = "little", target_feature = "neon"))]
        Self::Neon,
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        Self::Simd128,
    ];

    /// Its name in `POLYFLAKE_CPU`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
            Self::Sse41 => "sse41",
            #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
            Self::Avx2 => "avx2",
            #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
            Self::Avx512 => "avx512",
            #[cfg(all(target_arch = "aarch64", target_endian = "little", target_feature = "neon"))]
            Self::Neon => "neon",
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Self::Simd128 => "simd128",
        }
    }

    fn is_here(self) -> bool {
        match self {
            Self::Scalar => true,
            #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
            Self::Sse41 => has!("ssse3", "sse4.1"),
            #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
            Self::Avx2 => has!("avx2", "popcnt"),
            #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
            Self::Avx512 => has!("avx512f", "avx512bw", "avx512vl", "avx512vbmi", "avx512vbmi2"),
            #[cfg(all(target_arch = "aarch64", target_endian = "little", target_feature = "neon"))]
            Self::Neon => has!("neon"),
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Self::Simd128 => true,
        }
    }
}

/// Asks whether this machine has all of these features; without `std` the answer is known at compile time.
#[cfg(any(
    all(target_arch = "x86_64", target_feature = "sse2"),
    all(target_arch = "aarch64", target_endian = "little", target_feature = "neon")
))]
macro_rules! has {
    ($($feature:tt),*) => {{
        #[cfg(all(feature = "std", target_arch = "x86_64"))]
        { $(std::arch::is_x86_feature_detected!($feature))&&* }
        #[cfg(all(feature = "std", target_arch = "aarch64"))]
        { $(std::arch::is_aarch64_feature_detected!($feature))&&* }
        #[cfg(not(feature = "std"))]
        { $(cfg!(target_feature = $feature))&&* }
    }};
}
#[cfg(any(
    all(target_arch = "x86_64", target_feature = "sse2"),
    all(target_arch = "aarch64", target_endian = "little", target_feature = "neon")
))]
use has;

/// A set that this machine has, with all sets below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Level(Set);

impl Level {
    /// The target's own instructions.
    pub const SCALAR: Self = Self(Set::Scalar);

    /// The set.
    pub const fn set(self) -> Set {
        self.0
    }
}

/// The `KERNELS` of a level. The parent of the calling module must have a file for every set, of that set's name.
macro_rules! kernels_of {
    ($level:expr) => {
        match $level.set() {
            $crate::cpu::Set::Scalar => &super::scalar::KERNELS,
            #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
            $crate::cpu::Set::Sse41 => &super::sse41::KERNELS,
            #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
            $crate::cpu::Set::Avx2 => &super::avx2::KERNELS,
            #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
            $crate::cpu::Set::Avx512 => &super::avx512::KERNELS,
            #[cfg(all(target_arch = "aarch64", target_endian = "little", target_feature = "neon"))]
            $crate::cpu::Set::Neon => &super::neon::KERNELS,
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            $crate::cpu::Set::Simd128 => &super::simd128::KERNELS,
        }
    };
}
pub(crate) use kernels_of;

/// The highest level of this machine, or of the weaker one that it simulates.
#[inline]
pub fn level() -> Level {
    #[cfg(feature = "std")]
    return known::level();
    #[cfg(not(feature = "std"))]
    return highest();
}

/// All levels up to this machine's, weakest first.
pub fn levels() -> impl Iterator<Item = Level> {
    let highest = level();
    Set::ALL.iter().map(|&set| Level(set)).filter(move |&level| level <= highest)
}

fn highest() -> Level {
    Level(*Set::ALL.iter().take_while(|set| set.is_here()).last().unwrap_or(&Set::Scalar))
}

/// Remembers the level. Threads that ask at the same time find the same level, so it needs no lock, which a fork could leave
/// held.
#[cfg(feature = "std")]
mod known {
    use core::sync::atomic::{AtomicU8, Ordering};

    use super::{Level, Set, highest};

    const UNKNOWN: u8 = u8::MAX;

    /// An index of [`Set::ALL`].
    static KNOWN: AtomicU8 = AtomicU8::new(UNKNOWN);

    #[inline]
    pub(super) fn level() -> Level {
        match Set::ALL.get(usize::from(KNOWN.load(Ordering::Relaxed))) {
            Some(&set) => Level(set),
            None => find_out(),
        }
    }

    #[cold]
    fn find_out() -> Level {
        let played = std::env::var_os("POLYFLAKE_CPU");
        let level = lowered(highest(), played.as_ref().and_then(|name| name.to_str()));
        let index = Set::ALL.iter().position(|&set| set == level.set());
        let index = index.and_then(|index| u8::try_from(index).ok());
        KNOWN.store(index.unwrap_or(UNKNOWN), Ordering::Relaxed);
        level
    }

    /// The level, lowered to the set of this name.
    pub(super) fn lowered(level: Level, name: Option<&str>) -> Level {
        let played = Set::ALL.iter().find(|set| Some(set.name()) == name);
        played.map_or(level, |&set| level.min(Level(set)))
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::{known::lowered, *};

    #[test]
    fn levels_end_with_the_machines_own() {
        assert_eq!(levels().next(), Some(Level::SCALAR));
        assert_eq!(levels().last(), Some(level()));
        assert!(levels().is_sorted());
        assert!(levels().all(|level| level.set().is_here()));
    }

    #[test]
    fn a_name_only_lowers() {
        let highest = highest();
        for &set in Set::ALL {
            assert_eq!(lowered(highest, Some(set.name())).set(), set.min(highest.set()));
            assert_eq!(lowered(Level::SCALAR, Some(set.name())), Level::SCALAR);
        }
        assert_eq!(lowered(highest, Some("pentium")), highest);
        assert_eq!(lowered(highest, None), highest);
    }

    /// Fails if the name in `POLYFLAKE_CPU` is mistyped.
    #[test]
    fn the_machine_that_is_asked_for_is_played() {
        if let Ok(name) = std::env::var("POLYFLAKE_CPU") {
            assert_eq!(level().set().name(), name);
        }
    }
}
