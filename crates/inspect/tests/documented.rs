//! Tests the example IDs in this project's own documentation. Each ID must have a time in the past, and must be recognized
//! as an ID of the correct format.
#![cfg(not(target_family = "wasm"))] // Tests in WebAssembly cannot read folders.

use std::{fs, path::Path};

use polyflake_inspect::{Context, inspect};

/// 2026-11-23T09:00:00Z.
const CONTEXT: Context<'_> =
    Context { now_ms: 1_795_424_400_000, secret: None, epoch_ms: None, layouts: &[] };

/// Collects the contents of a folder's documentation: Markdown files, and source files with examples in their comments.
fn collect_texts(folder: &Path, texts: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let is_documentation =
            [".md", ".rs", ".ts", ".py", ".pyi"].iter().any(|end| name.ends_with(end));
        if path.is_dir() && !["node_modules", "target", "dist"].contains(&name.as_str()) {
            collect_texts(&path, texts);
        } else if is_documentation {
            let text = fs::read_to_string(&path).expect("text");
            texts.push((path.display().to_string(), text));
        }
    }
}

/// Returns the format of a string that looks like an ID in one of this project's formats, or `None` for any other string,
/// such as an ordinary word.
fn detect_own_format(text: &str) -> Option<&'static str> {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let is_sno = |c: u8| matches!(c, b'2'..=b'9' | b'a'..=b'x');
    let is_public =
        |tail: &str| tail.len() == 15 && tail.bytes().all(|c| c.is_ascii_alphanumeric());
    match text.len() {
        16 if digits > 1 && digits < 16 && text.bytes().all(is_sno) => Some("sno"),
        17.. if digits > 2 && text.rsplit_once('_').is_some_and(|(_, tail)| is_public(tail)) => {
            Some("public-id")
        }
        _ => None,
    }
}

#[test]
fn documented_examples_are_recognized_and_in_the_past() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut all = Vec::new();
    for folder in ["docs", "core/src", "packages/js/src", "packages/python/src"] {
        collect_texts(&root.join(folder), &mut all);
    }
    for file in [
        "README.md",
        "core/README.md",
        "packages/js/README.md",
        "packages/python/README.md",
        "lease/README.md",
        "cli/README.md",
    ] {
        all.push((file.to_owned(), fs::read_to_string(root.join(file)).expect("text")));
    }
    let (mut faults, mut count) = (Vec::new(), 0);
    for (file, text) in &all {
        for word in text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
            let Some(format) = detect_own_format(word) else { continue };
            let readings = inspect(word, &CONTEXT);
            let Some(reading) = readings.iter().find(|reading| reading.format == format) else {
                continue;
            };
            count += 1;
            if readings[0].format != format || reading.reason.ends_with("in the future") {
                faults.push(format!("{file}: {word}: {}", reading.reason));
            }
        }
    }
    assert!(count >= 30, "{count}");
    assert!(faults.is_empty(), "{}", faults.join("../.."));
}
