//! The Python and JavaScript drivers: processes that execute the commands that these tests send (`tests/leases/driver.py`,
//! `driver.mjs`).

mod cloudflare;

use std::{
    env,
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use polyflake_lease::{
    Result,
    protocol::{
        Random, Reply, Request, Store, conformance,
        steps::{Engine, Outcome, Statement, Steps},
    },
};
use serde_json::{Value, json};

use crate::service::{Service, TOKEN};

const LEASES_FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/leases");

struct Driver {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    number: u128,
}

impl Driver {
    fn new(client: &str, url: &str) -> Self {
        let (program, file) = match client {
            "http" => {
                (env::var("POLYFLAKE_PYTHON").expect("expected POLYFLAKE_PYTHON"), "driver.py")
            }
            _ => (format!("{LEASES_FOLDER}/node_modules/node/bin/node"), "driver.mjs"),
        };
        let mut command = Command::new(program);
        command.args([&format!("{LEASES_FOLDER}/{file}"), client, url]);
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().expect("a program");
        let (input, output) = (process.stdin.take(), process.stdout.take());
        let (input, output) = (input.expect("a pipe"), BufReader::new(output.expect("a pipe")));
        Self { process, input, output, number: 0 }
    }

    fn send(&mut self, command: &Value) -> Value {
        writeln!(self.input, "{command}").expect("a reader");
        let mut answer = String::new();
        self.output.read_line(&mut answer).expect("an answer");
        answer.parse().expect("JSON")
    }

    fn run(&mut self, statements: &[Statement]) -> Outcome {
        let statements: Vec<_> = statements.iter().map(Value::from).collect();
        let command = json!({ "do": "run", "statements": statements, "within_ms": 10_000 });
        Outcome::from(&self.send(&command))
    }
}

impl Store for Driver {
    fn answer(&mut self, request: &Request) -> Result<Reply> {
        self.number += 1;
        let steps = Steps::new(Engine::Http, request, Random(self.number));
        // Like a holder, the driver does not keep an idle connection open.
        assert_eq!(self.send(&json!({ "do": "open" })), json!({ "opened": null }));
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

#[test]
#[ignore = "`cargo xtask test lease-languages` builds the packages"]
fn drivers_in_other_languages_pass_the_suite_over_http() {
    for client in ["http", "fetch"] {
        let service = Service::start(&["--rate", "1000000", "--store-connections", "3"]);
        let url = service.url(TOKEN);
        conformance::check(&mut Driver::new(client, &url));
        conformance::check_together(|| Driver::new(client, &url));
    }
}
