"""What a user's first file may look like, in a project that has nothing but the wheel."""

import datetime as dt
import pathlib

import polyflake
from polyflake import sno


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


main()
