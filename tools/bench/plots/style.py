"""The common style of all plots, and the caption below each plot. The caption states where and when the times were
measured.
"""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import matplotlib
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure

OWN_COLOR = "#0b6e4f"
PEER_COLOR = "#9aa0a6"
SVG = "http://www.w3.org/2000/svg"
XLINK = "http://www.w3.org/1999/xlink"
#: Colors of curves: this project's curves are colored, and its peers' curves are gray.
OWN_CURVE_COLORS = ["#0b6e4f", "#d1495b", "#30638e", "#edae49"]
PEER_CURVE_COLORS = ["#5f6368", "#9aa0a6", "#c3c7cb"]

#: Replacements for colors on dark pages. White areas become transparent.
DARK_COLORS = {
    "#ffffff": "none",
    "#000000": "#e6edf3",
    "#202124": "#e6edf3",
    "#e4e6e8": "#30363d",
    "#5f6368": "#a8b0b8",
    "#c3c7cb": "#6e7681",
    "#0b6e4f": "#3fb68b",
    "#d1495b": "#f2808e",
    "#30638e": "#6cb0e6",
}


def apply_style() -> None:
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
            # Keep labels as SVG text instead of outlines, so that they use the reader's fonts.
            "svg.fonttype": "none",
            "font.sans-serif": ["DejaVu Sans"],
            # Make identical data produce identical files.
            "svg.hashsalt": "polyflake",
        }
    )


def reserve_space(figure: Figure, height: float) -> None:
    """Reserves space for the caption below the plots, in a figure of the given height in inches."""
    caption_height = 0.5 / height
    figure.set_layout_engine("constrained", rect=(0, caption_height, 1, 1 - caption_height))


def label(axis: Axes, text: str, x: float, place: float, gap: int = 4) -> None:
    """Writes a label to the right of a point."""
    axis.annotate(text, (x, place), (gap, 0), textcoords="offset points", va="center", fontsize=8)


def save(figure: Figure, file: Path, machine: dict[str, Any], note: str) -> None:
    """Saves a plot with a caption that states the method, the machine and the date."""
    conditions = f"{machine['processor']}, {machine['processors']} processors, {machine['system']}, {machine['date']}"
    busy = machine["load"] is not None and machine["load"] > machine["processors"] / 2
    warning = f"; others were at work (load {machine['load']:.1f}): provisional" if busy else ""
    figure.text(0.01, 0.01, f"{note}\n{conditions}{warning}", fontsize=8, color="#5f6368", va="bottom")
    svg_buffer = StringIO()
    figure.savefig(svg_buffer, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    pyplot.close(figure)
    file.write_text(strip_svg(svg_buffer.getvalue()))


def strip_svg(svg: str) -> str:
    """Rounds coordinates to a tenth of a point, declares each style once, and removes elements that do not affect the
    image.
    """
    ElementTree.register_namespace("", SVG)
    ElementTree.register_namespace("xlink", XLINK)
    root = ElementTree.fromstring(svg)
    classes: dict[str, str] = {}
    referenced_ids = set(re.findall(r"#([\w-]+)[\")]", svg))
    for element in root.iter():
        element[:] = [part for child in element for part in _split_parts(child, referenced_ids)]
        element.text = (element.text or "").strip() or None
        element.tail = "\n"
        if element.get("transform", "").startswith("rotate(-0 "):
            del element.attrib["transform"]
        for name in {"d", "x", "y", "width", "height", "transform"}.intersection(element.attrib):
            element.set(name, _round_numbers(element.attrib[name]))
        if style := element.attrib.pop("style", None):
            element.set("class", classes.setdefault(style, f"s{len(classes)}"))
    sheet = next(root.iter(f"{{{SVG}}}style"))
    rules = {name: style for style, name in classes.items()}
    sheet.text = "\n".join(
        [sheet.text or "", *(f".{name}{{{style}}}" for name, style in rules.items()), dark_style(rules)]
    )
    return ElementTree.tostring(root, encoding="unicode")


def dark_style(rules: dict[str, str]) -> str:
    """Returns the rules for classes whose colors differ on dark pages. Text is black if its class has no color."""
    dark_rules = {
        name: re.sub(r"#[0-9a-f]{6}", lambda it: DARK_COLORS.get(it[0], it[0]), rules[name]) for name in rules
    }
    lines = [f".{name}{{{style}}}" for name, style in dark_rules.items() if style != rules[name]]
    return "\n".join(["@media (prefers-color-scheme: dark){", f"text{{fill: {DARK_COLORS['#000000']}}}", *lines, "}"])


def _split_parts(element: ElementTree.Element, referenced_ids: set[str]) -> list[ElementTree.Element]:
    """Returns a list that contains the element, or its children if it is a group without attributes. The list is empty
    for a metadata element.
    """
    if element.get("id") not in referenced_ids:
        element.attrib.pop("id", None)
    if element.tag == f"{{{SVG}}}metadata":
        return []
    if element.tag != f"{{{SVG}}}g" or element.attrib:
        return [element]
    return [part for child in element for part in _split_parts(child, referenced_ids)]


def _round_numbers(numbers: str) -> str:
    shortened_numbers = re.sub(r"-?\d+\.\d+", lambda number: f"{float(number[0]):.1f}".removesuffix(".0"), numbers)
    return re.sub(r"\s*([A-Za-z])\s*", r"\1", shortened_numbers).strip()
