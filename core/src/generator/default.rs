//! The generator behind a format's `generate` function. If the environment requests leases, it never continues without one:
//!
//! ```text
//! generate --- the machine has made an ID ----------------> own generator
//!     |
//!     '------- it has not -----+-- a lease is installed --> leased generator
//!                              +-- a variable is set -----> lease_unavailable
//!                              '-- otherwise -------------> own generator
//! ```
//!
//! The own generator makes its first ID only after the variables were read and none was set. A machine that has left tick 0
//! therefore proves that no lease is required. Every call of a generator compares its tick with 0 anyway, so an ID without
//! a lease takes no further instruction.

use super::{CallTypes, Generator, LatestValue, Leased, Mode, Pack, SlotSource};
use crate::{Error, ErrorKind, Result, clock::SystemClock, fork, sequence::Machine};

/// A function that generates an ID under a lease. The parameter is the part of the ID that the caller chooses.
pub(crate) type LeasedGenerate<P, I> = &'static (dyn Fn(P) -> Result<I> + Sync);

/// A format's default generator. `P` is the part of each ID that the caller chooses.
pub(crate) struct DefaultGenerator<F: Pack + 'static, P: 'static> {
    own: Generator<F, SystemClock>,
    leased: LatestValue<Option<LeasedGenerate<P, F::Id>>>,
    /// The generator of the lease, from the first grant on. It saves the call of the function for nearly every ID.
    granted: LatestValue<Option<&'static Leased<F, SystemClock>>>,
}

impl<F: Pack + for<'p> CallTypes<Param<'p> = P> + 'static, P: Copy + 'static>
    DefaultGenerator<F, P>
{
    pub(crate) const fn new(own: Generator<F, SystemClock>) -> Self {
        Self { own, leased: LatestValue::new(None), granted: LatestValue::new(None) }
    }

    /// Generates a new ID.
    #[inline]
    pub(crate) fn generate(&self, param: P) -> Result<<F as CallTypes>::Id> {
        let engine = &self.own.engine;
        let seen = engine.machine.observe();
        if engine.machine.tick(seen) == 0 {
            if let Some(granted) = self.granted.get()
                && let Some((family, slots)) = granted.try_shortcut(1)
            {
                return Ok(family.id(slots, 0, param));
            }
            return self.generate_unused(param);
        }
        let (family, slots) = self.own.reserve_observed((seen, engine.now()?), 1, Mode::Wait)?;
        Ok(family.id(slots, 0, param))
    }

    /// Generates an ID under the lease, if there is one, and otherwise the first ID of the own generator.
    #[cold]
    #[inline(never)]
    fn generate_unused(&self, param: P) -> Result<<F as CallTypes>::Id> {
        if let Some(generate) = self.leased.get() {
            return generate(param);
        }
        fork::prepare()?;
        match fork::lease_variable() {
            Some(name) => Err(missing_lease_error(name)),
            None => SlotSource::generate_in(&self.own, Mode::Wait, param),
        }
    }

    /// Makes `generate` call a function that generates IDs under a lease. Returns `false` if another function is installed
    /// already.
    #[cfg(feature = "internals")]
    pub(crate) fn install(&self, generate: LeasedGenerate<P, <F as CallTypes>::Id>) -> bool {
        let found = self.leased.get();
        found.is_none()
            && self.leased.replace(found, Some(generate), alloc::boxed::Box::new_uninit())
    }

    /// Makes `generate` try a leased generator before it calls the installed function.
    #[cfg(feature = "internals")]
    pub(crate) fn set_granted(&self, leased: &'static Leased<F, SystemClock>) {
        let found = self.granted.get();
        // Another thread may have set the same generator.
        let _ = found.is_none()
            && self.granted.replace(found, Some(leased), alloc::boxed::Box::new_uninit());
    }
}

#[cold]
fn missing_lease_error(variable: &str) -> Error {
    let reason = alloc::format!(
        "expected a call of polyflake_lease::install before the first ID, since {variable} is set, found none"
    );
    Error::with_reason(ErrorKind::LeaseUnavailable, reason)
}
