"""Code that mypy --strict checks but that never runs. Valid calls must have the expected types, and invalid calls must
be reported.
"""

import array
import datetime as dt
import time
import uuid
from typing import Any

import numpy as np
import numpy.typing as npt
from typing_extensions import assert_type

import polyflake
from polyflake import hotguid, layout, public, randflake, sno, sparx64, uuid7

id = sno.generate()
assert_type(id, sno.Sno)
assert_type(sno.Sno("93bm44ab22flxhjb"), sno.Sno)
assert_type(sno.Sno.from_bytes(bytearray(10)), sno.Sno)
assert_type(sno.Sno.from_parts(tick=1, partition=b"ab", sequence=3), sno.Sno)
assert_type(sno.Sno.from_uuid(id.uuid), sno.Sno)
assert_type(id.uuid, uuid.UUID)
assert_type(id.datetime, dt.datetime)
assert_type((id.unix_ms, id.tick, id.metabyte, id.partition, id.sequence), tuple[int, int, int, int, int])
assert_type(id.tick_tock, bool)
assert_type(str(id), str)
assert_type(bytes(id), bytes)
assert_type(id < id, bool)
assert_type(id.with_metabyte(1).with_partition(b"ab").with_sequence(2), sno.Sno)
assert_type(sno.metabyte("93bm44ab22flxhjb"), int)
assert_type(sno.time_range(dt.datetime.now(dt.timezone.utc), 4), tuple[sno.Sno, sno.Sno])

generator = sno.Generator(
    b"ab", metabyte=3, window=(0, dt.datetime.now(dt.timezone.utc)), clock=time.time_ns, max_wait=5
)
assert_type(generator.generate_text(1), str)
assert_type(generator.partition, int | None)
id_array = generator.generate_many(10)
generator.fill(bytearray(20), metabyte=1)
generator.fill(memoryview(bytearray(20)))
generator.fill(array.array("B", bytes(20)))
generator.fill([1])  # type: ignore[arg-type]
generator.fill(bytes(20))  # type: ignore[arg-type]
polyflake.lease(5)  # type: ignore[arg-type]
polyflake.lease("sqlite:ids.db", "orders")
polyflake.lease(lambda: object(), "orders")
assert_type(id_array[0], sno.Sno)
assert_type(id_array[::2], sno.SnoArray)
assert_type(list(id_array), list[sno.Sno])
assert_type(memoryview(id_array), memoryview[int])
assert_type(id_array.texts(), list[str])
snapshot = generator.close()
assert_type(sno.Generator.restore(sno.Snapshot.from_json(snapshot.to_json())).stats(), sno.Stats)

try:
    sno.Sno("")
except polyflake.InvalidValueError as error:
    assert_type(error.code, str)
    assert_type((error.position, error.retry_at), tuple[int | None, int | None])
    assert_type((error.written, error.item), tuple[int | None, int | None])


async def generate_with_stall_callback() -> None:
    assert_type(await generator.generate_async(3), sno.Sno)
    assert_type(await generator.generate_text_async(metabyte=3), str)
    assert_type(await generator.generate_many_async(2), sno.SnoArray)
    await generator.fill_async(bytearray(20))


grant = randflake.Grant((1, 5), 1_763_650_000, 1_763_653_600)
assert_type((grant.nodes, grant.start, grant.end), tuple[tuple[int, int], int, int])
randflake_generator = randflake.Generator(grant, b"sixteen byte key", on_exhausted="wait", resume_after=1_763_650_001)
assert_type(randflake_generator.generate(), int)
assert_type(randflake_generator.generate_text(), str)
assert_type(randflake_generator.generate_many(3)[1:], randflake.RandflakeArray)
assert_type(randflake_generator.generate_many(3)[0], int)
assert_type(randflake_generator.generate_many(3).text_column(), randflake.TextColumn)
assert_type(randflake.RandflakeArray.from_texts(["v"]), randflake.RandflakeArray)
randflake.RandflakeArray.from_texts([5])  # type: ignore[list-item]
assert_type(randflake_generator.close(), int | None)
parts = randflake.Codec(bytearray(16)).inspect(1)
assert_type((parts.timestamp, parts.datetime, parts.node), tuple[int, dt.datetime, int])
assert_type(randflake.to_unsigned(randflake.decode_text("v")), int)
assert_type(randflake.describe().fields[0].name, str)
orders = public.Keyring({1: bytes(32), 2: bytearray(32)}).of("order", bits=40)
assert_type(orders.encode(np.int64(42)), str)
assert_type(orders.decode("order_1abpg7dgwhjba5j"), int)
assert_type(orders.encode_many(np.array([1, 2])), list[str])
assert_type(orders.decode_many(text for text in orders.encode_many([1, 2])), list[int])
public.Keyring(32)  # type: ignore[arg-type]
public.IdType("order")  # type: ignore[call-arg]
assert_type(sparx64.Sparx64(memoryview(bytes(16))).encrypt(bytes(8)), bytes)

