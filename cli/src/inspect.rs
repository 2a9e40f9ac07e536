//! `polyflake inspect`: what IDs are.

use std::{
    io::{self, BufRead, IsTerminal, Write},
    path::PathBuf,
    time::SystemTime,
};

use polyflake::{layout::Layout, randflake::Codec};
use polyflake_inspect::{Context, Field, Reading, Role, inspect, likely};
use serde_json::json;

use crate::{failure::Failure, layout, make, paint};

/// Bits of a line on a card.
const LINE: u32 = 64;

/// Tells what IDs are: format, time, fields and odds.
///
/// The likeliest format is the one that explains the ID in the fewest bits: a time in the recent past, a small sequence, a machine with a
/// small number. 50 % is a guess between two formats that have the same bits.
#[derive(clap::Args)]
#[command(before_help = "\
Examples:
  polyflake inspect 01HV5S2K2Y3K7Q9C0S6W8X4E1F
  polyflake inspect --layout orders.json 4611686018427387904
  psql -Atc 'select id from posts' | polyflake inspect --json")]
pub(crate) struct Arguments {
    /// Texts, integers, UUIDs, or bytes as 0x and hexadecimal digits; the lines of standard input if there are none.
    #[arg(value_name = "ID", allow_negative_numbers = true)]
    ids: Vec<String>,
    /// One JSON object a line.
    #[arg(long)]
    json: bool,
    /// Readings of less than 0.1 %, too.
    #[arg(long)]
    all: bool,
    /// A layout of your own as JSON; may be repeated.
    #[arg(long, value_name = "FILE")]
    layout: Vec<PathBuf>,
    /// Randflake's secret: a file of 16 bytes, or of 32 hexadecimal digits.
    #[arg(long, value_name = "FILE")]
    secret_file: Option<PathBuf>,
    /// The present, as RFC 3339 writes it: a time that is to come is unlikely.
    #[arg(long, value_name = "TIME")]
    now: Option<jiff::Timestamp>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let layouts = arguments.layout.iter().map(|path| own_layout(path));
    let layouts = layouts.collect::<Result<Vec<(String, Layout)>, Failure>>()?;
    let layouts: Vec<_> = layouts.iter().map(|(name, layout)| (name.as_str(), layout)).collect();
    let codec = arguments.secret_file.as_deref().map(make::secret).transpose()?.map(Codec::new);
    let now = arguments.now.map_or_else(|| jiff::Timestamp::try_from(SystemTime::now()), Ok);
    let now = now.map_err(|error| Failure::new("clock_failed", error.to_string()))?;
    let context =
        Context { now_ms: now.as_millisecond(), secret: codec.as_ref(), layouts: &layouts };
    if !arguments.ids.is_empty() {
        return all(arguments.ids.iter().map(|id| Ok(id.clone())), arguments, &context);
    }
    if io::stdin().is_terminal() {
        anstream::eprintln!("an ID a line; Ctrl-D ends");
    }
    all(io::stdin().lock().lines(), arguments, &context)
}

/// Tells of each ID; a failure at the end if one of them was none that is known.
fn all(
    ids: impl Iterator<Item = io::Result<String>>,
    arguments: &Arguments,
    context: &Context<'_>,
) -> Result<(), Failure> {
    let (mut count, mut unknown) = (0_u64, 0_u64);
    let mut out = anstream::stdout().lock();
    for id in ids {
        let id = id?;
        if id.trim().is_empty() {
            continue;
        }
        let all = inspect(&id, context);
        let likely: Vec<_> = likely(&all).collect();
        (count, unknown) = (count + 1, unknown + u64::from(likely.is_empty()));
        let readings = if arguments.all { all.iter().collect() } else { likely };
        if arguments.json {
            let readings: Vec<_> = readings.iter().map(|reading| reading.to_json()).collect();
            writeln!(out, "{}", json!({ "id": id, "readings": readings }))?;
        } else {
            card(&mut out, &id, &readings)?;
        }
    }
    if unknown == 0 {
        return Ok(());
    }
    Err(Failure::new("unknown_format", format!("{unknown} of {count} IDs are of no known format")))
}

fn own_layout(path: &std::path::Path) -> Result<(String, Layout), Failure> {
    let layout = layout::from_file(path)?;
    if layout.bits() > polyflake_inspect::MOST_BITS {
        let most = polyflake_inspect::MOST_BITS;
        let reason = format!("{}: expected a layout of at most {most} bits", path.display());
        return Err(Failure::new("invalid_layout", reason));
    }
    let name =
        path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    Ok((name, layout))
}

fn card(out: &mut impl Write, id: &str, readings: &[&Reading]) -> io::Result<()> {
    let title = paint::TITLE;
    let Some((first, others)) = readings.split_first() else {
        return writeln!(out, "{title}{id}{title:#}\n  of no known format\n");
    };
    let (name, odds) = (&first.title, percent(first.odds));
    writeln!(out, "{title}{id}{title:#}\n  {title}{name}{title:#}, {odds}: {}\n", first.reason)?;
    if let Some(time) = first.time() {
        row(out, Role::Time, "time", &time)?;
    }
    for field in first.fields.iter().filter(|field| is_shown(field)) {
        row(out, field.role, &field.name, &first.value(field))?;
    }
    bits(out, first)?;
    for other in others {
        let time = other.time().unwrap_or_else(|| other.reason.clone());
        writeln!(out, "  or {}, {}: {time}", other.title, percent(other.odds))?;
    }
    if let Some(note) = &first.note {
        writeln!(out, "  {note}")?;
    }
    writeln!(out)
}

/// A value under its name, and what it is for.
fn row(out: &mut impl Write, role: Role, name: &str, value: &str) -> io::Result<()> {
    let (style, dim) = (paint::style(role), paint::DIM);
    write!(out, "  {style}{name:16}{style:#}{value}")?;
    match role.as_str() {
        word if word == name => writeln!(out),
        word => writeln!(out, "  {dim}{word}{dim:#}"),
    }
}

/// The time is shown as one, and what is in every ID is not shown.
fn is_shown(field: &Field) -> bool {
    !matches!(field.role, Role::Fixed | Role::Time)
}

/// The bits, field by field.
fn bits(out: &mut impl Write, reading: &Reading) -> io::Result<()> {
    for field in &reading.fields {
        let style = paint::style(field.role);
        for at in field.from..field.from + field.bits {
            let before = match at {
                _ if at % LINE == 0 => "\n  ",
                _ if at == field.from => " ",
                _ => "",
            };
            let bit = u8::from(reading.bit(at));
            write!(out, "{before}{style}{bit}{style:#}")?;
        }
    }
    writeln!(out)
}

fn percent(odds: f64) -> String {
    match odds * 100.0 {
        percent if percent >= 99.5 => "over 99 %".into(),
        percent if percent < 0.5 => "under 1 %".into(),
        percent => format!("{percent:.0} %"),
    }
}
