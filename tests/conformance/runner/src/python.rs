//! Converts the Python expressions that occur in the vectors to protocol values.

use anyhow::{Result, bail};
use data_encoding::HEXLOWER;
use serde_json::{Value, json};

/// Returns an expression's value: a decimal string for an integer, `{"hex"}` for bytes, `{"text"}` for a string, and a
/// plain JSON value otherwise.
pub(crate) fn parse_expression(expression: &str) -> Result<Value> {
    let quoted = |prefix: &str| expression.strip_prefix(prefix)?.strip_suffix('\'');
    Ok(match expression {
        "None" => Value::Null,
        "True" => true.into(),
        "False" => false.into(),
        _ if expression.parse::<i128>().is_ok() => expression.into(),
        _ if expression.parse::<f64>().is_ok() => expression.parse::<f64>()?.into(),
        _ => match (quoted("b'"), quoted("'")) {
            (Some(bytes), _) => json!({"hex": HEXLOWER.encode(bytes.as_bytes())}),
            (_, Some(text)) => json!({"text": text}),
            _ => bail!("expected a Python expression that the suite knows, found {expression}"),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn python_expressions_are_converted_to_values() {
        let read = |expression| parse_expression(expression).unwrap();
        assert_eq!(read("9223372036854775808"), json!("9223372036854775808"));
        assert_eq!(read("1.0"), json!(1.0));
        assert_eq!(read("b'0'"), json!({"hex": "30"}));
        assert_eq!(read("'0'"), json!({"text": "0"}));
        assert_eq!(read("True"), json!(true));
        assert!(parse_expression("0x10 + 1").is_err());
    }
}
