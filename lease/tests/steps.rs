//! Records conversations with databases in `tests/leases/steps.json`, and replays them. A conversation consists of the
//! statements that the steps send to a database, and the outcomes that the database returns. A driver in any language
//! passes the recorded outcomes to the steps, and expects the recorded statements and replies. This test compares the
//! recording with conversations between its own drivers and the real engines.
//!
//! `POLYFLAKE_RECORD=1 cargo test -p polyflake-lease --all-features --test steps` writes the file.
#![cfg(all(unix, feature = "std"))]

#[allow(unreachable_pub, reason = "modules of one test")]
mod certificates;
#[path = "steps/languages.rs"]
mod languages;
#[allow(dead_code, unreachable_pub, reason = "other tests use the rest")]
mod mysql_server;
#[allow(dead_code, unreachable_pub, reason = "other tests use the rest")]
mod redis_server;
#[allow(dead_code, unreachable_pub, reason = "other tests use the rest")]
mod server;
#[allow(dead_code, unreachable_pub, reason = "other tests use the rest")]
mod sql;

use std::{env, fs, sync::Mutex};

use mysql_server::MysqlServer;
use polyflake_lease::{
    Error, Shape,
    protocol::{
        Namespace, Operation, Random, Record, Reply, Request,
        steps::{Engine, Failure, Known, Outcome, Rows, Schema, Statement, Step, Steps, Value},
    },
};
use redis_server::RedisServer;
use serde_json::{Value as Json, json};
use server::{Server, programs};
use sql::{encode_outcome, run_in_mysql, run_in_postgresql, run_in_sqlite};

const STEPS_FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/leases/steps.json");

/// The time that the store reports in all recordings, in Unix milliseconds.
const NOW_MS: i64 = 1_763_650_000_000;
const START_MS: u64 = 1_763_650_000_000;

/// The store's name in the recording for `SQLite`, followed by its names in the recordings for servers.
const SQLITE_STORE: &str = "sqlite:1:2";
const POSTGRESQL_STORE: &str = "postgresql:1:00000001:1:1";
const MARIADB_STORE: &str = "mariadb:1:1:1";
const MYSQL_STORE: &str = "mysql:00000000-0000-0000-0000-000000000001:1";
const REDIS_STORE: &str = "volatile:redis:1111111111111111111111111111111111111111:2222222222222222222222222222222222222222";

/// The end of a waiting time, so far in the future that `Redis` accepts it whenever the test runs.
const DISTANT_FUTURE: u64 = 9_000_000_000_000;

/// Allows only one test at a time to write the recording.
static WRITE_LOCK: Mutex<()> = Mutex::new(());

/// Collects the statements and outcomes of a recording. A turn consists of the statements that the steps send together, and
/// the outcome of these statements. The text of each distinct statement is stored only once.
struct Recorder<'r> {
    engine: Engine,
    run: &'r mut dyn FnMut(&Statement) -> Result<Rows, Failure>,
    known: Known,
    texts: Vec<Json>,
    requests: Vec<Json>,
    number: u64,
}

/// An event on the connection while a request is processed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ConnectionEvent {
    Kept,
    /// The connection is lost before the reply to a commit arrives.
    Cut,
    /// The server's commit waits for a replica, and the wait is canceled.
    Warned,
}

