//! Leases for the core crate's `generate` functions, if the environment requests them.
//!
//! ```text
//! install               parses the variables, and hands one function per format to the core
//!    |
//! the first ID of       starts the format's lease, and waits for its grant
//! a format in a process
//! ```
//!
//! A lease starts with the first ID and not with `install`, because a program seldom uses all formats, and because a server
//! that forks its workers would otherwise lease a worker ID that it never uses.

use std::{env, sync::Arc, time::Duration};

use alloc::{boxed::Box, vec::Vec};
use core::fmt;

use polyflake::{ErrorKind, fork, hotguid, sno, uuid7};

use crate::{
    Error, Lease, Result,
    ids::{
        generator::{Generator, PendingGenerator, unavailable_error},
        granted::{Family, SharedGrantee},
    },
    rules::{
        forks::{PerProcess, process_generation},
        lease_url::{LEASE_VARIABLE, LeaseUrl, WORKER_ID_VARIABLE},
    },
};

/// Leases worker IDs for the functions `generate` of [`polyflake::sno`], [`polyflake::hotguid`] and [`polyflake::uuid7`], if
/// the environment variable `POLYFLAKE_LEASE` is set. Call this function once, at the start of `main`. If the variable is
/// not set, the call has no effect.
///
/// If the variable is set and a program does not call this function, `generate` fails with `lease_unavailable`, because
/// another process may have leased the worker ID that it would pick.
///
/// ```standalone_crate
/// # // SAFETY: This program has no other thread.
/// # unsafe { std::env::set_var("POLYFLAKE_LEASE", "memory:guide?namespace=orders") };
/// // POLYFLAKE_LEASE=postgres://user@host/database?namespace=orders
/// let leases = polyflake_lease::install()?;
/// println!("{}", polyflake::sno::generate(7)?); // waits for a worker ID
/// leases.close(); // releases the worker ID; call it when SIGTERM arrives
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The variable has the same meaning as for [`sno::Generator::from_env`](crate::sno::Generator::from_env). Each format has
/// its own worker ID, and leases it when it generates its first ID. This call waits up to 10 seconds (or as long as `wait`
/// in the URL says), so generate an ID at the start if the program has to fail early. A forked child process leases its own
/// worker IDs. While there is no lease, `generate` fails as documented for
/// [`sno::Generator::generate`](crate::sno::Generator::generate).
///
/// # Errors
/// Returns `out_of_range` if a variable is invalid. Returns `lease_unavailable` if only `POLYFLAKE_WORKER_ID` is set, if this
/// function was called before, or if the variable was set after the process had created its first generator.
pub fn install() -> Result<DefaultLeases> {
    process_generation()?;
    if fork::lease_variable().is_none() {
        let is_set = |name| env::var_os(name).is_some();
        if is_set(LEASE_VARIABLE) || is_set(WORKER_ID_VARIABLE) {
            return Err(unavailable(
                "expected POLYFLAKE_LEASE to be set before the first generator was created, found it set later",
            ));
        }
        return Ok(DefaultLeases(Vec::new()));
    }
    let url = LeaseUrl::from_env(None)?;
    let (source, wait) = (|| url.source(), url.max_wait());
    let snos =
        crate::sno::options(&url).and_then(|options| crate::sno::prepare(source(), options, wait));
    let hotguids = crate::hotguid::options(&url)
        .and_then(|options| crate::hotguid::prepare(source(), options, false, wait));
    let uuid7s = crate::uuid7::options(&url)
        .and_then(|options| crate::uuid7::prepare(source(), options, wait));
    // A range of worker IDs may be too large for one format, which concerns only programs that use this format.
    if let (Err(reason), Err(_), Err(_)) = (&snos, &hotguids, &uuid7s) {
        return Err(reason.clone());
    }
    let (snos, hotguids, uuid7s) = (
        leak(snos, sno::set_granted),
        leak(hotguids, hotguid::set_granted),
        leak(uuid7s, uuid7::set_granted),
    );
    let is_installed = sno::install(Box::leak(Box::new(|metabyte| snos.get()?.generate(metabyte))))
        && hotguid::install(Box::leak(Box::new(|shard_key| hotguids.get()?.generate(shard_key))))
        && uuid7::install(Box::leak(Box::new(|()| uuid7s.get()?.generate())));
    if !is_installed {
        return Err(unavailable("expected one call of `install` in a process, found another one"));
    }
    Ok(DefaultLeases(Vec::from([snos as &dyn Close, hotguids, uuid7s])))
}

