//! Tests the `PostgreSQL` store. The tests run the conformance suite, and cover crashes, promoted replicas, restored
//! backups, servers that lose data, and manually edited rows.
#![cfg(all(feature = "postgresql", unix))]
#![allow(unreachable_pub, reason = "modules of one test")]

mod backups;
#[allow(dead_code, reason = "other tests use the rest")]
#[path = "../claims/mod.rs"]
mod claims;
mod place;
mod platforms;
mod round_trips;
#[allow(dead_code, reason = "other tests use the rest")]
#[path = "../server/mod.rs"]
mod server;

use claims::{assert_error, claim, claim_concurrently};
use polyflake_lease::{
    ErrorKind, Operator, Options, Postgresql, Result, Shape,
    protocol::{Grant, Operation, Record, ReplyContent, Request, Store, conformance, open},
};
use server::{Server, programs};

fn claim_at(url: &str) -> Result<Grant> {
    claim(&mut open(url)?)
}

#[test]
fn the_driver_passes_the_suite() {
    let Some(programs) = programs() else { return };
    let server = Server::start(&programs);
    conformance::check(&mut Postgresql::open(&server.url()).unwrap());
    conformance::check_together(|| Postgresql::open(&server.url()).unwrap());
    // The store also works for a role that commits asynchronously by default.
    server.execute_as_admin(&[
        "TRUNCATE polyflake.polyflake_leases, polyflake.polyflake_namespaces",
        "ALTER ROLE lease SET synchronous_commit = off",
    ]);
    conformance::check(&mut Postgresql::open(&server.url()).unwrap());
}

/// The role has only the privileges that a lease needs, as operators would grant them.
#[test]
fn a_role_with_select_insert_and_update_suffices() {
    let Some(programs) = programs() else { return };
    let server = Server::start(&programs);
    let url = server.url();
    let as_role = url.replace("lease@", "orders@");
    server.execute_as_admin(&["CREATE ROLE orders LOGIN"]);
    let assert_no_right = |of: &str| {
        let message = claim_at(&as_role).unwrap_err().to_string();
        let expected = "the role lacks a right: permission denied for";
        assert!(message.starts_with(&format!("{expected} {of}; an operator runs ")), "{message}");
        for line in [
            "CREATE SCHEMA \"polyflake\";",
            "GRANT USAGE ON SCHEMA \"polyflake\" TO ROLE;",
            "GRANT SELECT, INSERT, UPDATE ON \"polyflake\".polyflake_namespaces, \"polyflake\".polyflake_leases TO ROLE",
        ] {
            assert!(message.contains(line), "{line}: {message}");
        }
    };
    assert_no_right("database postgres");
    // If a role lacks a privilege on the database, `PostgreSQL` rejects the statement that creates the schema even if the
    // schema exists, so the driver skips the statement for an existing schema.
    server.execute_as_admin(&[
        "CREATE SCHEMA polyflake",
        "GRANT USAGE ON SCHEMA polyflake TO orders",
    ]);
    assert_no_right("schema polyflake");
    server.execute_as_admin(&["REVOKE USAGE ON SCHEMA polyflake FROM orders"]);
    server.execute_as_admin(&[include_str!("../../sql/postgresql.sql")]);
    assert_no_right("schema polyflake");
    server.execute_as_admin(&["GRANT USAGE ON SCHEMA polyflake TO orders"]);
    assert_no_right("table polyflake_namespaces");
    let rights = include_str!("../../sql/postgresql-role.sql").replace(":\"role\"", "orders");
    server.execute_as_admin(&[&rights]);
    conformance::check(&mut Postgresql::open(&as_role).unwrap());
    let ids = polyflake_lease::sno::Generator::new(&as_role, "orders").unwrap();
    ids.generate(0).unwrap();
    ids.close();
    let mut client = postgres::Client::connect(&as_role, postgres::NoTls).unwrap();
    for forbidden in [
        "DELETE FROM polyflake.polyflake_leases",
        "TRUNCATE polyflake.polyflake_leases",
        "DROP TABLE polyflake.polyflake_leases",
        "ALTER TABLE polyflake.polyflake_leases ADD COLUMN a bigint",
        "CREATE TABLE polyflake.a (b bigint)",
        "CREATE SCHEMA a",
    ] {
        assert!(client.batch_execute(forbidden).is_err(), "{forbidden}");
    }
}

#[test]
fn servers_that_forget_writes_are_rejected_at_any_time() {
    let Some(programs) = programs() else { return };
    let server = Server::start(&programs);
    let mut store = Postgresql::open(&server.url()).unwrap();
    for setting in ["fsync", "full_page_writes"] {
        claim(&mut store).unwrap();
        change_setting(&server, &format!("SET {setting} = off"));
        assert_error(claim(&mut store), ErrorKind::StoreNotDurable);
        assert_error(claim_at(&server.url()), ErrorKind::StoreNotDurable);
        change_setting(&server, &format!("RESET {setting}"));
        claim(&mut store).unwrap();
    }
}

