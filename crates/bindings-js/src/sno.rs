//! Calls for sno: this file contains the calls on generators, and `ids` contains the calls on strings and bytes.

mod ids;

use alloc::{rc::Rc, vec::Vec};

use polyflake::{
    ErrorKind, Result,
    sno::{Builder, Generator, Snapshot, Sno},
};

use crate::{
    Host, Machine, Scratch, ScratchRef,
    generators::GeneratorCalls,
    handles::Object,
    options::{optional_integer, optional_word},
    protocol::{BATCH, register},
    scratch::{MAX_SAFE_INTEGER, integer},
};

impl Scratch {
    /// Returns the metabyte of new IDs.
    #[inline]
    fn metabyte(&self) -> Result<u8> {
        self.byte(register::PARAMETER, "metabyte")
    }
}

/// The register that contains a snapshot's first number. It follows the registers of the options.
const SNAPSHOT_REGISTER: usize = register::OWN + 6;

/// Operations on generators. All operations except the first also read a handle.
impl<C: Host> Machine<C> {
    /// Reads the shared options and `how`, which selects what the call does: 0 creates a generator, 1 restores a
    /// snapshot, 2 imports a snapshot of the original sno library, and 3 creates a generator for a lease's grant. Then
    /// reads the metabyte, the partition, the sequence bounds, a flag that is 1 if default partitions are reserved from
    /// a table that JavaScript passed, and the snapshot. Writes the generator's handle.
    pub fn sno_build(&self, at: ScratchRef) -> Result<()> {
        let (clock, key) = self.take_clock();
        let shared = at.shared_options()?;
        let [how, metabyte, partition, min, max, is_lent] = at.values(register::OWN);
        let mut builder =
            Builder::with_clock(clock).partitions_from(C::table_finder(is_lent > 0.0));
        // The metabyte is only validated here. JavaScript stores it and passes it with each call.
        optional_integer(metabyte, "metabyte", u8::MAX.into())?;
        if let Some(partition) = optional_word(partition, "partition")? {
            builder = builder.partition(partition);
        }
        if let Some(min) = optional_word(min, "sequence_min")? {
            builder = builder.sequence_min(min);
        }
        if let Some(max) = optional_word(max, "sequence_max")? {
            builder = builder.sequence_max(max);
        }
        builder = shared.apply_all(builder);
        let how = integer(how, "how", 3)?;
        let generator = C::get_or_build(key, Generator::is_usable, || match how {
            0 => builder.build(),
            3 => builder.build().map(Generator::for_grant),
            1 => builder.restore(at.snapshot()?),
            _ => builder.import_original(at.snapshot()?),
        })
        .map_err(|error| shared.with_option_name(error))?;
        self.put_object(at, Object::Sno(generator));
        Ok(())
    }

    /// Reads a metabyte, generates an ID, and writes its string.
    #[inline]
    pub fn sno_generate(&self, at: ScratchRef) -> Result<()> {
        let (object, metabyte) = (self.object(at)?, at.metabyte()?);
        let text = object.sno()?.generate(metabyte)?.text();
        at.put_text::<{ Sno::TEXT_LEN }>(text.as_bytes());
        Ok(())
    }

    /// Reads a metabyte and a time, generates an ID for that time, and writes its string.
    pub fn sno_generate_at(&self, at: ScratchRef) -> Result<()> {
        let (object, metabyte) = (self.object(at)?, at.metabyte()?);
        let unix_ms = at.time(register::VALUE);
        let id =
            object.sno()?.generate_at(unix_ms, metabyte).map_err(|error| match error.kind() {
                ErrorKind::TimeOutOfRange => error.with_field("at"),
                _ => error,
            })?;
        at.put_sno(0, id);
        Ok(())
    }

    /// Writes the partition, or NaN if the generator has not picked one yet.
    pub fn sno_partition(&self, at: ScratchRef) -> Result<()> {
        let partition = self.object(at)?.sno()?.partition().map_or(f64::NAN, f64::from);
        at.put_number(register::ANSWER, partition);
        Ok(())
    }
}

