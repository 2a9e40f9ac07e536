"""Runs three programs on each ID of a corpus, and prints how many IDs of each format each program identifies.

Each line of the corpus contains a format and an ID, separated by a tab. Further cells are ignored.
`crates/inspect/tests/found.tsv` is a corpus of IDs that were found in public projects. The format of strings without a
known format is `none`.

Arguments: the corpus, the time that polyflake uses as the current time (RFC 3339), and the names or paths of the
programs polyflake, uuinfo and idt. For uuinfo and idt, a second column also counts the answer "Snowflake", which
identifies the kind of format but not the service that uses it.
"""

import json
import re
import subprocess
import sys

SNOWFLAKES = {"twitter", "discord", "instagram", "sonyflake", "mastodon", "linkedin", "tiktok"}
# Regular expressions that match the format names of other programs, for formats whose names differ from ours by more
# than case and punctuation.
FORMAT_NAMES = {
    "uuid1": "uuid.*1",
    "uuid4": r"rfc-4122.*4|uuidv4",
    "uuid6": "uuid.*6",
    "uuid7": r"rfc-9562.*version: 7|uuidv7",
    "nanoid": "nano ?id",
    "none": "unknown|none",
    "uuid2": "uuid.*2",
    "uuid3": r"rfc-4122.*3|uuidv3",
    "uuid5": r"rfc-4122.*5|uuidv5",
    "uuid8": r"rfc-9562.*version: 8|uuidv8",
    "guid-ncs": "guid|ncs|uuid",
    "guid-microsoft": "guid|microsoft|uuid",
    "hash-128": "md5|128",
    "hash-160": "sha-?1|160",
    "hash-256": "sha-?256|256",
    "unix-s": "unix|timestamp",
    "unix-ms": "unix|timestamp",
    "datetime": "date|timestamp",
    "objectid": "object ?id",
    "pushid": "push ?id",
    "cuid2": "cuid.?2",
    "twitter": "twitter|x ",
}


def read_with_polyflake(program, ids, now):
    completed = subprocess.run(
        [program, "inspect", "--json", "--now", now], input="\n".join(ids), capture_output=True, text=True
    )
    for line in completed.stdout.splitlines():
        readings = json.loads(line)["readings"]
        is_recognized = sum(reading["probability"] for reading in readings) >= 0.5
        is_certain = bool(readings) and readings[0]["confidence"] == "certain"
        yield (readings[0]["format"] if is_recognized else "none"), is_certain


def uuinfo(program, ids):
    for name in ids:
        completed = subprocess.run([program, "-o", "short", "--", name], capture_output=True, text=True)
        yield (completed.stdout or completed.stderr or "none").lower()


def idt(program, ids):
    for name in ids:
        completed = subprocess.run([program, "inspect", "--json", "--", name], capture_output=True, text=True)
        kind = re.search(r'"id_type": ?"([^"]*)"', completed.stdout)
        yield kind[1] if kind else "none"


def main():
    corpus, now, *programs = sys.argv[1:]
    with open(corpus) as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    rows = [row[:2] for row in rows if not row[0].startswith("#")]
    ids = [name for _, name in rows]
    ours, certain = zip(*read_with_polyflake(programs[0], ids, now), strict=True)
    answers = [ours, list(uuinfo(programs[1], ids)), list(idt(programs[2], ids))]
    correct_counts = {}
    for (system, _), *said in zip(rows, *answers, strict=True):
        row = correct_counts.setdefault(system, [0] * 6)
        row[5] += 1
        row[0] += said[0] == system
        for column, word in ((1, said[1]), (3, said[2])):
            names_format = re.search(FORMAT_NAMES.get(system, system), word) is not None
            row[column] += names_format
            row[column + 1] += names_format or (system in SNOWFLAKES and "snowflake" in word)
    columns = ["format", "IDs", "polyflake", "uuinfo", 'or "snowflake"', "idt", 'or "snowflake"']
    print("|", " | ".join(columns), "|")
    print("|---" * len(columns) + "|")
    correct_counts["all"] = [sum(column) for column in zip(*correct_counts.values(), strict=True)]
    for system, row in correct_counts.items():
        print("|", system, "|", row[5], "|", " | ".join(map(str, row[:5])), "|")
    right = [ours[at] == system for at, (system, _) in enumerate(rows) if certain[at]]
    print(f"polyflake called {len(right)} readings certain, of which {sum(right)} are right")


main()
