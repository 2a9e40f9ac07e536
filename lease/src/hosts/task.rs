//! Leases in asynchronous stores. Each lease is maintained by a task on an executor.

use std::{boxed::Box, sync::Arc, time::Duration};

use core::future::Future;

use crate::{
    Lease, Options, Result,
    hosts::lease_task::Task,
    protocol::{AsyncStore, Grantee},
};

/// A function that starts a lease for a grantee.
type LeaseStarter = dyn FnOnce(Options, Arc<dyn Grantee + Send + Sync>) -> Result<Lease> + Send;

/// A store from which a worker ID is leased, and an executor that maintains the lease in a task. Use a host if your program
/// already has a database client, or if it cannot start threads.
///
/// A task depends on its executor: if a long computation blocks the executor's threads for three quarters of the lease
/// duration, the lease ends. If the task is dropped, the generator continues until its window ends, and then its worker ID
/// is free. All other ways to create a generator use a thread, which does not depend on an executor.
///
/// A forked child process does not inherit the task. In the child, the generator creates no IDs, and `Lease::ready` fails
/// with `lease_unavailable`. The child must create a new host and generator. `close` closes the generator and requests the
/// release of the worker ID, but does not wait for the release. Dropping the generator has the same effect. If the executor
/// stops before the release, the worker ID remains granted until the lease ends. `close_async` waits for the release.
///
/// ```
/// use std::time::Duration;
/// use polyflake_lease::{Host, Options, Result, Shape, sno, protocol::{AsyncStore, Reply, Request, Store, open}};
///
/// struct Client; // in production, a database client
///
/// impl AsyncStore for Client {
///     async fn answer(&mut self, request: &Request) -> Result<Reply> {
///         open("memory:tasks")?.answer(request)
///     }
/// }
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
/// # runtime.block_on(async {
/// let connect = || async { Ok(Client) };
/// let host = Host::new(connect, tokio::time::sleep, |task| drop(tokio::spawn(task)));
/// let options = Options::new("orders", Shape::sno(0..=1023)?)?;
/// let ids = sno::Generator::with_async(host, options, Duration::from_secs(10), tokio::time::sleep).await?;
/// assert_eq!(Some(u64::from(ids.generate(7).unwrap().partition())), ids.lease().worker_id());
/// ids.close_async(tokio::time::sleep).await;
/// # polyflake_lease::Result::<()>::Ok(())
/// # }).unwrap();
/// ```
pub struct Host {
    start: Box<LeaseStarter>,
}

impl Host {
    /// Creates a host from a store and an executor. The task calls `open` to open the store initially, and again after each
    /// pause and each failure. `sleep` waits for the given duration. `spawn` passes the task to the executor.
    pub fn new<S, F, P>(
        open: impl Fn() -> F + Send + Sync + 'static,
        sleep: impl Fn(Duration) -> P + Send + Sync + 'static,
        spawn: impl FnOnce(Task) + Send + 'static,
    ) -> Self
    where
        S: AsyncStore + Send + 'static,
        F: Future<Output = Result<S>> + Send + 'static,
        P: Future<Output = ()> + Send + 'static,
    {
        let start = |options: Options, grantee| {
            Lease::start_in_task(options, grantee, |keeping| spawn(keeping.task(open, sleep)))
        };
        Self { start: Box::new(start) }
    }

    pub(crate) fn start(
        self,
        options: Options,
        grantee: Arc<dyn Grantee + Send + Sync>,
    ) -> Result<Lease> {
        (self.start)(options, grantee)
    }
}

impl core::fmt::Debug for Host {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Host").finish_non_exhaustive()
    }
}
