//! The steps that an SQL store performs to process a request. This module provides the statements, and interprets the rows
//! that the statements return. It does no I/O and reads no clock, so a driver in any language only has to execute the steps
//! that a [`Steps`] value returns.
//!
//! A driver opens a connection in autocommit mode and executes the statements of each [`Step::Run`] in order, up to the
//! first statement that fails. No statement depends on the rows of another statement, so a client of `PostgreSQL` can send
//! all of them at once. If one of these statements fails, `PostgreSQL` rejects all later statements. `MySQL` would execute
//! the later statements, so a driver for `MySQL` sends one statement at a time. The steps include the statements that begin
//! and end transactions.
//!
//! A driver in another process or language receives statements as JSON (`serde_json::Value::from(&statement)`) and returns
//! outcomes as JSON (`Outcome::from(&value)`). A statement is `[TEXT,[VALUE,..]]`. An outcome is
//! `{"rows":[ROWS,..],"failure":{"code":SQLSTATE,"message":TEXT}}`, where the failure or its code may be null. Drivers for
//! `PostgreSQL` add the notices that the server sent while the statements ran, as
//! `"notices":[{"code":SQLSTATE,"message":TEXT},..]`.
//!
//! - A connection to `PostgreSQL` may serve many requests, one after the other. It is closed after an error without a code.
//! - A connection to `MySQL` also serves many requests, but it must be used only for leases, because the statements change
//!   its settings.
//! - A connection to `Redis` or `Valkey` serves many requests. It is closed after an error without a code, and the client
//!   neither reconnects nor resends a command automatically.
//! - An `SQLite` file is opened with [`open_file`] for each request, using the [`absolute_path`] that was determined at the
//!   start, and closed after the request. The driver waits a few seconds for a locked file.
//!
//! ```
//! use polyflake_lease::protocol::steps::{Engine, Outcome, Schema, Statement, Steps};
//! use polyflake_lease::protocol::{Operation, Random, Request};
//!
//! let request = Request { number: 1, namespace: "orders".into(), operation: Operation::Read { first: 0 } };
//! let run = |statements: &[Statement]| {
//!     assert_eq!(statements[0].text, "SELECT version()");
//!     Outcome::failed(None, "the connection was closed")
//! };
//! let engine = Engine::Postgresql(Schema::default());
//! let error = Steps::new(engine, &request, Random(7)).drive(run).unwrap_err();
//! assert_eq!(error.code(), "lease_unavailable");
//! ```

mod facts;
#[cfg(feature = "std")]
pub(super) mod file;
mod http;
mod json;
mod mysql;
mod postgresql;
mod redis;
mod sql;
mod sqlite;

#[cfg(feature = "std")]
use std::sync::Mutex;

use alloc::{boxed::Box, collections::BTreeMap, string::String, vec, vec::Vec};
use core::mem;

use sql::{Dialect, State};

use crate::{
    Error, Result,
    protocol::{Random, Reply, Request},
    rules::error::damaged_record,
    rules::platforms,
};

pub use crate::rules::access::{Access, Create, Schema};
#[cfg(feature = "hosted")]
pub(crate) use facts::is_permanent_failure;
pub use facts::{
    check_file_system_type as check_file_system, check_single_path, file_error, name_of_file,
};
#[cfg(feature = "std")]
#[cfg(feature = "std")]
pub use file::{absolute_path, check as check_file, open as open_file};

/// A value in a statement or in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "drivers make it and take it apart")]
pub enum Value {
    /// An integer, stored as `BIGINT` in `PostgreSQL`.
    Integer(i64),
    /// A string.
    Text(String),
    /// NULL. In a row, this variant also represents any value that is neither an integer nor a string.
    Null,
}

/// A statement and the values of its parameters. The parameters are written as `$1`, `$2` and so on. In `SQLite`, they are
/// written as `?1`, `?2` and so on. In `MySQL`, each parameter is written as `?`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "drivers take it apart")]
pub struct Statement {
    /// The SQL text, which is a single command.
    pub text: String,
    /// The parameter values.
    pub values: Vec<Value>,
}

