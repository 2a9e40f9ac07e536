//! The slots of arguments and answers: the place of each follows from the order of its record, and each language gets a type that
//! no other index has.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use super::{camel_case, lines, union};

#[derive(Deserialize)]
pub struct Record {
    name: String,
    summary: String,
    /// The records right before this one, which all end at the same slot.
    #[serde(default)]
    after: Vec<String>,
    /// The first slot of a record that follows no other.
    at: Option<usize>,
    #[serde(default)]
    integers: bool,
    /// `true` for an answer that Rust writes as a whole.
    #[serde(default)]
    whole: bool,
    pub slots: Vec<String>,
}

/// A record and its first slot.
pub struct Placed<'r> {
    record: &'r Record,
    first: usize,
}

impl Placed<'_> {
    pub fn name(&self) -> &str {
        &self.record.name
    }

    /// The slots of the record.
    pub fn span(&self) -> Range<usize> {
        self.first..self.first + self.record.slots.len()
    }
}

/// Places records in an area of `most` slots.
pub fn placed(records: &[Record], most: usize) -> Result<Vec<Placed<'_>>> {
    // Records that name their place lie at the end of the area, where no other may reach.
    let free = records.iter().filter_map(|record| record.at).min().unwrap_or(most);
    let (mut ends, mut all) = (BTreeMap::new(), Vec::new());
    for record in records {
        let name = &*record.name;
        let first = first_of(record, &ends).with_context(|| format!("record `{name}`"))?;
        let end = first + record.slots.len();
        let most = if record.at.is_some() { most } else { free };
        ensure!(end <= most, "record `{name}`: expected at most {most} slots, found {end}");
        let names: BTreeSet<_> = record.slots.iter().collect();
        ensure!(names.len() == record.slots.len(), "record `{name}`: a slot occurs twice");
        ensure!(ends.insert(name, end).is_none(), "record `{name}` occurs twice");
        all.push(Placed { record, first });
    }
    Ok(all)
}

/// The first slot of a record, from the ends of those above it.
fn first_of(record: &Record, ends: &BTreeMap<&str, usize>) -> Result<usize> {
    let mut first = None;
    for before in &record.after {
        let end = *ends.get(&**before).with_context(|| format!("expected `{before}` above it"))?;
        ensure!(first.is_none_or(|first| first == end), "`{before}` ends at slot {end}");
        first = Some(end);
    }
    Ok(first.or(record.at).unwrap_or(0))
}

const RUST: &str = "
/// The slots of arguments and answers, in records.
#[allow(missing_docs, reason = \"a slot is named in the summary of its record\")]
pub mod slot {
    use core::marker::PhantomData;

    /// A slot of a float, in the record `R`. This module alone can make one.
    #[derive(Debug)]
    pub struct Slot<R>(usize, PhantomData<R>);

    impl<R> Copy for Slot<R> {}

    impl<R> Clone for Slot<R> {
        fn clone(&self) -> Self {
            *self
        }
    }

    impl<R> Slot<R> {
        const fn at(index: usize) -> Self {
            Self(index, PhantomData)
        }

        /// The index of the slot.
        #[inline]
        pub const fn index(self) -> usize {
            self.0
        }
    }

    /// A slot of an integer of 64 bits, in the record `R`. This module alone can make one.
    #[derive(Debug)]
    pub struct IntegerSlot<R>(usize, PhantomData<R>);

    impl<R> Copy for IntegerSlot<R> {}

    impl<R> Clone for IntegerSlot<R> {
        fn clone(&self) -> Self {
            *self
        }
    }

    impl<R> IntegerSlot<R> {
        const fn at(index: usize) -> Self {
            Self(index, PhantomData)
        }

