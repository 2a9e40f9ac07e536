//! Tests rules that apply to the generators of every format, because all formats share one engine. The rules of a single
//! format are tested in that format's files.

mod batches;
mod beginnings;
mod ends;
#[path = "../support/family.rs"]
mod family;
mod handles;
mod readings;
#[path = "../support/mod.rs"]
mod support;
mod waits;
mod windows;

use std::{collections::BTreeSet, fs, path::Path, sync::Arc};

use family::{AnyGenerator, Family, GeneratorOptions};
use support::ScriptedClock;

/// Asserts that an ID's tick starts at `unix_ms`, and that the ID's position within the tick is `place`.
#[track_caller]
fn assert_id(made: polyflake::Result<family::AnyId>, unix_ms: i64, place: u64) {
    let made = made.unwrap();
    assert_eq!((made.unix_ms, made.place), (unix_ms, place));
}

/// Returns the modules of the crate with a source file that contains a text.
fn modules_with(text: &str) -> BTreeSet<String> {
    fn contains(path: &Path, text: &str) -> bool {
        if let Ok(folder) = path.read_dir() {
            return folder.into_iter().any(|entry| contains(&entry.unwrap().path(), text));
        }
        fs::read_to_string(path).unwrap().contains(text)
    }
    let modules = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src")).read_dir().unwrap();
    let modules = modules.map(|module| module.unwrap()).filter(|it| contains(&it.path(), text));
    modules.map(|module| module.file_name().into_string().unwrap()).collect()
}

/// A format that is missing in the lists would miss the tests of all formats.
#[test]
#[cfg_attr(miri, ignore = "reads source files")]
fn the_lists_contain_all_formats() {
    let listed = |list: &[Family]| list.iter().map(|family| family.module.to_owned()).collect();
    assert_eq!(modules_with("impl Pack for "), listed(&family::FAMILIES));
    assert_eq!(modules_with("static DEFAULT_GENERATOR"), listed(&family::DEFAULTS));
}

/// Runs `test` for each format, with a clock that shows [`family::START_MS`] and a generator with default options.
fn for_each_family(test: impl Fn(&Family, &ScriptedClock, &Arc<dyn AnyGenerator>)) {
    for_each_family_with_options(|_| GeneratorOptions::default(), test);
}

/// Works like `for_each_family`, but builds the generators with the options that `options` returns.
fn for_each_family_with_options(
    options: impl Fn(&Family) -> GeneratorOptions,
    test: impl Fn(&Family, &ScriptedClock, &Arc<dyn AnyGenerator>),
) {
    for family in family::FAMILIES {
        println!("{}", family.name);
        let clock = ScriptedClock::default();
        clock.set_readings([family::START_MS]);
        let ids = family.build(clock.clone(), options(&family)).unwrap();
        test(&family, &clock, &ids);
    }
}
