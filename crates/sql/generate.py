"""Generates the SQL files in this folder, which read IDs in PostgreSQL, DuckDB and SQLite.

The expressions for the IDs of known services, and the helper functions that all other functions call, come from
`polyflake layout sql`. Therefore, the same SQL reads the IDs of known services and of custom layouts, and a new preset
appears in each file. Run this program after `cargo build -p polyflake-cli`. `tests/integrations/test_sql.py` fails if a
file differs from this program's output.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent
PROGRAM = os.environ.get("POLYFLAKE_PROGRAM", str(FOLDER.parents[1] / "target/debug/polyflake"))
ALPHABET = "23456789abcdefghijklmnopqrstuvwx"
#: Aliases of presets. The core accepts them but does not list them.
ALIASES = {"twitter": ["x"]}


class Ticks(NamedTuple):
    """A format's ticks: the length of a tick, the number of ticks from 1970 to the epoch, and the number of ticks that
    the format can represent.
    """

    ms: int
    epoch: int
    count: int

    def first_from(self, time: str) -> str:
        """Returns an expression for the first tick at or after a time, for PostgreSQL and DuckDB."""
        return f"flake.tick({time}, {self.ms * 1000}, {self.epoch}, 0, {self.count - 1})"

    def last_before(self, time: str) -> str:
        """Returns an expression for the last tick before a time, for PostgreSQL and DuckDB."""
        return f"(flake.tick({time}, {self.ms * 1000}, {self.epoch}, 1, {self.count}) - 1)"


SNO, HOTGUID, UUID7 = Ticks(4, 1_262_304_000_000 // 4, 2**39), Ticks(1000, 0, 2**32), Ticks(1, 0, 2**48)


def run_program(*arguments: str) -> str:
    """Returns the output of `polyflake layout`."""
    return subprocess.run([PROGRAM, "layout", *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout


class Preset(NamedTuple):
    """The layout of a known service: the bodies of its functions, and the expressions of its fields."""

    names: list[str]
    bodies: dict[str, str]
    fields: dict[str, str]


def preset(name: str, dialect: str) -> Preset:
    begin_patterns = {
        "postgresql": r"FUNCTION flake.{}_(\w+)\(.*\nLANGUAGE .*\nRETURN",
        "duckdb": r"MACRO flake.{}_(\w+)\(.* AS\n   ",
    }
    script = run_program("sql", name, "--dialect", dialect)
    bodies = dict(re.findall(begin_patterns[dialect].format(name) + r" ((?s:.*?));\n", script))
    fields = dict(re.findall(r"WHEN '(.*)' THEN (.*)", bodies["field"]))
    return Preset([name, *ALIASES.get(name, [])], bodies, fields)


PRESETS = {
    dialect: [preset(name, dialect) for name in run_program("presets").split()] for dialect in ("postgresql", "duckdb")
}
PRESET_NAMES = ", ".join(name for preset in PRESETS["postgresql"] for name in preset.names)
EXPECTED_PRESET_MESSAGE = f"invalid_layout: expected one of {PRESET_NAMES}, found "


def helpers(dialect: str) -> str:
    """Returns the helper functions that a layout's functions call. The generated SQL files also contain these helper
    functions.
    """
    return (FOLDER.parents[1] / f"cli/src/sql/{dialect}.sql").read_text(encoding="utf-8") + "\n"


def mask(bits: int) -> int:
    return 2**bits - 1


def terms(values: list[tuple[str, int]]) -> str:
    """Returns an expression that combines shifted values. A long expression spans several lines."""
    shifted_values = [f"({value} << {shift})" if shift else value for value, shift in values]
    return (" | " if sum(map(len, shifted_values)) < 90 else "\n        | ").join(shifted_values)


def cases(subject: str, options: list[tuple[list[str], str]], otherwise: str) -> str:
    """Returns a CASE over strings, as the body of a function or a macro."""
    lines = [f"    WHEN '{name}' THEN {value}" for names, value in options for name in names]
    return "\n    ".join([f"CASE {subject}", *lines, f"    ELSE {otherwise}", "END"])


def preset_case(function: str, dialect: str) -> str:
    """Returns a CASE that selects the body of a function by the name of the preset."""
    options = [(preset.names, preset.bodies[function]) for preset in PRESETS[dialect]]
    return cases("lower(preset)", options, "flake.unknown_preset(preset)")


def field_case(dialect: str, cast: str = "{}") -> str:
    """Returns an expression for a field, given the names of the preset and of the field."""
    options = [
        ([f"{known}.{name}" for known in preset.names], cast.format(value))
        for preset in PRESETS[dialect]
        for name, value in preset.fields.items()
    ]
    return cases("lower(preset) || '.' || field", options, "flake.unknown_field(preset, field)")


# PostgreSQL and DuckDB have functions with the same names, generated from the same table of formats.


class Span(NamedTuple):
    """The SQL functions that return the bounds of a time span. `name` is the prefix of their names, and `form` is the
    type of the column.
    """

    name: str
    form: str
    #: The expression for the lowest ID at or after the time `moment`.
    lowest: str
    #: The expression for the highest ID before the time `before`.
    highest: str
    what: str
    #: Additional parameters, with their types.
    extra: str = ""


def ends(ticks: Ticks, shift: int) -> tuple[str, str]:
    """Returns expressions for the lowest and the highest word of a time span. A word consists of a tick and the `shift`
    bits below the tick.
    """
    low, high = ticks.first_from("moment"), ticks.last_before("before")
    return (f"{low} << {shift}", f"({high} << {shift}) | {mask(shift)}") if shift else (low, high)


def spans(dialect: str, binary: str, to_hex: str, from_hex: str) -> list[Span]:
    """Returns all spans. The column type of bytes and the functions for hexadecimal digits differ between databases."""
    sno_ends = ends(SNO, 1)

    def digit_span(name: str, form: str, words: tuple[str, str], count: int, rests: tuple[str, str], what: str) -> Span:
        """Returns a span in which each bound consists of a word's hexadecimal digits, followed by the given remaining
        digits.
        """
        cast = from_hex if form == binary else "({})::uuid"
        bounds = [
            cast.format(f"lpad({to_hex.format(word)}, {count}, '0') || '{rest}'")
            for word, rest in zip(words, rests, strict=True)
        ]
        return Span(name, form, *bounds, what)

    texts = [f"flake.sno_string({word}) || '{rest * 8}'" for word, rest in zip(sno_ends, "2x", strict=True)]
    uuid8_suffixes = "0080008000000000000000", "ff8fffbffffc0000000000"
    uuid7_suffixes = "70008000000000000000", "7fffbfffffffffffffff"
    return [
        Span("sno", "text", *texts, "sno as a string"),
        digit_span(f"sno_{binary}", binary, sno_ends, 10, ("0" * 10, "f" * 10), "sno as 10 bytes"),
        digit_span("sno_uuid8", "uuid", sno_ends, 10, uuid8_suffixes, "sno as a UUID of version 8"),
        digit_span("hotguid", "uuid", ends(HOTGUID, 0), 8, ("0" * 24, "f" * 24), "Hot Guid of either form"),
        digit_span("uuid7", "uuid", ends(UUID7, 0), 12, uuid7_suffixes, "UUID of version 7"),
        Span(
            "snowflake",
            "bigint",
            preset_case("lowest", dialect),
            preset_case("highest", dialect),
            "snowflake of a known service that is not negative",
            "preset text",
        ),
    ]


OUTSIDE_COMMENT = "A time outside the format is an error."
LOWEST_COMMENT = (
    "The lowest {} of the time `moment` or later: `id >= lowest(a) AND id < lowest(b)` is the span from a until before "
    f"b. {OUTSIDE_COMMENT}"
)
HIGHEST_COMMENT = f"The highest {{}} of a time earlier than `before`. {OUTSIDE_COMMENT}"
#: Descriptions of the functions available in both databases.
FUNCTION_COMMENTS = {
    "hotguid_time": "The time of a Hot Guid of either form, to the second. Every UUID has one, since each can be a Hot "
    "Guid.",
    "hotguid_shard_key": "The shard key of a Hot Guid in the form of the original, 0 to 4294967295.",
    "hotguid_uuid8_shard_key": "The shard key of a Hot Guid as a UUID of version 8, 0 to 4294967295. NULL for another "
    "UUID.",
    "uuid7_time": "The time of a UUID of version 7, to the millisecond. NULL for another UUID.",
    "snowflake_ms": f"The Unix milliseconds of a snowflake of a known service: {PRESET_NAMES}. Another name is an "
    "error.",
    "snowflake_time": f"The time of a snowflake of a known service: {PRESET_NAMES}. Another name is an error.",
    "snowflake_field": "A field of a snowflake of a known service: "
    + "; ".join(f"{preset.names[0]}: {', '.join(preset.fields)}" for preset in PRESETS["postgresql"])
    + ". Another name is an error.",
}

# Expressions for the parts of a sno: from its characters `c(0)` to `c(15)` of 5 bits each, from its bytes `b(0)` to
# `b(9)`, or from the bytes of a version 8 UUID. `word` casts a value to 64 bits.


def text_parts(c: Any, word: Any) -> dict[str, str]:
    high, low = terms([(c(k), 20 - 5 * k) for k in range(5)]), terms([(c(k), 35 - 5 * k) for k in range(5, 8)])
    return {
        # The time is split into a 25-bit part and a 15-bit part, so that only one value needs a cast.
        "time": f"({word(f'({high})')} << 14) | (({low}) >> 1)",
        "metabyte": terms([(c(8), 3), (f"({c(9)} >> 2)", 0)]),
        "partition": terms([(f"({c(9)} & 3)", 14), (c(10), 9), (c(11), 4), (f"({c(12)} >> 1)", 0)]),
        "sequence": terms([(f"({c(12)} & 1)", 15), (c(13), 10), (c(14), 5), (c(15), 0)]),
    }


def byte_parts(b: Any, word: Any) -> dict[str, str]:
    return {
        "time": f"({terms([(word(b(k)), 32 - 8 * k) for k in range(5)])}) >> 1",
        "metabyte": b(5),
        "partition": terms([(b(6), 8), (b(7), 0)]),
        "sequence": terms([(b(8), 8), (b(9), 0)]),
    }


def uuid8_parts(b: Any, word: Any) -> dict[str, str]:
    return {
        **byte_parts(b, word),
        "partition": terms([(f"({b(6)} & 15)", 12), (b(7), 4), (f"(({b(8)} >> 2) & 15)", 0)]),
        "sequence": terms([(f"({b(8)} & 3)", 14), (b(9), 6), (f"({b(10)} >> 2)", 0)]),
    }


PARTS = {
    "metabyte": "The type tag of a sno, 0 to 255",
    "partition": "The worker ID of a sno, 0 to 65535",
    "sequence": "The sequence of a sno within its tick of 4 ms, 0 to 65535",
}


# PostgreSQL


def sql_function(name: str, arguments: str, returns: str, body: str, comment: str) -> str:
    """Returns a function that the planner can inline, because it is in SQL and has neither STRICT nor a SET clause."""
    types = ", ".join(argument.split()[1] for argument in arguments.split(", "))
    text = comment.replace("'", "''")
    return f"""\