guid = hotguid.Generator(window=(0, dt.datetime.now(dt.timezone.utc))).generate(shard_key=3)
assert_type(guid, uuid.UUID)
assert_type(hotguid.generate(1), uuid.UUID)
assert_type((hotguid.shard_key(guid), hotguid.timestamp(guid)), tuple[int, int])
assert_type(hotguid.parts(guid).machine, bytes)
assert_type(hotguid.parts(guid, uuid8=True).machine, int)
assert_type(hotguid.from_parts(timestamp=1, machine=1, counter=1, uuid8=True), uuid.UUID)
assert_type(hotguid.from_sql(hotguid.to_sql(hotguid.parse(str(guid)))), uuid.UUID)
assert_type(hotguid.from_dotnet_bytes(guid.bytes_le), uuid.UUID)
assert_type(hotguid.time_range(1, 2, sql=True), tuple[uuid.UUID, uuid.UUID])
assert_type(hotguid.Generator().generate_many(2)[0], uuid.UUID)

uuid7_generator = uuid7.Generator(7, resume_after=1, window=(0, dt.datetime.now(dt.timezone.utc)))
assert_type(uuid7_generator.generate(), uuid.UUID)
assert_type((uuid7.generate(), uuid7.generate_text()), tuple[uuid.UUID, str])
assert_type((uuid7.unix_ms(guid), uuid7.worker_id(guid)), tuple[int, int])
assert_type(uuid7.parts(uuid7.parse("")).datetime, dt.datetime)
assert_type(uuid7.from_parts(unix_ms=dt.datetime.now(dt.timezone.utc), sequence=1, random=2), uuid.UUID)
assert_type(uuid7.time_range(1, 2), tuple[uuid.UUID, uuid.UUID])
assert_type(uuid7.Uuid7Array(uuid7_generator.generate_many(2).texts())[0], uuid.UUID)
assert_type(uuid7_generator.close(), int | None)
uuid7.unix_ms(str(guid))  # type: ignore[arg-type]

instagram = layout.Layout.preset("instagram")
shards = {"shard": 7}
assert_type(instagram.parse(instagram.pack(timestamp=1, sequence=2, bindables=shards)).unix_ms, int | None)
assert_type(instagram.parse(b"12345678").datetime, dt.datetime | None)
packed_ids = instagram.pack_columns(timestamp=1, sequence=memoryview(b"12345678").cast("q"), bindables=shards)
assert_type(packed_ids, layout.LayoutArray)
assert_type(instagram.parse_columns(packed_ids).unix_ms, sno.FieldColumn | None)
assert_type(instagram.parse_columns(bytearray(8)).bindables["shard"], sno.FieldColumn)
instagram.pack_columns(sequence=[1])  # type: ignore[arg-type]
assert_type(instagram.time_range(dt.datetime.now(dt.timezone.utc), 2), tuple[Any, Any])
assert_type(layout.Layout.from_json(instagram.to_json()).describe().per_second, int | None)
assert_type(layout.Generator(instagram, bindables=shards, window=(1, 2)).generate_many(3)[1:], layout.LayoutArray)
assert_type(layout.Generator.restore(instagram, layout.Snapshot.from_dict({})).close().tick, int)


def on_stall_callback(stall: polyflake.Stall) -> None:
    assert_type((stall.reason, stall.slept_ms), tuple[str, int])


sno.Generator(on_stall=on_stall_callback)
sno.Generator(on_stall=lambda: None)  # type: ignore[arg-type, misc]
randflake.Generator(grant, "sixteen byte key")  # type: ignore[arg-type]
randflake.Grant(1.5, 0, 1)  # type: ignore[arg-type]
instagram.pack(bindables={"shard": 1.5})  # type: ignore[dict-item]
layout.Generator(instagram.to_json())  # type: ignore[arg-type]
hotguid.shard_key(str(guid))  # type: ignore[arg-type]
randflake.encode_text("v")  # type: ignore[arg-type]

column = sno.SnoArray.from_texts(["a7rdmuv326nct5if"]).text_column()
assert_type(sno.SnoArray.from_texts(column), sno.SnoArray)
assert_type(len(sno.SnoArray.from_texts(b"a7rdmuv326nct5if")), int)
id_array = generator.generate_many(3)
passes: npt.NDArray[np.bool_] = np.asarray(id_array.metabytes()) == 7
assert_type(id_array[passes], sno.SnoArray)
assert_type(sno.SnoArray([id, str(id)])[0], sno.Sno)
assert_type(hotguid.HotGuidArray([guid, str(guid)])[0], uuid.UUID)
assert_type(len(id_array.unix_ms()), int)
sno.SnoArray([7])  # type: ignore[list-item]
randflake.RandflakeArray([1.5])  # type: ignore[list-item]
sno.SnoArray.from_texts([b"a7rdmuv326nct5if"])  # type: ignore[list-item]
sno.SnoArray.from_texts(7)  # type: ignore[arg-type]

id.metabyte = 3  # type: ignore[misc]
sno.Sno(7)  # type: ignore[arg-type]
sno.generate(1.5)  # type: ignore[arg-type]
sno.Generator(on_exhausted="sleep")  # type: ignore[arg-type]
sno.Generator(clock=time.time)  # type: ignore[arg-type]
generator.generate_at("2026-01-01")  # type: ignore[arg-type]
assert id < "text"  # type: ignore[operator]


class SnoSubclass(sno.Sno):  # type: ignore[misc]
    pass