/// The rows that a statement returned, possibly empty.
pub type Rows = Vec<Vec<Value>>;

/// The error that a statement returned.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "drivers make it")]
pub struct Failure {
    /// The SQLSTATE that the server returned, the decimal error number from `MySQL`, or the first word of the error from
    /// `Redis`. It is `None` if the server did not reply, in which case the statement may or may not have been executed. It
    /// is always `None` for `SQLite`, which has no SQLSTATEs.
    pub code: Option<String>,
    /// The database's error message.
    pub message: String,
}

/// The results of a step's statements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "drivers make it")]
pub struct Outcome {
    /// The rows of each statement, up to the first one that failed.
    pub rows: Vec<Rows>,
    /// The error from the first statement that failed.
    pub failure: Option<Failure>,
    /// The notices that the server sent while the statements ran, each with its SQLSTATE. They matter because a commit that
    /// ends with a warning may be missing on a replica. For `SQLite`, this list is always empty.
    pub notices: Vec<Failure>,
}

impl Outcome {
    /// Creates the outcome of a step whose first statement failed.
    pub fn failed(code: Option<&str>, message: impl Into<String>) -> Self {
        let failure = Failure { code: code.map(Into::into), message: message.into() };
        Self { failure: Some(failure), ..Self::default() }
    }

    /// Treats a commit that ended with a warning as a lost connection. The server has executed such a commit, but its
    /// replica may not have received it, because the wait for the replica was canceled. Therefore, the commit counts as
    /// unacknowledged. Warnings are recognized by their SQLSTATEs, which do not depend on the server's language. All
    /// SQLSTATEs of class 01 count as warnings, and so does `57P01`, which reports that a shutdown ended such a wait.
    fn without_warnings(self) -> Self {
        let is_warning = |code: &str| code.starts_with("01") || code == "57P01";
        let warns = |notice: &&Failure| notice.code.as_deref().is_some_and(is_warning);
        let warning = self.notices.iter().find(warns);
        let warning = warning.map(|it| Failure { code: None, message: it.message.clone() });
        Self { failure: self.failure.or(warning), ..self }
    }
}

impl<E: Into<Failure>> FromIterator<Result<Rows, E>> for Outcome {
    /// Collects the results of statements up to and including the first error. If the iterator is lazy, the statements
    /// after the failed statement are not executed.
    fn from_iter<I: IntoIterator<Item = Result<Rows, E>>>(results: I) -> Self {
        let mut outcome = Self::default();
        for result in results {
            match result {
                Ok(rows) => outcome.rows.push(rows),
                Err(error) => return Self { failure: Some(error.into()), ..outcome },
            }
        }
        outcome
    }
}

/// The next action that a driver must perform.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "drivers take it apart")]
pub enum Step {
    /// Execute these statements over the connection.
    Run(Vec<Statement>),
    /// The request is complete, with this reply.
    Done(Box<Reply>),
}

/// The supported databases.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Engine {
    /// `SQLite`. The value is the name that [`open_file`] returned for the file.
    Sqlite(String),
    /// `PostgreSQL`. The value is the schema that contains the tables.
    Postgresql(Schema),
    /// `MySQL` or `MariaDB`. The tables are in the connection's default database.
    Mysql,
    /// An HTTP service, with one statement per request: the statement's text is the body of `POST /v1/request`.
    ///
    /// The statement has two values. The first value states whether the next request on the connection must reach the same
    /// server. If so, the value is 1. Otherwise, the value is
    /// 0. The second value is sent in the request header `polyflake-request`. The outcome has one row: the status, the
    /// body, and the value of the response header `polyflake-request`, or NULL if that header is missing. If the first
    /// value of the previous statement was 1, the driver copies the header `polyflake-connection` from the previous
    /// response to the new request.
    Http,
    /// `Redis` or `Valkey`. Each request is a single statement, whose text and values are the arguments of `EVAL`.
    ///
    /// The values are strings, which the driver sends unchanged. The outcome has one row: the strings of the script's
    /// reply. A failure's code is the first word of the server's error, such as `OOM`.
    Redis,
}

