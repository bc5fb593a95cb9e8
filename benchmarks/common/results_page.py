"""Writes docs/results.md and its figures from the results' small files:

python -m benchmarks.common.results_page [--peers FILE] [--paper FILE] [--docs DIR] [--readme FILE]

A file that is not there leaves its part out. No number of the page is typed by hand, nor one of the
table in README.md, which is written only where that file is named.
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


TABLE_BEGINS, TABLE_ENDS = "<!-- table of results: begins -->", "<!-- table of results: ends -->"


def with_table(text: str, table: str) -> str:
    """The text with another table between its marks."""
    before, begins, rest = text.partition(TABLE_BEGINS)
    _, ends, after = rest.partition(TABLE_ENDS)
    if not (begins and ends):
        raise ValueError(f"readme: no '{TABLE_BEGINS}' before '{TABLE_ENDS}'; allowed: both")
    return f"{before}{TABLE_BEGINS}\n\n{table}\n\n{TABLE_ENDS}{after}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in PARTS:
        default = RESULTS / f"{name}.json"
        parser.add_argument(
            f"--{name}", type=Path, default=default, help=f"default: {default.name}"
        )
    parser.add_argument("--docs", type=Path, default=ROOT / "docs", help="default: docs")
    parser.add_argument("--readme", type=Path, help="whose table is written anew")
    options = parser.parse_args()
    files = {name: getattr(options, name) for name in PARTS}
    if not any(file.is_file() for file in files.values()):
        parser.error(
            f"peers: no file '{options.peers}'; allowed: one that peers.py --summary wrote"
        )
    figures = options.docs / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    write_whole(options.docs / "results.md", page(files, figures))
    if options.readme and options.peers.is_file():
        readme = importlib.import_module("benchmarks.peers.readme")
        table = readme.render(json.loads(options.peers.read_text()))
        write_whole(options.readme, with_table(options.readme.read_text(), table))


if __name__ == "__main__":
    main()