impl Recorder<'_> {
    /// Processes a request, records its statements and outcomes, and returns the reply.
    fn send(&mut self, ask: Operation, line: ConnectionEvent) -> Result<Reply, Error> {
        self.number += 1;
        let request = Request { number: self.number, namespace: "orders".into(), operation: ask };
        let random = Random(u128::from(self.number));
        let mut steps = Steps::new(self.engine.clone(), &request, random);
        let (mut turns, mut outcome) = (Vec::new(), Outcome::default());
        let (key, end, reply) = loop {
            match steps.next_with(outcome, &mut self.known) {
                Ok(Step::Run(statements)) => {
                    outcome = statements.iter().map(|it| (self.run)(it)).collect();
                    outcome.rows.iter_mut().flatten().for_each(|row| set_time(row));
                    let is_last =
                        |it: &Statement| it.text == "COMMIT" || self.engine == Engine::Redis;
                    if line == ConnectionEvent::Cut && statements.iter().any(is_last) {
                        outcome = Outcome::failed(None, "the connection was closed");
                    }
                    if line == ConnectionEvent::Warned {
                        let notice = |code: &str, message: &str| Failure {
                            code: Some(code.into()),
                            message: message.into(),
                        };
                        outcome.notices = vec![
                            notice("42P07", "relation already exists, skipping"),
                            notice("01000", "canceling wait for synchronous replication"),
                        ];
                    }
                    turns.push(self.record_turn(&statements, &outcome));
                }
                Ok(Step::Done(reply)) => break ("reply", parse_json(&reply.to_json()), Ok(*reply)),
                Err(error) => break ("error", error.code().into(), Err(error)),
            }
        };
        let request = parse_json(&request.to_json());
        self.requests.push(
            json!({"random": format!("{random}"), "request": request, "turns": turns, key: end}),
        );
        reply
    }

    fn record_turn(&mut self, statements: &[Statement], outcome: &Outcome) -> Json {
        let statements: Json =
            statements.iter().map(|statement| self.encode_statement(statement)).collect();
        let mut turn = encode_outcome(outcome);
        turn["statements"] = statements;
        if outcome.failure.is_none() {
            turn.as_object_mut().unwrap().remove("failure");
        }
        turn
    }

    /// Encodes a statement as the index of its text followed by its values.
    fn encode_statement(&mut self, statement: &Statement) -> Json {
        let text = Json::from(&*statement.text);
        let known = self.texts.iter().position(|it| *it == text);
        let index = known.unwrap_or_else(|| {
            self.texts.push(text);
            self.texts.len() - 1
        });
        json!([index, statement.values.iter().map(Json::from).collect::<Json>()])
    }

    /// Runs a statement that is not part of the steps, such as an operator's change.
    fn run_manual_statement(&mut self, text: &str) {
        let statement = Statement { text: text.into(), values: Vec::new() };
        (self.run)(&statement).unwrap();
        self.requests.push(json!({"by_hand": text}));
    }
}

/// Replaces the time in a row that describes the store's state with a fixed time.
fn set_time(row: &mut [Value]) {
    if let [Value::Null, Value::Null | Value::Text(_), Value::Integer(now)] = row {
        *now = NOW_MS;
    }
    // The time in the script's reply, in seconds and microseconds.
    if let [Value::Text(_), Value::Text(seconds), Value::Text(micros), Value::Text(_), ..] = row {
        (*seconds, *micros) = ((NOW_MS / 1000).to_string(), (NOW_MS % 1000 * 1000).to_string());
    }
}

fn parse_json(text: &str) -> Json {
    serde_json::from_str(text).unwrap()
}

/// Returns a namespace's record as the first keeper proposes it.
fn proposed_namespace(incarnation: u128) -> Namespace {
    Namespace {
        name: "orders".into(),
        shape: Shape::sno(0..=1023).unwrap().to_json(),
        incarnation: Random(incarnation),
        store: String::new(),
        records: 0,
        longest_ms: 3_600_000,
        quiet_until: 0,
        previous_store: String::new(),
        previous_quiet_until: 0,
        version: 1,
    }
}

/// Records the statements that the steps send to an engine, and their outcomes. During the recording, a store is created,
/// worker IDs are claimed and renewed, writes arrive too late or receive no reply, and a column is dropped.
fn record_conversation(
    engine: Engine,
    run: &mut dyn FnMut(&Statement) -> Result<Rows, Failure>,
) -> Json {
    let known = Known::default();
    let place = if matches!(engine, Engine::Postgresql(_)) { "polyflake." } else { "" };
    let is_redis = engine == Engine::Redis;
    let (texts, requests, number) = (Vec::new(), Vec::new(), 0);
    let mut it = Recorder { engine, run, known, texts, requests, number };
    it.send(Operation::Read { first: 0 }, ConnectionEvent::Kept).unwrap();
    it.send(Operation::Open(proposed_namespace(11)), ConnectionEvent::Kept).unwrap();
    let old = it
        .send(Operation::Open(proposed_namespace(12)), ConnectionEvent::Kept)
        .unwrap()
        .namespace
        .unwrap();
    let quiet_until = if is_redis { DISTANT_FUTURE } else { 0 };
    let new = Namespace { records: 2, version: 2, quiet_until, ..old.clone() };
    let grow = Operation::PutNamespace { old, new: new.clone(), first: 0, count: 1 };
    it.send(grow.clone(), ConnectionEvent::Kept).unwrap();
    it.send(grow, ConnectionEvent::Kept).unwrap();
    it.send(Operation::Find { limit: 8 }, ConnectionEvent::Kept).unwrap();
    let fresh = Record::fresh(0, 1, new.incarnation);
    let claimed = Record {
        start: START_MS,
        granted_until: START_MS + 3_600_000,
        token: Random(13),
        version: 2,
        holder: "it's \"one\" $1 ?2".into(),
        ..fresh.clone()
    };
    let claim = Operation::Put { old: fresh, new: claimed.clone() };
    it.send(claim.clone(), ConnectionEvent::Kept).unwrap();
    it.send(claim, ConnectionEvent::Kept).unwrap();
    let renewed = Record { granted_until: START_MS + 7_200_000, version: 3, ..claimed.clone() };
    it.send(Operation::Put { old: claimed, new: renewed.clone() }, ConnectionEvent::Kept).unwrap();
    let later = Record { granted_until: START_MS + 10_800_000, version: 4, ..renewed.clone() };
    it.send(Operation::Put { old: renewed, new: later.clone() }, ConnectionEvent::Cut).unwrap_err();
    if !is_redis {
        let last = Record { version: 5, ..later.clone() };
        it.send(Operation::Put { old: later, new: last }, ConnectionEvent::Warned).unwrap_err();
    }
    it.send(Operation::Read { first: 0 }, ConnectionEvent::Kept).unwrap();
    it.send(Operation::Survey, ConnectionEvent::Kept).unwrap();
    if is_redis {
        it.send(Operation::List, ConnectionEvent::Kept).unwrap();
        it.run_manual_statement("SET polyflake:records:orders other");
    } else {
        it.run_manual_statement(&format!("ALTER TABLE {place}polyflake_leases DROP COLUMN holder"));
    }
    it.send(Operation::Read { first: 0 }, ConnectionEvent::Kept).unwrap_err();
    json!({"texts": it.texts, "conversation": it.requests})
}

