//! The address of a lease: a store and a namespace, as one string.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

#[cfg(feature = "std")]
use core::time::Duration;

use serde_json::json;

use crate::{
    Error, ErrorKind, Result,
    rules::error::out_of_range,
    rules::json::MOST,
    rules::location::{Create, Location, SECOND_STORE, Schema},
};
#[cfg(feature = "std")]
use crate::{Options, Shape};

const LEASE: &str = "POLYFLAKE_LEASE";
const NODE: &str = "POLYFLAKE_NODE";
const RELATIVE: &str =
    "a relative path, which is another file in each working directory: write the absolute path";

/// A store, the name of a namespace in it, and a required worker ID, as specified by `POLYFLAKE_LEASE` and `POLYFLAKE_NODE`.
///
/// ```
/// use polyflake_lease::hosted::Place;
///
/// let place = Place::of("sqlite:/var/lib/app/ids.db?namespace=orders", None)?;
/// assert_eq!((place.url(), place.namespace()), ("sqlite:/var/lib/app/ids.db", "orders"));
/// assert_eq!(place.number(), None);
/// # Ok::<(), polyflake_lease::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Place {
    /// The URL as it was written, without the namespace.
    url: String,
    location: Location,
    namespace: String,
    number: Option<u64>,
}

impl Place {
    /// Parses a store's URL. It must have the parameter `namespace`, unless `namespace` is passed separately.
    ///
    /// # Errors
    /// Returns `out_of_range` without a namespace or with two, or for an invalid parameter. The error does not contain any part
    /// of the URL.
    pub fn of(url: &str, namespace: Option<&str>) -> Result<Self> {
        let location = Location::of(url)?;
        let namespace = match (namespace, location.namespace.clone()) {
            (Some(namespace), None) => namespace.to_string(),
            (None, Some(within)) => within,
            (None, None) => {
                let reason = "expected a namespace in the URL of a lease, as in `?namespace=orders`, found none";
                return Err(out_of_range(reason));
            }
            (Some(_), Some(_)) => {
                return Err(out_of_range("expected one namespace, found another one in the URL"));
            }
        };
        Ok(Self { url: without_namespace(url), location, namespace, number: None })
    }

    /// Parses the values of the variables `POLYFLAKE_LEASE`, a URL, and `POLYFLAKE_NODE`, a decimal worker ID. An empty string
    /// is rejected, because it usually means that a value is missing, for example an unset secret.
    ///
    /// # Errors
    /// Returns `lease_unavailable` without `POLYFLAKE_LEASE`, even if there is a worker ID, because child processes inherit the
    /// variable and would all use the same worker ID. Returns `out_of_range` for an empty string, for a relative path, which
    /// would name another file in each working directory, or for an invalid worker ID. Also returns the errors of
    /// [`Place::of`].
    pub fn of_variables(
        url: Option<&str>,
        number: Option<&str>,
        namespace: Option<&str>,
    ) -> Result<Self> {
        let refused = |kind, found| {
            let example = "`sqlite:/var/lib/app/ids.db?namespace=orders`";
            let expected = format!("expected the variable {LEASE}, as in {example}");
            Error::new(kind, format!("{expected}, found {found}"))
        };
        match (url, number) {
            (Some(""), _) => Err(refused(ErrorKind::OutOfRange, "an empty text")),
            (Some(url), number) => {
                if is_relative(url) {
                    return Err(refused(ErrorKind::OutOfRange, RELATIVE));
                }
                Ok(Self { number: number.map(number_of).transpose()?, ..Self::of(url, namespace)? })
            }
            (None, None) => Err(refused(ErrorKind::LeaseUnavailable, "none")),
            (None, Some(_)) => Err(refused(ErrorKind::LeaseUnavailable, "POLYFLAKE_NODE alone")),
        }
    }

    /// Like [`Place::of_variables`], with the environment variables of this process.
    ///
    /// # Errors
    /// Returns `out_of_range` for a variable that is not UTF-8, or the errors of [`Place::of_variables`].
    #[cfg(feature = "std")]
    pub fn from_env(namespace: Option<&str>) -> Result<Self> {
        let text = |name| {
            let text = std::env::var_os(name).map(std::ffi::OsString::into_string).transpose();
            text.map_err(|_| out_of_range(format!("expected UTF-8 in the variable {name}")))
        };
        Self::of_variables(text(LEASE)?.as_deref(), text(NODE)?.as_deref(), namespace)
    }

