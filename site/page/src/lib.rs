//! The inspector for the page: a text in, JSON out.

#![allow(missing_docs, reason = "wasm-bindgen writes items of its own")]

use polyflake::layout::Layout;
use polyflake_inspect::{Context, MEMBERS, inspect, likely, sentence, suggest};
use serde_json::Value;
use wasm_bindgen::prelude::wasm_bindgen;

/// The possible meanings of a text, as JSON: a sentence, and the readings that the program `polyflake` shows, too.
///
/// `now` is the present in Unix milliseconds. `layout` is a layout of the reader's own as JSON; one that is invalid is left out,
/// since the page says so elsewhere.
#[wasm_bindgen]
#[must_use]
pub fn look(text: &str, now: i64, layout: &str) -> String {
    let layout = Layout::from_json(layout).ok();
    let layouts: Vec<_> = layout.iter().map(|layout| ("your layout", layout)).collect();
    let context = Context { now_ms: now, secret: None, layouts: &layouts };
    let readings = inspect(text, &context);
    let shown: Vec<_> = likely(&readings).map(|reading| reading.to_json(&MEMBERS)).collect();
    let suggestion = suggest(text, &readings, &context);
    let (sentence, suggestion) = (Value::from(sentence(&readings)), Value::from(suggestion));
    let readings = shown.join(",");
    format!(r#"{{"sentence":{sentence},"suggestion":{suggestion},"readings":[{readings}]}}"#)
}
