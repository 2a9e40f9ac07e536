//! Client connections, with limits on their number, idle time and age.

use std::{
    convert::Infallible, io, pin::pin, sync::Arc, sync::atomic::Ordering::Relaxed, time::Duration,
};

use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::{Semaphore, watch},
    time::{sleep, timeout},
};

use super::{Service, responses, tls};

/// The maximum wait for a TLS handshake or for the head of a request. It also limits how long an idle connection waits for
/// its next request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(5);

/// The age from which a connection accepts no further requests.
const MAX_CONNECTION_AGE: Duration = Duration::from_secs(60);

/// The maximum time that a connection may take to shut down. A request takes at most 15 seconds in the queue and 15 seconds
/// in the store.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(35);

/// The pause after a connection could not be accepted, for example because too many files are open.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(50);

const MAX_HEAD_BYTES: usize = 16 << 10;
const MAX_HEADERS: usize = 64;

/// Serves connections until the service stops, and then finishes the requests in progress. Connections beyond the maximum
/// wait in the system's queue.
pub(super) async fn accept(
    listener: TcpListener,
    service: Arc<Service>,
    tls: Option<Arc<tls::Acceptor>>,
    max_connections: u32,
    mut stopped: watch::Receiver<bool>,
) {
    let permits = Arc::new(Semaphore::new(max_connections as usize));
    loop {
        let next = async {
            let permit = permits.clone().acquire_owned().await;
            (permit, listener.accept().await)
        };
        let (permit, accepted) = tokio::select! {
            _ = stopped.changed() => break,
            next = next => next,
        };
        let Ok((stream, _)) = accepted else {
            sleep(ACCEPT_RETRY_DELAY).await;
            continue;
        };
        let (service, tls, stopped) = (service.clone(), tls.clone(), stopped.clone());
        tokio::spawn(async move {
            service.metrics.connections.fetch_add(1, Relaxed);
            handle(stream, &service, tls, stopped).await;
            service.metrics.connections.fetch_sub(1, Relaxed);
            drop(permit);
        });
    }
    drop(listener);
    // All permits can be acquired only after every connection has ended.
    let _ = timeout(SHUTDOWN_TIMEOUT, permits.acquire_many(max_connections)).await;
}

async fn handle(
    stream: TcpStream,
    service: &Arc<Service>,
    tls: Option<Arc<tls::Acceptor>>,
    stopped: watch::Receiver<bool>,
) {
    // Replies are short, so waiting for further bytes only delays them.
    let _ = stream.set_nodelay(true);
    match tls {
        None => serve(stream, service, stopped).await,
        Some(tls) => {
            if let Ok(Ok(stream)) = timeout(HEAD_TIMEOUT, tls.current().accept(stream)).await {
                serve(stream, service, stopped).await;
            }
        }
    }
}

async fn serve(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    service: &Arc<Service>,
    mut stopped: watch::Receiver<bool>,
) {
    let answer = service_fn(|request| async {
        Ok::<_, Infallible>(responses::answer(service, request).await)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(MAX_HEAD_BYTES)
        .max_headers(MAX_HEADERS)
        .serve_connection(TokioIo::new(stream), answer);
    let mut connection = pin!(connection);
    tokio::select! {
        // If the client closes the connection or an error ends it, no action is needed.
        _ = connection.as_mut() => return,
        _ = stopped.wait_for(|stopped| *stopped) => {}
        () = sleep(MAX_CONNECTION_AGE) => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = timeout(SHUTDOWN_TIMEOUT, connection).await;
}

/// A change that the service reports to its supervisor.
#[derive(Clone, Copy)]
pub(super) enum Change {
    Ready,
    Stopping,
}

/// Reports a change to systemd if it started the service with `Type=notify`.
pub(super) fn notify_supervisor(change: Change) -> io::Result<()> {
    #[cfg(unix)]
    return sd_notify::notify(&[match change {
        Change::Ready => sd_notify::NotifyState::Ready,
        Change::Stopping => sd_notify::NotifyState::Stopping,
    }]);
    #[cfg(not(unix))]
    return Ok(drop(change));
}

/// The signal SIGHUP, after which the service reads its files again. Without a handler, the signal would end the process.
#[cfg(unix)]
pub(super) struct Hangup(tokio::signal::unix::Signal);

#[cfg(unix)]
impl Hangup {
    pub(super) fn new() -> io::Result<Self> {
        tokio::signal::unix::signal(tokio::signal::unix::SignalKind::hangup()).map(Self)
    }

    pub(super) async fn wait(&mut self) {
        self.0.recv().await;
    }
}

/// A signal that does not exist on this system.
#[cfg(not(unix))]
pub(super) struct Hangup;

#[cfg(not(unix))]
impl Hangup {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self)
    }

    pub(super) async fn wait(&mut self) {
        std::future::pending().await
    }
}

/// Waits for the signal that ends the service.
pub(super) async fn wait_for_signal() -> io::Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminated = signal(SignalKind::terminate())?;
        tokio::select! {
            _ = terminated.recv() => Ok(()),
            interrupted = tokio::signal::ctrl_c() => interrupted,
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await
}
