//! A lease that a host in another language maintains, with a database client for that language.
//!
//! A [`Hosted`] applies the lease rules and generates the statements without any access to the operating system. The host
//! passes times, random numbers and the result of the last command, and receives the next command. Each command and each
//! answer is one JSON value:
//!
//! | command | the host | its answer |
//! |---|---|---|
//! | `{"do":"open"}` | opens a connection in autocommit mode | `{"opened":NAME}`, where NAME is the name that [`open_file`](crate::protocol::steps::open_file) returned for an `SQLite` file, and otherwise null; or `{"rejected":{"code":CODE,"message":REASON}}`, with the lease error that prevents the use of the database |
//! | `{"do":"run","statements":[[TEXT,[VALUE,..]],..],"within_ms":N}` | executes them in order, up to the first that fails | `{"rows":[ROWS,..],"failure":null,"notices":[]}` |
//! | `{"do":"close"}` | closes the connection | `null` |
//! | `{"do":"begin","first":N,"last":N,"start":MS,"end":MS}` | passes the grant to the generator, like [`Granted::begin`] | `null`, or `{"not_begun":REASON}` |
//! | `{"do":"extend","end":MS}` | extends the generator's grant, like [`Granted::extend`] | `null` |
//! | `{"do":"seal"}` | ends the generator, like [`Granted::seal`] | `{"used_until":MS}`, null if it used no tick |
//! | `{"do":"report","event":EVENT}` | reports the event | `null` |
//! | `{"do":"wait","ms":N}` | sleeps for this time, or until [`Hosted::close`] | `null` |
//! | `{"do":"end"}` | stops; after a check, `rejected` is the reason why no lease could be acquired, or null | |
//!
//! A failure is `{"code":SQLSTATE,"message":TEXT}`. The code is null if no server replied. For `SQLite`, it is always null.
//! Notices that a server sent while the statements ran have the same form. They matter because a commit that ends with a
//! warning may be missing on a replica. If a command does not finish in time, the host answers `{"silent":true}`. If the
//! host cannot open a connection, it answers `{"failure":FAILURE}`. Values and times are integers below 2^53. A forked
//! child process discards this lease and begins a new lease. After [`polyflake::after_restore`], the lease restarts
//! automatically.

