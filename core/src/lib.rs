//! Time-sortable unique IDs: sno, Randflake, Hot Guid, UUID v7 and custom snowflakes.
//!
//! [`sno`]: mod@sno
//! [`randflake`]: mod@randflake
//! [`hotguid`]: mod@hotguid
//! [`clock`]: mod@clock
//! [`sparx64`]: mod@sparx64
//! [`layout`]: mod@layout
//! [`uuid7`]: mod@uuid7
// The README is also the front page of the documentation. `cargo xtask test readme` runs its examples.
#![cfg_attr(not(doctest), doc = include_str!("../README.md"))]
#![no_std]
// Lints for unused code are enabled only with the `internals` feature.
#![cfg_attr(
    not(feature = "internals"),
    allow(
        dead_code,
        unreachable_pub,
        unused_imports,
        reason = "used by other crates of this project"
    )
)]
// Marks items that require a feature on docs.rs.
#![cfg_attr(docsrs, feature(doc_cfg))]

// The following diagram shows the modules in the order in which the data passes through them, which is also the recommended
// reading order. The family is `sno`, `randflake`, `hotguid`, `uuid7` or `layout`.
//
//     Clock --time--> generator (process, window) --tick--> sequence --slot--> family's `Pack` --word--> [sparx64] --> bytes =
//     ID --> base32 | guid text --> text       (decoding follows the same line backwards)

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

mod arch;
pub mod base32;
pub mod clock;
#[cfg(all(feature = "std", not(feature = "internals")))]
mod entropy;
// This module is not part of the public API. It exists for bindings.
#[cfg(all(feature = "std", feature = "internals"))]
#[doc(hidden)]
pub mod entropy;
mod error;
#[cfg(not(feature = "internals"))]
mod fork;
// This module is not part of the public API. It exists for bindings.
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod fork;
mod format;
mod generator;
pub mod hotguid;
#[cfg(not(feature = "internals"))]
mod integrations;
// This module is not part of the public API. It exists for `polyflake-sql`.
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod integrations;
pub mod layout;
mod narrow;
#[cfg(feature = "public")]
#[cfg_attr(docsrs, doc(cfg(feature = "public")))]
pub mod public;
pub mod randflake;
mod sequence;
pub mod sno;
pub mod sparx64;
mod sync;
// This format is omitted on x86 targets without SSE2, such as operating-system kernels and firmware, because the cipher for
// its random bits does not compile there.
#[cfg(any(not(any(target_arch = "x86", target_arch = "x86_64")), target_feature = "sse2"))]
pub mod uuid7;

#[cfg(all(test, feature = "std", not(any(loom, shuttle, miri))))]
mod interruptions;

pub use error::{Error, ErrorKind, Result};
#[cfg(feature = "std")]
pub use fork::{after_restore, watch_restores};
pub use format::{Description, FieldDescription, UnixTime};
pub use generator::{Builder, Generate, GenerateAsync, Generated, Generator, Handle, OnExhausted};
// These re-exports are not part of the public API. They exist for the bindings.
#[cfg(feature = "internals")]
#[doc(hidden)]
pub use generator::{Call, CallTypes, Mode, Progress, SlotSource, Windowed, WrittenCount};
#[cfg(all(feature = "std", feature = "internals"))]
#[doc(hidden)]
pub use generator::{SharedGenerators, SharingKey};
// The code that `sno::by_metabyte!` generates uses this re-export.
#[cfg(feature = "serde")]
#[doc(hidden)]
pub use serde as __serde;

/// Kernels for specific instruction-set levels, used by this project's benchmarks and tests. This module is not part of the
/// public API.
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod kernels {
    #[cfg(feature = "std")]
    pub use crate::fork::partitions::partition_at as partition_after;
    pub use crate::{
        arch::{InstructionSet, Level, level, levels},
        base32::{
            base32hex::slices::{
                decode as decode_randflake, decode_column as decode_randflake_column,
                encode as encode_randflake, encode_column as encode_randflake_column,
            },
            slices::{decode as decode_sno, encode as encode_sno},
        },
        hotguid::fill::write_run_at_level as fill_hot_guid,
        sno::columns::columns_at_level as sno_columns,
        sno::fill::write_run_at_level as fill_sno,
        sparx64::slices::{decrypt_blocks, encrypt_blocks},
    };
}
