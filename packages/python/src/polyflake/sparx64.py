from polyflake._polyflake import sparx64 as _sparx64

__doc__ = _sparx64.__doc__

Sparx64 = _sparx64.Sparx64

__all__ = ["Sparx64"]
