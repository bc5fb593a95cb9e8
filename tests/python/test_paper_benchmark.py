"""The paper's experiments: random sets of hyper-parameters, a tiny problem, the store, the page."""

import csv
import json
import math
import re
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.common.rate_limits import ClassLimit, GapLimit, Outcome  # noqa: E402
from benchmarks.common.tasks import Split, Task, merit_and_giveaway  # noqa: E402
from benchmarks.paper import courses, paper, parameters, runs, section  # noqa: E402
from benchmarks.paper.parameters import RANGES, ParameterSet, Range  # noqa: E402
from benchmarks.paper.printed import Figure, PrintedRow, printed, printed_rows  # noqa: E402
from benchmarks.paper.problems import PROBLEMS, error_spread, one_bound  # noqa: E402
from benchmarks.paper.store import Store  # noqa: E402
from benchmarks.paper.summary import Cell, Mean, cells_of, summarised, updated  # noqa: E402

# ---- sets of hyper-parameters


def test_a_set_is_a_function_of_its_number() -> None:
    assert ParameterSet.draw(3) == ParameterSet.draw(3)
    assert len({ParameterSet.draw(number) for number in range(50)}) == 50


def test_sets_lie_in_their_ranges_and_fill_them() -> None:
    drawn = [ParameterSet.draw(number).as_dict() for number in range(300)]
    for name, values in RANGES.items():
        column = np.array([row[name] for row in drawn], dtype=float)
        assert column.min() >= values.low
        assert column.max() <= values.high
        scale = np.log if values.logarithmic else np.asarray
        low, high = scale(values.low), scale(values.high)
        # Uniform: the mean of 300 is within 4 standard errors of the middle.
        error = (high - low + values.whole) / math.sqrt(12 * len(column))
        assert abs(scale(column).mean() - (low + high) / 2) < 4 * error, name


def test_whole_ranges_have_both_ends() -> None:
    random = np.random.default_rng(0)
    assert {Range(2, 4, whole=True).draw(random) for _ in range(60)} == {2, 3, 4}


def test_every_range_is_explained() -> None:
    assert parameters.MEANINGS.keys() == RANGES.keys()


@pytest.mark.parametrize("learner", parameters.LEARNERS)
def test_estimators_have_the_drawn_parameters(learner: str) -> None:
    drawn = ParameterSet.draw(1)
    told = drawn.estimator(learner, threads=1).get_params()
    assert told["n_estimators"] == drawn.iterations
    assert told["learning_rate"] == drawn.learning_rate
    size = {"lightgbm": ("num_leaves", drawn.leaves), "xgboost": ("max_depth", drawn.depth)}
    name, value = size[learner]
    assert told[name] == value


def test_an_unknown_learner_is_named() -> None:
    with pytest.raises(ValueError, match=r"learner: 'forest'; allowed: lightgbm, xgboost"):
        ParameterSet.draw(0).estimator("forest", threads=1)


# ---- what is printed, and what is measured


def test_printed_rows_are_those_of_the_tables() -> None:
    assert [row.table for row in printed_rows()].count("1") == 10
    assert [row.table for row in printed_rows()].count("2") == 10
    assert {row.problem for row in printed_rows()} == set(PROBLEMS)
    for name, problem in PROBLEMS.items():
        for learner in parameters.LEARNERS:
            assert printed(name, learner, "paper").table == problem.table


def test_limits_at_the_papers_level() -> None:
    (credit,) = PROBLEMS["credit"].limits_at_paper_level("credit", "lightgbm")
    assert credit.text == "fnr <= 11.63%"  # 5 and the printed 6.63 above
    (adult,) = PROBLEMS["adult"].limits_at_paper_level("adult", "xgboost")
    assert adult.text == "gap(error, by=group) <= 10.9%"
    assert PROBLEMS["drybean"].limits_at_paper_level("drybean", "lightgbm") is None


def test_spread_is_over_groups_that_occur() -> None:
    # Errors 1/2, 0 and 1: mean 1/2, variance (0 + 1/4 + 1/4) / 3.
    outcome = Outcome(
        predicted=np.array([1, 0, 0, 1]),
        labels=np.array([0, 0, 0, 0]),
        groups=np.array([0, 0, 2, 5]),
    )
    assert error_spread(outcome) == pytest.approx(math.sqrt(1 / 6))


# ---- two sets of a tiny problem, end to end


