//! Parses a URL that specifies a store, a namespace in the store, and the terms of a lease.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

#[cfg(feature = "std")]
use core::{ops::RangeInclusive, time::Duration};

use serde_json::json;

use crate::{
    Error, ErrorKind, Result,
    rules::access::{Create, DURABLE_STORAGE, SECOND_STORE, Schema},
    rules::error::out_of_range,
    rules::json::MAX_SAFE_INTEGER,
    rules::platforms::Platform,
    rules::record::check_name,
    rules::url::{EXAMPLE_URL, LEASE_PARAMETERS, StoreAddress, StoreUrl, digits},
};
#[cfg(feature = "std")]
use crate::{Options, Shape, Source, rules::keeper::default_wait_ms};

pub(crate) const LEASE_VARIABLE: &str = "POLYFLAKE_LEASE";
pub(crate) const WORKER_ID_VARIABLE: &str = "POLYFLAKE_WORKER_ID";
/// The environment variable that contains the holder's human-readable name, which is stored in the record of the leased
/// worker ID.
#[cfg(feature = "std")]
const HOLDER_VARIABLE: &str = "POLYFLAKE_HOLDER";

/// A store, the name of a namespace in it, and the terms of a lease, as specified by a URL or by `POLYFLAKE_LEASE` and
/// `POLYFLAKE_WORKER_ID`.
///
/// ```
/// use polyflake_lease::protocol::hosted::LeaseUrl;
///
/// let lease_url = LeaseUrl::parse("sqlite:/var/lib/app/ids.db?namespace=orders", None)?;
/// assert_eq!((lease_url.url(), lease_url.namespace()), ("sqlite:/var/lib/app/ids.db", "orders"));
/// assert_eq!(lease_url.worker_id(), None);
/// # Ok::<(), polyflake_lease::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct LeaseUrl {
    /// The URL as it was written, without the namespace and the terms.
    url: String,
    store_url: StoreUrl,
    namespace: String,
    worker_id: Option<u64>,
}

impl LeaseUrl {
    /// Parses a store's URL. The URL must have the `namespace` parameter, unless `namespace` is passed separately.
    ///
    /// # Errors
    /// Returns `out_of_range` if the namespace is missing or specified twice, if the scheme is not supported, or if a
    /// parameter is unknown or invalid. Returns `store_not_durable` for an in-memory database. The error does not contain
    /// any value from the URL.
    pub fn parse(url: &str, namespace: Option<&str>) -> Result<Self> {
        Self::parse_url(url, namespace)
            .map_err(|error| error.with_prefix("cannot read the URL of the lease"))
    }

    fn parse_url(url: &str, namespace: Option<&str>) -> Result<Self> {
        let store_url = StoreUrl::parse(url)?;
        namespace.map_or(Ok(()), check_name)?;
        let namespace = match (namespace, &store_url.namespace) {
            (Some(one), Some(other)) if one != other => {
                let reason = format!("its namespace is `{other}`, and the call names `{one}`");
                return Err(out_of_range(reason));
            }
            (Some(name), _) => name.to_string(),
            (None, Some(name)) => name.clone(),
            (None, None) => {
                return Err(out_of_range(
                    "it names no namespace; add one, as in `?namespace=orders`",
                ));
            }
        };
        Ok(Self { url: without_lease_parameters(url), store_url, namespace, worker_id: None })
    }

    /// Parses the values of the environment variables `POLYFLAKE_LEASE` (a URL) and `POLYFLAKE_WORKER_ID` (a decimal worker
    /// ID). An empty string is rejected, because it usually means that a value is missing, for example an unset secret.
    ///
    /// # Errors
    /// Returns `lease_unavailable` if `POLYFLAKE_LEASE` is not set, even if `POLYFLAKE_WORKER_ID` is set: child processes
    /// inherit `POLYFLAKE_WORKER_ID`, so they would all use the same worker ID. Returns `out_of_range` for an empty string,
    /// an invalid worker ID, or a relative path, which would name a different file in each working directory. Also returns
    /// any error from [`LeaseUrl::parse`]. Each error contains the name of the variable.
    pub fn of_variables(
        url: Option<&str>,
        worker_id: Option<&str>,
        namespace: Option<&str>,
    ) -> Result<Self> {
        let Some(url) = url else {
            let found = if worker_id.is_some() {
                "POLYFLAKE_WORKER_ID is set without it"
            } else {
                "it is not set"
            };
            let reason = format!(
                "cannot read {LEASE_VARIABLE}: {found}; set it to a URL such as {EXAMPLE_URL}"
            );
            return Err(Error::new(ErrorKind::LeaseUnavailable, reason).permanent());
        };
        let lease_url = Self::parse_url(url, namespace).and_then(|lease_url| {
            // With a relative path, processes in two working directories would lease the same worker IDs from two stores.
            // In an experiment, 1,718 of 2,000 IDs were duplicates.
            if lease_url.store_url.site.is_relative() {
                let reason = "its path is relative, which is another file in each working directory; write the absolute path";
                return Err(out_of_range(reason));
            }
            Ok(lease_url)
        });
        let lease_url = lease_url
            .map_err(|error| error.with_prefix(&format!("cannot read {LEASE_VARIABLE}")))?;
        Ok(Self { worker_id: worker_id.map(parse_worker_id).transpose()?, ..lease_url })
    }

