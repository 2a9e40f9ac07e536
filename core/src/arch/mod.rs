//! Kernels, and the only code that calls them. A kernel is a function on plain bytes and words that is written separately
//! for each instruction set.
//!
//! [`scalar`] is the reference, and every kernel returns the same results as the scalar function with the same name. A
//! kernel processes whole items, stops before the first invalid item, and returns the number of items that it processed;
//! its callers create the errors. Each architecture has a folder for its instruction sets, and each set has one module and
//! one [`Kernels`] table. Algorithms that several sets share are in `lanes`.
//!
//! Functions for a single ID use [`single`], whose kernels need only the instructions that every CPU of the target
//! supports. Functions for slices request a [`Level`] once and call its kernels.

mod alphabet;
#[cfg(any(
    all(target_arch = "x86_64", target_feature = "sse2"),
    all(target_arch = "aarch64", target_endian = "little", target_feature = "neon"),
    all(target_arch = "wasm32", target_feature = "simd128")
))]
mod lanes;
mod level;
pub(crate) mod scalar;

pub(crate) use alphabet::{Alphabet, HEX, SNO, splat};
pub use level::{Level, level, levels};
pub use machine::InstructionSet;
pub(crate) use machine::single;

/// The bytes of a sno ID.
pub(crate) type Id = [u8; 10];
/// The characters of an encoded sno ID.
pub(crate) type Text = [u8; 16];
/// An encoded number of up to 13 digits, padded with zero bytes.
pub(crate) type Slot = [u8; 16];
/// A cipher block.
pub(crate) type Block = [u8; 8];

/// Declares the table of kernels, and a safe method of [`Level`] for each kernel.
macro_rules! define_kernels {
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
                    // SAFETY: a kernel needs only the features of its set and of the lower sets
                    // (`tools/xtask/src/test/instruction_sets.rs` checks this). Only `level.rs` creates a `Level`, and only for a
                    // set that `take_while(|set| set.is_supported())` found, or for a lower one. Therefore this CPU has all
                    // of these features.
                    #[allow(unsafe_code)]
                    unsafe {
                        self.kernel(|kernels| kernels.$name)($($argument),*)
                    }
                }
            )*
        }
    };
}

define_kernels! {
    /// Encodes every ID as a string. In all kernels, both slices have the same length unless stated otherwise.
    encode_sno(ids: &[Id], texts: &mut [Text]);
    /// Decodes strings into IDs, stopping before a group that contains an invalid string, and returns the number of decoded
    /// IDs. The remaining elements are unchanged.
    decode_sno(texts: &[Text], ids: &mut [Id]) -> usize;

    /// Encodes every integer as a string.
    encode_base32hex(numbers: &[u64], slots: &mut [Slot]);
    /// Decodes slots into integers up to the first invalid slot, and returns the number of decoded integers.
    decode_base32hex(slots: &[Slot], numbers: &mut [u64]) -> usize;
    /// Works like `decode_base32hex`, but for concatenated strings. There is one more offset than there are strings.
    decode_base32hex_column(offsets: &[i32], text: &[u8], numbers: &mut [u64]) -> usize;

    /// Encrypts any number of blocks in place.
    encrypt(schedule: &scalar::cipher::Schedule, blocks: &mut [Block]);
    /// Decrypts any number of blocks in place.
    decrypt(schedule: &scalar::cipher::Schedule, blocks: &mut [Block]);

    /// Writes the start of each ID's tick in Unix milliseconds.
    unix_ms(ids: &[Id], column: &mut [i64]);
    /// Writes the metabyte of each ID.
    metabyte(ids: &[Id], column: &mut [u8]);
    /// Writes the partition of each ID.
    partition(ids: &[Id], column: &mut [u16]);
    /// Writes the sequence number of each ID.
    sequence(ids: &[Id], column: &mut [u16]);

    /// Writes IDs with consecutive sequence numbers, starting with the given ID, into packed bytes whose length is a
    /// multiple of 10.
    fill_sno(ids: &mut [u8], first: Id);
    /// Writes 128-bit values, starting with the given value. Each following value is 2^32 greater than the previous value.
    count_up(values: &mut [[u8; 16]], first: [u8; 16]);
}

/// Declares the instruction sets of an architecture. Each set has a name in `POLYFLAKE_CPU`, a module, and an expression
/// that checks whether this CPU supports it.
macro_rules! define_instruction_sets {
    ($($(#[$doc:meta])* $Set:ident: $name:literal, $file:ident, $is_supported:expr;)*) => {
        /// An instruction set that has its own kernels. The sets are listed in ascending order, and each set includes all
        /// earlier sets.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum InstructionSet {
            /// The instructions that every CPU of the target supports.
            Scalar,
            $($(#[$doc])* $Set,)*
        }

        impl InstructionSet {
            /// All instruction sets for this architecture, in ascending order.
            pub const ALL: &[Self] = &[Self::Scalar, $(Self::$Set),*];

            /// Returns the name that selects this set in the `POLYFLAKE_CPU` environment variable.
            pub const fn name(self) -> &'static str {
                match self {
                    Self::Scalar => "scalar",
                    $(Self::$Set => $name,)*
                }
            }

            /// Returns whether this CPU supports the set.
            pub(in crate::arch) fn is_supported(self) -> bool {
                match self {
                    Self::Scalar => true,
                    $(Self::$Set => $is_supported,)*
                }
            }

            /// Returns a kernel from the set's table. The tables are constants, so kernels that a program never requests
            /// are not linked into it.
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
