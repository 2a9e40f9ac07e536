//! A store behind `polyflake lease serve`, accessed over HTTP.
//!
//! [`AsyncHttp`] sends requests over one connection. [`Http`] waits for the replies on the caller's thread.

use std::{string::String, time::Duration};

use alloc::{borrow::ToOwned, boxed::Box, format, vec, vec::Vec};
use core::mem;

use http_body_util::{BodyExt, Full, Limited};
use hyper::{
    Request as Message, Response,
    body::{Bytes, Incoming},
    client::conn::http1::{SendRequest, handshake},
    header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue},
};
use hyper_util::rt::TokioIo;
use tokio::task::AbortHandle;

use crate::{
    Result,
    protocol::{AsyncStore, Reply, Request, Store},
    rules::error::out_of_range,
    rules::forks,
    rules::url::{Server, StoreAddress, StoreUrl},
    stores::blocking::{
        BlockingStore, SingleConnectionStore, TIMEOUT, connect_timeout, with_time_limit,
    },
    stores::steps::{Engine, Failure, Outcome, Statement, Step, Steps, Value},
    stores::system::random,
    stores::tls,
    stores::transport::{self, Stream, connection_failure},
};

/// The maximum size of a response. A reply contains at most 64 records.
const MAX_RESPONSE_BYTES: usize = 1 << 20;

const CONNECTION_HEADER: &str = "polyflake-connection";
const REQUEST_HEADER: &str = "polyflake-request";

/// A store behind `polyflake lease serve`.
///
/// Its calls block the thread. They therefore return an error on an executor's threads, including those of
/// `tokio::task::spawn_blocking`. In tasks, use [`AsyncHttp`] instead.
#[derive(Debug)]
pub struct Http(BlockingStore<AsyncHttp>);

/// A store behind `polyflake lease serve`, for use in a Tokio task ([`Host`](crate::Host)). Each store has its own
/// connection.
///
/// ```no_run
/// use std::time::Duration;
/// use polyflake_lease::{AsyncHttp, Host, Options, Shape, sno};
///
/// # async fn work() -> polyflake_lease::Result<()> {
/// let open = || AsyncHttp::open("https://0f3a5b9e7d1c2a4b6c8d0e@ids.example");
/// let host = Host::new(open, tokio::time::sleep, |task| drop(tokio::spawn(task)));
/// let options = Options::new("orders", Shape::sno(0..=1023)?)?;
/// let ids = sno::Generator::with_async(host, options, Duration::from_secs(10), tokio::time::sleep).await?;
/// # Ok(())
/// # }
/// ```
pub struct AsyncHttp {
    host: HeaderValue,
    authorization: HeaderValue,
    /// The connection, or `None` while a request uses it and after a request that received no response.
    sender: Option<SendRequest<Full<Bytes>>>,
    /// The task that drives the connection.
    task: AbortHandle,
    /// The ID of the service's connection to its store. It is set only if the next request must use the same connection.
    kept: Option<HeaderValue>,
    process: u32,
}

fn parse_url(url: &str) -> Result<Server> {
    let read = || {
        let StoreUrl { site: StoreAddress::Http(server), .. } = StoreUrl::parse(url)? else {
            return Err(out_of_range("it is not of a service; write `https://`"));
        };
        tls::check(&server)?;
        Ok(server)
    };
    read().map_err(|error| error.with_prefix("cannot read the URL of the store"))
}

impl Http {
    /// Connects to a service. Connecting can take up to 15 seconds, and so can each reply.
    ///
    /// # Errors
    /// Returns `out_of_range` if the URL is invalid, or `lease_unavailable` if the connection fails. Requests can return
    /// any error of the service or of the store behind it.
    pub fn open(url: &str) -> Result<Self> {
        Self::open_with_timeout(&parse_url(url)?, TIMEOUT)
    }

    /// Works like [`Http::open`], but waits for at most `longest`, or for the default limit if that limit is shorter.
    pub(crate) fn open_with_timeout(server: &Server, longest: Duration) -> Result<Self> {
        BlockingStore::open(longest, AsyncHttp::connect(server)).map(Self)
    }
}

impl Store for Http {
    fn answer(&mut self, request: &Request) -> Result<Reply> {
        self.0.answer(request)
    }
}

impl SingleConnectionStore for AsyncHttp {
    const NAME: &str = "AsyncHttp";
}

