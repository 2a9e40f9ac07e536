//! The schema that contains a store's tables, and the options for opening a store, such as which tables may be created.

use alloc::{
    format,
    string::{String, ToString},
};

use crate::{Result, rules::error::out_of_range};

/// The value of the `create` parameter that permits a second store in a database.
#[cfg(feature = "hosted")]
pub(crate) const SECOND_STORE: &str = "second-store";

/// The value of the `storage` parameter that declares that a server's storage is durable.
#[cfg(feature = "hosted")]
pub(crate) const DURABLE_STORAGE: &str = "durable";

/// The maximum length of a schema name. `PostgreSQL` truncates longer names.
const MAX_SCHEMA_LEN: usize = 63;

/// The `PostgreSQL` schema that contains a store's tables. The default is `polyflake`.
///
/// All statements use schema-qualified table names, because unqualified names would be resolved through the `search_path`.
/// Two roles in one database could then silently use two separate stores, and both stores would lease the full range of
/// worker IDs.
///
/// ```
/// use polyflake_lease::protocol::steps::Schema;
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
    /// Returns `out_of_range` unless the name has 1 to 63 characters from `A-Z a-z 0-9 _ -`, does not begin with a digit or
    /// a hyphen, and does not begin with `pg_`, which `PostgreSQL` reserves.
    pub fn new(name: &str) -> Result<Self> {
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let begins = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
        let is_name = begins && name.len() <= MAX_SCHEMA_LEN && name.bytes().all(is_part);
        if is_name && !name.starts_with("pg_") {
            return Ok(Self(name.to_string()));
        }
        let expected = "expected the name of a schema: 1 to 63 letters, digits, `_` and `-`";
        Err(out_of_range(format!("{expected}, found another string")))
    }

    /// Returns the schema's name.
    pub fn name(&self) -> &str {
        &self.0
    }
}

impl Default for Schema {
    fn default() -> Self {
        Self("polyflake".to_string())
    }
}

/// Displays the name as a quoted SQL identifier.
impl core::fmt::Display for Schema {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "\"{}\"", self.0)
    }
}

/// The tables that a request may create.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Create {
    /// No tables. If the location contains no store, opening the store fails.
    Nothing,
    /// No tables. A location where a store could be created is treated as if it contained an empty store.
    Trial {
        /// Whether the store could be created even if the database contains another store.
        second: bool,
    },
    /// The tables of a store, unless the database contains another store.
    #[default]
    Store,
    /// The tables of a store, even if the database contains another store (`create=second-store`).
    SecondStore,
}

impl Create {
    /// Returns the variant for a program that only checks whether the store could be created.
    #[cfg(feature = "hosted")]
    pub(crate) fn trial(self) -> Self {
        match self {
            Self::Store => Self::Trial { second: false },
            Self::SecondStore => Self::Trial { second: true },
            other => other,
        }
    }

    pub(crate) fn is_trial(self) -> bool {
        matches!(self, Self::Trial { .. })
    }

    pub(crate) fn allows_second_store(self) -> bool {
        matches!(self, Self::SecondStore | Self::Trial { second: true })
    }

    /// Parses the `create` setting.
    #[cfg(feature = "hosted")]
    pub(crate) fn parse(value: Option<&str>) -> Result<Self> {
        match value {
            None => Ok(Self::Store),
            Some(SECOND_STORE) => Ok(Self::SecondStore),
            Some(_) => Err(out_of_range(format!(
                "expected `{SECOND_STORE}` for `create`, found another value"
            ))),
        }
    }
}

/// Parses the `storage` parameter, and returns whether it declares that the server's storage is durable.
#[cfg(feature = "hosted")]
pub(crate) fn is_durable_storage(value: Option<&str>) -> Result<bool> {
    match value {
        None => Ok(false),
        Some(DURABLE_STORAGE) => Ok(true),
        Some(_) => Err(out_of_range(format!("`storage` can only be `{DURABLE_STORAGE}`"))),
    }
}

/// The options for opening a store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "drivers make it")]
pub struct Access {
    /// The tables that may be created.
    pub create: Create,
    /// Whether the store's file may be on overlayfs, whose contents are lost when the container is removed
    /// (`allow=overlayfs`).
    pub allows_overlayfs: bool,
    /// Whether the operator declares that the server's storage keeps acknowledged writes and never writes partial pages
    /// (`storage=durable`). The declaration replaces `fsync` and `full_page_writes` in `PostgreSQL`, and
    /// `innodb_doublewrite` in `MySQL` and `MariaDB`. It replaces no other setting.
    pub has_durable_storage: bool,
}
