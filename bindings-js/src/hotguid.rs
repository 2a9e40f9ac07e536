//! Hot Guid: generators here, texts and bytes in `ids`.

mod ids;

use polyflake::{
    Result,
    hotguid::{Builder, Generator, HotGuid, Pool},
};

use crate::{
    Host, Machine,
    generators::{give, seconds},
    handles::Object,
    host::undrawn,
    protocol::{
        BATCH, HotguidStatsSlots,
        slot::{extension, hotguid_one::SHARD_KEY, hotguid_options::UUID8, many},
    },
};

/// Fills a batch with new IDs, and returns how many it made.
type Fill<'f, C> = &'f dyn Fn(&Generator<C>, u32, &mut [HotGuid]) -> Result<usize>;

/// Generators, by their handles; calls that make IDs also take a shard key.
impl<C: Host> Machine<C> {
    /// Options, then 1 for UUIDs of version 8, else 0 -> a handle.
    pub fn hotguid_build(&self) -> Result<()> {
        let mut builder = Builder::with_clock(self.take_clock(), undrawn);
        builder = builder.uuid8(self.scratch.integer(UUID8, "uuid8", 1)? == 1);
        let shared = self.scratch.shared()?;
        give!(builder, shared, window);
        self.put_object(Object::HotGuid(builder.build().map_err(|error| shared.named(error))?));
        Ok(())
    }

    /// Handle; 8 random bytes for the generator.
    pub fn hotguid_provide(&self) -> Result<()> {
        let mut drawn = [0; 8];
        self.scratch.get_bytes(0, &mut drawn);
        self.object()?.hotguid()?.provide_identity(drawn).map(drop)
    }

    /// -> text.
    #[inline]
    pub fn hotguid_generate(&self) -> Result<()> {
        let (object, shard_key) =
            (self.object()?, self.scratch.double_word(SHARD_KEY, "shard_key")?);
        let id = object.hotguid()?.generate(shard_key)?;
        self.scratch.put_guid(0, id);
        Ok(())
    }

    /// Does the same without waiting -> text.
    pub fn hotguid_try_generate(&self) -> Result<()> {
        let (object, shard_key) =
            (self.object()?, self.scratch.double_word(SHARD_KEY, "shard_key")?);
        let id = object.hotguid()?.try_generate(shard_key)?;
        self.scratch.put_guid(0, id);
        Ok(())
    }

    /// One ID, made in turns -> a packed ID in the RFC's order.
    pub fn hotguid_one_async(&self) -> Result<()> {
        let (object, shard_key) =
            (self.object()?, self.scratch.double_word(SHARD_KEY, "shard_key")?);
        let scratch = self.scratch;
        self.begin(async move {
            let id =
                object.hotguid()?.generate_async(|time| scratch.sleep(time), shard_key).await?;
            scratch.put_bytes(0, &id.to_rfc_bytes());
            Ok(None)
        })
    }

    /// Also a count of at most [`BATCH`] -> packed IDs in the RFC's order.
    pub fn hotguid_fill(&self) -> Result<()> {
        self.hotguid_fill_by(&|guids, shard_key, ids| {
            guids.fill(shard_key, ids)?;
            Ok(ids.len())
        })
    }

    /// Does the same without waiting -> packed IDs, their number.
    pub fn hotguid_fill_now(&self) -> Result<()> {
        self.hotguid_fill_by(&Generator::try_fill)
    }

    #[inline(never)]
    fn hotguid_fill_by(&self, fill: Fill<'_, C>) -> Result<()> {
        let (object, shard_key) =
            (self.object()?, self.scratch.double_word(SHARD_KEY, "shard_key")?);
        let (mut ids, count) = ([HotGuid::default(); BATCH], self.scratch.count(many::COUNT));
        let ids = &mut ids[..count];
        let made = fill(object.hotguid()?, shard_key, ids)?;
        for (index, id) in ids.iter().enumerate() {
            self.scratch.put_bytes(index * HotGuid::LEN, &id.to_rfc_bytes());
        }
        self.scratch.put_length(made);
        Ok(())
    }

    /// A message of handles -> nothing; refused unless all may be in one pool.
    pub fn hotguid_pool(&self) -> Result<()> {
        let object = self.objects_in_message()?;
        Pool::new(object.iter().filter_map(|object| object.hotguid().ok())).map(drop)
    }

    /// Also the new end.
    pub fn hotguid_extend_window(&self) -> Result<()> {
        self.object()?.hotguid()?.extend_window(self.scratch.time(extension::END))
    }

    /// -> the figures, with NaN for a second when there was none; the 5 bytes of the machine.
    pub fn hotguid_stats(&self) -> Result<()> {
        let stats = self.object()?.hotguid()?.stats();
        self.scratch.put_bytes(0, &stats.machine.unwrap_or_default());
        let slots = HotguidStatsSlots {
            last_second: seconds(stats.last_second),
            len: stats.len.into(),
            closed: stats.closed.into(),
            is_drawn: stats.machine.is_some().into(),
        };
        slots.put(self.scratch);
        Ok(())
    }

    /// Ends the generator.
    pub fn hotguid_close(&self) -> Result<()> {
        self.object()?.hotguid()?.close()
    }
}
