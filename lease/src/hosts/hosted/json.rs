//! Errors and events as JSON.

use alloc::string::ToString;

use serde_json::{Value as Json, json};

use crate::{Error, ErrorKind, Event};

/// An error for a host.
pub(super) fn error_of(error: &Error) -> Json {
    json!({
        "code": error.code(),
        "message": error.to_string(),
        "until": error.until(),
        "permanent": error.is_permanent(),
    })
}

/// An error of the rules that a host got where it opened a file. All of these last.
pub(super) fn refused(error: &Json) -> Error {
    let text = |key: &str| error[key].as_str().unwrap_or_default();
    let kind = ErrorKind::of_code(text("code")).unwrap_or(ErrorKind::LeaseUnavailable);
    Error::new(kind, text("message").to_string()).permanent()
}

/// An event for a host.
pub(super) fn event_of(event: &Event) -> Json {
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
        Event::Refused(error) => error_of(error),
        Event::Sealed { number, used_until } => {
            json!({ "number": number, "used_until": used_until })
        }
    };
    let Json::Object(mut fields) = fields else { return fields };
    fields.insert("name".into(), event.name().into());
    fields.insert("text".into(), event.to_string().into());
    Json::Object(fields)
}
