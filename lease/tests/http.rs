//! Tests the HTTP store against a misbehaving service. `cli/tests/serve` runs the conformance suite against the real
//! service.
#![cfg(all(feature = "http", feature = "tls"))]

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::mpsc::{Receiver, channel},
    thread,
    time::Duration,
};

use polyflake_lease::{
    AsyncHttp, ErrorKind, Http, Operator, Result,
    protocol::{AsyncStore, Operation, Reply, ReplyContent, Request, Store, open},
};

/// The request line and headers of a request.
struct RequestHead(String);

impl RequestHead {
    fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.0.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(found, _)| *found == name).map(|(_, value)| value)
    }
}

/// Starts a service that handles one connection at a time and answers each request with the result of `answer`. The service
/// closes the connection after sending a response whose body is not JSON. Returns the service's URL and a channel that
/// receives the head of each request.
fn serve(
    answer: impl Fn(&RequestHead) -> String + Send + 'static,
) -> (String, Receiver<RequestHead>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://sesame@{}", listener.local_addr().unwrap());
    let (sender, heads) = channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            while let Some(head) = read_head(&mut stream) {
                let text = answer(&head);
                let _ = (stream.get_mut().write_all(text.as_bytes()), sender.send(head));
                if !text.ends_with('}') {
                    break;
                }
            }
        }
    });
    (url, heads)
}

fn read_head(stream: &mut BufReader<TcpStream>) -> Option<RequestHead> {
    let mut head = RequestHead(String::new());
    while !head.0.ends_with("\r\n\r\n") {
        if stream.read_line(&mut head.0).unwrap_or(0) == 0 {
            return None;
        }
    }
    let length = head.header("content-length").unwrap().parse().unwrap();
    stream.read_exact(&mut vec![0; length]).ok()?;
    Some(head)
}

/// Returns the response of a well-behaved service.
fn valid_response(head: &RequestHead) -> String {
    let reply =
        Reply { now: 7, store: "a store".into(), namespace: None, content: ReplyContent::Done };
    let id = head.header("polyflake-request").unwrap();
    let more = format!("polyflake-request: {id}\r\npolyflake-connection: seven\r\n");
    response(200, &more, &reply.to_json())
}

fn response(status: u16, more: &str, body: &str) -> String {
    format!("HTTP/1.1 {status} X\r\n{more}content-length: {}\r\n\r\n{body}", body.len())
}

fn send(store: &mut dyn Store, operation: Operation) -> Result<Reply> {
    store.answer(&Request { number: 1, namespace: "orders/sno".into(), operation })
}

#[test]
fn a_request_contains_the_token_and_a_random_value() {
    let (url, heads) = serve(valid_response);
    let mut store = Http::open(&url).unwrap();
    assert_eq!(send(&mut store, Operation::List).unwrap().store, "a store");
    send(&mut store, Operation::List).unwrap();
    let (first, second) = (heads.recv().unwrap(), heads.recv().unwrap());
    assert!(first.0.starts_with("POST /v1/request HTTP/1.1\r\n"), "{}", first.0);
    assert_eq!(first.header("authorization"), Some("Bearer sesame"));
    assert_eq!(first.header("host"), Some(&url["http://sesame@".len()..]));
    assert_eq!(first.header("polyflake-request").unwrap().len(), 32);
    assert_ne!(first.header("polyflake-request"), second.header("polyflake-request"));
}

/// A holder resolves a lost reply with a read followed by a write, and both must reach the same server (rule R2). No other
/// request needs the same connection as the request before it.
#[test]
fn only_a_request_after_a_read_requires_the_same_connection() {
    let (url, heads) = serve(valid_response);
    let mut store = open(&url).unwrap();
    let asked = [Operation::List, Operation::Read { first: 1 }, Operation::List, Operation::List];
    for operation in asked {
        send(&mut *store, operation).unwrap();
    }
    let demanded: Vec<_> = heads.iter().take(4).map(|head| head.0.contains("seven")).collect();
    assert_eq!(demanded, [false, false, true, false]);
    send(&mut *store, Operation::Read { first: 1 }).unwrap();
    drop(store);
    send(&mut *open(&url).unwrap(), Operation::List).unwrap();
    assert!(heads.iter().take(2).all(|head| !head.0.contains("seven")), "of another store");
}

