//! Tests the `MySQL` store on `MariaDB`, or on a `MySQL` server that an environment variable names. The tests run the
//! conformance suite, and cover crashes, copied servers, servers that lose data, and manually edited rows.
#![cfg(all(feature = "mysql", unix))]
#![allow(unreachable_pub, reason = "modules of one test")]

#[allow(dead_code, reason = "other tests use the rest")]
#[path = "../claims/mod.rs"]
mod claims;
#[allow(dead_code, reason = "other tests use the rest")]
#[path = "../mysql_server/mod.rs"]
mod mysql_server;
#[allow(dead_code, reason = "other tests use the rest")]
#[path = "../server/mod.rs"]
mod server;
#[allow(dead_code, reason = "other tests use the rest")]
#[path = "../sql/mod.rs"]
mod sql;

use std::{
    path::Path,
    time::{Duration, Instant},
};

use claims::{assert_error, claim, claim_concurrently};
use mysql_server::{MysqlServer, is_mariadb, program};
use polyflake_lease::{
    AsyncMysql, ErrorKind, Mysql, Operator, Options, Result, Shape, check,
    protocol::{
        AsyncStore, Grant, Namespace, Operation, Random, Record, Reply, ReplyContent, Request,
        Store, conformance, open,
        steps::{Engine, Known, Outcome, Statement, Step, Steps, Value},
    },
};
use sql::run_in_mysql;

fn claim_at(url: &str) -> Result<Grant> {
    claim(&mut open(url)?)
}

fn start(program: &Path) -> MysqlServer {
    MysqlServer::start(program, &[])
}

fn send(store: &mut dyn Store, ask: Operation) -> Result<Reply> {
    store.answer(&Request { number: 1, namespace: "orders/sno".into(), operation: ask })
}

fn store_name(url: &str) -> String {
    send(&mut *open(url).unwrap(), Operation::Read { first: 0 }).unwrap().store
}

/// Returns the ID that `InnoDB` assigned to a table with a name such as `app/orders`.
fn table_id(server: &MysqlServer, name: &str) -> u64 {
    let text = format!(
        "SELECT CAST(table_id AS CHAR) FROM information_schema./*M!100600 innodb_sys_tables */ /*!80019 innodb_tables */ WHERE name = '{name}'"
    );
    server.execute_as_root(&[&text])[0].get::<String, _>(0).unwrap().parse().unwrap()
}

/// Returns the namespace's record and the record of its first worker ID.
fn records_at(url: &str) -> (Namespace, Record) {
    let reply = send(&mut *open(url).unwrap(), Operation::Read { first: 0 }).unwrap();
    let ReplyContent::Records(records) = reply.content else { panic!("expected records") };
    (reply.namespace.unwrap(), records[0].clone())
}

fn next_record(record: &Record) -> Record {
    Record { version: record.version + 1, ..record.clone() }
}

/// Returns a request that replaces the namespace's record and creates no other record.
fn put_namespace(old: &Namespace) -> Operation {
    let new = Namespace { version: old.version + 1, ..old.clone() };
    Operation::PutNamespace { old: old.clone(), first: new.records, count: 1, new }
}

/// Returns the statements for a request that takes a single step.
fn start_steps(ask: Operation) -> (Steps, Known, Vec<Statement>) {
    let request = Request { number: 1, namespace: "orders/sno".into(), operation: ask };
    let (mut steps, mut known) = (Steps::new(Engine::Mysql, &request, Random(1)), Known::default());
    // The first step reads the version.
    steps.next_with(Outcome::default(), &mut known).unwrap();
    let version = vec![vec![vec![Value::Text("10.11".into())]]];
    let outcome = Outcome { rows: version, ..Outcome::default() };
    match steps.next_with(outcome, &mut known).unwrap() {
        Step::Run(statements) => (steps, known, statements),
        step @ Step::Done(_) => panic!("{step:?}"),
    }
}

#[test]
fn the_driver_passes_the_suite() {
    let Some(program) = program() else { return };
    let server = start(&program);
    conformance::check(&mut Mysql::open(&server.url()).unwrap());
    conformance::check_together(|| Mysql::open(&server.url()).unwrap());
    claim_concurrently(|| open(&server.url()).unwrap());
}

/// Unusual server defaults must not prevent the driver from creating and using its tables.
#[test]
fn the_driver_passes_the_suite_on_a_server_with_unusual_defaults() {
    let Some(program) = program() else { return };
    let server = MysqlServer::start_with_unusual_defaults(&program);
    conformance::check(&mut Mysql::open(&server.url()).unwrap());
}

