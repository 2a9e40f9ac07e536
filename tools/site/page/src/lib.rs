//! The inspector that the page uses. It takes a string and returns JSON.

#![allow(missing_docs, reason = "wasm-bindgen writes items of its own")]

use polyflake::layout::Layout;
use polyflake_inspect::{Context, MEMBERS, answer_to_json, inspect, likely, sentence, suggest};
use serde_json::Value;
use wasm_bindgen::prelude::wasm_bindgen;

/// Returns the possible meanings of a string as JSON: a sentence, and the line of JSON that the `polyflake` program prints.
///
/// `now` is the current time in Unix milliseconds. `layout` is the reader's own layout as JSON. An invalid layout is
/// ignored, because the page reports the error elsewhere.
#[wasm_bindgen]
#[must_use]
pub fn look(text: &str, now: i64, layout: &str) -> String {
    let layout = Layout::from_json(layout).ok();
    let layouts: Vec<_> = layout.iter().map(|layout| ("your layout", layout)).collect();
    let context = Context { now_ms: now, layouts: &layouts, ..Context::default() };
    let readings = inspect(text, &context);
    let shown: Vec<_> = likely(&readings).collect();
    let suggestion = suggest(text, &readings, &context);
    let answer = answer_to_json(text, &shown, &MEMBERS, suggestion.as_deref());
    let sentence = Value::from(sentence(&readings));
    format!(r#"{{"sentence":{sentence},"answer":{answer}}}"#)
}
