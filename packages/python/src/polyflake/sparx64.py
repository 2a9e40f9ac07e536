"""SPARX-64/128: the block cipher behind Randflake."""

from polyflake._polyflake import sparx64 as _sparx64

Sparx64 = _sparx64.Sparx64

__all__ = ["Sparx64"]
