//! A store behind `polyflake lease serve`, over HTTP.
//!
//! [`AsyncHttp`] sends requests over one connection. [`Http`] waits for them on the caller's thread, each up to a limit, so
//! that an unresponsive service never blocks callers.

use std::{
    string::{String, ToString},
    time::Duration,
};

use alloc::{borrow::ToOwned, boxed::Box, format, vec, vec::Vec};
use core::{future::Future, mem};

use http_body_util::{BodyExt, Full, Limited};
use hyper::{
    Request as Message, Response,
    body::{Bytes, Incoming},
    client::conn::http1::{SendRequest, handshake},
    header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue},
};
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    runtime::{Builder, Handle, Runtime},
    task::AbortHandle,
    time::timeout,
};

use crate::{
    AsyncStore, Error, ErrorKind, Reply, Request, Result, Store,
    rules::error::{no_reply, out_of_range},
    rules::forks,
    rules::url::{Location, Server, Site},
    stores::steps::{Engine, Failure, Outcome, Statement, Step, Steps, Value},
    stores::system::random,
};

/// The longest wait for a connection and for a reply, unless a lease is short.
const TIMEOUT: Duration = Duration::from_secs(15);

/// The longest wait for a connection, unless the URL sets a limit.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// The longest response. A reply has at most 64 records.
const MAX_RESPONSE_BYTES: usize = 1 << 20;

const CONNECTION: &str = "polyflake-connection";
const REQUEST: &str = "polyflake-request";

/// A store behind `polyflake lease serve`.
///
/// Its calls block the thread. On an executor's threads, including those of `tokio::task::spawn_blocking`, they therefore
/// return an error. In tasks, use [`AsyncHttp`] instead.
pub struct Http {
    /// The store, or `None` after a reply that did not arrive in time.
    open: Option<(AsyncHttp, Runtime)>,
    process: u32,
    limit: Duration,
}

/// A store behind `polyflake lease serve` for a Tokio task ([`Host`](crate::Host)), over its own connection.
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
    /// The connection, or `None` while a request uses it, and after a request that got no response.
    sender: Option<SendRequest<Full<Bytes>>>,
    /// The task that drives the connection.
    task: AbortHandle,
    /// The service's connection to its store, if the next request must reach the same one.
    kept: Option<HeaderValue>,
    process: u32,
}

/// Rejects a service that this build cannot reach.
pub(crate) fn check(server: &Server) -> Result<()> {
    if server.encrypts {
        #[cfg(feature = "tls")]
        return super::postgresql::tls::config(server.roots.as_deref()).map(drop);
        #[cfg(not(feature = "tls"))]
        return Err(out_of_range(
            "this build has no TLS; enable the feature `tls` of polyflake-lease",
        ));
    }
    Ok(())
}

fn read(url: &str) -> Result<Server> {
    let read = || {
        let Location { site: Site::Http(server), .. } = Location::read(url)? else {
            return Err(out_of_range("it is not of a service; write `https://`"));
        };
        check(&server)?;
        Ok(server)
    };
    read().map_err(|error| error.with_prefix("cannot read the URL of the store"))
}

impl Http {
    /// Connects to a service. Connecting can take up to 15 seconds, and so can each reply.
    ///
    /// # Errors
    /// Returns `out_of_range` if the URL is invalid, or `lease_unavailable` if the connection fails. Requests fail with the
    /// errors of the service and of the store behind it.
    pub fn open(url: &str) -> Result<Self> {
        Self::open_within(&read(url)?, TIMEOUT)
    }

    /// Works like [`Http::open`], with another limit if it is shorter.
    pub(crate) fn open_within(server: &Server, longest: Duration) -> Result<Self> {
        let (process, limit) = (forks::process_number()?, longest.min(TIMEOUT));
        check_thread()?;
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| unavailable(&error.to_string()))?;
        match runtime.block_on(in_time(limit, AsyncHttp::connect(server))) {
            Ok(store) => Ok(Self { open: Some((store, runtime)), process, limit }),
            Err(error) => {
                // The runtime may still be resolving a host name, and dropping it would wait for that.
                runtime.shutdown_background();
                Err(error)
            }
        }
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        let open = self.open.take();
        if forks::check(self.process).is_err() {
            mem::forget(open);
        } else if let Some((store, runtime)) = open {
            drop(store);
            runtime.shutdown_background();
        }
    }
}

impl core::fmt::Debug for Http {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Http").field("process", &self.process).finish_non_exhaustive()
    }
}