#[test]
fn malformed_and_error_responses_are_rejected() {
    let other = valid_response(&RequestHead("polyflake-request: 7\r\n".into()));
    let long = response(200, "", &"x".repeat(2 << 20));
    let coded = |code: &str, permanent: bool| {
        let body =
            format!(r#"{{"code":"{code}","message":"why","permanent":{permanent},"until":null}}"#);
        response(503, "", &body)
    };
    for (text, kind, reason, is_permanent) in [
        (String::new(), ErrorKind::LeaseUnavailable, "no answer from the service", false),
        (other, ErrorKind::LeaseUnavailable, "to this request", false),
        (response(200, "", "{}"), ErrorKind::LeaseUnavailable, "to this request", false),
        (response(502, "", "<html>"), ErrorKind::LeaseUnavailable, "status 502", false),
        (
            "HTTP/1.1 200 X\r\ncontent-length: 9\r\n\r\n{".into(),
            ErrorKind::LeaseUnavailable,
            "no answer",
            false,
        ),
        ("nonsense\r\n\r\n".into(), ErrorKind::LeaseUnavailable, "no answer", false),
        (long, ErrorKind::LeaseUnavailable, "length limit exceeded", false),
        (coded("unauthorized", true), ErrorKind::LeaseUnavailable, "unauthorized: why", true),
        (coded("overloaded", false), ErrorKind::LeaseUnavailable, "overloaded: why", false),
        (coded("store_not_durable", false), ErrorKind::StoreNotDurable, "why", false),
    ] {
        let sent = text.clone();
        let (url, _heads) = serve(move |_| sent.clone());
        let mut store = Http::open(&url).unwrap();
        let error = send(&mut store, Operation::List).unwrap_err();
        assert_eq!((error.kind(), error.is_permanent()), (kind, is_permanent), "{error}");
        assert!(error.to_string().contains(reason), "{error}");
        assert!(!format!("{error} {store:?}").contains("sesame"), "{error}");
    }
}

#[test]
fn an_error_contains_the_time_reported_by_the_service() {
    let body =
        r#"{"code":"store_changed","message":"why","permanent":false,"until":1763650000000}"#;
    let (url, _heads) = serve(|_| response(503, "", body));
    let error = send(&mut Http::open(&url).unwrap(), Operation::List).unwrap_err();
    assert_eq!((error.kind(), error.until()), (ErrorKind::StoreChanged, Some(1_763_650_000_000)));
}

#[test]
fn an_unreachable_service_is_unavailable() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://sesame@{}", listener.local_addr().unwrap());
    drop(listener);
    let error = Http::open(&url).unwrap_err();
    assert_eq!((error.kind(), error.is_permanent()), (ErrorKind::LeaseUnavailable, false));
    assert!(!error.to_string().contains("sesame"), "{error}");
}

#[test]
fn operators_require_direct_access_to_the_store() {
    let error = Operator::open("http://sesame@localhost:1", "orders/sno").err().unwrap();
    assert_eq!(error.kind(), ErrorKind::OutOfRange);
    assert!(error.to_string().contains("the store itself"), "{error}");
}

#[test]
fn a_lease_kept_by_a_task_works_over_http() {
    let (url, _heads) = serve(valid_response);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut store = AsyncHttp::open(&url).await.unwrap();
        let request = Request { number: 1, namespace: "orders".into(), operation: Operation::List };
        assert_eq!(store.answer(&request).await.unwrap().now, 7);
        assert!(Http::open(&url).unwrap_err().to_string().contains("use `AsyncHttp`"));
        // After a request is dropped, its connection must not be reused, because the late reply could be mistaken for the
        // next request's reply.
        let dropped = tokio::time::timeout(Duration::ZERO, store.answer(&request)).await;
        if dropped.is_err() {
            assert!(store.answer(&request).await.is_err());
        }
    });
}
