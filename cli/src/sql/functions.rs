//! Definitions of functions that PostgreSQL and `DuckDB` have in common, and those of a layout.

use super::{
    Table,
    bounds::{BitStrings, BoundFunction},
    fields::{Field, Source, Time},
    formats::SnoForm,
};

/// A function that reads an ID or returns bounds.
pub(super) struct Function {
    pub(super) name: String,
    pub(super) arguments: Vec<Argument>,
    pub(super) returns: &'static str,
    pub(super) body: Body,
    pub(super) comment: String,
}

/// The name and the type of an argument.
pub(super) type Argument = (String, &'static str);

/// The result of a function.
pub(super) enum Body {
    Value(String),
    /// A row of the lowest and the highest ID: the names of the functions that return them. The first argument of each is the
    /// function's own first or second argument.
    Row([(String, usize); 2]),
}

impl Function {
    pub(super) fn value(
        name: String,
        arguments: &[(&str, &'static str)],
        returns: &'static str,
        body: String,
        comment: String,
    ) -> Self {
        let arguments = arguments.iter().map(|(name, kind)| ((*name).to_owned(), *kind)).collect();
        Self { name, arguments, returns, body: Body::Value(body), comment }
    }
}

/// Returns the expressions for both columns of a row. `arguments` are expressions for the function's arguments.
pub(super) fn row(functions: &[(String, usize); 2], arguments: &[String]) -> [String; 2] {
    functions.each_ref().map(|(name, time)| {
        let passed = [&arguments[*time..=*time], &arguments[2..]].concat().join(", ");
        format!("flake.{name}({passed})")
    })
}

/// Returns the functions for the bounds of a time span: for the lowest ID, for the highest ID, and for both as a row.
/// `others` are the arguments after the times.
pub(super) fn ranges(
    name: &str,
    returns: &'static str,
    ends: [BoundFunction; 2],
    others: &[Argument],
    description: &str,
) -> [Function; 3] {
    let of_row = ends
        .each_ref()
        .map(|end| (format!("{name}_{}", end.suffix), usize::from(end.argument == "before")));
    let with_times = |times: &[&str]| {
        let times = times.iter().map(|time| ((*time).to_owned(), "timestamptz"));
        times.chain(others.iter().cloned()).collect()
    };
    let [lowest, highest] = ends.map(|end| Function {
        name: format!("{name}_{}", end.suffix),
        arguments: with_times(&[end.argument]),
        returns,
        body: Body::Value(end.body),
        comment: end.comment,
    });
    let range = Function {
        name: format!("{name}_range"),
        arguments: with_times(&["start", "until"]),
        returns,
        body: Body::Row(of_row),
        comment: format!(
            "The lowest and the highest {description} of a span that includes its start and excludes its end, for BETWEEN. \
             A span that is empty or reversed has no rows. A time outside the format is an error."
        ),
    };
    [lowest, highest, range]
}

/// What the functions differ in between PostgreSQL and `DuckDB`.
pub(super) struct Syntax {
    /// An integer ID as a signed integer of 64 bits.
    pub(super) word: &'static str,
    /// Reads bits of a byte ID as an integer, given the first one and their number.
    pub(super) read_bits: fn(u32, u32) -> String,
    pub(super) bit_strings: &'static BitStrings,
    /// The type of IDs that are bytes.
    pub(super) binary: &'static str,
    /// The length of an ID in bytes.
    pub(super) length: &'static str,
    /// The operator for integer division.
    pub(super) divide: &'static str,
    /// Converts a value to 64 bits.
    pub(super) wide: fn(&str) -> String,
    pub(super) to_hex: fn(&str) -> String,
    /// Converts a string of hexadecimal digits to bytes.
    pub(super) from_hex: fn(&str) -> String,
    /// Converts ticks since 1970 to a time, given the number of ticks per second.
    pub(super) time: fn(&str, u32) -> String,
    /// The bytes of a layout's field, and the conversion of an error to bytes.
    pub(super) field_bytes: fn(&Field) -> String,
    pub(super) error_as_bytes: &'static str,
    /// Converts the bytes of a field to text.
    pub(super) text: fn(&str) -> String,
    /// Converts the value of a known service's field to the type of `snowflake_field`.
    pub(super) service_field: fn(String) -> String,
    /// The part of a name that distinguishes the functions that read a layout's IDs from UUIDs.
    pub(super) uuid_prefix: &'static str,
    /// The function that converts a UUID to bytes.
    pub(super) from_uuid: &'static str,
    pub(super) to_uuid: fn(&str) -> String,
    /// Reads bytes of a UUID as an integer, given the first one and their number.
    pub(super) uuid_bytes: fn(u32, u32) -> String,
    /// Checks the version of a UUID.
    pub(super) has_version: fn(u32) -> String,
    pub(super) sno_forms: fn() -> [SnoForm; 3],
}

/// Returns the functions of a layout.
pub(super) fn layout_functions(table: &Table, syntax: &Syntax) -> Vec<Function> {
    let (name, binary) = (&table.name, syntax.binary);
    let id = table.source(syntax.word, syntax.read_bits);
    let form = table.length.map_or("bigint", |_| binary);
    let mut made = Vec::new();
    let mut read = |suffix: &str, more: &[(&str, &'static str)], returns, body, comment: String| {
        let own = format!("{name}_{suffix}");
        let passed = if more.is_empty() { "" } else { ", field" };
        let call = format!("flake.{own}({}(id){passed})", syntax.from_uuid);
        let of_uuids = format!("{name}_{}{suffix}", syntax.uuid_prefix);
        let functions =
            [(own, form, table.null_unless_length(syntax.length, body)), (of_uuids, "uuid", call)];
        let count = if table.has_uuids() { 2 } else { 1 };
        made.extend(functions.into_iter().take(count).map(|(name, form, body)| {
            Function::value(name, &[&[("id", form)], more].concat(), returns, body, comment.clone())
        }));
    };
    if let Some(time) = &table.time {
        read(
            "ms",
            &[],
            "bigint",
            time.ms(id, syntax.divide),
            "The Unix milliseconds of an ID.".into(),
        );
        read(
            "time",
            &[],
            "timestamptz",
            time_of(table, time, id, syntax),
            "The time of an ID.".into(),
        );
    }
    let field = [("field", "text")];
    if table.has_integer_fields() {
        read("field", &field, "bigint", table.field(id), table.integer_field_comment());
    }
    if table.has_non_integer_fields() {
        let bytes = table.case_by_field_name(syntax.error_as_bytes, syntax.field_bytes);
        let text = (syntax.text)(&format!("flake.{name}_bytes(id, 'name')"));
        read("bytes", &field, binary, bytes, table.bytes_field_comment(&text));
    }
    let Some((time, bounds)) = table.time_and_bounds() else { return made };
    let others = bounds.arguments();
    let ends = bounds.bound_functions(time, table.length.map(|_| syntax.bit_strings));
    let passed: Vec<_> = others.iter().map(|(name, _)| &**name).collect();
    let of_uuids = ends.each_ref().map(|end| {
        let call = [&[end.argument], &passed[..]].concat().join(", ");
        let body = (syntax.to_uuid)(&format!("flake.{name}_{}({call})", end.suffix));
        BoundFunction { body, ..end.clone() }
    });
    made.extend(ranges(name, form, ends, &others, "ID"));
    if table.has_uuids() {
        made.extend(ranges(&format!("{name}_uuid"), "uuid", of_uuids, &others, "ID"));
    }
    made
}

/// Returns an expression for the time of an ID, calculated from its milliseconds or, if its ticks are not whole
/// milliseconds, from its microseconds.
fn time_of(table: &Table, time: &Time, id: Source, syntax: &Syntax) -> String {
    let value = if time.is_whole_ms() {
        (syntax.time)(&format!("flake.{}_ms(id)", table.name), 1000)
    } else {
        (syntax.time)(&time.micros(id), 1_000_000)
    };
    time.null_outside_calendar(id, value)
}
