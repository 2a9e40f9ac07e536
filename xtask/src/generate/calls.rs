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

/// A macro for each family, which hands its calls to a macro that exports them.
pub fn rust(calls: &[Call]) -> String {
    FAMILIES
        .into_iter()
        .map(|(family, of)| macro_of(family, of, &names_of(calls, family)))
        .collect()
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
