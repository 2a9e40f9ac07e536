//! `polyflake lease`: commands for operators of a lease store.

use std::{fmt::Write as _, io::Write, time::Duration};

use polyflake_lease::{
    Operator,
    protocol::{Random, Record, hosted::LeaseUrl},
};
use serde_json::json;

use crate::{failure::Failure, serve};

/// The ID formats whose generators can lease worker IDs. The full name of a namespace ends with the name of its format.
pub(crate) const FAMILIES: [&str; 5] = polyflake_lease::Shape::FORMATS;

/// Shows the leased worker IDs of a namespace, and changes them on behalf of an operator.
#[derive(clap::Args)]
#[command(before_help = "\
Examples:
  polyflake lease status orders/sno --url sqlite:/var/lib/orders/leases.db
  polyflake lease evict orders/sno 17 --yes --url postgres://operator@db/orders
  polyflake lease serve --url sqlite:/var/lib/polyflake/ids.db --tokens /etc/polyflake/tokens")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Args)]
struct NamespaceArguments {
    /// The full name of the namespace, for example `orders/sno` for sno generators whose lease specifies `orders`.
    namespace: String,
    #[command(flatten)]
    store: Address,
}

#[derive(clap::Args)]
struct Address {
    /// The lease store: sqlite:FILE, or the URL of a database or of a service. Defaults to the variable `POLYFLAKE_LEASE`.
    #[arg(long)]
    url: Option<String>,
}

