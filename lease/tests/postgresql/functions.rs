//! Functions of one round trip: the same answers as without them, the same refusals when they are called by hand, and their way in
//! and out of a schema.

use std::{thread, time::Duration};

use polyflake_lease::{
    Ask, ErrorKind, Operator, Postgresql, Request, Store, conformance, sno::Generator,
};
use postgres::{Client, NoTls, SimpleQueryMessage};

use crate::{
    assert_refused, claim, claim_at,
    server::{Server, programs},
};

const UP: &str = include_str!("../../sql/postgresql-functions.sql");
const DOWN: &str = include_str!("../../sql/postgresql-functions-down.sql");

/// The values of the first row.
fn row(client: &mut Client, statement: &str) -> Result<Vec<String>, String> {
    let found = client.simple_query(statement);
    let found = found.map_err(|error| error.as_db_error().unwrap().code().code().to_owned())?;
    let row = found.into_iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    });
    let row = row.expect("expected a row");
    Ok((0..row.len()).map(|at| row.get(at).unwrap_or_default().to_owned()).collect())
}

/// Calls of a function so far; the server counts them within a second or two.
fn calls(client: &mut Client, name: &str) -> u64 {
    let counted = "SELECT coalesce(sum(calls), 0) FROM pg_stat_user_functions WHERE funcname = ";
    row(client, &format!("{counted}'polyflake_{name}'")).unwrap()[0].parse().unwrap()
}

#[test]
fn a_store_uses_functions_where_they_are_and_does_without_them() {
    let Some(programs) = programs() else { return };
    let server = Server::start(&programs);
    server.by_hand(&["ALTER SYSTEM SET track_functions = 'all'", "SELECT pg_reload_conf()"]);
    conformance::check(&mut Postgresql::open(&server.url()).unwrap());
    Generator::new(&server.url(), "many").unwrap().close();
    let mut client = Client::connect(&server.url(), NoTls).unwrap();
    let used = ["claim", "renew", "release", "status"];
    let is_counted = (0..100).any(|_| {
        thread::sleep(Duration::from_millis(100));
        used.iter().all(|name| calls(&mut client, name) > 0)
    });
    assert!(is_counted, "{:?}", used.map(|name| calls(&mut client, name)));
    let mut open = Postgresql::open(&server.url()).unwrap();
    for (code, kind) in [("PF001", ErrorKind::StoreNotDurable), ("PF002", ErrorKind::StoreDamaged)]
    {
        server.by_hand(&[&format!(
            "CREATE OR REPLACE FUNCTION polyflake_store(OUT reply_now bigint, OUT reply_store text) LANGUAGE plpgsql
                AS $$ BEGIN RAISE EXCEPTION USING ERRCODE = '{code}', MESSAGE = 'for the test'; END $$"
        )]);
        assert_refused(claim(&mut open), kind);
    }
    server.by_hand(&[DOWN, DOWN]);
    // A store that was open when they went is told so, as by any failure, and its holder opens another.
    assert_refused(claim(&mut open), ErrorKind::LeaseUnavailable);
    server.by_hand(&["TRUNCATE polyflake_leases, polyflake_namespaces"]);
    conformance::check(&mut Postgresql::open(&server.url()).unwrap());
    claim_at(&server.url()).unwrap();
    // Those of another version are left alone.
    server.by_hand(&[
        UP,
        UP,
        "CREATE OR REPLACE FUNCTION polyflake_functions() RETURNS bigint LANGUAGE sql AS 'SELECT 2::bigint'",
        "CREATE OR REPLACE FUNCTION polyflake_store(OUT reply_now bigint, OUT reply_store text)
            LANGUAGE sql AS 'SELECT 0::bigint, ''x'''",
        "TRUNCATE polyflake_leases, polyflake_namespaces",
    ]);
    conformance::check(&mut Postgresql::open(&server.url()).unwrap());
    server.by_hand(&[UP]);
    claim_at(&server.url()).unwrap();
}

