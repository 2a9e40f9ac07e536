"""A Python driver process for `lease/tests/steps/languages.rs`. It reads each command and writes each answer as one
line of JSON.
"""

import asyncio
import json
import os
import sys

from polyflake import _lease_stores
from polyflake._polyflake import parse_lease_url

client, address = sys.argv[1:]
if client == "asyncpg":
    _lease_stores.find_spec = lambda name: name == client  # as if only this client were installed
kind = {"sqlite3": "sqlite", "pymysql": "mysql", "redis-py": "redis", "http": "http"}.get(client, "postgresql")
store = address if kind == "sqlite" else json.loads(parse_lease_url(address, "any"))["server"]
driver = _lease_stores.new_driver(kind, store, os.getpid(), 10.0, True)
class_names = {"sqlite3": "SQLite", "pymysql": "PyMySQL", "redis-py": "RedisPy"}
assert type(driver).__name__ == class_names.get(client, client.capitalize()), driver
loop = asyncio.new_event_loop()
for line in sys.stdin:
    answer = driver.execute(json.loads(line))
    print(json.dumps(loop.run_until_complete(answer) if driver.is_async else answer), flush=True)
