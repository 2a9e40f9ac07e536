from polyflake._polyflake import sparx64 as _sparx64

__doc__ = _sparx64.__doc__
__all__ = [name for name in vars(_sparx64) if not name.startswith("_")]

globals().update((name, getattr(_sparx64, name)) for name in __all__)
