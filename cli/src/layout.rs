//! `polyflake layout`: custom layouts.

use std::{io::Write, path::Path, str::FromStr};

use polyflake::{
    Description,
    layout::{Layout, PRESETS, preset},
};
use serde_json::{Value, json};

use crate::{
    failure::{self, Failure},
    sql::{self, Dialect},
};

const SQL_EXAMPLES: &str = "\
Examples:
  polyflake layout sql orders.json | psql                     then: SELECT flake.orders_time(id) FROM orders;
  polyflake layout sql orders.json --dialect duckdb > orders.sql
  polyflake layout sql discord --dialect sqlite";

/// Checks and describes ID layouts, and writes SQL for databases that store IDs of these layouts.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Checks whether the JSON of a layout is valid.
    Check {
        /// A JSON file that contains a layout.
        #[arg(value_name = "FILE")]
        layout: String,
    },
    /// Shows the fields, the capacity, and the first and last time of a layout.
    Describe {
        /// The name of a preset, or a JSON file that contains a layout.
        #[arg(value_name = "PRESET|FILE")]
        layout: String,
        /// Prints JSON.
        #[arg(long)]
        json: bool,
    },
    /// Lists the presets for known services, one name per line.
    Presets,
    /// Writes SQL functions that extract the time and the fields from IDs in a database, and that compute the range of IDs
    /// for a time span.
    ///
    /// 64-bit integer IDs are stored in columns of type bigint, BIGINT or INTEGER. Byte IDs are stored in columns of type
    /// bytea or BLOB. Byte IDs of 16 bytes can also be stored in columns of type uuid.
    #[command(after_help = SQL_EXAMPLES)]
    Sql {
        /// The name of a preset, or a JSON file that contains a layout.
        #[arg(value_name = "PRESET|FILE")]
        layout: String,
        /// The database.
        #[arg(long, value_enum, default_value_t = Dialect::Postgresql)]
        dialect: Dialect,
        /// The prefix of the function names [default: the name of the preset or the file].
        #[arg(long, value_parser = sql::parse_name)]
        name: Option<String>,
    },
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    match &arguments.command {
        Command::Check { layout } => from_file(Path::new(layout)).map(|_| ()),
        Command::Presets => failure::print((PRESETS.join("\n") + "\n").as_bytes()),
        Command::Sql { layout, dialect, name } => print_sql(layout, *dialect, name.as_deref()),
        Command::Describe { layout, json } => describe(&load(layout)?, *json),
    }
}

/// Returns the preset called `name` or, if there is no such preset, the layout in the file `name`.
pub(crate) fn load(name: &str) -> Result<Layout, Failure> {
    preset(name, []).or_else(|_| from_file(Path::new(name)))
}

pub(crate) fn from_file(path: &Path) -> Result<Layout, Failure> {
    let bytes = failure::read_file(path)?;
    let named =
        |reason: String| Failure::new("invalid_layout", format!("{}: {reason}", path.display()));
    let text = std::str::from_utf8(&bytes).map_err(|error| named(error.to_string()))?;
    Layout::from_json(text)
        .map_err(|error| Failure::new(error.code(), format!("{}: {error}", path.display())))
}

fn print_sql(layout: &str, dialect: Dialect, name: Option<&str>) -> Result<(), Failure> {
    let name = match name {
        Some(name) => name.to_owned(),
        None => sql::parse_name(&sql::name_from_path(layout)).map_err(|reason| {
            Failure::new("invalid_layout", format!("{reason}: set another name with --name"))
        })?,
    };
    failure::print(sql::render(&load(layout)?, &name, dialect)?.as_bytes())
}

fn describe(layout: &Layout, as_json: bool) -> Result<(), Failure> {
    let (figures, signed_until_ms) = (&layout.describe(), signed_until_ms(layout));
    let mut out = anstream::stdout().lock();
    if as_json {
        return Ok(writeln!(out, "{}", to_json(figures, signed_until_ms))?);
    }
    writeln!(out, "{} bits", figures.bits)?;
    for field in figures.fields() {
        writeln!(
            out,
            "  {:4}  {:3}  {:10} {}",
            field.offset,
            field.bits,
            field.kind,
            field.name()
        )?;
    }
    if let Some(count) = figures.per_second {
        writeln!(out, "a second      {count} IDs of one generator")?;
    }
    if let Some(count) = figures.per_second_in_all {
        writeln!(out, "              {count} IDs of all generators together")?;
    }
    for (name, ms) in [("first moment", figures.first_ms), ("last moment", figures.last_ms)] {
        if let Some(ms) = ms {
            writeln!(out, "{name:13} {}", format_time(ms))?;
        }
    }
    let yes = |is| if is { "yes" } else { "no" };
    let sorts = match signed_until_ms {
        Some(ms) => format!("as unsigned integers; as signed integers until {}", format_time(ms)),
        None => yes(figures.sorts_by_time).to_owned(),
    };
    writeln!(out, "sorts by time {sorts}")?;
    Ok(writeln!(
        out,
        "below 2^53    {}, below 2^63 {}",
        yes(figures.below_2_53),
        yes(figures.below_2_63)
    )?)
}

/// Returns the time from which the IDs of an integer layout are negative as signed integers, which then sort before older
/// IDs. Returns `None` if all IDs sort in the same order as signed and as unsigned integers, or if they do not sort by time.
fn signed_until_ms(layout: &Layout) -> Option<i64> {
    let (figures, json) = (layout.describe(), Value::from_str(&layout.to_json()).ok()?);
    let field = json["fields"].as_array()?.iter().find(|field| field["bits"] != 0)?;
    let bits = field["bits"].as_u64().filter(|bits| (1..64).contains(bits))?;
    let has_sign =
        json["id"] == "integer" && field["kind"] == "timestamp" && field["invert"] != true;
    let (first, last) = figures.first_ms.zip(figures.last_ms).filter(|_| has_sign)?;
    let tick = i128::from(last - first) / ((1 << bits) - 1);
    i64::try_from(i128::from(first) + (tick << (bits - 1))).ok()
}

/// Formats a time as RFC 3339, or as milliseconds if it is outside the calendar's range.
fn format_time(ms: i64) -> String {
    let time = jiff::Timestamp::from_millisecond(ms);
    time.map_or_else(|_| format!("{ms} ms after 1970"), |time| format!("{time:.3}"))
}

fn to_json(figures: &Description, signed_until_ms: Option<i64>) -> Value {
    let field = |field: &polyflake::FieldDescription| json!({ "name": field.name(), "kind": field.kind, "offset": field.offset, "bits": field.bits });
    // Counts are written as decimal strings, because many JSON parsers would round large numbers.
    let count = |count: Option<u128>| count.map(|count| count.to_string());
    json!({
        "bits": figures.bits, "fields": figures.fields().iter().map(field).collect::<Vec<_>>(),
        "per_second": count(figures.per_second),
        "per_second_in_all": count(figures.per_second_in_all),
        "first_ms": figures.first_ms, "last_ms": figures.last_ms,
        "sorts_by_time": figures.sorts_by_time, "sorts_as_signed_until_ms": signed_until_ms,
        "below_2_53": figures.below_2_53, "below_2_63": figures.below_2_63,
    })
}
