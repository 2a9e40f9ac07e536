"""Writes, reads and filters columns of IDs in DuckDB through Arrow."""

import duckdb
import pyarrow as pa

from polyflake import randflake, sno

ids = sno.Generator(7).generate_many(1000, metabyte=3)
flakes = randflake.RandflakeArray(memoryview(bytes(range(80))).cast("q"))

table = pa.table({"id": ids.text_column(), "made": ids.unix_ms(), "kind": ids.metabytes()})
flake_table = pa.table({"id": flakes, "text": flakes.text_column()})
database = duckdb.connect()
database.register("made", table)
database.register("flakes", flake_table)
database.execute("create table orders (id varchar primary key, made bigint, kind utinyint)")
database.execute("insert into orders select id, made, kind from made")

rows = database.execute("select id, made, kind from orders order by id").fetchall()
assert rows == [(str(id), id.unix_ms, 3) for id in ids]
lowest, highest = sno.time_range(ids[0].unix_ms, ids[999].unix_ms + 4)
count_result = database.execute("select count(*) from orders where id between ? and ?", [str(lowest), str(highest)])
assert count_result.fetchall() == [(1000,)]
rows_below = database.sql("select id from orders where id < ? order by id", params=[str(ids[10])]).to_arrow_table()
assert sno.SnoArray.from_texts(rows_below["id"]) == ids[:10]
assert database.execute("select id, text from flakes").fetchall() == list(zip(flakes, flakes.texts(), strict=True))
assert randflake.RandflakeArray(database.sql("select id from flakes").to_arrow_table()["id"]) == flakes
