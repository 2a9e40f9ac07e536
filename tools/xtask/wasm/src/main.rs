//! Generates the JavaScript bindings of a wasm module for bundlers: `cargo run --package xtask-wasm -- MODULE FOLDER`.
//!
//! The wasm-bindgen command-line program could do the same, but it includes a test runner, whose HTTP servers and clients
//! take minutes to compile. This crate is separate so that `xtask` does not depend on wasm-bindgen's library, which most
//! tasks do not need.

use std::env;

use anyhow::{Result, bail};
use wasm_bindgen_cli_support::Bindgen;

fn main() -> Result<()> {
    let arguments: Vec<_> = env::args_os().skip(1).collect();
    let [module, folder] = &arguments[..] else {
        bail!("expected a module and a folder, found {} arguments", arguments.len());
    };
    Bindgen::new().bundler(true)?.typescript(false).input_path(module).generate(folder)
}
