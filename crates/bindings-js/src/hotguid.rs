//! Calls for Hot Guid: this file contains the calls on generators, and `ids` contains the calls on strings and bytes.

mod ids;

use alloc::{rc::Rc, vec::Vec};

use polyflake::{
    Result,
    hotguid::{Builder, Generator, HotGuid},
};

use crate::{
    Host, Machine, ScratchRef,
    generators::{GeneratorCalls, seconds},
    handles::Object,
    protocol::{BATCH, register},
    scratch::Scratch,
};

impl Scratch {
    /// Returns the shard key of new IDs.
    #[inline]
    fn shard_key(&self) -> Result<u32> {
        self.double_word(register::PARAMETER, "shard_key")
    }
}

/// Operations on generators. All operations except the first also read a handle.
impl<C: Host> Machine<C> {
    /// Reads the shared options, and a flag that is 1 for version 8 UUIDs and 0 otherwise. Writes a handle.
    pub fn hotguid_build(&self, at: ScratchRef) -> Result<()> {
        let builder = Builder::with_clock(self.take_clock().0, C::random_bytes).at_random();
        let (shared, is_uuid8) = (at.shared_options()?, at.number(register::OWN) > 0.0);
        let built = shared.apply_all(builder.uuid8(is_uuid8)).build();
        self.put_object(
            at,
            Object::HotGuid(built.map_err(|error| shared.with_option_name(error))?),
        );
        Ok(())
    }

    /// Reads a handle and 8 random bytes for the generator.
    pub fn hotguid_provide(&self, at: ScratchRef) -> Result<()> {
        let mut random = [0; 8];
        self.scratch.get_bytes(0, &mut random);
        self.object(at)?.hotguid()?.provide_identity(random).map(drop)
    }

    /// Reads a shard key, generates an ID, and writes its string.
    #[inline]
    pub fn hotguid_generate(&self, at: ScratchRef) -> Result<()> {
        let (object, shard_key) = (self.object(at)?, at.shard_key()?);
        at.put_guid(0, object.hotguid()?.generate(shard_key)?);
        Ok(())
    }
}

/// IDs are packed in RFC byte order.
impl<C: Host> GeneratorCalls<C> for Generator<C> {
    fn put_one(&self, machine: &Machine<C>) -> Result<()> {
        let at = machine.scratch;
        at.put_guid(0, self.try_generate(at.shard_key()?)?);
        Ok(())
    }

    fn begin_one(&self, machine: &Machine<C>, object: Rc<Object<C>>) -> Result<()> {
        let at = machine.scratch;
        let shard_key = at.shard_key()?;
        machine.begin(at, async move {
            let id = object.hotguid()?.generate_async(|time| at.sleep(time), shard_key).await?;
            at.put_bytes(0, &id.to_bytes());
            Ok(Vec::new())
        })
    }

    #[inline(never)]
    fn put_many(&self, machine: &Machine<C>, waits: bool) -> Result<()> {
        let at = machine.scratch;
        let (shard_key, mut ids) = (at.shard_key()?, [HotGuid::default(); BATCH]);
        let ids = &mut ids[..at.count()];
        let made = if waits {
            self.fill(shard_key, ids)?;
            ids.len()
        } else {
            self.try_fill(shard_key, ids)?
        };
        for (index, id) in ids.iter().enumerate() {
            at.put_bytes(index * HotGuid::LEN, &id.to_bytes());
        }
        at.put_length(made);
        Ok(())
    }

    /// Writes the statistics and the 5 machine bytes. The last second is NaN if no second has been used yet.
    fn put_stats(&self, machine: &Machine<C>) -> Result<()> {
        let (at, stats) = (machine.scratch, self.stats());
        at.put_bytes(0, &stats.machine.unwrap_or_default());
        let (closed, has_machine) = (stats.closed.into(), stats.machine.is_some().into());
        at.put_results(&[seconds(stats.last_second), stats.len.into(), closed, has_machine]);
        Ok(())
    }

    fn put_final_state(&self, _: &Machine<C>) -> Result<()> {
        self.close()
    }
}
