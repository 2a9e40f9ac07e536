//! Algorithms that several instruction sets share: loops, and helpers for the parts of groups that kernels load and store.
//! Compilers vectorize the loops, and [`compile!`] compiles them for each set.
//!
//! All loops are inlined into the sets' functions, because a separate function would be compiled without the features of
//! the set.

pub(super) mod base32hex;
pub(super) mod cipher;
pub(super) mod fill;
pub(super) mod parts;

/// Compiles the loops with the features of an instruction set. The macro defines the resulting kernels, and a
/// `COMPILED_KERNELS` table that contains these kernels and the scalar versions of all other kernels.
macro_rules! compile {
    ($features:literal) => {
        use $crate::arch::{
            Block, Id,
            lanes::{
                cipher::{Decryption, Encryption, apply},
                fill,
            },
            scalar::{self, cipher::Schedule, columns},
        };

        const COMPILED_KERNELS: Kernels = Kernels {
            encrypt,
            decrypt,
            unix_ms,
            metabyte,
            partition,
            sequence,
            fill_sno,
            count_up,
            ..scalar::KERNELS
        };

        #[target_feature(enable = $features)]
        fn encrypt(schedule: &Schedule, blocks: &mut [Block]) {
            apply::<Encryption>(schedule, blocks);
        }

        #[target_feature(enable = $features)]
        fn decrypt(schedule: &Schedule, blocks: &mut [Block]) {
            apply::<Decryption>(schedule, blocks);
        }

        #[target_feature(enable = $features)]
        fn unix_ms(ids: &[Id], column: &mut [i64]) {
            columns::unix_ms(ids, column);
        }

        #[target_feature(enable = $features)]
        fn metabyte(ids: &[Id], column: &mut [u8]) {
            columns::metabyte(ids, column);
        }

        #[target_feature(enable = $features)]
        fn partition(ids: &[Id], column: &mut [u16]) {
            columns::partition(ids, column);
        }

        #[target_feature(enable = $features)]
        fn sequence(ids: &[Id], column: &mut [u16]) {
            columns::sequence(ids, column);
        }

        #[target_feature(enable = $features)]
        fn fill_sno(ids: &mut [u8], first: Id) {
            fill::write_run(ids, first);
        }

        #[target_feature(enable = $features)]
        fn count_up(values: &mut [[u8; 16]], first: [u8; 16]) {
            scalar::fill::count_up_inlined(values, first);
        }
    };
}

pub(super) use compile;
