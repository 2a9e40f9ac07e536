"""sno: 10 bytes, 16 characters, a metabyte that tells what the ID is of."""

from polyflake._polyflake import sno as _sno

Generator = _sno.Generator
Sno = _sno.Sno
SnoArray = _sno.SnoArray
Snapshot = _sno.Snapshot
Stats = _sno.Stats
describe = _sno.describe
generate = _sno.generate
metabyte = _sno.metabyte
time_range = _sno.time_range

__all__ = ["Generator", "Snapshot", "Sno", "SnoArray", "Stats", "describe", "generate", "metabyte", "time_range"]
