//! How a generator gets its partition, keeps it while it makes IDs, and lets it go.

#[cfg(feature = "std")]
use super::identity::{exhausted, random_min};
use super::{
    Drawn, Generator, SCALE,
    claims::Claim,
    identity::{Draw, Identity, Origin},
};
#[cfg(feature = "std")]
use crate::fork::partitions::{self, Lease};
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
            if claim.identity().epoch == fork::current() && prolong(claim, tick)? {
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
            #[cfg(feature = "std")]
            Draw::Leased => {
                let min = least(random_min()?);
                let lease = partitions::shared()?.take(tick).map_err(exhausted)?;
                let Lease { partition, start, until } = lease;
                let identity = Identity { epoch, partition, min };
                let claim = Claim::leased(identity, self.window.start(), start, until);
                self.claims.put(found, claim);
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
}

impl<C: Clock> Generator<C> {
    /// Who this generator is in this process, for what has no tick of its own.
    pub(super) fn identity(&self) -> Result<Identity> {
        self.check_process()?;
        let claim = self.claims.current();
        let is_here = claim.identity().epoch == fork::epoch();
        if is_here && claim.lease().1 == u64::MAX {
            return Ok(claim.identity());
        }
        Ok(self.claim_of(self.tick_now()?)?.identity())
    }

    fn tick_now(&self) -> Result<u64> {
        SCALE.tick_of_nanos(self.clock.unix_nanos()?)
    }

    /// Makes the partition this generator's for ever, and returns who it is.
    #[cfg(feature = "std")]
    pub(super) fn keep_partition(&self) -> Result<Identity> {
        if self.state.is_closed() {
            return Err(Error::new(ErrorKind::GeneratorClosed));
        }
        loop {
            let identity = self.identity()?;
            let claim = self.claims.current();
            let (start, until) = claim.lease();
            let lease = Lease { partition: identity.partition, start, until };
            if claim.identity() == identity
                && (until == u64::MAX || partitions::shared()?.keep(lease))
            {
                claim.renewed(u64::MAX);
                return Ok(identity);
            }
        }
    }

    #[cfg(not(feature = "std"))]
    pub(super) fn keep_partition(&self) -> Result<Identity> {
        self.identity()
    }
}

/// Returns whether a claim's lease has a tick, be it by renewing the lease.
#[cfg(feature = "std")]
fn prolong(claim: &Claim, tick: u64) -> Result<bool> {
    loop {
        let (start, until) = claim.lease();
        if tick < until {
            return Ok(start <= tick);
        }
        let lease = Lease { partition: claim.identity().partition, start, until };
        match partitions::shared()?.renew(lease, tick) {
            Some(until) => claim.renewed(until),
            // Another thread of this generator may have renewed it.
            None if claim.lease().1 == until => return Ok(false),
            None => {}
        }
    }
}

/// Without a table no claim ends.
#[cfg(not(feature = "std"))]
#[allow(clippy::unnecessary_wraps, reason = "with a table it may fail")]
const fn prolong(_: &Claim, _: u64) -> Result<bool> {
    Ok(true)
}

/// Gives a default partition back, for the ticks after the last one used.
#[cfg(feature = "std")]
impl<C> Drop for Generator<C> {
    fn drop(&mut self) {
        let claim = self.claims.current();
        let ((start, until), identity) = (claim.lease(), claim.identity());
        // In a child it is the parent's.
        if until == u64::MAX || identity.epoch != fork::epoch() {
            return;
        }
        let state = self.state.state();
        if let Ok(table) = partitions::shared() {
            let lease = Lease { partition: identity.partition, start, until };
            table.give_back(lease, state.tick.max(state.safe) + 1);
        }
    }
}
