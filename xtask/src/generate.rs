//! Writes the files that are data in two languages: names and numbers between bindings-js and its TypeScript, from
//! `packages/protocol.toml`, and error codes, from `packages/api.toml`. Tidy finds files that are stale.

mod calls;
mod records;

use std::fs;

use anyhow::{Context, Result, bail};
use clap::Args;
use serde::Deserialize;

use crate::workspace;
use calls::Call;
use records::{Placed, Record};

const PROTOCOL: &str = "packages/protocol.toml";
const API: &str = "packages/api.toml";

/// The first words of a generated file.
pub const MARK: &str = "// Written by `cargo xtask generate` from ";

#[derive(Args)]
pub struct Options {
    /// Write nothing, and fail if a file is stale
    #[arg(long)]
    check: bool,
}

/// A file and the text that it must have.
type Generated = (&'static str, String);

#[derive(Deserialize)]
struct Protocol {
    constants: Vec<Constant>,
    tags: Vec<Tag>,
    records: Vec<Record>,
    calls: Vec<Call>,
}

impl Protocol {
    fn read() -> Result<Self> {
        Ok(toml::from_str(&read(PROTOCOL)?)?)
    }

    /// The records, each at its first slot.
    fn placed(&self) -> Result<Vec<Placed<'_>>> {
        let slots = self.constants.iter().find(|constant| constant.name == "NUMBERS");
        records::placed(&self.records, slots.context("expected `NUMBERS`")?.value.try_into()?)
    }
}

#[derive(Deserialize)]
struct Constant {
    name: String,
    value: u32,
    summary: String,
}

#[derive(Deserialize)]
struct Tag {
    name: String,
    summary: String,
}

pub fn main(options: &Options) -> Result<()> {
    if options.check {
        let stale = stale()?;
        return if stale.is_empty() { Ok(()) } else { bail!("{}", stale.join("\n")) };
    }
    for (path, text) in all()? {
        fs::write(workspace::root().join(path), text)
            .with_context(|| format!("cannot write {path}"))?;
        println!("{path}");
    }
    Ok(())
}

/// Files that differ from the text that they would get.
pub fn stale() -> Result<Vec<String>> {
    let is_stale = |(path, text): &Generated| {
        fs::read_to_string(workspace::root().join(path)).ok().as_ref() != Some(text)
    };
    let stale = all()?.into_iter().filter(is_stale);
    Ok(stale.map(|(path, _)| format!("{path}: stale, run `cargo xtask generate`")).collect())
}

fn all() -> Result<[Generated; 3]> {
    let protocol = Protocol::read()?;
    let records = protocol.placed()?;
    calls::check(&protocol.calls, &records)?;
    Ok([
        ("bindings-js/src/protocol.rs", rust(&protocol, &records)),
        ("packages/js/src/protocol.ts", typescript(&protocol, &records)),
        ("packages/js/src/codes.ts", codes(&read(API)?)?),
    ])
}

fn read(path: &str) -> Result<String> {
    fs::read_to_string(workspace::root().join(path)).with_context(|| format!("cannot read {path}"))
}

