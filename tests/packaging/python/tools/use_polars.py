"""Writes, reads and filters columns of IDs in polars."""

import polars as pl

from polyflake import randflake, sno

ids = sno.Generator(7).generate_many(1000, metabyte=3)
flakes = randflake.RandflakeArray(memoryview(bytes(range(80))).cast("q"))

frame = pl.DataFrame({"id": ids.text_column(), "made": ids.unix_ms(), "partition": ids.partitions()})
assert frame.schema == {"id": pl.String, "made": pl.Int64, "partition": pl.UInt16}
assert frame["id"].to_list() == ids.texts()
assert frame["made"].to_list() == list(ids.unix_ms()) == [id.unix_ms for id in ids]
early_mask = frame["made"] <= ids[500].unix_ms
assert frame.filter(early_mask)["id"].to_list() == ids[early_mask.to_numpy()].texts()
assert frame.filter(pl.col("id") < str(ids[10]))["id"].to_list() == ids[:10].texts()
assert pl.Series("id", ids.text_column()).to_list() == ids.texts()
assert pl.Series(flakes).to_list() == list(flakes)
assert pl.Series(flakes.text_column()).to_list() == flakes.texts()

assert sno.SnoArray.from_texts(frame["id"]) == ids
assert randflake.RandflakeArray(pl.Series(list(flakes), dtype=pl.Int64)) == flakes
assert randflake.RandflakeArray.from_texts(pl.Series(flakes.texts())) == flakes