CREATE OR REPLACE FUNCTION flake.{name}({arguments}) RETURNS {returns}
LANGUAGE sql IMMUTABLE PARALLEL SAFE
{body};
COMMENT ON FUNCTION flake.{name}({types}) IS '{text}';
"""


def scalar_function(name: str, arguments: str, returns: str, expression: str, comment: str) -> str:
    return sql_function(name, arguments, returns, f"RETURN {expression}", comment)


def bounds(span: Span) -> list[str]:
    """Returns functions for the lowest ID at or after a time, the highest ID before a time, and both as a row."""
    extra_parameter = f", {span.extra}" if span.extra else ""
    extra_argument = f", {span.extra.split()[0]}" if span.extra else ""
    bound_calls = f"flake.{span.name}_lowest(start{extra_argument}), flake.{span.name}_highest(until{extra_argument})"
    return [
        scalar_function(
            f"{span.name}_lowest",
            f"moment timestamptz{extra_parameter}",
            span.form,
            span.lowest,
            LOWEST_COMMENT.format(span.what),
        ),
        scalar_function(
            f"{span.name}_highest",
            f"before timestamptz{extra_parameter}",
            span.form,
            span.highest,
            HIGHEST_COMMENT.format(span.what),
        ),
        sql_function(
            f"{span.name}_range",
            f"start timestamptz, until timestamptz{extra_parameter}",
            f"TABLE (lowest {span.form}, highest {span.form})",
            f"BEGIN ATOMIC\n    SELECT {bound_calls};\nEND",
            f"The lowest and the highest {span.what} of a span that includes its start and excludes its end, for "
            f"BETWEEN. A span that is empty or reversed has no rows. {OUTSIDE_COMMENT}",
        ),
    ]


def postgresql() -> str:
    c = lambda k: f"flake.sno_character(id, {k + 1})"  # noqa: E731
    word = lambda value: f"{value}::bigint"  # noqa: E731
    id_byte = lambda k: f"get_byte(id, {k})"  # noqa: E731
    uuid_byte = lambda k: f"flake.byte(id, {k})"  # noqa: E731
    table = bytes(ALPHABET.find(chr(code)) % 256 for code in range(ord(ALPHABET[-1]) + 1))
    forms = {
        "text": (text_parts(c, word), "octet_length(id) = 16 AND id COLLATE \"C\" !~ '[^2-9a-x]'", "a string"),
        "bytea": (byte_parts(id_byte, word), "length(id) = 10", "10 bytes"),
        "uuid": (
            uuid8_parts(uuid_byte, word),
            f"{uuid_byte(6)} >> 4 = 8 AND {uuid_byte(8)} >> 6 = 2 AND {uuid_byte(10)} & 3 = 0\n"
            "        AND substr(uuid_send(id), 12) = '\\x0000000000'",
            "a UUID of version 8",
        ),
    }
    written = [
        scalar_function(
            "byte", "id uuid, place int", "int", "get_byte(uuid_send(id), place)", "A byte of a UUID, from place 0."
        ),
        scalar_function(
            "sno_character",
            "id text, place int",
            "int",
            # A table lookup is faster than searching the alphabet. Indexing a byte of a `name`, which contains the
            # first 63 bytes of a string, is faster than calling `substr`, which counts characters.
            f"get_byte('\\x{table.hex()}'::bytea, (id::name)[place - 1]::int)",
            "The five bits of a character of a sno, from place 1.",
        ),
    ]
    for form, (parts, check, what) in forms.items():
        written.append(
            scalar_function(
                "is_sno",
                f"id {form}",
                "boolean",
                check,
                f"Whether a value is a sno as {what}, for a CHECK constraint.",
            )
        )
        written.append(
            scalar_function(
                "sno_time",
                f"id {form}",
                "timestamptz",
                # A single division rounds once, so to_timestamp returns the exact microsecond.
                "CASE WHEN flake.is_sno(id) THEN\n"
                f"    to_timestamp((({parts['time']}) + {SNO.epoch})::float8 / {1000 // SNO.ms})\nEND",
                f"The time of a sno as {what}, to 4 ms. NULL for a value that is no sno.",
            )
        )
        for part, meaning in PARTS.items():
            written.append(
                scalar_function(
                    f"sno_{part}",
                    f"id {form}",
                    "int",
                    f"CASE WHEN flake.is_sno(id) THEN\n    {parts[part]}\nEND",
                    f"{meaning}. NULL for a value that is no sno.",
                )
            )
    is_version = lambda version: f"{uuid_byte(6)} >> 4 = {version} AND {uuid_byte(8)} >> 6 = 2"  # noqa: E731
    written += [
        scalar_function(
            "hotguid_time",
            "id uuid",
            "timestamptz",
            f"to_timestamp(({terms([(word(uuid_byte(k)), 24 - 8 * k) for k in range(4)])})::float8)",
            FUNCTION_COMMENTS["hotguid_time"],
        ),
        scalar_function(
            "hotguid_shard_key",
            "id uuid",
            "bigint",
            terms([(word(uuid_byte(k)), 8 * (k - 12)) for k in range(15, 11, -1)]),
            FUNCTION_COMMENTS["hotguid_shard_key"],
        ),
        scalar_function(
            "hotguid_uuid8_shard_key",
            "id uuid",
            "bigint",
            f"CASE WHEN {is_version(8)} THEN\n"
            f"    {terms([(word(uuid_byte(k)), 8 * (15 - k)) for k in range(12, 16)])}\nEND",
            FUNCTION_COMMENTS["hotguid_uuid8_shard_key"],
        ),
    ]
    written.append(
        scalar_function(
            "uuid7_time",
            "id uuid",
            "timestamptz",
            f"CASE WHEN {is_version(7)} THEN\n"
            f"    flake.time_of_ms({terms([(word(uuid_byte(k)), 40 - 8 * k) for k in range(6)])})\nEND",
            FUNCTION_COMMENTS["uuid7_time"],
        )
    )
    written += [
        scalar_function(
            "snowflake_ms",
            "id bigint, preset text",
            "bigint",
            preset_case("ms", "postgresql"),
            FUNCTION_COMMENTS["snowflake_ms"],
        ),
        scalar_function(
            "snowflake_time",
            "id bigint, preset text",
            "timestamptz",
            "flake.time_of_ms(flake.snowflake_ms(id, preset))",
            FUNCTION_COMMENTS["snowflake_time"],
        ),
        scalar_function(
            "snowflake_field",
            "id bigint, preset text, field text",
            "int",
            field_case("postgresql", "({})::int"),
            FUNCTION_COMMENTS["snowflake_field"],
        ),
    ]
    for span in spans("postgresql", "bytea", "to_hex({})", "decode({}, 'hex')"):
        written += bounds(span)
    for format, decoded in (("sno_uuid8", "sno"), ("hotguid", "hotguid"), ("uuid7", "uuid7")):
        written += [
            scalar_function(
                f"partman_{format}_encode",
                "moment timestamptz",
                "uuid",
                f"flake.{format}_lowest(moment)",
                "For p_time_encoder of pg_partman: the lowest ID of a time.",
            ),
            scalar_function(
                f"partman_{format}_decode",
                "id text",
                "timestamptz",
                f"flake.{decoded}_time(id::uuid)",
                "For p_time_decoder of pg_partman: the time of an ID.",
            ),
        ]
    return POSTGRESQL_HEAD + "\n" + "\n".join(written) + "\nCOMMIT;\n"


POSTGRESQL_HEAD = f"""\
-- Functions for PostgreSQL 14 or later that return the time and the parts of an ID, and the bounds of a time span.
-- `crates/sql/generate.py` writes this file. docs/integrations/sql.md shows the functions in use.
--
-- Load it with psql, or paste it into the SQL editor of a managed database. It needs no extension, only the right to
-- create a schema. If the owner of the functions loads it again, it replaces them.
--
-- The functions are in the schema `flake`, separate from the schema `polyflake` of leases and keys, because every role
-- may call them.
--
-- Functions that read an ID are SQL expressions: IMMUTABLE, not STRICT, and without a SET clause, so that the planner
-- can replace a call by the body. It does so if the argument is a column, a constant or another cheap expression. A
-- call with an expensive argument, such as a function in PL/pgSQL, remains a call: slower, with the same result.
-- An index on an ID is used for a range of IDs, but not for a filter by the time of the ID.
--
-- Functions that return bounds call PL/pgSQL. The planner computes a bound of constants once, so that it becomes an
-- index condition and prunes partitions. A bound that depends on now() is computed when the query runs: an index scan
-- computes it once and partitions are still pruned, but a scan of a whole table computes it for every row.
--
-- The caller's search_path does not change what the functions call: PostgreSQL binds the bodies of SQL functions when
-- it creates them, and each PL/pgSQL function sets its own.
--
-- A function that reads an ID returns NULL for a value that cannot be an ID, as uuid_extract_timestamp does. It never
-- returns NULL if every value can be an ID: 10 bytes as a sno, a UUID as a Hot Guid, a bigint as a snowflake.
--
-- An error begins with a stable code of the library. A time outside the format is `time_out_of_range` (SQLSTATE 22008),
-- because a bound that is NULL would silently find no rows. An unknown service is `invalid_layout`, and an unknown
-- field is `unknown_field` (both SQLSTATE 22023).