impl Engine {
    fn is_missing_table(&self, failure: &Failure) -> bool {
        *self == Self::Mysql && mysql::is_missing_table(failure)
    }

    pub(crate) fn error(&self, failure: &Failure) -> Error {
        match self {
            Self::Sqlite(_) => sqlite::error(failure),
            Self::Postgresql(schema) => postgresql::error(failure, schema),
            Self::Mysql => mysql::error(failure),
            Self::Http => http::error(failure),
            Self::Redis => redis::error(failure),
        }
    }
}

/// The stores that this process has already checked, as a map from store names to table versions. The map ensures that a
/// process creates a store's tables and probes the store only once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    versions: BTreeMap<String, i64>,
    /// Whether the last `PostgreSQL` server was an Aurora cluster that cannot report its timeline.
    is_aurora: bool,
}

#[cfg(feature = "std")]
static KNOWN_STORES: Mutex<Known> =
    Mutex::new(Known { versions: BTreeMap::new(), is_aurora: false });

/// The steps that process a request.
#[derive(Clone, Debug)]
pub struct Steps {
    engine: Engine,
    access: Access,
    is_aurora: bool,
    request: Request,
    random: Random,
    stage: Stage,
}

/// The purpose of the most recently sent statements.
#[derive(Clone, Debug)]
enum Stage {
    Nothing,
    /// Read the version of a server.
    Version,
    /// Apply the settings of an `SQLite` connection.
    Settings,
    /// Process the request. `is_again` is `true` once the tables have been created.
    Request {
        is_again: bool,
    },
    /// Find out whether the server is an Aurora cluster. The variant contains the error that stands if the answer is the
    /// expected one.
    Aurora {
        error: Error,
        is_again: bool,
    },
    /// Begin a transaction that may create tables, and check which tables already exist in the database.
    FindTables,
    /// Check a server without tables, on which the steps may not create any.
    Trial,
    Tables,
    /// Probe the store. The variant contains the reply if the request has already been processed.
    Probe(Option<Box<Reply>>),
    /// Roll back a transaction after one of its statements has failed.
    Rollback(Error),
    Over,
}

impl Steps {
    /// Creates the steps for a request. `random` contains 128 random bits from the operating system.
    pub fn new(engine: Engine, request: &Request, random: Random) -> Self {
        let request = request.clone();
        let (access, stage) = (Access::default(), Stage::Nothing);
        Self { engine, access, is_aurora: false, request, random, stage }
    }

    /// Sets the options of the store's URL: which tables the steps may create, and what the operator declares.
    #[must_use]
    pub fn access(self, access: Access) -> Self {
        Self { access, ..self }
    }

    /// Processes the outcome of the last step and returns the next step. Pass [`Outcome::default`] to the first call.
    ///
    /// # Errors
    /// Returns an error if the store cannot process the request. No further steps follow an error.
    #[cfg(feature = "std")]
    pub fn next(&mut self, outcome: Outcome) -> Result<Step> {
        // This call does not wait for the lock: in a forked child process, the thread that held the lock may no longer
        // exist. If the lock is not available, every store counts as unchecked.
        match KNOWN_STORES.try_lock() {
            Ok(mut known) => self.next_with(outcome, &mut known),
            Err(_) => self.next_with(outcome, &mut Known::default()),
        }
    }

