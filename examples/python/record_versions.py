"""Versioned records: an ID's metabyte contains the version number. All versions of a record share the rest of the ID,
so any version's ID determines the IDs of the adjacent versions.

Run it: ``python examples/python/record_versions.py``
"""

from __future__ import annotations

from polyflake import sno


class StaleVersionError(Exception):
    """A newer version was written after this one was read."""


class DocumentStore:
    """Documents with all their versions, from version 0 up to version 255."""

    def __init__(self) -> None:
        self.ids = sno.Generator(metabyte=0)
        self.versions: dict[sno.Sno, str] = {}

    def create(self, text: str) -> sno.Sno:
        return self.put(self.ids.generate(), text)

    def update(self, id: sno.Sno, text: str) -> sno.Sno:
        """Adds a version and returns its ID. ``id`` is the ID of the version that the caller read. That version must
        still be the latest.
        """
        following = id.with_metabyte(id.metabyte + 1)
        if following in self.versions:
            raise StaleVersionError(str(following))
        return self.put(following, text)

    def history(self, id: sno.Sno) -> list[str]:
        """Returns the contents of all versions, starting with the first. ``id`` can be any of them."""
        versions = (id.with_metabyte(version) for version in range(256))
        return [self.versions[each] for each in versions if each in self.versions]

    def put(self, id: sno.Sno, text: str) -> sno.Sno:
        self.versions[id] = text
        return id


def main() -> None:
    documents = DocumentStore()
    first = documents.create("a draft")
    second = documents.update(first, "a better draft")
    third = documents.update(second, "the final text")
    for id in (first, second, third):
        print(f"{id}  version {id.metabyte}: {documents.versions[id]}")
    try:
        documents.update(second, "too late")
    except StaleVersionError as stale:
        print(f"rejected because version {stale} is still in use")
    assert documents.history(second) == ["a draft", "a better draft", "the final text"]
    assert (first < second < third, first.unix_ms) == (True, third.unix_ms)


if __name__ == "__main__":
    main()
