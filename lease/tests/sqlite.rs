//! The store in an `SQLite` file: the suite for drivers, files that are refused, copies, rows written by hand.
#![cfg(feature = "sqlite")]

use std::{fs, path::PathBuf, thread};

use polyflake_lease::{
    Action, Error, ErrorKind, Grant, Keeper, Moment, Options, Random, Result, Shape, Sqlite, Store,
    conformance, open,
};
use rusqlite::Connection;
use tempfile::TempDir;

/// A folder on a disk: the system's folder for temporary files may be in memory.
fn folder() -> TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

fn file() -> (TempDir, PathBuf) {
    let folder = folder();
    let path = folder.path().join("leases.db");
    (folder, path)
}

#[track_caller]
fn assert_refused(path: &std::path::Path, kind: ErrorKind) -> Error {
    let Err(error) = Sqlite::open(path) else { panic!("expected a refusal of {}", path.display()) };
    assert_eq!(error.kind(), kind, "{error}");
    error
}

/// A claim over a store: its grant, or its error.
fn claim(store: &mut Sqlite) -> Result<Grant> {
    let options = Options::new("orders", Shape::sno(0..=99)?)?;
    let mut keeper = Keeper::new(options, || Ok(Random(u128::from(fastrand::u64(1..)))));
    let wall_ms = std::time::UNIX_EPOCH.elapsed().unwrap().as_millis().try_into().unwrap();
    let now = Moment { wall_ms, elapsed_ms: 0 };
    for elapsed_ms in 0..100_000 {
        let now = Moment { elapsed_ms, ..now };
        match keeper.poll(now) {
            Action::Ask(request) => keeper.answered(request.number, store.answer(&request), now),
            Action::Begin(grant) => return Ok(grant),
            Action::Refused(error) => return Err(error),
            Action::Wait(_) => {}
            other => panic!("{other:?}"),
        }
    }
    panic!("expected an end of the keeper's steps");
}

#[test]
fn it_passes_the_suite_with_every_journal() {
    for journal in ["delete", "truncate", "persist", "wal"] {
        let (_folder, path) = file();
        let before = Connection::open(&path).unwrap();
        before.pragma_update(None, "journal_mode", journal).unwrap();
        before.close().unwrap();
        let mut store = Sqlite::open(&path).unwrap();
        conformance::check(&mut store);
    }
}

#[test]
fn what_forgets_is_refused() {
    assert_refused(":memory:".as_ref(), ErrorKind::StoreNotDurable);
    assert_refused("".as_ref(), ErrorKind::StoreNotDurable);
    assert_refused("file::memory:?cache=shared".as_ref(), ErrorKind::StoreNotDurable);
    #[cfg(target_os = "linux")]
    if let Ok(folder) = tempfile::tempdir_in("/dev/shm") {
        let error = assert_refused(&folder.path().join("a.db"), ErrorKind::StoreNotDurable);
        assert_eq!(error.to_string(), "expected a file on a disk of this machine, found tmpfs");
    }
}

#[test]
fn what_is_no_store_is_refused() {
    let (folder, path) = file();
    fs::write(&path, "This is a text, and longer than the header of a database is.".repeat(99))
        .unwrap();
    assert_refused(&path, ErrorKind::StoreDamaged);
    assert_refused(folder.path(), ErrorKind::LeaseUnavailable);
    assert_refused(&folder.path().join("none/a.db"), ErrorKind::LeaseUnavailable);
}

