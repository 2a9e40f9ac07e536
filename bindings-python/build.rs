//! Configures the crate for the Python version that it is built for, and generates the documentation of the module and its
//! contents from the package's stubs.
//!
//! Editors read the stubs, and `help` reads the module's docstrings. If the docstrings were written in Rust, the same prose
//! would exist twice. Setting the docstrings at import would take time in each process, and Python does not allow the
//! docstrings of built-in functions to be set.

use std::{
    collections::BTreeMap,
    env,
    ffi::OsStr,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

/// The folders that may contain the stubs, relative to this crate: the first in the repository, the second in a source
/// distribution.
const STUB_FOLDERS: [&str; 2] = ["../packages/python/src/polyflake", "../src/polyflake"];

/// Docstrings, keyed by the names of the items that they document.
type Docs = BTreeMap<String, String>;

/// The suffix that turns a class's name into the name of its constructor.
const CONSTRUCTOR: &str = ".__new__";

fn main() {
    pyo3_build_config::use_pyo3_cfgs();
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let stubs = STUB_FOLDERS.map(|folder| here.join(folder));
    let stubs = stubs.iter().find(|folder| folder.join("sno.pyi").exists());
    let stubs = stubs.expect("expected the package's stubs beside the crate");
    let mut docs = Docs::new();
    for file in fs::read_dir(stubs).expect("expected a readable folder") {
        let path = file.expect("expected a readable folder").path();
        let module = path.file_stem().and_then(OsStr::to_str).unwrap_or_default();
        if path.extension() == Some(OsStr::new("pyi")) {
            println!("cargo::rerun-if-changed={}", path.display());
            collect_docstrings(
                module,
                &fs::read_to_string(&path).expect("expected a stub"),
                &mut docs,
            );
        }
    }
    describe_constructors(&mut docs);
    // `__init__.py` names the modules, so it changes whenever a stub is added.
    println!("cargo::rerun-if-changed={}", stubs.join("__init__.py").display());
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    write_doc_macro(&docs, &out.join("docs.rs"));
}

/// Collects the docstrings in a stub: those of the module and of its classes, functions and methods. Because the stubs are
/// formatted, a docstring directly follows a line that ends with a colon, and its indentation matches its depth.
fn collect_docstrings(module: &str, stub: &str, docs: &mut Docs) {
    let mut lines = stub.lines().peekable();
    let mut class = None;
    let mut name = Some(module.to_owned());
    while let Some(line) = lines.next() {
        let text = line.trim_start();
        let depth = (line.len() - text.len()) / 4;
        if let Some(start) = text.strip_prefix("\"\"\"") {
            let doc = docstring(start, depth * 4, &mut lines);
            if let Some(name) = name.take() {
                docs.entry(name).or_insert(doc);
            }
        } else if let Some(rest) = text.strip_prefix("class ").filter(|_| depth == 0) {
            class = Some(identifier(rest));
            name = class.as_ref().map(|class| format!("{module}.{class}"));
        } else if let Some(rest) = text.strip_prefix("def ") {
            let function = identifier(rest);
            name = Some(match (&class, depth) {
                (Some(class), 1) => format!("{module}.{class}.{function}"),
                _ => format!("{module}.{function}"),
            });
        }
    }
}

/// Appends the docstring of each constructor to the docstring of its class, because `help` shows no other text for a
/// compiled constructor.
fn describe_constructors(docs: &mut Docs) {
    let classes = docs.keys().filter_map(|name| name.strip_suffix(CONSTRUCTOR));
    for class in classes.map(str::to_owned).collect::<Vec<_>>() {
        let constructor = docs[&format!("{class}{CONSTRUCTOR}")].clone();
        let doc = docs.get_mut(&class).expect("expected a text for each class");
        write!(doc, "\n\n{constructor}").expect("writes to memory");
    }
}

fn identifier(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

/// Returns a docstring without its indentation. `start` is the text after the opening quotes.
fn docstring<'s>(start: &str, indent: usize, lines: &mut impl Iterator<Item = &'s str>) -> String {
    let mut doc = String::new();
    let mut line = start;
    loop {
        let (text, ends) = line.strip_suffix("\"\"\"").map_or((line, false), |text| (text, true));
        doc.push_str(text.trim_end());
        if ends {
            return doc.trim_end().replace("\\\\", "\\");
        }
        doc.push('\n');
        let next = lines.next().expect("expected the end of a docstring");
        line = next.get(indent..).unwrap_or_else(|| next.trim_start());
    }
}

/// Writes a macro that expands each name to its docstring, because a `doc` attribute accepts a macro's result.
fn write_doc_macro(docs: &Docs, path: &Path) {
    let mut text = "macro_rules! doc {\n".to_owned();
    for (name, doc) in docs {
        // Macros pass a name as separate tokens, whereas other code passes it as a string.
        let parts = name.replace('.', " ");
        writeln!(text, "    ({name:?}) => {{ {doc:?} }};\n    ({parts}) => {{ {doc:?} }};")
            .expect("writes to memory");
    }
    text.push_str("}\n");
    fs::write(path, text).expect("expected to write what was read");
}
