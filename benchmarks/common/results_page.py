"""Writes docs/results.md and its figures from the results' small files:

python -m benchmarks.common.results_page [--peers FILE] [--paper FILE] [--docs DIR]

A file that is not there leaves its part out. No number of the page is typed by hand.
"""

import argparse
import importlib
import json
from pathlib import Path

from benchmarks.common.arguments import ROOT
from benchmarks.common.results_file import write_whole

RESULTS = ROOT / "benchmarks" / "results"
PARTS = ("peers", "paper")
INTRODUCTION = """# Results

Every number here is made by a program and can be made again: `make peers-quick` and
`make paper-quick` take less than half an hour each on two cores, `make peers` and `make paper` are
the whole of it. [How limits are held](limits.md) says what bregboost does;
`benchmarks/results/` has the numbers behind this page.
"""


def page(files: dict[str, Path], figures: Path) -> str:
    """Each part is written by `render` of its folder's module `section`."""
    sections = [INTRODUCTION]
    for name, file in files.items():
        if file.is_file():
            section = importlib.import_module(f"benchmarks.{name}.section")
            sections.append(section.render(json.loads(file.read_text()), figures))
    return "\n".join(sections)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in PARTS:
        default = RESULTS / f"{name}.json"
        parser.add_argument(
            f"--{name}", type=Path, default=default, help=f"default: {default.name}"
        )
    parser.add_argument("--docs", type=Path, default=ROOT / "docs", help="default: docs")
    options = parser.parse_args()
    files = {name: getattr(options, name) for name in PARTS}
    if not any(file.is_file() for file in files.values()):
        parser.error(
            f"peers: no file '{options.peers}'; allowed: one that peers.py --summary wrote"
        )
    figures = options.docs / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    write_whole(options.docs / "results.md", page(files, figures))


if __name__ == "__main__":
    main()