#[derive(clap::Args)]
struct Confirmation {
    /// Confirms the command. Without this option, the command changes nothing.
    #[arg(long, required = true)]
    yes: bool,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Checks whether a lease could be acquired, without writing to the store. Exits with 0 or 1.
    Check {
        /// The lease URL, with its namespace. Defaults to the variable `POLYFLAKE_LEASE`.
        #[arg(value_name = "URL")]
        argument: Option<String>,
        /// The same as the argument.
        #[arg(long, conflicts_with = "argument")]
        url: Option<String>,
    },
    /// Lists the store's namespaces.
    List {
        #[command(flatten)]
        store: Address,
    },
    /// Prints metrics of all namespaces in the Prometheus text format.
    Metrics {
        #[command(flatten)]
        store: Address,
    },
    /// Counts granted, reserved and free worker IDs, and shows the holder of each.
    Status {
        #[command(flatten)]
        namespace: NamespaceArguments,
        /// Prints JSON, with all records.
        #[arg(long)]
        json: bool,
        /// Prints the status every SECONDS seconds until you interrupt the program.
        #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
        watch: Option<u64>,
    },
    Serve(serve::Arguments),
    /// Prevents the grant of a worker ID from being renewed. The worker ID becomes free when the grant ends, at most one
    /// lease duration later.
    Evict {
        #[command(flatten)]
        namespace: NamespaceArguments,
        /// The worker ID, which `status` shows.
        worker_id: u64,
        #[command(flatten)]
        confirmation: Confirmation,
    },
    /// Reserves a worker ID, so that no process leases it and you can configure it by hand.
    Reserve {
        #[command(flatten)]
        namespace: NamespaceArguments,
        /// The worker ID. If a process holds it, the reservation begins when its grant ends.
        worker_id: u64,
        /// A short note on where the worker ID is configured, which `status` shows.
        reason: String,
        #[command(flatten)]
        confirmation: Confirmation,
    },
    /// Ends the reservation of a worker ID, so that processes can lease it again.
    Free {
        #[command(flatten)]
        namespace: NamespaceArguments,
        worker_id: u64,
        /// The time, in RFC 3339, from which on no generator has used the worker ID. New grants start no earlier.
        #[arg(long, value_name = "TIME")]
        unused_since: jiff::Timestamp,
        #[command(flatten)]
        confirmation: Confirmation,
    },
    /// Frees the worker ID of a dead holder before its grant ends, or lists the worker IDs of a holder.
    ///
    /// IDs repeat if the process or a copy of it still runs, or if its clock was ahead of the store's clock by more than a
    /// third of the longest lease (5 to 60 seconds).
    Dead {
        #[command(flatten)]
        namespace: NamespaceArguments,
        #[arg(required_unless_present = "holder", requires = "token", requires = "yes")]
        worker_id: Option<u64>,
        /// The token of the grant, which `--holder` shows.
        #[arg(long, value_parser = parse_token)]
        token: Option<Random>,
        /// Confirms that the process and all copies of it are dead.
        #[arg(long)]
        yes: bool,
        /// Lists the worker IDs granted under this holder's name, without changing them.
        #[arg(long, conflicts_with = "worker_id")]
        holder: Option<String>,
    },
    /// Reports that the store was restored from a backup. All of its namespaces stop granting worker IDs for a while.
    Restored {
        #[command(flatten)]
        store: Address,
        /// Grants no worker ID before this time, in RFC 3339.
        #[arg(long, value_name = "TIME")]
        not_before: Option<jiff::Timestamp>,
        #[command(flatten)]
        confirmation: Confirmation,
    },
    /// Reports that the store named FROM became this store, named TO, without losing data. The store can then grant worker
    /// IDs immediately. The command `status` shows the names of the stores.
    Promoted {
        #[command(flatten)]
        store: Address,
        from: String,
        to: String,
        #[command(flatten)]
        confirmation: Confirmation,
    },
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    match &arguments.command {
        Command::Check { argument, url } => check(argument.as_ref().or(url.as_ref()), &mut out)?,
        Command::List { store } => {
            for name in store.operator()?.namespaces()? {
                writeln!(out, "{name}")?;
            }
        }
        Command::Metrics { store } => out.write_all(metrics(store)?.as_bytes())?,
        Command::Serve(arguments) => {
            drop(out);
            return serve::run(arguments);
        }
        Command::Status { namespace, json, watch } => {
            drop(out);
            status(namespace, *json)?;
            while let Some(seconds) = watch {
                std::thread::sleep(Duration::from_secs(*seconds));
                if !json {
                    writeln!(
                        anstream::stdout(),
                        "\n{}",
                        jiff::Timestamp::now().round(jiff::Unit::Second).unwrap_or_default()
                    )?;
                }
                // A temporary store failure must not end the watch. A usage error would already have been reported by the
                // first status request.
                match status(namespace, *json) {
                    Err(error @ Failure::Rejected { .. }) => {
                        error.report();
                    }
                    shown => shown?,
                }
            }
            return Ok(());
        }
        Command::Evict { namespace, worker_id, .. } => {
            let record = namespace.operator()?.evict(*worker_id)?;
            writeln!(
                out,
                "worker ID {worker_id} is free from {}",
                format_time(record.granted_until)
            )?;
        }
        Command::Reserve { namespace, worker_id, reason, .. } => {
            let record = namespace.operator()?.reserve(*worker_id, reason)?;
            writeln!(
                out,
                "you can configure worker ID {worker_id} by hand from {}",
                format_time(record.start)
            )?;
        }
        Command::Free { namespace, worker_id, unused_since, .. } => {
            let record = namespace.operator()?.free(*worker_id, unix_ms(unused_since)?)?;
            writeln!(
                out,
                "worker ID {worker_id} is free from {}",
                format_time(record.granted_until)
            )?;
        }
        Command::Dead { namespace, worker_id, token, holder, .. } => {
            let mut operator = namespace.operator()?;
            if let Some(holder) = holder {
                return list_held_leases(&mut operator, holder);
            }
            let (worker_id, token) = (worker_id.unwrap_or_default(), token.unwrap_or_default());
            let record = operator.dead(worker_id, token)?;
            writeln!(
                out,
                "worker ID {worker_id} is free from {}",
                format_time(record.granted_until)
            )?;
        }
        Command::Restored { store, not_before, .. } => {
            let not_before = not_before.as_ref().map(unix_ms).transpose()?;
            for namespace in store.operator()?.restored(not_before)? {
                let (name, quiet_until) = (namespace.name, format_time(namespace.quiet_until));
                writeln!(out, "{name}: grants begin at {quiet_until}")?;
            }
        }
        Command::Promoted { store, from, to, .. } => {
            for namespace in store.operator()?.promoted(from, to)? {
                let (name, quiet_until) = (namespace.name, namespace.quiet_until);
                // `quiet_until` is 0 if the namespace had no earlier quiet time.
                match quiet_until {
                    0 => writeln!(out, "{name}: grants begin now")?,
                    _ => writeln!(out, "{name}: grants begin at {}", format_time(quiet_until))?,
                }
            }
        }
    }
    Ok(())
}

