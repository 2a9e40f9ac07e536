//! Converts entries in the table of default partitions to and from JavaScript numbers, which are floats.

use polyflake::{
    Error, ErrorKind, Result,
    fork::partitions::{RESERVED, Table},
};

use crate::{Host, Machine, Scratch, ScratchRef, floats, protocol::register, scratch::low_16_bits};

/// Converts a table entry for JavaScript.
#[allow(clippy::cast_precision_loss, reason = "entries have 53 bits")]
pub const fn entry_to_float(entry: u64) -> f64 {
    entry as f64
}

/// Converts a table entry from JavaScript. NaN stands for an entry that could not be read. Such an entry counts as
/// permanently reserved, so that no generator gets its partition.
pub fn entry_from_float(entry: f64) -> u64 {
    if entry >= 0.0 { floats::to_u64(entry) } else { RESERVED }
}

/// Converts a 16-bit number that a JavaScript function returned. The function returns NaN if it fails.
///
/// # Errors
///
/// Returns `entropy_unavailable` if the number is NaN or not in the 16-bit range. JavaScript stores the exception that
/// caused the failure.
pub fn word_from_float(word: f64) -> Result<u16> {
    if (0.0..65_536.0).contains(&word) {
        Ok(floats::to_u16(word))
    } else {
        Err(Error::new(ErrorKind::EntropyUnavailable))
    }
}

impl Scratch {
    fn partition(&self) -> Result<u16> {
        self.checked_bits(register::VALUE, "partition", 16)
            .map(|partition| low_16_bits(partition.into()))
    }
}

/// Operations on this backend's table of default partitions. Other backends reserve partitions from this table.
impl<C: Host> Machine<C> {
    /// Writes the partition to check next.
    pub fn partitions_next(&self, at: ScratchRef, table: &dyn Table) -> Result<()> {
        at.put_number(register::ANSWER, table.next_partition()?.into());
        Ok(())
    }

    /// Reads a partition, and writes its entry.
    pub fn partitions_entry(&self, at: ScratchRef, table: &dyn Table) -> Result<()> {
        let partition = at.partition()?;
        at.put_number(register::ANSWER, entry_to_float(table.entry(partition)));
        Ok(())
    }

    /// Reads a partition, its expected entry, and a new entry. Writes 1 if the new entry was stored, or 0 if the partition
    /// had a different entry.
    pub fn partitions_swap(&self, at: ScratchRef, table: &dyn Table) -> Result<()> {
        let partition = at.partition()?;
        let [old, new] = [1, 2].map(|place| entry_from_float(at.number(register::VALUE + place)));
        at.put_number(register::ANSWER, table.swap(partition, old, new).into());
        Ok(())
    }
}
