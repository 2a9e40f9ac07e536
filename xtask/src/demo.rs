//! Makes IDs in every runtime, reads each of them in every other, and prints what they say.

use anyhow::{Context, Result};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::{
    conformance::{Driver, Ready, Runtime},
    workspace,
};

/// A family of IDs: how one is made, and how it is read.
struct Family {
    name: &'static str,
    /// The request that makes an ID; the number tells apart what is asked of each runtime.
    make: fn(usize) -> Value,
    /// The request that reads an ID that was made, which must give the same value.
    read: fn(&Value) -> Value,
    /// What is printed of an ID: heading and member.
    columns: &'static [(&'static str, &'static str)],
}

const FAMILIES: [Family; 1] = [Family {
    name: "sno",
    make: |index| json!({"op": "sno.generate", "args": {"metabyte": index + 1}}),
    read: |made| json!({"op": "sno.parse", "args": {"text": made["text"]}}),
    columns: &[
        ("text", "text"),
        ("metabyte", "metabyte"),
        ("partition", "partition"),
        ("sequence", "sequence"),
    ],
}];

/// What the metabytes of the sample mean.
const KINDS: [&str; 6] = ["user", "order", "payment", "ticket", "photo", "label"];

/// An ID's time may lie this far from the time at which it is looked at.
const RECENT: SignedDuration = SignedDuration::from_mins(5);

/// A runtime with its driver.
struct Party {
    runtime: Runtime,
    driver: Driver,
}

/// Sets up and builds all, and shows it; false if any two disagree.
pub fn main() -> Result<bool> {
    let shell = workspace::shell()?;
    let ready = Ready::on_this_machine(&shell, &[])?;
    ready.build(&shell)?;
    run(&ready)
}

/// Shows what is built; false if any two disagree, or one is missing where it must not.
pub fn run(ready: &Ready) -> Result<bool> {
    let mut parties =
        ready.runtimes.iter().map(|runtime| Party::start(*runtime)).collect::<Result<Vec<_>>>()?;
    let mut well = ready.suffices();
    for family in &FAMILIES {
        let made = show(family, &mut parties)?;
        well &= made.iter().all(Made::is_well);
        if family.name == "sno" {
            well &= show_polymorphic(&made, &mut parties)?;
        }
    }
    println!("\n{}", if well { "every runtime agrees" } else { "SOME RUNTIMES DISAGREE" });
    Ok(well)
}

impl Party {
    fn start(runtime: Runtime) -> Result<Self> {
        Ok(Self { runtime, driver: Driver::start(runtime)? })
    }

    /// The value that answers a request.
    fn ask(&mut self, request: &Value) -> Result<Value> {
        let answer = self.driver.ask([request].into_iter())?.remove(0);
        let value = answer.get("ok").cloned();
        value.with_context(|| format!("{} refused {request}: {answer}", self.runtime.name()))
    }
}

/// An ID, and who read it as its maker did.
struct Made {
    maker: Runtime,
    id: Value,
    readers: Vec<(Runtime, bool)>,
}

impl Made {
    fn is_well(&self) -> bool {
        self.is_recent() && self.readers.iter().all(|(_, alike)| *alike)
    }

    fn time(&self) -> Option<Timestamp> {
        Timestamp::from_millisecond(self.id["unix_ms"].as_str()?.parse().ok()?).ok()
    }

    fn is_recent(&self) -> bool {
        self.time().is_some_and(|time| Timestamp::now().duration_since(time).abs() < RECENT)
    }
}

/// Makes an ID of a family in each runtime, reads it in all, and prints a row for each.
fn show(family: &Family, parties: &mut [Party]) -> Result<Vec<Made>> {
    let mut made = Vec::new();
    for (index, party) in parties.iter_mut().enumerate() {
        made.push((party.runtime, party.ask(&(family.make)(index))?));
    }
    let made = made
        .into_iter()
        .map(|(maker, id)| read(family, maker, id, parties))
        .collect::<Result<Vec<_>>>()?;
    print_table(family, &made);
    Ok(made)
}

fn read(family: &Family, maker: Runtime, id: Value, parties: &mut [Party]) -> Result<Made> {
    let request = (family.read)(&id);
    let mut readers = Vec::new();
    for party in parties {
        readers.push((party.runtime, party.ask(&request)? == id));
    }
    Ok(Made { maker, id, readers })
}

fn print_table(family: &Family, made: &[Made]) {
    println!("\n{}: made in one runtime, read in every other", family.name);
    let headings =
        ["made in", "time"].into_iter().chain(family.columns.iter().map(|(heading, _)| *heading));
    let mut rows = vec![headings.chain(["read alike in"]).map(str::to_owned).collect::<Vec<_>>()];
    rows.extend(made.iter().map(|made| row(family, made)));
    print_aligned(&rows);
}

fn row(family: &Family, made: &Made) -> Vec<String> {
    let time = made.time().map_or_else(|| "NO TIME".to_owned(), |time| time.to_string());
    let time = if made.is_recent() { time } else { format!("{time} NOT NOW") };
    let fields = family.columns.iter().map(|(_, member)| plain(&made.id[*member]));
    let readers: Vec<_> =
        made.readers.iter().map(|(runtime, alike)| verdict(*runtime, *alike)).collect();
    [made.maker.name().to_owned(), time]
        .into_iter()
        .chain(fields)
        .chain([readers.join(" ")])
        .collect()
}

fn verdict(runtime: Runtime, alike: bool) -> String {
    if alike {
        runtime.name().to_owned()
    } else {
        format!("NOT-IN-{}", runtime.name().to_uppercase())
    }
}

/// Puts the IDs into one JSON text, whose objects say nothing of their type but by the metabyte of their ID.
fn show_polymorphic(made: &[Made], parties: &mut [Party]) -> Result<bool> {
    let objects: Vec<_> = made.iter().map(|made| json!({"id": made.id["text"]})).collect();
    let sample = json!({ "objects": objects }).to_string();
    println!("\npolymorphic JSON: the metabyte of an ID tells the type of its object\n{sample}");
    let mut rows = vec![["object", "kind", "decoded alike in"].map(str::to_owned).to_vec()];
    let mut well = true;
    for (index, made) in made.iter().enumerate() {
        let request = json!({"op": "sno.json", "args": {"json": sample, "pointer": format!("/objects/{index}/id")}});
        let expected = json!({"id": made.id["text"], "metabyte": made.id["metabyte"]});
        let mut readers = Vec::new();
        for party in parties.iter_mut() {
            let alike = party.ask(&request)? == expected;
            well &= alike;
            readers.push(verdict(party.runtime, alike));
        }
        rows.push(vec![plain(&made.id["text"]), KINDS[index].to_owned(), readers.join(" ")]);
    }
    print_aligned(&rows);
    Ok(well)
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Prints rows in columns, the first row as a heading.
fn print_aligned(rows: &[Vec<String>]) {
    let width = |column: usize| {
        rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default()
    };
    let widths: Vec<_> = (0..rows[0].len()).map(width).collect();
    for row in rows {
        let cells: Vec<_> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        println!("  {}", cells.join("  ").trim_end());
    }
}