    /// Works like [`Steps::next`], but the caller keeps track of the stores that have already been checked.
    ///
    /// # Errors
    /// Returns the same errors as [`Steps::next`].
    pub fn next_with(&mut self, outcome: Outcome, known: &mut Known) -> Result<Step> {
        if matches!(self.engine, Engine::Http | Engine::Redis) {
            return self.exchange_single_statement(&outcome);
        }
        let outcome = outcome.without_warnings();
        let stage = mem::replace(&mut self.stage, Stage::Over);
        match (stage, &outcome.failure) {
            (Stage::Nothing, _) => {
                self.is_aurora = known.is_aurora;
                Ok(self.begin(known))
            }
            (Stage::Rollback(error), _) => Err(error),
            (Stage::Aurora { error, is_again }, _) => {
                self.on_aurora(error, is_again, &outcome, known)
            }
            (Stage::Request { is_again }, _) => self.on_answered(is_again, outcome, known),
            (_, Some(failure)) if self.is_trial_without_tables(failure) => Ok(empty_reply_step()),
            (_, Some(failure)) => self.on_error(self.engine.error(failure), Some(failure)),
            (Stage::Version, None) => self.on_version(&outcome.rows),
            (Stage::Settings, None) => self.on_state(&outcome.rows, known),
            (Stage::Trial, None) => on_trial(&outcome.rows),
            (Stage::FindTables, None) => Ok(self.on_tables_found(&outcome.rows)),
            (Stage::Tables, None) => Ok(self.on_created()),
            (Stage::Probe(reply), None) => self.on_probed(reply, &outcome.rows, known),
            (Stage::Over, None) => Err(damaged_record("expected no step after the last one")),
        }
    }

    /// Sends the request to a service or a script in a single statement, and returns the reply.
    fn exchange_single_statement(&mut self, outcome: &Outcome) -> Result<Step> {
        let is_script = self.engine == Engine::Redis;
        if let Stage::Nothing = self.stage {
            let statement = if is_script {
                redis::statement(&self.request)
            } else {
                http::statement(&self.request, self.random)
            };
            return Ok(self.run(Stage::Request { is_again: true }, vec![statement]));
        }
        self.stage = Stage::Over;
        let reply = if is_script {
            redis::reply(&self.request, outcome)
        } else {
            http::reply(outcome, self.random)
        };
        reply.map(|reply| Step::Done(Box::new(reply)))
    }

    /// Executes all steps, for use by blocking drivers.
    ///
    /// # Errors
    /// Returns the same errors as [`Steps::next`].
    #[cfg(feature = "std")]
    pub fn drive(mut self, mut run: impl FnMut(&[Statement]) -> Outcome) -> Result<Reply> {
        let mut outcome = Outcome::default();
        loop {
            match self.next(outcome)? {
                Step::Run(statements) => outcome = run(&statements),
                Step::Done(reply) => return Ok(*reply),
            }
        }
    }

    fn dialect(&self) -> Dialect {
        match &self.engine {
            Engine::Sqlite(name) => sqlite::dialect(name),
            Engine::Postgresql(schema) => postgresql::dialect(schema, self.access, self.is_aurora),
            Engine::Mysql => mysql::dialect(self.access),
            Engine::Http | Engine::Redis => unreachable!("this store gets no SQL"),
        }
    }

    fn run(&mut self, stage: Stage, statements: Vec<Statement>) -> Step {
        self.stage = stage;
        Step::Run(statements)
    }

    fn begin(&mut self, known: &Known) -> Step {
        match self.engine {
            // A server that only resembles PostgreSQL or MySQL may accept a lock and lock nothing. The first request of a
            // process therefore reads the version before anything else. Later requests read it in their transactions.
            Engine::Postgresql(_) if known.versions.is_empty() => {
                self.run(Stage::Version, vec![sql::statement(postgresql::VERSION)])
            }
            Engine::Mysql if known.versions.is_empty() => {
                self.run(Stage::Version, vec![sql::statement(mysql::VERSION)])
            }
            Engine::Sqlite(_) => self.run(Stage::Settings, sqlite::settings()),
            Engine::Postgresql(_) | Engine::Mysql | Engine::Http | Engine::Redis => {
                self.send_request(false)
            }
        }
    }

    fn send_request(&mut self, is_again: bool) -> Step {
        let statements = self.dialect().request(&self.request);
        self.run(Stage::Request { is_again }, statements)
    }

    /// Rolls back the failed transaction if the server still responds, so that the connection can be reused.
    fn on_error(&mut self, error: Error, failure: Option<&Failure>) -> Result<Step> {
        // An error without a code means that the connection is lost or that the driver will close it after this request.
        // Closing the connection aborts the transaction.
        if failure.is_none_or(|failure| failure.code.is_none()) {
            return Err(error);
        }
        Ok(self.run(Stage::Rollback(error), vec![sql::statement("ROLLBACK")]))
    }

