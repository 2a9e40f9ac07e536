//! Checks that the conformance suite detects a single wrong value in any vector file.

use std::fs;

use anyhow::{Context, Result, ensure};
use xshell::Shell;

use crate::{
    conformance::{AvailableRuntimes, Runtime},
    workspace,
};

/// A fault for each vector file: the file's name, a string in the file, and the replacement for the first occurrence of
/// that string.
const FAULTS: [(&str, &str, &str); 18] = [
    ("sno.json", r#""sequence": 0"#, r#""sequence": 1"#),
    ("sno_invalid.json", r#""position": 0"#, r#""position": 1"#),
    ("sno_generator.json", r#""drifts": 0"#, r#""drifts": 1"#),
    ("polymorphic.json", r#""metabyte": 0"#, r#""metabyte": 1"#),
    ("sparx64.json", "2bbef15201f55f98", "2bbef15201f55f99"),
    ("randflake.json", "-6409233573807279069", "-6409233573807279068"),
    ("randflake_invalid.json", r#""position": 0"#, r#""position": 1"#),
    ("randflake_generator.json", r#""sequence": 1"#, r#""sequence": 2"#),
    ("hotguid.json", r#""counter": 1"#, r#""counter": 2"#),
    ("layout64.json", r#""id": "139264""#, r#""id": "139265""#),
    ("layoutbytes.json", r#""error": "invalid_length""#, r#""error": "out_of_range""#),
    ("layout_generator.json", r#""id": "20971520""#, r#""id": "20971519""#),
    ("presets.json", r#""sequence": "7""#, r#""sequence": "6""#),
    ("layout_range.json", r#""id": "20996096""#, r#""id": "20996097""#),
    ("uuid8.json", "00000000-0000-8000-8000-000000000000", "00000000-0000-8000-8000-000000000001"),
    ("public.json", "order_0abpg7dgwhjba5f", "order_0abpg7dgwhjba5g"),
    ("uuid7.json", r#""sequence": 209112"#, r#""sequence": 209113"#),
    ("ranges.json", r#""hex": "0"#, r#""hex": "1"#),
];

pub fn check(shell: &Shell) -> Result<()> {
    let ready = AvailableRuntimes::prepare_runtimes(shell, &[Runtime::Rust])?;
    let (whole, folder) = (workspace::root().join("tests/vectors"), tempfile::tempdir()?);
    let is_json = |path: &std::path::Path| path.extension().is_some_and(|end| end == "json");
    let files = fs::read_dir(&whole)?.flatten().filter(|file| is_json(&file.path())).count();
    ensure!(files == FAULTS.len(), "expected a fault for each of {files} vector files");
    for (file, right, wrong) in FAULTS {
        let vectors = fs::read_to_string(whole.join(file)).with_context(|| format!("no {file}"))?;
        let falsified = vectors.replacen(right, wrong, 1);
        ensure!(falsified != vectors, "expected {right} to falsify in {file}");
        fs::write(folder.path().join(file), falsified).context("cannot write a vector file")?;
    }
    let differing = ready.suite().differing_cases(folder.path())?;
    for (file, _, wrong) in FAULTS {
        let is_seen = differing.iter().any(|name| name.starts_with(&format!("{file}: ")));
        ensure!(is_seen, "{wrong} in {file} went unnoticed");
    }
    println!("a wrong digit in any of {files} files is noticed");
    Ok(())
}