mod json;
mod settings;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use alloc::{
    boxed::Box,
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::mem;

use serde_json::{Value as Json, json};

pub use crate::{
    ids::granted::{Family, Granted},
    rules::lease_url::LeaseUrl,
    rules::worker_id_layout::layout_of,
};

use polyflake::fork;

use crate::{
    Error, ErrorKind, Metrics, Result,
    protocol::{Action, Moment, Random, Reply, Request},
    rules::check::Check,
    rules::error::no_reply_error,
    rules::json::MAX_SAFE_INTEGER,
    rules::watched_keeper::{LeaseStatus, WatchedKeeper, closes_store},
    stores::steps::{Access, Engine, Failure, Known, Outcome, Step, Steps},
};
use json::{error_to_json, event_to_json};
use settings::Settings;

/// The maximum number of random numbers that one command needs. They are used for statements, for choosing a worker ID, and
/// for tokens, incarnations and pauses.
pub const RANDOMS: usize = 8;

type RandomSource = Box<dyn FnMut() -> Result<Random> + Send>;

/// A lease that is maintained through commands, which a host executes one at a time.
///
/// ```
/// use polyflake_lease::protocol::{Moment, Random, hosted::Hosted};
///
/// let settings = r#"{"namespace":"orders","family":"sno","store":"postgresql"}"#;
/// let mut lease = Hosted::new(settings)?;
/// let now = Moment { wall_ms: 1_763_650_000_000, elapsed_ms: 0 };
/// let random = || [Random(1); 8]; // in production: from the operating system
/// assert_eq!(lease.next(now, random(), "null"), r#"{"do":"open"}"#);
/// let statements = lease.next(now, random(), r#"{"opened":null}"#);
/// assert!(statements.starts_with(r#"{"do":"run","statements":[["SELECT version()"#));
/// # Ok::<(), polyflake_lease::Error>(())
/// ```
pub struct Hosted {
    lease: WatchedKeeper<RandomSource>,
    /// The random numbers supplied by the host for the current command.
    random: Arc<Mutex<Vec<Random>>>,
    /// The store. For `SQLite`, the store's name is empty until the file is open.
    store: Engine,
    access: Access,
    known: Known,
    /// The check that runs instead of the lease, if the settings request one, and its result so far.
    check: Option<(Check, Result<()>)>,
    /// The engine of the open connection, or `None` if no connection is open.
    engine: Option<Engine>,
    /// Whether the connection must be closed before the next request.
    is_stale: bool,
    is_closing: bool,
    /// The restore count at the beginning of the lease.
    restores: u32,
    /// Whether the process has been restored since the last grant began.
    was_restored: bool,
    under_way: Progress,
    /// The next command, if it has already been determined, and the operation that will process its answer. Other commands
    /// may be issued first.
    command: Option<(Json, Progress)>,
}

/// The operation that is waiting for the host's answer to the current command.
enum Progress {
    Nothing,
    Opening(PendingRequest),
    Running(PendingRequest, Box<Steps>),
    Beginning,
    Extending(u64),
    Sealing,
}

/// A request from the keeper, and the time at which the host stops waiting for a reply.
struct PendingRequest {
    request: Request,
    until: u64,
}

impl Hosted {
    /// Creates a lease without a grant. The required settings are `namespace` (the name of the ID format is appended),
    /// `family`, and `store` (`sqlite`, `postgresql`, `mysql`, `redis` or `http`). Randflake also requires `secret` (32
    /// hexadecimal digits). Layouts also require `layout` (the layout's JSON as a string) and `fields` (starting with the
    /// most significant one).
    ///
    /// Optional settings are `worker_ids` (the first and the last worker ID), `lease_ms`, `renew_ms` (the time between
    /// renewals), `strict`, `wait_ms` (how long a caller waits for the first grant), `holder`, `preferred_worker_id`,
    /// `required_worker_id`, `environment_worker_id` (the worker ID in `POLYFLAKE_WORKER_ID`, which `required_worker_id`
    /// overrides) and `store_name` (the store's name in messages). For `PostgreSQL`, the settings `schema` and `create`
    /// (`second-store`) are also supported, as in a store's URL, and so is `storage` (`durable`) for `PostgreSQL` and
    /// `MySQL`.
    ///
    /// If the `check` setting is present, no worker ID is leased, and `family` is not required. The last command is issued
    /// as soon as the check has determined whether a lease could be acquired.
    ///
    /// # Errors
    /// Returns `out_of_range` for a setting that is outside its limits or has the wrong type.
    pub fn new(settings: &str) -> Result<Self> {
        let settings = Settings::parse(settings)?;
        let store = settings.store()?;
        let random = Arc::new(Mutex::new(Vec::new()));
        let restores = fork::restores();
        Ok(Self {
            lease: WatchedKeeper::new(settings.options()?, random_source(&random)),
            random,
            store,
            access: settings.access()?,
            known: Known::default(),
            check: settings.check()?,
            engine: None,
            is_stale: false,
            is_closing: false,
            restores,
            was_restored: false,
            under_way: Progress::Nothing,
            command: None,
        })
    }

    /// Processes the answer to the last command and returns the next command. On the first call, pass `null` as the answer.
    /// Pass fresh random numbers from the operating system on each call.
    pub fn next(&mut self, now: Moment, random: [Random; RANDOMS], answer: &str) -> String {
        let [for_steps, others @ ..] = random;
        *lock_unpoisoned(&self.random) = others.into();
        let answer = serde_json::from_str(answer).unwrap_or(Json::Bool(false));
        if self.check.is_none() && self.is_restored() {
            self.restart();
        } else {
            self.process_response(&answer, now, for_steps);
        }
        loop {
            if let Some(event) = self.lease.next_event() {
                let event = event_to_json(&event, self.wait_end(now.wall_ms));
                return json!({ "do": "report", "event": event }).to_string();
            }
            if mem::take(&mut self.is_stale) && self.engine.take().is_some() {
                return json!({ "do": "close" }).to_string();
            }
            if let Some((command, under_way)) = self.command.take() {
                self.under_way = under_way;
                return command.to_string();
            }
            self.advance(now, for_steps);
        }
    }

    /// Returns how long a caller waits for the first grant, in milliseconds. This is the `wait_ms` setting or its default.
    pub fn wait_ms(&self) -> u64 {
        self.lease.options().wait_ms()
    }

    /// Returns the time at which a caller that begins to wait now gives up.
    fn wait_end(&self, wall_ms: u64) -> u64 {
        wall_ms.saturating_add(self.wait_ms())
    }

    /// Requests the release of the worker ID. The release starts with the next command.
    pub fn close(&mut self) {
        self.is_closing = true;
        self.lease.close();
    }

    /// Returns whether the process has been restored since the last call of [`Hosted::next`].
    pub fn is_restored(&self) -> bool {
        self.restores != fork::restores()
    }

