-- An integer of any type as a BIGINT. DuckDB calculates in the type of its operands, so a smaller type would overflow.
-- An unsigned integer above the highest BIGINT becomes the negative one with the same bits.
CREATE OR REPLACE MACRO flake.word(id) AS
    CASE WHEN id > 9223372036854775807 THEN (id::UBIGINT::HUGEINT - 18446744073709551616)::BIGINT ELSE id::BIGINT END;

CREATE OR REPLACE MACRO flake.unknown_field_of(layout, field) AS
    CASE
        WHEN field IS NOT NULL
            THEN error('unknown_field: expected a field of ' || layout || ', found ''' || field || '''')
    END;

-- The first tick of a format that begins at a time or later. A tick begins at a multiple of its length since 1970.
CREATE OR REPLACE MACRO flake.tick_at(moment, tick_us) AS
    epoch_us(moment::TIMESTAMPTZ) // tick_us + (epoch_us(moment::TIMESTAMPTZ) % tick_us > 0)::BIGINT;

CREATE OR REPLACE MACRO flake.tick(moment, tick_us, epoch_ticks, first, last) AS
    CASE
        WHEN flake.tick_at(moment, tick_us) - epoch_ticks BETWEEN first AND last
            THEN flake.tick_at(moment, tick_us) - epoch_ticks
        WHEN moment IS NOT NULL
            THEN error('time_out_of_range: expected a time of the format, found ' || moment::VARCHAR)
    END;