def tiny_split(_: Path, seed: int) -> Split:
    random = np.random.default_rng(seed)
    return Split(merit_and_giveaway(500, random), merit_and_giveaway(300, random))


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Problems of the paper's kinds, with one limit on a class and one on groups."""
    misses = Task("tiny misses", tiny_split, (ClassLimit("fnr", 1, 0.2),))
    gap = Task("tiny gap", tiny_split, (GapLimit("error", "error", None, 0.05),), measure="gap")
    of_class = replace(
        PROBLEMS["credit"],
        task=misses,
        paper_limits=("fnr <= 20%",),
        measured=lambda outcome: max(0.0, outcome.rate("error", label=1).value - 0.2),
        relaxed=one_bound(misses, 0.2),
    )
    monkeypatch.setitem(PROBLEMS, "credit", of_class)
    monkeypatch.setitem(PROBLEMS, "adult", replace(PROBLEMS["adult"], task=gap))
    short = Range(4, 6, whole=True)
    monkeypatch.setitem(RANGES, "iterations", short)
    monkeypatch.setattr(courses, "SETTINGS", replace(courses.SETTINGS, iterations=10))
    monkeypatch.setattr(courses, "ALPHAS", (0.05, 0.2))


def arguments(folder: Path, *more: str) -> list[str]:
    out = ["--out", str(folder / "paper.json"), "--results", str(folder / "results.json")]
    chosen = ["--tasks", "credit,adult", "--sets", "2", "--jobs", "1"]
    return [*chosen, "--data", str(folder), *out, *more]


@pytest.mark.usefixtures("tiny")
def test_runs_end_to_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paper.main(arguments(tmp_path))
    assert "lightgbm" in capsys.readouterr().out

    results = json.loads((tmp_path / "results.json").read_text())
    cells = [Cell.of(content) for content in results["cells"]]
    assert len(cells) == 2 * (4 + 5)  # learners; methods of a class limit, of a group limit
    assert all(cell.sets == 2 and not cell.failures for cell in cells)
    with (tmp_path / "paper.csv").open() as file:
        table = list(csv.DictReader(file))
    assert len(table) == 2 * len(cells)

    # The file agrees with a stock training and a count of our own.
    split, drawn = tiny_split(tmp_path, 1), ParameterSet.draw(1)
    stock = drawn.estimator("lightgbm", threads=1)
    stock.fit(split.training.features, split.training.labels)
    hits = (stock.predict(split.test.features) == split.test.labels).mean()
    plain = cells_of(results)["credit", "lightgbm", "plain"]
    assert plain.columns["accuracy"][1] == pytest.approx(100 * hits, abs=1e-3)

    page = section.render(results, tmp_path / "figures")
    check_page(page, tmp_path / "figures", pictures=4)
    assert "Credit, of Table 1" in page
    assert "Drybean" not in page.replace("(Credit, Drybean)", "")


@pytest.mark.usefixtures("tiny")
def test_runs_that_are_there_are_not_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = ("--methods", "plain", "--learners", "lightgbm")
    paper.main([*arguments(tmp_path, *few)[:3], "1", *arguments(tmp_path, *few)[4:]])
    done: list[str] = []
    measure = runs.measure

    def watched(run: runs.Run, data: Path, threads: int) -> dict:
        done.append(run.key)
        return measure(run, data, threads)

    monkeypatch.setattr(runs, "measure", watched)
    paper.main(arguments(tmp_path, *few))
    assert sorted(done) == ["adult, lightgbm, plain, set 1", "credit, lightgbm, plain, set 1"]
    paper.main(arguments(tmp_path, *few))
    assert len(done) == 2


@pytest.mark.usefixtures("tiny")
def test_an_interrupted_benchmark_keeps_what_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measure = runs.measure

    def interrupted(run: runs.Run, data: Path, threads: int) -> dict:
        if run.number == 1:
            raise KeyboardInterrupt
        return measure(run, data, threads)

    monkeypatch.setattr(runs, "measure", interrupted)
    with pytest.raises(SystemExit, match="goes on from here"):
        paper.main(arguments(tmp_path, "--methods", "plain", "--learners", "lightgbm"))
    assert len(Store(tmp_path / "paper.json").runs) == 2
    assert not list(tmp_path.glob("*.part"))


def test_results_of_other_ranges_are_not_mixed_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "paper.json"
    Store(path).add_run("a run", {"accuracy": 0.5})
    assert Store(path).runs == {"a run": {"accuracy": 0.5}}
    monkeypatch.setitem(RANGES, "depth", Range(2, 9, whole=True))
    with pytest.raises(SystemExit, match="allowed"):
        Store(path)


