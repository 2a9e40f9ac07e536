//! Tests permanent errors of stores. Calls and checks must fail without waiting, and the error must name the reason and the
//! store.
#![cfg(all(feature = "sqlite", feature = "postgresql", unix))]
#![allow(unreachable_pub, reason = "modules of one test")]

#[allow(dead_code, reason = "other tests use the rest")]
mod server;

use std::{
    fs,
    time::{Duration, Instant},
};

use polyflake_lease::{
    ErrorKind, Operator, Options, Shape, check,
    protocol::{
        Operation, Random, Request,
        steps::{Engine, Outcome, Schema, Steps},
    },
    sno::Generator,
};
use server::{Server, programs};

/// A timeout that exceeds the duration of any test, so that a call that waits for the full timeout is noticed.
const LONG_TIMEOUT: Duration = Duration::from_secs(60);

/// Asserts that a generator and a check fail immediately for the same reason.
#[track_caller]
fn assert_fails_immediately(url: &str, kind: ErrorKind, reason: &str) {
    let began = Instant::now();
    let error = Generator::new(url, "orders").expect_err(url);
    let named =
        check(Some(&format!("{url}{}namespace=orders", query_separator(url)))).expect_err(url);
    assert!(began.elapsed() < Duration::from_secs(5), "{url}: {error}");
    assert_eq!((error.kind(), named.kind()), (kind, kind), "{url}: {error} {named}");
    for error in [error, named] {
        assert!(error.is_permanent(), "{error}");
        assert!(error.to_string().ends_with(reason), "{error}");
        assert!(!format!("{error} {error:?}").contains("sesame"), "{error:?}");
    }
}

fn query_separator(url: &str) -> char {
    if url.contains('?') { '&' } else { '?' }
}

#[test]
fn an_unusable_file_fails_immediately() {
    use ErrorKind::{LeaseUnavailable, StoreNotDurable};
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let there =
        |name: &str| format!("sqlite:{}?allow=overlayfs", folder.path().join(name).display());
    let sentence = |name: &str, reason: &str| {
        let path = folder.path().join(name);
        format!("cannot lease a worker ID from sqlite:{}: {reason}", path.display())
    };
    let missing = sentence("none/ids.db", "the folder does not exist");
    assert_fails_immediately(&there("none/ids.db"), LeaseUnavailable, &missing);
    fs::create_dir(folder.path().join("ids.db")).unwrap();
    let error = Generator::new(&there("ids.db"), "orders").err().unwrap();
    assert!(error.is_permanent() && error.to_string().contains("/ids.db: "), "{error}");
    let memory = "a database in memory is lost with its process; name a file on a disk";
    assert_fails_immediately("sqlite::memory:", StoreNotDurable, memory);
    #[cfg(target_os = "linux")]
    if let Ok(folder) = tempfile::tempdir_in("/dev/shm") {
        let url = format!("sqlite:{}", folder.path().join("ids.db").display());
        let on_tmpfs = "the file is on tmpfs, which may lose what was written; name a file on a disk of this machine";
        assert_fails_immediately(&url, StoreNotDurable, on_tmpfs);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

#[test]
fn a_rejected_connection_fails_immediately() {
    let Some(programs) = programs() else { return };
    let server = Server::start(&programs);
    let url = server.url();
    let rejected = |words: &str| format!(": the server rejects the connection: {words}");
    let role = rejected("role \"nobody\" does not exist");
    assert_fails_immediately(
        &url.replace("lease@", "nobody:sesame@"),
        ErrorKind::LeaseUnavailable,
        &role,
    );
    let database = rejected("database \"none\" does not exist");
    assert_fails_immediately(
        &url.replace("/postgres", "/none"),
        ErrorKind::LeaseUnavailable,
        &database,
    );
}

#[test]
fn a_check_reports_the_store_without_writing() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = folder.path().join("ids.db");
    let url = format!("sqlite:{}?allow=overlayfs&namespace=orders", path.display());
    assert_eq!(check(Some(&url)).unwrap(), format!("sqlite:{}", path.display()));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    let options = Options::new("orders", Shape::sno(3..=3).unwrap()).unwrap();
    let at = format!("sqlite:{}?allow=overlayfs", path.display());
    let ids = Generator::with(&at, options, LONG_TIMEOUT).unwrap();
    let full = check(Some(&url)).unwrap_err();
    assert_eq!(full.kind(), ErrorKind::WorkerIdsExhausted);
    assert!(full.to_string().contains(": all 1 worker IDs of orders/sno are leased, "), "{full}");
    check(Some(&url.replace("=orders", "=others"))).unwrap();
    ids.close();
    check(Some(&url)).unwrap();
    if let Some(programs) = programs() {
        let server = Server::start(&programs);
        let url = format!("{}?namespace=orders", server.url());
        for _ in 0..2 {
            check(Some(&url)).unwrap();
        }
        let mut client = postgres::Client::connect(&server.url(), postgres::NoTls).unwrap();
        let found = "SELECT count(*) FROM pg_namespace WHERE nspname = 'polyflake'";
        assert_eq!(client.query_one(found, &[]).unwrap().get::<_, i64>(0), 0);
        let ids = Generator::new(&server.url(), "orders").unwrap();
        check(Some(&url)).unwrap();
        drop(ids);
    }
}

/// A check that is killed leaves its trial file behind, and processes in two containers may have the same process ID.
#[test]
fn a_check_ignores_a_trial_file_of_another_process() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = folder.path().join("ids.db");
    fs::write(path.with_extension(format!("trial-{}", std::process::id())), "").unwrap();
    let url = format!("sqlite:{}?allow=overlayfs&namespace=orders", path.display());
    check(Some(&url)).unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_check_rejects_the_terms_that_a_lease_rejects() {
    for (terms, reason) in [
        ("lease_seconds=0.1", "expected a lease"),
        ("worker_ids=0-9007199254740991", "expected worker IDs in"),
    ] {
        let error = check(Some(&format!("memory:terms?namespace=orders&{terms}"))).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::OutOfRange, "{terms}: {error}");
        assert!(error.to_string().contains(reason), "{terms}: {error}");
    }
    // A check does not specify an ID format. It therefore accepts a worker ID that is valid in at least one format, and a
    // namespace that is short enough for the shortest format name.
    let namespace = "n".repeat(60);
    check(Some(&format!("memory:terms?namespace={namespace}&worker_ids=0-99999999"))).unwrap();
}