/// A claim creates all records up to its worker ID in one recursive statement, regardless of the server's recursion limit.
#[test]
fn a_high_worker_id_is_granted() {
    let Some(program) = program() else { return };
    let server = start(&program);
    let options = Options::new("far", Shape::sno(0..=65_535).unwrap()).unwrap();
    let options = options.preferred_worker_id(65_000).unwrap();
    let ids =
        polyflake_lease::sno::Generator::with(&server.url(), options, Duration::from_secs(15));
    assert_eq!(ids.unwrap().lease().worker_id(), Some(65_000));
}

#[test]
fn tasks_use_the_store() {
    let Some(program) = program() else { return };
    let server = start(&program);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut store = AsyncMysql::open(&server.url()).await.unwrap();
        let request = Request { number: 1, namespace: "orders".into(), operation: Operation::List };
        assert_eq!(store.answer(&request).await.unwrap().content, ReplyContent::Names(Vec::new()));
        assert_error(
            open(&server.url()).and_then(|mut store| store.answer(&request)),
            ErrorKind::LeaseUnavailable,
        );
        // A dropped request ends the connection.
        drop(tokio::time::timeout(Duration::ZERO, store.answer(&request)).await);
        assert_error(store.answer(&request).await, ErrorKind::LeaseUnavailable);
    });
}

/// The error for a missing privilege contains the statements that an operator must run. Running these statements is
/// sufficient.
#[test]
fn a_user_with_process_select_insert_and_update_suffices() {
    let Some(program) = program() else { return };
    let server = MysqlServer::start_with_accounts(&program, &[]);
    let as_user = server.url().replace("root@", "orders@");
    server.execute_as_root(&["CREATE USER 'orders'@'%'"]);
    let assert_reports = |parts: &[&str]| {
        let message = claim_at(&as_user).unwrap_err().to_string();
        for part in parts {
            assert!(message.contains(part), "{part}: {message}");
        }
    };
    assert_reports(&["the server rejects the connection: Access denied for user"]);
    server.execute_as_root(&["GRANT SELECT ON app.* TO 'orders'@'%'"]);
    let lacks_process =
        "the user lacks a right: Access denied; you need (at least one of) the PROCESS privilege";
    if !server.is_mariadb() {
        // MySQL checks this privilege before it looks for the tables.
        assert_reports(&[lacks_process]);
        server.execute_as_root(&["GRANT PROCESS ON *.* TO 'orders'@'%'"]);
    }
    assert_reports(&[
        "the user lacks a right: CREATE command denied",
        "an operator runs the statements of mysql.sql; then for each user GRANT PROCESS ON *.* TO USER; GRANT SELECT, INSERT, UPDATE ON DATABASE.polyflake_namespaces TO USER; GRANT",
    ]);
    let run = |script: &str| {
        script
            .split(';')
            .filter(|it| it.contains('(') || it.contains("GRANT"))
            .for_each(|it| drop(server.execute_as_root(&[it])));
    };
    run(include_str!("../../sql/mysql.sql"));
    if server.is_mariadb() {
        assert_reports(&[lacks_process]);
    }
    server.execute_as_root(&["REVOKE SELECT ON app.* FROM 'orders'@'%'"]);
    run(include_str!("../../sql/mysql-user.sql"));
    conformance::check(&mut Mysql::open(&as_user).unwrap());
    for forbidden in
        ["DELETE FROM polyflake_leases", "DROP TABLE polyflake_leases", "CREATE TABLE a (b int)"]
    {
        assert!(server.execute_as_user("orders", &[forbidden]).is_err(), "{forbidden}");
    }
}

#[test]
fn servers_that_forget_writes_are_rejected_at_any_time() {
    let Some(program) = program() else { return };
    let server = MysqlServer::start(&program, &["--log-bin", "--sync-binlog=1"]);
    let mut store = Mysql::open(&server.url()).unwrap();
    for (setting, usual, wrong) in [
        ("innodb_flush_log_at_trx_commit", "1", "2"),
        ("innodb_flush_log_at_trx_commit", "1", "0"),
        ("sync_binlog", "1", "0"),
        ("sync_binlog", "1", "100"),
        ("read_only", "0", "1"),
    ] {
        claim(&mut store).unwrap();
        server.execute_as_root(&[&format!("SET GLOBAL {setting} = {wrong}")]);
        for result in [claim(&mut store), claim_at(&server.url())] {
            let error = assert_error(result, ErrorKind::StoreNotDurable);
            assert!(error.to_string().contains(&format!("{setting}=")), "{error}");
            // A read-only server may be a replica that is about to be promoted.
            assert_eq!(error.is_permanent(), setting != "read_only", "{error}");
        }
        server.execute_as_root(&[&format!("SET GLOBAL {setting} = {usual}")]);
        claim(&mut store).unwrap();
    }
    server.execute_as_root(&[
        "ALTER TABLE polyflake_namespaces ENGINE = MyISAM, MODIFY namespace VARCHAR(100)",
    ]);
    let error = assert_error(claim(&mut store), ErrorKind::StoreNotDurable);
    assert!(error.to_string().contains("InnoDB"), "{error}");
}

