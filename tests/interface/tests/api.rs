//! Compares `packages/api.toml` with the crate's public names, in both directions.
//!
//! The crate's names come from its sources: the names that a format's `mod.rs` re-exports, and the public functions of the
//! re-exported types.
#![cfg(not(miri))]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use polyflake::ErrorKind;
use syn::{Attribute, ImplItem, Item, Type, TypeParamBound, UseTree, Visibility};
use toml::Table;

/// Each format in `api.toml`, with its source folders. The `mod.rs` of the first folder lists the format's public names.
const FAMILIES: [(&str, &[&str]); 7] = [
    ("sno", &["src/sno"]),
    ("randflake", &["src/randflake"]),
    ("hotguid", &["src/hotguid"]),
    ("uuid7", &["src/uuid7"]),
    (
        "layout",
        &[
            "src/layout",
            "src/layout/ids",
            "src/layout/json",
            "src/layout/fields",
            "src/layout/time",
        ],
    ),
    ("sparx64", &["src/sparx64"]),
    ("public", &["src/public"]),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../core")
}

fn api() -> Table {
    fs::read_to_string(root().join("../packages/api.toml")).unwrap().parse().unwrap()
}

/// A format's public names: its functions, and its types with their functions.
#[derive(Debug, Default, PartialEq, Eq)]
struct Names {
    functions: BTreeSet<String>,
    types: BTreeMap<String, BTreeSet<String>>,
}

fn parse(file: &Path) -> Vec<Item> {
    syn::parse_file(&fs::read_to_string(file).unwrap()).unwrap().items
}

/// Returns whether an item is part of the public API, which means that it is public and not hidden in the documentation.
fn is_public_api(visibility: &Visibility, attributes: &[Attribute]) -> bool {
    matches!(visibility, Visibility::Public(_)) && !is_hidden(attributes)
}

/// Returns whether the documentation hides an item. A hidden item is not part of the public API.
fn is_hidden(attributes: &[Attribute]) -> bool {
    let hides = |attribute: &Attribute| {
        attribute.path().is_ident("doc")
            && attribute.parse_args::<syn::Ident>().is_ok_and(|word| word == "hidden")
    };
    attributes.iter().any(hides)
}

/// Returns the names that a `use` tree imports.
fn imported_names(tree: &UseTree) -> Vec<String> {
    match tree {
        UseTree::Path(path) => imported_names(&path.tree),
        UseTree::Group(group) => group.items.iter().flat_map(imported_names).collect(),
        UseTree::Name(name) => vec![name.ident.to_string()],
        UseTree::Rename(rename) => vec![rename.rename.to_string()],
        UseTree::Glob(_) => panic!("a public glob import hides names"),
    }
}

/// Returns the names that `mod.rs` makes public.
fn exported_names(items: &[Item]) -> BTreeSet<String> {
    let names = items.iter().flat_map(|item| match item {
        Item::Use(item) if is_public_api(&item.vis, &item.attrs) => imported_names(&item.tree),
        Item::Fn(item) if is_public_api(&item.vis, &item.attrs) => vec![item.sig.ident.to_string()],
        Item::Struct(item) if is_public_api(&item.vis, &item.attrs) => vec![item.ident.to_string()],
        Item::Enum(item) if is_public_api(&item.vis, &item.attrs) => vec![item.ident.to_string()],
        _ => vec![],
    });
    names.collect()
}

/// Returns the type and the public functions of an inherent `impl`.
fn methods(item: &Item) -> Option<(String, Vec<String>)> {
    let Item::Impl(block) = item else { return None };
    let Type::Path(of) = &*block.self_ty else { return None };
    if block.trait_.is_some() {
        return None;
    }
    let public = |item: &ImplItem| match item {
        ImplItem::Fn(function) if is_public_api(&function.vis, &function.attrs) => {
            vec![function.sig.ident.to_string()]
        }
        _ => vec![],
    };
    let name = of.path.segments.last()?.ident.to_string();
    Some((name, block.items.iter().flat_map(public).collect()))
}

fn is_windowed(path: &syn::Path) -> bool {
    path.segments.last().is_some_and(|name| name.ident == "Windowed")
}

fn implements_windowed(item: &Item) -> bool {
    let Item::Impl(block) = item else { return false };
    block.trait_.as_ref().is_some_and(|(_, path, _)| is_windowed(path))
}

/// Returns whether an `impl` is limited to formats whose window is an option.
fn requires_windowed(item: &Item) -> bool {
    let Item::Impl(block) = item else { return false };
    let bounds = block.generics.type_params().flat_map(|parameter| &parameter.bounds);
    bounds
        .into_iter()
        .any(|bound| matches!(bound, TypeParamBound::Trait(it) if is_windowed(&it.path)))
}

fn names_in_code(folders: &[&str]) -> Names {
    let exported = exported_names(&parse(&root().join(folders[0]).join("mod.rs")));
    let mut names = Names::default();
    for name in exported {
        if name.starts_with(char::is_uppercase) {
            names.types.insert(name, BTreeSet::new());
        } else {
            names.functions.insert(name);
        }
    }
    let folders = folders.iter().flat_map(|folder| fs::read_dir(root().join(folder)).unwrap());
    let entries = folders.map(|entry| entry.unwrap().path());
    let own: Vec<_> =
        entries.filter(|entry| entry.is_file()).flat_map(|file| parse(&file)).collect();
    let of_all = ["options", "generators", "handle"];
    let of_all: Vec<_> = of_all
        .iter()
        .flat_map(|name| parse(&root().join(format!("src/generator/{name}.rs"))))
        .collect();
    let is_windowed = own.iter().any(implements_windowed);
    let of_all = of_all.iter().filter(|item| is_windowed || !requires_windowed(item));
    for (of, functions) in own.iter().chain(of_all).filter_map(methods) {
        if let Some(known) = names.types.get_mut(&of) {
            known.extend(functions);
        }
    }
    names.types.retain(|name, _| name.chars().any(char::is_lowercase));
    names
}

/// Returns whether an entry applies to Rust.
fn applies_to_rust(entry: &Table) -> bool {
    entry.get("in").is_none_or(|languages| {
        languages.as_array().unwrap().iter().any(|language| language.as_str() == Some("rust"))
    })
}

fn keys(table: Option<&toml::Value>) -> BTreeSet<String> {
    let entries = table.and_then(toml::Value::as_table).into_iter().flatten();
    entries
        .filter(|(_, entry)| entry.as_table().is_none_or(applies_to_rust))
        .map(|(name, _)| name.clone())
        .collect()
}

fn names_in_contract(family: &Table) -> Names {
    let classes = family["classes"].as_table().unwrap();
    let rusty = classes.iter().filter(|(_, class)| applies_to_rust(class.as_table().unwrap()));
    Names {
        functions: keys(family.get("functions")),
        types: rusty.map(|(name, class)| (name.clone(), keys(class.get("members")))).collect(),
    }
}

#[test]
fn every_format_has_exactly_the_names_of_the_contract() {
    let api = api();
    for (family, folders) in FAMILIES {
        let contract = names_in_contract(api[family].as_table().unwrap());
        assert_eq!(
            names_in_code(folders),
            contract,
            "{family}: code on the left, packages/api.toml on the right"
        );
    }
}

#[test]
fn error_codes_match_the_contract() {
    let contract = keys(api().get("errors"));
    let ours: BTreeSet<String> = ErrorKind::ALL.iter().map(|kind| kind.code().into()).collect();
    assert_eq!(ours, contract);
}
