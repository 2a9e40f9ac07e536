//! Opens stores from URLs.

#[cfg(feature = "sqlite")]
use std::path::PathBuf;
use std::{
    boxed::Box,
    collections::HashMap,
    string::{String, ToString},
    sync::{LazyLock, Mutex, OnceLock, PoisonError},
    time::Duration,
};

use alloc::format;

use polyflake::fork;

use crate::{
    Error, ErrorKind, Memory, Result,
    protocol::{Reply, Request, Store},
    rules::access::{Access, Create},
    rules::check::Check,
    rules::error::out_of_range,
    rules::lease_url::LeaseUrl,
    rules::url::{StoreAddress, StoreUrl},
    stores::system,
};

/// Opens the store that a URL names. The URL is `postgres://` followed by an address (feature `postgresql`), `mysql://` or
/// `mariadb://` followed by an address (feature `mysql`), `redis://` or `rediss://` followed by an address (feature
/// `redis`), `https://` followed by a token and an address (feature `http`), `sqlite:` followed by a file's path (feature
/// `sqlite`), or `memory:` followed by a name. A relative path is resolved against the current working directory. An
/// in-memory store is intended for tests: the process's threads share it, and it exists until the process ends. Forked
/// child processes cannot use it.
///
/// URL parameters can select a `PostgreSQL` schema other than `polyflake` (`?schema=orders`), create tables even if the
/// database contains another store (`?create=second-store`), or allow a file on overlayfs (`?allow=overlayfs`).
///
/// # Errors
/// Returns `out_of_range` for any other URL, or any error from the store.
pub fn open(url: &str) -> Result<Box<dyn Store>> {
    Address::from_url(url)?.open(Duration::MAX)
}

/// Opens the store that a URL names, like [`open`], but creates neither a file nor tables. This function is meant for
/// programs that forward requests. With [`open`], a wrong path or an empty volume would cause such a program to create a
/// second store.
///
/// ```
/// # #[cfg(feature = "sqlite")]
/// assert!(polyflake_lease::protocol::open_existing("sqlite:/nowhere/ids.db").is_err());
/// ```
///
/// # Errors
/// Returns `lease_unavailable` if the store does not exist, or any error from [`open`]. For a store on a server, the error
/// is returned by the first request instead of by this function.
pub fn open_existing(url: &str) -> Result<Box<dyn Store>> {
    Address::from_url(url)?.require_existing().open(Duration::MAX)
}

/// Checks whether a lease could be acquired. This function is meant for deployment scripts. The URL names a namespace, in
/// the same way as the URL in `POLYFLAKE_LEASE`. Without a URL, the function reads the environment variables. The check
/// neither leases a worker ID nor writes to the store. It accepts a store that does not exist yet but could be created.
/// Returns the store's name without a password.
///
/// Do not make the first process wait for this check. After a restore, the check fails until the quiet time has ended, and
/// the quiet time begins only when a process requests a worker ID.
///
/// ```
/// let store = polyflake_lease::check(Some("memory:checked?namespace=orders"))?;
/// assert_eq!(store, "memory:checked");
/// let error = polyflake_lease::check(Some("sqlite:/nowhere/ids.db?namespace=orders")).unwrap_err();
/// # #[cfg(feature = "sqlite")]
/// assert_eq!(
///     error.to_string(),
///     "cannot lease a worker ID from sqlite:/nowhere/ids.db: the folder does not exist",
/// );
/// # Ok::<(), polyflake_lease::Error>(())
/// ```
///
/// # Errors
/// Immediately returns the reason why a lease could not be acquired: `out_of_range` if the URL is invalid,
/// `lease_unavailable` if the store is unreachable, `store_not_durable`, `store_changed`, `worker_ids_exhausted`,
/// `clock_skewed` or another lease error.
pub fn check(url: Option<&str>) -> Result<String> {
    let lease_url = match url {
        Some(url) => LeaseUrl::parse(url, None),
        None => LeaseUrl::from_env(None),
    }?;
    let options = lease_url.check_options()?;
    let lead = format!("cannot lease a worker ID {}", options.store_phrase());
    run_check(&lease_url, Duration::from_millis(options.reply_timeout()))
        .map_err(|error| error.with_prefix(&lead))?;
    Ok(lease_url.name())
}