    /// Works like [`LeaseUrl::of_variables`], but reads the process's environment variables.
    ///
    /// # Errors
    /// Returns `out_of_range` if a variable is not UTF-8, or any error from [`LeaseUrl::of_variables`].
    #[cfg(feature = "std")]
    pub fn from_env(namespace: Option<&str>) -> Result<Self> {
        let text = |name| {
            let text = std::env::var_os(name).map(std::ffi::OsString::into_string).transpose();
            text.map_err(|_| out_of_range(format!("cannot read {name}: it is not UTF-8")))
        };
        Self::of_variables(
            text(LEASE_VARIABLE)?.as_deref(),
            text(WORKER_ID_VARIABLE)?.as_deref(),
            namespace,
        )
    }

    /// Returns the range of worker IDs. This is the format's entire range, unless the URL sets a range.
    #[cfg(feature = "std")]
    pub(crate) fn worker_id_range(&self, all: RangeInclusive<u64>) -> RangeInclusive<u64> {
        self.store_url.terms.worker_ids.map_or(all, |(first, last)| first..=last)
    }

    /// Returns the options for a generator that leases from this store.
    #[cfg(feature = "std")]
    pub(crate) fn options(&self, shape: Shape) -> Result<Options> {
        if self.store_url.terms.sigterm == Some(true) {
            let reason = "cannot return the worker ID at SIGTERM: a Rust program handles the signal itself and calls `close`, so leave `sigterm` out of the URL";
            return Err(out_of_range(reason));
        }
        self.lease_options(shape)
    }

    /// Returns the options for a check of this store. The `sigterm` parameter is accepted here, because the URL may be
    /// meant for a program in another language that releases its worker ID on SIGTERM.
    #[cfg(feature = "std")]
    pub(crate) fn check_options(&self) -> Result<Options> {
        self.lease_options(Shape::for_any_format(self.worker_id_range(0..=MAX_SAFE_INTEGER - 1))?)
    }

    #[cfg(feature = "std")]
    fn lease_options(&self, shape: Shape) -> Result<Options> {
        let mut options =
            Options::new(&self.namespace, shape)?.store_name(&self.store_url.site.to_string());
        if let Ok(holder) = std::env::var(HOLDER_VARIABLE) {
            let named = options.holder(&holder);
            options = named
                .map_err(|error| error.with_prefix(&format!("cannot read {HOLDER_VARIABLE}")))?;
        }
        let options = match self.worker_id {
            Some(worker_id) => {
                options.required_worker_id(worker_id).map_err(with_variable_prefix)?
            }
            None => options,
        };
        self.store_url.terms.apply(options)
    }

    /// Returns the store as the source of a lease.
    #[cfg(feature = "std")]
    pub(crate) fn source(&self) -> Source {
        Source::from_store_url(self.store_url.clone())
    }

    #[cfg(feature = "std")]
    pub(crate) fn store_url(&self) -> &StoreUrl {
        &self.store_url
    }

    /// Returns the store's name for messages, without a password.
    pub fn name(&self) -> String {
        self.store_url.site.to_string()
    }

    /// Returns the maximum time to wait for the first grant.
    #[cfg(feature = "std")]
    pub(crate) fn max_wait(&self) -> Duration {
        let wait_ms = self.store_url.terms.wait_ms;
        Duration::from_millis(wait_ms.unwrap_or(default_wait_ms(self.worker_id.is_some())))
    }

    /// Describes whether a lease works on the platform that the name of the store's host identifies. Returns `None` for any
    /// other host.
    ///
    /// ```
    /// use polyflake_lease::protocol::hosted::LeaseUrl;
    ///
    /// let url = "postgres://lease@ep-1.eu-central-1.aws.neon.tech/app?namespace=orders";
    /// let platform = LeaseUrl::parse(url, None)?.platform().unwrap();
    /// assert!(platform.starts_with("Neon: works"), "{platform}");
    /// # Ok::<(), polyflake_lease::Error>(())
    /// ```
    pub fn platform(&self) -> Option<String> {
        self.store_url.site.platform().map(Platform::description)
    }