/// Asserts that the statements and outcomes match the recording in the file, or writes them to the file if a new recording
/// is requested.
#[track_caller]
fn assert_recorded(engine: &str, found: &Json) {
    let _alone = WRITE_LOCK.lock().unwrap();
    let mut file = parse_json(&fs::read_to_string(STEPS_FILE).unwrap_or_else(|_| "{}".into()));
    if env::var_os("POLYFLAKE_RECORD").is_some() {
        file["about"] = "What steps of leases and databases tell each other: docs/leases.md, Drivers. A statement is the index of its text in `texts`, and its values. The outcome of a turn is its rows and its failure, if any. `by_hand` runs a statement between two requests. All requests share what is known of stores.".into();
        file[engine] = found.clone();
        fs::write(STEPS_FILE, format!("{}\n", format_json(&file, 0))).unwrap();
    }
    assert_eq!(&file[engine], found);
}

/// Formats JSON. At the outer levels, each object member and array item is on its own line.
fn format_json(value: &Json, depth: usize) -> String {
    let lines = |parts: Vec<String>, [open, close]: [char; 2]| {
        let (pad, end) = (" ".repeat(depth + 1), " ".repeat(depth));
        format!("{open}\n{pad}{}\n{end}{close}", parts.join(&format!(",\n{pad}")))
    };
    match value {
        Json::Object(members) if depth < 5 && !members.is_empty() => {
            let part = |(key, value): (&String, &Json)| {
                format!("{}: {}", json!(key), format_json(value, depth + 1))
            };
            lines(members.iter().map(part).collect(), ['{', '}'])
        }
        Json::Array(items) if depth < 6 && !items.is_empty() => {
            lines(items.iter().map(|item| format_json(item, depth + 1)).collect(), ['[', ']'])
        }
        other => other.to_string(),
    }
}

/// Asserts that the statements and outcomes for an empty `SQLite` file match the recording.
#[track_caller]
fn assert_sqlite_conversation(run: &mut dyn FnMut(&Statement) -> Result<Rows, Failure>) {
    let found = record_conversation(Engine::Sqlite(SQLITE_STORE.into()), run);
    assert_recorded("sqlite", &found);
}

/// Asserts that the statements and outcomes for an empty `PostgreSQL` server match the recording, regardless of the store's
/// name.
#[track_caller]
fn assert_postgresql_conversation(run: &mut dyn FnMut(&Statement) -> Result<Rows, Failure>) {
    let found = record_conversation(Engine::Postgresql(Schema::default()), run).to_string();
    let name = found.split('"').find(|text| text.starts_with("postgresql:")).unwrap().to_owned();
    assert_recorded("postgresql", &parse_json(&found.replace(&name, POSTGRESQL_STORE)));
}

