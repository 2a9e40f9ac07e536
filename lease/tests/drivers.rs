//! The suite for stores over Python's drivers: each is a process that does the commands of a host, a line of JSON each
//! (`tests/leases/driver.py`).
#![cfg(unix)]
#![allow(unreachable_pub, reason = "modules of one test")]

#[allow(dead_code, reason = "other tests use the rest")]
mod server;

use std::{
    env,
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use polyflake_lease::{
    Random, Reply, Request, Result, Store, conformance,
    steps::{Engine, Outcome, Statement, Steps},
};
use serde_json::{Value as Json, json};
use server::{Server, programs};

/// A driver and its process.
struct Driver {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    is_postgresql: bool,
}

impl Driver {
    fn new(client: &str, address: &str) -> Self {
        let python = env::var("POLYFLAKE_PYTHON").expect("expected POLYFLAKE_PYTHON");
        let program = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/leases/driver.py");
        let mut command = Command::new(python);
        command.args([program, client, address]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let (input, output) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        let is_postgresql = client != "sqlite3";
        Self { process, input, output: BufReader::new(output), is_postgresql }
    }

    fn ask(&mut self, command: &Json) -> Json {
        writeln!(self.input, "{command}").unwrap();
        let mut answer = String::new();
        self.output.read_line(&mut answer).unwrap();
        serde_json::from_str(&answer).unwrap()
    }

    fn run(&mut self, statements: &[Statement]) -> Outcome {
        let statements: Vec<_> = statements.iter().map(Json::from).collect();
        let command = json!({ "do": "run", "statements": statements, "within_ms": 10_000 });
        Outcome::from(&self.ask(&command))
    }
}

impl Store for Driver {
    fn answer(&mut self, request: &Request) -> Result<Reply> {
        let opened = self.ask(&json!({ "do": "open" }));
        let name = opened.get("opened").unwrap_or_else(|| panic!("{opened}"));
        let engine = match name.as_str() {
            Some(name) => Engine::Sqlite(name.to_owned()),
            None => Engine::Postgresql,
        };
        assert_eq!(engine == Engine::Postgresql, self.is_postgresql);
        let steps = Steps::new(engine, request, Random(fastrand::u128(1..)));
        let reply = steps.drive(|statements| self.run(statements));
        self.ask(&json!({ "do": "close" }));
        reply
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = (self.process.kill(), self.process.wait());
    }
}

fn check(client: &str, address: &str) {
    conformance::check(&mut Driver::new(client, address));
    conformance::check_together(|| Driver::new(client, address));
}

#[test]
#[ignore = "`cargo xtask test lease-languages` builds the package"]
fn drivers_in_other_languages_pass_the_suite_over_sqlite() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    check("sqlite3", folder.path().join("leases.db").to_str().unwrap());
}

#[test]
#[ignore = "`cargo xtask test lease-languages` builds the package"]
fn drivers_in_other_languages_pass_the_suite_over_postgresql() {
    let Some(programs) = programs() else { return };
    for client in ["psycopg", "asyncpg"] {
        check(client, &Server::start(&programs).url());
    }
}