/// With the flush methods tested here, `InnoDB` does not wait until its log is on disk.
#[test]
fn servers_that_do_not_synchronize_files_are_rejected() {
    let Some(program) = program() else { return };
    for method in ["nosync", "littlesync"] {
        let server = MysqlServer::start(&program, &[&format!("--innodb-flush-method={method}")]);
        let error = assert_error(claim_at(&server.url()), ErrorKind::StoreNotDurable);
        assert!(error.to_string().contains(&format!("innodb_flush_method={method}")), "{error}");
        assert!(error.is_permanent(), "{error}");
    }
}

/// A server without a binary log does not need `sync_binlog`. A server without the doublewrite buffer is accepted if an
/// operator declares that torn pages cannot occur on its file system.
#[test]
fn an_operator_vouches_for_a_server_without_doublewrite() {
    let Some(program) = program() else { return };
    claim_at(&MysqlServer::start(&program, &["--skip-log-bin", "--sync-binlog=0"]).url()).unwrap();
    let server = MysqlServer::start(&program, &["--innodb-doublewrite=OFF"]);
    let error = assert_error(claim_at(&server.url()), ErrorKind::StoreNotDurable);
    let message = error.to_string();
    assert!(
        message.contains("innodb_doublewrite=") && message.ends_with(", and must be ON"),
        "{message}"
    );
    let declared = format!("{}&storage=durable", server.url());
    claim_at(&declared).unwrap();
    // The declaration covers no other setting.
    server.execute_as_root(&["SET GLOBAL innodb_flush_log_at_trx_commit = 2"]);
    let error = claim_at(&declared).unwrap_err();
    assert!(error.to_string().contains("innodb_flush_log_at_trx_commit=2"), "{error}");
    let vouched = MysqlServer::start_with_accounts(
        &program,
        &["--innodb-doublewrite=OFF", "--init-connect=SET @polyflake_doublewrite = 'unneeded'"],
    );
    vouched.execute_as_root(&[
        "CREATE USER 'orders'@'%'",
        "GRANT ALL ON app.* TO 'orders'@'%'",
        "GRANT PROCESS ON *.* TO 'orders'@'%'",
    ]);
    claim_at(&vouched.url().replace("root@", "orders@")).unwrap();
    // `init_connect` does not apply to users with the `CONNECTION_ADMIN` privilege.
    assert_error(claim_at(&vouched.url()), ErrorKind::StoreNotDurable);
}

// Platform: Amazon RDS for MySQL and MariaDB.
/// RDS turns the doublewrite buffer off on storage that writes whole pages. Its programs are in a folder of their own, so
/// the error can name the parameter that declares this.
#[test]
fn the_error_on_rds_names_the_declaration() {
    let Some(program) = program() else { return };
    let mut options = vec!["--innodb-doublewrite=OFF", "--basedir=/rdsdbbin/mysql"];
    if is_mariadb(&program) {
        // The script that runs MySQL already names such folders.
        options.push("--lc-messages-dir=/usr/share/mysql");
        options.push("--plugin-dir=/usr/lib/mysql/plugin");
        options.push("--character-sets-dir=/usr/share/mysql/charsets");
    }
    let server = MysqlServer::start(&program, &options);
    // A check of a server without tables rejects it as well.
    for rejected in [
        check(Some(&format!("{}&namespace=orders", server.url()))).unwrap_err(),
        assert_error(claim_at(&server.url()), ErrorKind::StoreNotDurable),
    ] {
        assert!(rejected.to_string().contains("add `storage=durable` to the URL"), "{rejected}");
    }
    claim_at(&format!("{}&storage=durable", server.url())).unwrap();
}

/// A reader of Aurora reports this setting. It can become the writer.
#[test]
fn a_server_whose_storage_is_read_only_is_rejected() {
    let Some(program) = program() else { return };
    let mut server = start(&program);
    claim_at(&server.url()).unwrap();
    server.stop();
    server.launch_with(&["--innodb-read-only"]);
    let error = assert_error(claim_at(&server.url()), ErrorKind::StoreNotDurable);
    assert!(error.to_string().contains("innodb_read_only=1"), "{error}");
    assert!(!error.is_permanent(), "{error}");
}

