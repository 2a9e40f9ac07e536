//! The parts of a store's URL that this crate interprets. All other parts are for the database client.

#[cfg(feature = "hosted")]
use alloc::vec::Vec;
use alloc::{
    format,
    string::{String, ToString},
};

#[cfg(feature = "hosted")]
use crate::Error;
use crate::{Result, rules::error::out_of_range};

/// The value of `create` that asks for a store beside another one.
#[cfg(feature = "hosted")]
pub(crate) const SECOND_STORE: &str = "second-store";

/// The maximum length of a schema name. `PostgreSQL` truncates longer names.
const LONGEST_SCHEMA: usize = 63;

/// The schema in `PostgreSQL` that contains a store's tables. The default is `polyflake`.
///
/// Every statement names it. Unqualified tables would be resolved with the `search_path`, so that two roles of one database
/// could silently use two stores, each with all worker IDs.
///
/// ```
/// use polyflake_lease::steps::Schema;
///
/// assert_eq!(Schema::default().name(), "polyflake");
/// assert_eq!(Schema::new("orders")?.name(), "orders");
/// assert_eq!(Schema::new("or\"ders").unwrap_err().code(), "out_of_range");
/// # Ok::<(), polyflake_lease::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema(String);

impl Schema {
    /// Creates a schema from its exact, case-sensitive name.
    ///
    /// # Errors
    /// Returns `out_of_range` unless the name has 1 to 63 characters of `A-Z a-z 0-9 _ -`, does not begin with a digit or a
    /// hyphen, and does not begin with `pg_`, which `PostgreSQL` reserves.
    pub fn new(name: &str) -> Result<Self> {
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let begins = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
        let is_name = begins && name.len() <= LONGEST_SCHEMA && name.bytes().all(is_part);
        if is_name && !name.starts_with("pg_") {
            return Ok(Self(name.to_string()));
        }
        let expected = "expected the name of a schema: 1 to 63 letters, digits, `_` and `-`";
        Err(out_of_range(format!("{expected}, found another string")))
    }

    /// Returns the name of the schema.
    pub fn name(&self) -> &str {
        &self.0
    }
}

impl Default for Schema {
    fn default() -> Self {
        Self("polyflake".to_string())
    }
}

/// The name as SQL quotes it.
impl core::fmt::Display for Schema {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "\"{}\"", self.0)
    }
}

/// Which tables a request may create.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Create {
    /// No tables. A location without a store is an error.
    Nothing,
    /// The tables of a store, unless the database contains another store.
    #[default]
    Store,
    /// The tables of a store, even if the database contains another store (`create=second-store`).
    SecondStore,
}

#[cfg(feature = "hosted")]
impl Create {
    /// Reads the parameter or the setting `create`.
    pub(crate) fn of(value: Option<&str>) -> Result<Self> {
        match value {
            None => Ok(Self::Store),
            Some(SECOND_STORE) => Ok(Self::SecondStore),
            Some(_) => Err(unknown("create", SECOND_STORE)),
        }
    }
}

/// How a store may be opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "drivers make it")]
pub struct Access {
    /// The tables that may be created.
    pub create: Create,
    /// Whether a file may be on overlayfs, whose content is lost with its container (`allow=overlayfs`).
    pub allows_overlayfs: bool,
}

/// The parts of a store's URL.
#[cfg(feature = "hosted")]
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Location {
    /// The URL without the parameters below.
    pub(crate) url: String,
    pub(crate) namespace: Option<String>,
    /// An explicit schema.
    pub(crate) schema: Option<Schema>,
    pub(crate) access: Access,
}

