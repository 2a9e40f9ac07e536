//! sno: generators are here, strings and bytes in `ids`.

mod ids;

use polyflake::{
    ErrorKind, Result,
    clock::Clock,
    sno::{Builder, Generator, Snapshot, Sno},
};

use crate::{
    At, Host, Machine, Scratch,
    generators::Shared,
    handles::Object,
    protocol::{BATCH, slot},
    scratch::MAX_SAFE_INTEGER,
};

/// Fills a batch with new IDs, and returns how many it wrote.
type Fill<'f, C> = &'f dyn Fn(&Generator<C>, u8, &mut [Sno]) -> Result<usize>;

/// Calls on generators. All but the first also take a handle, and those that generate IDs take a metabyte, too.
impl<C: Host> Machine<C> {
    /// Takes options, and writes a handle. `how` is 0 for a new generator, 1 to restore a snapshot, and 2 to import a snapshot
    /// of the original library. `IS_LENT` is 1 if default partitions are leased from a lent table.
    pub fn sno_build(&self, at: At) -> Result<()> {
        let clock = self.take_clock();
        let shared = at.shared()?;
        let is_lent = at.integer(slot::SNO_OPTIONS_IS_LENT, "is_lent", 1)? == 1;
        let builder = Builder::with_clock(clock).leased_from(C::table(is_lent));
        let builder = at.options(builder, &shared)?;
        let generator = match at.integer(slot::SNO_OPTIONS_HOW, "how", 2)? {
            0 => builder.build(),
            1 => builder.restore(at.snapshot()?),
            _ => builder.import_original(at.snapshot()?),
        }
        .map_err(|error| shared.named(error))?;
        self.put_object(at, Object::Sno(generator));
        Ok(())
    }

    /// Generates an ID, and writes its string.
    #[inline]
    pub fn sno_generate(&self, at: At) -> Result<()> {
        let (object, metabyte) = (self.object(at)?, at.byte(slot::SNO_ONE_METABYTE, "metabyte")?);
        let text = object.sno()?.generate(metabyte)?.text();
        self.scratch.put_text::<{ Sno::TEXT_LEN }>(text.as_bytes());
        Ok(())
    }

    /// Takes a time. Generates an ID for it, and writes its string.
    pub fn sno_generate_at(&self, at: At) -> Result<()> {
        let (object, metabyte) = (self.object(at)?, at.byte(slot::SNO_ONE_METABYTE, "metabyte")?);
        let unix_ms = at.time(slot::SNO_AT_TIME);
        let id =
            object.sno()?.generate_at(unix_ms, metabyte).map_err(|error| match error.kind() {
                ErrorKind::TimeOutOfRange => error.with_field("at"),
                _ => error,
            })?;
        self.scratch.put_sno(0, id);
        Ok(())
    }

    /// Generates an ID without waiting, and writes its string.
    pub fn sno_try_generate(&self, at: At) -> Result<()> {
        let (object, metabyte) = (self.object(at)?, at.byte(slot::SNO_ONE_METABYTE, "metabyte")?);
        let id = object.sno()?.try_generate(metabyte)?;
        self.scratch.put_sno(0, id);
        Ok(())
    }

    /// Generates one ID in turns, and writes its bytes.
    pub fn sno_one_async(&self, at: At) -> Result<()> {
        let (object, metabyte) = (self.object(at)?, at.byte(slot::SNO_ONE_METABYTE, "metabyte")?);
        self.begin(at, async move {
            let id = object.sno()?.generate_async(|time| at.sleep(time), metabyte).await?;
            at.put_bytes(0, &id.to_bytes());
            Ok(None)
        })
    }

    /// Takes a count of at most [`BATCH`]. Writes packed bytes.
    pub fn sno_fill(&self, at: At) -> Result<()> {
        self.sno_fill_by(at, &|generator, metabyte, ids| {
            generator.fill(metabyte, ids)?;
            Ok(ids.len())
        })
    }

    /// Works like `sno_fill`, but without waiting. Writes packed bytes and the number of IDs.
    pub fn sno_fill_now(&self, at: At) -> Result<()> {
        self.sno_fill_by(at, &Generator::try_fill)
    }

