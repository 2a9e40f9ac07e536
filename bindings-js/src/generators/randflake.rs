//! Randflake's generators.

use polyflake::{
    Result,
    randflake::{Builder, Randflake},
};

use super::{give, slot::OWN};
use crate::{Host, Machine, ids::BATCH, kept::Kept};

/// Slots of [`Machine::randflake_build`] beside those that all families share: the lease's four, then these.
const RESUME_AFTER: usize = OWN + 4;
const SECRET_LENGTH: usize = OWN + 5;

/// Generators, by the handle in the first slot.
impl<C: Host> Machine<C> {
    /// Options; the secret among the bytes -> a handle.
    pub fn randflake_build(&self) -> Result<()> {
        let (scratch, clock) = (self.scratch, self.take_clock());
        let secret = scratch.take_secret(SECRET_LENGTH);
        let mut builder = Builder::with_clock(scratch.lease(OWN)?, secret?, clock);
        if scratch.given(RESUME_AFTER) {
            builder = builder.resume_after(scratch.time(RESUME_AFTER));
        }
        let shared = scratch.shared()?;
        give!(builder, shared: on_exhausted, max_wait);
        self.keep(Kept::Randflake(builder.build()?));
        Ok(())
    }

    /// -> ID.
    #[inline]
    pub fn randflake_generate(&self) -> Result<()> {
        let id = self.kept()?.randflake()?.generate()?;
        self.scratch.put_bigint(0, id.to_i64());
        Ok(())
    }

    /// Also a count of at most [`BATCH`] -> packed IDs.
    pub fn randflake_fill(&self) -> Result<()> {
        let (kept, mut ids) = (self.kept()?, [Randflake::default(); BATCH]);
        let ids = &mut ids[..self.scratch.count(1)];
        kept.randflake()?.fill(ids)?;
        for (index, id) in ids.iter().enumerate() {
            self.scratch.put_bytes(index * 8, &id.to_i64().to_ne_bytes());
        }
        Ok(())
    }

    /// -> first and last node, start, end.
    pub fn randflake_held_lease(&self) -> Result<()> {
        let lease = self.kept()?.randflake()?.lease();
        self.scratch.put_lease(lease);
        Ok(())
    }

    /// Also a lease's four.
    pub fn randflake_extend_lease(&self) -> Result<()> {
        let (kept, longer) = (self.kept()?, self.scratch.lease(1)?);
        kept.randflake()?.extend_lease(longer)
    }

    /// -> the last second (or NaN), IDs used of it, whether it is closed.
    #[allow(clippy::cast_precision_loss, reason = "34 bits for all nodes")]
    pub fn randflake_stats(&self) -> Result<()> {
        let stats = self.kept()?.randflake()?.stats();
        let (second, closed) = (super::seconds(stats.last_second), stats.closed.into());
        self.scratch.put_numbers([second, stats.len as f64, closed]);
        Ok(())
    }

    /// -> the last second, or NaN.
    pub fn randflake_close(&self) -> Result<()> {
        let last = self.kept()?.randflake()?.close()?;
        self.scratch.put_numbers([super::seconds(last)]);
        Ok(())
    }
}
