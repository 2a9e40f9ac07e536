-- The first tick of a format that begins at a time or later. A tick begins at a multiple of its length since 1970.
CREATE OR REPLACE FUNCTION flake.tick(at timestamptz, tick_us bigint, epoch_ticks bigint, first bigint, last bigint)
RETURNS bigint LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    -- A numeric holds infinity, and a whole number of microseconds exactly.
    us numeric := extract(epoch FROM at AT TIME ZONE 'UTC') * 1000000;
    tick numeric := (us - mod(us, tick_us)) / tick_us + (mod(us, tick_us) > 0)::int - epoch_ticks;
BEGIN
    IF tick NOT BETWEEN first AND last THEN
        RAISE datetime_field_overflow USING
            MESSAGE = format('time_out_of_range: expected a time of the format, found %s', at);
    END IF;
    RETURN tick;
END $$;

CREATE OR REPLACE FUNCTION flake.unknown_field_of(layout text, field text) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE invalid_parameter_value USING
        MESSAGE = format('unknown_field: expected a field of %s, found %L', layout, field);
END $$;

-- A float8 of the year 10000 is off by up to 31 microseconds, so what is below the millisecond is cut off.
CREATE OR REPLACE FUNCTION flake.time_of_ms(ms bigint) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN date_trunc('milliseconds', to_timestamp((ms + 0.25::float8) / 1000) AT TIME ZONE 'UTC')
    AT TIME ZONE 'UTC';
COMMENT ON FUNCTION flake.time_of_ms(bigint) IS 'The time of Unix milliseconds, exactly, up to the year 10889.';
