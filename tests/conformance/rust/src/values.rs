//! The protocol's VALUE: an integer as a decimal string, bytes as `{"hex"}`, and a string as `{"text"}`. Any other JSON
//! value represents a type that no field accepts.

use data_encoding::HEXLOWER;
use polyflake::{ErrorKind, layout::Value as Field};
use serde_json::{Map, Value, json};

use crate::args::{Failure, unexpected_failure};

/// Reads a field's value.
pub(crate) fn read(value: &Value) -> Result<Field<'static>, Failure> {
    match value {
        Value::String(decimal) => match Field::parse_integer(decimal) {
            Err(error) if error.kind() == ErrorKind::OutOfRange => Ok(Field::Beyond),
            number => Ok(number?),
        },
        Value::Object(tagged) => read_tagged(tagged),
        Value::Null => Ok(Field::Other("null".into())),
        Value::Bool(_) => Ok(Field::Other("a boolean".into())),
        Value::Number(_) => Ok(Field::Other("a float".into())),
        Value::Array(_) => Ok(Field::Other("a list".into())),
    }
}

fn read_tagged(tagged: &Map<String, Value>) -> Result<Field<'static>, Failure> {
    let member = |name| tagged.get(name).and_then(Value::as_str);
    match (member("hex"), member("text")) {
        (Some(hex), None) => {
            Ok(HEXLOWER.decode(hex.as_bytes()).map_err(unexpected_failure)?.into())
        }
        (None, Some(text)) => Ok(text.to_owned().into()),
        _ => Err(unexpected_failure("expected a member hex or text")),
    }
}

/// Reads named values from an optional argument.
pub(crate) fn read_all(args: &Value, name: &str) -> Result<Vec<(String, Field<'static>)>, Failure> {
    let given = args[name].as_object().into_iter().flatten();
    given.map(|(name, value)| Ok((name.clone(), read(value)?))).collect()
}

pub(crate) fn write(value: &Field<'_>) -> Value {
    match value {
        Field::Bytes(_) => json!({"hex": value.to_string()}),
        Field::Text(text) => json!({"text": text}),
        _ => value.to_string().into(),
    }
}
