//! A table of default partitions that belongs to another copy of the package. That copy runs on wasm or has its own addon.
//!
//! Two copies with separate tables could assign the same partition. Therefore the first copy that needs a table publishes
//! it, and all other copies call its functions. The core implements the rules that determine who may claim an entry, and
//! for how long. JavaScript only reads, compares and swaps cells. A call that fails returns NaN, which counts as a reserved
//! entry, so that a failure never frees a partition.

use napi::{
    Env, JsValue as _,
    bindgen_prelude::{FnArgs, FunctionRef},
};
use polyflake::{
    Result,
    fork::partitions::{Table, shared_table},
};
use polyflake_js::{entry_from_float, entry_to_float, word_from_float};

use crate::{clock, machine};

/// A function that returns the partition to check next, or NaN if it fails.
pub(crate) type NextFunction = FunctionRef<(), f64>;
/// A function that returns a partition's entry, or NaN if it fails.
pub(crate) type EntryFunction = FunctionRef<f64, f64>;
/// A function that receives a partition, its expected entry and a new entry. It returns 1 if the new entry was stored.
pub(crate) type SwapFunction = FunctionRef<FnArgs<(f64, f64, f64)>, f64>;

/// The functions of a table that was passed to this thread. They belong to one thread, become unusable when the thread's
/// environment ends, and never throw.
pub(crate) struct Functions {
    pub(crate) env: Env,
    pub(crate) next: NextFunction,
    pub(crate) entry: EntryFunction,
    pub(crate) swap: SwapFunction,
}

/// The table that was passed to the calling thread.
struct LentTable;

#[allow(
    clippy::unnecessary_wraps,
    reason = "`partitions::shared_table`, the other table, may fail"
)]
pub(crate) fn find_lent() -> Result<&'static dyn Table> {
    Ok(&LentTable)
}

impl Table for LentTable {
    fn random_bits(&self) -> Result<u16> {
        shared_table()?.random_bits()
    }

    fn next_partition(&self) -> Result<u16> {
        word_from_float(call_function(|lent| {
            clock::call_function(lent.env, lent.next.borrow_back(&lent.env).ok()?.raw(), &[]).ok()
        }))
    }

    fn entry(&self, partition: u16) -> u64 {
        entry_from_float(call_function(|lent| {
            let entry = lent.entry.borrow_back(&lent.env).ok()?;
            clock::call_function(lent.env, entry.raw(), &[partition.into()]).ok()
        }))
    }

    #[allow(clippy::float_cmp, reason = "one of two whole numbers")]
    fn swap(&self, partition: u16, old: u64, new: u64) -> bool {
        let numbers = [partition.into(), entry_to_float(old), entry_to_float(new)];
        call_function(|lent| {
            let swap = lent.swap.borrow_back(&lent.env).ok()?;
            clock::call_function(lent.env, swap.raw(), &numbers).ok()
        }) == 1.0
    }
}

/// Returns a function's result, or NaN if the environment has ended or the function failed.
fn call_function(call: impl FnOnce(&Functions) -> Option<f64>) -> f64 {
    machine::lent_functions().and_then(|lent| call(&lent)).unwrap_or(f64::NAN)
}