#[test]
fn functions_that_are_called_by_hand_keep_the_rules() {
    let Some(programs) = programs() else { return };
    let server = Server::start(&programs);
    claim_at(&server.url()).unwrap();
    let mut client = Client::connect(&server.url(), NoTls).unwrap();
    let fields = "first, version, token, incarnation, start, granted_until, holder";
    let held = row(&mut client, &format!("SELECT {fields} FROM polyflake_leases")).unwrap();
    let [first, version, token, incarnation, start, end, holder] = held.try_into().unwrap();
    let (start, end): (i64, i64) = (start.parse().unwrap(), end.parse().unwrap());
    let read = format!("'orders', {first}, {version}, '{token}', '{incarnation}'");
    let mut call = |what: &str, rest: &str| {
        let done = "SELECT reply_done, (reply_record).version, (reply_record).granted_until";
        row(&mut client, &format!("{done} FROM polyflake_{what}({read}, {rest})"))
    };
    let other = "0123456789abcdef0123456789abcdef";
    let claim = |start: i64, end: i64, token: &str| {
        format!("{start}, {end}, '{token}', '{incarnation}', '{holder}'")
    };
    let refused = Err("PF002".to_owned());
    assert_eq!(call("claim", &claim(end - 4, end + 4000, other)), refused, "before the last end");
    assert_eq!(call("claim", &claim(end, end + 4000, &token)), refused, "the same token");
    assert_eq!(call("claim", &claim(end, end - 4, other)), refused, "an end before the start");
    assert_eq!(call("renew", &format!("{start}, {}, '{holder}'", end - 4)), refused, "earlier");
    assert_eq!(call("renew", &format!("{}, {end}, '{holder}'", start + 4)), refused, "a start");
    assert_eq!(call("renew", &format!("{start}, {end}, 'x'")), refused, "a holder");
    assert_eq!(call("release", &format!("{start}, {}, '{holder}'", start - 4)), refused, "early");
    assert_eq!(call("release", &format!("{start}, {}, '{holder}'", end + 4)), refused, "later");
    let held_by =
        |holder: &str| format!("{end}, {}, '{other}', '{incarnation}', '{holder}'", end + 4000);
    for (wrong, what) in [
        (claim(end, end + 4000, "x"), "a short token"),
        (claim(end, end + 4000, &other.to_uppercase()), "a token in upper case"),
        (held_by(&"x".repeat(201)), "a long holder"),
        (held_by("a\tb"), "a control character"),
        (claim(end, end * 1000, other), "microseconds"),
        (claim(end, end + 3_600_000 * 3, other), "an end after the longest lease"),
        (claim(end, 9_007_199_254_740_991, other), "the end of time"),
    ] {
        assert_eq!(call("claim", &wrong), refused, "{what}");
    }
    let late = format!("{start}, {}, '{holder}'", end + 3_600_000);
    assert_eq!(call("renew", &late), refused, "an end after the longest lease");
    let done =
        |version: u64, end: i64| Ok(vec!["t".to_owned(), version.to_string(), end.to_string()]);
    let stale =
        |version: u64, end: i64| Ok(vec!["f".to_owned(), version.to_string(), end.to_string()]);
    let version: u64 = version.parse().unwrap();
    let renewal = format!("{start}, {}, '{holder}'", end + 4000);
    assert_eq!(call("renew", &renewal), done(version + 1, end + 4000));
    assert_eq!(call("renew", &renewal), stale(version + 1, end + 4000), "doubled: as it is stored");
    assert_eq!(
        call("release", &format!("{start}, {start}, '{holder}'")),
        stale(version + 1, end + 4000)
    );
    let read = format!("'orders', {first}, {}, '{token}', '{incarnation}'", version + 1);
    let release =
        format!("SELECT reply_done FROM polyflake_release({read}, {start}, {start}, '{holder}')");
    assert_eq!(row(&mut client, &release), Ok(vec!["t".to_owned()]));
    assert_eq!(row(&mut client, &release), Ok(vec!["f".to_owned()]));
    let status =
        "SELECT records, granted, reserved, free, next_end IS NULL FROM polyflake_status('orders')";
    assert_eq!(row(&mut client, status).unwrap(), ["1", "0", "0", "1", "t"]);
    let none = "SELECT records, (reply_namespace).version IS NULL FROM polyflake_status('others')";
    assert_eq!(row(&mut client, none).unwrap(), ["0", "t"]);
}

#[test]
fn functions_are_durable_and_find_their_tables_whatever_the_caller_says() {
    let Some(programs) = programs() else { return };
    let server = Server::start(&programs);
    claim_at(&server.url()).unwrap();
    let mut client = Client::connect(&server.url(), NoTls).unwrap();
    client
        .batch_execute("SET synchronous_commit = off; BEGIN; SELECT * FROM polyflake_store()")
        .unwrap();
    assert_eq!(row(&mut client, "SHOW synchronous_commit").unwrap(), ["on"]);
    client
        .batch_execute(
            "ROLLBACK; CREATE SCHEMA other; SET search_path = other, public;
            CREATE TABLE polyflake_leases (LIKE public.polyflake_leases);
            CREATE TEMPORARY TABLE polyflake_namespaces (LIKE public.polyflake_namespaces)",
        )
        .unwrap();
    let status = "SELECT records, (reply_namespace).records FROM public.polyflake_status('orders')";
    assert_eq!(row(&mut client, status).unwrap(), ["1", "1"]);
    server.by_hand(&[
        "ALTER SYSTEM SET full_page_writes = off",
        "SELECT pg_reload_conf()",
        "SELECT pg_sleep(0.5)",
    ]);
    assert_eq!(row(&mut client, status), Err("PF001".to_owned()));
}