fn change_setting(server: &Server, setting: &str) {
    let change = format!("ALTER SYSTEM {setting}");
    server.execute_as_admin(&[&change, "SELECT pg_reload_conf()", "SELECT pg_sleep(0.5)"]);
}

/// On a file system that never writes partial pages, an operator may turn `full_page_writes` off and declare it unneeded.
#[test]
fn an_operator_vouches_for_a_server_without_full_page_writes() {
    let Some(programs) = programs() else { return };
    let server = Server::start(&programs);
    change_setting(&server, "SET full_page_writes = off");
    assert_error(claim_at(&server.url()), ErrorKind::StoreNotDurable);
    let vouched = "?options=-c%20polyflake.full_page_writes%3Dunneeded";
    claim_at(&format!("{}{vouched}", server.url())).unwrap();
    assert_error(claim_at(&server.url()), ErrorKind::StoreNotDurable);
    server
        .execute_as_admin(&["ALTER DATABASE postgres SET polyflake.full_page_writes = 'unneeded'"]);
    claim_at(&server.url()).unwrap();
    change_setting(&server, "SET fsync = off");
    assert_error(claim_at(&server.url()), ErrorKind::StoreNotDurable);
}

#[test]
fn a_stopped_server_is_unavailable_and_keeps_its_grants() {
    let Some(programs) = programs() else { return };
    let server = Server::start(&programs);
    let mut store = Postgresql::open(&server.url()).unwrap();
    let first = claim(&mut store).unwrap();
    server.power_off();
    assert_error(claim(&mut store), ErrorKind::LeaseUnavailable);
    assert_error(claim_at(&server.url()), ErrorKind::LeaseUnavailable);
    server.launch();
    let second = claim_at(&server.url()).unwrap();
    assert_ne!(first.worker_ids(), second.worker_ids());
}

// Platform: Azure Database for PostgreSQL.
#[test]
fn a_replica_is_rejected_and_quiet_after_promotion() {
    let Some(programs) = programs() else { return };
    let server = Server::start(&programs);
    let mut old = Postgresql::open(&server.url()).unwrap();
    claim(&mut old).unwrap();
    let replica = server.start_replica();
    assert_error(claim_at(&replica.url()), ErrorKind::StoreNotDurable);
    replica.promote();
    assert_error(claim_at(&replica.url()), ErrorKind::StoreChanged);
    claim(&mut old).unwrap();
}

/// Starts a server that logs statements.
fn start_logging_server(programs: &std::path::Path) -> Server {
    let server = Server::start(programs);
    server.execute_as_admin(&["ALTER SYSTEM SET log_statement = 'all'", "SELECT pg_reload_conf()"]);
    server
}

/// Creating all records up to the worker ID takes a single statement.
#[test]
fn a_high_worker_id_is_granted_in_few_statements() {
    let Some(programs) = programs() else { return };
    let server = start_logging_server(&programs);
    let options = Options::new("far", Shape::sno(0..=65_535).unwrap()).unwrap();
    let options = options.preferred_worker_id(65_000).unwrap();
    let longest = std::time::Duration::from_secs(15);
    let ids = polyflake_lease::sno::Generator::with(&server.url(), options, longest).unwrap();
    assert_eq!(ids.lease().worker_id(), Some(65_000));
    assert!(statement_count(&server) < 100, "{}", statement_count(&server));
}

/// Returns the number of statements that the server has logged.
fn statement_count(server: &Server) -> usize {
    let log = std::fs::read_to_string(server.folder().join("log")).unwrap();
    log.lines().filter(|line| line.contains("statement: ") || line.contains("execute ")).count()
}

/// A process checks the server's settings only once per store.
#[test]
fn a_reopened_store_sends_only_its_request() {
    let Some(programs) = programs() else { return };
    let server = start_logging_server(&programs);
    let request =
        Request { number: 1, namespace: "orders".into(), operation: Operation::Read { first: 0 } };
    open(&server.url()).unwrap().answer(&request).unwrap();
    let before = statement_count(&server);
    open(&server.url()).unwrap().answer(&request).unwrap();
    assert_eq!(statement_count(&server) - before, 5);
    server.execute_as_admin(&[
        "ALTER TABLE polyflake.polyflake_leases ADD COLUMN flag bigint, DROP COLUMN holder",
    ]);
    assert_error(claim_at(&server.url()), ErrorKind::StoreDamaged);
}