impl Store for Http {
    fn answer(&mut self, request: &Request) -> Result<Reply> {
        forks::check(self.process)?;
        check_thread()?;
        let (store, runtime) = self.open.as_mut().ok_or_else(no_connection)?;
        let answered = async { timeout(self.limit, store.answer(request)).await };
        runtime.block_on(answered).unwrap_or_else(|_| {
            let open = self.open.take();
            open.into_iter().for_each(|(_, runtime)| runtime.shutdown_background());
            Err(no_reply())
        })
    }
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
        Self::connect(&read(url)?).await
    }

    async fn connect(server: &Server) -> Result<Self> {
        let process = forks::process_number()?;
        let limit = server.connect_timeout.map_or(CONNECT_TIMEOUT, Duration::from_secs);
        let (sender, task) = in_time(limit, connect(server)).await?;
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

    /// Sends a request, and returns the response as a row.
    async fn run(&mut self, statement: &Statement) -> Result<Vec<Value>, Failure> {
        let Statement { text, values } = statement;
        let [Value::Integer(keeps), Value::Text(id)] = &**values else {
            return Err(failed("expected the values of a request"));
        };
        let mut sender = self.sender.take().ok_or_else(|| failed("the connection was closed"))?;
        let message = Message::post("/v1/request")
            .header(HOST, &self.host)
            .header(AUTHORIZATION, &self.authorization)
            .header(CONTENT_TYPE, "application/json")
            .header(REQUEST, id);
        let message = match self.kept.take() {
            Some(kept) => message.header(CONNECTION, kept),
            None => message,
        };
        let message = message.body(Full::from(text.clone())).map_err(failed)?;
        sender.ready().await.map_err(failed)?;
        let response = sender.send_request(message).await.map_err(failed)?;
        if *keeps == 1 {
            self.kept = response.headers().get(CONNECTION).cloned();
        }
        let row = row_of(response).await?;
        self.sender = Some(sender);
        Ok(row)
    }
}

async fn row_of(response: Response<Incoming>) -> Result<Vec<Value>, Failure> {
    let status = response.status().as_u16().into();
    let id = response.headers().get(REQUEST).and_then(|id| id.to_str().ok()).map(str::to_owned);
    let body = Limited::new(response.into_body(), MAX_RESPONSE_BYTES).collect().await;
    let body = body.map_err(failed)?.to_bytes().to_vec();
    let body = String::from_utf8(body).map_err(failed)?;
    Ok(vec![Value::Integer(status), Value::Text(body), id.map_or(Value::Null, Value::Text)])
}

type Connected = (SendRequest<Full<Bytes>>, AbortHandle);

async fn connect(server: &Server) -> Result<Connected> {
    let refused = |failure: Failure| Engine::Http.error(&failure);
    let (host, port) = server.host();
    let stream = TcpStream::connect((host, port)).await.map_err(|error| refused(failed(error)))?;
    // A request is short, so waiting for further bytes only delays it.
    let _ = stream.set_nodelay(true);
    #[cfg(feature = "tls")]
    if server.encrypts {
        let config = super::postgresql::tls::config(server.roots.as_deref())?;
        let name = rustls::pki_types::ServerName::try_from(host.to_owned());
        let name = name.map_err(|_| out_of_range("its host is no name that a certificate has"))?;
        let connector = tokio_rustls::TlsConnector::from(alloc::sync::Arc::new(config));
        let stream = connector.connect(name, stream).await;
        return begin(stream.map_err(|error| refused(failed(error)))?).await.map_err(refused);
    }
    begin(stream).await.map_err(refused)
}

/// Begins HTTP on a connection, which a task drives.
async fn begin(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
) -> Result<Connected, Failure> {
    let (sender, connection) = handshake(TokioIo::new(stream)).await.map_err(failed)?;
    // The request that needs the connection reports its error.
    let task = tokio::spawn(async move { drop(connection.await) });
    Ok((sender, task.abort_handle()))
}

impl Drop for AsyncHttp {
    fn drop(&mut self) {
        // In a forked child, ending the connection would end the parent's.
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

/// Returns a failure without a code, after which it is unknown whether the request was executed.
fn failed(error: impl Into<Box<dyn core::error::Error + Send + Sync>>) -> Failure {
    let error = error.into();
    let (mut message, mut cause) = (error.to_string(), error.source());
    while let Some(found) = cause {
        message = format!("{message}: {found}");
        cause = found.source();
    }
    Failure { code: None, message }
}

/// Rejects a thread of an executor, which must not be blocked.
fn check_thread() -> Result<()> {
    if Handle::try_current().is_err() {
        return Ok(());
    }
    let reason =
        "expected a thread that may block, found one of an async executor: use `AsyncHttp`";
    Err(Error::new(ErrorKind::LeaseUnavailable, reason))
}

/// Returns the result of work with a time limit.
async fn in_time<V>(longest: Duration, work: impl Future<Output = Result<V>>) -> Result<V> {
    timeout(longest, work).await.unwrap_or_else(|_| Err(no_reply()))
}

fn no_connection() -> Error {
    unavailable("the last request got no answer")
}

fn unavailable(found: &str) -> Error {
    let reason = format!("there is no connection to the service: {found}");
    Error::new(ErrorKind::LeaseUnavailable, reason)
}