/// Returns the store's name, read without the driver.
fn expected_name(server: &MysqlServer) -> String {
    let table = table_id(server, "app/polyflake_leases");
    let text = if server.is_mariadb() {
        format!(
            "SELECT CONCAT('mariadb:', @@server_id, ':{table}:', TIMESTAMPDIFF(MICROSECOND, '1970-01-01', row_start)) FROM polyflake_store"
        )
    } else {
        format!("SELECT CONCAT('mysql:', @@server_uuid, ':{table}')")
    };
    server.execute_as_root(&["SET GLOBAL time_zone = '+00:00'"]);
    server.execute_as_root(&[&text])[0].get(0).unwrap()
}

/// A store's name contains the server's ID and the table's ID. A copied server has the same IDs unless its server ID is
/// changed.
#[test]
fn different_servers_and_tables_are_different_stores() {
    let Some(program) = program() else { return };
    let mut server = MysqlServer::start(&program, &["--server-id=7"]);
    claim_at(&server.url()).unwrap();
    let first = store_name(&server.url());
    assert_eq!(first, expected_name(&server));
    server.stop();
    let copy = server.copy(8);
    let copied = store_name(&copy.url());
    assert_eq!(copied, expected_name(&copy));
    assert_ne!(copied, first);
    assert_error(claim_at(&copy.url()), ErrorKind::StoreChanged);
    if server.is_mariadb() {
        assert_eq!(
            store_name(&server.copy(7).url()),
            first,
            "a copy with the same ID is not detected"
        );
    }
    server.launch();
    assert_eq!(store_name(&server.url()), first);
    claim_at(&server.url()).unwrap();
    server.execute_as_root(&["OPTIMIZE TABLE polyflake_leases"]);
    let optimized = store_name(&server.url());
    assert_eq!(optimized, expected_name(&server));
    assert_ne!(optimized, first);
    assert_error(claim_at(&server.url()), ErrorKind::StoreChanged);
}

#[test]
fn a_restored_dump_is_another_store() {
    let Some(program) = program() else { return };
    let server = start(&program);
    claim_at(&server.url()).unwrap();
    let name = store_name(&server.url());
    // MySQL rejects a dump that contains the server's own transaction IDs.
    let options: &[&str] = if server.is_mariadb() { &[] } else { &["--set-gtid-purged=OFF"] };
    let dump = server.dump(options);
    let new = start(&program);
    for server in [new, server] {
        server.restore(&dump);
        assert_ne!(store_name(&server.url()), name);
        assert_error(claim_at(&server.url()), ErrorKind::StoreChanged);
    }
}

/// In `MariaDB`, a restored dump is a different store even if the new server has the same `server_id` and assigns the same
/// ID to the table.
#[test]
fn a_dump_with_the_same_ids_is_another_store_in_mariadb() {
    let Some(program) = program() else { return };
    let server = start(&program);
    if !server.is_mariadb() {
        return;
    }
    server.execute_as_root(&["CREATE DATABASE other"]);
    for name in ["a", "b", "c", "d"] {
        server.execute_as_root(&[&format!("CREATE TABLE other.{name} (i int) ENGINE=InnoDB")]);
    }
    claim_at(&server.url()).unwrap();
    let (name, table) = (store_name(&server.url()), table_id(&server, "app/polyflake_leases"));
    let dump = server.dump(&[]);
    let new = start_before_table(&program, table);
    new.restore(&dump);
    assert_eq!(table_id(&new, "app/polyflake_leases"), table);
    assert_ne!(store_name(&new.url()), name);
    assert_error(claim_at(&new.url()), ErrorKind::StoreChanged);
    // The original store still has its name. If the rows of a dump are then loaded into its tables, the tables become a
    // different store, too.
    assert_eq!(store_name(&server.url()), name);
    server.restore(&server.dump(&["--no-create-info", "--replace"]));
    assert_eq!(table_id(&server, "app/polyflake_leases"), table);
    assert_error(claim_at(&server.url()), ErrorKind::StoreChanged);
}

/// Starts a server whose next table has the given ID.
fn start_before_table(program: &Path, table: u64) -> MysqlServer {
    let server = start(program);
    server.execute_as_root(&["CREATE DATABASE other"]);
    for other in 0..50 {
        server.execute_as_root(&[&format!("CREATE TABLE other.t{other} (i int) ENGINE=InnoDB")]);
        if table_id(&server, &format!("other/t{other}")) + 1 == table {
            break;
        }
    }
    server
}

