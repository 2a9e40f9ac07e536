//! The JSON representation of errors and events.

use alloc::string::ToString;

use serde_json::{Value as Json, json};

use crate::{Error, ErrorKind, Event, stores::steps::is_permanent_failure};

/// Converts an error to JSON for a host. To a caller that waits until `wait_end`, in Unix milliseconds, an error is
/// permanent if it lasts longer.
pub(super) fn error_to_json(error: &Error, wait_end: u64) -> Json {
    json!({
        "code": error.code(),
        "message": error.to_string(),
        "until": error.until(),
        "permanent": error.outlasts(wait_end),
    })
}

/// Converts an error from JSON. The host reports this error if it cannot open a connection. The error originates in the
/// host itself or in the shared rules. It is permanent unless the store is only temporarily unavailable, for example
/// because the process has reached its limit of open files.
pub(super) fn error_from_json(error: &Json) -> Error {
    let text = |key: &str| error[key].as_str().unwrap_or_default();
    let (kind, message) = (ErrorKind::from_code(text("code")), text("message"));
    let error = Error::new(kind.unwrap_or(ErrorKind::LeaseUnavailable), message.to_string());
    // Exceptions in Python and JavaScript have only a code and a message, so permanence is inferred from these. An
    // additional attribute would have to be public just for this purpose.
    let may_end = kind == Some(ErrorKind::LeaseUnavailable) && !is_permanent_failure(message);
    if may_end { error } else { error.permanent() }
}

/// Converts an event to JSON for a host.
pub(super) fn event_to_json(event: &Event, wait_end: u64) -> Json {
    let fields = match event {
        Event::Acquired { worker_id, start, end } => {
            json!({ "worker_id": worker_id, "start": start, "end": end })
        }
        Event::Renewed { worker_id, end } | Event::Expired { worker_id, end } => {
            json!({ "worker_id": worker_id, "end": end })
        }
        Event::Switched { previous_worker_id, worker_id, start, end } => {
            json!({ "previous_worker_id": previous_worker_id, "worker_id": worker_id, "start": start, "end": end })
        }
        Event::Gap { worker_id, milliseconds } => {
            json!({ "worker_id": worker_id, "milliseconds": milliseconds })
        }
        Event::Unconfirmed { worker_id } => json!({ "worker_id": worker_id }),
        Event::Rejected(error) => error_to_json(error, wait_end),
        Event::Sealed { worker_id, used_until } => {
            json!({ "worker_id": worker_id, "used_until": used_until })
        }
    };
    let Json::Object(mut fields) = fields else { return fields };
    fields.insert("name".into(), event.name().into());
    fields.insert("text".into(), event.to_string().into());
    Json::Object(fields)
}
