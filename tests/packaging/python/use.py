"""A user's first program, in a project that only has the wheel installed."""

import datetime as dt
import pathlib
import uuid

import polyflake
from polyflake import hotguid, layout, public, randflake, sno, sparx64, uuid7


def main() -> None:
    assert (pathlib.Path(polyflake.__file__).parent / "py.typed").exists()

    id: sno.Sno = sno.generate(metabyte=7)
    text: str = str(id)
    assert len(text) == 16 and sno.metabyte(text) == id.metabyte == 7
    assert sno.Sno(text) == id

    made: dt.datetime = id.datetime
    assert abs(dt.datetime.now(dt.timezone.utc) - made) < dt.timedelta(minutes=5)

    ids: sno.SnoArray = sno.Generator(partition=3).generate_many(100)
    assert len(set(ids.texts())) == 100

    try:
        sno.Sno("9q6kc9o37a32432!")
    except polyflake.PolyflakeError as error:
        position: int | None = error.position
        assert (error.code, position) == ("invalid_character", 15)
    else:
        raise AssertionError("a bad text was accepted")

    grant = randflake.Grant(42, 1_730_000_000, 2_803_741_824)
    flake_generator = randflake.Generator(grant, b"sixteen byte key")
    flake: int = randflake.decode_text(flake_generator.generate_text())
    assert randflake.Codec(b"sixteen byte key").inspect(flake).node == 42

    guid: uuid.UUID = hotguid.generate(shard_key=9)
    assert hotguid.shard_key(hotguid.from_sql(hotguid.to_sql(guid))) == 9

    first, second = uuid7.generate(), uuid7.generate()
    assert first < second and first.version == 7
    assert uuid7.worker_id(uuid7.Generator(7).generate()) == 7

    tweet = layout.Layout.preset("twitter").parse(1541815603606036480)
    assert (tweet.unix_ms, tweet.bindables) == (1656432460105, {"datacenter": 11, "worker": 26})

    cipher = sparx64.Sparx64(bytes(range(16)))
    assert cipher.decrypt(cipher.encrypt(b"8 bytes.")) == b"8 bytes."

    orders = public.Keyring(bytes(32)).of("order")
    assert orders.decode(orders.encode(42)) == 42


main()
