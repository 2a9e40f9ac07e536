//! Checks that each public item in the core's documentation has an example.

use std::{collections::BTreeSet, fs};

use anyhow::{Context, Result, ensure};
use serde_json::{Map, Value};
use xshell::{Shell, cmd};

use crate::workspace;

/// The kinds of items that need an example. A trait's example also covers the trait's methods.
const KINDS: [&str; 6] = ["module", "struct", "enum", "trait", "function", "macro"];

pub fn check(shell: &Shell) -> Result<()> {
    let described = rustdoc_json(shell)?;
    let (count, lacking) = Items::from_json(&described)?.items_without_example();
    let lacking: Vec<_> = lacking.into_iter().collect();
    ensure!(lacking.is_empty(), "expected an example for each of:\n  {}", lacking.join("\n  "));
    println!("{count} items have an example");
    Ok(())
}

/// Returns the documentation as rustdoc's JSON, after macro expansion. Only nightly versions of rustdoc are meant to write
/// this format, so an environment variable makes the stable rustdoc behave like a nightly version. The variable is set only
/// for rustdoc, because setting it globally would make cargo rebuild every macro. This check reads only parts of the format
/// that have been stable for a long time.
fn rustdoc_json(shell: &Shell) -> Result<Value> {
    let json = ["-Z", "unstable-options", "--output-format", "json"];
    let rustdoc = workspace::target().join("rustdoc-like-nightly");
    workspace::write_program(
        shell,
        &rustdoc,
        "#!/bin/sh\nRUSTC_BOOTSTRAP=1 exec rustdoc \"$@\"\n",
    )?;
    cmd!(shell, "cargo rustdoc --quiet --package polyflake --all-features -- {json...}")
        .env("RUSTDOC", rustdoc)
        .run()?;
    let file = workspace::target().join("doc/polyflake.json");
    let text =
        fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    Ok(serde_json::from_str(&text)?)
}

/// A crate's items, keyed by the numeric IDs that rustdoc assigns.
struct Items<'d> {
    index: &'d Map<String, Value>,
    root: &'d Value,
}

/// The path of a public item, and the item itself.
type PublicItem<'d> = (String, &'d Value);

impl<'d> Items<'d> {
    fn from_json(described: &'d Value) -> Result<Self> {
        let index = described["index"].as_object().context("expected an index of items")?;
        Ok(Self { index, root: &described["root"] })
    }

    /// Returns the number of public items that need an example, and the paths of the items that have no example.
    fn items_without_example(&self) -> (usize, BTreeSet<String>) {
        let mut found = Vec::new();
        self.visit(self.root, "", &mut found);
        let all: BTreeSet<_> = found.iter().map(|(path, _)| path.clone()).collect();
        let has = |item: &Value| item["docs"].as_str().is_some_and(|docs| docs.contains("```"));
        let without = found.into_iter().filter(|(_, item)| !has(item)).map(|(path, _)| path);
        (all.len(), without.collect())
    }

    /// Collects an item and all items inside it.
    fn visit(&self, id: &Value, path: &str, found: &mut Vec<PublicItem<'d>>) {
        let Some((kind, item, inner)) = self.item(id) else { return };
        if kind == "use" {
            return self.visit(&inner["id"], path, found);
        }
        let Some(name) = item["name"].as_str().filter(|_| KINDS.contains(&kind)) else { return };
        let path = format!("{path}::{name}");
        found.push((path.clone(), item));
        for item in array_items(&inner["items"]).filter(|_| kind == "module") {
            self.visit(item, &path, found);
        }
        for block in array_items(&inner["impls"]) {
            self.visit_functions(block, &path, found);
        }
    }

    /// Collects the functions in an inherent `impl` block.
    fn visit_functions(&self, block: &Value, path: &str, found: &mut Vec<PublicItem<'d>>) {
        let Some((_, _, inner)) = self.item(block) else { return };
        for function in array_items(&inner["items"]).filter(|_| inner["trait"].is_null()) {
            self.visit(function, path, found);
        }
    }

    /// Returns an item's kind, the item itself, and its kind-specific data. Returns `None` for hidden items and items of
    /// other crates, because they are not in the index.
    fn item(&self, id: &Value) -> Option<(&'d str, &'d Value, &'d Value)> {
        let item = self.index.get(&id.to_string())?;
        let (kind, inner) = item["inner"].as_object()?.iter().next()?;
        Some((kind, item, inner))
    }
}

fn array_items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn items_without_an_example_are_found_through_reexports() {
        let block = json!({ "inner": { "impl": { "trait": null, "items": [4, 5] } } });
        let of_trait = json!({ "inner": { "impl": { "trait": {}, "items": [5] } } });
        let function = |name: &str, docs: &str| json!({ "name": name, "docs": docs, "inner": { "function": {} } });
        let described = json!({ "root": 0, "index": {
            "0": { "name": "ours", "docs": "```", "inner": { "module": { "items": [1, 6] } } },
            "1": { "name": null, "docs": null, "inner": { "use": { "id": 2 } } },
            "2": { "name": "Id", "docs": null, "inner": { "struct": { "impls": [3, 7] } } },
            "3": block,
            "4": function("new", "As:\n```\nnew()\n```"),
            "5": function("text", "Its text."),
            "6": { "name": "LEN", "docs": "A number.", "inner": { "constant": {} } },
            "7": of_trait,
        } });
        let (count, lacking) = Items::from_json(&described).unwrap().items_without_example();
        assert_eq!(count, 4);
        assert_eq!(lacking.into_iter().collect::<Vec<_>>(), ["::ours::Id", "::ours::Id::text"]);
    }
}