#[test]
fn connection_errors_name_their_cause() {
    let Some(programs) = programs() else { return };
    let server = Server::start(&programs);
    let nobody = server.url().replace("lease@", "nobody@");
    for (url, cause) in [
        ("postgres://lease@localhost:1/x", "refused"),
        ("postgres://lease@host.invalid/x", "lookup"),
        (&nobody, "role \"nobody\" does not exist"),
    ] {
        let url = format!("{url}?sslmode=disable");
        let error = open(&url).err().expect("expected a refusal").to_string();
        assert!(error.contains(cause), "{cause}: {error}");
    }
}

/// The request goes to the server that accepts writes, regardless of its position in the list.
#[test]
fn a_replica_listed_first_is_skipped() {
    let Some(programs) = programs() else { return };
    let server = Server::start(&programs);
    claim_at(&server.url()).unwrap();
    let replica = server.start_replica();
    let [first, second] = [&replica, &server].map(|it| it.folder().display().to_string());
    let [first, second] = [first, second].map(|folder| folder.replace('/', "%2F"));
    claim_at(&format!("postgresql://lease@{first},{second}/postgres")).unwrap();
    // As in libpq, the type of a single host is checked only if the URL requests a type (`target_session_attrs`).
    for (attributes, reason) in [
        ("read-write", "no host of the URL accepts writes: "),
        ("primary", "no host of the URL accepts writes: "),
        ("any", "a server in recovery"),
    ] {
        let url = format!("postgresql://lease@{first}/postgres?target_session_attrs={attributes}");
        let error = claim_at(&url).unwrap_err().to_string();
        assert!(error.contains(reason), "{attributes}: {error}");
    }
}

#[test]
fn manually_edited_rows_are_rejected() {
    let Some(programs) = programs() else { return };
    let server = Server::start(&programs);
    let mut store = Postgresql::open(&server.url()).unwrap();
    claim(&mut store).unwrap();
    let changes = [
        ("polyflake.polyflake_leases SET format = 2", ErrorKind::SchemaTooNew),
        ("polyflake.polyflake_leases SET token = 'x'", ErrorKind::StoreDamaged),
        ("polyflake.polyflake_leases SET version = -1", ErrorKind::StoreDamaged),
        ("polyflake.polyflake_leases SET granted_until = start - 1", ErrorKind::StoreDamaged),
        ("polyflake.polyflake_leases SET count = 3", ErrorKind::StoreDamaged),
        ("polyflake.polyflake_namespaces SET records = 1000", ErrorKind::StoreDamaged),
        ("polyflake.polyflake_namespaces SET digest = ''", ErrorKind::StoreDamaged),
        ("polyflake.polyflake_namespaces SET format = 7", ErrorKind::SchemaTooNew),
    ];
    server.execute_as_admin(&[
        "CREATE TABLE n AS SELECT * FROM polyflake.polyflake_namespaces",
        "CREATE TABLE l AS SELECT * FROM polyflake.polyflake_leases",
    ]);
    for (change, kind) in changes {
        server.execute_as_admin(&[&format!("UPDATE {change}")]);
        assert_error(claim(&mut store), kind);
        server.execute_as_admin(&[
            "TRUNCATE polyflake.polyflake_leases, polyflake.polyflake_namespaces",
            "INSERT INTO polyflake.polyflake_namespaces SELECT * FROM n",
            "INSERT INTO polyflake.polyflake_leases SELECT * FROM l",
        ]);
    }
    claim(&mut store).unwrap();
    server.execute_as_admin(&["ALTER TABLE polyflake.polyflake_leases DROP COLUMN holder"]);
    assert_error(claim(&mut store), ErrorKind::StoreDamaged);
}

/// During the quiet time after a restore, no claims succeed, but operators can still evict holders and reserve worker IDs.
#[test]
fn operators_can_act_during_the_quiet_time() {
    let Some(programs) = programs() else { return };
    let server = Server::start(&programs);
    let grant = claim_at(&server.url()).unwrap();
    let mut operator = Operator::open(&server.url(), "orders/sno").unwrap();
    operator.restored(None).unwrap();
    assert_error(claim_at(&server.url()), ErrorKind::StoreChanged);
    operator.evict(*grant.worker_ids().start()).unwrap();
    operator.reserve(*grant.worker_ids().start(), "a test").unwrap();
    assert_eq!(operator.status().unwrap().reserved, 1);
}

