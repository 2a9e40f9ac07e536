//! `polyflake inspect`: recognizes IDs.

use std::{
    ffi::OsString,
    io::{self, BufWriter, IsTerminal, Write},
    path::PathBuf,
    time::SystemTime,
};

use polyflake::{layout::Layout, randflake::Codec};
use polyflake_inspect::{
    Context, Field, MEMBERS, Reading, Role, answer_to_json, formats, inspect, likely, suggest,
};

use crate::{
    failure::{self, Failure},
    layout,
    lines::lines,
    make, paint,
};

/// The default columns of a table.
const COLUMNS: [&str; 5] = ["format", "confidence", "probability", "time", "title"];
/// The number of bits per line of a card.
const BITS_PER_LINE: u32 = 64;

/// Recognizes IDs: shows their most likely formats, with the time and the fields.
///
/// The most likely format is the one in which the ID looks least random, with a time in the recent past, a small sequence
/// number and a small worker ID. For readers, the program says how sure it is: certain (at least 95%),
/// likely (at least 50%) or possible. `--json` and `--tsv` contain the probability as a number.
#[derive(clap::Args)]
#[command(before_help = "\
Examples:
  polyflake inspect 01HV5S2K2Y3K7Q9C0S6W8X4E1F
  polyflake inspect --layout orders.json 4611686018427387904
  psql -Atc 'select id from posts' | polyflake inspect --json
  polyflake inspect --tsv --fields format,time < ids.txt")]
#[allow(clippy::struct_excessive_bools, reason = "each is a separate option")]
pub(crate) struct Arguments {
    /// IDs as strings, integers, UUIDs, hexadecimal digits after 0x or \x, base64 of a UUID, or addresses of pages. By
    /// default, reads them from standard input, one per line.
    #[arg(value_name = "ID", allow_negative_numbers = true, value_parser = parse_id)]
    ids: Vec<String>,
    /// Lists the names of the formats that the program recognizes.
    #[arg(long, exclusive = true)]
    formats: bool,
    /// Prints one JSON object per line.
    #[arg(long)]
    json: bool,
    /// Prints the most likely reading of each ID as a table with a header line and tab-separated columns.
    #[arg(long, conflicts_with_all = ["json", "all"])]
    tsv: bool,
    /// Shows only the most likely reading of each ID.
    #[arg(long, conflicts_with = "all")]
    best: bool,
    /// The members of the JSON objects or the columns of the table, separated by commas.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = MEMBERS)]
    fields: Vec<String>,
    /// Also shows readings with a probability below 0.1%.
    #[arg(long)]
    all: bool,
    /// A file with a custom layout as JSON. Can be repeated.
    #[arg(long, value_name = "FILE")]
    layout: Vec<PathBuf>,
    /// A file that contains the secret for Randflakes: 16 bytes or 32 hexadecimal digits.
    #[arg(long, value_name = "FILE")]
    secret_file: Option<PathBuf>,
    /// The epoch of snowflakes with a time of 42, a node of 10 and a sequence of 12 bits, in RFC 3339 or Unix milliseconds.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    epoch: Option<i64>,
    /// The current time in RFC 3339. Defaults to the system time. Readings with a time in the future are unlikely.
    #[arg(long, value_name = "TIME")]
    now: Option<jiff::Timestamp>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    if arguments.formats {
        let lines = formats().map(|(name, title)| format!("{name:16} {title}\n"));
        return failure::print(lines.collect::<String>().as_bytes());
    }
    let layouts = arguments.layout.iter().map(|path| load_layout(path));
    let layouts = layouts.collect::<Result<Vec<(String, Layout)>, Failure>>()?;
    let layouts: Vec<_> = layouts.iter().map(|(name, layout)| (name.as_str(), layout)).collect();
    let codec =
        arguments.secret_file.as_deref().map(make::read_secret).transpose()?.map(Codec::new);
    let now = arguments.now.map_or_else(|| jiff::Timestamp::try_from(SystemTime::now()), Ok);
    let now = now.map_err(|error| Failure::new("clock_failed", error.to_string()))?;
    let context = Context {
        now_ms: now.as_millisecond(),
        secret: codec.as_ref(),
        epoch_ms: arguments.epoch,
        layouts: &layouts,
    };
    if !arguments.fields.is_empty() && !arguments.json && !arguments.tsv {
        make::exit_with_usage_error("--fields is for --json and --tsv");
    }
    if !arguments.ids.is_empty() {
        return inspect_all(arguments.ids.iter().map(|id| Ok(id.clone())), arguments, &context);
    }
    if io::stdin().is_terminal() {
        anstream::eprintln!("enter IDs, one per line; Ctrl-D ends the input");
    }
    inspect_all(lines(io::stdin().lock())?, arguments, &context)
}

