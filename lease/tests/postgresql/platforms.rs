//! Imitates the databases that people rent on a server of our own, with the settings, functions and errors that the
//! platforms document.

use std::{thread, time::Duration};

use polyflake_lease::{
    ErrorKind, Operator,
    protocol::{Operation, Request, open},
    sno,
};

use crate::{
    assert_error, change_setting, claim_at,
    round_trips::CountingProxy,
    server::{Server, programs},
};

/// Makes a server reject the functions that read the position of its log, as Aurora does unless logical replication is
/// enabled.
fn reject_log_functions(server: &Server) {
    server.execute_as_admin(&[
        "SET allow_system_table_mods = on",
        "ALTER FUNCTION pg_catalog.pg_current_wal_lsn() RENAME TO original_wal_lsn",
        "CREATE FUNCTION pg_catalog.pg_current_wal_lsn() RETURNS pg_lsn LANGUAGE plpgsql AS $$ BEGIN
            RAISE EXCEPTION 'wal_level must be set to ''logical''' USING ERRCODE = '55000'; END $$",
    ]);
}

/// Adds the function by which Aurora identifies itself.
fn add_aurora_version(server: &Server) {
    server.execute_as_admin(&[
        "SET allow_system_table_mods = on",
        "CREATE FUNCTION pg_catalog.aurora_version() RETURNS text LANGUAGE sql AS $$ SELECT '16.4.1' $$",
    ]);
}

fn store_name(url: &str) -> String {
    let request = Operation::Read { first: 0 };
    let request = Request { number: 1, namespace: "orders/sno".into(), operation: request };
    open(url).unwrap().answer(&request).unwrap().store
}

// Platform: Amazon Aurora PostgreSQL.
/// The name has a word in place of the timeline, which Aurora does not report. A process needs further round trips to
/// recognize the server only once.
#[test]
fn aurora_grants_worker_ids_without_logical_replication() {
    let Some(programs) = programs() else { return };
    let server = Server::start(&programs);
    reject_log_functions(&server);
    let error = assert_error(claim_at(&server.url()), ErrorKind::LeaseUnavailable);
    assert!(error.to_string().contains("wal_level must be set to 'logical'"), "{error}");
    add_aurora_version(&server);
    let ids = sno::Generator::new(&server.url(), "orders").unwrap();
    ids.generate(0).unwrap();
    let name = store_name(&server.url());
    assert_eq!(name.split(':').nth(2), Some("aurora"), "{name}");
    assert_eq!(name.split(':').count(), 5, "{name}");
    let way = CountingProxy::for_server(&server);
    let mut store = open(&way.url()).unwrap();
    let request = Operation::Read { first: 0 };
    let request = Request { number: 1, namespace: "orders/sno".into(), operation: request };
    let trips = way.round_trips();
    store.answer(&request).unwrap();
    assert_eq!(way.round_trips() - trips, 1, "a renewal takes one round trip");
    ids.close();
}

/// A process may lease from Aurora and from another server.
#[test]
fn a_process_recognizes_other_servers_after_aurora() {
    let Some(programs) = programs() else { return };
    let [aurora, other] = [(); 2].map(|()| Server::start(&programs));
    reject_log_functions(&aurora);
    add_aurora_version(&aurora);
    for (server, timeline) in [(&aurora, "aurora"), (&other, "00000001"), (&aurora, "aurora")] {
        let name = store_name(&server.url());
        assert_eq!(name.split(':').nth(2), Some(timeline), "{name}");
    }
}

const BRANCHES: [&str; 2] =
    ["de200bd42b49cc1814412c7e592dd6e9", "0123456789abcdef0123456789abcdef"];

/// Makes a server report the ID of a Neon branch, as a parameter that only the server can set.
fn set_branch(server: &Server, branch: &str) {
    server.execute_as_admin(&[
        "SET allow_system_table_mods = on",
        &format!("ALTER DATABASE postgres SET neon.timeline_id = '{branch}'"),
        &format!(
            "CREATE OR REPLACE VIEW pg_catalog.pg_settings AS SELECT * FROM pg_show_all_settings()
            UNION ALL SELECT 'neon.timeline_id', '{branch}', NULL, 'Customized Options', NULL, NULL,
                'postmaster', 'string', 'configuration file', NULL, NULL, NULL, '', '{branch}', NULL, NULL, false"
        ),
    ]);
}

