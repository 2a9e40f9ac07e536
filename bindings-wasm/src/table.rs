//! The table of default partitions. It is stored in JavaScript, so that all copies of the package, all backends and all
//! threads share one table.

use polyflake::{Result, fork::partitions::Table};
use polyflake_js::{entry_from_float, entry_to_float, word_from_float};
use wasm_bindgen::prelude::*;

#[wasm_bindgen(module = "/src/host.js")]
extern "C" {
    /// Passes a table to the module. In the package, a script calls this function. It is exported only for tests.
    pub fn lend(table: &JsValue);

    fn random() -> f64;
    fn next() -> f64;
    fn entry(partition: u32) -> f64;
    fn swap(partition: u32, old: f64, new: f64) -> u32;
}

/// The table that JavaScript passed to the module.
struct LentTable;

/// Returns the table of default partitions that JavaScript passed to this module.
#[allow(clippy::unnecessary_wraps, reason = "`FindTable` may fail on other hosts")]
pub(crate) fn find_lent() -> Result<&'static dyn Table> {
    Ok(&LentTable)
}

impl Table for LentTable {
    fn random_bits(&self) -> Result<u16> {
        word_from_float(random())
    }

    fn next_partition(&self) -> Result<u16> {
        word_from_float(next())
    }

    fn entry(&self, partition: u16) -> u64 {
        entry_from_float(entry(partition.into()))
    }

    fn swap(&self, partition: u16, old: u64, new: u64) -> bool {
        swap(partition.into(), entry_to_float(old), entry_to_float(new)) == 1
    }
}
