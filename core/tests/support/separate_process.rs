//! Runs tests in separate processes, because the process has global state that other tests change.
#![allow(dead_code, reason = "each test file uses its part")]

use std::{any::type_name, env, process::Command};

/// Runs a test's body in a separate process with the given environment variables. Does nothing under Miri, which cannot
/// spawn processes.
pub(crate) fn run_in_separate_process<T: FnOnce()>(variables: &[(&str, &str)], test: T) {
    const TEST_VARIABLE: &str = "POLYFLAKE_TEST";
    // A closure's type name contains the name of the enclosing function: `crate::function::{{closure}}`.
    let name = type_name::<T>().split("::").nth(1).unwrap();
    if cfg!(miri) || env::var(TEST_VARIABLE).is_ok_and(|wanted| wanted == name) {
        return test();
    }
    rerun_test(name, &[variables, &[(TEST_VARIABLE, name)]].concat());
}

/// Runs one of this test program's tests in a separate process with the given environment variables.
#[track_caller]
pub(crate) fn rerun_test(name: &str, variables: &[(&str, &str)]) {
    let mut this = Command::new(env::current_exe().unwrap());
    let this = this.args(["--exact", name, "--nocapture"]).envs(variables.iter().copied());
    let output = this.output().unwrap();
    let [told, errors] =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(output.status.success() && told.contains("1 passed"), "{variables:?}\n{told}{errors}");
}