/// The leases of the functions `generate`, which [`install`] returns. Dropping this value has no effect.
#[derive(Clone)]
pub struct DefaultLeases(Vec<&'static dyn Close>);

impl DefaultLeases {
    /// Ends the leases of this process, and waits until their worker IDs are released, as
    /// [`Generator::close`] does. Later calls of `generate` fail with `generator_closed`.
    pub fn close(&self) {
        self.0.iter().for_each(|generator| generator.close());
    }
}

impl fmt::Debug for DefaultLeases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DefaultLeases").finish_non_exhaustive()
    }
}

/// A lease that can be closed, whatever its format is.
trait Close: Sync {
    fn close(&self);
}

/// A format's default generator, or the reason why the format cannot lease.
struct DefaultGenerator<F: Family + Send + Sync>(Result<Pending<F>>);

struct Pending<F: Family + Send + Sync> {
    granted: Arc<SharedGrantee<F>>,
    lease: Arc<Lease>,
    longest: Duration,
    /// The generator, from the first grant of this process on.
    generator: PerProcess<Generator<F>>,
    /// Hands the leased generator to the core, which tries it before it calls the installed function.
    set_granted: fn(&'static F),
}

/// Creates a default generator that is never dropped, because the core refers to it.
fn leak<F: Family + Send + Sync>(
    pending: Result<PendingGenerator<F>>,
    set_granted: fn(&'static F),
) -> &'static DefaultGenerator<F> {
    let pending = pending.map(|PendingGenerator { granted, lease, longest }| Pending {
        granted,
        lease: Arc::new(lease),
        longest,
        generator: PerProcess::new(),
        set_granted,
    });
    Box::leak(Box::new(DefaultGenerator(pending)))
}

impl<F: Family + Send + Sync> DefaultGenerator<F> {
    /// Returns the generator, and starts its lease if this process has not generated an ID yet.
    #[inline]
    fn get(&self) -> polyflake::Result<&Generator<F>> {
        match self.0.as_ref().ok().and_then(|pending| pending.generator.get()) {
            Some(generator) => Ok(generator),
            None => self.wait_for_grant(),
        }
    }

    #[cold]
    fn wait_for_grant(&self) -> polyflake::Result<&Generator<F>> {
        let pending = self.0.as_ref().map_err(|reason| unavailable_error(reason.clone()))?;
        if pending.granted.is_closed() {
            return Err(polyflake::Error::new(ErrorKind::GeneratorClosed));
        }
        pending.lease.ready_once(pending.longest).map_err(unavailable_error)?;
        let lease = pending.lease.clone();
        let generator = Generator::of_grant(&pending.granted, lease, pending.longest);
        let generator = generator.map_err(unavailable_error)?;
        let (generator, is_new) = pending.generator.get_or_init(|_| true, || generator.clone());
        if let Some(leased) = pending.granted.leased().filter(|_| is_new) {
            // The core keeps the generator until the process ends.
            (pending.set_granted)(Box::leak(Box::new(leased.clone())));
        }
        Ok(generator)
    }
}

impl<F: Family + Send + Sync> Close for DefaultGenerator<F> {
    fn close(&self) {
        if let Ok(pending) = &self.0 {
            // A lease that has not started must not start later.
            pending.granted.close();
            pending.lease.close();
        }
    }
}

fn unavailable(reason: &'static str) -> Error {
    Error::new(crate::ErrorKind::LeaseUnavailable, reason)
}