/// The history contains the insertion time of the row that identifies the store.
#[test]
fn a_dump_with_its_history_needs_a_report_in_mariadb() {
    let Some(program) = program() else { return };
    let server = start(&program);
    if !server.is_mariadb() {
        return;
    }
    server.execute_as_root(&["CREATE DATABASE other", "CREATE TABLE other.a (i int)"]);
    claim_at(&server.url()).unwrap();
    let (name, dump) = (store_name(&server.url()), server.dump(&["--dump-history"]));
    let unknown = claim_at(&server.url()).unwrap();
    let new = start_before_table(&program, table_id(&server, "app/polyflake_leases"));
    new.restore(&dump);
    assert_eq!(store_name(&new.url()), name);
    assert_report_starts_quiet_time(&new, unknown.end());
}

/// The tables keep their IDs and rows, so an operator must report that another store had their names meanwhile.
#[test]
fn tables_that_are_renamed_away_and_back_need_a_report() {
    let Some(program) = program() else { return };
    let server = start(&program);
    claim_at(&server.url()).unwrap();
    let name = store_name(&server.url());
    let tables = ["polyflake_leases", "polyflake_namespaces", "polyflake_store"];
    let move_tables = |from: &str, to: &str| {
        let moves = tables.map(|table| format!("{from}.{table} TO {to}.{table}")).join(", ");
        server.execute_as_root(&[&format!("RENAME TABLE {moves}")]);
    };
    server.execute_as_root(&["CREATE DATABASE other"]);
    move_tables("app", "other");
    let unknown = claim_at(&server.url()).unwrap();
    server.execute_as_root(&[&format!("DROP TABLE {}", tables.join(", "))]);
    move_tables("other", "app");
    assert_eq!(store_name(&server.url()), name);
    assert_report_starts_quiet_time(&server, unknown.end());
}

/// The log sets the time of each statement, and a new server assigns the same `server_id` and the same table IDs.
#[test]
fn a_replayed_binary_log_needs_a_report_in_mariadb() {
    let Some(program) = program() else { return };
    let options = ["--log-bin=log", "--binlog-format=ROW", "--sync-binlog=1"];
    let server = MysqlServer::start(&program, &options);
    if !server.is_mariadb() {
        return;
    }
    claim_at(&server.url()).unwrap();
    let (name, log) = (store_name(&server.url()), server.read_binary_log());
    let unknown = claim_at(&server.url()).unwrap();
    let new = start(&program);
    new.execute_as_root(&["DROP DATABASE app"]);
    new.replay(&log);
    assert_eq!(store_name(&new.url()), name);
    assert_report_starts_quiet_time(&new, unknown.end());
}

/// Asserts that a server grants worker IDs until an operator reports that it was restored.
#[track_caller]
fn assert_report_starts_quiet_time(server: &MysqlServer, after: u64) {
    claim_at(&server.url()).unwrap();
    let told = Operator::of_store(&server.url()).unwrap().restored(None).unwrap();
    assert!(told[0].quiet_until > after);
    assert_error(claim_at(&server.url()), ErrorKind::StoreChanged);
}

#[test]
fn a_restart_keeps_the_name() {
    let Some(program) = program() else { return };
    let mut server = start(&program);
    claim_at(&server.url()).unwrap();
    let name = store_name(&server.url());
    server.stop();
    server.launch();
    assert_eq!(store_name(&server.url()), name);
    server.kill();
    server.launch();
    assert_eq!(store_name(&server.url()), name);
    server.execute_as_root(&["SET GLOBAL time_zone = '+05:00'"]);
    assert_eq!(store_name(&server.url()), name);
}

#[test]
fn a_store_without_its_identifying_row_has_no_name_in_mariadb() {
    let Some(program) = program() else { return };
    let server = start(&program);
    if !server.is_mariadb() {
        return;
    }
    claim_at(&server.url()).unwrap();
    let name = store_name(&server.url());
    server.execute_as_root(&["DELETE FROM polyflake_store"]);
    let result = Operator::open(&server.url(), "orders/sno").and_then(|mut it| it.status());
    assert_error(result, ErrorKind::LeaseUnavailable);
    assert_error(claim_at(&server.url()), ErrorKind::StoreChanged);
    assert_ne!(store_name(&server.url()), name);
}

/// Finding a row before an update does not prove that the update changed it, so the driver must also check the row's values
/// after the update.
#[test]
fn a_swap_that_changes_nothing_is_not_done() {
    let Some(program) = program() else { return };
    let server = start(&program);
    claim_at(&server.url()).unwrap();
    let (namespace, old) = records_at(&server.url());
    for table in ["leases", "namespaces"] {
        server.execute_as_root(&[&format!(
            "CREATE TRIGGER keep_{table} BEFORE UPDATE ON polyflake_{table} FOR EACH ROW SET NEW.version = OLD.version"
        )]);
    }
    let mut store = Mysql::open(&server.url()).unwrap();
    let put = Operation::Put { new: next_record(&old), old: old.clone() };
    assert_eq!(send(&mut store, put).unwrap().content, ReplyContent::Differs(Some(old)));
    let found = send(&mut store, put_namespace(&namespace)).unwrap().content;
    assert_eq!(found, ReplyContent::Differs(None));
    server.execute_as_root(&["DROP TRIGGER keep_namespaces"]);
    let found = send(&mut store, put_namespace(&namespace)).unwrap().content;
    assert_eq!(found, ReplyContent::Done);
}

