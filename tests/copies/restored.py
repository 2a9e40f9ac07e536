"""Compares the IDs of a process with the IDs of a real copy of that process. Before the copy generates IDs, it reports
that it was restored.

Usage: `python restored.py COPY IDS`, where COPY is the library that is built from `copy.c`.
"""

import ctypes
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator

import polyflake
from polyflake import hotguid, layout, randflake, sno, uuid7

CHUNK_SIZE = 10_000
GenerateMany = Callable[[int], Iterable[object]]


def layout_generator(worker: int) -> GenerateMany:
    return layout.Generator(layout.Layout.preset("discord"), bindables={"worker": worker, "process": 0}).generate_many


def randflake_generator(node: int) -> GenerateMany:
    return randflake.Generator(randflake.Grant(node, 1_730_000_000, 2_803_741_824), bytes(16)).generate_many


#: A generator of each format, and whether its worker ID is explicit.
GENERATORS: dict[str, tuple[bool, Callable[[int], GenerateMany]]] = {
    "sno": (False, lambda _: sno.Generator().generate_many),
    "Hot Guid": (False, lambda _: hotguid.Generator().generate_many),
    "UUID v7": (False, lambda _: uuid7.Generator().generate_many),
    "sno, partition": (True, lambda number: sno.Generator(number).generate_many),
    "Randflake": (True, randflake_generator),
    "Discord's layout": (True, layout_generator),
}


def generate_chunks(generate_many: GenerateMany, count: int) -> Iterator[list[str]]:
    """Generates IDs in batches. If a batch fails because its IDs did not become available in time, retries the
    batch.
    """
    while count > 0:
        try:
            ids = [str(id) for id in generate_many(min(CHUNK_SIZE, count))]
        except polyflake.ExhaustedError:
            time.sleep(0.01)
            continue
        count -= len(ids)
        yield ids


def report_restore(new: Callable[[int], GenerateMany], generate_many: GenerateMany, is_explicit: bool) -> GenerateMany:
    """Reports the restore in the copy, and returns the generator that the copy uses from then on."""
    polyflake.after_restore()
    try:
        generate_many(1)
        assert not is_explicit, "expected an error"
    except polyflake.StateError as error:
        assert is_explicit and error.code == "forked"
    return new(2) if is_explicit else generate_many


def count_repeats(
    copy_process: Callable[[], int],
    count: int,
    generator: tuple[bool, Callable[[int], GenerateMany]],
    reports: bool = True,
) -> int:
    """Returns the number of IDs that the original and the copy both generated."""
    is_explicit, new = generator
    generate_many = new(1)
    generate_many(10)
    with tempfile.NamedTemporaryFile("w+") as file:
        child = copy_process()
        if child == 0:
            if reports:
                generate_many = report_restore(new, generate_many, is_explicit)
            with open(file.name, "w") as out:
                for ids in generate_chunks(generate_many, count):
                    out.writelines(f"{id}\n" for id in ids)
            os._exit(0)
        assert child > 0, "no copy"
        generated_ids = {id for ids in generate_chunks(generate_many, count) for id in ids}
        assert os.waitpid(child, 0)[1] == 0 and len(generated_ids) == count
        other_ids = [line.rstrip("\n") for line in file]
    assert len(other_ids) == len(set(other_ids)) == count
    return sum(id in generated_ids for id in other_ids)


def main() -> None:
    copy_process = ctypes.CDLL(sys.argv[1]).copy_process
    copy_process.restype = ctypes.c_long
    assert count_repeats(copy_process, 1000, GENERATORS["Randflake"], reports=False) > 0, "not a copy"
    for name, generator in GENERATORS.items():
        repeat_count = count_repeats(copy_process, int(sys.argv[2]), generator)
        print(f"Python, {name}: {repeat_count} of {sys.argv[2]} equal", flush=True)
        assert repeat_count == 0


main()
