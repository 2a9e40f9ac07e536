//! Tests the drivers in Python and JavaScript. Each driver is a process that reads a host's commands as lines of JSON and
//! executes them (`tests/leases/driver.py`, `tests/leases/driver.mjs`). The drivers must pass the public conformance suite
//! and reproduce the recorded statements and outcomes.

use std::{
    env, fs,
    io::{BufRead, BufReader, Write},
    net::TcpListener,
    os::unix::fs::PermissionsExt,
    panic,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use polyflake_lease::{
    Error, Result,
    protocol::{
        Namespace, Operation, Random, Reply, Request, Store, conformance,
        steps::{Engine, Failure, Outcome, Rows, Schema, Statement, Steps, Value},
    },
};
use serde_json::{Value as Json, json};
use tempfile::TempDir;

use crate::{
    assert_mysql_conversation, assert_postgresql_conversation, assert_redis_conversation,
    assert_sqlite_conversation,
    certificates::write_certificates,
    mysql_server::{self, MysqlServer},
    proposed_namespace,
    redis_server::{self, RedisServer},
    server::{Server, programs},
};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/leases");

const REDIS_CLIENTS: [&str; 5] =
    ["redis-py", "ioredis", "ioredis client", "node-redis", "node-redis client"];

/// Returns the program that runs the driver for a database client, and the path of the driver's source file.
fn driver_program(client: &str) -> (String, &'static str) {
    match client {
        "sqlite3" | "psycopg" | "asyncpg" | "pymysql" | "redis-py" => {
            (env::var("POLYFLAKE_PYTHON").expect("expected POLYFLAKE_PYTHON"), "driver.py")
        }
        // This client is compiled for the version of Node that ran npm.
        "better-sqlite3" => ("node".to_owned(), "driver.mjs"),
        _ => (format!("{FOLDER}/node_modules/node/bin/node"), "driver.mjs"),
    }
}

/// A process that runs a driver.
struct Driver {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    client: String,
    /// A deliberate fault: a function that changes the outcome of the driver's statements.
    fault: fn(&mut Outcome),
}

impl Driver {
    fn new(client: &str, address: &str) -> Self {
        let (program, file) = driver_program(client);
        let mut command = Command::new(program);
        command.args([&format!("{FOLDER}/{file}"), client, address]);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        let client = client.to_owned();
        Self { process, input, output: BufReader::new(output), client, fault: |_| () }
    }

    fn send(&mut self, command: &Json) -> Json {
        writeln!(self.input, "{command}").unwrap();
        let mut answer = String::new();
        self.output.read_line(&mut answer).unwrap();
        serde_json::from_str(&answer).unwrap()
    }

    /// Opens a connection.
    fn open(&mut self) -> Engine {
        let opened = self.send(&json!({ "do": "open" }));
        let name = opened.get("opened").unwrap_or_else(|| panic!("{opened}"));
        let server = match &*self.client {
            "psycopg" | "asyncpg" | "pg" => Some(Engine::Postgresql(Schema::default())),
            "pymysql" | "mysql2" | "mysql2 pool" => Some(Engine::Mysql),
            client if client.contains("redis") => Some(Engine::Redis),
            _ => None,
        };
        assert_eq!(name.is_null(), server.is_some());
        server.unwrap_or_else(|| Engine::Sqlite(name.as_str().unwrap().into()))
    }

    fn run(&mut self, statements: &[Statement]) -> Outcome {
        let statements: Vec<_> = statements.iter().map(Json::from).collect();
        let command = json!({ "do": "run", "statements": statements, "within_ms": 10_000 });
        let mut outcome = Outcome::from(&self.send(&command));
        (self.fault)(&mut outcome);
        outcome
    }

    /// Runs a single statement, because the statements were also recorded one at a time.
    fn run_statement(&mut self, statement: &Statement) -> std::result::Result<Rows, Failure> {
        let mut outcome = self.run(std::slice::from_ref(statement));
        match outcome.failure {
            // The clients append lines to error messages, and Redis appends the digest of the script.
            Some(Failure { code, message }) => {
                let message = message.lines().next().unwrap_or_default();
                let message = message.split(" script: ").next().unwrap_or_default().into();
                Err(Failure { code, message })
            }
            None => Ok(outcome.rows.remove(0)),
        }
    }
}

impl Store for Driver {
    fn answer(&mut self, request: &Request) -> Result<Reply> {
        let engine = self.open();
        let steps = Steps::new(engine, request, Random(fastrand::u128(1..)));
        let reply = steps.drive(|statements| self.run(statements));
        self.send(&json!({ "do": "close" }));
        reply
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = (self.process.kill(), self.process.wait());
    }
}

fn check_driver(client: &str, address: &str) {
    conformance::check(&mut Driver::new(client, address));
    conformance::check_together(|| Driver::new(client, address));
}

/// Starts a driver and opens a connection whose statements are compared with the recording.
fn open_driver(client: &str, address: &str) -> Driver {
    let mut driver = Driver::new(client, address);
    driver.open();
    driver
}

#[test]
#[ignore = "`cargo xtask test lease-languages` builds the packages"]
fn drivers_in_other_languages_pass_the_suite_over_sqlite() {
    for client in ["sqlite3", "node:sqlite", "better-sqlite3"] {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let path = |name| folder.path().join(name).to_str().unwrap().to_owned();
        check_driver(client, &path("leases.db"));
        let mut driver = open_driver(client, &path("recorded.db"));
        assert_sqlite_conversation(&mut |statement| driver.run_statement(statement));
    }
}

#[test]
#[ignore = "`cargo xtask test lease-languages` builds the packages"]
fn drivers_in_other_languages_pass_the_suite_over_postgresql() {
    let Some(programs) = programs() else { return };
    for client in ["psycopg", "asyncpg", "pg"] {
        check_driver(client, &Server::start(&programs).url());
        let server = Server::start(&programs);
        let mut driver = open_driver(client, &server.url());
        assert_postgresql_conversation(&mut |statement| driver.run_statement(statement));
    }
}

#[test]
#[ignore = "`cargo xtask test lease-languages` builds the packages"]
fn drivers_in_other_languages_pass_the_suite_over_mariadb() {
    let Some(program) = mysql_server::program() else { return };
    for client in ["pymysql", "mysql2", "mysql2 pool"] {
        check_driver(client, &MysqlServer::start_with_unusual_defaults(&program).url());
        let server = MysqlServer::start(&program, &[]);
        let mut driver = open_driver(client, &server.url());
        assert_mysql_conversation(&mut |statement| driver.run_statement(statement));
    }
}

/// The drivers' user has only the documented permissions, although some clients send additional commands when they connect.
/// One ioredis client is configured to add a prefix to all keys, but must not add it to the lease's keys.
#[test]
#[ignore = "`cargo xtask test lease-languages` builds the packages"]
fn drivers_in_other_languages_pass_the_suite_over_redis() {
    let Some(program) = redis_server::program() else { return };
    for client in REDIS_CLIENTS {
        check_driver(client, &RedisServer::start(&program, &[]).create_user());
    }
}

#[test]
#[ignore = "`cargo xtask test lease-languages` builds the packages"]
fn drivers_in_other_languages_match_the_recorded_conversation_with_redis() {
    let Some(program) = redis_server::program() else { return };
    for client in REDIS_CLIENTS {
        let server = RedisServer::start(&program, &[]);
        let mut driver = open_driver(client, &server.url());
        assert_redis_conversation(&mut |statement| {
            let is_by_hand = statement.values.is_empty();
            if is_by_hand { server.run(statement) } else { driver.run_statement(statement) }
        });
    }
}

/// A driver must not send secrets to a server whose certificate is for another host, or is signed by an authority that the
/// URL does not name.
#[test]
#[ignore = "`cargo xtask test lease-languages` builds the packages"]
fn drivers_in_other_languages_verify_the_certificate_of_mariadb() {
    let Some(program) = mysql_server::program() else { return };
    let certified = |host| {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        write_certificates(folder.path(), host);
        let (server, port) = MysqlServer::start_with_tls(&program, folder.path());
        (folder, server, port)
    };
    let (roots, _server, port) = certified("localhost");
    let (other_roots, _other_server, other_port) = certified("db.example");
    let url = |port, roots: &TempDir| {
        let roots = roots.path().join("root.pem").to_str().unwrap().replace('/', "%2F");
        format!("mysql://lease:sesame@localhost:{port}/app?sslrootcert={roots}")
    };
    for client in ["pymysql", "mysql2"] {
        let mut driver = open_driver(client, &url(port, &roots));
        let query = Statement { text: "SHOW STATUS LIKE 'Ssl_cipher'".into(), values: Vec::new() };
        let rows = driver.run_statement(&query).unwrap();
        assert!(matches!(&rows[0][1], Value::Text(cipher) if !cipher.is_empty()), "{rows:?}");
        let unnamed = format!("mysql://lease:sesame@localhost:{port}/app?sslmode=require");
        for url in [url(port, &other_roots), url(other_port, &other_roots), unnamed] {
            let error = open_error(client, &url, Engine::Mysql);
            assert!(error.to_string().contains("is not trusted"), "{client}: {error}");
            assert!(error.is_permanent() && !error.to_string().contains("sesame"), "{error}");
        }
    }
}

/// Returns the error from an attempt to open a connection, which must fail.
fn open_error(client: &str, url: &str, engine: Engine) -> Error {
    let answer = Driver::new(client, url).send(&json!({ "do": "open" }));
    let failure = Outcome::from(&answer).failure;
    let request = Request { number: 1, namespace: "orders".into(), operation: Operation::List };
    let mut steps = Steps::new(engine, &request, Random(1));
    steps.next(Outcome::default()).unwrap();
    steps.next(Outcome { failure, ..Outcome::default() }).unwrap_err()
}

#[test]
#[ignore = "`cargo xtask test lease-languages` builds the packages"]
fn drivers_in_other_languages_verify_the_certificate_of_redis() {
    let Some(program) = redis_server::program() else { return };
    let certified = |host| {
        let folder = tempfile::tempdir().unwrap();
        write_certificates(folder.path(), host);
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let (certificate, key, port_text) =
            (path("server.crt"), path("server.key"), port.to_string());
        let files = ["--tls-cert-file", &certificate, "--tls-key-file", &key];
        let options = [&files[..], &["--tls-port", &port_text, "--tls-auth-clients", "no"]];
        let server = RedisServer::start(&program, &options.concat());
        (path("root.pem").replace('/', "%2F"), port, server, folder)
    };
    let (roots, port, ..) = &certified("localhost");
    let (other_roots, other_port, ..) = &certified("db.example");
    let url = |port: &u16, roots: &str| format!("rediss://localhost:{port}?sslrootcert={roots}");
    let request = Request { number: 1, namespace: "orders".into(), operation: Operation::List };
    for client in ["redis-py", "ioredis", "node-redis"] {
        Driver::new(client, &url(port, roots)).answer(&request).unwrap();
        let unnamed = format!("rediss://localhost:{port}");
        for url in [url(port, other_roots), url(other_port, other_roots), unnamed] {
            let error = open_error(client, &url, Engine::Redis);
            assert!(error.to_string().contains("is not trusted"), "{client}: {error}");
            assert!(error.is_permanent(), "{error}");
        }
    }
}

/// A commit that the replica may lack must not count as successful.
#[test]
#[ignore = "`cargo xtask test lease-languages` builds the packages"]
fn drivers_in_other_languages_treat_warnings_as_failures() {
    let Some(programs) = programs() else { return };
    for client in ["psycopg", "asyncpg", "pg"] {
        // The suite requires an empty store.
        let server = Server::start(&programs);
        let mut driver = Driver::new(client, &server.url());
        conformance::check(&mut driver);
        server.with_absent_replica(|| {
            let namespace = format!("warned-{client}");
            let ask =
                Operation::Open(Namespace { name: namespace.clone(), ..proposed_namespace(1) });
            let request = Request { number: 1, namespace, operation: ask };
            let cancelled = server.cancel_commit_during(|| driver.answer(&request));
            let reason = cancelled.expect_err("expected no answer").to_string();
            assert!(reason.contains("synchronous replication"), "{client}: {reason}");
        });
    }
}

#[test]
#[ignore = "`cargo xtask test lease-languages` builds the packages"]
fn faulty_drivers_in_other_languages_fail_the_suite() {
    let lose_rows: fn(&mut Outcome) =
        |found| found.rows.iter_mut().for_each(|rows| rows.truncate(1));
    let lose_integers: fn(&mut Outcome) = |found| {
        for value in found.rows.iter_mut().flatten().flatten() {
            if let Value::Integer(integer) = value {
                *value = Value::Text(integer.to_string());
            }
        }
    };
    for fault in [lose_rows, lose_integers] {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let path = folder.path().join("leases.db");
        let mut driver = Driver::new("sqlite3", path.to_str().unwrap());
        driver.fault = fault;
        let suite = panic::AssertUnwindSafe(|| conformance::check(&mut driver));
        assert!(panic::catch_unwind(suite).is_err());
    }
}
