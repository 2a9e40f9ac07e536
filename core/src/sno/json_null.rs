//! Serializes the zero ID as `null`, as the Go library does. This representation applies only to fields that name this
//! module in serde's `with` attribute.
//!
//! ```
//! use polyflake::sno::Sno;
//!
//! #[derive(serde::Deserialize, serde::Serialize)]
//! struct Order {
//!     #[serde(with = "polyflake::sno::json_null")]
//!     buyer: Sno,
//! }
//!
//! let order: Order = serde_json::from_str(r#"{"buyer":null}"#)?;
//! assert_eq!(order.buyer, Sno::default());
//! assert_eq!(serde_json::to_string(&order)?, r#"{"buyer":null}"#);
//!
//! let order: Order = serde_json::from_str(r#"{"buyer":"93bm44ab22flxhjb"}"#)?;
//! assert_eq!(serde_json::to_string(&order)?, r#"{"buyer":"93bm44ab22flxhjb"}"#);
//! assert!(serde_json::from_str::<Sno>("null").is_err());
//! # Ok::<(), serde_json::Error>(())
//! ```

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Sno;

/// Serializes an ID in its usual form, or as null if it is the zero ID.
///
/// ```
/// use polyflake::sno::Sno;
///
/// #[derive(serde::Serialize)]
/// struct Order(#[serde(with = "polyflake::sno::json_null")] Sno);
///
/// assert_eq!(serde_json::to_string(&Order(Sno::default()))?, "null");
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn serialize<S: Serializer>(id: &Sno, serializer: S) -> Result<S::Ok, S::Error> {
    Some(id).filter(|id| **id != Sno::default()).serialize(serializer)
}

/// Deserializes an ID from its usual form, or the zero ID from null.
///
/// ```
/// use polyflake::sno::Sno;
///
/// #[derive(serde::Deserialize)]
/// struct Order(#[serde(with = "polyflake::sno::json_null")] Sno);
///
/// assert_eq!(serde_json::from_str::<Order>("null")?.0, Sno::default());
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Sno, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}
