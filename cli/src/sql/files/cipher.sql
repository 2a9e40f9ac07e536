-- The subkeys of SPARX-64/128 under a key of 16 bytes.
CREATE OR REPLACE FUNCTION {schema}.subkeys(key bytea) RETURNS int[] LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    s int[];
    made int[] := '{}';
BEGIN
    FOR i IN 0..7 LOOP
        s := s || ((get_byte(key, 2 * i) << 8) | get_byte(key, 2 * i + 1));
    END LOOP;
    FOR count IN 1..16 LOOP
        made := made || s[1:6];
        s[1] := (((s[1] >> 7) | (s[1] << 9)) + s[2]) & 65535;
        s[2] := (((s[2] << 2) | (s[2] >> 14)) & 65535) # s[1];
        s[3] := (s[3] + s[1]) & 65535;
        s[4] := (s[4] + s[2]) & 65535;
        s[8] := (s[8] + count) & 65535;
        s := s[7:8] || s[1:6];
    END LOOP;
    RETURN made || s[1:4];
END $$;

-- Decrypts a block of SPARX-64/128.
CREATE OR REPLACE FUNCTION {schema}.decrypt(block bigint, k int[]) RETURNS bigint LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    al int := ((block >> 48) & 65535)::int # k[97];
    ar int := ((block >> 32) & 65535)::int # k[98];
    bl int := ((block >> 16) & 65535)::int # k[99];
    br int := (block & 65535)::int # k[100];
    at int := 97;
    mixed int;
    l int;
    r int;
BEGIN
    FOR step IN 1..8 LOOP
        mixed := (((bl # br) << 8) | ((bl # br) >> 8)) & 65535;
        l := al # bl # mixed;
        r := ar # br # mixed;
        al := bl;
        ar := br;
        bl := l;
        br := r;
        at := at - 6;
        FOR round IN 1..3 LOOP
            at := at - 2;
            r := ar # al;
            r := ((r >> 2) | (r << 14)) & 65535;
            l := (al - r) & 65535;
            al := (((l << 7) | (l >> 9)) & 65535) # k[at];
            ar := r # k[at + 1];
            r := br # bl;
            r := ((r >> 2) | (r << 14)) & 65535;
            l := (bl - r) & 65535;
            bl := (((l << 7) | (l >> 9)) & 65535) # k[at + 6];
            br := r # k[at + 7];
        END LOOP;
    END LOOP;
    RETURN (al::bigint << 48) | (ar::bigint << 32) | (bl::bigint << 16) | br;
END $$;
