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
    rules::error::out_of_range,
    rules::json::MAX_SAFE_INTEGER,
    rules::location::{Create, SECOND_STORE, Schema},
    rules::record::check_name,
    rules::url::{EXAMPLE_URL, LEASE_PARAMETERS, Location, StoreAddress, digits},
};
#[cfg(feature = "std")]
use crate::{Options, Shape, Source, rules::keeper::default_wait_ms};

const LEASE_VARIABLE: &str = "POLYFLAKE_LEASE";
const NODE_VARIABLE: &str = "POLYFLAKE_NODE";
/// The environment variable that contains the holder's human-readable name, which is stored in the record of the leased
/// worker ID.
#[cfg(feature = "std")]
const HOLDER_VARIABLE: &str = "POLYFLAKE_HOLDER";

/// A store, the name of a namespace in it, and the terms of a lease, as specified by a URL or by `POLYFLAKE_LEASE` and
/// `POLYFLAKE_NODE`.
///
/// ```
/// use polyflake_lease::hosted::Place;
///
/// let place = Place::parse("sqlite:/var/lib/app/ids.db?namespace=orders", None)?;
/// assert_eq!((place.url(), place.namespace()), ("sqlite:/var/lib/app/ids.db", "orders"));
/// assert_eq!(place.number(), None);
/// # Ok::<(), polyflake_lease::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Place {
    /// The URL as it was written, without the namespace and the terms.
    url: String,
    location: Location,
    namespace: String,
    number: Option<u64>,
}

impl Place {
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
        let location = Location::parse(url)?;
        namespace.map_or(Ok(()), check_name)?;
        let namespace = match (namespace, &location.namespace) {
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
        Ok(Self { url: without_lease_parameters(url), location, namespace, number: None })
    }

    /// Parses the values of the environment variables `POLYFLAKE_LEASE` (a URL) and `POLYFLAKE_NODE` (a decimal worker ID).
    /// An empty string is rejected, because it usually means that a value is missing, for example an unset secret.
    ///
    /// # Errors
    /// Returns `lease_unavailable` if `POLYFLAKE_LEASE` is not set, even if `POLYFLAKE_NODE` is set: child processes
    /// inherit `POLYFLAKE_NODE`, so they would all use the same worker ID. Returns `out_of_range` for an empty string, an
    /// invalid worker ID, or a relative path, which would name a different file in each working directory. Also returns any
    /// error from [`Place::parse`]. Each error contains the name of the variable.
    pub fn of_variables(
        url: Option<&str>,
        number: Option<&str>,
        namespace: Option<&str>,
    ) -> Result<Self> {
        let Some(url) = url else {
            let found =
                if number.is_some() { "POLYFLAKE_NODE is set without it" } else { "it is not set" };
            let reason = format!(
                "cannot read {LEASE_VARIABLE}: {found}; set it to a URL such as {EXAMPLE_URL}"
            );
            return Err(Error::new(ErrorKind::LeaseUnavailable, reason).permanent());
        };
        let place = Self::parse_url(url, namespace).and_then(|place| {
            // With a relative path, processes in two working directories would lease the same worker IDs from two stores.
            // In an experiment, 1,718 of 2,000 IDs were duplicates.
            if place.location.site.is_relative() {
                let reason = "its path is relative, which is another file in each working directory; write the absolute path";
                return Err(out_of_range(reason));
            }
            Ok(place)
        });
        let place =
            place.map_err(|error| error.with_prefix(&format!("cannot read {LEASE_VARIABLE}")))?;
        Ok(Self { number: number.map(parse_worker_id).transpose()?, ..place })
    }

    /// Works like [`Place::of_variables`], but reads the process's environment variables.
    ///
    /// # Errors
    /// Returns `out_of_range` if a variable is not UTF-8, or any error from [`Place::of_variables`].
    #[cfg(feature = "std")]
    pub fn from_env(namespace: Option<&str>) -> Result<Self> {
        let text = |name| {
            let text = std::env::var_os(name).map(std::ffi::OsString::into_string).transpose();
            text.map_err(|_| out_of_range(format!("cannot read {name}: it is not UTF-8")))
        };
        Self::of_variables(
            text(LEASE_VARIABLE)?.as_deref(),
            text(NODE_VARIABLE)?.as_deref(),
            namespace,
        )
    }

    /// Returns the range of worker IDs. This is the format's entire range, unless the URL sets a range.
    #[cfg(feature = "std")]
    pub(crate) fn worker_id_range(&self, all: RangeInclusive<u64>) -> RangeInclusive<u64> {
        self.location.terms.numbers.map_or(all, |(first, last)| first..=last)
    }

    /// Returns the options for a generator that leases from this place.
    #[cfg(feature = "std")]
    pub(crate) fn options(&self, shape: Shape) -> Result<Options> {
        if self.location.terms.sigterm == Some(true) {
            let reason = "cannot return the worker ID at SIGTERM: a Rust program handles the signal itself and calls `close`, so leave `sigterm` out of the URL";
            return Err(out_of_range(reason));
        }
        self.lease_options(shape)
    }

