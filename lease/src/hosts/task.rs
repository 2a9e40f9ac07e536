//! Leases that a task of an executor keeps, over a store that does not block.

use std::{boxed::Box, sync::Arc, time::Duration};

use core::future::Future;

use crate::{AsyncStore, Grantee, Lease, Options, Result, hosts::keeping::Task};

/// Starts a lease for a grantee.
type Start = dyn FnOnce(Options, Arc<dyn Grantee + Send + Sync>) -> Result<Lease> + Send;

/// An executor that keeps a lease in a task, and a store for it: for a client that the process already has, and where no thread may
/// be started.
///
/// A task shares the fate of its executor: where a long computation holds the executor's threads for three quarters of a lease, the
/// lease ends. If the task is dropped, the generator goes on to the end of its window, and its number is free then. A thread, as
/// the other ways to a generator have it, depends on neither.
///
/// In the child of a fork there is no task: the generator makes no ID, `Lease::ready` refuses with `lease_unavailable`, and the
/// child makes a host and a generator of its own. A drop and `close` end the generator and ask the task to return the number, and do
/// not wait for it: an executor that stops before leaves the number granted until the lease ends. `close_async` waits.
///
/// ```
/// use std::time::Duration;
/// use polyflake_lease::{AsyncStore, Host, Options, Reply, Request, Result, Shape, Store, open, sno};
///
/// struct Client; // in production: a client of a database
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
/// assert_eq!(Some(u64::from(ids.generate(7).unwrap().partition())), ids.lease().number());
/// ids.close_async(tokio::time::sleep).await;
/// # polyflake_lease::Result::<()>::Ok(())
/// # }).unwrap();
/// ```
pub struct Host {
    start: Box<Start>,
}

impl Host {
    /// A store and an executor. `open` opens the store, again after each pause and each failure; `sleep` waits; `spawn` hands the task
    /// to the executor.
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
            Lease::in_task(options, grantee, |keeping| spawn(keeping.task(open, sleep)))
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