    fn on_version(&mut self, rows: &[Rows]) -> Result<Step> {
        let scheme = if self.engine == Engine::Mysql { mysql::SCHEME } else { postgresql::SCHEME };
        match rows.first().and_then(|rows| rows.first()).map(Vec::as_slice) {
            Some([Value::Text(version)]) => {
                platforms::reject(scheme, version).map_or_else(|| Ok(self.send_request(false)), Err)
            }
            _ => Err(damaged_record("expected the server's version, found none")),
        }
    }

    fn on_state(&mut self, rows: &[Rows], known: &Known) -> Result<Step> {
        let version = sqlite::check_settings(rows)?;
        match &self.engine {
            Engine::Sqlite(name) if known.versions.get(name) == Some(&version) => {
                Ok(self.send_request(true))
            }
            _ if matches!(self.access.create, Create::Nothing | Create::Trial { .. }) => {
                Ok(self.on_created())
            }
            _ => Ok(self.run(Stage::Tables, sqlite::tables())),
        }
    }

    /// Handles a request to a store that has no tables. Returns an error if creating tables is not permitted. Only this
    /// function searches the database for other lease tables. Requests from existing holders never search for them, so
    /// creating tables cannot interrupt a running fleet.
    fn on_missing_tables(&mut self, failure: Option<&Failure>) -> Result<Step> {
        let (no_store_error, next) = match &self.engine {
            Engine::Sqlite(_) | Engine::Http | Engine::Redis => return Ok(self.on_created()),
            Engine::Postgresql(schema) => (
                postgresql::no_store_error(schema),
                (Stage::FindTables, postgresql::find_tables(schema, &self.dialect())),
            ),
            Engine::Mysql => (mysql::no_store_error(), (Stage::Tables, mysql::tables())),
        };
        match self.access.create {
            Create::Nothing => self.on_error(no_store_error, failure),
            // In `MySQL`, the URL names the database that contains the tables, so there are no other lease tables to search
            // for.
            Create::Trial { .. } if self.engine == Engine::Mysql => {
                Ok(self.run(Stage::Trial, mysql::trial(self.access)))
            }
            _ => Ok(self.run(next.0, next.1)),
        }
    }

    fn on_tables_found(&mut self, rows: &[Rows]) -> Step {
        let Engine::Postgresql(schema) = &self.engine else { return self.on_created() };
        match postgresql::tables(schema, self.access.create, rows) {
            Ok(mut statements) if self.access.create.is_trial() => {
                // The last statement is the commit, which is replaced with a rollback.
                statements.pop();
                statements.push(sql::statement("ROLLBACK"));
                self.run(Stage::Tables, statements)
            }
            Ok(statements) => self.run(Stage::Tables, statements),
            Err(error) => self.run(Stage::Rollback(error), vec![sql::statement("ROLLBACK")]),
        }
    }

    fn on_created(&mut self) -> Step {
        let name = match &self.engine {
            Engine::Sqlite(name) => name,
            Engine::Postgresql(_) if self.access.create.is_trial() => return empty_reply_step(),
            Engine::Postgresql(_) | Engine::Mysql | Engine::Http | Engine::Redis => {
                return self.send_request(true);
            }
        };
        let statements = self.dialect().probe(self.random, name);
        self.run(Stage::Probe(None), statements)
    }

    /// Returns whether the file has no tables yet and the request only checks whether they could be created.
    fn is_trial_without_tables(&self, failure: &Failure) -> bool {
        let is_file = matches!(self.engine, Engine::Sqlite(_));
        self.access.create.is_trial() && is_file && sqlite::has_no_tables(failure)
    }

