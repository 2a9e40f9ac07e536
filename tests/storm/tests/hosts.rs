//! Tests that the Python and JavaScript hosts behave like the Rust host.
#![cfg(target_os = "linux")]

use std::{fs, path::Path, time::Duration};

use idstorm::{
    judge::Format,
    process::{Program, can_use_namespaces},
    rows,
    storms::{STORMS, Size},
    verdict::Verdict,
};

/// An adapter whose IDs consist of a random base and a count. Copies of the process keep the base.
const RANDOM_BASE_ADAPTER: &str = "
import itertools, os

def generator(worker):
    base, count = os.urandom(8).hex(), itertools.count()
    return lambda: f'{base}{next(count):08}'
";

const RANDOM_ADAPTER: &str = "
import os

def generator(worker):
    return lambda: os.urandom(16).hex()
";

const COUNTER_ADAPTER: &str = "
export function generator(worker) {
  let count = 0;
  return () => `${worker}-${(count += 1)}`;
}
";

const FAILING_ADAPTER: &str = "
import itertools

def generator(worker):
    count = itertools.count()

    def generate():
        if next(count) % 10 == 0:
            raise ValueError('as wanted')
        return f'{worker}-{next(count)}'

    return generate
";

#[track_caller]
fn run(host: &str, adapter: &str, renews: bool, storm: &str) -> Verdict {
    let folder = tempfile::tempdir().unwrap();
    let (program, end) = if host == "host.py" { ("python3", "py") } else { ("node", "mjs") };
    let path = folder.path().join(format!("adapter.{end}"));
    fs::write(&path, adapter).unwrap();
    let host = Path::new(env!("CARGO_MANIFEST_DIR")).join("hosts").join(host);
    let [host, path] = [host, path].map(|path| path.to_str().unwrap().to_owned());
    let program =
        Program { command: vec![program.to_owned(), host, path], is_lines: false, renews };
    let longest = Duration::from_secs(300);
    let folder = folder.path().to_owned();
    let size = Size { ids: 1000, width: 2, memory: 1 << 16, folder, longest };
    let storm = STORMS.iter().find(|it| it.name == storm).unwrap();
    storm.run(&program, &Format::default(), &size).unwrap()
}

#[test]
fn python_forks_in_each_way() {
    for storm in ["fork", "raw-fork", "prefork", "image"] {
        if storm == "image" && !can_use_namespaces() {
            println!("left out: {storm} on this machine");
            continue;
        }
        // All copies generate the same IDs. The only IDs without duplicates are those in the first chunk, which is
        // generated before the copies are created.
        assert!(run("host.py", RANDOM_BASE_ADAPTER, false, storm).distinct.count >= 300, "{storm}");
        let verdict = run("host.py", RANDOM_ADAPTER, false, storm);
        assert!(verdict.is_clean() && verdict.ids > 600, "{storm}: {verdict}");
    }
}

#[test]
fn a_copy_of_a_multi_process_setup_creates_its_own_generator() {
    assert!(run("host.py", RANDOM_BASE_ADAPTER, true, "fork").is_clean());
}

#[test]
fn threads_run_in_python_and_node() {
    assert_eq!(run("host.py", RANDOM_BASE_ADAPTER, false, "threads").ids, 1000);
    let shared = run("host.mjs", COUNTER_ADAPTER, false, "threads");
    assert_eq!((shared.ids, shared.distinct.count), (1000, 500));
    assert!(run("host.mjs", COUNTER_ADAPTER, true, "threads").is_clean());
}

#[test]
fn failed_calls_are_counted_and_repeated() {
    let verdict = run("host.py", FAILING_ADAPTER, false, "processes");
    assert!(verdict.ids > 0 && verdict.errors["ValueError: as wanted"] > 0, "{verdict}");
}

#[test]
fn each_row_can_be_read() {
    let names = rows::names().unwrap();
    assert!(names.len() > 12);
    for name in names {
        rows::read(&name).unwrap().check().unwrap_or_else(|error| panic!("{name}: {error:#}"));
    }
}
