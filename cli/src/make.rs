//! `polyflake new`: generates IDs.

use std::{
    io::{self, BufWriter, IsTerminal, Write},
    path::{Path, PathBuf},
    thread::sleep,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use clap::CommandFactory;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use polyflake::{
    hotguid,
    layout::{self, Layout, Value},
    randflake::{self, Grant},
    sno, uuid7,
};

use crate::{
    failure::{self, Failure},
    inspect::parse_time,
    layout::load,
    lease::store_url,
};

/// The number of IDs between two updates of the progress bar.
const STRIDE: u64 = 1 << 14;
/// The ID formats other than layouts, and the functions that create their generators.
const FORMATS: [(&str, GeneratorMaker); 4] = [
    ("sno", sno_maker),
    ("hotguid", hotguid_maker),
    ("randflake", randflake_maker),
    ("uuid7", uuid7_maker),
];
/// A duration, in seconds, that is longer than any run of the program.
const FOREVER_SECS: i64 = 10 * 365 * 86_400;

/// Generates IDs, one per line.
#[derive(clap::Args)]
#[command(before_help = "\
Examples:
  polyflake new sno -n 5 --metabyte 7
  polyflake new discord --bind worker=1 --bind process=0
  polyflake new sno --namespace orders --lease sqlite:/var/lib/orders/leases.db
  polyflake new randflake --secret-file key --node 7
  polyflake new uuid7 --at 2026-01-01T12:00:00Z
  polyflake new orders.json --bind shard=12")]
pub(crate) struct Arguments {
    /// sno, hotguid, randflake, uuid7, a preset (see `polyflake layout presets`), or a JSON file that contains a layout.
    #[arg(value_name = "FORMAT|PRESET|FILE")]
    format: String,
    /// The number of IDs to generate.
    #[arg(short = 'n', long, default_value_t = 1)]
    count: u64,
    /// sno: the type tag, 0 to 255. Defaults to 0.
    #[arg(long, value_name = "TYPE_TAG", visible_alias = "type-tag")]
    metabyte: Option<u8>,
    /// sno: the worker ID. If neither --partition nor --namespace nor `POLYFLAKE_LEASE` is set, the worker ID is random, so
    /// another process can have the same worker ID.
    #[arg(long, value_name = "WORKER_ID", conflicts_with = "namespace")]
    partition: Option<u16>,
    /// Hot Guid: the shard key. Defaults to 0.
    #[arg(long)]
    shard_key: Option<u32>,
    /// Randflake: the worker ID, 0 to 131071.
    #[arg(long, value_name = "WORKER_ID", conflicts_with = "namespace")]
    node: Option<u32>,
    /// UUID v7: the worker ID, 0 to 65535. If neither --worker-id nor --namespace nor `POLYFLAKE_LEASE` is set, the bits are
    /// random.
    #[arg(long, conflicts_with = "namespace")]
    worker_id: Option<u16>,
    /// UUID v7: the creation time of the IDs, in RFC 3339 format or as integer Unix milliseconds. All bits after the time are
    /// random.
    #[arg(
        long,
        value_name = "TIME",
        value_parser = parse_time,
        allow_negative_numbers = true,
        conflicts_with_all = ["worker_id", "namespace"]
    )]
    at: Option<i64>,
    /// Randflake: a file with the secret, 16 bytes or 32 hexadecimal digits.
    #[arg(long, value_name = "FILE")]
    secret_file: Option<PathBuf>,
    /// Presets and layouts: the value of a bindable field. Can be repeated.
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_bindable)]
    bind: Vec<(String, Value<'static>)>,
    /// Leases the worker ID in this namespace, so that no other process uses it at the same time. sno, hotguid and uuid7
    /// default to the namespace in the variable `POLYFLAKE_LEASE`.
    #[arg(long)]
    namespace: Option<String>,
    /// The lease store: sqlite:FILE, or the URL of a database or of a service. Defaults to the variable `POLYFLAKE_LEASE`.
    #[arg(long, value_name = "URL", requires = "namespace")]
    lease: Option<String>,
}

type IdGenerator = Box<dyn FnMut() -> Result<String, polyflake::Error>>;
type GeneratorMaker = fn(&Arguments) -> Result<IdGenerator, Failure>;

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let format = FORMATS.iter().find(|(name, _)| *name == arguments.format);
    let (name, maker) = format.copied().unwrap_or(("layout", layout_maker));
    reject_other_options(name, arguments);
    let mut generate = maker(arguments)?;
    let bar = progress_bar(arguments.count);
    let mut out = BufWriter::new(io::stdout().lock());
    for made in 0..arguments.count {
        writeln!(out, "{}", generate()?)?;
        if made % STRIDE == 0 {
            bar.set_position(made);
        }
    }
    bar.finish_and_clear();
    Ok(out.flush()?)
}