/// Precedes an ID that begins with a hyphen, so that it is not parsed as options. No ID contains this character.
const HYPHEN_MARK: char = '\u{1}';

/// Marks the arguments of `inspect` that begin with a single hyphen and are too long for an option, such as the IDs of
/// Firebase. The command has no options of one letter except `-h`.
pub(crate) fn mark_hyphens(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<_> = arguments.collect();
    let is_inspect = arguments.get(1).is_some_and(|command| command == "inspect");
    let is_id = |argument: &OsString| {
        let text = argument.to_str().unwrap_or_default();
        text.len() > 2 && text.starts_with('-') && !text.starts_with("--")
    };
    for argument in arguments.iter_mut().filter(|argument| is_inspect && is_id(argument)) {
        let mut marked = OsString::from(HYPHEN_MARK.to_string());
        marked.push(&*argument);
        *argument = marked;
    }
    arguments
}

/// Rejects an empty argument, which usually comes from a shell variable that is not set.
fn parse_id(text: &str) -> Result<String, &'static str> {
    match text.trim_start_matches(HYPHEN_MARK) {
        id if id.trim().is_empty() => Err("expected an ID, found an empty string"),
        id => Ok(id.to_owned()),
    }
}

/// Parses a time in RFC 3339 or in Unix milliseconds. Returns the millisecond that contains the time.
pub(crate) fn parse_time(text: &str) -> Result<i64, String> {
    let milliseconds = |time: jiff::Timestamp| time.as_nanosecond().div_euclid(1_000_000);
    let time = text.parse().or_else(|_| text.parse().map(milliseconds)).map_err(|error| {
        format!("expected a time in RFC 3339 or Unix milliseconds, found `{text}`: {error}")
    })?;
    i64::try_from(time).map_err(|error| error.to_string())
}