def test_refused_limits_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a class that no row has."""
    empty = Task("empty", tiny_split, (ClassLimit("error(class=7)", 7, 0.1),))
    monkeypatch.setitem(PROBLEMS, "credit", replace(PROBLEMS["credit"], task=empty))
    run = runs.Run("credit", "lightgbm", "auto", 0)
    store = Store(tmp_path / "paper.json")
    store.add_run(run.key, runs.measure(run, tmp_path, threads=1))
    results = summarised(store, "a command")
    (line,) = section.refusals("credit", results)
    assert line.startswith("- LightGBM, bregboost: 1 sets refused")
    assert "7" in line


@pytest.mark.parametrize(
    ("flag", "value", "allowed"),
    [("--tasks", "iris", "credit, drybean"), ("--sets", "0", "at least 1")],
)
def test_wrong_options_are_named(
    flag: str, value: str, allowed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        paper.parse(["--data", str(tmp_path), flag, value])
    message = capsys.readouterr().err
    assert f"'{value}'" in message
    assert allowed in message


def test_quick_has_the_first_sets_of_the_full_form(tmp_path: Path) -> None:
    quick, full = (paper.parse(["--data", str(tmp_path), *flag]) for flag in (["--quick"], []))
    assert (quick.sets, full.sets) == (10, 100)
    assert runs.wanted_runs(["credit"], ["lightgbm"], ["plain"], 100)[:10] == runs.wanted_runs(
        ["credit"], ["lightgbm"], ["plain"], 10
    )


# ---- sentences


def cell(method: str, accuracy: list[float], measure: list[float]) -> Cell:
    columns = {"accuracy": dict(enumerate(accuracy)), "measure": dict(enumerate(measure))}
    return Cell("credit", "lightgbm", method, columns, failures=0)


def test_differences_are_paired() -> None:
    """Sets differ by 10 points, methods by 1: alone the means would drown in the sets."""
    ours, theirs = cell("auto", [80, 90, 71.1], [1, 2, 3]), cell("paper", [79, 89, 70], [2, 2, 2])
    difference = ours.difference(theirs, "accuracy")
    assert difference.value == pytest.approx((1 + 1 + 1.1) / 3)
    assert section.direction(difference, larger_is_better=True) == 1
    assert section.direction(difference, larger_is_better=False) == -1
    assert section.direction(ours.difference(theirs, "measure"), larger_is_better=True) == 0


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ([5.0], 0),  # nothing to judge it by
        ([1.0, 3.0], 0),  # 2 standard errors, where two values ask for 12.7
        ([1.0, 3.0] * 4, 1),  # 5.3 of them, where eight ask for 2.4
    ],
)
def test_few_sets_show_little(values: list[float], found: int) -> None:
    assert section.direction(Mean.of(values), larger_is_better=True) == found


def test_printed_figures_are_compared_by_both_deviations() -> None:
    row = PrintedRow("1", "credit", "lightgbm", "paper", "x", Figure(90, 3), Figure(5, 1))
    accuracy, _ = section.from_printed(cell("auto", [90, 92, 94, 96], [1, 1, 1, 1]), row)
    # Variance of our mean (20/3) / 4, of theirs 9 / 100.
    assert accuracy.value == pytest.approx(3.0)
    assert accuracy.standard_error == pytest.approx(math.sqrt(5 / 3 + 0.09))


def check_page(page: str, figures: Path, pictures: int) -> None:
    """Pictures exist and are drawings; tables have as many columns as their header."""
    found = re.findall(r"\]\(figures/(\S+\.svg)\)", page)
    assert len(found) == pictures
    for name in found:
        assert ElementTree.parse(figures / name).getroot().tag.endswith("svg")
    for block in re.findall(r"(?:^\|.*\|\n)+", page, flags=re.MULTILINE):
        assert len({line.count("|") for line in block.splitlines()}) == 1
    assert "nan" not in page


def test_methods_are_run_anew_without_the_others() -> None:
    def results(build: str, *cells: tuple[str, float]) -> dict:
        return {
            "command": f"paper of {build}",
            "machine": {"cores": 2},
            "origin": {"bregboost": "0.1.0", "build": build},
            "courses": [build],
            "cells": [
                {"problem": "adult", "learner": "xgboost", "method": method, "set": [0, 1],
                 "accuracy": [accuracy] * 2}
                for method, accuracy in cells
            ],
        }  # fmt: skip

    before = results("old", ("plain", 87.0), ("abpp", 85.0), ("auto", 85.5))
    now = results("new", ("plain", 87.1), ("auto", 85.7))
    made = updated(before, now)
    assert [cell["accuracy"][0] for cell in made["cells"]] == [87.1, 85.0, 85.7]
    assert made["courses"] == ["old"]
    assert (made["command"], made["updated_by"]) == ("paper of old", "paper of new")
    with pytest.raises(SystemExit, match=r"cell: .*cbpr.*; allowed"):
        updated(before, results("new", ("cbpr", 80.0)))
    with pytest.raises(SystemExit, match=r"machine: .*; allowed beside"):
        updated(before, {**now, "machine": {"cores": 4}})
