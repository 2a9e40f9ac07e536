//! Tests `polyflake lease serve` as a process, with HTTP requests that the tests write by hand.

#[cfg(unix)]
mod languages;
mod service;

use std::{
    collections::HashSet,
    fs,
    io::Write,
    net::TcpStream,
    process::Command,
    sync::Arc,
    time::{Duration, Instant},
};

use polyflake_lease::protocol::{Operation, Reply, ReplyContent, Request, Store as _, conformance};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned,
    crypto::ring,
    pki_types::{CertificateDer, pem::PemObject},
};

use service::{Answer, Client, OTHER_TOKEN, Service, TOKEN, command, folder, head};

/// A request that an empty store can answer.
const LIST_REQUEST: &str = r#"{"ask":"list","namespace":"conformance","number":1}"#;

#[test]
fn the_service_passes_the_conformance_suite_for_stores() {
    let service = Service::start(&["--rate", "1000000"]);
    conformance::check(&mut Client(service.connect()));
    conformance::check_together(|| Client(service.connect()));
}

#[test]
fn the_rust_client_passes_the_conformance_suite_for_stores() {
    let service = Service::start(&["--rate", "1000000", "--store-connections", "3"]);
    let url = service.url(TOKEN);
    conformance::check(&mut polyflake_lease::protocol::open(&url).expect("a store"));
    conformance::check_together(|| polyflake_lease::Http::open(&url).expect("a store"));
}

#[test]
fn generators_lease_different_worker_ids_from_the_service() {
    let service = Service::start(&[]);
    let url = service.url(TOKEN);
    let make = || polyflake_lease::sno::Generator::new(&url, "conformance").expect("a generator");
    let makers: Vec<_> = (0..4).map(|_| make()).collect();
    let numbers: HashSet<_> =
        makers.iter().map(|ids| ids.generate(1).expect("an ID").partition()).collect();
    assert_eq!(numbers.len(), 4);
    makers[0].close();
    let mut command = Command::new(env!("CARGO_BIN_EXE_polyflake"));
    command.args(["lease", "check"]).env("POLYFLAKE_LEASE", format!("{url}?namespace=conformance"));
    let output = command.output().expect("a program");
    let text = String::from_utf8(output.stdout).expect("text");
    let place = service.url("").replace('@', "");
    assert_eq!(text, format!("a worker ID can be leased from {place}/\n"));
    let output = command
        .env("POLYFLAKE_LEASE", service.url(OTHER_TOKEN) + "?namespace=conformance")
        .output();
    let talk = String::from_utf8(output.expect("a program").stderr).expect("text");
    assert!(talk.contains("the service reports forbidden"), "{talk}");
    let output =
        Command::new(env!("CARGO_BIN_EXE_polyflake")).args(["lease", "check", &url]).output();
    let talk = String::from_utf8(output.expect("a program").stderr).expect("text");
    assert!(talk.contains("invalid_secret") || talk.contains("namespace"), "{talk}");
    assert!(!talk.contains(TOKEN), "{talk}");
}

#[test]
fn a_reply_contains_the_name_of_the_underlying_store() {
    let service = Service::start(&[]);
    let request = Request::from_json(LIST_REQUEST).expect("a request");
    let found = Client(service.connect()).answer(&request).expect("a reply");
    let file = format!("sqlite:{}/ids.db", service.folder.path().display());
    let direct =
        polyflake_lease::protocol::open(&file).expect("a store").answer(&request).expect("a reply");
    assert_eq!(Reply { now: direct.now, ..found.clone() }, direct);
    assert!(direct.now.abs_diff(found.now) < 60_000, "{} {}", direct.now, found.now);
}

