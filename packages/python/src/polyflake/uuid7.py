from polyflake._polyflake import uuid7 as _uuid7

__doc__ = _uuid7.__doc__
__all__ = [name for name in vars(_uuid7) if not name.startswith("_")]

globals().update((name, getattr(_uuid7, name)) for name in __all__)
