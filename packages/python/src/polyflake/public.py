from polyflake._polyflake import public as _public

__doc__ = _public.__doc__
__all__ = [name for name in vars(_public) if not name.startswith("_")]

globals().update((name, getattr(_public, name)) for name in __all__)
