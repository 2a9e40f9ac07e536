//! `polyflake lease`: the steps that an operator takes on a namespace.

use std::io::Write;

use polyflake_lease::{Operator, Record};
use serde_json::json;

use crate::failure::Failure;

/// The families that have numbers to lease, as the names of their namespaces end.
const FAMILIES: [&str; 4] = ["sno", "hotguid", "randflake", "layout"];

/// Shows the leased numbers of a namespace, and takes the steps that an operator decides on.
#[derive(clap::Args)]
#[command(before_help = "\
Examples:
  polyflake lease status orders/sno --url sqlite:/var/lib/orders/leases.db
  polyflake lease evict orders/sno 17 --url postgres://operator@db/orders")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Args)]
struct Place {
    /// The whole name of the namespace: `orders/sno` for the partitions of generators that were given `orders`.
    namespace: String,
    /// The store: sqlite:FILE or a URL of PostgreSQL; the variable `POLYFLAKE_LEASE` if it is left out.
    #[arg(long)]
    url: Option<String>,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Counts granted, reserved and free numbers, and shows who holds which.
    Status {
        #[command(flatten)]
        place: Place,
        /// As JSON, with all records.
        #[arg(long)]
        json: bool,
    },
    /// Stops the renewals of a number; it is free when its grant has ended, at most a lease from now.
    Evict {
        #[command(flatten)]
        place: Place,
        number: u64,
    },
    /// Keeps a number from being leased, so that it may be given by hand.
    Reserve {
        #[command(flatten)]
        place: Place,
        number: u64,
        reason: String,
    },
    /// Says that the store was restored from a backup: nothing is granted for a while.
    Restored {
        #[command(flatten)]
        place: Place,
        /// No grant before this time, as RFC 3339 writes it.
        #[arg(long, value_name = "TIME")]
        not_before: Option<jiff::Timestamp>,
    },
    /// Says that the store is the one before under another name and lost nothing: holders go on.
    Promoted {
        #[command(flatten)]
        place: Place,
    },
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    match &arguments.command {
        Command::Status { place, json } => return status(place, *json),
        Command::Evict { place, number } => {
            let record = place.operator()?.evict(*number)?;
            writeln!(out, "{number} is free from {}", moment(record.granted_until))?;
        }
        Command::Reserve { place, number, reason } => {
            let record = place.operator()?.reserve(*number, reason)?;
            writeln!(out, "{number} may be given by hand from {}", moment(record.start))?;
        }
        Command::Restored { place, not_before } => {
            let before = |time: &jiff::Timestamp| u64::try_from(time.as_millisecond());
            let not_before = not_before.as_ref().map(before).transpose();
            let not_before = not_before
                .map_err(|_| Failure::new("time_out_of_range", "expected a time after 1970"))?;
            let namespace = place.operator()?.restored(not_before)?;
            writeln!(out, "grants begin at {}", moment(namespace.quiet_until))?;
        }
        Command::Promoted { place } => {
            place.operator()?.promoted()?;
            writeln!(out, "holders go on")?;
        }
    }
    Ok(())
}

/// The URL of a store, from an argument or the environment. A password is no argument: others on the machine would see it.
pub(crate) fn store(url: Option<&str>) -> Result<String, Failure> {
    let user = url.and_then(|url| url.split_once("//")?.1.split_once('@'));
    if user.is_some_and(|(user, _)| user.contains(':')) {
        let reason = "expected a URL without a password: set the variable POLYFLAKE_LEASE to it";
        return Err(Failure::new("invalid_secret", reason));
    }
    let variable = std::env::var("POLYFLAKE_LEASE").ok();
    let read = url.or(variable.as_deref()).ok_or_else(|| {
        Failure::new("missing_field", "expected the URL of a store, or POLYFLAKE_LEASE to be set")
    })?;
    // Generators read their namespace from the same variable, so a URL may name one that this program does not use.
    let unused = (!read.contains("namespace=")).then_some("unused");
    let place = match url {
        Some(url) => polyflake_lease::hosted::Place::of(url, unused),
        None => polyflake_lease::hosted::Place::of_variables(Some(read), None, unused),
    };
    Ok(place?.url().to_owned())
}

type Opened = Operator<
    Box<dyn polyflake_lease::Store>,
    fn() -> polyflake_lease::Result<polyflake_lease::Random>,
>;

impl Place {
    fn operator(&self) -> Result<Opened, Failure> {
        let url = store(self.url.as_deref())?;
        let mut operator = Operator::open(&url, &self.namespace)?;
        // A generator of `orders` has its numbers in `orders/sno`, by its family.
        let is_short = !self.namespace.contains('/');
        if is_short && operator.status().is_err() {
            let full = FAMILIES.map(|family| format!("{}/{family}", self.namespace));
            let exists =
                |name: &&String| Operator::open(&url, name).is_ok_and(|mut of| of.status().is_ok());
            if let Some(near) = full.iter().find(exists) {
                let reason = format!("no namespace '{}', did you mean '{near}'?", self.namespace);
                return Err(Failure::new("out_of_range", reason));
            }
        }
        Ok(operator)
    }
}

fn status(place: &Place, as_json: bool) -> Result<(), Failure> {
    let mut operator = place.operator()?;
    let status = operator.status()?;
    let mut out = anstream::stdout().lock();
    if as_json {
        let records = operator.records()?;
        let records: Vec<_> = records.iter().map(record).collect();
        let all = json!({
            "now": status.now, "schema": status.schema,
            "granted": status.granted, "reserved": status.reserved,
            "free": status.free, "next_end": status.next_end, "is_restored": status.is_restored,
            "records": records,
        });
        return Ok(writeln!(out, "{all}")?);
    }
    if let Some(schema) = &status.schema {
        writeln!(out, "schema    {schema}")?;
    }
    writeln!(
        out,
        "granted   {}\nreserved  {}\nfree      {}",
        status.granted, status.reserved, status.free
    )?;
    if let Some(end) = status.next_end {
        writeln!(out, "next end  {}", moment(end))?;
    }
    if status.is_restored {
        writeln!(out, "this store is another than the one that granted before")?;
    }
    let records = operator.records()?;
    let mut held: Vec<_> = records.iter().filter(|it| it.granted_until > status.now).collect();
    held.sort_unstable_by_key(|record| record.first);
    for Record { first, granted_until: end, holder, .. } in held {
        let until = match *end {
            Record::RESERVED => "reserved".to_owned(),
            end => format!("until {}", moment(end)),
        };
        writeln!(out, "{first:>8}  {until}  {holder}")?;
    }
    Ok(())
}

/// A record without its token, with which a holder's grant could be taken for one's own.
fn record(record: &Record) -> serde_json::Value {
    let end = Some(record.granted_until).filter(|end| *end != Record::RESERVED);
    json!({
        "first": record.first, "count": record.count, "start": record.start,
        "granted_until": end, "reserved": end.is_none(), "holder": record.holder,
    })
}

/// RFC 3339, or the milliseconds where the calendar ends.
fn moment(ms: u64) -> String {
    let time = i64::try_from(ms).ok().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    time.map_or_else(|| format!("{ms} ms after 1970"), |time| format!("{time:.3}"))
}