/// Two clones may send the same swap at once. The second swap waits for the first, and then finds a record that differs
/// from the one that it would replace.
#[test]
fn only_one_of_two_equal_swaps_succeeds() {
    let Some(program) = program() else { return };
    let server = start(&program);
    claim_at(&server.url()).unwrap();
    let (_, old) = records_at(&server.url());
    let new = next_record(&old);
    let put = || Operation::Put { new: new.clone(), old: old.clone() };
    let (runtime, mut client) = server.connect();
    let (mut steps, mut known, statements) = start_steps(put());
    let mut outcomes: Vec<_> =
        statements[..6].iter().map(|it| runtime.block_on(run_in_mysql(&mut client, it))).collect();
    std::thread::scope(|scope| {
        let second =
            scope.spawn(|| send(&mut *open(&server.url()).unwrap(), put()).unwrap().content);
        let waiting = "SELECT 1 FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'";
        while server.execute_as_root(&[waiting]).is_empty() {
            assert!(!second.is_finished(), "expected a swap that waits");
            // The server rereads this table only if its last read is at least a tenth of a second old.
            std::thread::sleep(Duration::from_millis(200));
        }
        let rest = statements[6..].iter();
        outcomes.extend(rest.map(|it| runtime.block_on(run_in_mysql(&mut client, it))));
        assert_eq!(second.join().unwrap(), ReplyContent::Differs(Some(new.clone())));
    });
    let reply = steps.next_with(outcomes.into_iter().collect(), &mut known).unwrap();
    assert!(matches!(reply, Step::Run(_)), "expected the probe of a store, found {reply:?}");
    assert_eq!(records_at(&server.url()).1, new);
}

/// A pooler or proxy may discard a session's settings.
#[test]
fn transactions_of_another_isolation_level_are_rejected() {
    let Some(program) = program() else { return };
    let server = start(&program);
    claim_at(&server.url()).unwrap();
    let (_, old) = records_at(&server.url());
    let (runtime, mut client) = server.connect();
    let put = Operation::Put { new: next_record(&old), old: old.clone() };
    for (ask, level, other) in [
        (put, "READ-COMMITTED", "REPEATABLE-READ"),
        (Operation::Read { first: 0 }, "REPEATABLE-READ", "READ-COMMITTED"),
    ] {
        let (mut steps, mut known, mut statements) = start_steps(ask);
        assert!(statements[0].text.contains(level), "{}", statements[0].text);
        statements[0].text = statements[0].text.replace(level, other);
        let run = |it| runtime.block_on(run_in_mysql(&mut client, it));
        let outcome: Outcome = statements.iter().map(run).collect();
        let error = assert_error(steps.next_with(outcome, &mut known), ErrorKind::StoreNotDurable);
        let expected = format!("transaction_isolation={other}, and must be {level}");
        assert!(error.to_string().contains(&expected), "{error}");
    }
    assert_eq!(records_at(&server.url()).1, old);
}

#[test]
fn database_names_are_distinguished() {
    let Some(program) = program() else { return };
    let server = start(&program);
    server.execute_as_root(&[
        "CREATE DATABASE `my-app`",
        "CREATE DATABASE `My-App`",
        "CREATE DATABASE `a.b`",
    ]);
    let url = |name: &str| server.url().replace("/app", &format!("/{name}"));
    for name in ["my-app", "My-App"] {
        claim_at(&url(name)).unwrap();
    }
    assert_ne!(store_name(&url("my-app")), store_name(&url("My-App")));
    assert_error(claim_at(&url("a.b")), ErrorKind::OutOfRange);
    let error = assert_error(claim_at(&url("absent")), ErrorKind::LeaseUnavailable);
    assert!(error.to_string().contains("Unknown database 'absent'"), "{error}");
}

#[test]
fn a_killed_server_keeps_its_grants() {
    let Some(program) = program() else { return };
    let mut server = start(&program);
    let mut store = Mysql::open(&server.url()).unwrap();
    let first = claim(&mut store).unwrap();
    server.kill();
    assert_error(claim(&mut store), ErrorKind::LeaseUnavailable);
    assert_error(claim_at(&server.url()), ErrorKind::LeaseUnavailable);
    server.launch();
    assert_ne!(first.worker_ids(), claim_at(&server.url()).unwrap().worker_ids());
}