// Platform: Neon.
/// Neon turns `fsync` off, because a commit waits for its storage servers. Each branch is a store of its own.
#[test]
fn neon_grants_worker_ids_and_its_branches_are_different_stores() {
    let Some(programs) = programs() else { return };
    let server = Server::start(&programs);
    server.execute_as_admin(&["ALTER SYSTEM SET cluster_name = 'walproposer'"]);
    let _storage = server.start_replica();
    change_setting(&server, "SET fsync = off");
    change_setting(&server, "SET full_page_writes = off");
    set_branch(&server, BRANCHES[0]);
    // Without the storage servers, a commit waits for nothing.
    assert_error(claim_at(&server.url()), ErrorKind::StoreNotDurable);
    change_setting(&server, "SET synchronous_standby_names = 'walproposer'");
    let ids = sno::Generator::new(&server.url(), "mine").unwrap();
    ids.generate(0).unwrap();
    claim_at(&server.url()).unwrap();
    let name = store_name(&server.url());
    assert!(name.ends_with(&format!(":{}", BRANCHES[0])), "{name}");
    assert_eq!(name.split(':').count(), 6, "{name}");
    set_branch(&server, BRANCHES[1]);
    assert_error(claim_at(&server.url()), ErrorKind::StoreChanged);
    ids.close();
}

// Platform: Amazon RDS for PostgreSQL.
/// A user of a rented server owns a database, and has no rights on the server. A failover starts a server on the same
/// storage, which is the same store. A restored snapshot starts one on earlier storage, which only its owner can report.
#[test]
fn a_server_on_the_same_or_on_earlier_storage_is_the_same_store() {
    let Some(programs) = programs() else { return };
    let server = Server::start(&programs);
    server.execute_as_admin(&["CREATE ROLE app LOGIN", "CREATE DATABASE app OWNER app"]);
    let as_owner =
        |server: &Server| server.url().replace("lease@", "app@").replace("/postgres", "/app");
    claim_at(&as_owner(&server)).unwrap();
    let name = store_name(&as_owner(&server));
    let snapshot = server.create_base_backup();
    let unknown = claim_at(&as_owner(&server)).unwrap();
    server.power_off();
    server.launch();
    claim_at(&as_owner(&server)).unwrap();
    snapshot.launch();
    let restored = as_owner(&snapshot);
    assert_eq!([store_name(&as_owner(&server)), store_name(&restored)], [&*name, &*name]);
    let mut operator = Operator::open(&restored, "orders/sno").unwrap();
    assert!(operator.restored(None).unwrap()[0].quiet_until > unknown.end());
    assert_error(claim_at(&restored), ErrorKind::StoreChanged);
}

/// A client can set a parameter with the name of Neon's, but not one that takes effect when the server starts.
#[test]
fn a_client_cannot_pose_as_neon() {
    let Some(programs) = programs() else { return };
    let server = Server::start(&programs);
    let name = store_name(&server.url());
    let posing = format!("{}?options=-c%20neon.timeline_id%3D{}", server.url(), BRANCHES[0]);
    assert_eq!(store_name(&posing), name);
    change_setting(&server, "SET fsync = off");
    assert_error(claim_at(&posing), ErrorKind::StoreNotDurable);
}

/// The copy has the same tables with the same OIDs, and takes the place of the database that it was copied from.
#[test]
fn a_copied_database_under_the_old_name_is_another_store() {
    let Some(programs) = programs() else { return };
    let server = Server::start(&programs);
    server.execute_as_admin(&["CREATE DATABASE app"]);
    let url = server.url().replace("/postgres", "/app");
    claim_at(&url).unwrap();
    execute_when_idle(&server, "CREATE DATABASE snap TEMPLATE app");
    claim_at(&url).unwrap();
    execute_when_idle(&server, "ALTER DATABASE app RENAME TO old");
    server.execute_as_admin(&["ALTER DATABASE snap RENAME TO app"]);
    let error = assert_error(claim_at(&url), ErrorKind::StoreChanged);
    assert!(error.until().is_some(), "{error}");
    claim_at(&server.url().replace("/postgres", "/old")).unwrap();
}

/// Executes a statement as soon as no connection uses the database that it concerns.
fn execute_when_idle(server: &Server, statement: &str) {
    let mut client = postgres::Client::connect(&server.url(), postgres::NoTls).unwrap();
    for _ in 0..100 {
        if client.batch_execute(statement).is_ok() {
            return;
        }
        thread::sleep(Duration::from_millis(20));
    }
    panic!("expected a database without connections");
}

/// The declaration covers the settings of pages and files, and no other one.
#[test]
fn a_declaration_in_the_url_covers_fsync_and_full_page_writes_only() {
    let Some(programs) = programs() else { return };
    let server = Server::start(&programs);
    let declared = format!("{}?storage=durable", server.url());
    let name = store_name(&server.url());
    for setting in ["fsync", "full_page_writes"] {
        change_setting(&server, &format!("SET {setting} = off"));
        let error = assert_error(claim_at(&server.url()), ErrorKind::StoreNotDurable);
        assert!(error.to_string().contains(&format!("{setting}=off, and must be on")), "{error}");
        claim_at(&declared).unwrap();
        change_setting(&server, &format!("RESET {setting}"));
    }
    assert_eq!(store_name(&declared), name);
    let replica = server.start_replica();
    let error = claim_at(&format!("{}?storage=durable", replica.url())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StoreNotDurable);
    assert!(error.to_string().contains("a server in recovery"), "{error}");
}