    /// Options of a generator at this place.
    #[cfg(feature = "std")]
    pub(crate) fn options(&self, shape: Shape) -> Result<Options> {
        let options = Options::new(&self.namespace, shape)?;
        self.number.map_or(Ok(options.clone()), |number| options.insist(number))
    }

    /// The longest wait for the first grant. Who insists may wait for the lease of a killed process.
    #[cfg(feature = "std")]
    pub(crate) fn longest(&self) -> Duration {
        Duration::from_secs(if self.number.is_some() { 70 } else { 10 })
    }

    /// Returns the store's URL without the namespace, in the form that [`open`](crate::open) accepts.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the name of the namespace, to which a lease appends the name of its ID format.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Returns the required worker ID.
    pub fn number(&self) -> Option<u64> {
        self.number
    }

    /// Returns the address as JSON, for a host in another language: `store` (`sqlite` or `postgresql`), `address` (the file's
    /// path, or the URL for the database client), `namespace`, `insist` (the worker ID or null), `schema` and `create` (for the
    /// settings, or null), and `allows_overlayfs`.
    ///
    /// # Errors
    /// Returns `out_of_range` for another store.
    pub fn to_json(&self) -> Result<String> {
        let Location { url, schema, access, .. } = &self.location;
        let (store, address) = match url.split_once(':') {
            Some(("postgres" | "postgresql", _)) => ("postgresql", &**url),
            Some(("sqlite", path)) => ("sqlite", plain(path)?),
            _ => {
                let reason = "expected the URL of a store, `sqlite:PATH` or `postgres://...`, found another text";
                return Err(out_of_range(reason));
            }
        };
        let place = json!({
            "store": store,
            "address": address,
            "namespace": self.namespace,
            "insist": self.number,
            "schema": schema.as_ref().map(Schema::name),
            "create": (access.create == Create::SecondStore).then_some(SECOND_STORE),
            "allows_overlayfs": access.allows_overlayfs,
        });
        Ok(place.to_string())
    }
}

/// Without the URL, which may hold a password.
impl core::fmt::Debug for Place {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { namespace, number, .. } = self;
        f.debug_struct("Place")
            .field("namespace", namespace)
            .field("number", number)
            .finish_non_exhaustive()
    }
}

/// Refuses what other libraries write in the URL of a file: here it would name another file.
pub(crate) fn plain(path: &str) -> Result<&str> {
    let found = match path {
        _ if path.starts_with("//") => "`//`",
        _ if path.starts_with("file:") => "`file:`",
        _ if path.contains('?') => "`?`",
        _ => return Ok(path),
    };
    let expected = "expected the path of a file after `sqlite:`, as in `sqlite:leases.db`";
    Err(out_of_range(format!("{expected}, found {found}")))
}

/// Returns a URL as it was written, without its namespace.
fn without_namespace(url: &str) -> String {
    let Some((before, query)) = url.split_once('?') else { return url.to_string() };
    let others = query.split('&').filter(|part| !part.starts_with("namespace="));
    match &*others.collect::<Vec<_>>().join("&") {
        "" => before.to_string(),
        others => format!("{before}?{others}"),
    }
}

/// Returns whether a URL names a file by a relative path. Because the path may be used on any operating system, a drive letter
/// always begins an absolute path. Strings that are not file paths are left to other checks.
fn is_relative(url: &str) -> bool {
    let path = url.split('?').next().and_then(|before| before.strip_prefix("sqlite:"));
    let Some(path) = path.filter(|path| plain(path).is_ok()) else { return false };
    let has_drive = path.as_bytes().get(1) == Some(&b':');
    !(has_drive || path.starts_with(['/', '\\', ':']) || path.is_empty())
}

fn number_of(text: &str) -> Result<u64> {
    let is_decimal = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse().ok().filter(|number| is_decimal && *number <= MOST);
    let refused = || {
        let found = if text.is_empty() { "an empty text" } else { "another text" };
        let expected = format!("expected a node's number in digits in the variable {NODE}");
        out_of_range(format!("{expected}, found {found}"))
    };
    number.ok_or_else(refused)
}
