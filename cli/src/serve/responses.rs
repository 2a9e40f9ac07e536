//! Responses to HTTP requests. Every error is a JSON object with a stable code.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::{
    Method, Request as Message, Response, StatusCode,
    body::{Bytes, Incoming},
    header::{
        ALLOW, AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER,
    },
};
use polyflake_lease::{
    Error, ErrorKind,
    protocol::{Operation, Reply, ReplyContent, Request},
};
use serde_json::json;
use tokio::time::timeout;

use super::{Service, access::NamespaceTokens};

/// The header with the name of a connection to the store. In a reply, it names the connection that the reply came from. In
/// a request, it names the only connection that may serve the request.
const CONNECTION_HEADER: &str = "polyflake-connection";

/// The name of the header whose value the service copies from a request to the reply, so that a client can reject a reply
/// to a different request.
const REQUEST_HEADER: &str = "polyflake-request";
const MAX_REQUEST_LEN: usize = 64;

/// The maximum size of a request body. A request contains at most two records of a namespace.
const MAX_BODY_BYTES: usize = 64 << 10;

/// The maximum time to wait for a request body.
const BODY_TIMEOUT: Duration = Duration::from_secs(5);

/// The maximum number of records in a reply. Holders request eight.
const MAX_RECORDS: u32 = 64;

/// An error response that the service sends to a client.
#[derive(Debug)]
pub(super) struct Rejection {
    status: StatusCode,
    pub(super) code: &'static str,
    pub(super) message: String,
    is_permanent: bool,
    until: Option<u64>,
    retry_after: Option<Duration>,
}

impl Rejection {
    fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        let is_permanent = status.is_client_error();
        let message = message.into();
        Self { status, code, message, is_permanent, until: None, retry_after: None }
    }

    fn into_temporary(self) -> Self {
        Self { is_permanent: false, ..self }
    }

    /// Returns the rejection of a request for which no connection to the store was available in time.
    pub(super) fn overloaded() -> Self {
        let reason = "the service has more requests than its store can answer in time";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "overloaded", reason)
    }

    /// Returns the rejection of a request whose required connection has ended or belongs to another instance of the
    /// service.
    pub(super) fn connection_lost() -> Self {
        let reason =
            "the service no longer has the connection to the store that the last reply came from";
        Self::new(StatusCode::CONFLICT, "connection_lost", reason).into_temporary()
    }

    fn into_response(self) -> Response<Full<Bytes>> {
        let body = json!({
            "code": self.code,
            "message": self.message,
            "permanent": self.is_permanent,
            "until": self.until,
        });
        let mut response = response(self.status, "application/json", body.to_string());
        if let Some(pause) = self.retry_after {
            let seconds = pause.as_secs().max(1).into();
            response.headers_mut().insert(RETRY_AFTER, seconds);
        }
        if self.status == StatusCode::UNAUTHORIZED {
            let scheme = HeaderValue::from_static("Bearer");
            response.headers_mut().insert(hyper::header::WWW_AUTHENTICATE, scheme);
        }
        response
    }
}

impl From<Error> for Rejection {
    fn from(error: Error) -> Self {
        let status = match error.kind() {
            ErrorKind::OutOfRange => StatusCode::BAD_REQUEST,
            _ => StatusCode::SERVICE_UNAVAILABLE,
        };
        let rejection = Self::new(status, error.code(), error.to_string());
        Self { is_permanent: error.is_permanent(), until: error.until(), ..rejection }
    }
}

pub(super) async fn answer(
    service: &Arc<Service>,
    message: Message<Incoming>,
) -> Response<Full<Bytes>> {
    match (message.uri().path(), message.method()) {
        ("/v1/request", &Method::POST) => handle_request(service, message).await,
        ("/healthz", &(Method::GET | Method::HEAD)) if service.metrics.is_store_up() => {
            response(StatusCode::OK, "text/plain", "ok\n".into())
        }
        ("/healthz", &(Method::GET | Method::HEAD)) => {
            response(StatusCode::SERVICE_UNAVAILABLE, "text/plain", "no store\n".into())
        }
        ("/metrics", &(Method::GET | Method::HEAD)) => {
            let text = service.metrics.to_text(service.pool.waiting_count());
            response(StatusCode::OK, "text/plain; version=0.0.4", text)
        }
        (path @ ("/v1/request" | "/healthz" | "/metrics"), method) => {
            let allowed = if path == "/v1/request" { "POST" } else { "GET, HEAD" };
            let mut response = if method == Method::OPTIONS {
                response(StatusCode::NO_CONTENT, "text/plain", String::new())
            } else {
                let expected = format!("expected the method {allowed}");
                let status = StatusCode::METHOD_NOT_ALLOWED;
                Rejection::new(status, "method_not_allowed", expected).into_response()
            };
            response.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
            response
        }
        _ => {
            let expected = "expected the path /v1/request, /healthz or /metrics";
            Rejection::new(StatusCode::NOT_FOUND, "not_found", expected).into_response()
        }
    }
}

