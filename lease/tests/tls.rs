//! Tests TLS connections to `PostgreSQL`, `MariaDB` and `Redis`, with trusted and untrusted certificates.
#![cfg(all(feature = "tls", feature = "mysql", feature = "redis", unix))]
#![allow(unreachable_pub, reason = "modules of one test")]

mod certificates;
#[allow(dead_code, reason = "other tests use the rest")]
mod mysql_server;
#[allow(dead_code, reason = "other tests use the rest")]
mod redis_server;
#[allow(dead_code, reason = "other tests use the rest")]
mod server;

use std::{
    fs,
    io::{Read, Write},
    net::TcpListener,
    os::unix::fs::PermissionsExt,
    thread,
    time::Duration,
};

use certificates::write_certificates;
use mysql_server::MysqlServer;
use polyflake_lease::{ErrorKind, Mysql, Postgresql, Redis, protocol::conformance, sno};
use server::{Server, programs};

/// Connects to a server that does not support encryption. Returns the kind of error, and the bytes that the client sent
/// unencrypted.
fn bytes_sent_unencrypted(host: &str, parameters: &str) -> (ErrorKind, Vec<u8>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        client.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
        let mut said = vec![0; 8];
        client.read_exact(&mut said).unwrap();
        if said[4..] == 80_877_103_u32.to_be_bytes() {
            // The client requests encryption, and the server declines.
            client.write_all(b"N").unwrap();
            said.clear();
        }
        // Reads until the client disconnects or waits for a reply.
        let _ = client.read_to_end(&mut said);
        said
    });
    let url = format!("postgres://lease:sesame@{host}:{port}/postgres{parameters}");
    let error = Postgresql::open(&url).unwrap_err();
    (error.kind(), server.join().unwrap())
}

#[test]
fn an_unencrypted_server_is_rejected_unless_the_url_allows_it() {
    // The operating system routes connections to 0.0.0.0 to this machine, but the URL parser treats the address as a remote
    // host.
    for (host, parameters) in [
        ("0.0.0.0", ""),
        ("0.0.0.0", "?connect_timeout=3"),
        ("127.0.0.1", "?sslmode=require"),
        ("127.0.0.1", "?sslmode=verify-full"),
    ] {
        let left = (ErrorKind::LeaseUnavailable, Vec::new());
        assert_eq!(bytes_sent_unencrypted(host, parameters), left, "{host} {parameters}");
    }
    for (host, parameters) in [("127.0.0.1", ""), ("0.0.0.0", "?sslmode=disable")] {
        let (_, said) = bytes_sent_unencrypted(host, parameters);
        assert!(said.windows(5).any(|part| part == b"lease"), "{host} {parameters}: {said:?}");
    }
}

#[test]
fn a_server_is_contacted_only_with_a_valid_certificate() {
    let Some(programs) = programs() else { return };
    let server = Server::start(&programs);
    server.power_off();
    let folder = server.folder();
    write_certificates(folder, "localhost");
    let rules = "local all all trust\nhostssl all all 127.0.0.1/32 trust\n";
    fs::write(folder.join("data/pg_hba.conf"), rules).unwrap();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let [certificate, key] = ["server.crt", "server.key"].map(|name| folder.join(name));
    server.start_with_options(&format!(
        "-c listen_addresses=127.0.0.1 -c port={port} -c ssl=on -c ssl_cert_file={} -c ssl_key_file={}",
        certificate.display(),
        key.display()
    ));
    let root = folder.join("root.pem").to_str().unwrap().replace('/', "%2F");
    let url =
        |host: &str, rest: &str| format!("postgres://lease:sesame@{host}:{port}/postgres{rest}");

    let trusted = url("localhost", &format!("?sslmode=verify-full&sslrootcert={root}"));
    conformance::check(&mut Postgresql::open(&trusted).unwrap());
    let ids = sno::Generator::new(&trusted, "orders").unwrap();
    ids.generate(0).unwrap();
    ids.close();

    for (url, kind) in [
        // The server requires encryption, but clients encrypt connections to this machine only if the URL requests it.
        (url("localhost", ""), ErrorKind::LeaseUnavailable),
        // The certificate is not signed by a publicly trusted root.
        (url("localhost", "?sslmode=require"), ErrorKind::LeaseUnavailable),
        // The certificate is for a different host.
        (url("127.0.0.1", &format!("?sslrootcert={root}")), ErrorKind::LeaseUnavailable),
        // The server requires encryption, which the URL disables.
        (url("localhost", "?sslmode=disable"), ErrorKind::LeaseUnavailable),
        (url("localhost", "?sslrootcert=%2Fnowhere"), ErrorKind::OutOfRange),
        (url("localhost", &format!("?sslrootcert={root}.none")), ErrorKind::OutOfRange),
        (url("localhost", "?sslrootcert=%2Fetc%2Fpasswd"), ErrorKind::OutOfRange),
        (url("localhost", "?sslmode=verify-some"), ErrorKind::OutOfRange),
    ] {
        let Err(error) = Postgresql::open(&url) else { panic!("expected a refusal of {url}") };
        assert_eq!(error.kind(), kind, "{url}: {error}");
        if url.contains("nowhere") {
            let reason = "cannot read the root certificates in /nowhere (`sslrootcert`): ";
            assert!(error.to_string().contains(reason), "{error}");
        }
        assert!(!format!("{error:?} {error}").contains("sesame"), "{error:?}");
    }
}

