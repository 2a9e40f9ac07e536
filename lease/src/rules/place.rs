//! The address of a lease: a store and a namespace, as one text.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

#[cfg(feature = "std")]
use core::time::Duration;
#[cfg(feature = "std")]
use std::ffi::OsString;

use serde_json::json;

#[cfg(feature = "std")]
use crate::{Error, ErrorKind, Options, Shape};
use crate::{Result, rules::error::out_of_range, rules::json::MOST};

/// A store, the name of a namespace in it, and a number that is insisted on: what `POLYFLAKE_LEASE` and `POLYFLAKE_NODE` say.
///
/// ```
/// use polyflake_lease::hosted::Place;
///
/// let place = Place::of("sqlite:/var/lib/app/ids.db?namespace=orders", None, Some("7"))?;
/// assert_eq!((place.url(), place.namespace()), ("sqlite:/var/lib/app/ids.db", "orders"));
/// assert_eq!(place.number(), Some(7));
/// # Ok::<(), polyflake_lease::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Place {
    url: String,
    namespace: String,
    number: Option<u64>,
}

impl Place {
    /// A store's URL, with the parameter `namespace` unless that is given beside it, and a number in decimal digits.
    ///
    /// # Errors
    /// `out_of_range` without a namespace or with two, and for a text that is no number. An error shows nothing of the URL.
    pub fn of(url: &str, namespace: Option<&str>, number: Option<&str>) -> Result<Self> {
        let (url, within) = split(url)?;
        let namespace = match (namespace, within) {
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
        let number = number.map(number_of).transpose()?;
        Ok(Self { url, namespace, number })
    }

    /// What the variables `POLYFLAKE_LEASE` and `POLYFLAKE_NODE` of the process say. Give the process's own as
    /// `|name| std::env::var_os(name)`.
    ///
    /// # Errors
    /// `lease_unavailable` without `POLYFLAKE_LEASE`, also beside a number: children of a process inherit that, and would all have it;
    /// as [`Place::of`].
    #[cfg(feature = "std")]
    pub fn from_variables(variables: impl Fn(&str) -> Option<OsString>) -> Result<Self> {
        let text = |name| {
            let text = variables(name).map(OsString::into_string).transpose();
            text.map_err(|_| out_of_range(format!("expected UTF-8 in the variable {name}")))
        };
        match (text("POLYFLAKE_LEASE")?, text("POLYFLAKE_NODE")?) {
            (Some(url), number) => Self::of(&url, None, number.as_deref()),
            (None, number) => {
                let found = number.map_or("none", |_| "POLYFLAKE_NODE alone");
                let expected = "expected the variable POLYFLAKE_LEASE, as in `sqlite:/var/lib/app/ids.db?namespace=orders`";
                let reason = format!("{expected}, found {found}");
                Err(Error::new(ErrorKind::LeaseUnavailable, reason))
            }
        }
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

    /// The store's URL without the namespace.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The name of the namespace, to which a lease adds its family's.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The number that is insisted on.
    pub fn number(&self) -> Option<u64> {
        self.number
    }

    /// For a host in another language, as JSON: `store` (`sqlite` or `postgresql`), `address` (the file's path, or the URL), `namespace`,
    /// and `insist`, the number or null.
    ///
    /// # Errors
    /// `out_of_range` for another store.
    pub fn to_json(&self) -> Result<String> {
        let (store, address) = match self.url.split_once(':') {
            Some(("postgres" | "postgresql", _)) => ("postgresql", &*self.url),
            Some(("sqlite", path)) => ("sqlite", plain(path)?),
            _ => {
                let reason = "expected the URL of a store, `sqlite:PATH` or `postgres://...`, found another text";
                return Err(out_of_range(reason));
            }
        };
        let (namespace, insist) = (&self.namespace, self.number);
        Ok(json!({ "store": store, "address": address, "namespace": namespace, "insist": insist })
            .to_string())
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

/// A URL without its namespace, and the namespace.
fn split(url: &str) -> Result<(String, Option<String>)> {
    let Some((before, query)) = url.split_once('?') else { return Ok((url.to_string(), None)) };
    let (names, others): (Vec<_>, Vec<_>) =
        query.split('&').partition(|part| part.starts_with("namespace="));
    let namespace = match &*names {
        [] => None,
        [one] => Some(one["namespace=".len()..].replace("%2F", "/").replace("%2f", "/")),
        _ => return Err(out_of_range("expected one namespace in the URL of a lease, found more")),
    };
    let url = if others.is_empty() {
        before.to_string()
    } else {
        format!("{before}?{}", others.join("&"))
    };
    Ok((url, namespace))
}

fn number_of(text: &str) -> Result<u64> {
    let is_decimal = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse().ok().filter(|number| is_decimal && *number <= MOST);
    number.ok_or_else(|| out_of_range("expected a node's number in digits, found another text"))
}