/// The output format of readings.
enum Form {
    Cards,
    Json(Vec<&'static str>),
    Table(Vec<&'static str>),
}

impl Form {
    fn from_arguments(arguments: &Arguments) -> Self {
        let place = |field: &String| MEMBERS.into_iter().find(|member| member == field);
        let chosen: Vec<_> = arguments.fields.iter().filter_map(place).collect();
        match (arguments.json, arguments.tsv, chosen.is_empty()) {
            (true, _, true) => Self::Json(MEMBERS.to_vec()),
            (true, _, false) => Self::Json(chosen),
            (_, true, true) => Self::Table(COLUMNS.to_vec()),
            (_, true, false) => Self::Table(chosen),
            _ => Self::Cards,
        }
    }
}

/// Describes each ID. Fails at the end if any ID has an unknown format.
fn inspect_all(
    ids: impl Iterator<Item = io::Result<String>>,
    arguments: &Arguments,
    context: &Context<'_>,
) -> Result<(), Failure> {
    let form = Form::from_arguments(arguments);
    let (mut count, mut unknown, mut first_unknown) = (0_u64, 0_u64, None);
    let mut out = output(&form);
    if let Form::Table(columns) = &form {
        writeln!(out, "id\t{}", columns.join("\t"))?;
    }
    for (id, line) in ids.zip(1_u64..) {
        let id = id?;
        if id.trim().is_empty() {
            continue;
        }
        let readings = inspect(&id, context);
        let mut shown: Vec<&Reading> = likely(&readings).collect();
        let suggestion = suggest(&id, &readings, context);
        count += 1;
        if shown.is_empty() {
            unknown += 1;
            first_unknown.get_or_insert(line);
        }
        if arguments.all {
            shown = readings.iter().collect();
        } else if arguments.best || arguments.tsv {
            shown.truncate(1);
        }
        match &form {
            Form::Cards => write_card(&mut out, &id, &shown, suggestion.as_deref())?,
            Form::Json(members) => {
                write_json(&mut out, &id, &shown, members, suggestion.as_deref())?;
            }
            Form::Table(columns) => write_table_row(&mut out, &id, shown.first(), columns)?,
        }
    }
    out.flush()?;
    let Some(line) = first_unknown else { return Ok(()) };
    let are = if unknown == 1 { "is" } else { "are" };
    let from_lines = arguments.ids.is_empty();
    let place = if from_lines { format!(", the first in line {line}") } else { String::new() };
    let reason = format!("{unknown} of {count} IDs {are} of no known format{place}");
    Err(Failure::new("unknown_format", reason))
}

/// Returns standard output, with colors for cards. For JSON and tables, the output is buffered unless it goes to a
/// terminal.
fn output(form: &Form) -> Box<dyn Write> {
    match form {
        Form::Cards => Box::new(anstream::stdout().lock()),
        _ if io::stdout().is_terminal() => Box::new(io::stdout().lock()),
        _ => Box::new(BufWriter::with_capacity(1 << 16, io::stdout().lock())),
    }
}

fn write_json(
    out: &mut impl Write,
    id: &str,
    readings: &[&Reading],
    members: &[&str],
    suggestion: Option<&str>,
) -> io::Result<()> {
    writeln!(out, "{}", answer_to_json(id, readings, members, suggestion))
}

/// Writes a row of the table. An ID without a known format has empty cells.
fn write_table_row(
    out: &mut impl Write,
    id: &str,
    reading: Option<&&Reading>,
    columns: &[&str],
) -> io::Result<()> {
    write!(out, "{}", escape_cell(id))?;
    for column in columns {
        let value = reading.map_or_else(String::new, |reading| reading.member(column));
        write!(out, "\t{}", escape_cell(&value))?;
    }
    writeln!(out)
}

/// Replaces the tabs and line breaks in a string with spaces, because these characters separate cells and rows.
fn escape_cell(text: &str) -> String {
    text.trim().replace(['\t', '\r', '\n'], " ")
}

fn load_layout(path: &std::path::Path) -> Result<(String, Layout), Failure> {
    let layout = layout::from_file(path)?;
    if layout.bits() > polyflake_inspect::MAX_BITS {
        let most = polyflake_inspect::MAX_BITS;
        let reason = format!("{}: expected a layout of at most {most} bits", path.display());
        return Err(Failure::new("invalid_layout", reason));
    }
    let name =
        path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    Ok((name, layout))
}

fn write_card(
    out: &mut impl Write,
    id: &str,
    readings: &[&Reading],
    suggestion: Option<&str>,
) -> io::Result<()> {
    let title = paint::TITLE;
    let Some((first, others)) = readings.split_first() else {
        let suggestion = suggestion.map(|text| format!("; {text}")).unwrap_or_default();
        return writeln!(out, "{title}{id}{title:#}\n  of no known format{suggestion}\n");
    };
    let (name, confidence) = (&first.title, first.confidence().as_str());
    writeln!(
        out,
        "{title}{id}{title:#}\n  {title}{name}{title:#}, {confidence}: {}\n",
        first.reason
    )?;
    if let Some(time) = first.time() {
        write_field(out, Role::Time, "time", &time)?;
    }
    for field in first.fields.iter().filter(|field| is_shown(field)) {
        write_field(out, field.role, &field.name, &first.value(field))?;
    }
    write_bits(out, first)?;
    for other in others {
        let time = other.time().unwrap_or_else(|| other.reason.clone());
        writeln!(out, "  or {}, {}: {time}", other.title, other.confidence().as_str())?;
    }
    for line in [first.note.as_deref(), suggestion].into_iter().flatten() {
        writeln!(out, "  {line}")?;
    }
    writeln!(out)
}

/// Writes the name, the value and the meaning of a field.
fn write_field(out: &mut impl Write, role: Role, name: &str, value: &str) -> io::Result<()> {
    let (style, dim) = (paint::style(role), paint::DIM);
    write!(out, "  {style}{name:16}{style:#}{value}")?;
    match role.title() {
        _ if name == role.as_str() => writeln!(out),
        title => writeln!(out, "  {dim}{title}{dim:#}"),
    }
}

/// Returns whether a card has a row for a field. The time has its own line, and fixed fields are not shown.
fn is_shown(field: &Field) -> bool {
    !matches!(field.role, Role::Fixed | Role::Time)
}

/// Writes the bits, colored by field.
fn write_bits(out: &mut impl Write, reading: &Reading) -> io::Result<()> {
    for field in &reading.fields {
        let style = paint::style(field.role);
        for at in field.offset..field.offset + field.bits {
            let before = match at {
                _ if at % BITS_PER_LINE == 0 => "\n  ",
                _ if at == field.offset => " ",
                _ => "",
            };
            let bit = u8::from(reading.bit(at));
            write!(out, "{before}{style}{bit}{style:#}")?;
        }
    }
    writeln!(out)
}
