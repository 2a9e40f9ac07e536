//! Vectors for single IDs: packing, parsing, presets and time ranges.

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::description::{translate, values, values_to_pack};
use crate::{
    case::{Case, Pattern},
    vectors::{label, list, member, our_value, text},
};

/// Returns the cases of `layout64.json`.
pub(crate) fn integer_cases(file: &Value) -> Result<Vec<Case>> {
    let mut made = Vec::new();
    for (index, vector) in list(file, "layouts")?.iter().enumerate() {
        made.extend(layout_cases(&label(index, vector), vector)?);
    }
    Ok(made)
}

/// Returns the cases of `layoutbytes.json`, which test byte layouts in the same way as `layout64.json` tests integer
/// layouts. Additional cases parse IDs of the wrong length.
pub(crate) fn byte_id_cases(file: &Value) -> Result<Vec<Case>> {
    let mut made = integer_cases(file)?;
    let fields = json!([{"kind": "bindable", "bits": 8, "name": "a"}, {"kind": "bindable", "bits": 16, "name": "b"}]);
    let three = json!({"id": "bytes", "bits": 24, "fields": fields});
    for (index, case) in list(file, "wrong_length_parse")?.iter().enumerate() {
        made.push(parse_case(&format!("length {index}"), &three, case)?);
    }
    Ok(made)
}

/// Returns a layout's cases. If the layout is invalid, the case that builds it expects the error.
fn layout_cases(name: &str, vector: &Value) -> Result<Vec<Case>> {
    let layout = translate(vector)?;
    let built = our_value(vector, "error")
        .or_else(|| our_value(vector, "build_error").filter(|it| it.is_string()));
    let built = match built {
        Some(code) => Pattern::error(code, None),
        None => Pattern::ok_with(Pattern::Any),
    };
    let mut made = vec![Case::for_op(name, "layout.json", json!({"layout": layout}), built)];
    let cases = |member| list(vector, member).map_or(&[][..], Vec::as_slice).iter().enumerate();
    for (index, case) in cases("cases") {
        made.extend(pack_cases(&format!("{name}, case {index}"), &layout, case)?);
    }
    for (index, case) in cases("parse_cases") {
        made.push(parse_case(&format!("{name}, ID {index}"), &layout, case)?);
    }
    Ok(made)
}

/// Returns two cases: one packs values, and the other parses the resulting ID.
fn pack_cases(name: &str, layout: &Value, case: &Value) -> Result<Vec<Case>> {
    let mut args = json!({"layout": layout});
    args.as_object_mut().context("an object")?.extend(values_to_pack(member(case, "inputs")?)?);
    let ask = |expected| Case::for_op(name, "layout.pack", args, expected);
    if let Some(code) = our_value(case, "error") {
        return Ok(vec![ask(Pattern::error(code, None))]);
    }
    let id = our_value(case, "id").context("expected an ID")?;
    let mut packed = case.clone();
    packed["id"] = id.clone();
    Ok(vec![ask(Pattern::ok(id.clone())), parse_case(name, layout, &packed)?])
}

fn parse_case(name: &str, layout: &Value, case: &Value) -> Result<Case> {
    let args = json!({"layout": layout, "id": text(case, "id")?});
    Ok(Case::for_op(name, "layout.parse", args, parsed_pattern(case)?))
}

/// Returns the answer that a vector expects from parsing its ID.
fn parsed_pattern(case: &Value) -> Result<Pattern> {
    Ok(match our_value(case, "error") {
        Some(code) => Pattern::error(code, None),
        None => Pattern::ok(values(our_value(case, "parsed").context("expected an ID's fields")?)),
    })
}

/// Returns a case that parses an ID from a decimal string, the form in which APIs send integers above 2^53.
fn parse_decimal_case(name: &str, layout: &Value, id: &str, expected: Pattern) -> Case {
    let args = json!({"layout": layout, "id_value": {"text": id}});
    Case::for_op(name, "layout.parse", args, expected)
}

/// Returns cases with strings that are not the canonical decimal form of an integer ID, and one case with a byte layout,
/// whose IDs have no decimal form.
fn invalid_decimal_cases() -> Vec<Case> {
    let (integers, long) = (json!({"preset": "discord"}), "9".repeat(100));
    let fields = json!([{"kind": "sequence", "bits": 8}]);
    let one_byte = json!({"id": "bytes", "bits": 8, "fields": fields});
    let rejected = ["007", "-0", "+7", "1 ", ""].map(|id| (&integers, id, "invalid_character"));
    let too_large = ["9223372036854775808", &*long].map(|id| (&integers, id, "out_of_range"));
    let all = rejected.into_iter().chain(too_large).chain([(&one_byte, "7", "invalid_type")]);
    let of = |(layout, id, code): (&Value, &str, &str)| {
        parse_decimal_case("not decimal", layout, id, Pattern::error(&code.into(), None))
    };
    all.map(of).collect()
}

/// `presets.json`: parses each ID as an integer and as a string, and packs the parsed values again.
pub(crate) fn preset_cases(file: &Value) -> Result<Vec<Case>> {
    let mut made = invalid_decimal_cases();
    for (index, case) in list(file, "cases")?.iter().enumerate() {
        let preset = text(case, "preset")?;
        let name = format!("{}, {preset}", label(index, case));
        let layout = json!({"preset": preset});
        made.push(parse_case(&name, &layout, case)?);
        made.push(parse_decimal_case(&name, &layout, text(case, "id")?, parsed_pattern(case)?));
        let mut args = member(case, "parsed")?.clone();
        args["layout"] = layout;
        let packed = repack(preset, text(case, "id")?)?;
        made.push(Case::for_op(&name, "layout.pack", args, Pattern::ok(packed.into())));
    }
    Ok(made)
}

/// Returns the ID that results from parsing and repacking an ID. Packing clears the unused bit, if the preset has one.
fn repack(preset: &str, id: &str) -> Result<String> {
    let has_unused = matches!(preset, "twitter" | "sonyflake" | "baidu");
    let id: i64 = id.parse()?;
    Ok(if has_unused { id & i64::MAX } else { id }.to_string())
}

/// Converts an entry of `ranges.json` to a case.
pub(crate) fn range_case(name: &str, case: &Value) -> Result<Case> {
    let mut args = json!({
        "layout": translate(case)?,
        "from_ms": text(case, "from_ms")?,
        "to_ms": text(case, "to_ms")?,
    });
    if let Some(bind) = case.get("bind") {
        args["bindables"] = values(bind);
    }
    let expected = match our_value(case, "error") {
        Some(code) => Pattern::error(code, None),
        None => Pattern::ok(
            json!({"lowest": member(case, "lowest")?, "highest": member(case, "highest")?}),
        ),
    };
    Ok(Case::new(name, "layout.time_range", args, expected))
}