    #[inline(never)]
    fn sno_fill_by(&self, at: At, fill: Fill<'_, C>) -> Result<()> {
        let (object, metabyte) = (self.object(at)?, at.byte(slot::SNO_ONE_METABYTE, "metabyte")?);
        let (mut ids, count) = ([Sno::MIN; BATCH], at.count(slot::MANY_COUNT));
        let ids = &mut ids[..count];
        let made = fill(object.sno()?, metabyte, ids)?;
        self.scratch.put_bytes(0, Sno::slice_as_bytes(ids));
        at.put_length(made);
        Ok(())
    }

    /// Writes the partition, or NaN if the generator has none yet.
    pub fn sno_partition(&self, at: At) -> Result<()> {
        let partition = self.object(at)?.sno()?.partition().map_or(f64::NAN, f64::from);
        at.put_number(slot::SNO_PARTITION_PARTITION, partition);
        Ok(())
    }

    /// Writes the statistics, with NaN if the generator has no partition yet.
    #[allow(clippy::cast_precision_loss, reason = "ticks have 39 bits")]
    pub fn sno_stats(&self, at: At) -> Result<()> {
        let stats = self.object(at)?.sno()?.stats()?;
        let numbers = [
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
        ];
        at.put_numbers(slot::SNO_STATS_PARTITION, &numbers);
        Ok(())
    }

    /// Closes the generator, and writes the snapshot to the slots from which one is restored.
    pub fn sno_close(&self, at: At) -> Result<()> {
        let snapshot = self.object(at)?.sno()?.close()?;
        at.put_snapshot(&snapshot);
        Ok(())
    }
}

impl Scratch {
    fn options<C: Clock>(&self, mut builder: Builder<C>, shared: &Shared) -> Result<Builder<C>> {
        // The metabyte is only checked here, because JavaScript stores it and passes it with each call.
        self.optional(slot::SNO_OPTIONS_METABYTE, |s, at| s.byte(at, "metabyte"))?;
        if let Some(partition) =
            self.optional(slot::SNO_OPTIONS_PARTITION, |s, at| s.word(at, "partition"))?
        {
            builder = builder.partition(partition);
        }
        if let Some(least) =
            self.optional(slot::SNO_OPTIONS_SEQUENCE_MIN, |s, at| s.word(at, "sequence_min"))?
        {
            builder = builder.sequence_min(least);
        }
        if let Some(most) =
            self.optional(slot::SNO_OPTIONS_SEQUENCE_MAX, |s, at| s.word(at, "sequence_max"))?
        {
            builder = builder.sequence_max(most);
        }
        Ok(shared.give_all(builder))
    }

    /// Reads a snapshot: its format, the two bytes of the partition, and then the other members.
    fn snapshot(&self) -> Result<Snapshot> {
        Snapshot::check_format(self.integer(
            slot::SNO_SNAPSHOT_FORMAT,
            "format",
            MAX_SAFE_INTEGER,
        )?)?;
        let [high, low] = [
            self.byte(slot::SNO_SNAPSHOT_FORMAT + 1, "partition")?,
            self.byte(slot::SNO_SNAPSHOT_FORMAT + 2, "partition")?,
        ];
        let mut values = [u64::from(u16::from_be_bytes([high, low])); 8];
        let members = Snapshot::MEMBERS[1..].iter().zip(slot::SNO_SNAPSHOT_FORMAT + 3..);
        for (value, ((name, most), slot)) in values[1..].iter_mut().zip(members) {
            // A slot is a float, which represents all integers only up to 2^53. The members with 64-bit limits are ticks, which
            // have 39 bits.
            *value = self.integer(slot, name, (*most).min(Sno::MAX.tick()))?;
        }
        Snapshot::from_numbers(values)
    }

    #[allow(clippy::cast_precision_loss, reason = "ticks have 39 bits")]
    fn put_snapshot(&self, snapshot: &Snapshot) {
        let [partition_high, partition_low] = snapshot.partition.map(f64::from);
        let numbers = [
            Snapshot::FORMAT.1 as f64,
            partition_high,
            partition_low,
            snapshot.sequence_min.into(),
            snapshot.sequence_max.into(),
            snapshot.sequence.into(),
            snapshot.now as f64,
            snapshot.wall_hi as f64,
            snapshot.wall_safe as f64,
            snapshot.drifts.into(),
        ];
        self.put_numbers(slot::SNO_SNAPSHOT_FORMAT, &numbers);
    }
}
