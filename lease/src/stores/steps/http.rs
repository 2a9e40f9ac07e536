//! An HTTP service (`docs/lease-service.md`), modeled as a store whose only statement is the request itself.
//!
//! The statement's text is the body of the HTTP request. The statement has two values. The first is 1 if the next request
//! on the connection must reach the same server, and otherwise 0. The second is the value of the `polyflake-request`
//! header. The driver returns one row with three values: the response's status, the response's body, and the value of the
//! response's `polyflake-request` header. The service repeats the value that the request contained. If the response has no
//! such header, the third value is null. If the previous statement's first value was 1 and the connection is still open,
//! the driver sends the `polyflake-connection` header with the value from the last response.

use alloc::{
    format,
    string::{String, ToString},
    vec,
};

use super::{
    Failure, Outcome, Statement, Value,
    postgresql::{CERTIFICATE_MESSAGES, contains_any},
};
use crate::{
    Error, ErrorKind, Result,
    protocol::{Operation, Random, Reply, Request},
    rules::error::damaged_record,
};

pub(super) fn statement(request: &Request, id: Random) -> Statement {
    // To find out whether a write took effect, a holder sends a read and then another write over the same connection (R2).
    let keeps = i64::from(matches!(request.operation, Operation::Read { .. }));
    let values = vec![Value::Integer(keeps), Value::Text(id.to_string())];
    Statement { text: request.to_json(), values }
}

/// Returns the reply contained in the response to a request.
///
/// # Errors
/// Returns the service's error, or `lease_unavailable` if the response is not the service's response to this request.
pub(super) fn reply(outcome: &Outcome, id: Random) -> Result<Reply> {
    if let Some(failure) = &outcome.failure {
        return Err(error(failure));
    }
    let row = outcome.rows.first().and_then(|rows| rows.first()).map(|row| &**row);
    let Some([Value::Integer(status), Value::Text(body), repeated]) = row else {
        return Err(damaged_record("expected a status, a body and a value, found another row"));
    };
    if *status != 200 {
        return Err(Error::from_json(body).unwrap_or_else(|_| unexpected_status_error(*status)));
    }
    // A proxy may mix up responses, and a reply to a different request must not be accepted.
    if *repeated != Value::Text(id.to_string()) {
        return Err(unexpected_status_error(*status));
    }
    Reply::from_json(body).map_err(|error| match error.kind() {
        ErrorKind::SchemaTooNew => error,
        _ => unexpected_status_error(*status),
    })
}

fn unexpected_status_error(status: i64) -> Error {
    let found = format!("found another one with status {status}");
    unavailable_error(format!(
        "expected the response of `polyflake lease serve` to this request, {found}"
    ))
}

pub(super) fn error(failure: &Failure) -> Error {
    let message = failure.message.lines().next().unwrap_or_default();
    if contains_any(message, &CERTIFICATE_MESSAGES) {
        let reason = format!("the service's certificate is not trusted: {message}");
        return unavailable_error(reason).permanent();
    }
    unavailable_error(format!("no answer from the service: {message}"))
}

fn unavailable_error(reason: String) -> Error {
    Error::new(ErrorKind::LeaseUnavailable, reason)
}