impl AsyncHttp {
    /// Connects to a service.
    ///
    /// # Errors
    /// Returns the same errors as [`Http::open`].
    ///
    /// # Panics
    /// Panics outside a Tokio runtime.
    pub async fn open(url: &str) -> Result<Self> {
        Self::connect(&parse_url(url)?).await
    }

    async fn connect(server: &Server) -> Result<Self> {
        let process = forks::process_generation()?;
        let connected = async {
            let stream = transport::connect(server, &Engine::Http).await?;
            start_connection(stream).await.map_err(|failure| Engine::Http.error(&failure))
        };
        let (sender, task) = with_time_limit(connect_timeout(server), connected).await?;
        let (host, port) = server.host();
        let host =
            if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") };
        let token = server.password.as_deref().unwrap_or_default();
        let wrong = |_| out_of_range("expected a host and a token for the head of a request");
        let host = HeaderValue::try_from(host).map_err(wrong)?;
        let mut authorization = HeaderValue::try_from(format!("Bearer {token}")).map_err(wrong)?;
        authorization.set_sensitive(true);
        Ok(Self { host, authorization, sender: Some(sender), task, kept: None, process })
    }

    /// Sends a request and returns the response as a row.
    async fn run(&mut self, statement: &Statement) -> Result<Vec<Value>, Failure> {
        let Statement { text, values } = statement;
        let [Value::Integer(keeps), Value::Text(id)] = &**values else {
            return Err(connection_failure("expected the values of a request"));
        };
        let mut sender =
            self.sender.take().ok_or_else(|| connection_failure("the connection was closed"))?;
        let message = Message::post("/v1/request")
            .header(HOST, &self.host)
            .header(AUTHORIZATION, &self.authorization)
            .header(CONTENT_TYPE, "application/json")
            .header(REQUEST_HEADER, id);
        let message = match self.kept.take() {
            Some(kept) => message.header(CONNECTION_HEADER, kept),
            None => message,
        };
        let message = message.body(Full::from(text.clone())).map_err(connection_failure)?;
        sender.ready().await.map_err(connection_failure)?;
        let response = sender.send_request(message).await.map_err(connection_failure)?;
        if *keeps == 1 {
            self.kept = response.headers().get(CONNECTION_HEADER).cloned();
        }
        let row = read_row(response).await?;
        self.sender = Some(sender);
        Ok(row)
    }
}

async fn read_row(response: Response<Incoming>) -> Result<Vec<Value>, Failure> {
    let status = response.status().as_u16().into();
    let id =
        response.headers().get(REQUEST_HEADER).and_then(|id| id.to_str().ok()).map(str::to_owned);
    let body = Limited::new(response.into_body(), MAX_RESPONSE_BYTES).collect().await;
    let body = body.map_err(connection_failure)?.to_bytes().to_vec();
    let body = String::from_utf8(body).map_err(connection_failure)?;
    Ok(vec![Value::Integer(status), Value::Text(body), id.map_or(Value::Null, Value::Text)])
}

/// Performs the HTTP handshake over a stream, and spawns a task that drives the connection.
async fn start_connection(
    stream: Box<dyn Stream>,
) -> Result<(SendRequest<Full<Bytes>>, AbortHandle), Failure> {
    let (sender, connection) = handshake(TokioIo::new(stream)).await.map_err(connection_failure)?;
    // The task ignores the connection's error, because the request that uses the connection reports it.
    let task = tokio::spawn(async move { drop(connection.await) });
    Ok((sender, task.abort_handle()))
}

impl Drop for AsyncHttp {
    fn drop(&mut self) {
        // A forked child must not close the connection, because this would also close the parent's connection.
        if forks::check(self.process).is_err() {
            mem::forget(self.sender.take());
        } else {
            self.task.abort();
        }
    }
}

impl core::fmt::Debug for AsyncHttp {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("AsyncHttp").field("process", &self.process).finish_non_exhaustive()
    }
}

impl AsyncStore for AsyncHttp {
    async fn answer(&mut self, request: &Request) -> Result<Reply> {
        forks::check(self.process)?;
        let mut steps = Steps::new(Engine::Http, request, random()?);
        let mut outcome = Outcome::default();
        loop {
            match steps.next(outcome)? {
                Step::Run(statements) => {
                    let mut results = Vec::new();
                    for statement in &statements {
                        results.push(self.run(statement).await.map(|row| vec![row]));
                    }
                    outcome = results.into_iter().collect();
                }
                Step::Done(reply) => return Ok(*reply),
            }
        }
    }
}
