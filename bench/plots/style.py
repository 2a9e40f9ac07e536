"""The common style of all plots, and the caption below each: place and date of its measurements."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure

OURS = "#0b6e4f"
THEIRS = "#9aa0a6"
#: Colours of curves: this project's in colour, peers in grey.
OUR_CURVES = ["#0b6e4f", "#d1495b", "#30638e", "#edae49"]
THEIR_CURVES = ["#5f6368", "#9aa0a6", "#c3c7cb"]


def use_style() -> None:
    matplotlib.use("svg")
    pyplot.rcParams.update(
        {
            "font.size": 10,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "grid.color": "#e4e6e8",
            "axes.axisbelow": True,
            "legend.frameon": False,
            # The same figures give the same file.
            "svg.hashsalt": "polyflake",
        }
    )


def leave_room(figure: Figure, height: float) -> None:
    """Lays the plots out above the caption, in a figure of the given height in inches."""
    caption = 0.5 / height
    figure.set_layout_engine("constrained", rect=(0, caption, 1, 1 - caption))


def label(axis: Axes, text: str, x: float, place: float, gap: int = 4) -> None:
    """Writes a text to the right of a point."""
    axis.annotate(text, (x, place), (gap, 0), textcoords="offset points", va="center", fontsize=8)


def save(figure: Figure, file: Path, machine: dict[str, Any], note: str) -> None:
    """Writes a plot with its caption: method, machine and date."""
    place = f"{machine['processor']}, {machine['processors']} processors, {machine['system']}, {machine['date']}"
    busy = machine["load"] is not None and machine["load"] > machine["processors"] / 2
    warning = f"; others were at work (load {machine['load']:.1f}): provisional" if busy else ""
    figure.text(0.01, 0.01, f"{note}\n{place}{warning}", fontsize=8, color="#5f6368", va="bottom")
    figure.savefig(file, metadata={"Date": None})
    pyplot.close(figure)
