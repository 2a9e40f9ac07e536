//! The table of default partitions as JavaScript has it, whose numbers are floats.

use polyflake::{Error, ErrorKind, Result, fork::partitions::Table};

use crate::{Host, Machine};

/// Stands for a lease that never ends.
const FOREVER: f64 = -1.0;

/// A tick up to which a partition is taken, for JavaScript.
#[allow(clippy::cast_precision_loss, reason = "ticks have 39 bits")]
pub const fn tick_to_float(tick: u64) -> f64 {
    if tick == u64::MAX { FOREVER } else { tick as f64 }
}

/// A tick up to which a partition is taken, from JavaScript; what is no number never ends.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "compared before")]
pub fn tick_of_float(tick: f64) -> u64 {
    if tick >= 0.0 { tick as u64 } else { u64::MAX }
}

/// 16 bits from JavaScript, which gives no number where it failed.
///
/// # Errors
/// `entropy_unavailable`: JavaScript knows the cause.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "compared before")]
pub fn word_of_float(word: f64) -> Result<u16> {
    if (0.0..65_536.0).contains(&word) {
        Ok(word as u16)
    } else {
        Err(Error::new(ErrorKind::EntropyUnavailable))
    }
}

/// A machine's own table, for other machines to lease from.
impl<C: Host> Machine<C> {
    /// -> the partition to look at next.
    pub fn partitions_next(&self, table: &dyn Table) -> Result<()> {
        self.scratch.put_numbers([table.next()?.into()]);
        Ok(())
    }

    /// A partition -> the tick up to which it is taken.
    pub fn partitions_until(&self, table: &dyn Table) -> Result<()> {
        let partition = self.scratch.word(0, "partition")?;
        self.scratch.put_numbers([tick_to_float(table.until(partition))]);
        Ok(())
    }

    /// A partition, the tick that is expected there, another -> 1 where that was put in its place, 0 where it was not.
    pub fn partitions_swap(&self, table: &dyn Table) -> Result<()> {
        let partition = self.scratch.word(0, "partition")?;
        let [old, new] = [1, 2].map(|slot| tick_of_float(self.scratch.number(slot)));
        self.scratch.put_numbers([table.swap(partition, old, new).into()]);
        Ok(())
    }
}
