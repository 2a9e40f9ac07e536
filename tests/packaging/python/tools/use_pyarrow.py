"""Writes, reads and filters columns of IDs in pyarrow."""

import pyarrow as pa
import pyarrow.compute as pc

from polyflake import randflake, sno

ids = sno.Generator(7).generate_many(1000, metabyte=3)
flakes = randflake.RandflakeArray(memoryview(bytes(range(80))).cast("q"))

table = pa.table(
    {
        "id": pa.array(ids.text_column()),
        "made": pa.array(ids.unix_ms()),
        "bytes": pa.array(ids),
    }
)
assert table.schema.types == [pa.string(), pa.int64(), pa.binary(10)]
assert pa.table({"id": ids.text_column()})["id"].to_pylist() == ids.texts()
assert table["id"].to_pylist() == ids.texts()
assert table["made"].to_pylist() == [id.unix_ms for id in ids]
assert table["bytes"].to_pylist() == [bytes(id) for id in ids]
early_mask = pc.less_equal(table["made"], ids[500].unix_ms)
assert table.filter(early_mask)["id"].to_pylist() == ids[early_mask.to_numpy()].texts()
assert table.filter(pc.field("id") < str(ids[10]))["id"].to_pylist() == ids[:10].texts()
assert pa.array(flakes).to_pylist() == list(flakes)
assert pa.array(flakes.text_column()).to_pylist() == flakes.texts()

assert sno.SnoArray.from_texts(table["id"]) == ids
assert randflake.RandflakeArray(pa.array(list(flakes), pa.int64())) == flakes
assert randflake.RandflakeArray.from_texts(pa.array(flakes.texts())) == flakes
