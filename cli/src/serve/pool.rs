//! Connections to the store. Each has its own thread, because its calls block.

use std::{
    collections::VecDeque,
    hash::{BuildHasher, RandomState},
    io, mem,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use polyflake_lease::{
    Error, ErrorKind,
    protocol::{Reply, Request, Store},
};
use tokio::sync::oneshot;

use super::responses::Rejection;

/// The maximum time that a request waits for a connection. A longer wait would be useless, because no holder waits that
/// long for a reply.
const MAX_WAIT: Duration = Duration::from_secs(15);

/// The maximum number of requests that wait.
const MAX_WAITING: usize = 4096;

/// The time after which an idle connection is closed. It is shorter than the idle time that servers and proxies allow.
/// `MySQL` closes an idle connection after 12 seconds, because polyflake sets this limit for the session.
const MAX_IDLE: Duration = Duration::from_secs(10);

/// A reply, and the name of the connection that it came from.
type Answer = Result<(Reply, String), Rejection>;

type OpenStore = dyn Fn() -> polyflake_lease::Result<Box<dyn Store>> + Send + Sync;

/// The threads with connections to the store.
pub(super) struct Pool(Arc<PoolState>);

struct PoolState {
    queue: Mutex<Queue>,
    changed: Condvar,
    open: Box<OpenStore>,
    /// Distinguishes the connections of this process from the connections of other processes.
    instance: u64,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    /// The name of each thread's connection, or `None` if the thread has no open connection.
    connections: Vec<Option<String>>,
    opened: u64,
}

struct Job {
    request: Request,
    /// The only connection that may process the request.
    connection: Option<String>,
    until: Instant,
    answer: oneshot::Sender<Answer>,
}

enum NextStep {
    Run(Box<Job>),
    Close,
}

impl Pool {
    pub(super) fn start(
        count: u8,
        open: impl Fn() -> polyflake_lease::Result<Box<dyn Store>> + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let connections = vec![None; count.into()];
        let queue = Mutex::new(Queue { connections, ..Queue::default() });
        let (changed, instance) = (Condvar::new(), RandomState::new().hash_one(0));
        let shared = Arc::new(PoolState { queue, changed, open: Box::new(open), instance });
        for worker in 0..usize::from(count) {
            let shared = shared.clone();
            thread::Builder::new().spawn(move || shared.run_worker(worker))?;
        }
        Ok(Self(shared))
    }

    /// Processes a request. If `connection` is given, only the connection with that name may process the request. If the
    /// future is dropped, a request that is still waiting is not sent.
    pub(super) async fn answer(&self, request: Request, connection: Option<String>) -> Answer {
        let (answer, answered) = oneshot::channel();
        let until = Instant::now() + MAX_WAIT;
        self.0.push(Job { request, connection, until, answer })?;
        answered.await.unwrap_or_else(|_| Err(Rejection::overloaded()))
    }

    /// Returns the number of requests that wait for a connection.
    pub(super) fn waiting_count(&self) -> usize {
        self.0.lock().jobs.len()
    }
}

impl PoolState {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, job: Job) -> Result<(), Rejection> {
        let mut queue = self.lock();
        if job.connection.is_some() && !queue.connections.contains(&job.connection) {
            return Err(Rejection::connection_lost());
        }
        if queue.jobs.len() >= MAX_WAITING {
            return Err(Rejection::overloaded());
        }
        queue.jobs.push_back(job);
        self.changed.notify_all();
        Ok(())
    }

    fn run_worker(&self, worker: usize) {
        let mut store = None;
        loop {
            let job = match self.next(worker) {
                NextStep::Run(job) => job,
                NextStep::Close => {
                    store = None;
                    continue;
                }
            };
            if job.answer.is_closed() {
                continue;
            }
            let answer = if job.until < Instant::now() {
                Err(Rejection::overloaded())
            } else {
                self.run(worker, &mut store, &job.request)
            };
            // Sending fails if the client has disconnected in the meantime, so the result is ignored.
            let _ = job.answer.send(answer);
        }
    }

    /// Waits for the next request that this thread may process, or for the end of its connection.
    fn next(&self, worker: usize) -> NextStep {
        let mut queue = self.lock();
        let idle_until = Instant::now() + MAX_IDLE;
        loop {
            let own = queue.connections[worker].clone();
            let is_for_this = |job: &Job| job.connection.is_none() || job.connection == own;
            if let Some(at) = queue.jobs.iter().position(is_for_this)
                && let Some(job) = queue.jobs.remove(at)
            {
                return NextStep::Run(Box::new(job));
            }
            let left = idle_until.saturating_duration_since(Instant::now());
            if own.is_some() && left.is_zero() {
                queue.close(worker);
                return NextStep::Close;
            }
            let pause = if own.is_some() { left } else { Duration::MAX };
            let waited = self.changed.wait_timeout(queue, pause);
            queue = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Processes a request over the thread's connection. Closes the connection after any error, as holders do.
    fn run(&self, worker: usize, store: &mut Option<Box<dyn Store>>, request: &Request) -> Answer {
        let run = || -> polyflake_lease::Result<_> {
            if store.is_none() {
                *store = Some((self.open)()?);
                self.lock().name_connection(worker, self.instance);
            }
            store.as_mut().expect("just opened").answer(request)
        };
        let reply = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| {
            Err(Error::new(ErrorKind::LeaseUnavailable, "the client of the store panicked"))
        });
        let mut queue = self.lock();
        match (reply, queue.connections[worker].clone()) {
            (Ok(reply), Some(connection)) => Ok((reply, connection)),
            (reply, _) => {
                queue.close(worker);
                drop(queue);
                *store = None;
                Err(reply.err().map_or_else(Rejection::connection_lost, Rejection::from))
            }
        }
    }
}

impl Queue {
    fn name_connection(&mut self, worker: usize, instance: u64) {
        self.opened += 1;
        self.connections[worker] = Some(format!("{instance:016x}-{}", self.opened));
    }

    /// Marks a thread's connection as closed, and rejects the requests that are waiting for that connection.
    fn close(&mut self, worker: usize) {
        let Some(lost) = self.connections[worker].take() else { return };
        let is_lost = |job: &Job| job.connection.as_ref() == Some(&lost);
        let (rejected, kept) = mem::take(&mut self.jobs).into_iter().partition(is_lost);
        self.jobs = kept;
        for job in <Vec<Job>>::from(rejected) {
            let _ = job.answer.send(Err(Rejection::connection_lost()));
        }
    }
}