#[test]
fn a_check_reports_reservations_without_an_end() {
    let options = Options::new("orders", Shape::sno(3..=3).unwrap()).unwrap();
    Generator::with("memory:reserved", options, LONG_TIMEOUT).unwrap().close();
    Operator::open("memory:reserved", "orders/sno").unwrap().reserve(3, "retired").unwrap();
    let error = check(Some("memory:reserved?namespace=orders")).unwrap_err();
    assert_eq!((error.kind(), error.until()), (ErrorKind::WorkerIdsExhausted, None), "{error}");
    assert!(error.is_permanent(), "{error}");
    let reserved = ": all 1 worker IDs of orders/sno are reserved by an operator";
    assert!(error.to_string().ends_with(reserved), "{error}");
}

/// The first holder starts the quiet time of a restored store. A check alone does not start it.
#[test]
fn a_check_reports_the_quiet_time_after_a_holder_starts_it() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let [path, copy] = ["ids.db", "copy.db"].map(|name| folder.path().join(name));
    let [url, restored] =
        [&path, &copy].map(|path| format!("sqlite:{}?allow=overlayfs", path.display()));
    Generator::new(&url, "orders").unwrap().close();
    fs::copy(path, copy).unwrap();
    let checked = || check(Some(&format!("{restored}&namespace=orders"))).unwrap_err();
    let error = checked();
    assert_eq!((error.kind(), error.until()), (ErrorKind::StoreChanged, None), "{error}");
    assert!(error.to_string().contains("until some time after a holder notices it"), "{error}");
    let options = Options::new("orders", Shape::sno(0..=65_535).unwrap()).unwrap();
    Generator::with(&restored, options, Duration::from_secs(1)).unwrap_err();
    let error = checked();
    assert_eq!(error.kind(), ErrorKind::StoreChanged, "{error}");
    assert!(error.until().is_some() && error.to_string().contains(" until 20"), "{error}");
}

/// Each client uses different wording for certificate errors.
#[test]
fn an_untrusted_certificate_fails_immediately() {
    for message in [
        "connection failed: SSL error: certificate verify failed",
        "connection failed: server certificate for \"other\" does not match host name \"db\"",
        "connection failed: server certificate for \"other\" (and 2 other names) does not match host name \"db\"",
        "connection failed: root certificate file \"/ca.pem\" does not exist\nEither provide the file",
        "connection failed: could not read root certificate file \"/ca.pem\": no start line",
        "self-signed certificate in certificate chain",
        "unable to get local issuer certificate",
        "unable to get issuer certificate",
        "unable to verify the first certificate",
        "certificate signature failure",
        "certificate has expired",
        "certificate is not yet valid",
        "Hostname/IP does not match certificate's altnames: Host: db. is not in the cert's altnames: DNS:other",
        "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: Hostname mismatch",
        "error performing TLS handshake: invalid peer certificate: UnknownIssuer",
    ] {
        let request = Request { number: 1, namespace: "orders".into(), operation: Operation::List };
        let steps = Steps::new(Engine::Postgresql(Schema::default()), &request, Random(1));
        let error = steps.drive(|_| Outcome::failed(None, message)).unwrap_err();
        assert!(error.is_permanent(), "{error}");
        let reason = "the server's certificate is not trusted: ";
        assert!(error.to_string().starts_with(reason), "{error}");
        assert!(error.to_string().ends_with("by `sslrootcert` in the URL"), "{error}");
    }
}

/// A generator connects soon after the server comes up, even if the delays between its attempts have grown.
#[test]
fn a_server_that_starts_late_is_detected_soon() {
    let Some(programs) = programs() else { return };
    let server = Server::start(&programs);
    server.power_off();
    let url = server.url();
    let began = Instant::now();
    let maker = std::thread::spawn(move || {
        let options = Options::new("orders", Shape::sno(0..=9).unwrap()).unwrap();
        Generator::with(&url, options, LONG_TIMEOUT).map(|_| Instant::now())
    });
    std::thread::sleep(Duration::from_secs(6));
    server.launch();
    let up = Instant::now();
    let made = maker.join().unwrap().unwrap();
    let noticed = made.saturating_duration_since(up);
    assert!(noticed < Duration::from_secs(2), "{noticed:?} of {:?}", began.elapsed());
}
