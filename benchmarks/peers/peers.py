"""The field side by side: the same tasks, splits, trees and threads for bregboost, the stock
libraries and other packages. Run by `make peers-quick` and `make peers`."""

import argparse
import hashlib
import json
import os
import sys
from pathlib import Path

import bregboost
from tqdm import tqdm

from benchmarks.common.arguments import add_data, seeds_of, words_among
from benchmarks.common.results_file import ResultsFile, write_whole
from benchmarks.peers.methods import METHODS
from benchmarks.peers.runs import PEER_TASKS, Run, measure, wanted_runs
from benchmarks.peers.summary import as_csv, as_document, updated

LEARNERS = ("lightgbm", "xgboost", "forest")
SEEDS, QUICK_SEEDS = "100-109", "100-102"
# Twice the slowest method for a variant of it.
NOT_IN_QUICK = ("reduction_as_given",)


def digest_of_bregboost() -> str:
    """Of the package that is imported, wherever its files are: a new build starts new results."""
    sources = sorted(Path(bregboost.__file__).parent.rglob("*.py"))
    digest = hashlib.sha256()
    for file in [*sources, Path(bregboost._core.__file__)]:
        digest.update(file.read_bytes())
    return digest.hexdigest()


def run_all(runs: list[Run], results: ResultsFile, data: Path, threads: int) -> None:
    """Those that failed before are tried again."""

    def is_missing(run: Run) -> bool:
        return "failure" in results.runs.get(run.key, {"failure": ""})

    missing = [run for run in runs if is_missing(run)]
    with tqdm(missing, unit="run", disable=not missing) as bar:
        for run in bar:
            bar.set_postfix_str(run.key)
            record = measure(run, data, threads)
            results.add(run.key, record)
            if "failure" in record:
                bar.write(f"{run.key}: {record['failure']}", file=sys.stderr)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick",
        action="store_true",
        help="three seeds, the frontier of bregboost alone, fewer slow peers",
    )
    add_data(parser)
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("build/bench/peers.json"),
        help="every run is kept here, and as CSV beside; default: build/bench/peers.json",
    )
    parser.add_argument(
        "--summary", type=Path, help="also write the small file that the page is made from"
    )
    parser.add_argument(
        "--update",
        action="store_true",
        help="keep what the summary has of methods that are not run now",
    )
    parser.add_argument(
        "--tasks",
        type=lambda text: words_among(PEER_TASKS, text),
        default=list(PEER_TASKS),
        help=f"among {','.join(PEER_TASKS)}; default: all",
    )
    parser.add_argument(
        "--methods",
        type=lambda text: words_among(METHODS, text),
        help=f"among {','.join(METHODS)}; default: all, or with --quick all but "
        f"{','.join(NOT_IN_QUICK)}",
    )
    parser.add_argument(
        "--learners",
        type=lambda text: words_among(LEARNERS, text),
        default=list(LEARNERS),
        help=f"among {','.join(LEARNERS)}; default: all",
    )
    parser.add_argument(
        "--seeds", type=seeds_of, help=f"default: {SEEDS}, or with --quick {QUICK_SEEDS}"
    )
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="default: all cores")
    options = parser.parse_args()
    if not options.data.is_dir():
        parser.error(
            f"data: no folder '{options.data}'; allowed: one with drybean.csv.xz and the other "
            "files (BREGBOOST_DATA names it)"
        )
    if options.threads < 1:
        parser.error(f"threads: {options.threads}; allowed: at least 1")
    fill_in(options)
    return options


def default_methods(quick: bool) -> list[str]:
    return [name for name in METHODS if not (quick and name in NOT_IN_QUICK)]


def fill_in(options: argparse.Namespace) -> None:
    """What depends on --quick."""
    if options.methods is None:
        options.methods = default_methods(options.quick)
    if options.seeds is None:
        options.seeds = seeds_of(QUICK_SEEDS if options.quick else SEEDS)


def command(options: argparse.Namespace) -> str:
    """What gives the same results elsewhere: without this machine's files."""
    words = ["python", "-m", "benchmarks.peers.peers"]
    words += ["--quick"] if options.quick else []
    defaults = {
        "tasks": list(PEER_TASKS),
        "methods": default_methods(options.quick),
        "learners": list(LEARNERS),
    }
    for name, default in defaults.items():
        chosen = getattr(options, name)
        if chosen != default:
            words += [f"--{name}", ",".join(chosen)]
    seeds = f"{options.seeds[0]}-{options.seeds[-1]}"
    return " ".join([*words, "--seeds", seeds, "--threads", str(options.threads)])


def main() -> None:
    options = parse()
    # Times with other numbers of threads are not comparable.
    build = f"{digest_of_bregboost()}, {options.threads} threads"
    results = ResultsFile(options.out, build)
    runs = wanted_runs(
        options.tasks,
        options.methods,
        options.learners,
        options.seeds,
        options.quick,
    )
    run_all(runs, results, options.data, options.threads)
    records = [results.runs[run.key] for run in runs]
    write_whole(options.out.with_suffix(".csv"), as_csv(records))
    if options.summary:
        document = as_document(records, command(options), options.threads)
        if options.update:
            document = updated(json.loads(options.summary.read_text()), document)
        write_whole(options.summary, json.dumps(document, indent=None) + "\n")


if __name__ == "__main__":
    main()
