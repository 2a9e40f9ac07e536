//! A store in an `SQLite` file, for the processes of one machine.
//!
//! A file that is not durable is refused. Durable is a rollback journal with `synchronous=EXTRA`, or a write-ahead log with
//! `FULL`; on Linux, no file system in memory or on the network. The file's inode and time of birth tell one incarnation from
//! another, so a copied file is a restored store, and a moved one or one whose volume is mounted elsewhere is the same. A backup that
//! is written into the same file looks like the same store: an operator who does that must tell the namespace (`quiet_until`).

pub(crate) mod file;
mod gate;
mod rows;

use std::{
    path::{Path, PathBuf},
    string::String,
    thread,
    time::Duration,
};

use alloc::{format, vec::Vec};
use gate::Pass;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use crate::{
    Error, ErrorKind, Reply, Request, Result, Store,
    stores::known::Known,
    stores::sql::{self, Dialect},
    stores::system,
    stores::system::random,
};

/// The longest wait for a locked file, and the pause between two looks at it.
const PATIENCE: Duration = Duration::from_secs(5);
const LOOK_AGAIN: Duration = Duration::from_millis(2);

const SCHEMA: &str = include_str!("../../sql/sqlite.sql");

/// The files whose tables and conditions this process has looked at, with the version of their tables.
static KNOWN: Known<i64> = Known::new();

/// A store in an `SQLite` file. The file is open only while a request is answered.
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
}

impl Sqlite {
    /// Looks at a file, and creates it if there is none. A relative path starts at the working directory of this moment.
    ///
    /// # Errors
    /// `store_not_durable` for a file that may lose written data; `store_damaged` for tables of another
    /// format; `lease_unavailable` if the file cannot be opened.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = file::absolute(path.as_ref())?;
        let _pass = Pass::enter()?;
        connect(&path)?;
        Ok(Self { path })
    }
}

impl Store for Sqlite {
    fn answer(&mut self, request: &Request) -> Result<Reply> {
        let _pass = Pass::enter()?;
        let (mut connection, store) = connect(&self.path)?;
        let behavior = if sql::changes(&request.ask) {
            TransactionBehavior::Immediate
        } else {
            TransactionBehavior::Deferred
        };
        let statements = sql::statements(request, &dialect(&literal(&store)));
        let rows = rows::run(&mut connection, behavior, &statements, true)?;
        let (found, namespace) = sql::answer(&request.ask, &rows)?;
        Ok(Reply { now: system::unix_ms(), store, namespace, found })
    }
}

/// A store's name as an expression; it has no quotation marks.
fn literal(store: &str) -> String {
    format!("'{store}'")
}

/// An immediate transaction has the file for itself.
fn dialect(store: &str) -> Dialect<'_> {
    Dialect { store, shared: "", locked: "" }
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
    connection.busy_handler(Some(wait)).map_err(failed)?;
    make_durable(&connection)?;
    let schema = |connection: &Connection| {
        connection.pragma_query_value(None, "schema_version", |row| row.get(0)).map_err(failed)
    };
    if KNOWN.get(name) == Some(schema(&connection)?) {
        return Ok(connection);
    }
    connection.execute_batch(&format!("BEGIN IMMEDIATE; {SCHEMA} COMMIT")).map_err(failed)?;
    probe(&mut connection, name)?;
    KNOWN.put(name, schema(&connection)?);
    Ok(connection)
}

/// Waits for a locked file, but not while a fork waits for this request.
fn wait(looks: i32) -> bool {
    let is_over = LOOK_AGAIN * looks.unsigned_abs() >= PATIENCE || gate::is_forking();
    if !is_over {
        thread::sleep(LOOK_AGAIN);
    }
    !is_over
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
fn probe(connection: &mut Connection, store: &str) -> Result<()> {
    let requests = sql::probe(&format!("probe-{}", random()?), store);
    let store = literal(store);
    let statements = requests.iter().flat_map(|it| sql::statements(it, &dialect(&store)));
    let statements: Vec<_> = statements.collect();
    let rows = rows::run(connection, TransactionBehavior::Immediate, &statements, false)?;
    sql::check_probe(&requests, &rows)
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
        SqliteFailure(_, Some(message)) if message.contains("no column named") => {
            ErrorKind::StoreDamaged
        }
        SqliteFailure(..) => ErrorKind::LeaseUnavailable,
        _ => ErrorKind::StoreDamaged,
    };
    Error::new(kind, format!("expected an answer from SQLite, found: {error}"))
}