BEGIN;

SET LOCAL search_path = pg_catalog, pg_temp;

CREATE SCHEMA IF NOT EXISTS flake;
GRANT USAGE ON SCHEMA flake TO PUBLIC;

{helpers("postgresql")}-- The first 8 characters of a sno.
CREATE OR REPLACE FUNCTION flake.sno_string(word bigint) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    id text := '';
BEGIN
    FOR place IN 0..7 LOOP
        id := id || substr('{ALPHABET}', ((word >> (35 - 5 * place)) & 31)::int + 1, 1);
    END LOOP;
    RETURN id;
END $$;

CREATE OR REPLACE FUNCTION flake.unknown_preset(preset text) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE invalid_parameter_value USING MESSAGE = format(
        '{EXPECTED_PRESET_MESSAGE}%L', preset);
END $$;

CREATE OR REPLACE FUNCTION flake.unknown_field(preset text, field text) RETURNS int
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM flake.snowflake_ms(0, preset);
    RETURN flake.unknown_field_of(preset, field);
END $$;
"""

# In DuckDB and SQLite, bytes and UUIDs are read from their hexadecimal digits. `number(first, digits)` returns an
# expression that reads `digits` digits from the 1-based position `first`.


def hex_parts(number: Any) -> dict[str, str]:
    """Returns expressions for the parts of a sno, given the digits of its 10 bytes."""
    return {
        "time": f"({number(1, 10)}) >> 1",
        "metabyte": number(11, 2),
        "partition": number(13, 4),
        "sequence": number(17, 4),
    }


def uuid8_hex_parts(number: Any) -> dict[str, str]:
    """Returns expressions for the parts of a sno, given the digits of its version 8 UUID."""
    return {
        **hex_parts(number),
        "partition": f"(({number(14, 3)}) << 4) | ((({number(17, 2)}) >> 2) & 15)",
        "sequence": f"(({number(17, 6)}) >> 2) & 65535",
    }


def little_endian(number: Any, first: int) -> str:
    """Returns an expression for four bytes in little-endian order."""
    return terms([(f"({number(first + 2 * k, 2)})", 8 * k) for k in range(4)])


# DuckDB


def macro(name: str, arguments: str, expression: str, comment: str) -> str:
    text = comment.replace("'", "''")
    return f"""\
