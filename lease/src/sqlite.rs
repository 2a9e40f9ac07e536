//! A store in an `SQLite` file, for the processes of one machine.
//!
//! A file that is not durable is refused. Durable is a rollback journal with `synchronous=EXTRA`, or a write-ahead log with
//! `FULL`; on Linux, no file system in memory or on the network. The file's device and inode tell one incarnation from another,
//! so a copied file is a restored store. A backup that is written into the same file looks like the same store: an operator who
//! does that must tell the namespace (`quiet_until`).

mod file;
mod rows;

use std::{
    path::{Path, PathBuf},
    string::String,
    time::Duration,
};

use alloc::format;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use crate::{Ask, Error, ErrorKind, Found, Record, Reply, Request, Result, Store, clock};

/// The longest wait for a locked file.
const PATIENCE: Duration = Duration::from_secs(5);

const SCHEMA: &str = include_str!("../sql/sqlite.sql");

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
    /// The process that opened the file: in a forked child the connection is not used.
    process: u32,
    /// The connection and the store's name; `None` only while they are replaced or dropped.
    open: Option<(Connection, String)>,
}

impl Sqlite {
    /// Opens a file, and creates it if there is none.
    ///
    /// # Errors
    /// `store_not_durable` for a file that may lose written data; `schema_outdated` and `store_damaged` for tables of another
    /// format; `lease_unavailable` if the file cannot be opened.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref().to_path_buf();
        let open = connect(&path)?;
        Ok(Self { path, process: std::process::id(), open: Some(open) })
    }

    /// The connection to the file that the path names now.
    fn connection(&mut self) -> Result<(&mut Connection, &str)> {
        if self.process != std::process::id() {
            let reason = "expected the process that opened the store, found its child";
            return Err(Error::new(ErrorKind::LeaseUnavailable, reason));
        }
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
        if self.process != std::process::id() {
            core::mem::forget(self.open.take());
        }
    }
}

impl Store for Sqlite {
    fn answer(&mut self, request: &Request) -> Result<Reply> {
        let (connection, store) = self.connection()?;
        let writes =
            matches!(request.ask, Ask::Open(_) | Ask::Put { .. } | Ask::PutNamespace { .. });
        let behavior =
            if writes { TransactionBehavior::Immediate } else { TransactionBehavior::Deferred };
        let transaction = connection.transaction_with_behavior(behavior).map_err(failed)?;
        let found = answer(&transaction, request, store)?;
        let namespace = rows::namespace(&transaction, &request.namespace)?;
        transaction.commit().map_err(failed)?;
        Ok(Reply { now: clock::unix_ms(), store: store.into(), namespace, found })
    }
}

fn answer(transaction: &Transaction<'_>, request: &Request, store: &str) -> Result<Found> {
    let name = &request.namespace;
    match &request.ask {
        Ask::Open(namespace) => {
            rows::insert_namespace(transaction, namespace, store)?;
            Ok(Found::Nothing)
        }
        Ask::Find { limit } => Ok(Found::Records(rows::first_to_end(transaction, name, *limit)?)),
        Ask::Read { first } => {
            Ok(Found::Records(rows::record(transaction, name, *first)?.into_iter().collect()))
        }
        Ask::Put { old, new } => {
            let namespace = rows::namespace(transaction, name)?;
            let is_current =
                namespace.is_some_and(|it| it.store == store && it.incarnation == new.incarnation);
            if is_current && rows::swap(transaction, name, old, new)? {
                return Ok(Found::Done);
            }
            Ok(Found::Differs(rows::record(transaction, name, new.first)?))
        }
        Ask::PutNamespace { old, new, first, count } => {
            if new.store != store || !rows::swap_namespace(transaction, old, new)? {
                return Ok(Found::Differs(None));
            }
            for index in 0..new.records.saturating_sub(old.records) {
                let fresh = Record::fresh(first + index * count, *count, new.incarnation);
                rows::insert(transaction, name, &fresh)?;
            }
            Ok(Found::Done)
        }
        Ask::Survey => rows::survey(transaction, name),
    }
}

/// Opens the file that a path names, and returns the store's name with it.
fn connect(path: &Path) -> Result<(Connection, String)> {
    file::check(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    connection.busy_timeout(PATIENCE).map_err(failed)?;
    make_durable(&connection)?;
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    transaction.execute_batch(SCHEMA).map_err(failed)?;
    rows::check_columns(&transaction)?;
    transaction.commit().map_err(failed)?;
    probe(&mut connection)?;
    let name = file::name(path)?;
    Ok((connection, name))
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

/// Checks that a stale swap and a second creation fail, and leaves nothing behind.
fn probe(connection: &mut Connection) -> Result<()> {
    const NAME: &str = "probe of conditions";
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    let fresh = Record::fresh(0, 1, crate::Random(1));
    let stale = Record { version: 2, ..fresh.clone() };
    rows::insert(&transaction, NAME, &fresh)?;
    rows::insert(&transaction, NAME, &stale)?;
    let is_kept = rows::record(&transaction, NAME, 0)? == Some(fresh);
    let is_refused = !rows::swap(&transaction, NAME, &stale, &stale)?;
    transaction.rollback().map_err(failed)?;
    if is_kept && is_refused {
        return Ok(());
    }
    Err(Error::new(ErrorKind::StoreNotDurable, "expected a store that keeps conditions"))
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
    Error::new(kind, format!("expected an answer of SQLite, found: {error}"))
}
