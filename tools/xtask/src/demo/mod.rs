//! Generates IDs of every format in every runtime, reads each ID in every other runtime, and prints the IDs' fields.

mod families;
mod table;

use anyhow::{Context, Result, ensure};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use self::{
    families::{Family, KNOWN_SNOWFLAKES, OTHER_FAMILIES, SNO, timestamp_from_unix_ms},
    table::without_quotes,
};
use crate::{
    build::Purpose,
    conformance::{self, AvailableRuntimes, Driver, Runtime},
    workspace,
};

/// The object types that the sample's metabytes represent.
const KINDS: [&str; 6] = ["user", "order", "payment", "ticket", "photo", "label"];

/// The largest allowed difference between an ID's time and the current time.
const MAX_CLOCK_DIFFERENCE: SignedDuration = SignedDuration::from_mins(5);

/// A runtime and its driver.
struct RuntimeDriver {
    runtime: Runtime,
    driver: Driver,
}

/// Sets up and builds all packages, and runs the demo. The build omits optimizations that affect only the packages' speed.
/// Fails if any two runtimes disagree.
pub fn main() -> Result<()> {
    let shell = workspace::shell()?;
    let ready = AvailableRuntimes::prepare_runtimes(&shell, &[])?;
    ready.build(&shell, Purpose::Developers)?;
    run(&ready)
}

/// Runs the demo with the runtimes that were built. Fails if any two runtimes disagree, or if a required runtime is
/// missing.
pub fn run(ready: &AvailableRuntimes) -> Result<()> {
    let mut drivers = ready
        .runtimes
        .iter()
        .map(|runtime| RuntimeDriver::start(*runtime))
        .collect::<Result<Vec<_>>>()?;
    let made = run_family(&SNO, &mut drivers)?;
    let mut well = made.iter().all(DemoId::is_valid);
    well &= show_polymorphic_json(&made, &mut drivers)?;
    for family in OTHER_FAMILIES {
        well &= run_family(family, &mut drivers)?.iter().all(DemoId::is_valid);
    }
    well &= show_known_snowflakes(&mut drivers)?;
    ensure!(well, "some runtimes disagree");
    println!("\nevery runtime agrees");
    ready.check_complete()
}

impl RuntimeDriver {
    fn start(runtime: Runtime) -> Result<Self> {
        Ok(Self { runtime, driver: Driver::start(runtime, &mut conformance::driver(runtime))? })
    }

    /// Sends a request and returns the value of the answer.
    fn request(&mut self, request: &Value) -> Result<Value> {
        let answer = self.driver.request([request].into_iter())?.remove(0);
        let value = answer.get("ok").cloned();
        value.with_context(|| format!("{} refused {request}: {answer}", self.runtime.name()))
    }
}

/// An ID, its creation time, and the runtimes that read it.
struct DemoId {
    maker: Runtime,
    id: Value,
    time: Option<Timestamp>,
    readers: ReaderResults,
}

impl DemoId {
    fn is_valid(&self) -> bool {
        self.is_recent() && self.readers.all_correct()
    }

    fn is_recent(&self) -> bool {
        self.time
            .is_some_and(|time| Timestamp::now().duration_since(time).abs() < MAX_CLOCK_DIFFERENCE)
    }
}

/// The runtimes that read an ID. The flag next to each runtime is `true` if that runtime's answer was correct.
struct ReaderResults(Vec<(Runtime, bool)>);

impl ReaderResults {
    /// Sends the same request to all runtimes.
    fn request_all(
        request: &Value,
        expected: &Value,
        drivers: &mut [RuntimeDriver],
    ) -> Result<Self> {
        let ask = |driver: &mut RuntimeDriver| {
            Ok((driver.runtime, driver.request(request)? == *expected))
        };
        drivers.iter_mut().map(ask).collect::<Result<_>>().map(Self)
    }

    fn all_correct(&self) -> bool {
        self.0.iter().all(|(_, alike)| *alike)
    }

    fn names(&self) -> String {
        let name = |(runtime, alike): &(Runtime, bool)| match alike {
            true => runtime.name().to_owned(),
            false => format!("NOT-IN-{}", runtime.name().to_uppercase()),
        };
        self.0.iter().map(name).collect::<Vec<_>>().join(" ")
    }
}

