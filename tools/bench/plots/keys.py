"""The plot of ordered keys: time, size and log size of tables, by kind of key."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib import pyplot
from matplotlib.axes import Axes

from style import OWN_COLOR, PEER_COLOR, label, reserve_space, save

COLUMNS = [
    ("seconds", 1, "seconds to insert", "{:.1f}"),
    ("pages", 1e3, "thousand pages of the key's tree", "{:.1f}"),
    ("bytes", 1e6, "MB of table and index", "{:.0f}"),
    ("log_bytes", 1e6, "MB of log written", "{:.0f}"),
]


def draw(report: dict[str, Any], folder: Path) -> None:
    """Draws a row of plots for each database, with a column for each measurement."""
    databases = list(dict.fromkeys(table["database"] for table in report["tables"]))
    size = (13.5, 0.9 + 2.5 * len(databases))
    figure, axes = pyplot.subplots(len(databases), len(COLUMNS), figsize=size, squeeze=False)
    reserve_space(figure, size[1])
    for row, database in zip(axes, databases, strict=True):
        tables = [table for table in reversed(report["tables"]) if table["database"] == database]
        for axis, column in zip(row, COLUMNS, strict=True):
            _plot_bars(axis, tables, *column)
        row[0].set_title(database, loc="left", fontweight="bold")
        for axis in row[1:]:
            axis.set_yticklabels([])
    rows = f"{report['rows']:,} rows of a key and 100 bytes"
    note = f"{rows}, inserted in the order in which the keys were made; median of 3 runs."
    save(figure, folder / "ordered-keys.svg", report["machine"], note)


def _plot_bars(axis: Axes, tables: list[dict[str, Any]], member: str, unit: float, what: str, form: str) -> None:
    if tables[0][member] is None:
        axis.set_axis_off()
        return
    values = [table[member] / unit for table in tables]
    colors = [PEER_COLOR if table["key"].startswith("UUID") else OWN_COLOR for table in tables]
    axis.barh(range(len(tables)), values, color=colors, height=0.7)
    axis.set_yticks(range(len(tables)), [table["key"] for table in tables])
    axis.grid(visible=False, axis="y")
    axis.set_xlabel(what)
    axis.set_xlim(right=max(values) * 1.2)
    for place, value in enumerate(values):
        label(axis, form.format(value), value, place)
