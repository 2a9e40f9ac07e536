//! Public IDs.

use data_encoding::HEXLOWER;
use polyflake::public::{IdType, Keyring};
use serde_json::Value;

use crate::args::{Answer, Failure, integer, text, unexpected_failure};

pub(crate) fn run(op: &str, args: &Value) -> Answer {
    let of = id_type(args)?;
    match op {
        "encode" => Ok(of.encode(integer(args, "number")?)?.into()),
        "decode" => Ok(of.decode(text(args, "text")?)?.to_string().into()),
        "encode_many" => map_all(&args["numbers"], |text| {
            Ok(of.encode(text.parse().map_err(unexpected_failure)?)?)
        }),
        "decode_many" => map_all(&args["texts"], |text| Ok(of.decode(text)?.to_string())),
        _ => Err(Failure::UnknownOp),
    }
}

/// Returns the type that `secrets`, `type` and `bits` define.
fn id_type(args: &Value) -> Result<IdType, Failure> {
    let secrets = args["secrets"].as_object().ok_or_else(|| unexpected_failure("no secrets"))?;
    let secrets = secrets.iter().map(|(version, _)| {
        let secret = text(&args["secrets"], version)?;
        Ok((
            version.parse().map_err(unexpected_failure)?,
            HEXLOWER.decode(secret.as_bytes()).map_err(unexpected_failure)?,
        ))
    });
    let ids = Keyring::with_versions(secrets.collect::<Result<Vec<_>, Failure>>()?)?;
    Ok(ids.of_bits(text(args, "type")?, integer(args, "bits")?)?)
}

fn map_all(items: &Value, answer: impl Fn(&str) -> Result<String, Failure>) -> Answer {
    let items = items.as_array().ok_or_else(|| unexpected_failure("no list"))?;
    let texts = items.iter().map(|item| item.as_str().ok_or_else(|| unexpected_failure("no text")));
    texts.map(|text| answer(text?).map(Value::from)).collect()
}
