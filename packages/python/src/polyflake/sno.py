from polyflake._polyflake import sno as _sno

__doc__ = _sno.__doc__
__all__ = [name for name in vars(_sno) if not name.startswith("_")]

globals().update((name, getattr(_sno, name)) for name in __all__)
