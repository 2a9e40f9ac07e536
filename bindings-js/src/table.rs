//! The table of default partitions in JavaScript's numbers, which are floats.

use polyflake::{Error, ErrorKind, Result, fork::partitions::Table};

use crate::{At, Host, Machine, protocol::slot};

/// The end of a lease that never ends.
const FOREVER: f64 = -1.0;

/// Converts the tick up to which a partition is taken, for JavaScript.
#[allow(clippy::cast_precision_loss, reason = "ticks have 39 bits")]
pub const fn tick_to_float(tick: u64) -> f64 {
    if tick == u64::MAX { FOREVER } else { tick as f64 }
}

/// Converts the tick up to which a partition is taken, from JavaScript; NaN and negative numbers mean forever.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "compared before")]
pub fn tick_of_float(tick: f64) -> u64 {
    if tick >= 0.0 { tick as u64 } else { u64::MAX }
}

/// Converts 16 bits from JavaScript, which returns NaN for a failure.
///
/// # Errors
/// `entropy_unavailable` for a failure; JavaScript knows the cause.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "compared before")]
pub fn word_of_float(word: f64) -> Result<u16> {
    if (0.0..65_536.0).contains(&word) {
        Ok(word as u16)
    } else {
        Err(Error::new(ErrorKind::EntropyUnavailable))
    }
}

/// A machine's own table, from which other machines lease.
impl<C: Host> Machine<C> {
    /// -> the partition to look at next.
    pub fn partitions_next(&self, at: At, table: &dyn Table) -> Result<()> {
        at.put_number(slot::TABLE_ANSWER_NUMBER, table.next()?.into());
        Ok(())
    }

    /// A partition -> the tick up to which it is taken.
    pub fn partitions_until(&self, at: At, table: &dyn Table) -> Result<()> {
        let partition = at.word(slot::TABLE_PARTITION, "partition")?;
        at.put_number(slot::TABLE_ANSWER_NUMBER, tick_to_float(table.until(partition)));
        Ok(())
    }

    /// A partition, its expected tick, a new tick -> 1 if the new tick was set, 0 if the partition had another tick.
    pub fn partitions_swap(&self, at: At, table: &dyn Table) -> Result<()> {
        let partition = at.word(slot::TABLE_PARTITION, "partition")?;
        let [old, new] =
            [slot::TABLE_OLD, slot::TABLE_NEW].map(|slot| tick_of_float(at.number(slot)));
        at.put_number(slot::TABLE_ANSWER_NUMBER, table.swap(partition, old, new).into());
        Ok(())
    }
}
