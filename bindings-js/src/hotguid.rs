//! Hot Guid: generators are here, strings and bytes in `ids`.

mod ids;

use polyflake::{
    Result,
    hotguid::{Builder, Generator, HotGuid},
};

use crate::{
    At, Host, Machine,
    generators::seconds,
    handles::Object,
    protocol::{BATCH, slot},
};

/// Fills a batch with new IDs, and returns how many it wrote.
type Fill<'f, C> = &'f dyn Fn(&Generator<C>, u32, &mut [HotGuid]) -> Result<usize>;

/// Calls on generators. All but the first also take a handle, and those that generate IDs take a shard key, too.
impl<C: Host> Machine<C> {
    /// Takes options, and 1 for version 8 UUIDs or else 0. Writes a handle.
    pub fn hotguid_build(&self, at: At) -> Result<()> {
        let mut builder = Builder::with_clock(self.take_clock(), C::random).at_random();
        builder = builder.uuid8(at.integer(slot::HOTGUID_OPTIONS_UUID8, "uuid8", 1)? == 1);
        let shared = at.shared()?;
        builder = shared.give_all(builder);
        self.put_object(at, Object::HotGuid(builder.build().map_err(|error| shared.named(error))?));
        Ok(())
    }

    /// Takes a handle and 8 random bytes for the generator.
    pub fn hotguid_provide(&self, at: At) -> Result<()> {
        let mut drawn = [0; 8];
        self.scratch.get_bytes(0, &mut drawn);
        self.object(at)?.hotguid()?.provide_identity(drawn).map(drop)
    }

    /// Generates an ID, and writes its string.
    #[inline]
    pub fn hotguid_generate(&self, at: At) -> Result<()> {
        let (object, shard_key) =
            (self.object(at)?, at.double_word(slot::HOTGUID_ONE_SHARD_KEY, "shard_key")?);
        let id = object.hotguid()?.generate(shard_key)?;
        self.scratch.put_guid(0, id);
        Ok(())
    }

    /// Generates an ID without waiting, and writes its string.
    pub fn hotguid_try_generate(&self, at: At) -> Result<()> {
        let (object, shard_key) =
            (self.object(at)?, at.double_word(slot::HOTGUID_ONE_SHARD_KEY, "shard_key")?);
        let id = object.hotguid()?.try_generate(shard_key)?;
        self.scratch.put_guid(0, id);
        Ok(())
    }

    /// Generates one ID in turns, and writes it packed, in RFC byte order.
    pub fn hotguid_one_async(&self, at: At) -> Result<()> {
        let (object, shard_key) =
            (self.object(at)?, at.double_word(slot::HOTGUID_ONE_SHARD_KEY, "shard_key")?);
        self.begin(at, async move {
            let id = object.hotguid()?.generate_async(|time| at.sleep(time), shard_key).await?;
            at.put_bytes(0, &id.to_rfc_bytes());
            Ok(None)
        })
    }

    /// Takes a count of at most [`BATCH`]. Writes packed IDs in RFC byte order.
    pub fn hotguid_fill(&self, at: At) -> Result<()> {
        self.hotguid_fill_by(at, &|guids, shard_key, ids| {
            guids.fill(shard_key, ids)?;
            Ok(ids.len())
        })
    }

    /// Works like `hotguid_fill`, but without waiting. Writes packed IDs and their number.
    pub fn hotguid_fill_now(&self, at: At) -> Result<()> {
        self.hotguid_fill_by(at, &Generator::try_fill)
    }

    #[inline(never)]
    fn hotguid_fill_by(&self, at: At, fill: Fill<'_, C>) -> Result<()> {
        let (object, shard_key) =
            (self.object(at)?, at.double_word(slot::HOTGUID_ONE_SHARD_KEY, "shard_key")?);
        let (mut ids, count) = ([HotGuid::default(); BATCH], at.count(slot::MANY_COUNT));
        let ids = &mut ids[..count];
        let made = fill(object.hotguid()?, shard_key, ids)?;
        for (index, id) in ids.iter().enumerate() {
            self.scratch.put_bytes(index * HotGuid::LEN, &id.to_rfc_bytes());
        }
        at.put_length(made);
        Ok(())
    }

    /// Writes the statistics, with NaN if no second has been used yet, and the 5 machine bytes.
    pub fn hotguid_stats(&self, at: At) -> Result<()> {
        let stats = self.object(at)?.hotguid()?.stats();
        self.scratch.put_bytes(0, &stats.machine.unwrap_or_default());
        let (closed, is_drawn) = (stats.closed.into(), stats.machine.is_some().into());
        at.put_numbers(
            slot::HOTGUID_STATS_LAST_SECOND,
            &[seconds(stats.last_second), stats.len.into(), closed, is_drawn],
        );
        Ok(())
    }

    /// Closes the generator.
    pub fn hotguid_close(&self, at: At) -> Result<()> {
        self.object(at)?.hotguid()?.close()
    }
}
