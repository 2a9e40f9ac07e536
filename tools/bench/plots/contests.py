"""Plots of contests: dots for polyflake and for other libraries of the same language, and curves over an axis."""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from typing import Any, TypeAlias

from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

from style import OWN_COLOR, OWN_CURVE_COLORS, PEER_COLOR, PEER_CURVE_COLORS, label, reserve_space, save

Entry: TypeAlias = dict[str, Any]

METHOD = "All timed in turn in one process on one processor; medians of 101 rounds, whiskers are quartiles."
LANGUAGE_NAMES = {"rust": "Rust", "python": "Python", "node": "Node"}


def draw(report: dict[str, Any], folder: Path) -> None:
    """Draws every plot whose contests are in the report."""
    contests_by_name = {contest["contest"]: contest for contest in report["contests"]}
    for language in LANGUAGE_NAMES:
        single_id_contests = {
            "one ID": contests_by_name.get(f"{language}: one ID"),
            "one ID as text": contests_by_name.get(f"{language}: one ID as text"),
        }
        if any(single_id_contests.values()):
            _plot_peers(language, {what: one for what, one in single_id_contests.items() if one}, report, folder)
        if batches := contests_by_name.get(f"{language}: batches"):
            _plot_batches(language, batches, report, folder)
    if threads := contests_by_name.get("rust: threads"):
        _plot_threads(threads, report, folder)


def _plot_peers(language: str, single_id_contests: dict[str, Any], report: dict[str, Any], folder: Path) -> None:
    """Draws the contests for generating one ID, and for generating one ID as a string, side by side."""
    max_entry_count = max(len(contest["entries"]) for contest in single_id_contests.values())
    size = (5.6 * len(single_id_contests) + 0.6, 1.5 + 0.3 * max_entry_count)
    figure, axes = pyplot.subplots(1, len(single_id_contests), figsize=size, squeeze=False)
    reserve_space(figure, size[1])
    for axis, (what, contest) in zip(axes[0], single_id_contests.items(), strict=True):
        _plot_dots(axis, contest["entries"])
        axis.set_title(f"{LANGUAGE_NAMES[language]}: {what}")
    save(figure, folder / f"{language}.svg", report["machine"], METHOD)


def _plot_dots(axis: Axes, entries: list[Entry]) -> None:
    """Draws entries as dots, with the fastest entry at the top. The scale is logarithmic if the slowest entry would
    otherwise make the other entries indistinguishable. Dots are used because bars have no meaningful length on a
    logarithmic scale.
    """
    entries = sorted(entries, key=lambda entry: -entry["ns"])
    nanos = [entry["ns"] for entry in entries]
    for place, entry in enumerate(entries):
        low, high = entry["quartiles_ns"]
        spread = [[entry["ns"] - low], [high - entry["ns"]]]
        color = OWN_COLOR if entry["ours"] else PEER_COLOR
        axis.errorbar(
            entry["ns"], place, xerr=spread, fmt="o", markersize=8, color=color, ecolor="#202124", elinewidth=1
        )
        label(axis, _format_nanoseconds(entry["ns"]), high, place, gap=8)
    axis.set_yticks(range(len(entries)), [entry["name"] for entry in entries])
    axis.set_ylim(-0.7, len(entries) - 0.3)
    wide = max(nanos) > 20 * min(nanos)
    if wide:
        axis.set_xscale("log")
        axis.set_xlim(min(nanos) / 1.6, max(nanos) * 3)
        axis.minorticks_off()
    else:
        axis.set_xlim(0, max(nanos) * 1.2)
    axis.xaxis.set_major_formatter(FuncFormatter(_format_axis_value))
    axis.set_xlabel("ns an ID" + (", logarithmic" if wide else ""))
    axis.plot([], [], "o", color=OWN_COLOR, label="polyflake")
    axis.plot([], [], "o", color=PEER_COLOR, label="others")
    axis.legend(loc="upper right")


def _plot_batches(language: str, contest: dict[str, Any], report: dict[str, Any], folder: Path) -> None:
    figure, axis = pyplot.subplots(figsize=(9, 4.6))
    axis.set_xscale("log", base=4)
    axis.set_yscale("log")
    _plot_curves(axis, contest["entries"], lambda entry: float(entry["ns"]))
    axis.set_ylabel("ns an ID, logarithmic")
    axis.set_xlabel("IDs in one call, logarithmic")
    axis.set_title(f"{LANGUAGE_NAMES[language]}: what an ID costs, by how many are made at once")
    figure.subplots_adjust(left=0.08, right=0.7, top=0.92, bottom=0.21)
    save(figure, folder / f"{language}-batches.svg", report["machine"], METHOD.replace("whiskers", "shades"))


def _plot_threads(contest: dict[str, Any], report: dict[str, Any], folder: Path) -> None:
    figure, axis = pyplot.subplots(figsize=(9, 4.6))
    _plot_curves(axis, contest["entries"], lambda entry: 1000 / entry["ns"], _throughput_spread)
    axis.set_ylim(bottom=0)
    axis.set_xticks(sorted({entry["x"] for entry in contest["entries"]}))
    axis.set_ylabel("million IDs a second, all threads together")
    axis.set_xlabel("threads, each on a processor of its own")
    axis.set_title("Rust: throughput against threads, the system's clock read for every ID")
    figure.subplots_adjust(left=0.08, right=0.7, top=0.92, bottom=0.21)
    note = "Medians of 101 rounds in turn, shades are quartiles. Ticks are shortened so that no format's cap binds."
    save(figure, folder / "threads.svg", report["machine"], note)


def _throughput_spread(entry: Entry) -> tuple[float, float]:
    low, high = entry["quartiles_ns"]
    return 1000 / high, 1000 / low


def _quartile_spread(entry: Entry) -> tuple[float, float]:
    low, high = entry["quartiles_ns"]
    return low, high


def _plot_curves(
    axis: Axes,
    entries: list[Entry],
    value: Callable[[Entry], float],
    spread: Callable[[Entry], tuple[float, float]] = _quartile_spread,
) -> None:
    """Draws a curve for each name, with the range between its quartiles shaded."""
    ours, theirs = cycle(OWN_CURVE_COLORS), cycle(PEER_CURVE_COLORS)
    for name in dict.fromkeys(entry["name"] for entry in entries):
        curve = [entry for entry in entries if entry["name"] == name]
        color = next(ours) if curve[0]["ours"] else next(theirs)
        x = [entry["x"] for entry in curve]
        axis.plot(x, [value(entry) for entry in curve], marker="o", markersize=4, color=color, label=name)
        low, high = zip(*(spread(entry) for entry in curve), strict=True)
        axis.fill_between(x, low, high, color=color, alpha=0.2, linewidth=0)
    axis.xaxis.set_major_formatter(FuncFormatter(_format_axis_value))
    axis.yaxis.set_major_formatter(FuncFormatter(_format_axis_value))
    axis.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))


def _format_axis_value(value: float, _place: object) -> str:
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def _format_nanoseconds(nanos: float) -> str:
    return f"{nanos:,.0f}" if nanos >= 99.5 else f"{nanos:.3g}"