/// A connection that ends in the middle of a transaction leaves no changes and no locks.
#[test]
fn a_connection_that_breaks_in_a_transaction_changes_nothing() {
    let Some(program) = program() else { return };
    let server = start(&program);
    claim_at(&server.url()).unwrap();
    let mut store = Mysql::open(&server.url()).unwrap();
    let ReplyContent::Records(records) =
        send(&mut store, Operation::Find { limit: 8 }).unwrap().content
    else {
        panic!("expected records")
    };
    let old = records[0].clone();
    let new = Record { version: old.version + 1, ..old.clone() };
    let put = || Operation::Put { old: old.clone(), new: new.clone() };
    // The trigger closes the connection after the row has been changed.
    server.execute_as_root(&[
        "CREATE TRIGGER cut AFTER UPDATE ON polyflake_leases FOR EACH ROW KILL CONNECTION_ID()",
    ]);
    assert_error(send(&mut store, put()), ErrorKind::LeaseUnavailable);
    server.execute_as_root(&["DROP TRIGGER cut"]);
    let mut store = Mysql::open(&server.url()).unwrap();
    let read = send(&mut store, Operation::Read { first: old.first }).unwrap().content;
    assert_eq!(read, ReplyContent::Records(vec![old.clone()]));
    assert_eq!(send(&mut store, put()).unwrap().content, ReplyContent::Done);
    // A stale write is rejected even if its new record equals the stored record.
    let differs = ReplyContent::Differs(Some(new.clone()));
    assert_eq!(send(&mut store, put()).unwrap().content, differs);
}

/// Tests the lock timeouts. The tests run in parallel on separate servers, because they spend most of their time waiting.
#[test]
fn locks_time_out() {
    let Some(program) = program() else { return };
    std::thread::scope(|scope| {
        scope.spawn(|| a_long_held_lock_fails_the_request(&program));
        scope.spawn(|| a_lock_of_the_table_or_the_server_fails_the_request(&program));
        scope.spawn(|| a_silent_client_does_not_hold_its_locks_for_long(&program));
    });
}

/// If another connection holds a lock for too long, the request fails, but its connection remains usable.
fn a_long_held_lock_fails_the_request(program: &Path) {
    let server = start(program);
    let mut store = Mysql::open(&server.url()).unwrap();
    claim(&mut store).unwrap();
    std::thread::scope(|scope| {
        let lock = "SELECT * FROM polyflake_leases, polyflake_namespaces FOR UPDATE";
        let holder =
            scope.spawn(|| drop(server.execute_as_root(&["BEGIN", lock, "DO SLEEP(7)", "COMMIT"])));
        std::thread::sleep(Duration::from_secs(1));
        let error = assert_error(claim(&mut store), ErrorKind::LeaseUnavailable);
        assert!(error.to_string().contains("Lock wait timeout"), "{error}");
        holder.join().unwrap();
    });
    claim(&mut store).unwrap();
}

/// The time limit for table locks and global locks differs from the limit for row locks.
fn a_lock_of_the_table_or_the_server_fails_the_request(program: &Path) {
    let server = start(program);
    let mut store = Mysql::open(&server.url()).unwrap();
    claim(&mut store).unwrap();
    let (runtime, mut client) = server.connect();
    for lock in ["LOCK TABLES polyflake_leases READ", "FLUSH TABLES WITH READ LOCK"] {
        let to_statement = |text: &str| Statement { text: text.into(), values: Vec::new() };
        runtime.block_on(run_in_mysql(&mut client, &to_statement(lock))).unwrap();
        let since = Instant::now();
        let error = assert_error(claim(&mut store), ErrorKind::LeaseUnavailable);
        assert!(error.to_string().contains("Lock wait timeout"), "{error}");
        assert!(since.elapsed() < Duration::from_secs(12), "{:?}", since.elapsed());
        runtime.block_on(run_in_mysql(&mut client, &to_statement("UNLOCK TABLES"))).unwrap();
        claim(&mut store).unwrap();
    }
}