/// Exits if an option belongs to a different ID format, because it would be ignored.
fn reject_other_options(format: &str, arguments: &Arguments) {
    let leased = arguments.namespace.is_some();
    for (option, given, of) in [
        ("--metabyte", arguments.metabyte.is_some(), "sno"),
        ("--partition", arguments.partition.is_some(), "sno"),
        ("--shard-key", arguments.shard_key.is_some(), "hotguid"),
        ("--node", arguments.node.is_some(), "randflake"),
        ("--worker-id", arguments.worker_id.is_some(), "uuid7"),
        ("--at", arguments.at.is_some(), "uuid7"),
        ("--secret-file", arguments.secret_file.is_some(), "randflake"),
        (
            "--bind",
            !arguments.bind.is_empty(),
            if leased { "layout without a lease" } else { "layout" },
        ),
    ] {
        if given && of != format {
            exit_with_usage_error(&format!("{option} is for {of}, not for {}", arguments.format));
        }
    }
}

/// Exits because of an error in the arguments.
pub(crate) fn exit_with_usage_error(reason: &str) -> ! {
    crate::Arguments::command().error(clap::error::ErrorKind::ValueValidation, reason).exit()
}

/// Returns a progress bar. It is hidden if the IDs themselves are written to the terminal, or if there are at most
/// [`STRIDE`] IDs.
fn progress_bar(count: u64) -> ProgressBar {
    if io::stdout().is_terminal() || count <= STRIDE {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len}, {per_sec}, {eta} left");
    let bar = ProgressBar::with_draw_target(Some(count), ProgressDrawTarget::stderr());
    style.map_or(bar.clone(), |style| bar.with_style(style))
}

/// Returns the store and the namespace, if the arguments request a leased worker ID.
fn lease_options(arguments: &Arguments) -> Result<Option<(String, &str)>, Failure> {
    let Some(namespace) = arguments.namespace.as_deref() else { return Ok(None) };
    Ok(Some((store_url(arguments.lease.as_deref())?, namespace)))
}

/// Returns a leased generator for a format that has default generators, if the arguments or the environment request one. A
/// worker ID among the arguments takes precedence over the environment.
fn leased<G>(
    arguments: &Arguments,
    has_worker_id: bool,
    new: fn(&str, &str) -> polyflake_lease::Result<G>,
    from_env: fn() -> polyflake_lease::Result<G>,
) -> Result<Option<G>, Failure> {
    if let Some((url, namespace)) = lease_options(arguments)? {
        return Ok(Some(new(&url, namespace)?));
    }
    let is_set = |name| std::env::var_os(name).is_some();
    if has_worker_id || !(is_set("POLYFLAKE_LEASE") || is_set("POLYFLAKE_WORKER_ID")) {
        return Ok(None);
    }
    Ok(Some(from_env()?))
}

fn sno_maker(arguments: &Arguments) -> Result<IdGenerator, Failure> {
    use polyflake_lease::sno::Generator as Leased;
    let (kind, partition) = (arguments.metabyte.unwrap_or(0), arguments.partition);
    if let Some(leased) = leased(arguments, partition.is_some(), Leased::new, Leased::from_env)? {
        return Ok(Box::new(move || Ok(leased.generate(kind)?.to_string())));
    }
    let Some(partition) = partition else {
        return Ok(Box::new(move || Ok(sno::generate(kind)?.to_string())));
    };
    wait_for_tick_end(Duration::from_millis(4));
    let given = sno::Generator::builder().partition(partition).build()?;
    Ok(Box::new(move || Ok(given.generate(kind)?.to_string())))
}

fn hotguid_maker(arguments: &Arguments) -> Result<IdGenerator, Failure> {
    use polyflake_lease::hotguid::Generator as Leased;
    let shard = arguments.shard_key.unwrap_or(0);
    if let Some(leased) = leased(arguments, false, Leased::new, Leased::from_env)? {
        return Ok(Box::new(move || Ok(leased.generate(shard)?.to_string())));
    }
    Ok(Box::new(move || Ok(hotguid::generate(shard)?.to_string())))
}

fn uuid7_maker(arguments: &Arguments) -> Result<IdGenerator, Failure> {
    use polyflake_lease::uuid7::Generator as Leased;
    let has_worker_id = arguments.worker_id.is_some();
    if let Some(leased) = leased(arguments, has_worker_id, Leased::new, Leased::from_env)? {
        return Ok(Box::new(move || Ok(leased.generate()?.to_string())));
    }
    if let Some(time) = arguments.at {
        return Ok(Box::new(move || Ok(uuid7::generate_at(time)?.to_string())));
    }
    let mut builder = uuid7::Generator::builder();
    if let Some(worker_id) = arguments.worker_id {
        wait_for_tick_end(Duration::from_millis(1));
        builder = builder.worker_id(worker_id);
    }
    let ids = builder.build()?;
    Ok(Box::new(move || Ok(ids.generate()?.to_string())))
}

