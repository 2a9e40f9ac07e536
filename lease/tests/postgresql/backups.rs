//! Tests restored backups: dumps that are loaded into the same server or a different one, and a base backup. Each backup is
//! made before a grant, so it does not contain that grant.

use polyflake_lease::{ErrorKind, Operator, Postgresql, Result};

use crate::{
    assert_error, claim, claim_at,
    server::{Server, programs},
};

/// Asserts that a claim was rejected because of a quiet time, and returns the end of the quiet time.
#[track_caller]
fn assert_quiet_time(claimed: Result<impl Sized>) -> u64 {
    let Err(error) = claimed else { panic!("expected a quiet time, found none") };
    assert_eq!(error.kind(), ErrorKind::StoreChanged, "{error}");
    error.until().expect("expected the end of the quiet time")
}

/// Acquires two grants from a server. Returns a dump that contains only the first grant, and the end of the second grant.
fn make_two_grants(server: &Server) -> (std::path::PathBuf, u64) {
    let known = claim_at(&server.url()).unwrap();
    let dump = server.dump();
    let unknown = claim_at(&server.url()).unwrap();
    assert_ne!(known.worker_ids(), unknown.worker_ids());
    (dump, unknown.end())
}

#[test]
fn a_dump_on_another_server_starts_a_quiet_time() {
    let Some(programs) = programs() else { return };
    let [server, other] = [(); 2].map(|()| Server::start(&programs));
    let (dump, end) = make_two_grants(&server);
    other.restore(&dump);
    assert!(assert_quiet_time(claim_at(&other.url())) > end);
    // The server that was dumped is still the same store.
    claim_at(&server.url()).unwrap();
}

/// The dump is a script that recreates the tables, so the new tables have different IDs from the old ones.
#[test]
fn a_dump_on_the_same_server_starts_a_quiet_time() {
    let Some(programs) = programs() else { return };
    let server = Server::start(&programs);
    let mut open = Postgresql::open(&server.url()).unwrap();
    let (dump, end) = make_two_grants(&server);
    server.restore(&dump);
    assert!(assert_quiet_time(claim(&mut open)) > end);
    assert!(assert_quiet_time(claim_at(&server.url())) > end);
}

#[test]
fn rows_restored_in_place_require_an_operators_report() {
    let Some(programs) = programs() else { return };
    let server = Server::start(&programs);
    claim_at(&server.url()).unwrap();
    server.execute_as_admin(&[
        "CREATE TABLE l AS SELECT * FROM polyflake.polyflake_leases",
        "CREATE TABLE n AS SELECT * FROM polyflake.polyflake_namespaces",
    ]);
    let unknown = claim_at(&server.url()).unwrap();
    server.execute_as_admin(&[
        "TRUNCATE polyflake.polyflake_leases, polyflake.polyflake_namespaces",
        "INSERT INTO polyflake.polyflake_leases SELECT * FROM l",
        "INSERT INTO polyflake.polyflake_namespaces SELECT * FROM n",
    ]);
    let mut operator = Operator::open(&server.url(), "orders/sno").unwrap();
    let told = operator.restored(None).unwrap();
    assert!(told[0].quiet_until > unknown.end());
    assert_eq!(assert_quiet_time(claim_at(&server.url())), told[0].quiet_until);
}

#[test]
fn a_server_started_from_a_base_backup_is_another_store() {
    let Some(programs) = programs() else { return };
    let server = Server::start(&programs);
    let mut old = Postgresql::open(&server.url()).unwrap();
    claim(&mut old).unwrap();
    let backup = server.create_base_backup();
    let unknown = claim(&mut old).unwrap();
    backup.recover_from_base_backup();
    assert!(assert_quiet_time(claim_at(&backup.url())) > unknown.end());
    // The quiet time of the restored backup survives a restart.
    backup.power_off();
    backup.launch();
    assert_error(claim_at(&backup.url()), ErrorKind::StoreChanged);
}

#[test]
fn a_base_backup_without_a_signal_file_needs_a_report() {
    let Some(programs) = programs() else { return };
    let server = Server::start(&programs);
    claim_at(&server.url()).unwrap();
    let backup = server.create_base_backup();
    let unknown = claim_at(&server.url()).unwrap();
    backup.launch();
    claim_at(&backup.url()).unwrap();
    let told = Operator::of_store(&backup.url()).unwrap().restored(None).unwrap();
    assert!(told[0].quiet_until > unknown.end());
    assert_quiet_time(claim_at(&backup.url()));
}
