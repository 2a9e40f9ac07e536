//! Tests that all roles of a database find the store in the same schema.

use std::{
    fs,
    os::unix::{fs::chown, net::UnixStream, process::CommandExt},
    process::{Child, Command},
    thread,
    time::Duration,
};

use polyflake_lease::{ErrorKind, Operator, check, sno};

use crate::{
    assert_error, claim_at,
    server::{Server, programs, required::find_or_skip, server_user_id},
};

/// Returns the schemas that contain lease tables.
fn schemas_with_lease_tables(server: &Server) -> Vec<String> {
    let mut client = postgres::Client::connect(&server.url(), postgres::NoTls).unwrap();
    let found =
        "SELECT schemaname::text FROM pg_tables WHERE tablename = 'polyflake_leases' ORDER BY 1";
    client.query(found, &[]).unwrap().iter().map(|row| row.get(0)).collect()
}

/// Creates two services in one database. Each service has a role that may create tables, and a schema with the same name as
/// the role.
fn create_two_services(server: &Server) -> [String; 2] {
    ["svc_a", "svc_b"].map(|role| {
        let create = format!("CREATE ROLE {role} LOGIN; CREATE SCHEMA AUTHORIZATION {role}");
        let grant = format!("GRANT CREATE ON DATABASE postgres TO {role}");
        server.execute_as_admin(&[&create, &grant]);
        server.url().replace("lease@", &format!("{role}@"))
    })
}

#[test]
fn roles_and_search_paths_of_a_database_share_one_store() {
    let Some(programs) = programs() else { return };
    let server = Server::start(&programs);
    let [one, other] = create_two_services(&server);
    let first = claim_at(&one).unwrap();
    // The second role finds the first role's tables, but may not access them yet.
    let error = assert_error(claim_at(&other), ErrorKind::LeaseUnavailable);
    assert!(error.to_string().contains("GRANT USAGE ON SCHEMA"), "{error}");
    let rights = include_str!("../../sql/postgresql-role.sql");
    server.execute_as_admin(&[&rights.replace(":\"role\"", "svc_b")]);
    let second = claim_at(&other).unwrap();
    assert_ne!(first.worker_ids(), second.worker_ids());
    let mut worker_ids = vec![first.worker_ids(), second.worker_ids()];
    for path in ["svc_a", "svc_b,public", "pg_catalog", ""] {
        let url = format!("{}?options=-c%20search_path%3D{path}", server.url());
        let grant = claim_at(&url).unwrap();
        assert!(!worker_ids.contains(&grant.worker_ids()), "{path}: {:?}", grant.worker_ids());
        worker_ids.push(grant.worker_ids());
    }
    assert_eq!(schemas_with_lease_tables(&server), ["polyflake"]);
}

#[test]
fn a_second_store_requires_an_explicit_option() {
    let Some(programs) = programs() else { return };
    let server = Server::start(&programs);
    let first = claim_at(&server.url()).unwrap();
    let of = |parameters: &str| format!("{}?{parameters}", server.url());
    let error = assert_error(claim_at(&of("schema=Mine-2")), ErrorKind::LeaseUnavailable);
    let message = error.to_string();
    for expected in ["\"polyflake\"", "\"Mine-2\"", "`?schema=polyflake`", "`?create=second-store`"]
    {
        assert!(message.contains(expected), "{expected}: {message}");
    }
    assert_eq!(schemas_with_lease_tables(&server), ["polyflake"]);
    let second = claim_at(&of("schema=Mine-2&create=second-store")).unwrap();
    assert_eq!(first.worker_ids(), second.worker_ids(), "a store of its own");
    assert_eq!(schemas_with_lease_tables(&server), ["Mine-2", "polyflake"]);
    // From now on, both stores are in use, and neither store checks whether the other exists.
    for (parameters, worker_ids) in
        [("schema=Mine-2", 1..=1), ("", 1..=1), ("create=second-store", 2..=2)]
    {
        assert_eq!(claim_at(&of(parameters)).unwrap().worker_ids(), worker_ids, "{parameters}");
    }
    // A dropped store is not recreated while the second store exists.
    server.execute_as_admin(&["DROP SCHEMA polyflake CASCADE"]);
    assert_error(claim_at(&server.url()), ErrorKind::LeaseUnavailable);
    assert_eq!(schemas_with_lease_tables(&server), ["Mine-2"]);
}

/// A check creates no tables, even if the URL permits a second store.
#[test]
fn a_check_of_a_second_store_creates_nothing() {
    let Some(programs) = programs() else { return };
    let server = Server::start(&programs);
    let of = |parameters: &str| format!("{}?namespace=orders&{parameters}", server.url());
    check(Some(&of("create=second-store"))).unwrap();
    assert_eq!(schemas_with_lease_tables(&server), [""; 0]);
    claim_at(&server.url()).unwrap();
    check(Some(&of("schema=mine&create=second-store"))).unwrap();
    let error = check(Some(&of("schema=mine"))).unwrap_err();
    assert!(error.to_string().contains("`?create=second-store`"), "{error}");
    assert_eq!(schemas_with_lease_tables(&server), ["polyflake"]);
}

