"""This project's entries: generators that never reach the limits of their formats."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from contest import Entry
from peers import SECRET
from polyflake import hotguid, layout, randflake, sno, uuid7

#: Number of partitions, high enough that no batch reaches the limit of a single partition.
PARTITIONS = 512


def sno_generators() -> Iterator[sno.Generator]:
    """Returns an iterator that cycles through generators with different partitions. Each generator has already waited
    for its first tick.
    """
    generators = [sno.Generator(partition=partition) for partition in range(PARTITIONS)]
    for generator in generators:
        generator.generate()
    return itertools.cycle(generators)


def randflake_generator() -> randflake.Generator:
    """Creates a generator whose grant covers all node IDs, because one node ID allows only 131,072 IDs per second."""
    grant = randflake.Grant((0, 131_071), 1_730_000_000, 2_803_741_824)
    return randflake.Generator(grant, SECRET)


def wide_layout_generator() -> layout.Generator:
    """Creates a generator with so many sequence numbers per millisecond that it never reaches its layout's limit."""
    time = {"kind": "timestamp", "bits": 42, "tick": "1ms", "epoch_ms": 0}
    fields = [time, {"kind": "sequence", "bits": 22}]
    return layout.Generator(layout.Layout({"id": "integer", "bits": 64, "fields": fields}))


def id_entries() -> list[Entry]:
    return [
        Entry("sno", "ids.generate()", {"ids": sno.Generator(partition=1)}, ours=True),
        Entry("Randflake", "ids.generate()", {"ids": randflake_generator()}, ours=True),
        Entry("sno, of the default generator", "make()", {"make": sno.generate}, ours=True),
        Entry("Hot Guid, a uuid.UUID", "ids.generate()", {"ids": hotguid.Generator()}, ours=True),
        Entry("UUID v7, a uuid.UUID", "ids.generate()", {"ids": uuid7.Generator()}, ours=True),
        Entry("custom layout", "ids.generate()", {"ids": wide_layout_generator()}, ours=True),
    ]


def text_entries() -> list[Entry]:
    return [
        Entry("sno", "ids.generate_text()", {"ids": sno.Generator(partition=1)}, ours=True),
        Entry(
            "sno, with a metabyte",
            "ids.generate_text(7)",
            {"ids": sno.Generator(partition=2)},
            ours=True,
        ),
        Entry("Randflake", "ids.generate_text()", {"ids": randflake_generator()}, ours=True),
        Entry("Hot Guid", "ids.generate_text()", {"ids": hotguid.Generator()}, ours=True),
        Entry("UUID v7", "ids.generate_text()", {"ids": uuid7.Generator()}, ours=True),
    ]


def decode_entries() -> list[Entry]:
    text = sno.Generator(partition=1).generate_text()
    randflake_text = randflake_generator().generate_text()
    return [
        Entry("sno", "parse(text)", {"parse": sno.Sno, "text": text}, ours=True),
        Entry("sno, the metabyte", "parse(text)", {"parse": sno.metabyte, "text": text}, ours=True),
        Entry("Randflake", "parse(text)", {"parse": randflake.decode_text, "text": randflake_text}, ours=True),
    ]


def column_entries(count: int) -> list[Entry]:
    """Returns entries that strictly decode a column of strings into new memory, and an entry that encodes IDs as a
    column of strings.
    """
    import numpy
    import pyarrow

    ids = sno.Generator(partition=1).generate_many(count)
    texts, read = ids.text_column(), sno.SnoArray.from_texts
    return [
        Entry("sno, from NumPy", "read(texts)", {"read": read, "texts": numpy.asarray(texts)}, True, count),
        Entry("sno, from Arrow", "read(texts)", {"read": read, "texts": pyarrow.array(texts)}, True, count),
        Entry("sno, to NumPy and Arrow", "ids.text_column()", {"ids": ids}, True, count),
    ]


def randflake_column_entries(count: int) -> list[Entry]:
    """Returns entries that decode and encode a column of Randflake strings, which vary in length."""
    import numpy
    import pyarrow

    ids = randflake_generator().generate_many(count)
    texts, read = ids.text_column(), randflake.RandflakeArray.from_texts
    to_numpy = {"ids": ids, "asarray": numpy.asarray}
    to_arrow = {"ids": ids, "array": pyarrow.array}
    return [
        Entry("Randflake, from NumPy", "read(texts)", {"read": read, "texts": numpy.asarray(texts)}, True, count),
        Entry("Randflake, from Arrow", "read(texts)", {"read": read, "texts": pyarrow.array(texts)}, True, count),
        Entry("Randflake, to NumPy", "asarray(ids.text_column())", to_numpy, True, count),
        Entry("Randflake, to Arrow", "array(ids.text_column())", to_arrow, True, count),
    ]


def batch_entries(sizes: list[int]) -> list[Entry]:
    """Returns entries that generate many IDs per call, as an array that NumPy can view without a copy, and as
    strings.
    """
    import numpy

    each, numbers, wide = sno_generators(), randflake_generator(), wide_layout_generator()
    entries = []
    for size in sizes:
        fill_objects = {"each": each, "buffer": numpy.empty(size, "S10")}
        entries.append(Entry("sno, into NumPy", "next(each).fill(buffer)", fill_objects, True, size, size))
        generate_objects = {"asarray": numpy.asarray, "each": each, "size": size}
        statement = "asarray(next(each).generate_many(size))"
        entries.append(Entry("sno, as NumPy", statement, generate_objects, True, size, size))
        objects = {"asarray": numpy.asarray, "ids": numbers, "size": size}
        statement = "asarray(ids.generate_many(size))"
        entries.append(Entry("Randflake, as NumPy", statement, objects, True, size, size))
        objects = {"asarray": numpy.asarray, "ids": wide, "size": size}
        entries.append(Entry("custom layout, as NumPy", statement, objects, True, size, size))
        statement = "next(each).generate_many(size).texts()"
        entries.append(Entry("sno, a list of texts", statement, generate_objects, True, size, size))
    return entries
