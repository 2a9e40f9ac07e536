"""Runs the examples and the README as written."""

from __future__ import annotations

import datetime as dt
import re
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from polyflake import hotguid
from support import REPOSITORY, raises_code

EXAMPLES = sorted((REPOSITORY / "examples/python").glob("*.py"))
README = Path(__file__).parents[1] / "README.md"

sys.path.insert(0, str(REPOSITORY / "examples/python"))

import polymorphic  # noqa: E402
import record_versions  # noqa: E402
import shard_routing  # noqa: E402
import shared_partition  # noqa: E402
import time_range_query  # noqa: E402
import well_known_ids  # noqa: E402


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_examples_run(example: Path) -> None:
    result = subprocess.run([sys.executable, str(example)], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert result.stdout


BLOCKS = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("block", range(len(BLOCKS)))
def test_each_readme_example_runs_separately(block: int) -> None:
    if "import polars" in BLOCKS[block]:
        pytest.importorskip("polars")
    result = subprocess.run([sys.executable, "-c", BLOCKS[block]], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_the_readme_shows_an_error() -> None:
    error_blocks = [block for block in BLOCKS if "not-an-id" in block]
    result = subprocess.run([sys.executable, "-c", *error_blocks], capture_output=True, text=True)
    assert result.stdout == "invalid_length expected length 16, found 9\n"


def test_the_readme_has_only_absolute_links() -> None:
    text = README.read_text(encoding="utf-8")
    assert text.splitlines()[4:7] == ["```sh", "pip install polyflake", "```"]
    links = re.findall(r"\]\(([^)]*)\)", text)
    assert links
    assert [link for link in links if not link.startswith("https://")] == []


def test_records_round_trip() -> None:
    text = '{"id": "a7rdmuv326nct5if", "name": "Ada"}'
    user = polymorphic.from_json(text)
    assert type(user) is polymorphic.User
    assert user.to_json() == text
    with pytest.raises(KeyError):  # no class has metabyte 127
        polymorphic.from_json('{"id": "8294tw5xhuad87cc"}')
    with raises_code("invalid_length"):
        polymorphic.from_json('{"id": "short"}')


@pytest.mark.parametrize(("region", "shard"), [(0, 0), (1, 5), (1023, 2**22 - 1)])
def test_a_shard_key_encodes_region_and_shard(region: int, shard: int) -> None:
    home = shard_routing.Location(region, shard)
    assert shard_routing.Location.from_id(hotguid.generate(home.shard_key())) == home


def test_requests_are_routed_from_every_region() -> None:
    regions: dict[int, shard_routing.Region] = {}
    eu, ap = shard_routing.Region("eu", 4096, regions), shard_routing.Region("ap", 1, regions)
    records_by_id = {eu.create(f"customer {k % 7}", str(k)): str(k) for k in range(100)}
    for id, record in records_by_id.items():
        assert ap.read(f"/records/{id}") == eu.read(f"/records/{id}") == record
    assert len({shard_routing.Location.from_id(id) for id in records_by_id}) == 7
    with raises_code("invalid_length"):
        ap.read("/records/none")


def test_a_record_can_have_256_versions() -> None:
    documents = record_versions.DocumentStore()
    last_id = first_id = documents.create("0")
    for version in range(1, 256):
        last_id = documents.update(last_id, str(version))
    assert documents.history(first_id) == documents.history(last_id) == [str(version) for version in range(256)]
    with pytest.raises(record_versions.StaleVersionError):
        documents.update(first_id, "again")
    with raises_code("out_of_range", field="metabyte"):
        documents.update(last_id, "one too many")


def test_a_query_selects_a_half_open_range() -> None:
    start = dt.datetime(2026, 1, 1, tzinfo=dt.timezone.utc)
    unit = dt.timedelta(milliseconds=4)
    events = [(start + k * unit, str(k)) for k in range(-5, 15)]
    with closing(time_range_query.store_events(events)) as database:
        assert time_range_query.records_between(database, start, start + 10 * unit) == events[5:15]
        assert time_range_query.records_between(database, start + 100 * unit, start + 101 * unit) == []


def test_links_contain_the_time_of_their_messages() -> None:
    link_times = [well_known_ids.parse_link(link).unix_ms for link in well_known_ids.LINKS]
    assert link_times == [1_656_432_460_105, 1_462_015_105_796]


def test_bounds_keep_two_generators_apart() -> None:
    ids_by_process = {process: set(shared_partition.generate_ids(process)) for process in shared_partition.BOUNDS}
    assert ids_by_process["web"].isdisjoint(ids_by_process["jobs"])
    assert [len(ids) for ids in ids_by_process.values()] == [200_000, 200_000]
