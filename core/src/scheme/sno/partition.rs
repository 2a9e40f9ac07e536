//! How a generator gets its partition, keeps it while it makes IDs, and lets it go.

#[cfg(feature = "alloc")]
use super::identity::exhausted;
use super::{
    Drawn, Generator, SCALE,
    claims::Claim,
    identity::{Draw, Identity, Origin},
};
#[cfg(feature = "alloc")]
use crate::fork::partitions::{Leases as _, Table};
use crate::{Error, ErrorKind, Result, clock::Clock, fork, scheme::Owner};

impl<C> Generator<C> {
    /// Refuses a process that the partition or the window was not given to.
    pub(super) fn check_process(&self) -> Result<()> {
        match self.origin {
            Origin::Given { epoch, .. } if epoch == fork::epoch() => Ok(()),
            Origin::Given { .. } => Err(Error::new(ErrorKind::Forked)),
            Origin::Drawn { window_of, .. } => window_of.map_or(Ok(()), Owner::check),
        }
    }

    /// The claim of this process that holds for a tick, of those that its window leaves.
    #[inline]
    pub(super) fn claim_of(&self, tick: u64) -> Result<&Claim> {
        let claim = self.claims.current();
        let is_here = claim.identity().epoch == fork::epoch();
        if is_here && claim.holds(tick) { Ok(claim) } else { self.reclaim(tick) }
    }

    /// Goes on with the claim that there is, or draws another: at the first ID, after a fork, when another generator has the partition
    /// after a long time without an ID, and where the clock went back behind the lease.
    #[cold]
    fn reclaim(&self, tick: u64) -> Result<&Claim> {
        fork::prepare()?;
        loop {
            let claim = self.claims.current();
            if claim.identity().epoch == fork::current() && self.prolong(claim, tick)? {
                claim.extend(self.window.ticks().end);
                return Ok(claim);
            }
            self.draw_anew(claim, tick)?;
        }
    }

    /// Puts another claim in the place of the one that was found, unless another thread was faster.
    fn draw_anew(&self, found: &Claim, tick: u64) -> Result<()> {
        let Origin::Drawn { draw, own_min, .. } = self.origin else {
            return Err(Error::new(ErrorKind::Forked));
        };
        // Before the draw, which may fork: what both processes drew then is the parent's.
        let epoch = fork::current();
        let least = |drawn| if own_min { self.bounds.min } else { drawn };
        match draw {
            Draw::By(draw) => {
                let Drawn { partition, sequence_min } = draw()?;
                self.settle(found, Identity { epoch, partition, min: least(sequence_min) });
            }
            #[cfg(feature = "alloc")]
            Draw::Leased(find) => {
                let table = find()?;
                let min = least(table.random()? >> 1);
                let lease = table.take(tick).map_err(exhausted)?;
                let identity = Identity { epoch, partition: lease.partition, min };
                self.claims.put(found, Claim::leased(identity, self.window.start(), lease));
            }
        }
        let _ = tick;
        Ok(())
    }

    /// Puts an identity that never ends in the place of what was found.
    fn settle(&self, found: &Claim, mine: Identity) -> bool {
        if self.claims.settle(found.identity(), mine) {
            return true;
        }
        #[cfg(feature = "alloc")]
        {
            let claim = Claim::unending(mine, self.window.start());
            self.claims.put(found, claim).identity() == mine
        }
        #[cfg(not(feature = "alloc"))]
        false
    }

    /// Gives the generator a default partition that was drawn elsewhere, unless it has one in this process, and returns whether it
    /// took it: for bindings, whose copies share one source. No part of what is promised.
    ///
    /// # Errors
    /// `forked` as in [`fork::prepare`].
    #[doc(hidden)]
    pub fn provide_identity(&self, drawn: Drawn) -> Result<bool> {
        fork::prepare()?;
        let (epoch, found) = (fork::current(), self.claims.current());
        let Origin::Drawn { own_min, .. } = self.origin else { return Ok(false) };
        if found.identity().epoch == epoch {
            return Ok(false);
        }
        let min = if own_min { self.bounds.min } else { drawn.sequence_min };
        Ok(self.settle(found, Identity { epoch, partition: drawn.partition, min }))
    }

    /// The table that it leases its partitions from, if it does.
    #[cfg(feature = "alloc")]
    fn table(&self) -> Option<Result<&'static dyn Table>> {
        match self.origin {
            Origin::Drawn { draw: Draw::Leased(find), .. } => Some(find()),
            _ => None,
        }
    }

    /// Returns whether a claim's lease has a tick, be it by renewing the lease.
    #[cfg(feature = "alloc")]
    fn prolong(&self, claim: &Claim, tick: u64) -> Result<bool> {
        loop {
            let lease = claim.lease();
            if tick < lease.until {
                return Ok(lease.start <= tick);
            }
            let Some(table) = self.table() else { return Ok(false) };
            match table?.renew(lease, tick) {
                Some(until) => claim.renewed(until),
                // Another thread of this generator may have renewed it.
                None if claim.lease().until == lease.until => return Ok(false),
                None => {}
            }
        }
    }

    /// Without a table no claim ends.
    #[cfg(not(feature = "alloc"))]
    #[allow(clippy::unnecessary_wraps, clippy::unused_self, reason = "with a table it may fail")]
    const fn prolong(&self, _: &Claim, _: u64) -> Result<bool> {
        Ok(true)
    }
}

impl<C: Clock> Generator<C> {
    /// Who this generator is in this process, for what has no tick of its own.
    pub(super) fn identity(&self) -> Result<Identity> {
        self.check_process()?;
        let claim = self.claims.current();
        let is_here = claim.identity().epoch == fork::epoch();
        if is_here && claim.is_unending() {
            return Ok(claim.identity());
        }
        Ok(self.claim_of(self.tick_now()?)?.identity())
    }

    fn tick_now(&self) -> Result<u64> {
        SCALE.tick_of_nanos(self.clock.unix_nanos()?)
    }

    /// Makes the partition this generator's for ever, and returns who it is.
    #[cfg(feature = "alloc")]
    pub(super) fn keep_partition(&self) -> Result<Identity> {
        if self.state.is_closed() {
            return Err(Error::new(ErrorKind::GeneratorClosed));
        }
        loop {
            let identity = self.identity()?;
            let claim = self.claims.current();
            if claim.identity() != identity {
                continue;
            }
            let (lease, table) = (claim.lease(), self.table().transpose()?);
            if claim.is_unending() || table.is_none_or(|table| table.keep(lease)) {
                claim.renewed(u64::MAX);
                return Ok(identity);
            }
        }
    }

    #[cfg(not(feature = "alloc"))]
    pub(super) fn keep_partition(&self) -> Result<Identity> {
        self.identity()
    }
}

/// Gives a default partition back, for the ticks after the last one used.
#[cfg(feature = "alloc")]
impl<C> Drop for Generator<C> {
    fn drop(&mut self) {
        let claim = self.claims.current();
        // In a child it is the parent's.
        if claim.is_unending() || claim.identity().epoch != fork::epoch() {
            return;
        }
        let state = self.state.state();
        if let Some(Ok(table)) = self.table() {
            table.give_back(claim.lease(), state.tick.max(state.safe) + 1);
        }
    }
}
