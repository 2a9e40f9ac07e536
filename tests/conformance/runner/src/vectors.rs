//! Converts a folder's vector files to cases. Most files belong to one format, and some contain cases for several formats.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::{Case, hotguid, layout, public, randflake, sno, sparx64, uuid7};

/// A function that converts the contents of a vector file to cases.
type Reader = fn(&Value) -> Result<Vec<Case>>;

const READERS: [(&str, Reader); 18] = [
    ("sno.json", sno::vector_cases),
    ("sno_invalid.json", sno::invalid_cases),
    ("sno_generator.json", sno::generator_cases),
    ("polymorphic.json", sno::polymorphic_cases),
    ("sparx64.json", sparx64::block_cases),
    ("randflake.json", randflake::vector_cases),
    ("randflake_invalid.json", randflake::invalid_cases),
    ("randflake_generator.json", randflake::generator_cases),
    ("hotguid.json", hotguid::vector_cases),
    ("layout64.json", layout::integer_cases),
    ("layoutbytes.json", layout::byte_id_cases),
    ("layout_generator.json", layout::generator_cases),
    ("layout_range.json", layout::worker_range_cases),
    ("presets.json", layout::preset_cases),
    ("public.json", public::text_cases),
    ("ranges.json", range_cases),
    ("uuid7.json", uuid7::vector_cases),
    ("uuid8.json", uuid8_cases),
];

/// Returns the cases of every file in `folder`. A file without a reader is an error.
pub(crate) fn read(folder: &Path) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    println!("vectors: {}", folder.display());
    for path in files(folder)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Some((_, reader)) = READERS.iter().find(|(file, _)| *file == name) else {
            bail!("expected vector files that the suite knows, found {}", path.display());
        };
        let read =
            read_file(&path, *reader).with_context(|| format!("cannot use {}", path.display()))?;
        println!("  {name:<24} {} cases", read.len());
        cases.extend(
            read.into_iter().map(|case| Case { name: format!("{name}: {}", case.name), ..case }),
        );
    }
    Ok(cases)
}

/// Returns a folder's vector files, sorted by name. An empty folder is an error.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.retain(|path| path.extension().is_some_and(|end| end == "json"));
    ensure!(!paths.is_empty(), "expected vector files, found none in {}", folder.display());
    paths.sort();
    Ok(paths)
}

fn read_file(path: &Path, reader: Reader) -> Result<Vec<Case>> {
    let cases = reader(&serde_json::from_slice(&fs::read(path)?)?)?;
    ensure!(!cases.is_empty(), "expected cases, found none");
    Ok(cases)
}

/// Returns the cases of `ranges.json`, which covers every format.
fn range_cases(file: &Value) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for (index, case) in list(file, "cases")?.iter().enumerate() {
        let range = match text(case, "family")? {
            "sno" => sno::range_case,
            "hotguid" => hotguid::range_case,
            "uuid7" => uuid7::range_case,
            "layout" => layout::range_case,
            other => bail!("expected a family that the suite knows, found {other}"),
        };
        cases.push(range(&label(index, case), case)?);
    }
    Ok(cases)
}

/// Returns the cases of `uuid8.json`, for sno and for Hot Guid.
fn uuid8_cases(file: &Value) -> Result<Vec<Case>> {
    let mut cases = sno::uuid8_cases(file)?;
    cases.extend(hotguid::uuid8_cases(file)?);
    Ok(cases)
}

/// Returns a member of this project's expected answer. A member of `ours` takes precedence over the original library's
/// member. If `ours` contains an error, the original library's values are ignored. If `ours` contains no error, the
/// original library's error is ignored.
pub(crate) fn our_value<'a>(case: &'a Value, member: &str) -> Option<&'a Value> {
    let Some(ours) = case.get("ours") else { return case.get(member) };
    match ours.get(member) {
        Some(value) => Some(value),
        None if member == "error" || ours.get("error").is_some() => None,
        None => case.get(member),
    }
}

/// Returns a label for a case: its position in the file, followed by its note, if any.
pub(crate) fn label(index: usize, case: &Value) -> String {
    let note = ["name", "note", "reason"].iter().find_map(|member| case.get(*member)?.as_str());
    note.map_or_else(|| format!("case {index}"), |note| format!("case {index} ({note})"))
}

pub(crate) fn member<'a>(object: &'a Value, name: &str) -> Result<&'a Value> {
    object.get(name).with_context(|| format!("expected a member {name}, found {object:.300}"))
}

pub(crate) fn list<'a>(object: &'a Value, name: &str) -> Result<&'a Vec<Value>> {
    member(object, name)?.as_array().with_context(|| format!("expected a list as {name}"))
}

pub(crate) fn text<'a>(object: &'a Value, name: &str) -> Result<&'a str> {
    member(object, name)?.as_str().with_context(|| format!("expected a text as {name}"))
}

pub(crate) fn number(object: &Value, name: &str) -> Result<u64> {
    member(object, name)?.as_u64().with_context(|| format!("expected a number as {name}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn our_values_override_the_originals() {
        let case = json!({"id": "aa", "value": 6, "ours": {"value": 5, "why": ""}});
        assert_eq!(our_value(&case, "value"), Some(&json!(5)));
        assert_eq!(our_value(&case, "id"), Some(&json!("aa")));
        let accepted = json!({"error": "Refused.", "ours": {"id": "bb"}});
        assert_eq!(our_value(&accepted, "error"), None);
        assert_eq!(our_value(&accepted, "id"), Some(&json!("bb")));
        let refused = json!({"id": "aa", "ours": {"error": "sequence_exhausted"}});
        assert_eq!(our_value(&refused, "id"), None);
        assert_eq!(our_value(&refused, "error"), Some(&json!("sequence_exhausted")));
    }

    #[test]
    fn unknown_files_and_empty_folders_are_rejected() {
        let folder = tempfile::tempdir().unwrap();
        assert!(read(folder.path()).is_err());
        fs::write(folder.path().join("sno2.json"), "{}").unwrap();
        assert!(read(folder.path()).err().unwrap().to_string().contains("sno2.json"));
    }

    #[test]
    fn every_vector_file_of_the_repository_is_known() {
        let cases = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors")).unwrap();
        assert!(cases.len() > 5000, "found {}", cases.len());
    }
}
