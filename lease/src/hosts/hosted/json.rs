//! The JSON representation of errors and events.

use alloc::string::ToString;

use serde_json::{Value as Json, json};

use crate::{Error, ErrorKind, Event, stores::steps::is_permanent_failure};

/// Converts an error to JSON for a host.
pub(super) fn error_to_json(error: &Error) -> Json {
    json!({
        "code": error.code(),
        "message": error.to_string(),
        "until": error.until(),
        "permanent": error.is_permanent(),
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
pub(super) fn event_to_json(event: &Event) -> Json {
    let fields = match event {
        Event::Acquired { number, start, end } => {
            json!({ "number": number, "start": start, "end": end })
        }
        Event::Renewed { number, end } | Event::Expired { number, end } => {
            json!({ "number": number, "end": end })
        }
        Event::Moved { from, number, start, end } => {
            json!({ "from": from, "number": number, "start": start, "end": end })
        }
        Event::Gap { number, milliseconds } => {
            json!({ "number": number, "milliseconds": milliseconds })
        }
        Event::Unconfirmed { number } => json!({ "number": number }),
        Event::Refused(error) => error_to_json(error),
        Event::Sealed { number, used_until } => {
            json!({ "number": number, "used_until": used_until })
        }
    };
    let Json::Object(mut fields) = fields else { return fields };
    fields.insert("name".into(), event.name().into());
    fields.insert("text".into(), event.to_string().into());
    Json::Object(fields)
}
