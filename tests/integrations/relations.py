"""A small shop with keys of every kind: the queries that each ORM must answer, and the expected results."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from ids import FORMS, GUIDS, IDS, POST_IDS

# The keys of each kind. The kind "reference" represents each library's native UUID type.
KEYS: dict[str, list[Any]] = {
    "reference": [UUID(int=0x0190_0000_0000_7000_8000_0000_0000_0000 | k << 80) for k in range(20)],
    **dict.fromkeys(FORMS, IDS),
    "hotguid": GUIDS,
    "int64": POST_IDS,
}
# The tags, the lines and the parent of each order. All rows are identified by their numbers.
TAGS_BY_ORDER: dict[int, list[int]] = {0: [0, 1], 1: [1], 2: [], 3: [0, 2]}
LINES_BY_ORDER: dict[int, list[int]] = {0: [0, 1, 2], 1: [3], 2: [], 3: [4, 5]}
PARENTS: dict[int, int | None] = {0: None, 1: 0, 2: 0, 3: 1}
TAGS, ORDERS = range(3), range(4)
ORDER_BY_LINE = {line: order for order, lines in LINES_BY_ORDER.items() for line in lines}

_ORDERS_BY_TAG = {tag: [order for order in ORDERS if tag in TAGS_BY_ORDER[order]] for tag in TAGS}
# The expected result of each query, in terms of row numbers.
EXPECTED_ANSWERS: dict[str, Any] = {
    "tags": TAGS_BY_ORDER,
    "tags loaded ahead": TAGS_BY_ORDER,
    "tags loaded ahead, some": {order: [tag for tag in tags if tag] for order, tags in TAGS_BY_ORDER.items()},
    "orders of tags": _ORDERS_BY_TAG,
    "orders of tags loaded ahead": _ORDERS_BY_TAG,
    "lines": LINES_BY_ORDER,
    "lines loaded ahead": LINES_BY_ORDER,
    "orders of lines by a join": ORDER_BY_LINE,
    "orders of lines loaded ahead": ORDER_BY_LINE,
    "parents": PARENTS,
    "parents loaded ahead": PARENTS,
    "children of children": {0: [3], 1: [], 2: [], 3: []},
    "receipts": {0: 0, 3: 3},
    "orders of receipts": {0: 0, 3: 3},
    "in": [1, 3],
    "in texts": [1, 3],
    "not in": [0, 2],
    "in a subquery": [0, 3],
    "exists": [0, 1, 3],
    "of a tag": [0, 3],
    "of tags": [0, 1, 3],
    "of a parent": [1, 2],
    "counted": {order: len(tags) for order, tags in TAGS_BY_ORDER.items()},
    "a range": [1, 2],
    "the last": 3,
    "by keys": [0, 2],
    "united": [0, 3],
    "replaced nulls": {0: 0, 1: 0, 2: 0, 3: 1},
    "a choice of two": {0: 1, 1: 0, 2: 1, 3: 1},
    "a generator's default": True,
    "made many": [0, 1, 2, 3, 4, 5],
    "made many, in order": [5, 4],
    "made many, some there": [0, 1, 2, 3, 4],
    "made many or changed": {0: 0, 1: 1, 2: 2, 3: 7, 4: 8},
    "changed many": {0: None, 1: 3, 2: 3, 3: 0},
    "changed by keys": {0: 0, 1: 7, 2: 2, 3: 7},
    "got or made": [(0, False), (9, True)],
    "changed or made": {0: 7, 1: 1, 2: 2, 3: 3, 9: 9},
    "tags set": {0: [2], 1: [1], 2: [0, 2], 3: [0, 2]},
    "tags added and removed": {0: [1, 2], 1: [1], 2: [], 3: [0, 2]},
    "deleted": {0: [], 1: [3], 2: []},
    "read again": 0,
    "locked": [0],
}