fn rust(protocol: &Protocol, records: &[Placed<'_>]) -> String {
    let head = format!(
        "{MARK}`{PROTOCOL}`.\n//! The names and numbers that TypeScript has too.\n\nuse polyflake::Result;\n\nuse crate::{{At, Host, Machine}};\n"
    );
    let constants = protocol.constants.iter().map(|Constant { name, value, summary }| {
        format!("\n/// {summary}\npub(crate) const {name}: usize = {value};\n")
    });
    let tags = protocol.tags.iter().enumerate().map(|(value, Tag { name, summary })| {
        format!("    /// {summary}\n    pub(crate) const {name}: u8 = {value};\n")
    });
    let (constants, tags) = (constants.collect::<String>(), tags.collect::<String>());
    let tags = format!("\n/// Tags of the values in messages.\npub(crate) mod tag {{\n{tags}}}\n");
    let slots = records::rust(records);
    let calls = calls::rust(&protocol.calls);
    [head, constants, tags, slots, calls].concat()
}

fn typescript(protocol: &Protocol, records: &[Placed<'_>]) -> String {
    let head = format!("{MARK}`{PROTOCOL}`.\n");
    let constants = protocol.constants.iter().map(|Constant { name, value, summary }| {
        format!("\n/** {summary} */\nexport const {name} = {value};\n")
    });
    let tags = protocol.tags.iter().enumerate().map(|(value, Tag { name, summary })| {
        format!("\n/** {summary} */\nexport const TAG_{name} = {value};\n")
    });
    let constants = [head, constants.collect(), tags.collect()].concat();
    [constants, records::typescript(records), calls::typescript(&protocol.calls)].concat()
}

/// The codes of errors that JavaScript has.
fn codes(api: &str) -> Result<String> {
    let table: toml::Table = api.parse()?;
    let errors = table["errors"].as_table().context("expected errors in packages/api.toml")?;
    let is_ours = |code: &str| match errors.get(code).and_then(|error| error.get("in")) {
        Some(toml::Value::Array(languages)) => {
            languages.iter().any(|name| name.as_str() == Some("js"))
        }
        _ => errors.contains_key(code),
    };
    // In the order of the file, which a table of this crate does not keep.
    let section = api.split("\n[errors]\n").nth(1).context("expected a section of errors")?;
    let section = section.split("\n[").next().unwrap_or_default();
    let names = section.lines().filter_map(|line| line.split_once(" = ")).map(|(name, _)| name);
    let names: Vec<_> = names.filter(|name| is_ours(name)).map(str::to_owned).collect();
    let head =
        format!("{MARK}`{API}`.\n\n/** Codes of errors; the same strings in every language. */\n");
    Ok(head + "export type ErrorCode =\n" + &union(&names))
}

fn union(names: &[String]) -> String {
    let mut text = lines(names, |name| format!("  | \"{name}\"\n"));
    text.truncate(text.trim_end().len());
    text + ";\n"
}

fn lines(names: &[String], line: impl Fn(&str) -> String) -> String {
    names.iter().map(|name| line(name)).collect()
}

fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |text, word| text + &word[..1].to_uppercase() + &word[1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_camel_case() {
        assert_eq!(camel_case("sno_fill_now"), "snoFillNow");
        assert_eq!(camel_case("turn"), "turn");
    }

    #[test]
    fn codes_of_other_languages_are_left_out() {
        let api = "\n[errors]\nb = \"B.\"\na = { summary = \"A.\", in = [\"js\"] }\nc = { summary = \"C.\", in = [\"rust\"] }\n\n[lease.errors]\nd = \"D.\"\n";
        let text = codes(api).unwrap();
        assert!(text.ends_with("export type ErrorCode =\n  | \"b\"\n  | \"a\";\n"), "{text}");
    }

    #[test]
    fn no_generated_file_is_stale() {
        assert_eq!(stale().unwrap(), [""; 0]);
    }

    #[test]
    fn every_call_is_checked() {
        let mut protocol = Protocol::read().unwrap();
        calls::check(&protocol.calls, &protocol.placed().unwrap()).unwrap();
        protocol.calls[0].takes.push("sno_stats".to_owned());
        assert!(calls::check(&protocol.calls, &protocol.placed().unwrap()).is_err());
    }

    #[test]
    fn a_changed_slot_changes_both_languages() {
        let mut protocol = Protocol::read().unwrap();
        let texts = |protocol: &Protocol| {
            let records = protocol.placed().unwrap();
            (rust(protocol, &records), typescript(protocol, &records))
        };
        let before = texts(&protocol);
        protocol.records.last_mut().unwrap().slots.swap(0, 1);
        let after = texts(&protocol);
        assert!(before.0 != after.0 && before.1 != after.1);
    }
}