CREATE OR REPLACE MACRO flake.{name}({arguments}) AS
    {expression};
COMMENT ON MACRO flake.{name} IS '{text}';
"""


def duckdb() -> str:
    identity = lambda value: value  # noqa: E731
    character = lambda k: f"flake.sno_character(id, {k + 1})"  # noqa: E731
    digits = lambda hexadecimal: lambda first, count: f"flake.number({hexadecimal}, {first}, {count})"  # noqa: E731
    blob, uuid = digits("hex(id::BLOB)"), digits("flake.uuid_hex(id)")
    forms = {
        "sno": (text_parts(character, identity), "regexp_full_match(id, '[2-9a-x]{16}')", "a string"),
        "sno_blob": (hex_parts(blob), "octet_length(id::BLOB) = 10", "a BLOB of 10 bytes"),
        "sno_uuid8": (
            uuid8_hex_parts(uuid),
            "regexp_full_match(flake.uuid_hex(id), '.{12}8.{3}[89ab].{4}[048c]0{10}')",
            "a UUID of version 8",
        ),
    }
    written = []
    for form, (parts, check, what) in forms.items():
        replaced_parts = {"time": f"make_timestamptz((({parts['time']}) + {SNO.epoch}) * {1000 * SNO.ms})"}
        written.append(macro(f"is_{form}", "id", check, f"Whether a value is a sno as {what}, for a CHECK constraint."))
        for part, meaning in {"time": f"The time of a sno as {what}, to 4 ms", **PARTS}.items():
            written.append(
                macro(
                    f"{form}_{part}",
                    "id",
                    f"CASE WHEN flake.is_{form}(id) THEN\n        {replaced_parts.get(part, parts[part])}\n    END",
                    f"{meaning}. NULL for a value that is no sno.",
                )
            )
    is_version = lambda version: f"regexp_full_match(flake.uuid_hex(id), '.{{12}}{version}.{{3}}[89ab].{{15}}')"  # noqa: E731
    written += [
        macro(
            "hotguid_time",
            "id",
            f"make_timestamptz({uuid(1, 8)} * 1000000)",
            FUNCTION_COMMENTS["hotguid_time"],
        ),
        macro(
            "hotguid_shard_key",
            "id",
            little_endian(uuid, 25),
            FUNCTION_COMMENTS["hotguid_shard_key"],
        ),
        macro(
            "hotguid_uuid8_shard_key",
            "id",
            f"CASE WHEN {is_version(8)} THEN {uuid(25, 8)} END",
            FUNCTION_COMMENTS["hotguid_uuid8_shard_key"],
        ),
        macro(
            "uuid7_time",
            "id",
            f"CASE WHEN {is_version(7)} THEN make_timestamptz({uuid(1, 12)} * 1000) END",
            FUNCTION_COMMENTS["uuid7_time"],
        ),
        macro(
            "snowflake_ms",
            "id, preset",
            preset_case("ms", "duckdb"),
            FUNCTION_COMMENTS["snowflake_ms"],
        ),
        macro(
            "snowflake_time",
            "id, preset",
            "make_timestamptz(flake.snowflake_ms(id, preset) * 1000)",
            FUNCTION_COMMENTS["snowflake_time"],
        ),
        macro(
            "snowflake_field",
            "id, preset, field",
            field_case("duckdb"),
            FUNCTION_COMMENTS["snowflake_field"],
        ),
    ]
    for span in spans("duckdb", "blob", "lower(hex({}))", "unhex({})"):
        extra_argument = f", {span.extra.split()[0]}" if span.extra else ""
        written += [
            macro(f"{span.name}_lowest", f"moment{extra_argument}", span.lowest, LOWEST_COMMENT.format(span.what)),
            macro(f"{span.name}_highest", f"before{extra_argument}", span.highest, HIGHEST_COMMENT.format(span.what)),
        ]
    return DUCKDB_HEAD + "\n" + "\n".join(written)


DUCKDB_HEAD = f"""\
-- Macros for DuckDB that return the time and the parts of an ID, and the bounds of a time span.
-- `crates/sql/generate.py` writes this file.
--
-- Load it with `.read polyflake.duckdb.sql`, or execute its text. docs/integrations/sql.md shows the macros in use.
-- Their names are those of PostgreSQL, with the form of the sno: `sno_time` reads a string, `sno_blob_time` a BLOB and
-- `sno_uuid8_time` a UUID.
--
-- A macro that reads an ID returns NULL for a value that cannot be an ID. It never returns NULL if every value can be
-- an ID: 10 bytes as a sno, a UUID as a Hot Guid, an integer of 64 bits as a snowflake.
-- If DuckDB cannot convert a value to the type of the ID, such as a string that is not a UUID, DuckDB reports an error.
--
-- Other errors begin with a stable code of the library: `time_out_of_range` for a time outside the format, because a
-- bound that is NULL would silently find no rows; `invalid_layout` for an unknown service; `unknown_field` for an
-- unknown field.

