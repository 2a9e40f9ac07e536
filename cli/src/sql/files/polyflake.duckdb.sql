-- Macros for DuckDB that return the time and the parts of an ID, and the bounds of a time span.
--
-- Load it with `.read polyflake.duckdb.sql`, or execute its text. docs/integrations/sql.md shows the macros in use. A later
-- version of the file updates the macros, and `DROP SCHEMA flake CASCADE` removes them.
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

CREATE OR REPLACE MACRO flake.number(digits, first, count) AS ('0x' || substr(digits, first, count))::BIGINT;

CREATE OR REPLACE MACRO flake.uuid_hex(id) AS replace(id::UUID::VARCHAR, '-', '');

CREATE OR REPLACE MACRO flake.sno_character(id, place) AS (strpos('23456789abcdefghijklmnopqrstuvwx', substr(id, place, 1)) - 1);

CREATE OR REPLACE MACRO flake.unknown_preset(preset) AS
    error('invalid_layout: expected one of {presets}, found ''' || preset || '''');

CREATE OR REPLACE MACRO flake.unknown_field(preset, field) AS
    CASE
        WHEN lower(preset) IN ({quoted presets})
            THEN flake.unknown_field_of(preset, field)
        WHEN field IS NOT NULL THEN flake.unknown_preset(preset)
    END;

-- The first 8 characters of a sno.
CREATE OR REPLACE MACRO flake.sno_string(word) AS
    substr('23456789abcdefghijklmnopqrstuvwx', ((word >> 35) & 31) + 1, 1)
        || substr('23456789abcdefghijklmnopqrstuvwx', ((word >> 30) & 31) + 1, 1)
        || substr('23456789abcdefghijklmnopqrstuvwx', ((word >> 25) & 31) + 1, 1)
        || substr('23456789abcdefghijklmnopqrstuvwx', ((word >> 20) & 31) + 1, 1)
        || substr('23456789abcdefghijklmnopqrstuvwx', ((word >> 15) & 31) + 1, 1)
        || substr('23456789abcdefghijklmnopqrstuvwx', ((word >> 10) & 31) + 1, 1)
        || substr('23456789abcdefghijklmnopqrstuvwx', ((word >> 5) & 31) + 1, 1)
        || substr('23456789abcdefghijklmnopqrstuvwx', ((word >> 0) & 31) + 1, 1);
