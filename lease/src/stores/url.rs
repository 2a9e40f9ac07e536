//! Opens stores by their URLs.

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
    Error, ErrorKind, Memory, Reply, Request, Result, Store,
    rules::error::out_of_range,
    rules::location::{Access, Create, Location},
    stores::system,
};

/// Opens the store that a URL names: `postgres://` and an address (feature `postgresql`), `sqlite:` and the path of a file
/// (feature `sqlite`), or `memory:` and a name. A relative path is resolved against the current working directory. A store in
/// memory is for tests: the threads of this process share it, and it exists until the process ends. Forked child processes
/// cannot use it.
///
/// URL parameters can select another schema than `polyflake` in `PostgreSQL` (`?schema=orders`), create tables even though the
/// database contains another store (`?create=second-store`), or accept a file on overlayfs (`?allow=overlayfs`).
///
/// # Errors
/// Returns `out_of_range` for any other URL, or any error of the store.
pub fn open(url: &str) -> Result<Box<dyn Store>> {
    Address::of(url)?.open(Duration::MAX)
}

/// The store that a URL names, wherever the process goes meanwhile.
pub(crate) struct Address {
    store: Kind,
    access: Access,
}

enum Kind {
    Memory(String),
    #[cfg(feature = "sqlite")]
    Sqlite(PathBuf),
    #[cfg(feature = "postgresql")]
    Postgresql(crate::stores::postgresql::Server),
}

impl Address {
    pub(crate) fn of(url: &str) -> Result<Self> {
        let location = Location::of(url)?;
        if location.namespace.is_some() {
            return Err(out_of_range("expected the URL of a store, found one with a namespace"));
        }
        Ok(Self { access: location.access, store: Kind::of(location)? })
    }

    /// The same store for a program that only looks at it: nothing is created.
    pub(crate) fn existing(self) -> Self {
        Self { access: Access { create: Create::Nothing, ..self.access }, ..self }
    }

    /// The schema of the store's tables, if it is in `PostgreSQL`.
    pub(crate) fn schema(&self) -> Option<String> {
        match &self.store {
            #[cfg(feature = "postgresql")]
            Kind::Postgresql(server) => Some(server.schema.name().to_string()),
            _ => None,
        }
    }

    /// Opens the store. An unresponsive server is given up after a limit, if that is shorter than the usual one.
    #[cfg_attr(
        not(any(feature = "postgresql", feature = "sqlite")),
        expect(clippy::unnecessary_wraps, reason = "stores in memory are always there")
    )]
    pub(crate) fn open(&self, longest: Duration) -> Result<Box<dyn Store>> {
        #[cfg(not(feature = "postgresql"))]
        let _ = longest;
        match &self.store {
            Kind::Memory(name) => Ok(Box::new(Named(name.clone()))),
            #[cfg(feature = "sqlite")]
            Kind::Sqlite(path) => Ok(Box::new(crate::Sqlite::open_with(path, self.access)?)),
            #[cfg(feature = "postgresql")]
            Kind::Postgresql(server) => {
                let create = self.access.create;
                Ok(Box::new(crate::Postgresql::open_within(server.clone(), create, longest)?))
            }
        }
    }
}

impl Kind {
    fn of(location: Location) -> Result<Self> {
        match location.url.split_once(':') {
            Some(("memory", name)) => Ok(Self::Memory(name.to_string())),
            #[cfg(feature = "sqlite")]
            Some(("sqlite", path)) => {
                crate::stores::steps::file::absolute(crate::rules::place::plain(path)?.as_ref())
                    .map(Self::Sqlite)
            }
            #[cfg(feature = "postgresql")]
            Some(("postgres" | "postgresql", _)) => {
                crate::stores::postgresql::Server::of(location).map(Self::Postgresql)
            }
            // The rest of the URL may hold a password.
            Some((scheme, _)) if is_scheme(scheme) => {
                let reason = format!("expected the URL of a store in this build, found {scheme}:");
                Err(out_of_range(reason))
            }
            _ => Err(out_of_range("expected the URL of a store, found another text")),
        }
    }
}

/// Returns whether a string looks like the scheme of a URL. Any other string before a colon may contain a password.
fn is_scheme(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    text.len() < 20 && text.bytes().all(is_part)
}

static STORES: LazyLock<Mutex<HashMap<String, Memory>>> = LazyLock::new(Mutex::default);

/// The process whose memory the stores are in.
static PROCESS: OnceLock<u32> = OnceLock::new();

/// A store in memory by its name.
struct Named(String);

impl Store for Named {
    fn answer(&mut self, request: &Request) -> Result<Reply> {
        if *PROCESS.get_or_init(fork::process) != fork::process() {
            let reason = "expected the process that made a store in memory, found its child";
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