/// Prints what is known about the host of a rented database, and whether a worker ID could be leased.
fn check(url: Option<&String>, out: &mut impl Write) -> Result<(), Failure> {
    let url = url.map(String::as_str);
    reject_password(url)?;
    let lease_url = url.map_or_else(|| LeaseUrl::from_env(None), |url| LeaseUrl::parse(url, None));
    if let Some(platform) = lease_url.as_ref().ok().and_then(LeaseUrl::platform) {
        writeln!(out, "{platform}")?;
    }
    let store = polyflake_lease::check(url)?;
    Ok(writeln!(out, "a worker ID can be leased from {store}")?)
}

/// Returns the URL of a store from an argument or the environment. Passwords are rejected in arguments, where other users
/// of the machine could see them.
pub(crate) fn store_url(url: Option<&str>) -> Result<String, Failure> {
    reject_password(url)?;
    let variable = std::env::var("POLYFLAKE_LEASE").ok();
    let read = url.or(variable.as_deref()).ok_or_else(|| {
        Failure::new("missing_field", "expected the URL of a store, or POLYFLAKE_LEASE to be set")
    })?;
    let unused = placeholder_namespace(read);
    let lease_url = match url {
        Some(url) => LeaseUrl::parse(url, unused),
        None => LeaseUrl::of_variables(Some(read), None, unused),
    };
    Ok(lease_url?.url().to_owned())
}

/// Returns a placeholder namespace for a URL without one. Generators read their namespace from the same variable, so the
/// URL may already contain one, which this program ignores.
fn placeholder_namespace(url: &str) -> Option<&'static str> {
    LeaseUrl::namespace_in(url).is_none().then_some("unused")
}

fn reject_password(url: Option<&str>) -> Result<(), Failure> {
    let Some(url) = url else { return Ok(()) };
    if LeaseUrl::parse(url, placeholder_namespace(url))?.has_password() {
        let reason = "expected a URL without a password: set the variable POLYFLAKE_LEASE to it";
        return Err(Failure::new("invalid_secret", reason));
    }
    Ok(())
}

type OpenedOperator =
    Operator<Box<dyn polyflake_lease::protocol::Store>, fn() -> polyflake_lease::Result<Random>>;

impl NamespaceArguments {
    fn operator(&self) -> Result<OpenedOperator, Failure> {
        let url = store_url(self.store.url.as_deref())?;
        let mut operator = Operator::open(&url, &self.namespace)?;
        // A generator with the namespace `orders` leases from a namespace that includes its format, such as `orders/sno`.
        let is_short = !self.namespace.contains('/');
        if is_short && operator.status().is_err() {
            let full = FAMILIES.map(|family| format!("{}/{family}", self.namespace));
            let exists =
                |name: &&String| Operator::open(&url, name).is_ok_and(|mut of| of.status().is_ok());
            if let Some(near) = full.iter().find(exists) {
                let reason = format!("no namespace `{}`; did you mean `{near}`?", self.namespace);
                return Err(Failure::new("out_of_range", reason));
            }
        }
        Ok(operator)
    }
}

impl Address {
    fn operator(&self) -> Result<OpenedOperator, Failure> {
        Ok(Operator::of_store(&store_url(self.url.as_deref())?)?)
    }
}

fn parse_token(text: &str) -> Result<Random, String> {
    Random::parse(text).map_err(|error| error.to_string())
}

/// Lists a holder's worker IDs, with the tokens that `dead` requires.
fn list_held_leases(operator: &mut OpenedOperator, holder: &str) -> Result<(), Failure> {
    let now = operator.status()?.now;
    let records = operator.records()?;
    let held =
        |it: &&Record| it.holder == holder && (now..Record::RESERVED).contains(&it.granted_until);
    let mut out = anstream::stdout().lock();
    for Record { first, granted_until, token, .. } in records.iter().filter(held) {
        writeln!(out, "{first:>8}  until {}  {token}", format_time(*granted_until))?;
    }
    Ok(())
}