/// URLs as other libraries write them would name another file than they say, or none.
#[test]
fn urls_of_other_libraries_are_refused() {
    let folder = folder();
    let at = folder.path().display();
    for (url, found) in [
        (format!("sqlite:/{at}/a.db"), "`//`"),
        (format!("sqlite://{at}/a.db"), "`//`"),
        (format!("sqlite:{at}/a.db?mode=rwc"), "`?`"),
        (format!("sqlite:file:{at}/a.db"), "`file:`"),
    ] {
        let Err(error) = open(&url) else { panic!("expected a refusal of {url}") };
        assert_eq!(error.kind(), ErrorKind::OutOfRange, "{url}: {error}");
        let expected = format!(
            "expected the path of a file after `sqlite:`, as in `sqlite:leases.db`, found {found}"
        );
        assert_eq!(error.to_string(), expected);
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    open(&format!("sqlite:{at}/a.db")).unwrap();
}

#[test]
fn other_columns_are_refused() {
    let (_folder, path) = file();
    claim(&mut Sqlite::open(&path).unwrap()).unwrap();
    let by_hand = Connection::open(&path).unwrap();
    by_hand.execute_batch("ALTER TABLE polyflake_leases ADD COLUMN flag INTEGER").unwrap();
    assert_refused(&path, ErrorKind::SchemaOutdated);
    by_hand.execute_batch("ALTER TABLE polyflake_leases DROP COLUMN flag").unwrap();
    assert!(Sqlite::open(&path).is_ok());
    by_hand.execute_batch("ALTER TABLE polyflake_namespaces DROP COLUMN store").unwrap();
    assert_refused(&path, ErrorKind::StoreDamaged);
}

#[test]
fn rows_written_by_hand_are_refused_and_stay() {
    let changes = [
        ("UPDATE polyflake_leases SET format = 2", ErrorKind::SchemaOutdated),
        ("UPDATE polyflake_leases SET format = 0", ErrorKind::StoreDamaged),
        ("UPDATE polyflake_leases SET token = 'x'", ErrorKind::StoreDamaged),
        ("UPDATE polyflake_leases SET token = upper(token || 'ab')", ErrorKind::StoreDamaged),
        ("UPDATE polyflake_leases SET version = -1", ErrorKind::StoreDamaged),
        ("UPDATE polyflake_leases SET version = 'one'", ErrorKind::StoreDamaged),
        ("UPDATE polyflake_leases SET version = 9223372036854775807", ErrorKind::StoreDamaged),
        ("UPDATE polyflake_leases SET count = 3", ErrorKind::StoreDamaged),
        ("UPDATE polyflake_leases SET granted_until = start - 1", ErrorKind::StoreDamaged),
        ("UPDATE polyflake_leases SET holder = 'a' || char(10)", ErrorKind::StoreDamaged),
        ("UPDATE polyflake_leases SET first = 100", ErrorKind::StoreDamaged),
        ("DELETE FROM polyflake_leases", ErrorKind::StoreDamaged),
        ("UPDATE polyflake_namespaces SET digest = 'x'", ErrorKind::StoreDamaged),
        ("UPDATE polyflake_namespaces SET shape = '{}'", ErrorKind::StoreDamaged),
        ("UPDATE polyflake_namespaces SET format = 7", ErrorKind::SchemaOutdated),
        ("UPDATE polyflake_namespaces SET records = 1000", ErrorKind::StoreDamaged),
        ("UPDATE polyflake_namespaces SET store = 'sqlite:0:0'", ErrorKind::StoreChanged),
    ];
    for (change, kind) in changes {
        let (_folder, path) = file();
        let mut store = Sqlite::open(&path).unwrap();
        claim(&mut store).unwrap();
        let by_hand = Connection::open(&path).unwrap();
        by_hand.execute_batch(change).unwrap();
        let error = claim(&mut store).expect_err(change);
        assert_eq!(error.kind(), kind, "{change}: {error}");
    }
}

/// A copy is another file, and so a restored store; the file that was copied goes on.
#[test]
fn a_copied_file_is_quiet_for_a_while() {
    let (folder, path) = file();
    let mut store = Sqlite::open(&path).unwrap();
    claim(&mut store).unwrap();
    let copy = folder.path().join("copy.db");
    fs::copy(&path, &copy).unwrap();
    let error = claim(&mut Sqlite::open(&copy).unwrap()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StoreChanged, "{error}");
    claim(&mut store).unwrap();
    // Also if the copy replaces the file under an open store.
    fs::copy(&path, &copy).unwrap();
    fs::rename(&copy, &path).unwrap();
    assert_eq!(claim(&mut store).unwrap_err().kind(), ErrorKind::StoreChanged);
}

#[test]
fn holders_side_by_side_have_numbers_of_their_own() {
    let (_folder, path) = file();
    let claim_some = |path: PathBuf| {
        let mut store = Sqlite::open(path).unwrap();
        (0..5).map(|_| *claim(&mut store).unwrap().numbers().start()).collect::<Vec<_>>()
    };
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let path = path.clone();
            thread::spawn(move || claim_some(path))
        })
        .collect();
    let mut numbers: Vec<_> = threads.into_iter().flat_map(|it| it.join().unwrap()).collect();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), 20);
}

#[test]
fn a_file_that_cannot_be_written_is_refused_and_usable_afterwards() {
    let (_folder, path) = file();
    let mut store = Sqlite::open(&path).unwrap();
    claim(&mut store).unwrap();
    let full = Connection::open(&path).unwrap();
    full.execute_batch("CREATE TRIGGER full BEFORE UPDATE ON polyflake_leases BEGIN SELECT RAISE(FAIL, 'database or disk is full'); END").unwrap();
    let error = claim(&mut store).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LeaseUnavailable, "{error}");
    full.execute_batch("DROP TRIGGER full").unwrap();
    claim(&mut store).unwrap();
}