/// Generates an ID of a format in each runtime, reads each ID in all runtimes, and prints a row for each ID.
fn run_family(family: &Family, drivers: &mut [RuntimeDriver]) -> Result<Vec<DemoId>> {
    let mut ids = Vec::new();
    for (index, driver) in drivers.iter_mut().enumerate() {
        ids.push((driver.runtime, driver.request(&(family.make)(index))?));
    }
    let made = ids.into_iter().map(|(maker, id)| read_id(family, maker, id, drivers));
    let made = made.collect::<Result<Vec<_>>>()?;
    print_family(family, &made);
    Ok(made)
}

fn read_id(
    family: &Family,
    maker: Runtime,
    id: Value,
    drivers: &mut [RuntimeDriver],
) -> Result<DemoId> {
    let (request, expected) = (family.read)(&id);
    let readers = ReaderResults::request_all(&request, &expected, drivers)?;
    Ok(DemoId { maker, time: (family.time)(&id), id, readers })
}

fn print_family(family: &Family, made: &[DemoId]) {
    println!("\n{}: made in one runtime, read in every other", family.name);
    let headings = family.columns.iter().map(|(heading, _)| *heading);
    let headings = ["made in", "time"].into_iter().chain(headings).chain(["read alike in"]);
    let mut rows = vec![headings.map(str::to_owned).collect::<Vec<_>>()];
    rows.extend(made.iter().map(|made| row(family, made)));
    table::print(&rows);
}

fn row(family: &Family, made: &DemoId) -> Vec<String> {
    let time = made.time.map_or_else(|| "NO TIME".to_owned(), |time| time.to_string());
    let time = if made.is_recent() { time } else { format!("{time} NOT NOW") };
    let fields = family
        .columns
        .iter()
        .map(|(_, at)| made.id.pointer(at).map(without_quotes).unwrap_or_default());
    let mut row = vec![made.maker.name().to_owned(), time];
    row.extend(fields);
    row.push(made.readers.names());
    row
}

/// Shows objects of several types in one JSON document. Only the metabyte of each object's ID reveals the object's type.
fn show_polymorphic_json(made: &[DemoId], drivers: &mut [RuntimeDriver]) -> Result<bool> {
    let objects: Vec<_> = made.iter().map(|made| json!({"id": made.id["text"]})).collect();
    let sample = json!({ "objects": objects }).to_string();
    println!("\npolymorphic JSON: the metabyte of an ID tells the type of its object\n{sample}");
    let mut rows = vec![["object", "kind", "decoded alike in"].map(str::to_owned).to_vec()];
    let mut well = true;
    for (index, made) in made.iter().enumerate() {
        let request = json!({"op": "sno.json", "args": {"json": sample, "pointer": format!("/objects/{index}/id")}});
        let expected = json!({"id": made.id["text"], "metabyte": made.id["metabyte"]});
        let readers = ReaderResults::request_all(&request, &expected, drivers)?;
        well &= readers.all_correct();
        rows.push(vec![without_quotes(&made.id["text"]), KINDS[index].to_owned(), readers.names()]);
    }
    table::print(&rows);
    Ok(well)
}

/// Reads IDs of other services, using the presets for these services.
fn show_known_snowflakes(drivers: &mut [RuntimeDriver]) -> Result<bool> {
    println!("\npresets: IDs of well-known services");
    let mut rows = vec![["service", "ID", "time", "read alike in"].map(str::to_owned).to_vec()];
    let mut well = true;
    for [service, preset, id, unix_ms] in KNOWN_SNOWFLAKES {
        let args = json!({"layout": {"preset": preset}, "id": id});
        let request = json!({"op": "layout.parse", "args": args});
        let expected = drivers[0].request(&request)?;
        let readers = ReaderResults::request_all(&request, &expected, drivers)?;
        well &= readers.all_correct() && expected["timestamp_ms"] == unix_ms;
        let time = timestamp_from_unix_ms(&expected["timestamp_ms"])
            .map(|time| time.to_string())
            .unwrap_or_default();
        rows.push(vec![service.to_owned(), id.to_owned(), time, readers.names()]);
    }
    table::print(&rows);
    Ok(well)
}