/// Asserts that the statements and outcomes for an empty `MariaDB` or `MySQL` database match the recording, regardless of
/// the store's name.
#[track_caller]
fn assert_mysql_conversation(run: &mut dyn FnMut(&Statement) -> Result<Rows, Failure>) {
    let found = record_conversation(Engine::Mysql, run).to_string();
    let name_of = |server| found.split('"').find(|text| text.starts_with(server));
    let (server, name, recorded) = name_of("mariadb:")
        .map(|name| ("mariadb", name, MARIADB_STORE))
        .or_else(|| name_of("mysql:").map(|name| ("mysql", name, MYSQL_STORE)))
        .unwrap();
    let found = found.replace(&format!("\"{name}\""), &format!("\"{recorded}\""));
    assert_recorded(server, &parse_json(&found));
}

/// Asserts that the statements and outcomes for an empty `Redis` server match the recording, regardless of the server's
/// IDs.
#[track_caller]
fn assert_redis_conversation(run: &mut dyn FnMut(&Statement) -> Result<Rows, Failure>) {
    let found = record_conversation(Engine::Redis, run).to_string();
    let name = found.split('"').find(|text| text.starts_with("volatile:")).unwrap().to_owned();
    assert_recorded("redis", &parse_json(&found.replace(&name, REDIS_STORE)));
}

#[test]
fn redis_matches_the_recorded_conversation() {
    let Some(program) = redis_server::program() else { return };
    let server = RedisServer::start(&program, &[]);
    assert_redis_conversation(&mut |statement| server.run(statement));
}

#[test]
fn mariadb_matches_the_recorded_conversation() {
    let Some(program) = mysql_server::program() else { return };
    let server = MysqlServer::start(&program, &[]);
    let (runtime, mut client) = server.connect();
    assert_mysql_conversation(&mut |statement| {
        runtime.block_on(run_in_mysql(&mut client, statement))
    });
}

#[test]
fn sqlite_matches_the_recorded_conversation() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let connection = rusqlite::Connection::open(folder.path().join("leases.db")).unwrap();
    assert_sqlite_conversation(&mut |statement| run_in_sqlite(&connection, statement));
}

#[test]
fn postgresql_matches_the_recorded_conversation() {
    let Some(programs) = programs() else { return };
    let server = Server::start(&programs);
    let mut client = postgres::Client::connect(&server.url(), postgres::NoTls).unwrap();
    assert_postgresql_conversation(&mut |statement| run_in_postgresql(&mut client, statement));
}

/// Given the recorded outcomes, the steps must produce the recorded statements and replies. The bindings for each language
/// have the same test.
#[test]
fn recorded_outcomes_produce_the_recorded_statements_and_replies() {
    let file = parse_json(&fs::read_to_string(STEPS_FILE).unwrap());
    let postgresql = Engine::Postgresql(Schema::default());
    for (name, engine) in [
        ("sqlite", Engine::Sqlite(SQLITE_STORE.into())),
        ("postgresql", postgresql),
        ("mariadb", Engine::Mysql),
        ("mysql", Engine::Mysql),
        ("redis", Engine::Redis),
    ] {
        let (texts, mut known) = (file[name]["texts"].as_array().unwrap(), Known::default());
        let told = file[name]["conversation"].as_array().unwrap();
        assert!(told.len() > 10, "{name}");
        for entry in told.iter().filter(|entry| entry.get("request").is_some()) {
            let request = Request::from_json(&entry["request"].to_string()).unwrap();
            let random = Random::parse(entry["random"].as_str().unwrap()).unwrap();
            let mut steps = Steps::new(engine.clone(), &request, random);
            let mut outcome = Outcome::default();
            for turn in entry["turns"].as_array().unwrap() {
                let step = steps.next_with(outcome, &mut known).unwrap();
                let Step::Run(statements) = step else { panic!("{step:?}") };
                let said = statements.iter().map(Json::from);
                let expected = turn["statements"].as_array().unwrap().iter().map(|it| {
                    let index = usize::try_from(it[0].as_u64().unwrap()).unwrap();
                    json!([texts[index], it[1]])
                });
                assert_eq!(said.collect::<Json>(), expected.collect::<Json>());
                outcome = Outcome::from(turn);
            }
            let end = match steps.next_with(outcome, &mut known) {
                Ok(Step::Done(reply)) => ("reply", parse_json(&reply.to_json())),
                Ok(step) => panic!("expected an end, found {step:?}"),
                Err(error) => ("error", error.code().into()),
            };
            assert_eq!(entry[end.0], end.1, "{request:?}");
            if let Some(text) = entry.get("reply").map(Json::to_string) {
                assert_eq!(Reply::from_json(&text).unwrap().to_json(), text);
            }
        }
    }
}
