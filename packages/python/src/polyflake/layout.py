from polyflake._polyflake import layout as _layout

__doc__ = _layout.__doc__

Generator = _layout.Generator
Layout = _layout.Layout
LayoutArray = _layout.LayoutArray
Parsed = _layout.Parsed
ParsedColumns = _layout.ParsedColumns
Snapshot = _layout.Snapshot
Stats = _layout.Stats
presets = _layout.presets

__all__ = ["Generator", "Layout", "LayoutArray", "Parsed", "ParsedColumns", "Snapshot", "Stats", "presets"]