        /// The index of the slot.
        #[inline]
        pub const fn index(self) -> usize {
            self.0
        }
    }
";

/// The slots in Rust, and the structs of whole records.
pub fn rust(records: &[Placed<'_>]) -> String {
    let slots: String = records.iter().map(rust_slots).collect();
    let whole =
        records.iter().filter(|placed| placed.record.whole).map(|placed| whole(placed.record));
    [RUST, &slots, "}\n", &whole.collect::<String>()].concat()
}

fn rust_slots(Placed { record, first }: &Placed<'_>) -> String {
    let kind = kind_of(record, ["Slot", "IntegerSlot"]);
    let slots = record.slots.iter().zip(*first..).map(|(name, slot)| {
        let name = name.to_uppercase();
        format!("        pub const {name}: {kind}<Record> = {kind}::at({slot});\n")
    });
    let Record { name, summary, .. } = record;
    [
        &format!("\n    /// {summary}\n    pub mod {name} {{\n        use super::{kind};\n\n"),
        "        /// The record, as a type.\n        #[derive(Clone, Copy, Debug)]\n        pub enum Record {}\n\n",
        &*slots.collect::<String>(),
        "    }\n",
    ]
    .concat()
}

fn whole(Record { name, summary, slots, .. }: &Record) -> String {
    let family = camel_case(name);
    let family = family[..1].to_uppercase() + &family[1..];
    let members = lines(slots, |slot| format!("    pub(crate) {slot}: f64,\n"));
    let puts = lines(slots, |slot| {
        format!("        at.put_number(slot::{name}::{}, self.{slot});\n", slot.to_uppercase())
    });
    [
        &format!("\n/// {summary}\npub(crate) struct {family}Slots {{\n{members}}}\n\n"),
        &*format!("impl {family}Slots {{\n    /// Writes all slots.\n"),
        &format!("    pub(crate) fn put<K: call::Gives<slot::{name}::Record>>(&self, at: At<K>) {{\n{puts}    }}\n}}\n"),
    ]
    .concat()
}

const TYPESCRIPT: &str = "
declare const kind: unique symbol;
declare const record: unique symbol;

/** A slot of a float, in a record. This file alone has any. */
export type NumberSlot<R extends RecordName> = number & { readonly [kind]: \"number\"; readonly [record]: R };

/** A slot of an integer of 64 bits, in a record. This file alone has any. */
export type IntegerSlot<R extends RecordName> = number & { readonly [kind]: \"integer\"; readonly [record]: R };
";

/// The slots in TypeScript, each with the type of its record.
pub fn typescript(records: &[Placed<'_>]) -> String {
    let names: Vec<_> = records.iter().map(|placed| camel_case(placed.name())).collect();
    let slots: String = records.iter().map(typescript_slots).collect();
    let names = format!("\n/** Names of records. */\nexport type RecordName =\n{}", union(&names));
    [TYPESCRIPT, &names, &slots].concat()
}

fn typescript_slots(Placed { record, first }: &Placed<'_>) -> String {
    let kind = kind_of(record, ["NumberSlot", "IntegerSlot"]);
    let (summary, name) = (&record.summary, camel_case(&record.name));
    let slots =
        record.slots.iter().zip(*first..).map(|(slot, index)| {
            format!("  {}: {index} as {kind}<\"{name}\">,\n", camel_case(slot))
        });
    let slots = slots.collect::<String>();
    format!("\n/** {summary} */\nexport const {name}Slots = {{\n{slots}}} as const;\n")
}

fn kind_of<'n>(record: &Record, [float, integer]: [&'n str; 2]) -> &'n str {
    if record.integers { integer } else { float }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed_of(text: &str) -> Result<Vec<usize>> {
        #[derive(Deserialize)]
        struct File {
            records: Vec<Record>,
        }
        let text = text.replace('|', "\nsummary = \"\"\n[[records]]\n") + "\nsummary = \"\"\n";
        let File { records } = toml::from_str(&format!("[[records]]\n{text}"))?;
        Ok(placed(&records, 8)?.iter().map(|placed| placed.first).collect())
    }

    const TWO: &str = "name = 'a'\nslots = ['x', 'y']|name = 'b'\nafter = ['a']\nslots = ['z']";

    #[test]
    fn records_lie_one_after_the_other() {
        assert_eq!(placed_of(TWO).unwrap(), [0, 2]);
        assert_eq!(
            placed_of(&format!("{TWO}|name = 'c'\nat = 7\nslots = ['n']")).unwrap(),
            [0, 2, 7]
        );
    }

    #[test]
    fn records_before_one_end_at_the_same_slot() {
        let third = |after: &str| format!("{TWO}|name = 'c'\nafter = [{after}]\nslots = ['w']");
        assert_eq!(placed_of(&third("'b'")).unwrap(), [0, 2, 3]);
        assert!(placed_of(&third("'a', 'b'")).is_err());
        assert!(placed_of(&third("'d'")).is_err());
    }

    #[test]
    fn names_occur_once_and_no_record_reaches_a_fixed_slot() {
        for wrong in [
            "name = 'a'\nslots = ['x', 'x']",
            "name = 'a'\nslots = ['x']|name = 'a'\nslots = ['y']",
            "name = 'a'\nat = 1\nslots = ['x']|name = 'b'\nslots = ['y', 'z']",
            "name = 'a'\nat = 7\nslots = ['x', 'y']",
        ] {
            assert!(placed_of(wrong).is_err(), "{wrong}");
        }
    }
}