fn randflake_maker(arguments: &Arguments) -> Result<IdGenerator, Failure> {
    let path = arguments.secret_file.as_deref();
    let path = path.unwrap_or_else(|| exit_with_usage_error("randflake needs --secret-file FILE"));
    let secret = read_secret(path)?;
    if let Some((url, namespace)) = lease_options(arguments)? {
        let leased = polyflake_lease::randflake::Generator::new(&url, namespace, secret)?;
        return Ok(Box::new(move || Ok(leased.generate()?.to_string())));
    }
    let node = arguments.node;
    let node =
        node.ok_or_else(|| Failure::new("missing_field", "expected --node or --namespace"))?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let now = i64::try_from(now).unwrap_or(i64::MAX);
    let last = randflake::LAST_SECOND + 1;
    let grant = Grant::new(node, now, now.saturating_add(FOREVER_SECS).min(last))?;
    // An earlier run may have generated IDs in the current second.
    let given = randflake::Generator::builder(grant, secret).resume_after(now).build()?;
    Ok(Box::new(move || Ok(given.generate()?.to_string())))
}

fn layout_maker(arguments: &Arguments) -> Result<IdGenerator, Failure> {
    let name = &*arguments.format;
    let layout = load(name).map_err(|failure| unknown_name_failure(name, failure))?;
    if let Some((url, namespace)) = lease_options(arguments)? {
        let fields: Vec<_> = layout.bindable_names().collect();
        let leased = polyflake_lease::layout::Generator::new(&url, namespace, &layout, &fields)?;
        return Ok(Box::new(move || Ok(leased.generate()?.to_string())));
    }
    let known: Vec<_> = layout.bindable_names().collect();
    if let Some((other, _)) =
        arguments.bind.iter().find(|(field, _)| !known.contains(&field.as_str()))
    {
        let fields = if known.is_empty() { "no fields".into() } else { known.join(", ") };
        exit_with_usage_error(&format!(
            "{name} has no field `{other}` for --bind: it has {fields}"
        ));
    }
    let missing = |field: &&str| arguments.bind.iter().all(|(name, _)| name != field);
    let missing: Vec<_> = layout.bindable_names().filter(missing).collect();
    if !missing.is_empty() {
        let options: Vec<_> = missing.iter().map(|name| format!("--bind {name}=VALUE")).collect();
        exit_with_usage_error(&format!("{name} needs {}", options.join(" ")));
    }
    wait_for_tick_end(tick(&layout));
    let mut builder = layout::Generator::builder(layout);
    for (name, value) in &arguments.bind {
        builder = builder.bind(name.clone(), value.clone());
    }
    let given = builder.build()?;
    Ok(Box::new(move || Ok(given.generate()?.to_string())))
}

/// Returns the error for a name that is neither a file nor a known format.
fn unknown_name_failure(name: &str, failure: Failure) -> Failure {
    let path = Path::new(name);
    if path.exists() {
        return failure;
    }
    if path.extension().is_some() || path.components().count() > 1 {
        return Failure::new("io_failed", format!("no such file: {name}"));
    }
    let names = FORMATS.map(|(name, _)| name);
    let known = || names.into_iter().chain(layout::PRESETS.iter().copied());
    let near =
        known().max_by(|one, other| similarity(name, one).total_cmp(&similarity(name, other)));
    let near = near.filter(|near| similarity(name, near) > 0.7);
    let known = known().collect::<Vec<_>>().join(", ");
    let meant = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    Failure::new("unknown_format", format!("expected {known} or a file, found `{name}`{meant}"))
}

/// Returns the similarity of two names, from 0 to 1.
fn similarity(one: &str, other: &str) -> f64 {
    strsim::normalized_damerau_levenshtein(one, other)
}

/// Returns the length of a layout's tick.
fn tick(layout: &Layout) -> Duration {
    let figures = layout.describe();
    let time = figures.fields().iter().find(|field| field.kind == "timestamp");
    let span = figures.first_ms.zip(figures.last_ms).map(|(first, last)| last.abs_diff(first));
    let ticks = time.map(|field| 1_u64.checked_shl(field.bits).unwrap_or(u64::MAX));
    Duration::from_millis(span.zip(ticks).map_or(0, |(span, ticks)| span.div_ceil(ticks)))
}

/// Waits for the end of the current tick, because an earlier run with the same worker ID may have used it.
fn wait_for_tick_end(tick: Duration) {
    sleep(tick + Duration::from_millis(1));
}

/// Reads a secret from a file, which contains either 16 bytes, or 32 hexadecimal digits with an optional line ending.
pub(crate) fn read_secret(path: &Path) -> Result<[u8; 16], Failure> {
    let bytes = failure::read_file(path)?;
    let text = bytes.trim_ascii();
    let digits = text.len() == 32 && text.iter().all(u8::is_ascii_hexdigit);
    let hex = || u128::from_str_radix(str::from_utf8(text).ok()?, 16).ok().map(u128::to_be_bytes);
    let secret = bytes.as_slice().try_into().ok().or_else(|| if digits { hex() } else { None });
    secret.ok_or_else(|| {
        let reason = format!("{}: expected 16 bytes or 32 hexadecimal digits", path.display());
        Failure::new("invalid_secret", reason)
    })
}

/// Parses `name=value`. The value is an integer if possible, and otherwise a string.
fn parse_bindable(text: &str) -> Result<(String, Value<'static>), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    let integer = Value::parse_integer(value).ok();
    Ok((name.to_owned(), integer.unwrap_or_else(|| value.to_owned().into())))
}
