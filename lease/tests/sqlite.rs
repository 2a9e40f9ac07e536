//! Tests the `SQLite` store: the conformance suite, rejected files, copies, and manually edited rows.
#![cfg(feature = "sqlite")]
#![allow(unreachable_pub, reason = "modules of one test")]

mod claims;

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::Duration,
};

use claims::{assert_error, claim, claim_concurrently, file_url};
use polyflake_lease::{
    Error, ErrorKind, Operator, Options, Shape, Sqlite,
    protocol::{Operation, Record, ReplyContent, Request, Store, conformance, open},
    sno,
};
use rusqlite::Connection;
use tempfile::TempDir;

/// Creates a folder on disk, because the system's temporary folder may be on an in-memory file system.
fn folder() -> TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

fn file() -> (TempDir, PathBuf) {
    let folder = folder();
    let path = folder.path().join("leases.db");
    (folder, path)
}

#[track_caller]
fn assert_file_error(path: &Path, kind: ErrorKind) -> Error {
    assert_error(Sqlite::open(path), kind)
}

#[test]
fn the_driver_passes_the_suite_with_every_journal_mode() {
    for journal in ["delete", "truncate", "persist", "wal"] {
        let (_folder, path) = file();
        let before = Connection::open(&path).unwrap();
        before.pragma_update(None, "journal_mode", journal).unwrap();
        before.close().unwrap();
        let mut store = open(&file_url(&path)).unwrap();
        conformance::check(&mut store);
        conformance::check_together(|| open(&file_url(&path)).unwrap());
    }
}

#[test]
fn volatile_stores_are_rejected() {
    assert_file_error(":memory:".as_ref(), ErrorKind::StoreNotDurable);
    assert_file_error("".as_ref(), ErrorKind::StoreNotDurable);
    assert_file_error("file::memory:?cache=shared".as_ref(), ErrorKind::StoreNotDurable);
    #[cfg(target_os = "linux")]
    if let Ok(folder) = tempfile::tempdir_in("/dev/shm") {
        let error = assert_file_error(&folder.path().join("a.db"), ErrorKind::StoreNotDurable);
        assert_eq!(
            error.to_string(),
            "the file is on tmpfs, which may lose what was written; name a file on a disk of this machine"
        );
    }
}

/// If an operator mistypes a path, the command must fail instead of reporting an empty store.
#[test]
fn an_operator_creates_neither_a_file_nor_tables() {
    let (folder, path) = file();
    let status = || Operator::open(&file_url(&path), "orders/sno").and_then(|mut it| it.status());
    assert_error(status(), ErrorKind::LeaseUnavailable);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    fs::write(&path, "").unwrap();
    let error = assert_error(status(), ErrorKind::LeaseUnavailable);
    let expected = "the file has no tables of leases";
    assert!(error.to_string().starts_with(expected), "{error}");
    assert_eq!(fs::metadata(&path).unwrap().len(), 0);
    claim(&mut open(&file_url(&path)).unwrap()).unwrap();
    assert_eq!(status().unwrap().granted, 1);
}

#[test]
fn non_store_files_are_rejected() {
    let (folder, path) = file();
    fs::write(&path, "This is a text, and longer than the header of a database is.".repeat(99))
        .unwrap();
    assert_file_error(&path, ErrorKind::StoreDamaged);
    assert_file_error(folder.path(), ErrorKind::LeaseUnavailable);
    assert_file_error(&folder.path().join("none/a.db"), ErrorKind::LeaseUnavailable);
}

