"""Versioned records: an ID's metabyte contains the version number. All versions of a record share the rest of the ID,
so any version's ID determines the IDs of the adjacent versions.

Run it: ``python examples/python/record_versions.py``
"""

from __future__ import annotations

from polyflake import sno


class StaleVersionError(Exception):
    """A newer version was written after this version was read."""


class DocumentStore:
    """A store that keeps all versions of each document, from version 0 up to version 255."""

    def __init__(self) -> None:
        self.ids = sno.Generator(metabyte=0)
        self.versions: dict[sno.Sno, str] = {}

    def create(self, text: str) -> sno.Sno:
        return self.put(self.ids.generate(), text)

    def update(self, id: sno.Sno, text: str) -> sno.Sno:
        """Adds a version and returns its ID. ``id`` is the ID of the version that the caller read. Raises
        ``StaleVersionError`` if a later version exists.
        """
        next_id = id.with_metabyte(id.metabyte + 1)
        if next_id in self.versions:
            raise StaleVersionError(str(next_id))
        return self.put(next_id, text)

    def history(self, id: sno.Sno) -> list[str]:
        """Returns the contents of all versions, starting with the first. ``id`` can be any of them."""
        version_ids = (id.with_metabyte(version) for version in range(256))
        return [self.versions[each] for each in version_ids if each in self.versions]

    def put(self, id: sno.Sno, text: str) -> sno.Sno:
        self.versions[id] = text
        return id


def main() -> None:
    documents = DocumentStore()
    first_id = documents.create("a draft")
    second_id = documents.update(first_id, "a better draft")
    third_id = documents.update(second_id, "the final text")
    for id in (first_id, second_id, third_id):
        print(f"{id}  version {id.metabyte}: {documents.versions[id]}")
    try:
        documents.update(second_id, "too late")
    except StaleVersionError as stale:
        print(f"rejected because version {stale} is still in use")
    assert documents.history(second_id) == ["a draft", "a better draft", "the final text"]
    assert (first_id < second_id < third_id, first_id.unix_ms) == (True, third_id.unix_ms)


if __name__ == "__main__":
    main()
