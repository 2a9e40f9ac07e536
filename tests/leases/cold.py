"""`cold.py 500` starts 500 processes at once, each of which leases a worker ID, and prints how long the processes
waited.

POLYFLAKE_LEASE specifies the store. The processes are forks of this program, so the times do not include the start of
Python.
"""

import os
import sys
import time

from polyflake import sno

count = int(sys.argv[1])
reader, writer = os.pipe()
wait, release = os.pipe()
started_at = time.monotonic()
for _ in range(count):
    if os.fork() == 0:
        os.close(release)
        forked_at = time.monotonic()
        partition = sno.generate(1).partition
        ended_at = time.monotonic()
        os.write(writer, b"%d %f %f\n" % (partition, ended_at - forked_at, ended_at - started_at))
        os.read(wait, 1)  # All processes hold their worker IDs at the same time.
        os._exit(0)
os.close(writer)
with os.fdopen(reader) as lines:
    reports = [lines.readline().split() for _ in range(count)]
if len({partition for partition, *_ in reports}) != count:
    raise SystemExit(f"expected {count} worker IDs, found {len(reports)}")
waits = sorted(float(seconds) for _, seconds, _ in reports)
p50, p99 = waits[count // 2], waits[count * 99 // 100]
total_seconds = max(float(seconds) for _, _, seconds in reports)
print(f"{count} processes: all have a worker ID after {total_seconds:.1f} s; p50 {p50:.2f} s, p99 {p99:.2f} s")
os.close(release)
