//! A store in an `SQLite` file, for the processes of one machine.
//!
//! A file that is not durable is refused. Durable is a rollback journal with `synchronous=EXTRA`, or a write-ahead log with
//! `FULL`; on Linux, no file system in memory or on the network. The file's inode and time of birth tell one incarnation from
//! another, so a copied file is a restored store, and a moved one or one whose volume is mounted elsewhere is the same. A backup that
//! is written into the same file looks like the same store: an operator who does that must tell the namespace (`quiet_until`).

pub(crate) mod file;
mod opened;
mod rows;

use std::{
    path::{Path, PathBuf},
    string::String,
    time::Duration,
};

use alloc::format;
use opened::Opened;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use crate::{
    Error, ErrorKind, Reply, Request, Result, Store, clock,
    known::Known,
    sql::{self, Rows},
};

/// The longest wait for a locked file.
const PATIENCE: Duration = Duration::from_secs(5);

const SCHEMA: &str = include_str!("../sql/sqlite.sql");

/// The files whose tables and conditions this process has looked at, with the version of their tables.
static KNOWN: Known<i64> = Known::new();

/// A store in an `SQLite` file.
///
/// ```
/// use polyflake_lease::{Sqlite, conformance};
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
    /// The connection and the store's name; `None` only while they are replaced or dropped.
    open: Option<(Connection, String)>,
    opened: Opened,
}

impl Sqlite {
    /// Opens a file, and creates it if there is none. A relative path starts at the working directory of this moment.
    ///
    /// # Errors
    /// `store_not_durable` for a file that may lose written data; `store_damaged` for tables of another
    /// format; `lease_unavailable` if the file cannot be opened.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = file::absolute(path.as_ref())?;
        let opened = Opened::here()?;
        let open = Some(connect(&path)?);
        Ok(Self { path, open, opened })
    }

    /// The connection to the file that the path names now.
    fn connection(&mut self) -> Result<(&mut Connection, &str)> {
        self.opened.check()?;
        let name = file::name(&self.path);
        if self.open.as_ref().is_none_or(|(_, opened)| name.as_ref() != Ok(opened)) {
            self.open = None;
            self.open = Some(connect(&self.path)?);
        }
        let (connection, name) = self.open.as_mut().expect("just opened");
        Ok((connection, name))
    }
}

impl Drop for Sqlite {
    fn drop(&mut self) {
        if self.opened.check().is_err() {
            core::mem::forget(self.open.take());
        }
    }
}

impl Store for Sqlite {
    fn answer(&mut self, request: &Request) -> Result<Reply> {
        let (connection, store) = self.connection()?;
        let behavior = if sql::changes(&request.ask) {
            TransactionBehavior::Immediate
        } else {
            TransactionBehavior::Deferred
        };
        let mut transaction = connection.transaction_with_behavior(behavior).map_err(failed)?;
        let found = sql::at_once(sql::answer(&mut transaction, request, store))?;
        let namespace = sql::at_once(transaction.namespace(&request.namespace, false))?;
        transaction.commit().map_err(failed)?;
        Ok(Reply { now: clock::unix_ms(), store: store.into(), namespace, found })
    }
}

/// Opens the file that a path names, and returns the store's name with it.
fn connect(path: &Path) -> Result<(Connection, String)> {
    file::check(path)?;
    let before = file::name_or_create(path)?;
    let connection = open_file(path, &before)?;
    let name = file::name(path)?;
    if name != before {
        let reason = "expected one file while it was opened, found another one in its place";
        return Err(Error::new(ErrorKind::LeaseUnavailable, reason));
    }
    Ok((connection, name))
}

/// Opens a file as a store: it has the tables, and keeps conditions.
fn open_file(path: &Path, name: &str) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    connection.busy_timeout(PATIENCE).map_err(failed)?;
    make_durable(&connection)?;
    let schema = |connection: &Connection| {
        connection.pragma_query_value(None, "schema_version", |row| row.get(0)).map_err(failed)
    };
    if KNOWN.get(name) == Some(schema(&connection)?) {
        return Ok(connection);
    }
    let mut transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    transaction.execute_batch(SCHEMA).map_err(failed)?;
    sql::at_once(sql::check_columns(&mut transaction))?;
    transaction.commit().map_err(failed)?;
    probe(&mut connection)?;
    KNOWN.put(name, schema(&connection)?);
    Ok(connection)
}

/// Asks for durable writes, and refuses a file that does not have them.
fn make_durable(connection: &Connection) -> Result<()> {
    let read = |pragma: &str| -> Result<String> {
        connection
            .pragma_query_value(None, pragma, |row| {
                row.get::<_, rusqlite::types::Value>(0).map(|value| format!("{value:?}"))
            })
            .map_err(failed)
    };
    let journal = connection
        .pragma_query_value(None, "journal_mode", |row| row.get::<_, String>(0))
        .map_err(failed)?;
    let (wanted, level) = match &*journal {
        "delete" | "truncate" | "persist" => ("EXTRA", "Integer(3)"),
        "wal" => ("FULL", "Integer(2)"),
        other => {
            let reason = format!("expected a journal or a write-ahead log, found {other}");
            return Err(Error::new(ErrorKind::StoreNotDurable, reason));
        }
    };
    for (pragma, value) in
        [("synchronous", wanted), ("fullfsync", "1"), ("checkpoint_fullfsync", "1")]
    {
        connection.pragma_update(None, pragma, value).map_err(failed)?;
    }
    let found = read("synchronous")?;
    if found != level {
        let reason = format!("expected synchronous={wanted}, found {found}");
        return Err(Error::new(ErrorKind::StoreNotDurable, reason));
    }
    Ok(())
}

/// Checks that the file keeps conditions, and leaves nothing behind.
fn probe(connection: &mut Connection) -> Result<()> {
    let mut transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    let probed = sql::at_once(sql::probe(&mut transaction, "probe of conditions"));
    // Where the probe failed there may be no transaction any more, and its reason is the one to tell.
    let ended = transaction.rollback().map_err(failed);
    probed.and(ended)
}

/// An error of `SQLite` as this crate's.
#[expect(clippy::needless_pass_by_value, reason = "as map_err calls it")]
fn failed(error: rusqlite::Error) -> Error {
    use rusqlite::{Error::SqliteFailure, ErrorCode};
    let kind = match &error {
        SqliteFailure(cause, _)
            if matches!(cause.code, ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) =>
        {
            ErrorKind::StoreDamaged
        }
        SqliteFailure(..) => ErrorKind::LeaseUnavailable,
        _ => ErrorKind::StoreDamaged,
    };
    Error::new(kind, format!("expected an answer from SQLite, found: {error}"))
}
