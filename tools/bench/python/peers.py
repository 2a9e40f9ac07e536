"""Entries for other libraries, which are used as their documentation describes."""

from __future__ import annotations

import sys
import time
import uuid

import c_uuid_v7.compat
import fastuuidv7
import nanoid  # type: ignore[import-untyped]
import randflake  # type: ignore[import-untyped]
import sparkid
import ulid
import ulid_transform
import uuid_utils.compat
from snowflake import SnowflakeGenerator  # type: ignore[import-untyped]
from uuid_extensions import uuid7, uuid7str  # type: ignore[import-untyped]

from contest import Entry

SECRET = b"sixteen byte key"

NO_UUID7 = {"name": "uuid.uuid7", "why": f"new in Python 3.14, this is {sys.version.split()[0]}"}


def original_randflake_generator() -> randflake.Generator:
    now = int(time.time())
    return randflake.Generator(7, now - 60, now + 3600, SECRET)


def missing_peers() -> list[dict[str, str]]:
    return [] if hasattr(uuid, "uuid7") else [NO_UUID7]


def id_entries() -> list[Entry]:
    """Returns entries that generate one ID in the library's own type."""
    entries = [
        Entry("uuid.uuid4", "make()", {"make": uuid.uuid4}),
        Entry("uuid_utils.uuid4", "make()", {"make": uuid_utils.uuid4}),
        Entry("uuid_utils.uuid7", "make()", {"make": uuid_utils.uuid7}),
        Entry("uuid7", "make()", {"make": uuid7}),
        Entry("fastuuidv7, an integer", "make()", {"make": fastuuidv7.gen_id}),
        Entry("fastuuidv7, a UUID", "make()", {"make": fastuuidv7.uuid7}),
        Entry("fastuuidv7, a generator's UUID", "make()", {"make": fastuuidv7.SequentialGenerator().next_uuid}),
        Entry("c_uuid_v7", "make()", {"make": c_uuid_v7.uuid7}),
        Entry("c_uuid_v7, a uuid.UUID", "make()", {"make": c_uuid_v7.compat.uuid7}),
        Entry("uuid_utils.uuid7, a uuid.UUID", "make()", {"make": uuid_utils.compat.uuid7}),
        Entry("snowflake-id", "next(ids)", {"ids": SnowflakeGenerator(42)}),
        Entry("python-ulid", "make()", {"make": ulid.ULID}),
        Entry("ulid-transform, bytes", "make()", {"make": ulid_transform.ulid_now_bytes}),
        Entry("randflake 2.1.0", "ids.generate()", {"ids": original_randflake_generator()}),
    ]
    if hasattr(uuid, "uuid7"):
        entries.append(Entry("uuid.uuid7", "make()", {"make": uuid.uuid7}))
    return entries


def text_entries() -> list[Entry]:
    """Returns entries that generate one ID as a string."""
    entries = [
        Entry("uuid.uuid4", "str(make())", {"make": uuid.uuid4}),
        Entry("uuid_utils.uuid4", "str(make())", {"make": uuid_utils.uuid4}),
        Entry("uuid_utils.uuid7", "str(make())", {"make": uuid_utils.uuid7}),
        Entry("uuid7", "make()", {"make": uuid7str}),
        Entry("fastuuidv7", "make()", {"make": fastuuidv7.uuid7_str}),
        Entry("fastuuidv7, a generator of its own", "make()", {"make": fastuuidv7.SequentialGenerator().next_id_str}),
        Entry("c_uuid_v7", "str(make())", {"make": c_uuid_v7.uuid7}),
        Entry("sparkid", "make()", {"make": sparkid.generate_id}),
        Entry("python-ulid", "str(make())", {"make": ulid.ULID}),
        Entry("ulid-transform", "make()", {"make": ulid_transform.ulid_now}),
        Entry("nanoid", "make()", {"make": nanoid.generate}),
        Entry("randflake 2.1.0", "ids.generate_string()", {"ids": original_randflake_generator()}),
    ]
    if hasattr(uuid, "uuid7"):
        entries.append(Entry("uuid.uuid7", "str(make())", {"make": uuid.uuid7}))
    return entries


def memory_entries(count: int) -> list[Entry]:
    """Returns an entry that copies 13 bytes per ID into new memory. The copy reads 13 bytes and writes 13 bytes, which
    is 26 bytes in total. A string and its ID also occupy 26 bytes together.
    """
    objects = {"copy": bytearray, "source": b"\1" * (13 * count)}
    return [Entry("memory copied, as many bytes moved", "copy(source)", objects, items=count)]


def decode_entries() -> list[Entry]:
    """Returns entries that parse one string strictly."""
    text = str(uuid.uuid4())
    return [
        Entry("uuid.UUID", "parse(text)", {"parse": uuid.UUID, "text": text}),
        Entry("uuid_utils.UUID", "parse(text)", {"parse": uuid_utils.UUID, "text": text}),
        Entry("python-ulid", "parse(text)", {"parse": ulid.ULID.from_str, "text": str(ulid.ULID())}),
        Entry(
            "ulid-transform, bytes",
            "parse(text)",
            {"parse": ulid_transform.ulid_to_bytes, "text": ulid_transform.ulid_now()},
        ),
    ]
