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
        Moment, Namespace, Operation, Random, Record, Reply, Request,
        hosted::Hosted,
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

/// The queries that read a server's version, and the version in the recordings.
const VERSION_QUERIES: [&str; 2] =
    ["SELECT version()", "SELECT CONCAT_WS(' ', @@version, @@version_comment)"];
const VERSION: &str = "a version";

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
                    if statements.iter().all(|it| VERSION_QUERIES.contains(&&*it.text)) {
                        outcome.rows = vec![vec![vec![Value::Text(VERSION.into())]]];
                    }
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

/// What servers report that are not PostgreSQL, MySQL or Redis, or that a lease cannot use: the platform, the engine of the
/// URL, and the answer to the first step.
fn rejected_servers() -> Vec<(&'static str, &'static str, Json)> {
    let row = |texts: &[&str]| json!({ "rows": [[texts]] });
    let reports =
        |setting, expected, found, system| row(&["rejected", setting, expected, found, system]);
    let message =
        "ERR This Redis command is not allowed from script script: f_1, on @user_script:16.";
    let failure = json!({ "rows": [], "failure": { "code": "ERR", "message": message } });
    vec![
        (
            "CockroachDB",
            "postgresql",
            row(&["CockroachDB CCL v23.1.11 (x86_64-pc-linux-gnu, built 2023/09/27)"]),
        ),
        (
            "YugabyteDB",
            "postgresql",
            row(&["PostgreSQL 11.2-YB-2.20.1.0-b0 on x86_64-pc-linux-gnu, 64-bit"]),
        ),
        (
            "Amazon Redshift",
            "postgresql",
            row(&["PostgreSQL 8.0.2 on i686-pc-linux-gnu, compiled by GCC, Redshift 1.0.61191"]),
        ),
        (
            "TiDB",
            "mysql",
            row(&[
                "8.0.11-TiDB-v7.5.1 TiDB Server (Apache License 2.0) Community Edition, MySQL 8.0 compatible",
            ]),
        ),
        ("Vitess, such as PlanetScale for MySQL", "mysql", row(&["8.0.30-Vitess Version: 18.0.0"])),
        (
            "Amazon ElastiCache",
            "redis",
            reports("connected_slaves", "0", "1", "Amazon ElastiCache"),
        ),
        (
            "Amazon MemoryDB",
            "redis",
            reports("redis_mode", "standalone", "cluster", "Amazon MemoryDB"),
        ),
        ("Upstash", "redis", reports("upstash_version", "none", "1.13.3", "")),
        ("Dragonfly", "redis", reports("dragonfly_version", "none", "df-v1.40.1", "Linux")),
        (
            "Redis Cloud, Redis Enterprise, or a server whose scripts may not run `INFO`",
            "redis",
            failure,
        ),
    ]
}

fn engine_of(name: &str) -> Engine {
    match name {
        "postgresql" => Engine::Postgresql(Schema::default()),
        "mysql" => Engine::Mysql,
        _ => Engine::Redis,
    }
}

/// A rejected server gets a single step, and the error names the server and what to use instead. A host in another language
/// receives the same error.
#[test]
fn rejected_servers_match_the_recorded_conversations() {
    let mut recorded = Vec::new();
    for (platform, engine, answer) in rejected_servers() {
        let request = Request { number: 1, namespace: "orders".into(), operation: Operation::List };
        let mut steps = Steps::new(engine_of(engine), &request, Random(1));
        let mut known = Known::default();
        let step = steps.next_with(Outcome::default(), &mut known).unwrap();
        let Step::Run(statements) = step else { panic!("{step:?}") };
        assert_eq!(statements.len(), 1);
        assert!(engine == "redis" || VERSION_QUERIES.contains(&&*statements[0].text));
        let error = steps.next_with(Outcome::from(&answer), &mut known).unwrap_err();
        let message = error.to_string();
        assert_eq!(error.code(), "store_not_durable", "{platform}: {message}");
        assert!(message.contains(platform), "{platform}: {message}");
        let settings = json!({ "store": engine, "namespace": "orders", "check": true });
        let mut host = Hosted::new(&settings.to_string()).unwrap();
        let mut next = |answer: &Json| {
            let now = Moment { wall_ms: START_MS, elapsed_ms: 0 };
            parse_json(&host.next(now, std::array::from_fn(|_| Random(1)), &answer.to_string()))
        };
        assert_eq!(next(&Json::Null)["do"], "open");
        assert_eq!(next(&json!({ "opened": null }))["do"], "run");
        let mut command = next(&answer);
        if command["do"] == "close" {
            command = next(&Json::Null);
        }
        let rejected = &command["rejected"];
        assert_eq!(rejected["code"], "store_not_durable", "{command}");
        let said = rejected["message"].as_str().unwrap();
        assert!(said.ends_with(&message), "{said}");
        recorded.push(json!({
            "platform": platform,
            "engine": engine,
            "answer": answer,
            "error": error.code(),
            "permanent": error.is_permanent(),
            "message": message,
        }));
    }
    assert_recorded("rejected", &Json::Array(recorded));
}

/// Returns the error for a server that fails on each statement except for those that read its version.
fn error_for(engine: &str, code: &str, message: &str) -> Error {
    let request = Request { number: 1, namespace: "orders".into(), operation: Operation::List };
    let steps = Steps::new(engine_of(engine), &request, Random(1));
    let failure = |text: &str| match text {
        "SELECT pg_catalog.aurora_version()" => Outcome::failed(Some("42883"), "no function"),
        _ => Outcome::failed(Some(code), message),
    };
    let run = |statement: &Statement| match &*statement.text {
        "ROLLBACK" => Ok(Vec::new()),
        text if VERSION_QUERIES.contains(&text) => Ok(vec![vec![Value::Text(VERSION.into())]]),
        text => Err(failure(text).failure.unwrap()),
    };
    steps.drive(|statements| statements.iter().map(run).collect()).unwrap_err()
}

/// Waiting does not cure a server that lacks a function, a table of its own, a variable or a syntax. The codes are listed
/// singly, because other codes of their classes occur during a restart or a restore.
#[test]
fn codes_of_servers_that_lack_a_feature_are_permanent() {
    for (engine, code, message, is_permanent) in [
        ("postgresql", "42883", "unknown function: pg_control_system()", true),
        ("postgresql", "42704", "unrecognized configuration parameter", true),
        ("postgresql", "42601", "syntax error at or near \"OFFSET\"", true),
        ("postgresql", "55P03", "canceling statement due to lock timeout", false),
        ("postgresql", "0A000", "cached plan must not change result type", false),
        ("postgresql", "55000", "recovery is in progress", false),
        ("postgresql", "42P01", "relation does not exist", false),
        ("mysql", "1064", "You have an error in your SQL syntax", true),
        ("mysql", "1109", "Unknown table 'innodb_tables' in information_schema", true),
        ("mysql", "1146", "Table 'information_schema.innodb_tables' doesn't exist", true),
        ("mysql", "1193", "Unknown system variable 'innodb_doublewrite'", true),
        ("mysql", "1235", "This version doesn't yet support it", true),
        ("mysql", "1305", "FUNCTION app.SYSDATE does not exist", true),
        ("mysql", "1203", "User already has more than 'max_user_connections'", false),
        ("mysql", "1226", "User has exceeded the 'max_questions' resource", false),
    ] {
        let error = error_for(engine, code, message);
        assert_eq!(error.is_permanent(), is_permanent, "{engine} {code}: {error}");
        assert_eq!(error.code(), "lease_unavailable", "{engine} {code}: {error}");
        assert!(error.to_string().contains(message), "{error}");
    }
}
