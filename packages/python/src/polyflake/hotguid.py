from polyflake._polyflake import hotguid as _hotguid

__doc__ = _hotguid.__doc__
__all__ = [name for name in vars(_hotguid) if not name.startswith("_")]

globals().update((name, getattr(_hotguid, name)) for name in __all__)
