//! Tests `SQLite` files that are read-only or cannot grow. The error must be clear, no data may be lost, and the file must
//! be usable afterwards. Each case runs in a separate process, whose limits are stricter than those of the test process.
#![cfg(all(feature = "sqlite", unix))]
#![allow(unreachable_pub, reason = "modules of one test")]

#[allow(dead_code, reason = "other tests use the rest")]
mod claims;

use std::{
    env, fs,
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::{Path, PathBuf},
    process::Command,
};

use claims::{claim_with, file_url};
use polyflake_lease::{
    ErrorKind, Operator, Options, Result, Shape,
    protocol::{Store, open},
};

const STORE_VARIABLE: &str = "POLYFLAKE_LIMITED_STORE";

fn claim(store: &mut dyn Store, namespace: &str, worker_id: u64) -> Result<()> {
    let options = Options::new(namespace, Shape::sno(0..=9999)?)?.preferred_worker_id(worker_id)?;
    claim_with(store, options).map(drop)
}

/// Creates a folder that other users may enter, and a store's file in that folder. One worker ID is claimed in the store.
fn create_store() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let path = folder.path().join("leases.db");
    claim(&mut open(&file_url(&path)).unwrap(), "orders", 0).unwrap();
    (folder, path)
}

#[track_caller]
fn assert_granted(path: &Path, namespace: &str, expected: u64) {
    let status = Operator::open(&file_url(path), namespace).and_then(|mut it| it.status()).unwrap();
    assert_eq!(status.granted, expected);
}

fn limited_process_store() -> Option<PathBuf> {
    env::var_os(STORE_VARIABLE).map(PathBuf::from)
}

#[test]
fn a_read_only_file_is_rejected_and_usable_afterwards() {
    if let Some(path) = limited_process_store() {
        let error = open(&file_url(path)).err().expect("a rejection");
        assert_eq!(error.kind(), ErrorKind::LeaseUnavailable, "{error}");
        assert!(error.to_string().contains("readonly"), "{error}");
        return;
    }
    let (folder, path) = create_store();
    let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode));
    set(&path, 0o444).unwrap();
    set(folder.path(), 0o555).unwrap();
    let mut again = Command::new(env::current_exe().unwrap());
    again.args(["--exact", "a_read_only_file_is_rejected_and_usable_afterwards"]);
    again.env(STORE_VARIABLE, &path).current_dir("/");
    if fs::metadata("/proc/self").is_ok_and(|it| std::os::unix::fs::MetadataExt::uid(&it) == 0) {
        // Root ignores file permissions, so the process runs as another user.
        again.uid(65_534);
    }
    assert!(again.status().unwrap().success());
    set(folder.path(), 0o755).unwrap();
    set(&path, 0o644).unwrap();
    assert_granted(&path, "orders/sno", 1);
    claim(&mut open(&file_url(&path)).unwrap(), "orders", 1).unwrap();
    assert_granted(&path, "orders/sno", 2);
}

#[test]
fn a_full_disk_returns_an_error_and_is_usable_afterwards() {
    if let Some(path) = limited_process_store() {
        let mut store = open(&file_url(path)).unwrap();
        for _ in 0..2 {
            // This claim creates 5,000 records.
            let error = claim(&mut store, "others", 4999).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::LeaseUnavailable, "{error}");
            assert!(error.to_string().starts_with("SQLite reports: "), "{error}");
        }
        return;
    }
    let (_folder, path) = create_store();
    let blocks = fs::metadata(&path).unwrap().len() / 512 + 64;
    // With the signal ignored, a write past the limit fails in the same way as a write to a full disk.
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
    let mut again = Command::new("sh");
    again.args(["-c", &script, "sh"]).arg(env::current_exe().unwrap());
    again.args(["--exact", "a_full_disk_returns_an_error_and_is_usable_afterwards"]);
    assert!(again.env(STORE_VARIABLE, &path).status().unwrap().success());
    assert_granted(&path, "orders/sno", 1);
    let mut store = open(&file_url(&path)).unwrap();
    claim(&mut store, "orders", 1).unwrap();
    claim(&mut store, "others", 4999).unwrap();
    assert_granted(&path, "orders/sno", 2);
    assert_granted(&path, "others/sno", 1);
}
