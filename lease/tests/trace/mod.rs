//! Encodes records for traces. `tests/proof` verifies a model of the lease protocol, and replays the traces against that
//! model.

use polyflake_lease::protocol::{Namespace, Record};
use serde_json::{Value, json};

/// Encodes the fields of a record that the protocol's rules use.
pub fn record_to_json(it: &Record) -> Value {
    let (token, incarnation) = (it.token.to_string(), it.incarnation.to_string());
    json!([it.first, it.start, it.granted_until, token, it.version, incarnation])
}

/// Encodes the fields of a namespace's record that the protocol's rules use.
pub fn namespace_to_json(it: &Namespace) -> Value {
    let incarnation = it.incarnation.to_string();
    json!([incarnation, it.store, it.previous_store, it.quiet_until, it.previous_quiet_until])
}