    /// Returns the metrics as JSON: the grant's `worker_id` and `end`, plus `remaining_ms`, `grants`, `renewals`, `failures`,
    /// `gaps`, and `rejected` (the most recent error since the last grant or renewal).
    pub fn status(&self, wall_ms: u64) -> String {
        let status = self.lease.status();
        let (worker_id, end) = status.current_grant(wall_ms).unzip();
        let Metrics { grants, renewals, failures, gaps, .. } = status.counts;
        json!({
            "worker_id": worker_id,
            "end": end,
            "remaining_ms": status.remaining_ms(wall_ms),
            "grants": grants,
            "renewals": renewals,
            "failures": failures,
            "gaps": gaps,
            "rejected": status.rejected.as_ref().map(|it| error_to_json(it, self.wait_end(wall_ms))),
        })
        .to_string()
    }

    /// Returns the reason why no IDs are currently available, as JSON with the members `code`, `message`, `until` (the time
    /// at which the condition ends, if known) and `permanent` (true if waiting will not help).
    pub fn reason(&self, wall_ms: u64) -> String {
        let (mut phrase, is_restored) = (self.lease.options().store_phrase(), self.is_restored());
        if is_restored || self.was_restored {
            phrase += ", since the process was restored";
        }
        // The status may still contain the grant from before the restore.
        let no_grant = LeaseStatus::default();
        let status = if is_restored { &no_grant } else { self.lease.status() };
        let reason = status.reason(&phrase, self.is_closing, wall_ms);
        error_to_json(&reason, self.wait_end(wall_ms)).to_string()
    }

    /// Processes the host's answer to the current command.
    fn process_response(&mut self, answer: &Json, now: Moment, random: Random) {
        let is_silent = answer.get("silent").is_some();
        match mem::replace(&mut self.under_way, Progress::Nothing) {
            Progress::Nothing => {}
            Progress::Opening(asked) | Progress::Running(asked, _) if is_silent => {
                self.on_reply(&asked, Err(no_reply_error()), now);
            }
            Progress::Opening(asked) => self.on_opened(asked, answer, now, random),
            Progress::Running(asked, steps) => {
                self.step(asked, steps, Outcome::from(answer), now);
            }
            Progress::Beginning => match answer.get("not_begun") {
                None => {
                    self.was_restored = false;
                    self.lease.on_begun();
                }
                Some(reason) => {
                    let reason = reason.as_str().unwrap_or("expected a generator").to_string();
                    let error = Error::new(ErrorKind::LeaseUnavailable, reason);
                    self.lease.not_begun(error, now);
                }
            },
            Progress::Extending(end) => self.lease.on_extended(end),
            Progress::Sealing => {
                // If the host does not report a time, the entire grant counts as used.
                let used = answer.get("used_until").map_or(Some(MAX_SAFE_INTEGER), Json::as_u64);
                self.lease.sealed(used, now);
            }
        }
    }

    /// Abandons the lease after the process was restored from an image, and begins a new lease. The last answer belongs to
    /// the abandoned lease, and another copy of the process may have received it as well.
    fn restart(&mut self) {
        (self.restores, self.was_restored) = (fork::restores(), true);
        self.lease.abandon(random_source(&self.random));
        if self.is_closing {
            self.lease.close();
        }
        // The host may have just opened a connection. Setting `engine` ensures that this connection is closed.
        if let Progress::Opening(_) = mem::replace(&mut self.under_way, Progress::Nothing) {
            self.engine = Some(Engine::Sqlite(String::new()));
        }
        self.is_stale = true;
        // If a grant began at the moment of the restore, this command seals its generator.
        self.command = Some((json!({ "do": "seal" }), Progress::Nothing));
    }

    fn on_opened(&mut self, asked: PendingRequest, answer: &Json, now: Moment, random: Random) {
        let name = answer.get("opened").map(|name| name.as_str().unwrap_or_default().to_string());
        let engine = match &self.store {
            Engine::Sqlite(_) => Engine::Sqlite(name.clone().unwrap_or_default()),
            other => other.clone(),
        };
        if let Some(reason) = answer.get("rejected") {
            return self.on_reply(&asked, Err(json::error_from_json(reason)), now);
        }
        if name.is_none() {
            let failure = Failure::from(&answer["failure"]);
            return self.on_reply(&asked, Err(engine.error(&failure)), now);
        }
        self.engine = Some(engine);
        self.begin_request(asked, now, random);
    }