/// A client that is frozen between two statements keeps its locks only until the server ends its transaction. In `MariaDB`,
/// a request that waits for these locks succeeds.
fn a_silent_client_does_not_hold_its_locks_for_long(program: &Path) {
    let server = start(program);
    claim_at(&server.url()).unwrap();
    let (namespace, old) = records_at(&server.url());
    let (runtime, mut client) = server.connect();
    let (_, _, statements) = start_steps(put_namespace(&namespace));
    // These statements change the settings, begin the transaction, read the name and the state, and lock the namespace's
    // row.
    for statement in &statements[..5] {
        runtime.block_on(run_in_mysql(&mut client, statement)).unwrap();
    }
    let since = Instant::now();
    // A swap waits for the namespace's row, because the incarnation in it may be about to change.
    let put = || {
        let put = Operation::Put { new: next_record(&old), old: old.clone() };
        send(&mut *open(&server.url()).unwrap(), put)
    };
    let mut reply = put();
    if !server.is_mariadb() {
        while let Err(error) = reply {
            assert!(error.to_string().contains("Lock wait timeout"), "{error}");
            assert!(since.elapsed() < Duration::from_secs(30), "{:?}", since.elapsed());
            reply = put();
        }
    }
    assert_eq!(reply.unwrap().content, ReplyContent::Done);
    let waited = since.elapsed();
    assert!(waited > Duration::from_secs(1), "expected a wait, found {waited:?}");
}

/// Without the package `cryptography`, `PyMySQL` cannot authenticate with a `MySQL` server over an unencrypted connection.
#[test]
fn a_missing_pymysql_dependency_is_a_permanent_error() {
    let request = Request { number: 1, namespace: "orders".into(), operation: Operation::List };
    let mut steps = Steps::new(Engine::Mysql, &request, Random(1));
    steps.next_with(Outcome::default(), &mut Known::default()).unwrap();
    let message = "'cryptography' package is required for sha256_password or caching_sha2_password auth methods";
    let outcome = Outcome::failed(None, message);
    let error =
        assert_error(steps.next_with(outcome, &mut Known::default()), ErrorKind::LeaseUnavailable);
    assert!(error.is_permanent() && error.to_string().contains("pymysql[rsa]"), "{error}");
}

/// The tested settings cause permanent errors, because waiting does not resolve them.
#[test]
fn settings_that_prevent_every_transaction_are_permanent_errors() {
    let Some(program) = program() else { return };
    let options = ["--log-bin", "--sync-binlog=1", "--binlog-format=STATEMENT"];
    let server = MysqlServer::start(&program, &options);
    let error = assert_error(claim_at(&server.url()), ErrorKind::LeaseUnavailable);
    assert!(error.is_permanent() && error.to_string().contains("binlog_format"), "{error}");
}

#[test]
fn a_missing_table_is_damage() {
    let Some(program) = program() else { return };
    let server = start(&program);
    claim_at(&server.url()).unwrap();
    server.execute_as_root(&["DROP TABLE polyflake_namespaces"]);
    assert_error(claim_at(&server.url()), ErrorKind::StoreDamaged);
}

#[test]
fn checks_and_operators_create_nothing() {
    let Some(program) = program() else { return };
    let server = start(&program);
    let url = format!("{}&namespace=orders", server.url());
    let name = check(Some(&url)).unwrap();
    assert_eq!(name, format!("mysql://root@{}/app", server.socket().display()));
    assert!(server.execute_as_root(&["SHOW TABLES"]).is_empty());
    let result = Operator::open(&server.url(), "orders/sno").and_then(|mut it| it.status());
    let error = assert_error(result, ErrorKind::LeaseUnavailable);
    assert!(error.to_string().contains("the database has no tables of leases"), "{error}");
    claim_at(&server.url()).unwrap();
    assert_eq!(check(Some(&url)).unwrap(), name);
}

#[test]
fn manually_edited_rows_are_rejected() {
    let Some(program) = program() else { return };
    let server = start(&program);
    let mut store = Mysql::open(&server.url()).unwrap();
    claim(&mut store).unwrap();
    let changes = [
        ("polyflake_leases SET format = 2", ErrorKind::SchemaTooNew),
        ("polyflake_leases SET token = 'x'", ErrorKind::StoreDamaged),
        ("polyflake_leases SET version = -1", ErrorKind::StoreDamaged),
        ("polyflake_leases SET count = 3", ErrorKind::StoreDamaged),
        ("polyflake_namespaces SET records = 1000", ErrorKind::StoreDamaged),
        ("polyflake_namespaces SET digest = ''", ErrorKind::StoreDamaged),
    ];
    server.execute_as_root(&[
        "CREATE TABLE n AS SELECT * FROM polyflake_namespaces",
        "CREATE TABLE l AS SELECT * FROM polyflake_leases",
    ]);
    for (change, kind) in changes {
        server.execute_as_root(&[&format!("UPDATE {change}")]);
        assert_error(claim(&mut store), kind);
        server.execute_as_root(&[
            "REPLACE INTO polyflake_namespaces SELECT * FROM n",
            "REPLACE INTO polyflake_leases SELECT * FROM l",
        ]);
    }
    claim(&mut store).unwrap();
    server.execute_as_root(&["ALTER TABLE polyflake_leases DROP COLUMN holder"]);
    assert_error(claim(&mut store), ErrorKind::StoreDamaged);
}
