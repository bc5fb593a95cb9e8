"""The paper's Tables 1 and 2 and its figures: plain boosting, the paper's solvers as written, and
bregboost's own, under random hyper-parameters. Run by `make paper-quick` and `make paper`.

Interrupt it at any time; the same command goes on where it was."""

import argparse
import json
import os
import shlex
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from tqdm import tqdm

from benchmarks.common.arguments import add_data
from benchmarks.common.results_file import write_whole
from benchmarks.paper import courses, runs
from benchmarks.paper.parameters import LEARNERS
from benchmarks.paper.problems import PROBLEMS
from benchmarks.paper.store import Store
from benchmarks.paper.summary import as_json, as_text, summarised, updated

QUICK_SETS, FULL_SETS = 10, 100

Work = tuple[str, Callable[[], dict[str, Any]], Callable[[str, dict[str, Any]], None]]


def missing_work(options: argparse.Namespace, store: Store) -> list[Work]:
    """What to run under which key, and where its record goes."""
    work: list[Work] = []
    if courses.PROBLEM in options.tasks and not options.update:
        work += [
            (
                course.key,
                lambda course=course: courses.follow(course, options.data, options.threads),
                store.add_course,
            )
            for course in courses.wanted_courses(options.learners, options.methods)
            if course.key not in store.courses
        ]
    wanted = runs.wanted_runs(options.tasks, options.learners, options.methods, options.sets)
    work += [
        (
            run.key,
            lambda run=run: runs.measure(run, options.data, options.threads),
            store.add_run,
        )
        for run in wanted
        if run.key not in store.runs
    ]
    return work


def run_all(work: Iterable[Work], jobs: int) -> None:
    """Threads will do: the libraries train outside Python's lock. An interrupt ends it after the
    runs that are under way."""
    tasks = list(work)
    with (
        ThreadPoolExecutor(jobs) as pool,
        tqdm(total=len(tasks), unit="run", smoothing=0.05, file=sys.stderr) as bar,
    ):
        started: dict[Future[dict[str, Any]], Work] = {
            pool.submit(work): (key, work, keep) for key, work, keep in tasks
        }
        try:
            for done in as_completed(started):
                key, _, keep = started[done]
                keep(key, done.result())
                bar.set_postfix_str(key)
                bar.update()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def words_among(allowed: Iterable[str]) -> Callable[[str], list[str]]:
    names = list(allowed)

    def words(text: str) -> list[str]:
        chosen = text.split(",")
        for word in chosen:
            if word not in names:
                raise argparse.ArgumentTypeError(f"'{word}'; allowed: {', '.join(names)}")
        return chosen

    return words


def positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}'; allowed: an integer of at least 1")
    return int(text)


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    for name, allowed in (
        ("tasks", PROBLEMS),
        ("learners", LEARNERS),
        ("methods", runs.METHODS),
    ):
        parser.add_argument(
            f"--{name}",
            type=words_among(allowed),
            default=list(allowed),
            help=f"among {','.join(allowed)}; default: all",
        )
    sets = parser.add_mutually_exclusive_group()
    sets.add_argument(
        "--quick",
        action="store_const",
        const=QUICK_SETS,
        default=FULL_SETS,
        dest="sets",
        help=f"{QUICK_SETS} sets of hyper-parameters instead of {FULL_SETS}",
    )
    sets.add_argument("--sets", type=positive, default=FULL_SETS, help=f"default: {FULL_SETS}")
    add_data(parser)
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("paper.json"),
        help="every run is kept here, and beside it as CSV",
    )
    parser.add_argument(
        "--results", type=Path, help="what the page shows, rounded; all that --out has"
    )
    parser.add_argument(
        "--update",
        action="store_true",
        help="keep what --results has of methods that are not run now, and all courses",
    )
    parser.add_argument(
        "--jobs", type=positive, default=os.cpu_count() or 1, help="runs at a time; default: cores"
    )
    parser.add_argument("--threads", type=positive, default=1, help="of one run; default: 1")
    options = parser.parse_args(arguments)
    if not options.data.is_dir():
        parser.error(
            f"data: no folder '{options.data}'; allowed: one with drybean.csv.xz and the other "
            "files (BREGBOOST_DATA names it)"
        )
    return options


def command_line(options: argparse.Namespace) -> str:
    """Without paths, which are the machine's own."""
    words = ["python", "-m", "benchmarks.paper.paper", "--sets", str(options.sets)]
    if options.methods != list(runs.METHODS):
        words += ["--methods", ",".join(options.methods)]
    return shlex.join([*words, "--jobs", str(options.jobs), "--threads", str(options.threads)])


def main(arguments: list[str] | None = None) -> None:
    options = parse(arguments)
    store = Store(options.out)
    try:
        run_all(missing_work(options, store), options.jobs)
    except KeyboardInterrupt:
        raise SystemExit("interrupted; the same command goes on from here") from None
    store.write_csv(options.out.with_suffix(".csv"))
    results = summarised(store, command_line(options))
    if options.update:
        results = updated(json.loads(options.results.read_text()), results)
    if options.results:
        write_whole(options.results, as_json(results))
    print(as_text(results))


if __name__ == "__main__":
    main()
