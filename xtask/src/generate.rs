//! Writes the codes of errors that TypeScript has, from `packages/api.toml`. Tidy finds the file if it is stale.

use std::fs;

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::workspace;

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

fn all() -> Result<[Generated; 1]> {
    Ok([("packages/js/src/codes.ts", codes(&read(API)?)?)])
}

fn read(path: &str) -> Result<String> {
    fs::read_to_string(workspace::root().join(path)).with_context(|| format!("cannot read {path}"))
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
