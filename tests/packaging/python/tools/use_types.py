"""Typical user code that uses NumPy. Type checkers must report no errors."""

import array

import numpy as np

from polyflake import hotguid, layout, public, randflake, sno, sparx64

rows = np.empty((65_536, 10), np.uint8)
sno.Generator(partition=9).fill(rows)
hotguid.Generator().fill(np.empty((100, 16), np.uint8))
words = np.zeros(8, np.int64)
flakes = randflake.RandflakeArray(words)
randflake.RandflakeArray(array.array("q", [1, 2]))
snowflake_layout = layout.Layout.preset("instagram")
times = np.full(8, 1_500_000_000_000)
packed: layout.LayoutArray = snowflake_layout.pack_columns(timestamp=times, sequence=words, bindables={"shard": words})
snowflake_layout.parse_columns(words)
layout.Generator(snowflake_layout, bindables={"shard": 1}).fill(words)
ids = sno.SnoArray(rows)
decoded_ids = sno.SnoArray.from_texts(np.asarray(ids.text_column()))
texts: list[str] = list(ids.text_column())
first: str = ids.text_column()[0]
some: sno.TextColumn = ids.text_column()[np.asarray(ids.metabytes()) == 3]
moments: list[int] = list(ids.unix_ms())
unix_ms = np.asarray(ids.unix_ms())
same: sno.SnoArray = sno.SnoArray([ids[0], str(ids[1])])
cipher = sparx64.Sparx64(np.zeros(16, np.uint8))
encoded: list[str] = public.Keyring(np.zeros(32, np.uint8)).of("order").encode_many(unix_ms)
blocks: bytes = cipher.encrypt_many(np.zeros(16, np.uint8))
parts = [parsed.sequence for parsed in snowflake_layout.parse_columns(packed)]
