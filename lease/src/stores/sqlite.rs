//! A store in an `SQLite` file, for the processes of one host.
//!
//! A file that is not durable is rejected. To be durable, a file must use a rollback journal with `synchronous=EXTRA`, or a
//! write-ahead log with `FULL`. On Linux, in-memory and network file systems are rejected as well. The file's inode and
//! birth time identify an incarnation of the store. Therefore, a copied file counts as a restored store, whereas a file
//! that was moved or whose volume is mounted elsewhere remains the same store. A backup that is written into the existing
//! file cannot be detected. An operator who restores a backup in this way must report the restore (`Operator::restored`),
//! which sets `quiet_until` in each namespace's record.

mod gate;

use std::{
    path::{Path, PathBuf},
    string::{String, ToString},
    thread,
    time::Duration,
};

use gate::RequestGuard;
use rusqlite::{
    Connection, OpenFlags, ToSql, params_from_iter,
    types::{ToSqlOutput, ValueRef},
};

use crate::{
    Result,
    protocol::{Operation, Reply, Request, Store},
    stores::steps::{Access, Engine, Failure, Rows, Statement, Steps, Value, file},
    stores::system::random,
};

/// A request waits at most `TIMEOUT` for a locked file, and pauses for `POLL_INTERVAL` between attempts.
const TIMEOUT: Duration = Duration::from_secs(5);
const POLL_INTERVAL: Duration = Duration::from_millis(2);

/// A store in an `SQLite` file. The file is open only while a request is being processed.
///
/// ```
/// use polyflake_lease::{Sqlite, protocol::conformance};
///
/// # let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
/// # let path = folder.path().join("leases.db");
/// let mut store = Sqlite::open(&path)?;
/// conformance::check(&mut store);
/// # Ok::<(), polyflake_lease::Error>(())
/// ```
#[derive(Debug)]
pub struct Sqlite {
    path: PathBuf,
    access: Access,
}

impl Sqlite {
    /// Checks a file, and creates it if it does not exist. A relative path is resolved against the current working
    /// directory. For a file on overlayfs, use [`open`](crate::protocol::open) with `?allow=overlayfs`.
    ///
    /// # Errors
    /// Returns `store_not_durable` if the file may lose written data, `store_damaged` if its tables have a different
    /// format, or `lease_unavailable` if the file cannot be opened.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path.as_ref(), Access::default())
    }

    pub(crate) fn open_with(path: &Path, access: Access) -> Result<Self> {
        let mut store = Self { path: file::absolute_path(path)?, access };
        let (namespace, operation) = ("none".into(), Operation::Read { first: 0 });
        store.answer(&Request { number: 0, namespace, operation })?;
        Ok(store)
    }
}

impl Store for Sqlite {
    fn answer(&mut self, request: &Request) -> Result<Reply> {
        let _pass = RequestGuard::enter()?;
        let Self { path, access } = self;
        let (connection, name) = file::open(path, *access, connect)?;
        let steps = Steps::new(Engine::Sqlite(name), request, random()?).access(*access);
        steps.drive(|statements| statements.iter().map(|it| run(&connection, it)).collect())
    }
}

fn connect(path: &Path) -> Result<Connection> {
    // Only one thread uses the connection, so SQLite need not lock it. The flags prevent SQLite from creating the file. If
    // the file may be created, `file::open` has already created it.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connect = || {
        #[allow(unused_mut, reason = "rusqlite takes it by `&mut` from 0.43 on")]
        let mut connection = Connection::open_with_flags(path, flags)?;
        connection.busy_handler(Some(retry_when_busy))?;
        Ok(connection)
    };
    // The error does not depend on the file's name, so the name can be empty here.
    let store_error = |error: rusqlite::Error| Engine::Sqlite(String::new()).error(&error.into());
    connect().map_err(store_error)
}

/// Waits for a locked file to be unlocked. Returns `false` to give up, either after the timeout or because a fork is
/// waiting for the current request to end.
fn retry_when_busy(looks: i32) -> bool {
    let is_over = POLL_INTERVAL * looks.unsigned_abs() >= TIMEOUT || gate::is_forking();
    if !is_over {
        thread::sleep(POLL_INTERVAL);
    }
    !is_over
}

fn run(connection: &Connection, statement: &Statement) -> rusqlite::Result<Rows> {
    let mut prepared = connection.prepare(&statement.text)?;
    let width = prepared.column_count();
    let rows = prepared.query_map(params_from_iter(&statement.values), |row| {
        (0..width).map(|at| row.get_ref(at).map(Value::from)).collect()
    })?;
    rows.collect()
}

impl From<ValueRef<'_>> for Value {
    fn from(value: ValueRef<'_>) -> Self {
        match value {
            ValueRef::Integer(value) => Self::Integer(value),
            ValueRef::Text(text) => core::str::from_utf8(text).map_or(Self::Null, Self::from),
            _ => Self::Null,
        }
    }
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Integer(value) => ValueRef::Integer(*value),
            Self::Text(value) => ValueRef::Text(value.as_bytes()),
            Self::Null => ValueRef::Null,
        }))
    }
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self { code: None, message: error.to_string() }
    }
}