#[cfg(feature = "hosted")]
impl Location {
    /// Splits a URL.
    ///
    /// # Errors
    /// `out_of_range` for a parameter of this crate that is repeated, has an unknown value or does not fit the database. An error
    /// shows nothing of the URL, which may hold a password.
    pub(crate) fn of(url: &str) -> Result<Self> {
        let (before, query) = url.split_once('?').unwrap_or((url, ""));
        let mut parameters: Vec<_> = query.split('&').filter(|it| !it.is_empty()).collect();
        let namespace = take(&mut parameters, "namespace")?;
        let schema = take(&mut parameters, "schema")?;
        let create = take(&mut parameters, "create")?;
        let allow = take(&mut parameters, "allow")?;
        let is_file = before.starts_with("sqlite:");
        for (name, value) in [("schema", schema), ("create", create)] {
            if is_file && value.is_some() {
                return Err(unfit(name, "PostgreSQL"));
            }
        }
        if !is_file && allow.is_some() {
            return Err(unfit("allow", "SQLite"));
        }
        let create = Create::of(create)?;
        let allows_overlayfs = match allow {
            None => false,
            Some("overlayfs") => true,
            Some(_) => return Err(unknown("allow", "overlayfs")),
        };
        Ok(Self {
            url: match &*parameters.join("&") {
                "" => before.to_string(),
                others => format!("{before}?{others}"),
            },
            namespace: namespace.map(|name| name.replace("%2F", "/").replace("%2f", "/")),
            schema: schema.map(Schema::new).transpose()?,
            access: Access { create, allows_overlayfs },
        })
    }
}

/// Removes a parameter from all parameters and returns its value.
#[cfg(feature = "hosted")]
fn take<'u>(parameters: &mut Vec<&'u str>, name: &str) -> Result<Option<&'u str>> {
    let value = |parameter: &&'u str| parameter.strip_prefix(name)?.strip_prefix('=');
    let found: Vec<_> = parameters.iter().filter_map(value).collect();
    parameters.retain(|parameter| value(parameter).is_none());
    match *found {
        [] => Ok(None),
        [one] => Ok(Some(one)),
        _ => Err(out_of_range(format!("expected one {name} in the URL of a lease, found more"))),
    }
}

#[cfg(feature = "hosted")]
fn unfit(name: &str, database: &str) -> Error {
    let expected = format!("expected the parameter `{name}` in a URL of {database} alone");
    out_of_range(format!("{expected}, found it in another one"))
}

#[cfg(feature = "hosted")]
fn unknown(name: &str, value: &str) -> Error {
    out_of_range(format!("expected `{name}={value}` in the URL of a store, found another value"))
}

#[cfg(all(test, feature = "hosted"))]
mod tests {
    use super::*;

    fn of(url: &str) -> Location {
        Location::of(url).unwrap()
    }

    #[test]
    fn the_parameters_of_this_crate_are_taken_out_of_a_url() {
        let found =
            of("postgres://me@db/x?a=1&schema=Mine&namespace=a%2Fb&create=second-store&b=2");
        assert_eq!(found.url, "postgres://me@db/x?a=1&b=2");
        assert_eq!(found.namespace.as_deref(), Some("a/b"));
        assert_eq!(found.schema.unwrap().name(), "Mine");
        assert_eq!(found.access.create, Create::SecondStore);
        let found = of("sqlite:/ids.db?allow=overlayfs");
        assert_eq!((&*found.url, found.access.allows_overlayfs), ("sqlite:/ids.db", true));
        let found = of("postgres://me@db/x?schemas=1&sslmode=require");
        assert_eq!(found.url, "postgres://me@db/x?schemas=1&sslmode=require");
        assert_eq!((found.schema, found.access), (None, Access::default()));
    }

    #[test]
    fn parameters_that_do_not_fit_are_rejected_without_the_url() {
        for url in [
            "postgres://me:sesame@db/x?schema=a&schema=b",
            "postgres://me:sesame@db/x?schema=",
            "postgres://me:sesame@db/x?schema=a%22b",
            "postgres://me:sesame@db/x?schema=pg_catalog",
            "postgres://me:sesame@db/x?schema=1a",
            "postgres://me:sesame@db/x?create=always",
            "postgres://me:sesame@db/x?allow=overlayfs",
            "sqlite:/sesame.db?schema=a",
            "sqlite:/sesame.db?create=second-store",
            "sqlite:/sesame.db?allow=tmpfs",
            "sqlite:/sesame.db?namespace=a&namespace=b",
        ] {
            let error = Location::of(url).err().expect(url);
            assert_eq!(error.code(), "out_of_range", "{url}");
            assert!(!error.to_string().contains("sesame"), "{error}");
        }
    }
}