    /// Returns the options for a check of this place. The `sigterm` parameter is accepted here, because the URL may be
    /// meant for a program in another language that releases its worker ID on SIGTERM.
    #[cfg(feature = "std")]
    pub(crate) fn check_options(&self) -> Result<Options> {
        self.lease_options(Shape::for_any_format(self.worker_id_range(0..=MAX_SAFE_INTEGER - 1))?)
    }

    #[cfg(feature = "std")]
    fn lease_options(&self, shape: Shape) -> Result<Options> {
        let mut options = Options::new(&self.namespace, shape)?.at(&self.location.site.to_string());
        if let Ok(holder) = std::env::var(HOLDER_VARIABLE) {
            let named = options.holder(&holder);
            options = named
                .map_err(|error| error.with_prefix(&format!("cannot read {HOLDER_VARIABLE}")))?;
        }
        let options = match self.number {
            Some(number) => options.insist(number).map_err(with_node_prefix)?,
            None => options,
        };
        self.location.terms.apply(options)
    }

    /// Returns the store as the source of a lease.
    #[cfg(feature = "std")]
    pub(crate) fn source(&self) -> Source {
        Source::from_location(self.location.clone())
    }

    #[cfg(feature = "std")]
    pub(crate) fn location(&self) -> &Location {
        &self.location
    }

    /// Returns the store's name for messages, without a password.
    pub fn name(&self) -> String {
        self.location.site.to_string()
    }

    /// Returns the maximum time to wait for the first grant.
    #[cfg(feature = "std")]
    pub(crate) fn max_wait(&self) -> Duration {
        let wait_ms = self.location.terms.wait_ms;
        Duration::from_millis(wait_ms.unwrap_or(default_wait_ms(self.number.is_some())))
    }

    /// Returns the namespace that a URL specifies, or `None` if it specifies no namespace. This function is intended for
    /// programs that otherwise need only the store.
    pub fn namespace_in(url: &str) -> Option<String> {
        Location::parse(url).ok()?.namespace
    }

    /// Returns whether the URL contains a password, either in the user part or as a parameter.
    pub fn has_password(&self) -> bool {
        matches!(&self.location.site, StoreAddress::Server(server) | StoreAddress::Mysql(server) | StoreAddress::Redis(server) | StoreAddress::Http(server) if server.password.is_some())
    }

    /// Returns the store's URL without the namespace and the terms, in the form that [`open`](crate::open) accepts.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the name of the namespace. A lease appends the name of its ID format to this name.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Returns the required worker ID, if one is specified.
    pub fn number(&self) -> Option<u64> {
        self.number
    }

    /// Returns the place as JSON, for a host in another language. `store` is `sqlite`, `postgresql`, `mysql`, `redis` or
    /// `http`. For `sqlite`, `path` is the file's path. For the other stores, `server` contains `hosts` (each a name and a
    /// port), `user`, `password`, `database`, `encrypts`, `roots` (a file of root certificates), `read_write` (whether
    /// servers that reject writes are skipped), `connect_timeout` in seconds, `application_name` and `options`. The other
    /// members are `namespace`, `allows_overlayfs`, the terms that the host itself applies (`wait_ms` and `sigterm`), and
    /// the lease's settings: `place` (the store's name in messages), `node` (the worker ID in `POLYFLAKE_NODE`), `schema`,
    /// `create`, `lease_ms`, `renew_ms`, `strict` and `numbers`. Missing values are null.
    ///
    /// # Errors
    /// Returns `out_of_range` for an in-memory store.
    pub fn to_json(&self) -> Result<String> {
        let Location { site, schema, access, terms, .. } = &self.location;
        let mut place = json!({
            "place": site.to_string(),
            "namespace": self.namespace,
            "node": self.number,
            "schema": schema.as_ref().map(Schema::name),
            "create": (access.create == Create::SecondStore).then_some(SECOND_STORE),
            "allows_overlayfs": access.allows_overlayfs,
            "lease_ms": terms.lease_ms,
            "renew_ms": terms.renew_ms,
            "strict": terms.strict == Some(true),
            "numbers": terms.numbers,
            "wait_ms": terms.wait_ms,
            "sigterm": terms.sigterm == Some(true),
        });
        let site = site
            .to_json()
            .map_err(|error| error.with_prefix("cannot read the URL of the lease"))?;
        if let (Some(place), serde_json::Value::Object(site)) = (place.as_object_mut(), site) {
            place.extend(site);
        }
        Ok(place.to_string())
    }
}

/// Omits the URL, which may contain a password.
impl core::fmt::Debug for Place {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { namespace, number, .. } = self;
        f.debug_struct("Place")
            .field("namespace", namespace)
            .field("number", number)
            .finish_non_exhaustive()
    }
}

/// Adds a prefix to an error about the worker ID in `POLYFLAKE_NODE`. The prefix names this environment variable.
pub(crate) fn with_node_prefix(error: Error) -> Error {
    error.with_prefix(&format!("cannot use the worker ID in {NODE_VARIABLE}"))
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
    let number = digits(text).filter(|number| *number <= MAX_SAFE_INTEGER);
    number.ok_or_else(|| {
        let found =
            if text.is_empty() { "it is empty" } else { "it is not a number in decimal digits" };
        out_of_range(format!(
            "cannot read {NODE_VARIABLE}: {found}; set it to a worker ID, or leave it unset"
        ))
    })
}
