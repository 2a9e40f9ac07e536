//! `polyflake lease serve`: answers lease requests over HTTP, with any store as its backend.
//!
//! The service is stateless. It passes each request to the store behind it, and returns the store's reply together with the
//! store's name and time. Therefore all lease rules apply unchanged: a reply is sent only after the write is durable, and a
//! restored store has a different name. For the same reason, the service never retries a request on its own, and creates a
//! store only with `--create`.
//!
//! If a reply is lost, the holder settles the outcome with a read and a write on one connection (R2 in `docs/leases.md`).
//! Each reply names the store connection that it came from, and a request may require that same connection.

mod access;
mod metrics;
mod network;
mod pool;
mod responses;
mod tls;

use std::{
    net::SocketAddr,
    path::PathBuf,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use polyflake_lease::protocol::{Operation, Request};
use tokio::sync::watch;

use crate::{failure::Failure, lease::store_url};

use access::Tokens;
use metrics::Metrics;
use network::Hangup;
use pool::Pool;

/// The interval at which the service checks the store and reloads the tokens and the certificate.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);

/// Leases worker IDs from any store over HTTP, for programs that cannot connect to the store.
#[derive(clap::Args)]
#[command(before_help = "\
Examples:
  polyflake lease serve --create --url sqlite:/var/lib/polyflake/ids.db --tokens /etc/polyflake/tokens
  polyflake lease serve --listen 0.0.0.0:8420 --certificate cert.pem --key key.pem --tokens tokens")]
pub(crate) struct Arguments {
    /// The lease store: sqlite:FILE, or the URL of a database or of a service. Defaults to the variable `POLYFLAKE_LEASE`.
    #[arg(long)]
    url: Option<String>,
    /// A file that contains a line `NAMESPACE TOKEN` for each token. By default, the tokens are read from the environment
    /// variable `POLYFLAKE_TOKENS`.
    #[arg(long, value_name = "FILE")]
    tokens: Option<PathBuf>,
    /// The address and the port to listen on.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8420")]
    listen: SocketAddr,
    /// A PEM file with the certificate chain for TLS.
    #[arg(long, value_name = "FILE", requires = "key")]
    certificate: Option<PathBuf>,
    /// A PEM file with the private key of the certificate.
    #[arg(long, value_name = "FILE", requires = "certificate")]
    key: Option<PathBuf>,
    /// Serves plain HTTP to other machines, for use behind a proxy that encrypts the traffic.
    #[arg(long, conflicts_with = "certificate")]
    behind_proxy: bool,
    /// Creates the store if it does not exist. Omit this option on later starts, so that an empty volume causes an error.
    #[arg(long)]
    create: bool,
    /// The maximum number of connections from clients.
    #[arg(long, value_name = "N", default_value_t = 512, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    max_connections: u32,
    /// The maximum number of connections to the store: 8 by default, 1 for a file.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=64))]
    store_connections: Option<u8>,
    /// The number of requests per second for each namespace. A burst may contain up to four times as many requests.
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    rate: u32,
}

/// The state that all client connections share.
struct Service {
    tokens: RwLock<Arc<Tokens>>,
    pool: Pool,
    metrics: Metrics,
    rate: u32,
}

impl Service {
    fn tokens(&self) -> Arc<Tokens> {
        self.tokens.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    check_listener(arguments)?;
    let url = store_url(arguments.url.as_deref())?;
    let tokens = Tokens::load(arguments.tokens.as_deref())?;
    let tls =
        tls::CertificateFiles::from_arguments(arguments).map(tls::Acceptor::load).transpose()?;
    if arguments.create {
        polyflake_lease::protocol::open(&url)?.answer(&probe())?;
    }
    let count =
        arguments.store_connections.unwrap_or(if url.starts_with("sqlite") { 1 } else { 8 });
    let pool = Pool::start(count, move || polyflake_lease::protocol::open_existing(&url))?;
    let (tokens, metrics) = (RwLock::new(Arc::new(tokens)), Metrics::default());
    let service = Arc::new(Service { tokens, pool, metrics, rate: arguments.rate });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(serve(arguments, service, tls))
}

/// Rejects an address at which tokens would cross a network in plain text.
fn check_listener(arguments: &Arguments) -> Result<(), Failure> {
    let Arguments { listen, certificate, behind_proxy, .. } = arguments;
    if listen.ip().is_loopback() || certificate.is_some() || *behind_proxy {
        return Ok(());
    }
    let expected =
        format!("expected TLS at {listen}, because tokens would cross the network as plain text");
    let remedy = "add --certificate and --key, or --behind-proxy if a proxy encrypts";
    Err(Failure::new("out_of_range", format!("{expected}: {remedy}")))
}

async fn serve(
    arguments: &Arguments,
    service: Arc<Service>,
    tls: Option<tls::Acceptor>,
) -> Result<(), Failure> {
    check_store(&service).await?;
    let listener = tokio::net::TcpListener::bind(arguments.listen).await?;
    let scheme = if tls.is_some() { "https" } else { "http" };
    anstream::eprintln!("listening on {scheme}://{}", listener.local_addr()?);
    if let Some(path) = &arguments.tokens {
        access::warn_about_readers(path)?;
    }
    let (stop, stopped) = watch::channel(false);
    let (tls, tokens) = (tls.map(Arc::new), arguments.tokens.clone());
    let hangup = Hangup::new()?;
    let watching =
        tokio::spawn(watch_files_and_store(service.clone(), tls.clone(), tokens, hangup));
    let accepting = network::accept(listener, service, tls, arguments.max_connections, stopped);
    let accepting = tokio::spawn(accepting);
    network::notify_supervisor(network::Change::Ready)?;
    network::wait_for_signal().await?;
    anstream::eprintln!("stopping");
    // The requests in progress are completed also if the supervisor cannot be reached.
    let _ = network::notify_supervisor(network::Change::Stopping);
    watching.abort();
    let _ = stop.send(true);
    accepting.await.map_err(|error| Failure::new("io_failed", error.to_string()))
}

/// Checks the store and reloads the tokens and the certificate from their files, at regular intervals and after a SIGHUP.
/// Runs until the service aborts the task.
async fn watch_files_and_store(
    service: Arc<Service>,
    tls: Option<Arc<tls::Acceptor>>,
    tokens: Option<PathBuf>,
    mut hangup: Hangup,
) {
    loop {
        let _ = tokio::time::timeout(CHECK_INTERVAL, hangup.wait()).await;
        let was_up = service.metrics.is_store_up();
        match check_store(&service).await {
            Err(failure) if was_up => drop(failure.report()),
            Ok(()) if !was_up => anstream::eprintln!("the store answers again"),
            _ => {}
        }
        // If a file cannot be read, the previously read tokens or certificate remain in use.
        if let Some(path) = &tokens {
            match Tokens::load(Some(path)) {
                Ok(read) => renew_tokens(&service, read),
                Err(failure) => drop(failure.report()),
            }
        }
        if let Some(Err(failure)) = tls.as_ref().map(|tls| tls.reload()) {
            failure.report();
        }
    }
}

/// Replaces the tokens if they have changed. Otherwise, the current tokens keep the state of their rate limits.
fn renew_tokens(service: &Service, read: Tokens) {
    if *service.tokens() != read {
        *service.tokens.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(read);
        anstream::eprintln!("read the tokens again");
    }
}

async fn check_store(service: &Service) -> Result<(), Failure> {
    let checked = service.pool.answer(probe(), None).await;
    service.metrics.set_store_up(checked.is_ok());
    checked.map(drop).map_err(|rejection| Failure::new(rejection.code, rejection.message))
}

/// Returns a request that every store can answer.
fn probe() -> Request {
    Request { number: 0, namespace: "none".to_owned(), operation: Operation::Read { first: 0 } }
}