#[test]
fn unrelated_tables_do_not_affect_holders() {
    let Some(programs) = programs() else { return };
    let server = Server::start(&programs);
    let ids = sno::Generator::new(&server.url(), "mine").unwrap();
    server.execute_as_admin(&["CREATE TABLE public.polyflake_leases (a bigint)"]);
    ids.generate(0).unwrap();
    claim_at(&server.url()).unwrap();
    ids.close();
    // Another connection's temporary tables do not count as a store.
    let other = Server::start(&programs);
    let mut client = postgres::Client::connect(&other.url(), postgres::NoTls).unwrap();
    client.batch_execute("CREATE TEMPORARY TABLE polyflake_leases (a bigint)").unwrap();
    claim_at(&other.url()).unwrap();
}

/// The operator created the schema, and one role may create the tables in it.
#[test]
fn a_role_creates_tables_in_an_existing_schema() {
    let Some(programs) = programs() else { return };
    let server = Server::start(&programs);
    server
        .execute_as_admin(&["CREATE ROLE orders LOGIN", "CREATE SCHEMA ids AUTHORIZATION orders"]);
    let url = format!("{}?schema=ids", server.url().replace("lease@", "orders@"));
    claim_at(&url).unwrap();
    assert_eq!(schemas_with_lease_tables(&server), ["ids"]);
}

#[test]
fn an_operator_creates_nothing_and_reports_the_schema() {
    let Some(programs) = programs() else { return };
    let server = Server::start(&programs);
    let status = |url: &str| Operator::open(url, "orders/sno").and_then(|mut it| it.status());
    let error = assert_error(status(&server.url()), ErrorKind::LeaseUnavailable);
    let expected =
        "there are no tables of leases in the schema \"polyflake\"; the first lease creates them";
    assert_eq!(error.to_string(), expected);
    assert_eq!(schemas_with_lease_tables(&server), [""; 0]);
    let url = format!("{}?schema=ids", server.url());
    claim_at(&url).unwrap();
    let found = status(&url).unwrap();
    assert_eq!((found.schema.as_deref(), found.granted), (Some("ids"), 1));
}

#[test]
fn processes_that_start_together_create_one_store() {
    let Some(programs) = programs() else { return };
    let server = Server::start(&programs);
    let urls: Vec<_> =
        (0..8).map(|at| format!("{}?schema={}", server.url(), ["one", "two"][at % 2])).collect();
    let claims: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = urls.iter().map(|url| scope.spawn(|| claim_at(url).ok())).collect();
        threads.into_iter().filter_map(|it| it.join().unwrap()).collect()
    });
    assert_eq!(schemas_with_lease_tables(&server).len(), 1);
    assert_eq!(claims.len(), 4, "{claims:?}");
}

/// A connection pooler that may run each transaction on a different connection.
struct Pooler {
    process: Child,
    _folder: tempfile::TempDir,
    url: String,
}

impl Pooler {
    /// Starts the pooler, if `PgBouncer` is installed.
    fn start(server: &Server) -> Option<Self> {
        let program = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"]
            .into_iter()
            .find(|it| fs::exists(it).unwrap());
        let program = find_or_skip("PgBouncer", program)?;
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path().to_str().unwrap();
        let settings = format!(
            "[databases]\npostgres = host={} dbname=postgres user=lease pool_size=3\n[pgbouncer]\nlisten_port = 6543\n\
            unix_socket_dir = {here}\nauth_type = any\npool_mode = transaction\nlogfile = {here}/log\n",
            server.folder().display(),
        );
        fs::write(folder.path().join("pgbouncer.ini"), settings).unwrap();
        chown(folder.path(), server_user_id(), None).unwrap();
        let mut command = Command::new(program);
        command.args(["--quiet", "pgbouncer.ini"]).current_dir(folder.path());
        if let Some(user) = server_user_id() {
            command.uid(user);
        }
        let process = command.spawn().unwrap();
        // The socket file exists before the pooler listens, so only a successful connection shows that the pooler is ready.
        let socket = folder.path().join(".s.PGSQL.6543");
        for _ in 0..500 {
            if UnixStream::connect(&socket).is_ok() {
                break;
            }
            thread::sleep(Duration::from_millis(20));
        }
        let url = format!("postgresql://lease@{}:6543/postgres", here.replace('/', "%2F"));
        Some(Self { process, _folder: folder, url })
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        let _ = (self.process.kill(), self.process.wait());
    }
}

// Platform: Supabase.
#[test]
fn leases_work_through_a_transaction_pooler() {
    let Some(programs) = programs() else { return };
    let server = Server::start(&programs);
    let Some(pooler) = Pooler::start(&server) else { return };
    crate::claim_concurrently(|| polyflake_lease::Postgresql::open(&pooler.url).unwrap());
    assert_eq!(schemas_with_lease_tables(&server), ["polyflake"]);
    let error = claim_at(&format!("{}?options=-c%20work_mem%3D1MB", pooler.url)).unwrap_err();
    assert!(error.to_string().ends_with("leave them out of the URL"), "{error}");
    assert!(error.is_permanent(), "{error}");
    // Clients share the connections, so a search path that another program has set must not affect the lease.
    let mut client = postgres::Client::connect(&pooler.url, postgres::NoTls).unwrap();
    client.batch_execute("SET search_path = public").unwrap();
    let options =
        polyflake_lease::Options::new("mine", polyflake_lease::Shape::sno(0..=9).unwrap());
    let options = options.and_then(|it| it.lease_ms(1000)).unwrap();
    let ids = sno::Generator::with(&pooler.url, options, Duration::from_secs(15)).unwrap();
    while ids.lease().metrics().renewals < 3 {
        assert_eq!(ids.lease().rejected(), None);
        thread::sleep(Duration::from_millis(5));
    }
    ids.close();
    assert_eq!(schemas_with_lease_tables(&server), ["polyflake"]);
}
