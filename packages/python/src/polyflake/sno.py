from polyflake._polyflake import sno as _sno

__doc__ = _sno.__doc__

FieldColumn = _sno.FieldColumn
Generator = _sno.Generator
Mask = _sno.Mask
Snapshot = _sno.Snapshot
Sno = _sno.Sno
SnoArray = _sno.SnoArray
Stats = _sno.Stats
TextColumn = _sno.TextColumn
by_metabyte = _sno.by_metabyte
describe = _sno.describe
from_json_value = _sno.from_json_value
generate = _sno.generate
metabyte = _sno.metabyte
set_default_generator = _sno.set_default_generator
time_range = _sno.time_range
to_json_value = _sno.to_json_value

__all__ = [
    "FieldColumn",
    "Generator",
    "Mask",
    "Snapshot",
    "Sno",
    "SnoArray",
    "Stats",
    "TextColumn",
    "by_metabyte",
    "describe",
    "from_json_value",
    "generate",
    "metabyte",
    "set_default_generator",
    "time_range",
    "to_json_value",
]
