"""Writes, reads and filters columns of IDs in pandas."""

import numpy as np
import pandas as pd

from polyflake import layout, randflake, sno

ids = sno.Generator(7).generate_many(1000, metabyte=3)
flakes = randflake.RandflakeArray(np.arange(-500, 500))

frame = pd.DataFrame({"n": range(1000)})
frame["id"] = ids.text_column()
frame["made"] = ids.unix_ms()
frame["partition"] = ids.partitions()
frame["early"] = frame["made"] <= ids[500].unix_ms
frame["object"] = ids
frame["flake"] = flakes
frame["text"] = flakes.text_column()
assert frame["id"].tolist() == ids.texts()
assert frame["made"].tolist() == [id.unix_ms for id in ids]
assert frame["made"].dtype == np.int64
assert frame["partition"].dtype == np.uint16
assert frame["object"].tolist() == list(ids)
assert frame["flake"].tolist() == list(flakes)
assert frame["text"].tolist() == flakes.texts()

for column, items in ((ids.text_column(), ids.texts()), (ids.sequences(), list(ids.sequences())), (ids, list(ids))):
    assert pd.Series(column).tolist() == items
    assert pd.Index(column).tolist() == items
    assert pd.DataFrame({"x": column})["x"].tolist() == items
    assert frame.assign(x=column)["x"].tolist() == items
assert pd.Series(ids.unix_ms(), dtype="float64").tolist() == [float(id.unix_ms) for id in ids]

early_mask = frame["early"].to_numpy()
expected_texts = [str(id) for id, is_early in zip(ids, early_mask, strict=True) if is_early]
assert frame[frame["early"]]["id"].tolist() == ids[early_mask].texts() == expected_texts
assert frame["id"].isin(ids[:5].text_column()).sum() == 5
assert pd.to_datetime(frame["made"], unit="ms", utc=True)[0] == ids[0].datetime

assert sno.SnoArray.from_texts(frame["id"]) == ids
assert sno.SnoArray.from_texts(frame["id"].astype("string")) == ids
assert randflake.RandflakeArray(frame["flake"].to_numpy()) == flakes
assert randflake.RandflakeArray.from_texts(frame["text"]) == flakes
parsed = layout.Layout.preset("twitter").parse_columns(np.array([1541815603606036480] * 3))
assert pd.DataFrame(parsed.bindables)["worker"].tolist() == [26] * 3
assert pd.Series(parsed).tolist() == list(parsed)
