//! The common part of the native addon and the wasm module: calls without arguments that work through one scratch area.
//!
//! ```text
//! TypeScript --numbers, UTF-16 units, bytes--> Scratch --> a call --> core --> Scratch --> TypeScript
//! ```
//!
//! An argument or a string costs a native call 60 ns and a wasm call 100 ns; a number written to memory costs one. So
//! both machines have the same calls, and the TypeScript above them is written once.
//!
//! Reading order: `scratch` (the area), `errors` (errors for JavaScript), `host` (clock and random bytes), `handles` (objects behind
//! handles), `turns` (calls that wait), `table` (default partitions), `generators` (their common part), the families.
#![no_std]
#![cfg_attr(
    not(all(feature = "sno", feature = "randflake", feature = "hotguid", feature = "layout")),
    allow(
        dead_code,
        unused_macros,
        unused_imports,
        reason = "what families share is not shared by each of them"
    )
)]

extern crate alloc;

mod errors;
mod generators;
mod handles;
mod host;
#[cfg(feature = "hotguid")]
mod hotguid;
#[cfg(feature = "layout")]
mod layout;
mod message;
#[cfg(feature = "randflake")]
mod randflake;
mod scratch;
#[cfg(feature = "sno")]
mod sno;
mod table;
mod turns;

use alloc::{rc::Rc, vec::Vec};
use core::cell::RefCell;

use handles::Object;
pub use host::Host;
use polyflake::Result;
pub use scratch::Scratch;
pub use table::{tick_of_float, tick_to_float, word_of_float};

/// One thread's scratch area, and the objects that it keeps for JavaScript. `C` is the clock of this kind of machine.
#[derive(Debug)]
pub struct Machine<C> {
    scratch: &'static Scratch,
    /// Objects by handle; empty places are used again.
    handles: RefCell<Vec<Option<Rc<Object<C>>>>>,
    /// The handle of the last call, and its object.
    last: RefCell<Option<(i64, Rc<Object<C>>)>>,
    /// A message that is too long for the scratch area.
    message: RefCell<Vec<u8>>,
    /// The clock for the next generator that is built.
    clock: RefCell<Option<C>>,
}

impl<C: Host> Machine<C> {
    /// A machine without objects.
    pub const fn new(scratch: &'static Scratch) -> Self {
        Self {
            scratch,
            handles: RefCell::new(Vec::new()),
            last: RefCell::new(None),
            message: RefCell::new(Vec::new()),
            clock: RefCell::new(None),
        }
    }

    /// The area for arguments and results.
    pub const fn scratch(&self) -> &'static Scratch {
        self.scratch
    }

    /// Runs one call: 0 means success; 1 means refused, with the error in the scratch area.
    #[inline]
    pub fn run(&self, call: impl FnOnce(&Self) -> Result<()>) -> u32 {
        match call(self) {
            Ok(()) => 0,
            Err(error) => {
                errors::write(self.scratch, &error);
                1
            }
        }
    }
}

/// Names the calls that all families share, for a macro that exports them: the method of [`Machine`], the name in
/// JavaScript.
#[macro_export]
macro_rules! shared_calls {
    ($export:ident) => {
        $export! {
            release => "release",
            put_piece => "putPiece",
            next_piece => "nextPiece",
            turn => "turn",
        }
    };
}

/// As [`shared_calls`], for the calls of sno.
#[macro_export]
macro_rules! sno_calls {
    ($export:ident) => {
        $export! {
            sno_texts => "snoTexts",
            sno_from_texts => "snoFromTexts",
            sno_time_range => "snoTimeRange",
            sno_build => "snoBuild",
            sno_generate => "snoGenerate",
            sno_generate_at => "snoGenerateAt",
            sno_try_generate => "snoTryGenerate",
            sno_one_async => "snoOneAsync",
            sno_fill => "snoFill",
            sno_fill_now => "snoFillNow",
            sno_pool => "snoPool",
            sno_partition => "snoPartition",
            sno_extend_window => "snoExtendWindow",
            sno_stats => "snoStats",
            sno_close => "snoClose",
        }
    };
}

/// As [`shared_calls`], for the calls of Randflake and its cipher.
#[macro_export]
macro_rules! randflake_calls {
    ($export:ident) => {
        $export! {
            sparx64_build => "sparx64Build",
            sparx64_encrypt => "sparx64Encrypt",
            sparx64_decrypt => "sparx64Decrypt",
            randflake_grant => "randflakeGrant",
            randflake_codec_build => "randflakeCodecBuild",
            randflake_inspect => "randflakeInspect",
            randflake_encrypt => "randflakeEncrypt",
            randflake_texts => "randflakeTexts",
            randflake_from_texts => "randflakeFromTexts",
            randflake_build => "randflakeBuild",
            randflake_generate => "randflakeGenerate",
            randflake_generate_text => "randflakeGenerateText",
            randflake_try_generate => "randflakeTryGenerate",
            randflake_one_async => "randflakeOneAsync",
            randflake_fill => "randflakeFill",
            randflake_fill_now => "randflakeFillNow",
            randflake_pool => "randflakePool",
            randflake_held_grant => "randflakeHeldGrant",
            randflake_extend_grant => "randflakeExtendGrant",
            randflake_stats => "randflakeStats",
            randflake_close => "randflakeClose",
        }
    };
}

/// As [`shared_calls`], for the calls of Hot Guid.
#[macro_export]
macro_rules! hotguid_calls {
    ($export:ident) => {
        $export! {
            hotguid_texts => "hotguidTexts",
            hotguid_from_texts => "hotguidFromTexts",
            hotguid_time_range => "hotguidTimeRange",
            hotguid_build => "hotguidBuild",
            hotguid_provide => "hotguidProvide",
            hotguid_generate => "hotguidGenerate",
            hotguid_try_generate => "hotguidTryGenerate",
            hotguid_one_async => "hotguidOneAsync",
            hotguid_fill => "hotguidFill",
            hotguid_fill_now => "hotguidFillNow",
            hotguid_pool => "hotguidPool",
            hotguid_extend_window => "hotguidExtendWindow",
            hotguid_stats => "hotguidStats",
            hotguid_close => "hotguidClose",
        }
    };
}

/// As [`shared_calls`], for the calls of layouts.
#[macro_export]
macro_rules! layout_calls {
    ($export:ident) => {
        $export! {
            layout_build => "layoutBuild",
            layout_preset_build => "layoutPresetBuild",
            layout_description => "layoutDescription",
            layout_describe => "layoutDescribe",
            layout_pack => "layoutPack",
            layout_parse => "layoutParse",
            layout_time_range => "layoutTimeRange",
            layout_column => "layoutColumn",
            layout_pack_columns => "layoutPackColumns",
            layout_generator_build => "layoutGeneratorBuild",
            layout_generate => "layoutGenerate",
            layout_try_generate => "layoutTryGenerate",
            layout_one_async => "layoutOneAsync",
            layout_fill => "layoutFill",
            layout_fill_now => "layoutFillNow",
            layout_pool => "layoutPool",
            layout_extend_window => "layoutExtendWindow",
            layout_stats => "layoutStats",
            layout_close => "layoutClose",
        }
    };
}