CREATE SCHEMA IF NOT EXISTS flake;

CREATE OR REPLACE MACRO flake.number(digits, first, count) AS ('0x' || substr(digits, first, count))::BIGINT;

{helpers("duckdb")}CREATE OR REPLACE MACRO flake.uuid_hex(id) AS replace(id::UUID::VARCHAR, '-', '');

CREATE OR REPLACE MACRO flake.sno_character(id, place) AS (strpos('{ALPHABET}', substr(id, place, 1)) - 1);

CREATE OR REPLACE MACRO flake.unknown_preset(preset) AS
    error('{EXPECTED_PRESET_MESSAGE}''' || preset || '''');

CREATE OR REPLACE MACRO flake.unknown_field(preset, field) AS
    CASE
        WHEN lower(preset) IN ('{PRESET_NAMES.replace(", ", "', '")}')
            THEN flake.unknown_field_of(preset, field)
        WHEN field IS NOT NULL THEN flake.unknown_preset(preset)
    END;

-- The first 8 characters of a sno.
CREATE OR REPLACE MACRO flake.sno_string(word) AS
    {{}};
""".format("\n        || ".join(f"substr('{ALPHABET}', ((word >> {35 - 5 * k}) & 31) + 1, 1)" for k in range(8)))


# SQLite


def sqlite() -> str:
    number = lambda first, count: terms(  # noqa: E731
        [(f"instr('123456789ABCDEF', substr(hex, {first + k}, 1))", 4 * (count - 1 - k)) for k in range(count)]
    )
    character = lambda k: f"(instr('{ALPHABET}', substr(id, {k + 1}, 1)) - 1)"  # noqa: E731
    blob_column = "hex TEXT AS (hex(id))"
    # Hyphens in other positions are not removed, so a string with such hyphens is not accepted as a UUID.
    hyphen_pattern = "-".join("?" * count for count in (8, 4, 4, 4, 12))
    digits = f"upper(iif(id GLOB '{hyphen_pattern}', replace(id, '-', ''), id))"
    uuid_column = f"hex TEXT AS (iif(typeof(id) = 'blob', hex(id), {digits}))"
    # `length` and GLOB treat the first NUL as the end of a string, but `instr` does not.
    without_nul = lambda text: f"instr({text}, char(0)) = 0"  # noqa: E731
    is_uuid = f"length(hex) = 32 AND {without_nul('hex')} AND hex NOT GLOB '*[^0-9A-F]*'"
    is_version = lambda version: f"hex GLOB '????????????{version}???[89AB]*'"  # noqa: E731
    tables = []

    def table(name: str, id: str, before: list[str], check: str, parts: dict[str, str], comment: str) -> None:
        """Adds a table whose columns are computed from the ID. These columns are NULL if the value is not an ID."""
        valid_columns = [f"is_valid INTEGER AS ({check})"] if check else []
        guarded_parts = {
            part: f"CASE WHEN is_valid THEN {value} END" if check else value for part, value in parts.items()
        }
        columns = [
            *before,
            *valid_columns,
            *[f"{part} INTEGER AS ({value})" for part, value in guarded_parts.items()],
            TIME_COLUMN,
        ]
        tables.append(f"-- {comment}\nCREATE TABLE {name} (\n    " + ",\n    ".join([id, *columns]) + "\n);\n")

    def sno_parts(parts: dict[str, str]) -> dict[str, str]:
        return {"ms": f"(({parts.pop('time')}) + {SNO.epoch}) * {SNO.ms}", **parts}

    is_string = f"typeof(id) = 'text' AND length(id) = 16 AND {without_nul('id')} AND id NOT GLOB '*[^2-9a-x]*'"
    table(
        "sno_strings",
        "id TEXT",
        [],
        is_string,
        sno_parts(text_parts(character, lambda value: value)),
        "A sno as its string.",
    )
    is_blob = "typeof(id) = 'blob' AND length(id) = 10"
    table("sno_blobs", "id BLOB", [blob_column], is_blob, sno_parts(hex_parts(number)), "A sno as its 10 bytes.")
    is_uuid8 = f"{is_uuid} AND hex GLOB '????????????8???[89AB]????[048C]0000000000'"
    uuid_forms_text = "as 16 bytes, 32 digits or 36 characters"
    comment = f"A sno as a UUID of version 8, {uuid_forms_text}."
    table("sno_uuids", "id", [uuid_column], is_uuid8, sno_parts(uuid8_hex_parts(number)), comment)
    table(
        "hotguids",
        "id",
        [uuid_column],
        is_uuid,
        {
            "ms": f"({number(1, 8)}) * 1000",
            "shard_key": little_endian(number, 25),
            "uuid8_shard_key": f"CASE WHEN {is_version(8)} THEN {number(25, 8)} END",
        },
        f"A Hot Guid, {uuid_forms_text}. The shard key of a UUID of version 8 is in another place.",
    )
    is_uuid7 = f"{is_uuid} AND {is_version(7)}"
    table("uuid7s", "id", [uuid_column], is_uuid7, {"ms": number(1, 12)}, f"A UUID of version 7, {uuid_forms_text}.")
    for name in run_program("presets").split():
        table_match = re.search(r"(?ms)^CREATE TABLE .*", run_program("sql", name, "--dialect", "sqlite"))
        assert table_match
        tables.append(f"-- A snowflake of {' or '.join([name, *ALIASES.get(name, [])])}.\n{table_match.group()}")
    return SQLITE_HEAD + "\n" + "\n".join(tables)


TIME_COLUMN = "time TEXT AS (strftime('%Y-%m-%dT%H:%M:%fZ', ms / 1000.0, 'unixepoch'))"
SQLITE_HEAD = """\
-- Columns for SQLite 3.32 or later with the time and the parts of an ID. `crates/sql/generate.py` writes this file.
--
-- SQLite has no functions in SQL, so these are generated columns. Add those that you need to your own table, with
-- `CREATE TABLE` or `ALTER TABLE ... ADD COLUMN`; they store nothing. A query can use an expression by itself.
-- `ms` is the time in Unix milliseconds. Columns are NULL for a value that cannot be such an ID; every 10 bytes can be
-- a sno, every UUID a Hot Guid, and every integer a snowflake.
"""


# Randflake in PostgreSQL


def read_cipher_function(name: str) -> str:
    """Returns a copy of one of the cipher's functions in `public.sql`, moved to the schema `randflake`."""
    text = (FOLDER / "public.sql").read_text(encoding="utf-8")
    (found,) = re.findall(rf"(?m)^-- .*\nCREATE FUNCTION polyflake\.{name}\([^;]*? AS \$\$\n(?s:.*?)^END \$\$;\n", text)
    return found.replace("polyflake.", "randflake.")


RANDFLAKE_SECONDS, RANDFLAKE_BITS = 1_730_000_000, 17
RANDFLAKE_TEMPLATE = f"""\
-- Functions for PostgreSQL 12 or later that return the time, node ID and sequence of a Randflake, for roles that cannot
-- read its secret.
-- `crates/sql/generate.py` writes this file, with the cipher of `public.sql`.
--
-- Load it with psql as the owner of the database. Then, from one file, so that no log has the secret (16 bytes in hex):
--
--     COPY randflake.keys (name, secret) FROM STDIN;
--     orders\t\\\\x000102030405060708090a0b0c0d0e0f
--     \\.
--     GRANT USAGE ON SCHEMA randflake TO reports;
--     GRANT EXECUTE ON FUNCTION randflake.time, randflake.node, randflake.sequence TO reports;
--
--     SELECT randflake.time(id, 'orders') FROM orders;
--
-- The functions run with their owner's rights and a fixed search_path. Every bigint decrypts to a time, so the wrong
-- key returns a wrong time. Randflakes do not sort by time, so there is no range of IDs: a filter by time reads and
-- decrypts every row. Grant the functions only to roles that may know when and where every ID was made.

BEGIN;

CREATE SCHEMA randflake;

{{subkeys}}
{{decrypt}}
CREATE TABLE randflake.keys (
    name text COLLATE "C" PRIMARY KEY,
    secret bytea NOT NULL CHECK (length(secret) = 16),
    subkeys int[] GENERATED ALWAYS AS (CASE WHEN length(secret) = 16 THEN randflake.subkeys(secret) END) STORED
);

-- An integer with its bytes reversed: the cipher's block begins with the lowest byte of an ID.
CREATE FUNCTION randflake.reversed(value bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    made bigint := 0;
BEGIN
    FOR place IN 0..7 LOOP
        made := (made << 8) | ((value >> (8 * place)) & 255);
    END LOOP;
    RETURN made;
END $$;

-- The decrypted ID: 30 bits of seconds, {RANDFLAKE_BITS} of the node ID, {RANDFLAKE_BITS} of the sequence.
CREATE FUNCTION randflake.fields(id bigint, key text) RETURNS bigint LANGUAGE plpgsql STABLE STRICT
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    k int[] := (SELECT subkeys FROM randflake.keys WHERE name = key);
BEGIN
    IF k IS NULL THEN
        RAISE invalid_parameter_value USING
            MESSAGE = format('invalid_secret: expected the name of a key in randflake.keys, found %L', key);
    END IF;
    RETURN randflake.reversed(randflake.decrypt(randflake.reversed(id), k));
END $$;

-- The time of an ID, to the second.
CREATE FUNCTION randflake.time(id bigint, key text) RETURNS timestamptz LANGUAGE sql STABLE STRICT SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
    SELECT to_timestamp(((randflake.fields(id, key) >> {2 * RANDFLAKE_BITS}) & {mask(30)}) + {RANDFLAKE_SECONDS}) $$;

-- The node ID of the generator, which is its worker ID.
CREATE FUNCTION randflake.node(id bigint, key text) RETURNS int LANGUAGE sql STABLE STRICT SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
    SELECT ((randflake.fields(id, key) >> {RANDFLAKE_BITS}) & {mask(RANDFLAKE_BITS)})::int $$;

-- The sequence of the ID within its second.
CREATE FUNCTION randflake.sequence(id bigint, key text) RETURNS int LANGUAGE sql STABLE STRICT SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
    SELECT (randflake.fields(id, key) & {mask(RANDFLAKE_BITS)})::int $$;

REVOKE ALL ON SCHEMA randflake FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA randflake FROM PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA randflake FROM PUBLIC;

COMMIT;
"""


def randflake() -> str:
    return RANDFLAKE_TEMPLATE.format(subkeys=read_cipher_function("subkeys"), decrypt=read_cipher_function("decrypt"))


FILES = {
    "randflake.sql": randflake,
    "polyflake.sql": postgresql,
    "polyflake.duckdb.sql": duckdb,
    "polyflake.sqlite.sql": sqlite,
}

if __name__ == "__main__":
    for name, write in FILES.items():
        (FOLDER / name).write_text(write(), encoding="utf-8")
