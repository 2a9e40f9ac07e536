//! Binds a wasm module to JavaScript for bundlers: `cargo run --package xtask-wasm -- MODULE FOLDER`.
//!
//! The program wasm-bindgen would do the same, but it comes with a test runner, whose servers and clients for HTTP take minutes to
//! compile. A crate of its own keeps the library out of `xtask`, most of whose tasks need none.

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