/// Further cases are in tests/leases/urls.json.
#[test]
fn absolute_urls_are_accepted_and_foreign_syntax_is_rejected() {
    let folder = folder();
    let at = folder.path().display();
    for (url, found) in [
        (format!("sqlite:/{at}/a.db"), "two slashes begin the name of a host"),
        (format!("sqlite:{at}/a.db?mode=rwc"), "the parameter `mode` is unknown"),
        (format!("sqlite:file:{at}/a.db"), "`file:` is not read"),
    ] {
        let Err(error) = open(&url) else { panic!("expected a refusal of {url}") };
        assert_eq!(error.kind(), ErrorKind::OutOfRange, "{url}: {error}");
        let expected = format!("cannot read the URL of the store: {found}");
        assert!(error.to_string().starts_with(&expected), "{error}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    open(&format!("sqlite:{at}/a.db?allow=overlayfs")).unwrap();
    open(&format!("sqlite://{at}/b.db?allow=overlayfs")).unwrap();
    open(&format!("sqlite:///{at}/c.db?allow=overlayfs")).unwrap();
    let mut names: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["a.db", "b.db", "c.db"]);
}

#[test]
fn missing_columns_are_rejected() {
    let (_folder, path) = file();
    claim(&mut open(&file_url(&path)).unwrap()).unwrap();
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch("ALTER TABLE polyflake_namespaces DROP COLUMN store").unwrap();
    assert_file_error(&path, ErrorKind::StoreDamaged);
}

/// A second record format is introduced in two steps, while programs that support only the first format continue to run:
/// first its column is added, and then rows that use it appear.
#[test]
fn columns_of_a_later_format_are_ignored_until_their_rows_appear() {
    let (_folder, path) = file();
    let mut store = open(&file_url(&path)).unwrap();
    claim(&mut store).unwrap();
    let connection = Connection::open(&path).unwrap();
    let add = |table| format!("ALTER TABLE {table} ADD COLUMN colour TEXT NOT NULL DEFAULT 'red'");
    connection.execute_batch(&add("polyflake_leases")).unwrap();
    connection.execute_batch(&add("polyflake_namespaces")).unwrap();
    claim(&mut store).unwrap();
    claim(&mut open(&file_url(&path)).unwrap()).unwrap();
    // A worker ID whose holder uses the later format is skipped, and the value in the new column is kept.
    let later = "UPDATE polyflake_leases SET format = 2, colour = 'blue', version = version + 1";
    connection.execute_batch(&format!("{later} WHERE first = 0")).unwrap();
    assert_ne!(claim(&mut store).unwrap().worker_ids(), 0..=0);
    let colour = |first: i64| -> String {
        let found = "SELECT colour FROM polyflake_leases WHERE first = ?1";
        connection.query_row(found, [first], |row| row.get(0)).unwrap()
    };
    assert_eq!([colour(0), colour(1)], ["blue", "red"]);
    // The namespace's row is changed last.
    connection.execute_batch("UPDATE polyflake_namespaces SET format = 2").unwrap();
    assert_error(claim(&mut store), ErrorKind::SchemaTooNew);
}

#[test]
fn manually_edited_rows_are_rejected_and_preserved() {
    let changes = [
        ("UPDATE polyflake_leases SET format = 2", ErrorKind::SchemaTooNew),
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
        ("UPDATE polyflake_namespaces SET format = 7", ErrorKind::SchemaTooNew),
        ("UPDATE polyflake_namespaces SET records = 1000", ErrorKind::StoreDamaged),
        ("UPDATE polyflake_namespaces SET store = 'sqlite:0:0'", ErrorKind::StoreChanged),
    ];
    for (change, kind) in changes {
        let (_folder, path) = file();
        let mut store = open(&file_url(&path)).unwrap();
        claim(&mut store).unwrap();
        let connection = Connection::open(&path).unwrap();
        connection.execute_batch(change).unwrap();
        let error = claim(&mut store).expect_err(change);
        assert_eq!(error.kind(), kind, "{change}: {error}");
    }
}

/// The records that were not edited can still be claimed.
#[test]
fn a_manually_edited_row_is_skipped_and_reported() {
    for (change, kind) in [
        ("token = 'x'", ErrorKind::StoreDamaged),
        ("format = 2", ErrorKind::SchemaTooNew),
        ("version = 'one'", ErrorKind::StoreDamaged),
    ] {
        let (_folder, path) = file();
        let mut store = open(&file_url(&path)).unwrap();
        let worker_ids = [(); 3].map(|()| *claim(&mut store).unwrap().worker_ids().start());
        let connection = Connection::open(&path).unwrap();
        let change = format!("UPDATE polyflake_leases SET granted_until = 0, start = 0, {change}");
        connection.execute_batch(&format!("{change} WHERE first = 1")).unwrap();
        let fourth = *claim(&mut store).expect(&change).worker_ids().start();
        assert!(!worker_ids.contains(&fourth), "{fourth}");
        connection.execute_batch(&format!("{change} WHERE first <> 1")).unwrap();
        let ask = Operation::Read { first: 1 };
        let request = Request { number: 1, namespace: "orders/sno".into(), operation: ask };
        let error = store.answer(&request).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().ends_with("in the record of worker ID 1"), "{error}");
        assert_error(claim(&mut store), kind);
    }
}

