"""Command line arguments that the benchmarks share."""

import argparse
import os
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def words_among(allowed: Iterable[str], text: str) -> list[str]:
    words = text.split(",")
    for word in words:
        if word not in allowed:
            raise argparse.ArgumentTypeError(f"'{word}'; allowed: {', '.join(allowed)}")
    return words


def seeds_of(text: str) -> list[int]:
    first, _, last = text.partition("-")
    try:
        seeds = list(range(int(first), int(last or first) + 1))
    except ValueError:
        seeds = []
    if not seeds:
        raise argparse.ArgumentTypeError(f"'{text}'; allowed: a number, or a range such as 100-109")
    return seeds


def default_data() -> Path:
    return Path(os.environ.get("BREGBOOST_DATA", ROOT.parent / "shared" / "data"))


def add_data(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data",
        type=Path,
        default=default_data(),
        help="default: BREGBOOST_DATA, or ../shared/data",
    )