fn run_check(lease_url: &LeaseUrl, longest: Duration) -> Result<()> {
    let address = Address::from_store_url(lease_url.store_url().clone())?.for_check();
    #[cfg(feature = "sqlite")]
    if let Kind::Sqlite(path) = &address.store
        && !crate::stores::steps::file::check(path, address.access)?
    {
        // A missing file is not an error, because the first lease can create it. Nothing else needs to be checked, and the
        // check must not leave a file behind.
        return Ok(());
    }
    let mut store = address.open(longest)?;
    let mut check = Check::new(lease_url.namespace());
    while let Some(request) = check.next() {
        check.process_reply(store.answer(&request)?, system::unix_ms())?;
    }
    Ok(())
}

/// The store that a URL names, resolved so that it does not depend on the working directory.
pub(crate) struct Address {
    name: String,
    store: Kind,
    access: Access,
    is_volatile: bool,
}

enum Kind {
    Memory(String),
    #[cfg(feature = "sqlite")]
    Sqlite(PathBuf),
    #[cfg(feature = "postgresql")]
    Postgresql(crate::stores::postgresql::Server),
    #[cfg(feature = "mysql")]
    Mysql(crate::rules::url::Server),
    #[cfg(feature = "redis")]
    Redis(crate::rules::url::Server),
    #[cfg(feature = "http")]
    Http(crate::rules::url::Server),
}

impl Address {
    /// Returns the store that a URL names. The URL must not contain a namespace or lease terms, because the caller
    /// specifies them separately.
    pub(crate) fn from_url(url: &str) -> Result<Self> {
        let read = || {
            let store_url = StoreUrl::parse(url)?;
            if let Some(name) = store_url.lease_parameter() {
                let reason =
                    format!("the parameter `{name}` is not read here; state it in the call");
                return Err(out_of_range(reason));
            }
            Self::from_store_url(store_url)
        };
        read().map_err(|error| error.with_prefix("cannot read the URL of the store"))
    }

    /// Returns the store of a parsed URL.
    pub(crate) fn from_store_url(store_url: StoreUrl) -> Result<Self> {
        Ok(Self {
            name: store_url.site.to_string(),
            access: store_url.access,
            is_volatile: matches!(store_url.site, StoreAddress::Redis(_)),
            store: Kind::from_store_url(store_url)?,
        })
    }

    /// Returns the store's name for use in messages. It does not contain the password.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the store with access options for a program that only reads the store and must not create it.
    pub(crate) fn require_existing(self) -> Self {
        Self { access: Access { create: Create::Nothing, ..self.access }, ..self }
    }

    /// Returns the store with access options for a program that only checks whether the store could be created.
    fn for_check(self) -> Self {
        let create = self.access.create.trial();
        Self { access: Access { create, ..self.access }, ..self }
    }

    /// Rejects an HTTP service, because a service's token does not give access to the records that operator commands need.
    #[cfg_attr(
        not(feature = "http"),
        expect(clippy::unnecessary_wraps, reason = "without services, every store is accepted")
    )]
    pub(crate) fn for_operator(self) -> Result<Self> {
        #[cfg(feature = "http")]
        if let Kind::Http(_) = &self.store {
            let expected = "expected the URL of the store itself, found that of a service";
            return Err(out_of_range(format!("{expected}, which only serves leases")));
        }
        Ok(self.require_existing())
    }

    /// Returns whether the store may lose its data and therefore grants only short leases.
    pub(crate) fn is_volatile(&self) -> bool {
        self.is_volatile
    }

    /// Returns the schema of the tables if the store is in `PostgreSQL`.
    pub(crate) fn schema(&self) -> Option<String> {
        match &self.store {
            #[cfg(feature = "postgresql")]
            Kind::Postgresql(server) => Some(server.schema.name().to_string()),
            _ => None,
        }
    }

    /// Opens the store. The call fails if the server does not respond within the given limit or the default limit,
    /// whichever is shorter.
    #[cfg_attr(
        not(any(
            feature = "http",
            feature = "mysql",
            feature = "postgresql",
            feature = "redis",
            feature = "sqlite"
        )),
        expect(clippy::unnecessary_wraps, reason = "stores in memory are always there")
    )]
    pub(crate) fn open(&self, longest: Duration) -> Result<Box<dyn Store>> {
        #[cfg(not(any(
            feature = "http",
            feature = "mysql",
            feature = "postgresql",
            feature = "redis"
        )))]
        let _ = longest;
        match &self.store {
            Kind::Memory(name) => Ok(Box::new(NamedMemory(name.clone()))),
            #[cfg(feature = "sqlite")]
            Kind::Sqlite(path) => Ok(Box::new(crate::Sqlite::open_with(path, self.access)?)),
            #[cfg(feature = "postgresql")]
            Kind::Postgresql(server) => {
                let (server, access) = (server.clone(), self.access);
                Ok(Box::new(crate::Postgresql::open_with_timeout(server, access, longest)?))
            }
            #[cfg(feature = "mysql")]
            Kind::Mysql(server) => {
                Ok(Box::new(crate::Mysql::open_with_timeout(server, self.access, longest)?))
            }
            #[cfg(feature = "redis")]
            Kind::Redis(server) => Ok(Box::new(crate::Redis::open_with_timeout(server, longest)?)),
            #[cfg(feature = "http")]
            Kind::Http(server) => Ok(Box::new(crate::Http::open_with_timeout(server, longest)?)),
        }
    }
}