/// A copy is a different file, so it counts as a restored store. The original file continues to work.
#[test]
fn a_copied_file_starts_a_quiet_time() {
    let (folder, path) = file();
    let mut store = open(&file_url(&path)).unwrap();
    claim(&mut store).unwrap();
    let copy = folder.path().join("copy.db");
    fs::copy(&path, &copy).unwrap();
    assert_error(claim(&mut open(&file_url(&copy)).unwrap()), ErrorKind::StoreChanged);
    claim(&mut store).unwrap();
    // The copy also counts as a restored store if it replaces the file while the store is open.
    fs::copy(&path, &copy).unwrap();
    fs::rename(&copy, &path).unwrap();
    assert_error(claim(&mut store), ErrorKind::StoreChanged);
}

/// The file keeps its inode and birth time, so the restore starts no quiet time before an operator reports it.
#[test]
#[cfg(unix)]
fn a_file_restored_in_place_needs_a_report() {
    for (back_up, restore) in [
        ("cp leases.db backup.db", "cp backup.db leases.db"),
        ("mv leases.db away.db", "rm leases.db; mv away.db leases.db"),
    ] {
        let (folder, path) = file();
        let url = file_url(&path);
        claim(&mut open(&url).unwrap()).unwrap();
        assert!(run_commands(back_up, folder.path()), "{back_up}");
        let unknown = claim(&mut open(&url).unwrap()).unwrap();
        assert!(run_commands(restore, folder.path()), "{restore}");
        claim(&mut open(&url).unwrap()).expect(restore);
        let told = Operator::of_store(&url).unwrap().restored(None).unwrap();
        assert!(told[0].quiet_until > unknown.end());
        assert_error(claim(&mut open(&url).unwrap()), ErrorKind::StoreChanged);
    }
}

/// The file is replaced after a record is read and before the record is changed.
#[test]
fn a_swap_is_rejected_if_the_record_names_another_store() {
    let (_folder, path) = file();
    let mut store = open(&file_url(&path)).unwrap();
    claim(&mut store).unwrap();
    let mut ask = |ask| {
        let request = Request { number: 1, namespace: "orders/sno".into(), operation: ask };
        store.answer(&request).unwrap().content
    };
    let ReplyContent::Records(records) = ask(Operation::Read { first: 0 }) else { panic!() };
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch("UPDATE polyflake_namespaces SET store = 'sqlite:1:1'").unwrap();
    let old = records[0].clone();
    let new = Record { version: old.version + 1, ..old.clone() };
    assert_eq!(ask(Operation::Put { old: old.clone(), new }), ReplyContent::Differs(Some(old)));
}

/// Runs shell commands in a folder, and returns whether all of them succeeded.
#[cfg(unix)]
fn run_commands(commands: &str, folder: &Path) -> bool {
    let mut shell = Command::new("sh");
    shell.args(["-ec", commands]).current_dir(folder).status().unwrap().success()
}

/// A file system may assign the replaced file's inode number to the new file.
#[test]
#[cfg(unix)]
fn a_backup_that_replaces_the_file_is_a_restored_store() {
    for way in [
        "rm leases.db; cp backup.db leases.db",
        "rm leases.db; cp --archive backup.db leases.db",
        "cp backup.db new.db; mv new.db leases.db",
        "mv backup.db leases.db",
        "tar --extract --file=backup.tar",
    ] {
        for _ in 0..4 {
            let (folder, path) = file();
            claim(&mut open(&file_url(&path)).unwrap()).unwrap();
            let back_up = "tar --create --file=backup.tar leases.db; cp leases.db backup.db";
            assert!(run_commands(back_up, folder.path()), "{back_up}");
            let unknown = claim(&mut open(&file_url(&path)).unwrap()).unwrap();
            assert!(run_commands(way, folder.path()), "{way}");
            let error = claim(&mut open(&file_url(&path)).unwrap()).expect_err(way);
            assert_eq!(error.kind(), ErrorKind::StoreChanged, "{way}: {error}");
            assert!(error.until() > Some(unknown.end()), "{way}");
        }
    }
}