async fn handle_request(service: &Service, message: Message<Incoming>) -> Response<Full<Bytes>> {
    let repeated = message.headers().get(REQUEST_HEADER).cloned();
    let answered = if repeated.as_ref().is_some_and(|value| value.len() > MAX_REQUEST_LEN) {
        Err(invalid_request(format!(
            "expected at most {MAX_REQUEST_LEN} bytes in {REQUEST_HEADER}"
        )))
    } else {
        process(service, message).await
    };
    service
        .metrics
        .count_request(answered.as_ref().map_or_else(|rejection| rejection.code, |_| "ok"));
    match answered {
        Ok((reply, connection)) => {
            let mut response = response(StatusCode::OK, "application/json", reply.to_json());
            let headers = response.headers_mut();
            if let Ok(name) = connection.parse() {
                headers.insert(CONNECTION_HEADER, name);
            }
            if let Some(value) = repeated {
                headers.insert(REQUEST_HEADER, value);
            }
            response
        }
        Err(rejection) => rejection.into_response(),
    }
}

async fn process(
    service: &Service,
    message: Message<Incoming>,
) -> Result<(Reply, String), Rejection> {
    let tokens = service.tokens();
    let access = bearer_token(message.headers()).and_then(|token| tokens.find(token));
    let access = access.ok_or_else(|| {
        let expected =
            "expected the token of a namespace in the header `Authorization: Bearer TOKEN`";
        Rejection::new(StatusCode::UNAUTHORIZED, "unauthorized", expected)
    })?;
    access.admit_request(service.rate, Instant::now()).map_err(|pause| {
        let status = StatusCode::TOO_MANY_REQUESTS;
        let reason = "the namespace has more requests than its rate allows";
        Rejection {
            retry_after: Some(pause),
            ..Rejection::new(status, "rate_limited", reason).into_temporary()
        }
    })?;
    let connection =
        message.headers().get(CONNECTION_HEADER).map(|name| name.to_str().map(str::to_owned));
    let connection = connection.transpose().map_err(|_| Rejection::connection_lost())?;
    let request = parse(access, message.into_body()).await?;
    let began = Instant::now();
    let (reply, connection) = service.pool.answer(request, connection).await?;
    service.metrics.record_reply_time(began.elapsed());
    Ok((remove_forbidden_names(access, reply), connection))
}

/// Returns the token in the headers. The scheme is case-insensitive.
fn bearer_token(headers: &HeaderMap) -> Option<&[u8]> {
    let (scheme, token) = headers.get(AUTHORIZATION)?.as_bytes().split_at_checked(7)?;
    scheme.eq_ignore_ascii_case(b"bearer ").then_some(token)
}

/// Reads a request, and rejects it if the token does not grant access to the request's namespace.
async fn parse(access: &NamespaceTokens, body: Incoming) -> Result<Request, Rejection> {
    let body = timeout(BODY_TIMEOUT, Limited::new(body, MAX_BODY_BYTES).collect()).await;
    let body = body.map_err(|_| {
        let expected = format!("expected the whole body within {} seconds", BODY_TIMEOUT.as_secs());
        Rejection::new(StatusCode::REQUEST_TIMEOUT, "body_too_slow", expected).into_temporary()
    })?;
    let body = body.map_err(|error| match error.downcast_ref::<LengthLimitError>() {
        Some(_) => {
            let expected = format!("expected at most {MAX_BODY_BYTES} bytes");
            Rejection::new(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", expected)
        }
        None => invalid_request("expected the whole body, found a part of it").into_temporary(),
    })?;
    let body = body.to_bytes();
    let text = str::from_utf8(&body).map_err(|_| invalid_request("expected UTF-8"))?;
    let request = Request::from_json(text).map_err(|error| match error.kind() {
        ErrorKind::SchemaTooNew => error.into(),
        _ => invalid_request(error.to_string()),
    })?;
    if !access.permits(&request.namespace) {
        let reason = "the token is not one of the request's namespace";
        return Err(Rejection::new(StatusCode::FORBIDDEN, "forbidden", reason));
    }
    check(&request)?;
    Ok(request)
}

/// Rejects a request that contains records of another namespace, or whose reply could contain too many records.
fn check(request: &Request) -> Result<(), Rejection> {
    let names: &[&str] = match &request.operation {
        Operation::Open(new) => &[&new.name],
        Operation::PutNamespace { old, new, .. } => &[&old.name, &new.name],
        Operation::Find { limit } if *limit > MAX_RECORDS => {
            let remedy = "operators' commands need the store itself";
            let reason = format!("expected a limit of at most {MAX_RECORDS}: {remedy}");
            return Err(Error::new(ErrorKind::OutOfRange, reason).into());
        }
        _ => &[],
    };
    if names.iter().all(|name| **name == request.namespace) {
        return Ok(());
    }
    Err(invalid_request("expected records of the request's namespace, found another one"))
}

/// Leaves out the names of namespaces that the token may not use.
fn remove_forbidden_names(access: &NamespaceTokens, reply: Reply) -> Reply {
    match reply.content {
        ReplyContent::Names(names) => {
            let names = names.into_iter().filter(|name| access.permits(name)).collect();
            Reply { content: ReplyContent::Names(names), ..reply }
        }
        _ => reply,
    }
}

fn invalid_request(reason: impl Into<String>) -> Rejection {
    Rejection::new(StatusCode::BAD_REQUEST, "invalid_request", reason)
}

fn response(status: StatusCode, kind: &'static str, body: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
