from polyflake._polyflake import layout as _layout

__doc__ = _layout.__doc__
__all__ = [name for name in vars(_layout) if not name.startswith("_")]

globals().update((name, getattr(_layout, name)) for name in __all__)