fn status(namespace: &NamespaceArguments, as_json: bool) -> Result<(), Failure> {
    let mut operator = namespace.operator()?;
    let status = operator.status()?;
    let mut out = anstream::stdout().lock();
    if as_json {
        let records = operator.records()?;
        let records: Vec<_> = records.iter().map(record_to_json).collect();
        let all = json!({
            "now": status.now, "schema": status.schema,
            "granted": status.granted, "reserved": status.reserved,
            "free": status.free, "next_end": status.next_end, "is_restored": status.is_restored,
            "store": status.store, "previous_store": status.namespace.previous_store,
            "quiet_until": status.namespace.quiet_until, "longest_ms": status.namespace.longest_ms,
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
        writeln!(out, "next end  {}", format_time(end))?;
    }
    writeln!(out, "longest   {} s", status.namespace.longest_ms / 1000)?;
    writeln!(out, "store     {}", status.store)?;
    let previous_store = &status.namespace.previous_store;
    if *previous_store == status.store && status.namespace.quiet_until > status.now {
        writeln!(out, "a holder found that this store lacks grants")?;
    } else if !previous_store.is_empty() {
        writeln!(out, "before    {previous_store}")?;
    }
    if status.namespace.quiet_until > status.now {
        writeln!(out, "quiet until {}", format_time(status.namespace.quiet_until))?;
    }
    if status.is_restored {
        writeln!(out, "this store is different from the one that made the last grants")?;
    }
    let records = operator.records()?;
    let mut held: Vec<_> = records.iter().filter(|it| it.granted_until > status.now).collect();
    held.sort_unstable_by_key(|record| record.first);
    for Record { first, granted_until: end, holder, .. } in held {
        let until = match *end {
            Record::RESERVED => "reserved".to_owned(),
            end => format!("until {}", format_time(end)),
        };
        writeln!(out, "{first:>8}  {until}  {holder}")?;
    }
    Ok(())
}

/// Returns the metrics of all namespaces in the Prometheus text format. If a namespace cannot be read, prints the error to
/// standard error and sets the gauge `readable` to 0, because an alert must not depend on a missing metric.
fn metrics(store: &Address) -> Result<String, Failure> {
    const METRICS: [(&str, &str); 8] = [
        ("readable", "1 if the records of the namespace can be read, 0 if not."),
        (
            "restored",
            "1 if the store was restored or replaced and no holder has noticed it, 0 if not.",
        ),
        ("granted", "Worker IDs whose lease has not ended."),
        ("reserved", "Worker IDs that are reserved."),
        ("free", "Worker IDs that could be leased."),
        ("next_end_seconds", "Seconds until the next lease ends."),
        ("quiet_seconds", "Seconds until a restored store grants worker IDs again."),
        ("longest_seconds", "The longest lease of the namespace."),
    ];
    let url = store_url(store.url.as_deref())?;
    let names = store.operator()?.namespaces()?;
    let mut found = Vec::new();
    for name in &names {
        let status = Operator::open(&url, name).and_then(|mut operator| operator.status());
        let values = match status {
            Ok(status) => {
                let left = |end: u64| end.saturating_sub(status.now).div_ceil(1000);
                [
                    Some(1),
                    Some(u64::from(status.is_restored)),
                    Some(status.granted),
                    Some(status.reserved),
                    Some(status.free),
                    status.next_end.map(left),
                    Some(left(status.namespace.quiet_until)),
                    Some(status.namespace.longest_ms / 1000),
                ]
            }
            Err(error) => {
                Failure::new(error.code(), format!("{name}: {error}")).report();
                [Some(0), None, None, None, None, None, None, None]
            }
        };
        found.push((name, values));
    }
    let mut text = String::new();
    for (k, (metric, help)) in METRICS.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "# HELP polyflake_lease_{metric} {help}\n# TYPE polyflake_lease_{metric} gauge"
        );
        for (name, values) in &found {
            if let Some(value) = values[k] {
                let _ = writeln!(text, "polyflake_lease_{metric}{{namespace=\"{name}\"}} {value}");
            }
        }
    }
    Ok(text)
}

/// Returns a record as JSON without its token, because anyone who has the token can act as the holder.
fn record_to_json(record: &Record) -> serde_json::Value {
    let end = Some(record.granted_until).filter(|end| *end != Record::RESERVED);
    json!({
        "first": record.first, "count": record.count, "start": record.start,
        "granted_until": end, "reserved": end.is_none(), "holder": record.holder,
    })
}

/// Returns an argument's time in Unix milliseconds.
fn unix_ms(time: &jiff::Timestamp) -> Result<u64, Failure> {
    u64::try_from(time.as_millisecond()).map_err(|_| {
        Failure::new("time_out_of_range", "expected a time after 1970, found an earlier one")
    })
}

/// Formats a time as RFC 3339, or as milliseconds if it is outside the calendar's range.
fn format_time(ms: u64) -> String {
    let time = i64::try_from(ms).ok().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    time.map_or_else(|| format!("{ms} ms after 1970"), |time| format!("{time:.3}"))
}
