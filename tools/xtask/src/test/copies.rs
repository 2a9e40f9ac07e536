//! Creates real copies of processes that generate IDs, and checks that no copy repeats an ID of the original process. Each
//! copy calls the library to report that it was restored.

use anyhow::{Result, ensure};
use xshell::{Shell, cmd};

use crate::workspace;

/// The number of IDs that each generator generates in Python and Node. In Rust, each generator generates ten million IDs,
/// because generators need less time and memory there.
const ID_COUNT: &str = "1000000";
/// V8's flags. A copy contains only the thread that created it, so V8 must not wait for other threads.
const V8_FLAGS: [&str; 3] = ["--single-threaded", "--v8-pool-size=0", "--max-old-space-size=4000"];

pub fn check(shell: &Shell) -> Result<()> {
    if !cfg!(target_os = "linux") {
        println!("left out: copies are made with Linux's `clone`");
        return Ok(());
    }
    for package in ["polyflake", "polyflake-lease"] {
        let tests = ["--all-features", "--test", "copies", "--", "--ignored", "restored"];
        let told = cmd!(shell, "cargo test --package {package} {tests...}").read()?;
        ensure!(told.contains("1 passed"), "expected a test of {package}, found none: {told}");
    }
    let (python, folder) = (workspace::python(), workspace::root().join("tests/copies"));
    let (library, headers) = (workspace::target().join("copies.node"), headers(shell)?);
    let code = folder.join("copy.c");
    cmd!(shell, "cc -O2 -Wall -Werror -shared -fPIC -I {headers} -o {library} {code}").run()?;
    cmd!(shell, "{python} {folder}/restored.py {library} {ID_COUNT}").run()?;
    for backend in ["native", "wasm"] {
        let script = folder.join("restored.mjs");
        cmd!(shell, "node {V8_FLAGS...} {script} {library} {ID_COUNT} {backend}").run()?;
    }
    Ok(())
}

/// Returns the folder of Node's header files.
fn headers(shell: &Shell) -> Result<String> {
    let script =
        "process.stdout.write(require('path').join(process.execPath, '../../include/node'))";
    Ok(cmd!(shell, "node -e {script}").read()?)
}