#[test]
fn invalid_requests_get_errors_with_stable_codes() {
    let service = Service::start(&[]);
    let long = format!(r#"{{"ask":"list","namespace":"{}"}}"#, "n".repeat(70_000));
    let named = LIST_REQUEST.replace("conformance", "other");
    let newer = r#"{"ask":"read","first":1,"more":1,"namespace":"conformance","number":1}"#;
    let many = r#"{"ask":"find","limit":65,"namespace":"conformance","number":1}"#;
    let wrong_token = format!("{}x", &TOKEN[1..]);
    for (token, body, status, code) in [
        (TOKEN, "", 400, "invalid_request"),
        (TOKEN, "[]", 400, "invalid_request"),
        (TOKEN, "{\"ask\":\"list\"}", 400, "invalid_request"),
        (TOKEN, newer, 400, "invalid_request"),
        (TOKEN, &format!("{LIST_REQUEST} "), 400, "invalid_request"),
        (TOKEN, &"[".repeat(60_000), 400, "invalid_request"),
        (TOKEN, many, 400, "out_of_range"),
        (TOKEN, &long, 413, "body_too_large"),
        (TOKEN, &named, 403, "forbidden"),
        (OTHER_TOKEN, LIST_REQUEST, 403, "forbidden"),
        (&wrong_token, LIST_REQUEST, 401, "unauthorized"),
        ("", LIST_REQUEST, 401, "unauthorized"),
        ("\u{e9}", LIST_REQUEST, 401, "unauthorized"),
    ] {
        let answer = service.post(token, "", body);
        assert_eq!((answer.status, &*answer.code()), (status, code), "{answer:?}");
        assert!(!answer.body.contains(TOKEN) && !answer.body.contains(OTHER_TOKEN), "{answer:?}");
    }
    let without = format!(
        "POST /v1/request HTTP/1.1\r\nhost: ids\r\ncontent-length: {}\r\n\r\n",
        LIST_REQUEST.len()
    );
    assert_eq!(
        Answer::exchange(&mut service.connect(), &without, LIST_REQUEST).code(),
        "unauthorized"
    );
    let repeated =
        service.post(TOKEN, &format!("polyflake-request: {}\r\n", "r".repeat(65)), LIST_REQUEST);
    assert_eq!(repeated.code(), "invalid_request");
    assert_eq!((service.get("/").status, &*service.get("/v2/request").code()), (404, "not_found"));
    let answer = service.get("/v1/request");
    assert_eq!((answer.status, &*answer.code()), (405, "method_not_allowed"));
    assert_eq!(answer.header("allow"), Some("POST"));
    let answer = service.send("OPTIONS", "/healthz");
    assert_eq!((answer.status, answer.header("allow")), (204, Some("GET, HEAD")));
    assert_eq!(
        service.post(TOKEN, "", LIST_REQUEST).status,
        200,
        "expected a service that continues"
    );
}

#[test]
fn a_request_for_records_of_another_namespace_is_rejected() {
    let service = Service::start(&[]);
    let mut client = Client(service.connect());
    conformance::check(&mut client);
    let operation = Operation::Read { first: 0 };
    let request = Request { number: 1, namespace: "conformance".into(), operation };
    let mut namespace = client.answer(&request).expect("a reply").namespace.expect("a namespace");
    namespace.name = "other".into();
    let request = Request { operation: Operation::Open(namespace), ..request };
    let answer = service.post(TOKEN, "", &request.to_json());
    assert_eq!((answer.status, &*answer.code()), (400, "invalid_request"), "{answer:?}");
}

#[test]
fn a_token_lists_only_its_own_namespaces() {
    let service = Service::start(&[]);
    conformance::check(&mut Client(service.connect()));
    let list = LIST_REQUEST.replace("conformance", "other");
    let reply = Reply::from_json(&service.post(OTHER_TOKEN, "", &list).body).expect("a reply");
    assert_eq!(reply.content, ReplyContent::Names(Vec::new()));
    let reply = Reply::from_json(&service.post(TOKEN, "", LIST_REQUEST).body).expect("a reply");
    assert_eq!(reply.content, ReplyContent::Names(vec!["conformance".into()]));
}

#[test]
fn a_request_for_a_connection_gets_that_connection_or_fails() {
    let service = Service::start(&["--store-connections", "4"]);
    let first = service.post(TOKEN, "polyflake-request: 7f\r\n", LIST_REQUEST);
    assert_eq!(first.header("polyflake-request"), Some("7f"));
    let connection = first.header("polyflake-connection").expect("a connection").to_owned();
    let demand = format!("polyflake-connection: {connection}\r\n");
    for _ in 0..20 {
        let answer = service.post(TOKEN, &demand, LIST_REQUEST);
        assert_eq!(answer.header("polyflake-connection"), Some(&*connection), "{answer:?}");
    }
    let unknown = format!("polyflake-connection: {connection}0\r\n");
    let answer = service.post(TOKEN, &unknown, LIST_REQUEST);
    assert_eq!((answer.status, &*answer.code()), (409, "connection_lost"));
    assert!(answer.body.contains("\"permanent\":false"), "{answer:?}");
}

#[test]
fn a_missing_store_is_an_error_and_is_not_recreated() {
    let service = Service::start(&[]);
    let file = service.folder.path().join("ids.db");
    let connection = service.post(TOKEN, "", LIST_REQUEST);
    let connection = connection.header("polyflake-connection").expect("a connection").to_owned();
    fs::remove_file(&file).expect("a file");
    let answer = service.post(TOKEN, "", LIST_REQUEST);
    assert_eq!((answer.status, &*answer.code()), (503, "lease_unavailable"), "{answer:?}");
    assert!(!file.exists());
    let lost =
        service.post(TOKEN, &format!("polyflake-connection: {connection}\r\n"), LIST_REQUEST);
    assert_eq!(lost.code(), "connection_lost", "expected that an error ends the connection");
}

#[test]
fn slow_and_truncated_bodies_get_errors() {
    let service = Service::start(&[]);
    let mut slow = service.connect();
    let begun = Instant::now();
    slow.write_all(head(TOKEN, "", 100).as_bytes()).expect("a reader");
    slow.write_all(b"{").expect("a reader");
    let mut cut = service.connect();
    cut.write_all(head(TOKEN, "", 100).as_bytes()).expect("a reader");
    drop(cut);
    let answer = Answer::read(&mut slow);
    assert_eq!((answer.status, &*answer.code()), (408, "body_too_slow"));
    assert!(begun.elapsed() < Duration::from_secs(20));
    assert_eq!(service.post(TOKEN, "", LIST_REQUEST).status, 200);
}

#[test]
fn a_rate_limited_request_gets_a_retry_after_header() {
    let service = Service::start(&["--rate", "1"]);
    let answers: Vec<_> = (0..10).map(|_| service.post(TOKEN, "", LIST_REQUEST)).collect();
    assert!(answers[..4].iter().all(|answer| answer.status == 200), "{answers:?}");
    let limited = answers.iter().find(|answer| answer.status == 429).expect("a limit");
    assert_eq!((&*limited.code(), limited.header("retry-after")), ("rate_limited", Some("1")));
    let other = LIST_REQUEST.replace("conformance", "other");
    assert_eq!(service.post(OTHER_TOKEN, "", &other).status, 200, "expected a limit for each");
}

#[test]
fn metrics_count_requests_by_code() {
    let service = Service::start(&[]);
    for token in [TOKEN, TOKEN, "wrong"] {
        service.post(token, "", LIST_REQUEST);
    }
    let text = service.get("/metrics").body;
    for line in [
        "polyflake_serve_requests_total{code=\"ok\"} 2",
        "polyflake_serve_requests_total{code=\"unauthorized\"} 1",
        "polyflake_serve_store_seconds_bucket{le=\"+Inf\"} 2",
        "polyflake_serve_store_seconds_count 2",
        "polyflake_serve_store_up 1",
        "polyflake_serve_connections 1",
        "polyflake_serve_waiting 0",
    ] {
        assert!(text.lines().any(|found| found == line), "expected {line} in\n{text}");
    }
    let alerts = include_str!("../../../examples/operate/alerts.yml");
    let named = alerts.split(|c: char| !c.is_ascii_lowercase() && c != '_');
    for name in named.filter(|name| name.starts_with("polyflake_serve_")) {
        assert!(text.contains(&format!("\n{name}")), "expected {name} in\n{text}");
    }
    assert_eq!((service.get("/healthz").status, &*service.get("/healthz").body), (200, "ok\n"));
}

#[test]
fn the_service_does_not_start_with_unsafe_options() {
    let folder = folder();
    let token = format!("conformance {TOKEN}");
    for (options, tokens, code, reason) in [
        (&[][..], &*token, "lease_unavailable", "no store"),
        (&["--create", "--listen", "0.0.0.0:0"], &token, "out_of_range", "--behind-proxy"),
        (&["--create"], "conformance short", "invalid_secret", "22 to 256"),
        (&["--create", "--tokens", "/nowhere/tokens"], &token, "io_failed", "/nowhere/tokens"),
        (
            &["--certificate", "/nowhere/c", "--key", "/nowhere/k"],
            &token,
            "io_failed",
            "/nowhere/c",
        ),
    ] {
        let mut command = command(&folder, options);
        let output = command.env("POLYFLAKE_TOKENS", tokens).output().expect("a program");
        let talk = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{talk}");
        assert!(talk.starts_with(&format!("error[{code}]: ")), "{talk}");
        assert!(talk.contains(reason) || code == "lease_unavailable", "{talk}");
        assert!(!folder.path().join("ids.db").exists());
    }
    let output = command(&folder, &["--create"]).env_remove("POLYFLAKE_TOKENS").output();
    let talk = String::from_utf8(output.expect("a program").stderr).expect("text");
    assert!(talk.starts_with("error[missing_field]: expected --tokens FILE"), "{talk}");
}

/// After a signal, the service finishes the requests in progress, and accepts no new ones.
#[cfg(unix)]
#[test]
fn a_signal_ends_the_service_after_the_requests_in_progress() {
    use std::io::Read as _;

    let mut service = Service::start(&[]);
    let (mut busy, idle) = (service.connect(), service.connect());
    let (begin, rest) = LIST_REQUEST.split_at(10);
    busy.write_all(format!("{}{begin}", head(TOKEN, "", LIST_REQUEST.len())).as_bytes())
        .expect("a reader");
    // Both connections have been accepted once the service reports three connections. The third connection reads the
    // metrics.
    while !service.get("/metrics").body.contains("polyflake_serve_connections 3") {}
    service.signal("-TERM");
    while TcpStream::connect(("127.0.0.1", service.port)).is_ok() {}
    busy.write_all(rest.as_bytes()).expect("a reader");
    assert_eq!(Answer::read(&mut busy).status, 200);
    assert!(service.wait().success());
    assert_eq!((&idle).read(&mut [0]).expect("an end"), 0);
}

/// Clients that do not send a request hold connections for only a few seconds, and use little memory.
#[cfg(target_os = "linux")]
#[test]
fn idle_connections_use_bounded_memory_and_are_closed() {
    let service = Service::start(&["--max-connections", "100"]);
    let resident = || {
        let status = fs::read_to_string(format!("/proc/{}/status", service.pid()));
        let status = status.expect("a process");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a size");
        line.trim().trim_end_matches(" kB").parse::<u64>().expect("a size")
    };
    assert_eq!(service.post(TOKEN, "", LIST_REQUEST).status, 200);
    let before = resident();
    let connections: Vec<_> = (0..250)
        .map(|_| {
            let mut stream = service.connect();
            let text = format!("POST /v1/request HTTP/1.1\r\nx: {}", "x".repeat(15_000));
            stream.write_all(text.as_bytes()).expect("a reader");
            stream
        })
        .collect();
    let begun = Instant::now();
    assert_eq!(service.post(TOKEN, "", LIST_REQUEST).status, 200);
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    let grown = resident().saturating_sub(before);
    assert!(
        grown < 16 << 10,
        "expected at most 16 MiB for {} connections, found {grown} KiB",
        connections.len()
    );
}

/// Clients keep working while the old token is replaced, and new connections get the new certificate. A supervisor learns
/// when the service listens.
#[test]
fn tokens_and_certificates_are_reloaded() {
    let folder = folder();
    let file = |name: &str| folder.path().join(name).to_str().expect("a path").to_owned();
    let (certificate, key, tokens) = (file("certificate"), file("key"), file("tokens"));
    let certify = || {
        let made =
            rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
        fs::write(&certificate, made.cert.pem()).expect("a file");
        fs::write(&key, made.signing_key.serialize_pem()).expect("a file");
        made.cert.der().clone()
    };
    let old = certify();
    fs::write(&tokens, format!("conformance {TOKEN}\n")).expect("a file");
    let options = ["--create", "--certificate", &certificate, "--key", &key, "--tokens", &tokens];
    let mut command = command(&folder, &options);
    #[cfg(unix)]
    let supervisor = {
        let socket = file("supervisor");
        command.env("NOTIFY_SOCKET", &socket);
        std::os::unix::net::UnixDatagram::bind(socket).expect("a socket")
    };
    let service = Service::run(folder, command);
    #[cfg(unix)]
    {
        let mut text = [0; 16];
        let length = supervisor.recv(&mut text).expect("a notification");
        assert_eq!(text[..length], *b"READY=1\n");
    }
    let post = |root: &CertificateDer<'static>, token: &str| {
        let mut stream = connect_with_tls(&service, root.clone());
        stream
            .write_all(format!("{}{LIST_REQUEST}", head(token, "", LIST_REQUEST.len())).as_bytes())
            .ok()?;
        Some(Answer::read(&mut stream).status)
    };
    assert_eq!((post(&old, TOKEN), post(&old, OTHER_TOKEN)), (Some(200), Some(401)));
    fs::write(&tokens, format!("conformance {TOKEN}\nconformance {OTHER_TOKEN}")).expect("a file");
    let new = certify();
    #[cfg(unix)]
    service.signal("-HUP");
    let begun = Instant::now();
    while post(&new, OTHER_TOKEN) != Some(200) {
        assert!(begun.elapsed() < Duration::from_secs(30), "expected the new files to be used");
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!((post(&new, TOKEN), post(&old, TOKEN)), (Some(200), None));
    let lease = |roots: &str| {
        let url = format!("https://{TOKEN}@localhost:{}{roots}", service.port);
        polyflake_lease::protocol::open(&url)?.answer(&Request::from_json(LIST_REQUEST)?)
    };
    assert!(lease(&format!("?sslrootcert={}", certificate.replace('/', "%2F"))).is_ok());
    let error = lease("").expect_err("expected a certificate that nobody trusts");
    assert!(error.is_permanent() && error.to_string().contains("not trusted"), "{error}");
    fs::write(&tokens, "not a token").expect("a file");
    std::thread::sleep(Duration::from_secs(6));
    assert_eq!(post(&new, TOKEN), Some(200), "expected that unreadable tokens change nothing");
    assert!(CertificateDer::pem_file_iter(&certificate).is_ok());
}

fn connect_with_tls(
    service: &Service,
    root: CertificateDer<'static>,
) -> StreamOwned<ClientConnection, TcpStream> {
    let mut roots = RootCertStore::empty();
    roots.add(root).expect("a root");
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("a protocol")
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = "localhost".try_into().expect("a name");
    let connection = ClientConnection::new(Arc::new(config), name).expect("a client");
    StreamOwned::new(connection, service.connect())
}
