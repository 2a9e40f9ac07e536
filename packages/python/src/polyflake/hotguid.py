from polyflake._polyflake import hotguid as _hotguid

__doc__ = _hotguid.__doc__

Generator = _hotguid.Generator
HotGuidArray = _hotguid.HotGuidArray
Parts = _hotguid.Parts
Stats = _hotguid.Stats
Uuid8Parts = _hotguid.Uuid8Parts
describe = _hotguid.describe
from_dotnet_bytes = _hotguid.from_dotnet_bytes
from_parts = _hotguid.from_parts
from_sql = _hotguid.from_sql
generate = _hotguid.generate
parse = _hotguid.parse
parts = _hotguid.parts
set_default_generator = _hotguid.set_default_generator
shard_key = _hotguid.shard_key
time_range = _hotguid.time_range
timestamp = _hotguid.timestamp
to_dotnet_bytes = _hotguid.to_dotnet_bytes
to_sql = _hotguid.to_sql

__all__ = [
    "Generator",
    "HotGuidArray",
    "Parts",
    "Stats",
    "Uuid8Parts",
    "describe",
    "from_dotnet_bytes",
    "from_parts",
    "from_sql",
    "generate",
    "parse",
    "parts",
    "set_default_generator",
    "shard_key",
    "time_range",
    "timestamp",
    "to_dotnet_bytes",
    "to_sql",
]
