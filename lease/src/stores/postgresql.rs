//! A store in `PostgreSQL`.
//!
//! Each request is a future that uses one connection ([`session`]). [`AsyncPostgresql`] runs these futures in a task, over
//! a dedicated connection or a pooled connection. [`Postgresql`] waits for the replies on the caller's thread.
//!
//! All statements are unnamed, because a pooler may use a different server connection for each transaction.

mod connection;
mod session;
mod task;

use std::time::Duration;

use crate::{
    Result,
    protocol::{Reply, Request, Store},
    rules::access::{Access, Schema},
    rules::error::out_of_range,
    rules::url::{self, StoreAddress, StoreUrl},
    stores::blocking::{BlockingStore, TIMEOUT},
    stores::tls,
};

pub use task::AsyncPostgresql;

/// A store in `PostgreSQL`.
///
/// Its calls block the thread. They therefore return an error on an executor's threads, including those of
/// `tokio::task::spawn_blocking`. In tasks, use [`AsyncPostgresql`] instead.
#[derive(Debug)]
pub struct Postgresql(BlockingStore<AsyncPostgresql>);

/// A server and the schema of the store's tables.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) address: url::Server,
    pub(crate) schema: Schema,
}

impl Server {
    /// Creates a server from its address. Rejects a server that this build cannot connect to.
    pub(crate) fn from_address(address: url::Server, schema: Schema) -> Result<Self> {
        tls::check(&address)?;
        Ok(Self { address, schema })
    }

    /// Parses a store's URL, and returns the options for opening the store.
    fn parse_url(url: &str) -> Result<(Self, Access)> {
        let read = || {
            let StoreUrl { site: StoreAddress::Server(server), schema, access, .. } =
                StoreUrl::parse(url)?
            else {
                return Err(out_of_range("it is not of PostgreSQL; write `postgres://`"));
            };
            Ok((Self::from_address(server, schema.unwrap_or_default())?, access))
        };
        read().map_err(|error| error.with_prefix("cannot read the URL of the store"))
    }
}

impl Postgresql {
    /// Connects to a server. Connecting can take up to 15 seconds, and so can each reply. The first request creates the
    /// tables if they do not exist. The URL may contain the parameters that [`open`](crate::protocol::open) describes.
    ///
    /// # Errors
    /// Returns `lease_unavailable` if the connection fails. Requests fail with `store_not_durable` if the server may lose
    /// commits, `store_damaged` if the tables have a different format, or `lease_unavailable` if the role lacks the
    /// required privileges.
    pub fn open(url: &str) -> Result<Self> {
        let (server, access) = Server::parse_url(url)?;
        Self::open_with_timeout(server, access, TIMEOUT)
    }

    /// Works like [`Postgresql::open`], but waits for at most `longest`, or for the default limit if that limit is shorter.
    pub(crate) fn open_with_timeout(
        server: Server,
        access: Access,
        longest: Duration,
    ) -> Result<Self> {
        BlockingStore::open(longest, AsyncPostgresql::connect(server, access)).map(Self)
    }
}

impl Store for Postgresql {
    fn answer(&mut self, request: &Request) -> Result<Reply> {
        self.0.answer(request)
    }
}
