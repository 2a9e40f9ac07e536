//! The source of a lease: which store to use, and how to open it.

use std::{sync::Arc, time::Duration};

use alloc::{boxed::Box, string::String};

use crate::{
    Host, Lease, Options, Result,
    protocol::{Grantee, Store},
    rules::url::StoreUrl,
    stores::url::Address,
};

/// The source of a lease: a store's URL, in the form that [`open`](crate::protocol::open) accepts; a custom store; or a [`Host`].
///
/// ```
/// use std::{sync::{Arc, Mutex}, time::Duration};
/// use polyflake_lease::{Memory, Options, Result, Shape, Source, sno, protocol::{Reply, Request, Store}};
///
/// struct Mine(Arc<Mutex<Memory>>); // in production, a database client
///
/// impl Store for Mine {
///     fn answer(&mut self, request: &Request) -> Result<Reply> {
///         self.0.lock().unwrap().answer(request)
///     }
/// }
///
/// # let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_millis().try_into().unwrap();
/// let store = Arc::new(Mutex::new(Memory::new(now)));
/// let source = Source::store(move || Ok(Mine(store.clone())));
/// let options = Options::new("orders", Shape::sno(0..=1023)?)?;
/// let ids = sno::Generator::with(source, options, Duration::from_secs(10))?;
/// assert_eq!(ids.lease().worker_id(), Some(0));
/// # Ok::<(), polyflake_lease::Error>(())
/// ```
#[derive(Debug)]
pub struct Source(SourceKind);

enum SourceKind {
    Url(String),
    ParsedUrl(Box<StoreUrl>),
    Store(Box<StoreOpener>),
    Host(Host),
}

/// A function that opens a store.
type StoreOpener = dyn Fn() -> Result<Box<dyn Store>> + Send + Sync;

impl Source {
    /// Creates a source from a function that opens a store. A thread maintains the lease, and calls the function again
    /// after each pause and each failure.
    pub fn store<S: Store + 'static>(open: impl Fn() -> Result<S> + Send + Sync + 'static) -> Self {
        let open = move || -> Result<Box<dyn Store>> { Ok(Box::new(open()?)) };
        Self(SourceKind::Store(Box::new(open)))
    }

    /// Creates a source from a URL that has already been parsed.
    pub(crate) fn from_store_url(store_url: StoreUrl) -> Self {
        Self(SourceKind::ParsedUrl(Box::new(store_url)))
    }

    /// Creates a lease that supplies `grantee` with grants. The lease starts with the first call that waits for a grant, and
    /// a [`Host`]'s lease starts at once.
    pub(crate) fn lease<G: Grantee + Send + Sync + 'static>(
        self,
        options: Options,
        grantee: Arc<G>,
    ) -> Result<Lease> {
        let address = match self.0 {
            SourceKind::Url(url) => Address::from_url(&url)?,
            SourceKind::ParsedUrl(store_url) => Address::from_store_url(*store_url)
                .map_err(|error| error.with_prefix("cannot read the URL of the lease"))?,
            SourceKind::Store(open) => return Lease::prepare(open, options, grantee),
            SourceKind::Host(host) => return host.start(options, grantee),
        };
        let options = options.store_name(address.name());
        let options = if address.is_volatile() { options.for_volatile_store()? } else { options };
        let longest = Duration::from_millis(options.reply_timeout());
        Lease::prepare(move || address.open(longest), options, grantee)
    }
}

impl From<&str> for Source {
    fn from(url: &str) -> Self {
        Self(SourceKind::Url(url.into()))
    }
}

impl From<&String> for Source {
    fn from(url: &String) -> Self {
        Self(SourceKind::Url(url.clone()))
    }
}

impl From<Host> for Source {
    fn from(host: Host) -> Self {
        Self(SourceKind::Host(host))
    }
}

/// Hides the URL, which may contain a password.
impl core::fmt::Debug for SourceKind {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::Url(_) | Self::ParsedUrl(_) => "Url",
            Self::Store(_) => "Store",
            Self::Host(_) => "Host",
        })
    }
}