/// In the quiet time after a restore nothing is claimed, and operators may still evict and reserve.
#[test]
fn operators_are_served_in_the_quiet_time() {
    let Some(programs) = programs() else { return };
    let server = Server::start(&programs);
    let grant = claim_at(&server.url()).unwrap();
    let mut operator = Operator::open(&server.url(), "orders").unwrap();
    operator.restored(None).unwrap();
    assert_refused(claim_at(&server.url()), ErrorKind::StoreChanged);
    operator.evict(*grant.numbers().start()).unwrap();
    operator.reserve(*grant.numbers().start(), "a test").unwrap();
    assert_eq!(operator.status().unwrap().reserved, 1);
}

/// A role that may not call the functions does without them; one that lacks rights to the tables is told which.
#[test]
fn a_role_needs_the_rights_that_an_operator_grants() {
    let Some(programs) = programs() else { return };
    let server = Server::start(&programs);
    let as_role = server.url().replace("lease@", "orders@");
    let of_role = |statements: &str| statements.replace(":\"role\"", "orders");
    let rights = of_role(include_str!("../../sql/postgresql-role.sql"));
    let calls = of_role(include_str!("../../sql/postgresql-functions-role.sql"));
    server.by_hand(&[
        "CREATE ROLE orders LOGIN",
        include_str!("../../sql/postgresql.sql"),
        UP,
        "REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA public FROM PUBLIC",
        &rights,
    ]);
    claim_at(&as_role).unwrap();
    server.by_hand(&[&calls]);
    // A process looks once at the store of a URL.
    let at = |seconds: u32| format!("{as_role}?connect_timeout={seconds}");
    claim_at(&at(1)).unwrap();
    let mut open = Postgresql::open(&at(1)).unwrap();
    server.by_hand(&["REVOKE EXECUTE ON FUNCTION polyflake_put FROM orders"]);
    let expected =
        "expected a role with the rights that `lease/sql` grants, found: permission denied for ";
    let told = claim(&mut open).unwrap_err().to_string();
    assert_eq!(told, format!("{expected}function polyflake_put"));
    // One that is opened now does not call them, whatever they would say.
    server.by_hand(&[
        "CREATE OR REPLACE FUNCTION polyflake_store(OUT reply_now bigint, OUT reply_store text) LANGUAGE plpgsql
            AS $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'PF001', MESSAGE = 'for the test'; END $$",
    ]);
    claim_at(&at(1)).unwrap();
    server.by_hand(&[&calls]);
    assert_refused(claim_at(&at(2)), ErrorKind::StoreNotDurable);
    server.by_hand(&["REVOKE UPDATE ON polyflake_leases FROM orders"]);
    let error = claim_at(&at(2)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LeaseUnavailable);
    assert_eq!(error.to_string(), format!("{expected}table polyflake_leases"));
}

/// A function that takes too long is given up by the server, too, though its caller may be gone.
#[test]
fn functions_have_the_limits_of_all_statements() {
    let Some(programs) = programs() else { return };
    let server = Server::start(&programs);
    claim_at(&server.url()).unwrap();
    server.by_hand(&[
        "CREATE TABLE seen (statement_timeout text, lock_timeout text, synchronous_commit text)",
        "CREATE OR REPLACE FUNCTION polyflake_functions() RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT 1::bigint'",
        "CREATE OR REPLACE FUNCTION polyflake_store(OUT reply_now bigint, OUT reply_store text) LANGUAGE plpgsql AS $$ BEGIN
            INSERT INTO seen VALUES (current_setting('statement_timeout'), current_setting('lock_timeout'), current_setting('synchronous_commit'));
            reply_now := 1763650000000; reply_store := 'postgresql:1:1';
        END $$",
        "ALTER ROLE lease SET default_transaction_isolation = 'serializable'",
    ]);
    let mut store = Postgresql::open(&server.url()).unwrap();
    let request = Request { number: 1, namespace: "orders".into(), ask: Ask::Survey };
    store.answer(&request).unwrap();
    let mut client = Client::connect(&server.url(), NoTls).unwrap();
    assert_eq!(row(&mut client, "SELECT * FROM seen").unwrap(), ["10s", "5s", "on"]);
}
