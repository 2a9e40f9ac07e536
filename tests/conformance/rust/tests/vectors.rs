//! Runs every vector file and some random cases with the Rust driver. The cases cover scenarios for the original
//! generators, strings, and layouts. `cargo xtask conformance` runs the same cases and more with all runtimes.

use std::{path::Path, process::Command};

use conformance_runner::{Runtime, Suite};

#[test]
fn answers_match_the_vectors() {
    let driver = |_| Command::new(env!("CARGO_BIN_EXE_conformance-rust"));
    let suite = Suite { runtimes: &[Runtime::Rust], driver };
    let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors");
    assert!(suite.run(&vectors, 1, 2000).unwrap(), "answers differ, see above");
}
