"""Draws measurements as SVG, for `cargo xtask bench --plots`. Arguments: the JSON file and the output folder."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import contests
import keys
from style import apply_style


def main(file: str, folder: str) -> None:
    report: dict[str, Any] = json.loads(Path(file).read_text())
    apply_style()
    output_folder = Path(folder)
    output_folder.mkdir(parents=True, exist_ok=True)
    if "tables" in report:
        keys.draw(report, output_folder)
    else:
        contests.draw(report, output_folder)


main(*sys.argv[1:])
