"""Columns in polars: in, out, filters."""

import polars as pl

from polyflake import randflake, sno

ids = sno.Generator(7).generate_many(1000, metabyte=3)
mask = ids.in_time_range(1_300_000_000_000, ids[500].unix_ms + 4)
flakes = randflake.RandflakeArray(memoryview(bytes(range(80))).cast("q"))

frame = pl.DataFrame({"id": ids.text_column(), "made": ids.unix_ms(), "partition": ids.partitions(), "passes": mask})
assert frame.schema == {"id": pl.String, "made": pl.Int64, "partition": pl.UInt16, "passes": pl.Boolean}
assert frame["id"].to_list() == ids.texts()
assert frame["made"].to_list() == list(ids.unix_ms()) == [id.unix_ms for id in ids]
assert frame["passes"].to_list() == list(mask)
assert frame.filter(pl.col("passes"))["id"].to_list() == ids[mask].texts()
assert frame.filter(pl.Series(mask))["id"].to_list() == ids[mask].texts()
assert frame.filter(pl.col("id") < str(ids[10]))["id"].to_list() == ids[:10].texts()
assert pl.Series("id", ids.text_column()).to_list() == ids.texts()
assert pl.Series(flakes).to_list() == list(flakes)
assert pl.Series(flakes.text_column()).to_list() == flakes.texts()

assert sno.SnoArray.from_texts(frame["id"]) == ids
assert randflake.RandflakeArray(pl.Series(list(flakes), dtype=pl.Int64)) == flakes
assert randflake.RandflakeArray.from_texts(pl.Series(flakes.texts())) == flakes
