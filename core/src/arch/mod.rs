//! Kernels: functions over plain bytes and words that are written for each instruction set, and the one place that calls them.
//!
//! [`scalar`] is the reference: every kernel does the same as the scalar function of its name. A kernel handles whole items,
//! stops before the first bad one, and returns how many it handled; errors are made by the callers. A folder holds the sets of
//! an architecture, with one file and one [`Kernels`] table for each; algorithms that several sets compile or call are in
//! `lanes`.
//!
//! One ID uses [`one`]: instructions that every machine of the target has. Slices ask for a [`Level`] once and call its kernels.

mod alphabet;
#[cfg(any(
    all(target_arch = "x86_64", target_feature = "sse2"),
    all(target_arch = "aarch64", target_endian = "little", target_feature = "neon"),
    all(target_arch = "wasm32", target_feature = "simd128")
))]
mod lanes;
mod level;
pub(crate) mod scalar;

pub(crate) use alphabet::{Alphabet, HEX, SNO, all};
pub use level::{Level, level, levels};
pub use machine::Set;
pub(crate) use machine::one;

/// The bytes of a sno ID.
pub(crate) type Id = [u8; 10];
/// The text of a sno ID.
pub(crate) type Text = [u8; 16];
/// The text of a number of up to 13 digits, with zero bytes after it.
pub(crate) type Slot = [u8; 16];
/// A block of the cipher.
pub(crate) type Block = [u8; 8];

/// Declares the table of kernels, and a safe method of [`Level`] for each kernel.
macro_rules! kernels {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $Type:ty),*) $(-> $Result:ty)?;)*) => {
        /// The kernels of an instruction set.
        pub(crate) struct Kernels {
            $($(#[$doc])* pub(crate) $name: unsafe fn($($Type),*) $(-> $Result)?,)*
        }

        impl Level {
            $(
                $(#[$doc])*
                #[inline]
                pub(crate) fn $name(self, $($argument: $Type),*) $(-> $Result)? {
                    // SAFETY: a kernel needs the features of its set and of the sets below it, no others (a house rule compares
                    // them). Only `level.rs` makes a `Level`, out of a set that it or a higher one found by
                    // `take_while(|set| set.is_here())`, so this machine has all of these features.
                    #[allow(unsafe_code)]
                    unsafe {
                        self.kernel(|kernels| kernels.$name)($($argument),*)
                    }
                }
            )*
        }
    };
}

kernels! {
    /// Writes the text of every ID. The slices are equally long, here and below.
    encode_sno(ids: &[Id], texts: &mut [Text]);
    /// Writes the IDs of texts up to a group that holds a bad text, and returns how many. The other places stay unchanged.
    decode_sno(texts: &[Text], ids: &mut [Id]) -> usize;

    /// Writes the text of every number.
    encode_hex(numbers: &[u64], slots: &mut [Slot]);
    /// Writes the numbers of slots up to the first bad slot, and returns how many.
    decode_hex(slots: &[Slot], numbers: &mut [u64]) -> usize;
    /// As `decode_hex`, for texts one after the other, with one more offset than texts.
    decode_hex_column(offsets: &[i32], text: &[u8], numbers: &mut [u64]) -> usize;

    /// Encrypts any number of blocks in place.
    encrypt(schedule: &scalar::cipher::Schedule, blocks: &mut [Block]);
    /// Decrypts any number of blocks in place.
    decrypt(schedule: &scalar::cipher::Schedule, blocks: &mut [Block]);

    /// Writes the start of each ID's tick, in Unix milliseconds.
    unix_ms(ids: &[Id], column: &mut [i64]);
    /// Writes the metabyte of each ID.
    metabyte(ids: &[Id], column: &mut [u8]);
    /// Writes the partition of each ID.
    partition(ids: &[Id], column: &mut [u16]);
    /// Writes the sequence of each ID.
    sequence(ids: &[Id], column: &mut [u16]);

    /// Writes IDs with consecutive sequences, beginning with the given ID, into packed bytes whose length is a multiple of 10.
    fill_sno(ids: &mut [u8], first: Id);
    /// Writes values of 128 bits, beginning with the given value; each further one has one more at bit 32.
    count_up(values: &mut [[u8; 16]], first: [u8; 16]);
}

/// Declares the instruction sets of an architecture: for each its name in `POLYFLAKE_CPU`, its file, and whether this machine has
/// it.
macro_rules! sets {
    ($($(#[$doc:meta])* $Set:ident: $name:literal, $file:ident, $is_here:expr;)*) => {
        /// Instruction sets that kernels are written for, weakest first. Each includes all before it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Set {
            /// The instructions that every machine of the target has.
            Scalar,
            $($(#[$doc])* $Set,)*
        }

        impl Set {
            /// Every set of this architecture, weakest first.
            pub const ALL: &[Self] = &[Self::Scalar, $(Self::$Set),*];

            /// Its name in `POLYFLAKE_CPU`.
            pub const fn name(self) -> &'static str {
                match self {
                    Self::Scalar => "scalar",
                    $(Self::$Set => $name,)*
                }
            }

            /// Returns whether this machine has it.
            pub(in crate::arch) fn is_here(self) -> bool {
                match self {
                    Self::Scalar => true,
                    $(Self::$Set => $is_here,)*
                }
            }

            /// A kernel of its table. The tables are constants, so kernels that a program never asks for are not linked.
            #[inline(always)]
            #[allow(clippy::inline_always, reason = "so that no table is left")]
            pub(in crate::arch) fn kernel<K>(
                self,
                of: impl FnOnce(&$crate::arch::Kernels) -> K,
            ) -> K {
                match self {
                    Self::Scalar => of(&$crate::arch::scalar::KERNELS),
                    $(Self::$Set => of(&$file::KERNELS),)*
                }
            }
        }
    };
}

#[cfg(all(target_arch = "aarch64", target_endian = "little", target_feature = "neon"))]
#[path = "aarch64/mod.rs"]
mod machine;
#[cfg(not(any(
    all(target_arch = "x86_64", target_feature = "sse2"),
    all(target_arch = "aarch64", target_endian = "little", target_feature = "neon"),
    all(target_arch = "wasm32", target_feature = "simd128")
)))]
#[path = "others.rs"]
mod machine;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
#[path = "wasm32/mod.rs"]
mod machine;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
#[path = "x86_64/mod.rs"]
mod machine;