/// The server cancels a statement that waits too long, because its client may no longer exist. The limits do not depend on
/// the role's default settings.
#[test]
fn transactions_set_their_own_limits() {
    let Some(programs) = programs() else { return };
    let server = Server::start(&programs);
    server
        .execute_as_admin(&["ALTER ROLE lease SET default_transaction_isolation = 'serializable'"]);
    let mut store = Postgresql::open(&server.url()).unwrap();
    claim(&mut store).unwrap();
    server.execute_as_admin(&[
        "CREATE TABLE seen (statement_timeout text, lock_timeout text, synchronous_commit text, isolation text)",
        "CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            INSERT INTO seen VALUES (current_setting('statement_timeout'), current_setting('lock_timeout'),
                current_setting('synchronous_commit'), current_setting('transaction_isolation'));
            RETURN NEW; END $$",
        "CREATE TRIGGER see BEFORE UPDATE ON polyflake.polyflake_leases FOR EACH ROW EXECUTE FUNCTION see()",
        "ALTER ROLE lease SET synchronous_commit = off",
    ]);
    claim_at(&server.url()).unwrap();
    let mut client = postgres::Client::connect(&server.url(), postgres::NoTls).unwrap();
    let row = client.query_one("SELECT DISTINCT * FROM seen", &[]).unwrap();
    let seen = [0, 1, 2, 3].map(|at| row.get::<_, String>(at));
    assert_eq!(seen, ["20s", "5s", "on", "read committed"]);
}

/// If the replica is promoted next, it may lack the grant, because the commit did not wait for the replica.
#[test]
fn a_cancelled_replica_wait_is_resolved_by_another_write() {
    let Some(programs) = programs() else { return };
    let server = Server::start(&programs);
    claim_at(&server.url()).unwrap();
    let mut store = Postgresql::open(&server.url()).unwrap();
    server.with_absent_replica(|| {
        let ask = Operation::Find { limit: 8 };
        let found =
            store.answer(&Request { number: 1, namespace: "orders/sno".into(), operation: ask });
        let ReplyContent::Records(records) = found.unwrap().content else {
            panic!("expected records")
        };
        let old = records[0].clone();
        let new = Record { version: old.version + 1, ..old.clone() };
        let ask = Operation::Put { old, new: new.clone() };
        let request = Request { number: 2, namespace: "orders/sno".into(), operation: ask };
        let cancelled = server.cancel_commit_during(|| store.answer(&request));
        let reason = cancelled.expect_err("expected no answer").to_string();
        assert!(reason.contains("synchronous replication"), "{reason}");
        let ask = Operation::Read { first: new.first };
        let mut other = Postgresql::open(&server.url()).unwrap();
        let read =
            other.answer(&Request { number: 3, namespace: "orders/sno".into(), operation: ask });
        assert_eq!(read.unwrap().content, ReplyContent::Records(vec![new]), "reads show it");
    });
    claim_at(&server.url()).unwrap();
}

/// Repeatedly starts several holders at the same time, so that each new namespace grows while other holders use it.
#[test]
fn concurrent_holders_have_distinct_worker_ids() {
    let Some(programs) = programs() else { return };
    let server = Server::start(&programs);
    for _ in 0..10 {
        claim_concurrently(|| Postgresql::open(&server.url()).unwrap());
        server.execute_as_admin(&[
            "TRUNCATE polyflake.polyflake_leases, polyflake.polyflake_namespaces",
        ]);
    }
}

/// Covers a server that accepts no writes and a table that another transaction has locked.
#[test]
fn a_read_only_server_is_rejected_and_usable_afterwards() {
    let Some(programs) = programs() else { return };
    let server = Server::start(&programs);
    let mut store = Postgresql::open(&server.url()).unwrap();
    claim(&mut store).unwrap();
    server.execute_as_admin(&["ALTER ROLE lease SET default_transaction_read_only = on"]);
    assert_error(claim_at(&server.url()), ErrorKind::LeaseUnavailable);
    server.execute_as_admin(&[
        "SET default_transaction_read_only = off",
        "ALTER ROLE lease RESET default_transaction_read_only",
    ]);
    claim_at(&server.url()).unwrap();
    let mut other = postgres::Client::connect(&server.url(), postgres::NoTls).unwrap();
    other
        .batch_execute("BEGIN; LOCK TABLE polyflake.polyflake_leases IN ACCESS EXCLUSIVE MODE")
        .unwrap();
    let began = std::time::Instant::now();
    assert_error(claim(&mut store), ErrorKind::LeaseUnavailable);
    assert!(began.elapsed() < std::time::Duration::from_secs(30), "expected an error in time");
    other.batch_execute("ROLLBACK").unwrap();
    claim_at(&server.url()).unwrap();
}

#[test]
fn errors_never_contain_the_password() {
    for url in [
        "postgres://a:sesame@localhost:1/x",
        "postgres://a:sesame@[::1/x",
        "postgres://a:sesame@localhost/x?a=sesame",
        "sesame",
        "pass=sesame port:1",
    ] {
        let Err(error) = open(url) else { panic!("expected no server at {url}") };
        assert!(!format!("{error} {error:?}").contains("sesame"), "{error:?}");
    }
}