/// A packed ID consists of the ID's bytes.
impl<C: Host> GeneratorCalls<C> for Generator<C> {
    fn put_one(&self, machine: &Machine<C>) -> Result<()> {
        let at = machine.scratch;
        at.put_sno(0, self.try_generate(at.metabyte()?)?);
        Ok(())
    }

    fn begin_one(&self, machine: &Machine<C>, object: Rc<Object<C>>) -> Result<()> {
        let at = machine.scratch;
        let metabyte = at.metabyte()?;
        machine.begin(at, async move {
            let id = object.sno()?.generate_async(|time| at.sleep(time), metabyte).await?;
            at.put_bytes(0, &id.to_bytes());
            Ok(Vec::new())
        })
    }

    #[inline(never)]
    fn put_many(&self, machine: &Machine<C>, waits: bool) -> Result<()> {
        let at = machine.scratch;
        let (metabyte, mut ids) = (at.metabyte()?, [Sno::MIN; BATCH]);
        let ids = &mut ids[..at.count()];
        let made = if waits {
            self.fill(metabyte, ids)?;
            ids.len()
        } else {
            self.try_fill(metabyte, ids)?
        };
        at.put_bytes(0, Sno::slice_as_bytes(ids));
        at.put_length(made);
        Ok(())
    }

    /// Writes NaN for the partition if the generator has not picked one yet.
    #[allow(clippy::cast_precision_loss, reason = "ticks have 39 bits")]
    fn put_stats(&self, machine: &Machine<C>) -> Result<()> {
        let stats = self.stats()?;
        machine.scratch.put_results(&[
            stats.partition.map_or(f64::NAN, f64::from),
            stats.sequence_min.into(),
            stats.sequence_max.into(),
            stats.sequence.into(),
            stats.len.into(),
            stats.now as f64,
            stats.wall_hi as f64,
            stats.wall_safe as f64,
            stats.drifts.into(),
            stats.closed.into(),
        ]);
        Ok(())
    }

    /// Writes the snapshot, with its members in the order in which the call that restores it reads them.
    #[allow(clippy::cast_precision_loss, reason = "ticks have 39 bits")]
    fn put_final_state(&self, machine: &Machine<C>) -> Result<()> {
        let snapshot = self.close()?;
        let [high, low] = snapshot.partition.map(f64::from);
        machine.scratch.put_results(&[
            Snapshot::FORMAT.1 as f64,
            high,
            low,
            snapshot.sequence_min.into(),
            snapshot.sequence_max.into(),
            snapshot.sequence.into(),
            snapshot.now as f64,
            snapshot.wall_hi as f64,
            snapshot.wall_safe as f64,
            snapshot.drifts.into(),
        ]);
        Ok(())
    }

    fn may_repeat_object(&self, other: &Object<C>, end: Option<i64>) -> Result<bool> {
        let Object::Sno(other) = other else { return Ok(false) };
        self.may_repeat(other, end)
    }
}

impl Scratch {
    /// Reads the snapshot: its format, the two bytes of the partition, and then the other members.
    fn snapshot(&self) -> Result<Snapshot> {
        let [format, high, low, members @ ..] = self.values::<10>(SNAPSHOT_REGISTER);
        Snapshot::check_format(integer(format, "format", MAX_SAFE_INTEGER)?)?;
        let byte = |byte| integer(byte, "partition", u8::MAX.into());
        let mut values = [byte(high)? << 8 | byte(low)?; 8];
        let limits = &Snapshot::MEMBERS[1..];
        for ((value, member), (name, most)) in values[1..].iter_mut().zip(members).zip(limits) {
            // A float represents all integers exactly only up to 2^53. The members with 64-bit limits are ticks, which fit
            // in 39 bits.
            *value = integer(member, name, (*most).min(Sno::MAX.tick()))?;
        }
        Snapshot::from_numbers(values)
    }
}
