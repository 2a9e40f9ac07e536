//! Creates the line that describes a crate in a registry index. Like crates.io, this module derives the line from the
//! manifest in the crate's package.

use anyhow::{Context, Result};
use serde_json::{Value, json};
use toml::Table;

/// Returns the index line for a crate. Omits development dependencies, because users of the crate do not need them.
pub fn entry(manifest: &Table, sum: &str) -> Result<Value> {
    let package = manifest["package"].as_table().context("expected a package")?;
    let mut dependencies = index_dependencies(manifest, None);
    for (target, tables) in tables(manifest, "target") {
        dependencies.extend(index_dependencies(
            tables.as_table().context("expected a table")?,
            Some(target),
        ));
    }
    // An index line that contains `features2`, the second feature table, must state that its format version is 2. The
    // second table may contain features of every kind.
    Ok(json!({
        "name": package["name"].as_str(),
        "vers": package["version"].as_str(),
        "deps": dependencies,
        "cksum": sum,
        "features": {},
        "features2": manifest.get("features"),
        "rust_version": package.get("rust-version"),
        "yanked": false,
        "v": 2,
    }))
}

fn tables<'t>(manifest: &'t Table, name: &str) -> impl Iterator<Item = (&'t str, &'t toml::Value)> {
    let table = manifest.get(name).and_then(toml::Value::as_table);
    table.into_iter().flatten().map(|(name, value)| (name.as_str(), value))
}

/// Returns the dependencies in a manifest, or in one of its target-specific tables.
fn index_dependencies(manifest: &Table, target: Option<&str>) -> Vec<Value> {
    let kinds = [("normal", "dependencies"), ("build", "build-dependencies")];
    let all = kinds.into_iter().flat_map(|(kind, name)| {
        tables(manifest, name).map(move |(name, one)| dependency(name, one, kind, target))
    });
    all.collect()
}

fn dependency(name: &str, one: &toml::Value, kind: &str, target: Option<&str>) -> Value {
    let flag = |key: &str, default| one.get(key).and_then(toml::Value::as_bool).unwrap_or(default);
    json!({
        "name": name,
        "req": one.get("version"),
        "features": one.get("features").cloned().unwrap_or_else(|| toml::Value::Array(Vec::new())),
        "optional": flag("optional", false),
        "default_features": flag("default-features", true),
        "target": target,
        "kind": kind,
        "package": one.get("package"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = r#"
[package]
name = "a"
version = "1.2.3"
rust-version = "1.89"
[features]
b = ["dep:b"]
[dependencies.b]
version = "1"
optional = true
default-features = false
[dev-dependencies.c]
version = "1"
[target."cfg(unix)".dependencies.d]
version = "2"
package = "e"
features = ["f"]
"#;

    #[test]
    fn a_line_contains_the_fields_that_resolvers_read() {
        let entry = entry(&MANIFEST.parse().unwrap(), "sum").unwrap();
        assert_eq!((&entry["name"], &entry["vers"]), (&json!("a"), &json!("1.2.3")));
        assert_eq!(entry["features2"], json!({ "b": ["dep:b"] }));
        let expected = json!([
            { "name": "b", "req": "1", "features": [], "optional": true, "default_features": false,
              "target": null, "kind": "normal", "package": null },
            { "name": "d", "req": "2", "features": ["f"], "optional": false,
              "default_features": true, "target": "cfg(unix)", "kind": "normal", "package": "e" },
        ]);
        assert_eq!(entry["deps"], expected);
    }
}
