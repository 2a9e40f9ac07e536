from polyflake._polyflake import randflake as _randflake

__doc__ = _randflake.__doc__

Codec = _randflake.Codec
Generator = _randflake.Generator
Grant = _randflake.Grant
Parts = _randflake.Parts
PartsColumns = _randflake.PartsColumns
RandflakeArray = _randflake.RandflakeArray
Stats = _randflake.Stats
TextColumn = _randflake.TextColumn
decode_text = _randflake.decode_text
describe = _randflake.describe
encode_text = _randflake.encode_text
from_unsigned = _randflake.from_unsigned
to_unsigned = _randflake.to_unsigned

__all__ = [
    "Codec",
    "Generator",
    "Grant",
    "Parts",
    "PartsColumns",
    "RandflakeArray",
    "Stats",
    "TextColumn",
    "decode_text",
    "describe",
    "encode_text",
    "from_unsigned",
    "to_unsigned",
]