impl Kind {
    fn from_store_url(store_url: StoreUrl) -> Result<Self> {
        match store_url.site {
            StoreAddress::Memory(name) => Ok(Self::Memory(name)),
            #[cfg(feature = "sqlite")]
            StoreAddress::File(path) => {
                crate::stores::steps::file::absolute_path(path.as_ref()).map(Self::Sqlite)
            }
            #[cfg(not(feature = "sqlite"))]
            StoreAddress::File(_) => Err(out_of_range(
                "this build has no SQLite; enable the feature `sqlite` of polyflake-lease",
            )),
            #[cfg(feature = "postgresql")]
            StoreAddress::Server(server) => {
                let schema = store_url.schema.unwrap_or_default();
                crate::stores::postgresql::Server::from_address(server, schema)
                    .map(Self::Postgresql)
            }
            #[cfg(not(feature = "postgresql"))]
            StoreAddress::Server(_) => Err(out_of_range(
                "this build has no PostgreSQL; enable the feature `postgresql` of polyflake-lease",
            )),
            #[cfg(feature = "mysql")]
            StoreAddress::Mysql(server) => {
                crate::stores::tls::check(&server)?;
                Ok(Self::Mysql(server))
            }
            #[cfg(feature = "redis")]
            StoreAddress::Redis(server) => {
                crate::stores::tls::check(&server)?;
                Ok(Self::Redis(server))
            }
            #[cfg(not(feature = "redis"))]
            StoreAddress::Redis(_) => Err(out_of_range(
                "this build has no Redis; enable the feature `redis` of polyflake-lease",
            )),
            #[cfg(feature = "http")]
            StoreAddress::Http(server) => {
                crate::stores::tls::check(&server)?;
                Ok(Self::Http(server))
            }
            #[cfg(not(feature = "http"))]
            StoreAddress::Http(_) => Err(out_of_range(
                "this build has no HTTP; enable the feature `http` of polyflake-lease",
            )),
            #[cfg(not(feature = "mysql"))]
            StoreAddress::Mysql(_) => Err(out_of_range(
                "this build has no MySQL; enable the feature `mysql` of polyflake-lease",
            )),
        }
    }
}

static STORES: LazyLock<Mutex<HashMap<String, Memory>>> = LazyLock::new(Mutex::default);

/// The ID of the process that opened the in-memory stores.
static PROCESS_GENERATION: OnceLock<u32> = OnceLock::new();

/// An in-memory store, identified by its name.
struct NamedMemory(String);

impl Store for NamedMemory {
    fn answer(&mut self, request: &Request) -> Result<Reply> {
        // A forked child process has a copy of the store. If both processes used their copies, they would lease the same
        // worker IDs.
        if *PROCESS_GENERATION.get_or_init(fork::process) != fork::process() {
            let reason = "expected the process that created the in-memory store, found its child";
            return Err(Error::new(ErrorKind::LeaseUnavailable, reason));
        }
        let mut stores = STORES.lock().unwrap_or_else(PoisonError::into_inner);
        let store = stores.entry(self.0.clone()).or_insert_with(|| Memory::new(0));
        store.set_now(system::unix_ms());
        store.answer(request)
    }
}

impl Store for Box<dyn Store> {
    fn answer(&mut self, request: &Request) -> Result<Reply> {
        (**self).answer(request)
    }
}
