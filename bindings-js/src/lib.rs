//! What the native addon and the wasm module share: calls without arguments that work through one scratch area.
//!
//! ```text
//! TypeScript --numbers, UTF-16 units, bytes--> Scratch --> a call --> core --> Scratch --> TypeScript
//! ```
//!
//! An argument or a string costs a native call 60 ns and a wasm call 100 ns; a number written to memory costs one. So
//! both machines offer the same calls, and the TypeScript above them is written once.
//!
//! Reading order: `scratch` (the area), `errors` (how a refusal gets out), `ids`, `generators`.

mod errors;
mod generators;
mod ids;
mod scratch;

use std::{cell::RefCell, rc::Rc};

use generators::Entry;
use polyflake::{Result, clock::Clock};
pub use scratch::Scratch;

/// One thread's scratch area and generators. `C` is the clock of this kind of machine.
#[derive(Debug)]
pub struct Machine<C> {
    scratch: &'static Scratch,
    /// Indexed by handle; empty places are used again.
    generators: RefCell<Vec<Option<Rc<Entry<C>>>>>,
}

impl<C: Clock> Machine<C> {
    /// A machine without generators.
    pub const fn new(scratch: &'static Scratch) -> Self {
        Self { scratch, generators: RefCell::new(Vec::new()) }
    }

    /// The area that arguments and results cross through.
    pub const fn scratch(&self) -> &'static Scratch {
        self.scratch
    }

    /// Runs one call: 0 means done; 1 means refused, with the error in the scratch area.
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

/// Names every call that takes no argument, for a macro that exports them: the method of [`Machine`], the name in
/// JavaScript.
#[macro_export]
macro_rules! calls {
    ($export:ident) => {
        $export! {
            sno_parse => "snoParse",
            sno_metabyte => "snoMetabyte",
            sno_with => "snoWith",
            sno_from_parts => "snoFromParts",
            sno_from_uuid => "snoFromUuid",
            sno_texts => "snoTexts",
            sno_time_range => "snoTimeRange",
            sno_offer => "snoOffer",
            sno_release => "snoRelease",
            sno_generate => "snoGenerate",
            sno_generate_at => "snoGenerateAt",
            sno_fill => "snoFill",
            sno_partition => "snoPartition",
            sno_extend_window => "snoExtendWindow",
            sno_stats => "snoStats",
            sno_close => "snoClose",
        }
    };
}
