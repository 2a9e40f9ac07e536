//! Servers and libraries that tests need from the machine.

use std::{
    env,
    io::{self, Write},
};

/// Returns what a test needs and the machine has. If the machine does not have it, prints that the test is skipped.
///
/// # Panics
/// In continuous integration on Linux, where the task runner installs all servers, so that no test may be skipped there.
pub fn find_or_skip<T>(name: &str, found: Option<T>) -> Option<T> {
    if found.is_none() {
        let is_ci = env::var("CI").is_ok_and(|value| !value.is_empty() && value != "false");
        assert!(!is_ci || !cfg!(target_os = "linux"), "expected {name} on this machine");
        // Unlike `println!`, this is shown for a test that passes.
        writeln!(io::stderr(), "skipped: no {name} on this machine").expect("an open stderr");
    }
    found
}
