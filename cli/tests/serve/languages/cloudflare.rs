//! Tests the Durable Object of `polyflake/lease/cloudflare`, and Workers that lease from it, in workerd with on-disk
//! storage.

use std::{
    collections::HashSet,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
};

use polyflake_lease::{
    Http,
    protocol::{Operation, Reply, ReplyContent, Request, Store as _, conformance},
};
use serde_json::Value;

use super::LEASES_FOLDER;
use crate::service::{Answer, OTHER_TOKEN, TOKEN, connect, folder, head};

/// A running Worker, which is stopped on drop.
pub(crate) struct Worker {
    script: Child,
    workerd: String,
    pub(crate) port: u16,
}

impl Worker {
    /// Starts the Worker in examples/cloudflare. `restored` is the operator's note that the store was restored, or an empty
    /// string.
    pub(crate) fn start(disk: &Path, restored: &str) -> Self {
        let mut command = Command::new(format!("{LEASES_FOLDER}/node_modules/node/bin/node"));
        command.arg(format!("{LEASES_FOLDER}/cloudflare.mjs")).arg(disk).args(["0", restored]);
        let tokens = format!("orders {OTHER_TOKEN}\nconformance {TOKEN}");
        command.env("POLYFLAKE_TOKENS", tokens).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut script = command.spawn().expect("a program");
        let mut line = String::new();
        let mut output = BufReader::new(script.stdout.take().expect("a pipe"));
        output.read_line(&mut line).expect("a line");
        let (port, workerd) = line.trim().split_once(' ').expect("a port and a process");
        Self { script, workerd: workerd.to_owned(), port: port.parse().expect("a port") }
    }

    fn url(&self, token: &str) -> String {
        format!("http://{token}@127.0.0.1:{}", self.port)
    }

    fn post(&self, token: &str, more: &str, body: &str) -> Answer {
        Answer::exchange(&mut connect(self.port), &head(token, more, body.len()), body)
    }

    /// Returns the worker ID that an isolate has leased, and a generated ID.
    fn generate(&self) -> (u16, String) {
        let request = "GET / HTTP/1.1\r\nhost: ids\r\n\r\n";
        let answer = Answer::exchange(&mut connect(self.port), request, "");
        let found: Value = answer.body.parse().expect("JSON");
        let number = found["workerId"].as_u64().and_then(|number| number.try_into().ok());
        (number.expect("a worker ID"), found["id"].as_str().expect("an ID").to_owned())
    }

    fn kill(mut self) {
        let killed = Command::new("kill").args(["-KILL", &self.workerd]).status();
        assert!(killed.expect("kill").success());
        self.script.wait().expect("an end");
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        drop(self.script.stdin.take());
        let _ = self.script.wait();
    }
}

fn read_records(worker: &Worker) -> Reply {
    let operation = Operation::Read { first: 10 };
    let request = Request { number: 1, namespace: conformance::NAMESPACE.into(), operation };
    let mut store = Http::open(&worker.url(TOKEN)).expect("a store");
    store.answer(&request).expect("a reply")
}

#[test]
#[ignore = "`cargo xtask test lease-languages` builds the packages"]
fn a_durable_object_passes_the_suite_and_keeps_its_records() {
    let folder = folder();
    let worker = Worker::start(folder.path(), "");
    let url = worker.url(TOKEN);
    conformance::check(&mut Http::open(&url).expect("a store"));
    conformance::check_together(|| Http::open(&url).expect("a store"));
    let before = read_records(&worker);
    assert!(matches!(&before.content, ReplyContent::Records(records) if records.len() == 1));
    worker.kill();
    let worker = Worker::start(folder.path(), "");
    let after = read_records(&worker);
    assert_eq!(Reply { now: before.now, ..after }, before);
    drop(worker);
    let restored = read_records(&Worker::start(folder.path(), "2026-11-28"));
    assert_eq!(restored.store, format!("{}:2026-11-28", before.store));
}

#[test]
#[ignore = "`cargo xtask test lease-languages` builds the packages"]
fn workers_and_other_programs_lease_different_worker_ids_from_a_durable_object() {
    let folder = folder();
    let worker = Worker::start(folder.path(), "");
    let url = worker.url(OTHER_TOKEN);
    let make = || polyflake_lease::sno::Generator::new(&url, "orders").expect("a generator");
    let generators: Vec<_> = (0..3).map(|_| make()).collect();
    let mut numbers: HashSet<_> =
        generators.iter().map(|ids| ids.generate(1).expect("an ID").partition()).collect();
    let (number, first) = worker.generate();
    let ids: HashSet<_> = (0..50).map(|_| worker.generate()).collect();
    assert_eq!(ids.len(), 50);
    assert!(ids.iter().all(|(other, id)| *other == number && *id != first));
    numbers.insert(number);
    worker.kill();
    // The new isolate has no record of the old isolate's worker ID, which remains granted until the old isolate's lease
    // ends.
    numbers.insert(Worker::start(folder.path(), "").generate().0);
    assert_eq!(numbers.len(), 5);
}

#[test]
#[ignore = "`cargo xtask test lease-languages` builds the packages"]
fn a_durable_object_rejects_requests_with_the_codes_of_the_service() {
    let folder = folder();
    let worker = Worker::start(folder.path(), "");
    let list = r#"{"ask":"list","namespace":"conformance","number":1}"#;
    let named = list.replace("conformance", "other");
    let many = r#"{"ask":"find","limit":65,"namespace":"conformance","number":1}"#;
    let newer = r#"{"ask":"read","first":1,"more":1,"namespace":"conformance","number":1}"#;
    let long = "[".repeat(70_000);
    let lost = "polyflake-connection: 7\r\n";
    for (token, more, body, status, code) in [
        (TOKEN, "", "", 400, "invalid_request"),
        (TOKEN, "", "[]", 400, "invalid_request"),
        (
            TOKEN,
            "",
            r#"{"ask":"toString","namespace":"conformance","number":1}"#,
            400,
            "invalid_request",
        ),
        (TOKEN, "", newer, 400, "invalid_request"),
        (TOKEN, "", &format!("{list} "), 400, "invalid_request"),
        (TOKEN, "", many, 400, "out_of_range"),
        (TOKEN, "", &long, 413, "body_too_large"),
        (TOKEN, "", &named, 403, "forbidden"),
        (OTHER_TOKEN, "", list, 403, "forbidden"),
        ("conformance", "", list, 401, "unauthorized"),
        ("", "", list, 401, "unauthorized"),
        (TOKEN, lost, list, 409, "connection_lost"),
    ] {
        let answer = worker.post(token, more, body);
        assert_eq!((answer.status, &*answer.code()), (status, code), "{body:.80} {answer:?}");
    }
    let answer = worker.post(TOKEN, "polyflake-request: 7f\r\n", list);
    assert_eq!((answer.status, answer.header("polyflake-request")), (200, Some("7f")));
    let connection = answer.header("polyflake-connection").expect("a connection");
    let same = worker.post(TOKEN, &format!("polyflake-connection: {connection}\r\n"), list);
    assert_eq!(same.header("polyflake-connection"), Some(connection));
}

/// Runs the Node.js tests, which simulate lost replies because workerd itself never loses any.
#[test]
#[ignore = "`cargo xtask test lease-languages` builds the packages"]
fn leases_in_workers_renew_and_settle_during_requests() {
    let mut command = Command::new(format!("{LEASES_FOLDER}/node_modules/node/bin/node"));
    let output =
        command.args(["--test", "cloudflare.test.mjs"]).current_dir(LEASES_FOLDER).output();
    let output = output.expect("a program");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
