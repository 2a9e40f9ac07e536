from polyflake._polyflake import randflake as _randflake

__doc__ = _randflake.__doc__
__all__ = [name for name in vars(_randflake) if not name.startswith("_")]

globals().update((name, getattr(_randflake, name)) for name in __all__)