#[test]
fn a_mariadb_server_is_contacted_only_with_a_valid_certificate() {
    let Some(program) = mysql_server::program() else { return };
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    write_certificates(folder.path(), "localhost");
    let (_encrypted, encrypted) = MysqlServer::start_with_tls(&program, folder.path());
    let (_plain, plain) = MysqlServer::start_on_port(&program, &[]);
    let root = folder.path().join("root.pem").to_str().unwrap().replace('/', "%2F");
    let url =
        |host: &str, port: u16, rest: &str| format!("mysql://lease:sesame@{host}:{port}/app{rest}");
    let trusted = url("localhost", encrypted, &format!("?sslrootcert={root}"));
    conformance::check(&mut Mysql::open(&trusted).unwrap());
    Mysql::open(&url("localhost", plain, "")).unwrap();
    for (url, kind, reason) in [
        (
            url("localhost", encrypted, "?sslmode=require"),
            ErrorKind::LeaseUnavailable,
            "is not trusted",
        ),
        (
            url("127.0.0.1", encrypted, &format!("?sslrootcert={root}")),
            ErrorKind::LeaseUnavailable,
            "is not trusted",
        ),
        (
            url("localhost", plain, "?sslmode=require"),
            ErrorKind::LeaseUnavailable,
            "the server has no TLS",
        ),
        (url("0.0.0.0", plain, ""), ErrorKind::LeaseUnavailable, "the server has no TLS"),
        (url("localhost", encrypted, "?sslrootcert=%2Fnowhere"), ErrorKind::OutOfRange, "/nowhere"),
        (
            url("localhost", encrypted, "?sslrootcert=%2Fetc%2Fpasswd"),
            ErrorKind::OutOfRange,
            "no PEM block",
        ),
    ] {
        let Err(error) = Mysql::open(&url) else { panic!("expected a refusal of {url}") };
        assert_eq!(error.kind(), kind, "{url}: {error}");
        assert!(error.to_string().contains(reason), "{url}: {error}");
        assert!(!format!("{error:?} {error}").contains("sesame"), "{error:?}");
    }
}

#[test]
fn a_redis_server_is_contacted_only_with_a_valid_certificate() {
    let Some(program) = redis_server::program() else { return };
    let folder = tempfile::tempdir().unwrap();
    write_certificates(folder.path(), "localhost");
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    let of = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let [certificate, key, root] = ["server.crt", "server.key", "root.pem"].map(of);
    let files =
        ["--tls-cert-file", &*certificate, "--tls-key-file", &*key, "--tls-ca-cert-file", &*root];
    let listens = ["--tls-port", &*port, "--tls-auth-clients", "no"];
    let _server = redis_server::RedisServer::start(&program, &[&files[..], &listens].concat());
    let root = root.replace('/', "%2F");
    let url = |start: &str, rest: &str| format!("{start}:{port}/1{rest}");
    let trusted = url("rediss://localhost", &format!("?sslrootcert={root}"));
    conformance::check(&mut Redis::open(&trusted).unwrap());
    for (url, kind, reason) in [
        (url("rediss://localhost", ""), ErrorKind::LeaseUnavailable, "is not trusted"),
        (
            url("rediss://127.0.0.1", &format!("?sslrootcert={root}")),
            ErrorKind::LeaseUnavailable,
            "is not trusted",
        ),
        (url("redis://localhost", ""), ErrorKind::LeaseUnavailable, "no answer from the server"),
        (url("rediss://localhost", "?sslrootcert=%2Fnowhere"), ErrorKind::OutOfRange, "/nowhere"),
    ] {
        let Err(error) = Redis::open(&url) else { panic!("expected a refusal of {url}") };
        assert_eq!(error.kind(), kind, "{url}: {error}");
        assert!(error.to_string().contains(reason), "{url}: {error}");
    }
}