    /// Returns the namespace that a URL specifies, or `None` if it specifies no namespace. This function is intended for
    /// programs that otherwise need only the store.
    pub fn namespace_in(url: &str) -> Option<String> {
        StoreUrl::parse(url).ok()?.namespace
    }

    /// Returns whether the URL contains a password, either in the user part or as a parameter.
    pub fn has_password(&self) -> bool {
        matches!(&self.store_url.site, StoreAddress::Server(server) | StoreAddress::Mysql(server) | StoreAddress::Redis(server) | StoreAddress::Http(server) if server.password.is_some())
    }

    /// Returns the store's URL without the namespace and the terms, in the form that [`open`](crate::protocol::open) accepts.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the name of the namespace. A lease appends the name of its ID format to this name.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Returns the required worker ID, if one is specified.
    pub fn worker_id(&self) -> Option<u64> {
        self.worker_id
    }

    /// Returns the parsed URL as JSON, for a host in another language. `store` is `sqlite`, `postgresql`, `mysql`, `redis`
    /// or `http`. For `sqlite`, `path` is the file's path. For the other stores, `server` contains `hosts` (each a name and
    /// a port), `user`, `password`, `database`, `encrypts`, `roots` (a file of root certificates), `read_write` (whether
    /// servers that reject writes are skipped), `connect_timeout` in seconds, `application_name` and `options`. The other
    /// members are `namespace`, `allows_overlayfs`, the terms that the host itself applies (`wait_ms` and `sigterm`), and
    /// the lease's settings: `store_name` (the store's name in messages), `environment_worker_id` (the worker ID in
    /// `POLYFLAKE_WORKER_ID`), `schema`, `create`, `storage`, `lease_ms`, `renew_ms`, `strict` and `worker_ids`. Missing values are
    /// null.
    ///
    /// # Errors
    /// Returns `out_of_range` for an in-memory store.
    pub fn to_json(&self) -> Result<String> {
        let StoreUrl { site, schema, access, terms, .. } = &self.store_url;
        let mut lease_url = json!({
            "store_name": site.to_string(),
            "namespace": self.namespace,
            "environment_worker_id": self.worker_id,
            "schema": schema.as_ref().map(Schema::name),
            "create": (access.create == Create::SecondStore).then_some(SECOND_STORE),
            "storage": access.has_durable_storage.then_some(DURABLE_STORAGE),
            "allows_overlayfs": access.allows_overlayfs,
            "lease_ms": terms.lease_ms,
            "renew_ms": terms.renew_ms,
            "strict": terms.strict == Some(true),
            "worker_ids": terms.worker_ids,
            "wait_ms": terms.wait_ms,
            "sigterm": terms.sigterm == Some(true),
        });
        let site = site
            .to_json()
            .map_err(|error| error.with_prefix("cannot read the URL of the lease"))?;
        if let (Some(lease_url), serde_json::Value::Object(site)) =
            (lease_url.as_object_mut(), site)
        {
            lease_url.extend(site);
        }
        Ok(lease_url.to_string())
    }
}

/// Omits the URL, which may contain a password.
impl core::fmt::Debug for LeaseUrl {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { namespace, worker_id, .. } = self;
        f.debug_struct("LeaseUrl")
            .field("namespace", namespace)
            .field("worker_id", worker_id)
            .finish_non_exhaustive()
    }
}

/// Adds a prefix to an error about the worker ID in `POLYFLAKE_WORKER_ID`. The prefix names this environment variable.
pub(crate) fn with_variable_prefix(error: Error) -> Error {
    error.with_prefix(&format!("cannot use the worker ID in {WORKER_ID_VARIABLE}"))
}

/// Returns a URL as it was written, but without the namespace and the terms.
fn without_lease_parameters(url: &str) -> String {
    let Some((before, query)) = url.split_once('?') else { return url.to_string() };
    let is_term =
        |part: &str| LEASE_PARAMETERS.contains(&part.split('=').next().unwrap_or_default());
    let others = query.split('&').filter(|part| !is_term(part));
    match &*others.collect::<Vec<_>>().join("&") {
        "" => before.to_string(),
        others => format!("{before}?{others}"),
    }
}

fn parse_worker_id(text: &str) -> Result<u64> {
    let worker_id = digits(text).filter(|worker_id| *worker_id <= MAX_SAFE_INTEGER);
    worker_id.ok_or_else(|| {
        let found =
            if text.is_empty() { "it is empty" } else { "it is not a number in decimal digits" };
        out_of_range(format!(
            "cannot read {WORKER_ID_VARIABLE}: {found}; set it to a worker ID, or leave it unset"
        ))
    })
}