    fn on_probed(
        &mut self,
        reply: Option<Box<Reply>>,
        rows: &[Rows],
        known: &mut Known,
    ) -> Result<Step> {
        let (state, version) = sql::check_probe(rows, self.random, &self.dialect())?;
        known.versions.insert(state.store.unwrap_or_default(), version);
        Ok(reply.map_or_else(|| self.send_request(true), Step::Done))
    }

    /// Processes the rows that the request returned. If a statement failed, `outcome` contains results only for the
    /// statements before it.
    fn on_answered(&mut self, is_again: bool, outcome: Outcome, known: &Known) -> Result<Step> {
        let Outcome { rows, failure, .. } = outcome;
        let state = rows.get(self.dialect().write.len()).map(State::from_rows).transpose();
        let error = match (state, &failure) {
            (Ok(Some(State { store: None, .. })), _) if !is_again => {
                return self.on_missing_tables(failure.as_ref());
            }
            // In MariaDB, part of the store's name is stored in a table, so reading the name fails if the database has no
            // tables.
            (Ok(None), Some(lack)) if !is_again && self.engine.is_missing_table(lack) => {
                return self.on_missing_tables(failure.as_ref());
            }
            (Ok(None), Some(lack)) if self.may_be_other_variant(lack) => {
                let error = self.engine.error(lack);
                let statements = ["ROLLBACK", postgresql::AURORA_VERSION].map(sql::statement);
                return Ok(self.run(Stage::Aurora { error, is_again }, statements.into()));
            }
            (Ok(Some(State { store: Some(store), now })), None) => {
                return self.on_reply(store, now, &rows, known);
            }
            (Ok(Some(State { store: None, .. })), _) => {
                damaged_record("expected the tables of leases, found none")
            }
            (Ok(_), Some(failure)) => self.engine.error(failure),
            (Ok(None), None) => damaged_record("expected the store's state, found none"),
            (Err(error), _) => error,
        };
        self.on_error(error, failure.as_ref())
    }

    /// Returns whether the state could not be read because the server is an Aurora cluster and was not expected to be one,
    /// or the other way round.
    fn may_be_other_variant(&self, failure: &Failure) -> bool {
        let expected = if self.is_aurora {
            postgresql::UNDEFINED_FUNCTION
        } else {
            postgresql::PREREQUISITE_STATE
        };
        matches!(self.engine, Engine::Postgresql(_)) && failure.code.as_deref() == Some(expected)
    }

    /// Sends the request again in the dialect of the server's variant. The variant is remembered, so that later requests
    /// of the process need no further round trips.
    fn on_aurora(
        &mut self,
        error: Error,
        is_again: bool,
        outcome: &Outcome,
        known: &mut Known,
    ) -> Result<Step> {
        let is_aurora = outcome.failure.is_none();
        if is_aurora == self.is_aurora || outcome.rows.is_empty() {
            return Err(error);
        }
        (self.is_aurora, known.is_aurora) = (is_aurora, is_aurora);
        Ok(self.send_request(is_again))
    }

    fn on_reply(&mut self, store: String, now: u64, rows: &[Rows], known: &Known) -> Result<Step> {
        let dialect = self.dialect();
        let (found, namespace) = sql::answer(&self.request.operation, rows, &dialect)?;
        let reply = Box::new(Reply { now, store, namespace, content: found });
        // The driver probes a store only once per process. In an earlier version, which probed the store at each renewal,
        // every renewal sent 18 statements and left two dead rows.
        if known.versions.contains_key(&reply.store) {
            return Ok(Step::Done(reply));
        }
        let statements = dialect.probe(self.random, &reply.store);
        Ok(self.run(Stage::Probe(Some(reply)), statements))
    }
}

fn on_trial(rows: &[Rows]) -> Result<Step> {
    let [.., state, _] = rows else {
        return Err(damaged_record("expected the rows of each statement, found fewer"));
    };
    State::from_rows(state).map(|_| empty_reply_step())
}

/// Returns the reply for a store that does not exist yet.
fn empty_reply_step() -> Step {
    let found = crate::protocol::ReplyContent::Names(Vec::new());
    Step::Done(Box::new(Reply { now: 0, store: String::new(), namespace: None, content: found }))
}
