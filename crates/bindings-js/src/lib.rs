//! The common part of the native addon and the wasm module: calls without arguments that pass their data through one
//! scratch area.
//!
//! ```text
//! TypeScript --numbers, UTF-16 units, bytes--> Scratch --> a call --> core --> Scratch --> TypeScript
//! ```
//!
//! An argument or a string costs a native call 60 ns and a wasm call 100 ns; a number written to memory costs 1 ns.
//! Therefore no call has arguments. The native addon and the wasm module provide the same calls, so the TypeScript code
//! that uses the calls is written only once. The documentation of each call states what the call reads from the scratch
//! area and what it writes there: a few registers, and messages for values of any type or size. Options are passed in
//! registers in a fixed order. In an experiment, passing them as messages that contained their names made the compressed
//! modules 3.4 to 3.9 % larger.
//!
//! # What a call may rely on
//!
//! - **One thread.** A machine is never shared, so it consists of cells, and needs no lock.
//! - **Reentrancy.** A caller's clock is JavaScript, which may make further calls on the same machine and so overwrite the
//!   scratch area. A call therefore reads all its arguments before it reads a clock, and writes its answer afterwards.
//! - **Abandoned calls.** If the stack overflows, V8 leaves a wasm function without running its last instructions.
//!   TypeScript restores wasm's stack pointer. An interrupted allocation could not be repaired, so TypeScript checks that
//!   enough stack is left before each call that allocates (`packages/js/src/stack.ts`).
//!
//! Reading order: `protocol` (names and numbers shared with TypeScript), `scratch` (the area), `message` and `options`
//! (messages), `errors` (errors for JavaScript), `host` (clock and random bytes), `handles` (objects behind handles),
//! `turns` (calls that wait), `table` (default partitions), `generators` (the calls that all generators have), then the ID
//! formats.
#![no_std]
#![cfg_attr(
    not(feature = "default"),
    allow(
        dead_code,
        unused_macros,
        unused_imports,
        reason = "a module with one format does not use all that the formats share"
    )
)]

extern crate alloc;

mod errors;
mod floats;
mod generators;
mod handles;
mod host;
#[cfg(feature = "hotguid")]
mod hotguid;
#[cfg(feature = "layout")]
mod layout;
mod message;
mod options;
mod protocol;
#[cfg(feature = "public")]
mod public;
#[cfg(feature = "randflake")]
mod randflake;
mod scratch;
#[cfg(feature = "sno")]
mod sno;
mod table;
mod turns;
#[cfg(feature = "uuid7")]
mod uuid7;

use alloc::{rc::Rc, vec::Vec};
use core::cell::RefCell;

use handles::Object;
pub use host::Host;
use polyflake::Result;
pub use protocol::{NUMBERS, register};
pub use scratch::{Scratch, ScratchRef};
pub use table::{entry_from_float, entry_to_float, word_from_float};

/// A thread's backend: the scratch area, and the objects that the backend stores for JavaScript. `C` is the backend's type
/// of clock.
pub struct Machine<C: Host> {
    scratch: &'static Scratch,
    /// The objects, indexed by handle. Empty entries are reused.
    handles: RefCell<Vec<Option<Rc<Object<C>>>>>,
    /// The object that the last call used, and its handle as the bits of a register.
    last: RefCell<Option<(u64, Rc<Object<C>>)>>,
    /// A message that is too long for the scratch area.
    message: RefCell<Vec<u8>>,
    /// The clock for the next generator that is built.
    clock: RefCell<Option<C>>,
}

impl<C: Host> Machine<C> {
    /// Creates a machine without objects.
    pub const fn new(scratch: &'static Scratch) -> Self {
        Self {
            scratch,
            handles: RefCell::new(Vec::new()),
            last: RefCell::new(None),
            message: RefCell::new(Vec::new()),
            clock: RefCell::new(None),
        }
    }

    /// Returns the scratch area for arguments and results.
    pub const fn scratch(&self) -> &'static Scratch {
        self.scratch
    }

    /// Runs one call. Returns 0 if the call succeeded, or 1 if it failed and its error is in the scratch area.
    #[inline]
    pub fn run(&self, call: impl FnOnce(&Self, ScratchRef) -> Result<()>) -> u32 {
        match call(self, self.scratch) {
            Ok(()) => 0,
            Err(error) => {
                errors::write(self.scratch, &error);
                1
            }
        }
    }
}