/// A folder in which a volume is mounted at `a`. Only one test at a time has such a folder, and all volumes are unmounted
/// at the end of the test.
#[cfg(target_os = "linux")]
struct MountedFolder {
    folder: TempDir,
    _alone: std::sync::MutexGuard<'static, ()>,
}

#[cfg(target_os = "linux")]
impl MountedFolder {
    /// Mounts a volume. If that is impossible, prints the reason and returns `None`.
    fn new(options: &str) -> Option<Self> {
        static TEST_LOCK: std::sync::Mutex<()> = std::sync::Mutex::new(());
        let alone = TEST_LOCK.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mounted = Self { folder: folder(), _alone: alone };
        let made = format!(
            "mkdir a; (truncate --size=8M one; mkfs.ext4 -q {options} one; mount -o loop one a) 2> why"
        );
        if mounted.run_commands(&made) {
            return Some(mounted);
        }
        let why = fs::read_to_string(mounted.folder.path().join("why")).unwrap_or_default();
        println!("left out: no volume can be mounted here: {why}");
        None
    }

    fn run_commands(&self, command: &str) -> bool {
        run_commands(command, self.folder.path())
    }
}

#[cfg(target_os = "linux")]
impl Drop for MountedFolder {
    fn drop(&mut self) {
        for at in ["b", "c", "a"] {
            self.run_commands(&format!("umount {at} 2> /dev/null"));
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_file_system_without_creation_times_is_rejected() {
    let Some(mounted) = MountedFolder::new("-I 128") else { return };
    let opened = open(&file_url(mounted.folder.path().join("a/leases.db")));
    let error = opened.err().expect("a rejection");
    assert_eq!(error.kind(), ErrorKind::StoreNotDurable, "{error}");
}

/// Covers a file that is moved, a file that is opened through another path, and a volume that is mounted as another device.
#[test]
#[cfg(target_os = "linux")]
fn a_moved_or_remounted_file_is_the_same_store() {
    use std::os::unix::fs::MetadataExt;
    let (folder, path) = file();
    claim(&mut open(&file_url(&path)).unwrap()).unwrap();
    assert!(run_commands("mkdir moved; mv leases.db moved", folder.path()));
    claim(&mut open(&file_url(folder.path().join("moved/leases.db"))).unwrap()).unwrap();
    let Some(mounted) = MountedFolder::new("") else { return };
    let [before, bound, after] =
        ["a", "b", "c"].map(|name| mounted.folder.path().join(name).join("leases.db"));
    claim(&mut open(&file_url(&before)).unwrap()).unwrap();
    let device = fs::metadata(&before).unwrap().dev();
    assert!(mounted.run_commands("mkdir b c; mount --bind a b"));
    claim(&mut open(&file_url(&bound)).unwrap()).unwrap();
    // The second volume gets the first volume's device number, unless another program has taken that number in the
    // meantime.
    assert!(
        mounted.run_commands("umount b a; cp one two; mount -o loop two a; mount -o loop one c")
    );
    if fs::metadata(&after).unwrap().dev() == device {
        println!("the volume has the same device again");
    }
    claim(&mut open(&file_url(&after)).unwrap()).unwrap();
}

const INITIAL_FOLDER_VARIABLE: &str = "POLYFLAKE_STARTED_IN";

/// Runs in a separate process, because the test changes the working directory.
/// A file with two paths has two sets of journals, so its processes would not see each other's grants.
#[test]
fn a_file_with_two_hard_links_is_rejected() {
    let (folder, path) = file();
    claim(&mut Sqlite::open(&path).unwrap()).unwrap();
    let other = folder.path().join("other.db");
    fs::hard_link(&path, &other).unwrap();
    for path in [&path, &other] {
        let error = assert_file_error(path, ErrorKind::StoreNotDurable);
        assert!(error.to_string().contains("the file has 2 hard links"), "{error}");
        assert!(error.to_string().contains("remove the other links"), "{error}");
        assert!(error.is_permanent(), "{error}");
        let url = format!("sqlite:{}?namespace=orders&allow=overlayfs", path.display());
        let error = polyflake_lease::check(Some(&url)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::StoreNotDurable, "{error}");
    }
    fs::remove_file(other).unwrap();
    claim(&mut Sqlite::open(&path).unwrap()).unwrap();
}

/// A container that gets the file alone has another path for the journals than its neighbor. The test needs the right to
/// mount.
#[cfg(target_os = "linux")]
#[test]
fn a_file_that_is_mounted_alone_is_rejected() {
    let (folder, path) = file();
    claim(&mut Sqlite::open(&path).unwrap()).unwrap();
    let mount = "touch mounted.db; mount --bind leases.db mounted.db 2> /dev/null";
    if !run_commands(mount, folder.path()) {
        return;
    }
    let opened = Sqlite::open(folder.path().join("mounted.db"));
    assert!(run_commands("umount mounted.db", folder.path()));
    let error = opened.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StoreNotDurable, "{error}");
    assert!(error.to_string().contains("mount the folder"), "{error}");
}

#[test]
fn relative_paths_resolve_against_the_initial_working_directory() {
    let name = "relative_paths_resolve_against_the_initial_working_directory";
    if env::var_os(INITIAL_FOLDER_VARIABLE).is_none() {
        let folder = folder();
        ["one", "two"].iter().for_each(|name| fs::create_dir(folder.path().join(name)).unwrap());
        let mut again = Command::new(env::current_exe().unwrap());
        again.args(["--exact", name]).current_dir(folder.path().join("one"));
        assert!(again.env(INITIAL_FOLDER_VARIABLE, folder.path()).status().unwrap().success());
        return;
    }
    let mut store = open(&file_url("leases.db")).unwrap();
    let options = Options::new("orders", Shape::sno(0..=99).unwrap()).unwrap();
    let options = options.lease_ms(500).unwrap();
    let longest = Duration::from_secs(20);
    let ids = sno::Generator::with(&file_url("leases.db"), options.clone(), longest).unwrap();
    env::set_current_dir("../two").unwrap();
    claim(&mut store).unwrap();
    while ids.lease().metrics().renewals < 2 {
        assert_eq!(ids.lease().rejected(), None);
        thread::sleep(Duration::from_millis(5));
    }
    assert!(!fs::exists("leases.db").unwrap());
    // Two folders contain two stores, so the same worker ID is free in both.
    let other = sno::Generator::with(&file_url("leases.db"), options.clone(), longest).unwrap();
    assert_eq!((ids.lease().worker_id(), other.lease().worker_id()), (Some(0), Some(0)));
    // Different paths that lead to the same file refer to the same store.
    let same = sno::Generator::with(&file_url("../one/leases.db"), options, longest).unwrap();
    assert_ne!(same.lease().worker_id(), Some(0));
}

#[test]
fn concurrent_holders_have_distinct_worker_ids() {
    let (_folder, path) = file();
    claim_concurrently(|| open(&file_url(&path)).unwrap());
}

#[test]
fn an_unwritable_file_is_rejected_and_usable_afterwards() {
    let (_folder, path) = file();
    let mut store = open(&file_url(&path)).unwrap();
    claim(&mut store).unwrap();
    let full = Connection::open(&path).unwrap();
    full.execute_batch("CREATE TRIGGER full BEFORE UPDATE ON polyflake_leases BEGIN SELECT RAISE(FAIL, 'database or disk is full'); END").unwrap();
    assert_error(claim(&mut store), ErrorKind::LeaseUnavailable);
    full.execute_batch("DROP TRIGGER full").unwrap();
    claim(&mut store).unwrap();
}