    /// Starts processing a request over the open connection. If no connection is open, issues the command that opens one.
    fn begin_request(&mut self, asked: PendingRequest, now: Moment, random: Random) {
        let Some(engine) = self.engine.clone() else {
            self.command = Some((json!({ "do": "open" }), Progress::Opening(asked)));
            return;
        };
        let steps = Steps::new(engine, &asked.request, random).access(self.access);
        let steps = Box::new(steps);
        self.step(asked, steps, Outcome::default(), now);
    }

    /// Continues a request with the outcome of its previous statements.
    fn step(
        &mut self,
        asked: PendingRequest,
        mut steps: Box<Steps>,
        outcome: Outcome,
        now: Moment,
    ) {
        match steps.next_with(outcome, &mut self.known) {
            Ok(Step::Run(statements)) => {
                let within_ms = asked.until.saturating_sub(now.elapsed_ms);
                let statements: Vec<_> = statements.iter().map(Json::from).collect();
                let command =
                    json!({ "do": "run", "statements": statements, "within_ms": within_ms });
                self.command = Some((command, Progress::Running(asked, steps)));
            }
            Ok(Step::Done(reply)) => self.on_reply(&asked, Ok(*reply), now),
            Err(error) => self.on_reply(&asked, Err(error), now),
        }
    }

    /// Executes the keeper's next action.
    fn advance(&mut self, now: Moment, random: Random) {
        if self.check.is_some() {
            return self.advance_check(now, random);
        }
        let action = self.lease.poll(now);
        self.is_stale |= closes_store(&action, now);
        self.command = Some(match action {
            Action::Send(request) => {
                let until = now.elapsed_ms + self.lease.options().reply_timeout();
                return self.begin_request(PendingRequest { request, until }, now, random);
            }
            Action::Begin(grant) => {
                let (first, last) = grant.worker_ids().into_inner();
                let (start, end) = (grant.start(), grant.end());
                let command = json!({ "do": "begin", "first": first, "last": last, "start": start, "end": end });
                (command, Progress::Beginning)
            }
            Action::Extend(end) => {
                (json!({ "do": "extend", "end": end }), Progress::Extending(end))
            }
            Action::Seal => (json!({ "do": "seal" }), Progress::Sealing),
            Action::Rejected(_) => return,
            Action::Wait(until) => {
                let ms = until.saturating_sub(now.elapsed_ms);
                (json!({ "do": "wait", "ms": ms }), Progress::Nothing)
            }
            Action::End => (json!({ "do": "end" }), Progress::Nothing),
        });
    }

    /// Sends the next request of a check, or ends the check.
    fn advance_check(&mut self, now: Moment, random: Random) {
        let wait_end = self.wait_end(now.wall_ms);
        let Some((check, result)) = &mut self.check else { return };
        let request = if result.is_ok() { check.next() } else { None };
        if let Some(request) = request {
            let until = now.elapsed_ms + self.lease.options().reply_timeout();
            return self.begin_request(PendingRequest { request, until }, now, random);
        }
        let lead = format!("cannot lease a worker ID {}", self.lease.options().store_phrase());
        let reason =
            result.clone().err().map(|error| error_to_json(&error.with_prefix(&lead), wait_end));
        self.is_stale = true;
        self.command = Some((json!({ "do": "end", "rejected": reason }), Progress::Nothing));
    }

    /// Passes a reply to the keeper. An `SQLite` file is closed after each request, and any other connection is closed
    /// after a failure.
    fn on_reply(&mut self, asked: &PendingRequest, reply: Result<Reply>, now: Moment) {
        // An SQLite file is closed after each request. Otherwise, a child process forked while the file is open would treat
        // its parent's file locks as its own. After an error, the state of the connection is unknown.
        self.is_stale = matches!(self.store, Engine::Sqlite(_)) || reply.is_err();
        if let Some((check, result)) = &mut self.check {
            *result = reply.and_then(|reply| check.process_reply(reply, now.wall_ms));
            return;
        }
        self.lease.answered(asked.request.number, reply, now);
    }
}

/// Omits the settings, which may contain a secret.
impl core::fmt::Debug for Hosted {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Hosted").field("lease", &self.lease).finish_non_exhaustive()
    }
}

/// Returns a random source that consumes the numbers supplied by the host.
fn random_source(random: &Arc<Mutex<Vec<Random>>>) -> RandomSource {
    let random = random.clone();
    Box::new(move || lock_unpoisoned(&random).pop().ok_or_else(missing_random_error))
}

fn lock_unpoisoned<V>(value: &Mutex<V>) -> MutexGuard<'_, V> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the error for missing random numbers. The keeper retries after this error.
fn missing_random_error() -> Error {
    Error::new(ErrorKind::LeaseUnavailable, "expected random numbers from the host, found none")
}
