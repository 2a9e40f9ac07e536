//! The calls: a macro for each family that exports them, and for TypeScript the records whose slots each call reads and writes.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use super::{camel_case, lines, records::Placed, union};

/// Calls that read and write the slots of the same records.
#[derive(Deserialize)]
pub struct Call {
    family: String,
    names: Vec<String>,
    #[serde(default)]
    pub takes: Vec<String>,
    #[serde(default)]
    gives: Vec<String>,
}

/// The families, with words for each. The calls of other families are exported by hand.
const FAMILIES: [(&str, &str); 5] = [
    ("shared", "that all families share"),
    ("sno", "of sno"),
    ("randflake", "of Randflake and its cipher"),
    ("hotguid", "of Hot Guid"),
    ("layout", "of layouts"),
];

const TABLE_CALLS: &str = "
/** Names of the calls of the addon's table of partitions. */
export type TableCallName = Exclude<keyof Takes, CallName>;
";

/// The family of the addon's table of partitions.
const TABLE: &str = "table";

/// Checks that calls name records, each call once, and none reads two records from the same slots.
pub fn check(calls: &[Call], records: &[Placed<'_>]) -> Result<()> {
    let spans: BTreeMap<_, _> = records.iter().map(|it| (it.name(), it.span())).collect();
    let mut names = BTreeSet::new();
    for call in calls {
        let name = call.names.join(", ");
        let is_known = FAMILIES.iter().any(|(family, _)| *family == call.family);
        ensure!(is_known || call.family == TABLE, "{name}: expected a family");
        ensure!(call.names.iter().all(|name| names.insert(name)), "{name}: a name occurs twice");
        let given = call.gives.iter().find(|record| !spans.contains_key(&***record));
        ensure!(given.is_none(), "{name}: expected a record, found {given:?}");
        check_taken(&call.takes, &spans).with_context(|| name)?;
    }
    Ok(())
}

/// Checks that the records of an argument lie side by side.
fn check_taken(takes: &[String], spans: &BTreeMap<&str, Range<usize>>) -> Result<()> {
    let mut read = BTreeSet::new();
    for record in takes {
        let mut span = spans.get(&**record).with_context(|| format!("no record {record}"))?.clone();
        ensure!(span.all(|slot| read.insert(slot)), "`{record}` lies in slots of another record");
    }
    Ok(())
}

const RUST: &str = "
/// The calls as types, which name the records of each. Calls with the same records may have one type.
pub mod call {
    use super::slot;

    /// A call that reads the slots of the record `R`.
    ///
    /// ```
    /// use polyflake_js::{call::{SnoFill, Takes}, slot::many};
    ///
    /// fn reads<K: Takes<many::Record>>() {}
    /// reads::<SnoFill>();
    /// ```
    ///
    /// No call has the slots of a record that it does not name:
    ///
    /// ```compile_fail,E0277
    /// use polyflake_js::{call::{SnoFill, Takes}, slot::texts};
    ///
    /// fn reads<K: Takes<texts::Record>>() {}
    /// reads::<SnoFill>();
    /// ```
    pub trait Takes<R> {}

    /// A call that writes the slots of the record `R`.
    ///
    /// ```compile_fail,E0277
    /// use polyflake_js::{call::{Gives, SnoFill}, slot::many};
    ///
    /// fn writes<K: Gives<many::Record>>() {}
    /// writes::<SnoFill>();
    /// ```
    pub trait Gives<R> {}

    /// Any call that is refused.
    #[derive(Clone, Copy, Debug)]
    pub enum Refused {}

    impl Gives<slot::error::Record> for Refused {}
";

const METHOD: &str = "
/// Takes a method of a call.
#[allow(dead_code, reason = \"only compiled\")]
const fn method<C, K>(_: fn(&Machine<C>, At<K>) -> Result<()>) {}
";

/// The types of the calls, a comparison of each with its method, and a macro for each family, which hands its calls to a macro that
/// exports them.
pub fn rust(calls: &[Call]) -> String {
    let types: String = calls.iter().map(type_of).collect();
    let macros = FAMILIES.map(|(family, of)| macro_of(family, of, &names_of(calls, family)));
    let methods = FAMILIES.map(|(family, of)| methods_of(family, of, calls));
    [RUST, &types, "}\n", METHOD, &methods.concat(), &macros.concat()].concat()
}

/// The type of calls, and its records.
fn type_of(call: &Call) -> String {
    let (name, names) = (type_name(call), call.names.join("`, `"));
    let impls = |of: &str, records: &[String]| {
        lines(records, |it| format!("    impl {of}<slot::{it}::Record> for {name} {{}}\n"))
    };
    let head = format!("\n    /// `{names}`\n    #[derive(Clone, Copy, Debug)]\n");
    let head = format!("{head}    pub enum {name} {{}}\n\n");
    let (takes, gives) = (impls("Takes", &call.takes), impls("Gives", &call.gives));
    [head, takes, gives].concat().trim_end().to_owned() + "\n"
}

/// The name of the type of calls: that of the first one.
fn type_name(call: &Call) -> String {
    let name = camel_case(&call.names[0]);
    name[..1].to_uppercase() + &name[1..]
}

/// A function that compiles only if the methods of a family have the types of its calls.
fn methods_of(family: &str, of: &str, calls: &[Call]) -> String {
    let lines_of = |call: &Call| {
        let name = type_name(call);
        lines(&call.names, |it| format!("    method::<C, call::{name}>(Machine::{it});\n"))
    };
    let meant = calls.iter().filter(|call| call.family == family);
    let methods: String = meant.map(lines_of).collect();
    let is_shared = family == FAMILIES[0].0;
    let cfg = if is_shared { String::new() } else { format!("#[cfg(feature = \"{family}\")]\n") };
    [
        &format!(
            "\n/// Compares the methods of the calls {of} with the types of the calls.\n{cfg}"
        ),
        "#[allow(dead_code, reason = \"only compiled\")]\n",
        &*format!("fn {family}_methods<C: Host>() {{\n{methods}}}\n"),
    ]
    .concat()
}

fn macro_of(family: &str, of: &str, calls: &[String]) -> String {
    let calls = lines(calls, |name| format!("            {name} => \"{}\",\n", camel_case(name)));
    [
        &format!("\n/// Names the calls {of}, for a macro that exports them: the method, the name in JavaScript.\n"),
        &format!("#[macro_export]\nmacro_rules! {family}_calls {{\n    ($export:ident) => {{\n"),
        &*format!("        $export! {{\n{calls}        }}\n    }};\n}}\n"),
    ]
    .concat()
}

fn names_of(calls: &[Call], family: &str) -> Vec<String> {
    let meant = calls.iter().filter(|call| call.family == family);
    meant.flat_map(|call| call.names.clone()).collect()
}

/// The names of the calls in TypeScript, and the records of each.
pub fn typescript(calls: &[Call]) -> String {
    let names = FAMILIES.iter().flat_map(|(family, _)| names_of(calls, family));
    let names: Vec<_> = names.map(|name| camel_case(&name)).collect();
    [
        "\n/** Names of all calls that every machine has. */\nexport type CallName =\n",
        &union(&names),
        TABLE_CALLS,
        &records_of("Takes", "The records that each call reads.", calls, |call| &call.takes),
        &*records_of("Gives", "The records that each call writes.", calls, |call| &call.gives),
    ]
    .concat()
}

/// An interface with the records of each call.
fn records_of(name: &str, summary: &str, calls: &[Call], of: fn(&Call) -> &[String]) -> String {
    let member = |call: &Call| {
        let records: Vec<_> =
            of(call).iter().map(|record| format!("\"{}\"", camel_case(record))).collect();
        let records = if records.is_empty() { "never".to_owned() } else { records.join(" | ") };
        lines(&call.names, |name| format!("  {}: {records};\n", camel_case(name)))
    };
    let members: String = calls.iter().map(member).collect();
    format!("\n/** {summary} */\nexport interface {name} {{\n{members}}}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::records;

    const RECORDS: &str = "[[records]]\nname = 'a'\nsummary = ''\nslots = ['x', 'y']\n[[records]]\nname = 'b'\nsummary = ''\nslots = ['z']\n[[records]]\nname = 'c_d'\nsummary = ''\nafter = ['a']\nslots = ['w']\n";

    #[derive(Deserialize)]
    struct File {
        records: Vec<records::Record>,
        calls: Vec<Call>,
    }

    fn file(calls: &str) -> File {
        toml::from_str(&format!("{RECORDS}{calls}")).unwrap()
    }

    fn checked(calls: &str) -> Result<()> {
        let file = file(calls);
        check(&file.calls, &records::placed(&file.records, 8)?)
    }

    fn call(rest: &str) -> String {
        format!("[[calls]]\nfamily = 'sno'\nnames = ['m_n']\n{rest}\n")
    }

    #[test]
    fn a_call_takes_records_side_by_side_and_gives_any() {
        checked(&call("takes = ['a', 'c_d']\ngives = ['a', 'b']")).unwrap();
        for wrong in ["takes = ['a', 'b']", "takes = ['a', 'a']", "takes = ['e']", "gives = ['e']"]
        {
            assert!(checked(&call(wrong)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_call_occurs_once_in_a_family() {
        assert!(checked(&[call(""), call("")].concat()).is_err());
        assert!(checked(&call("").replace("sno", "snow")).is_err());
    }

    #[test]
    fn the_records_of_a_call_are_types() {
        let text = typescript(&file(&call("takes = ['a', 'c_d']")).calls);
        assert!(text.contains("interface Takes {\n  mN: \"a\" | \"cD\";\n}\n"), "{text}");
        assert!(text.contains("interface Gives {\n  mN: never;\n}\n"), "{text}");
    }
}
