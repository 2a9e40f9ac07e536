//! The inspector for the page: a text in, JSON out.

#![allow(missing_docs, reason = "wasm-bindgen writes items of its own")]

use polyflake::layout::Layout;
use polyflake_inspect::{Context, Reading, inspect, likely, sentence};
use serde_json::json;
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
    let readings = inspect(text, &Context { now_ms: now, secret: None, layouts: &layouts });
    let sentence = sentence(&readings);
    let readings: Vec<_> = likely(&readings).map(Reading::to_json).collect();
    json!({ "sentence": sentence, "readings": readings }).to_string()
}
