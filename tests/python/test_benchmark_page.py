"""The page of results, from results that are made up so that every verdict is known."""

import json
from pathlib import Path

import pytest

from benchmarks.common import results_page
from benchmarks.common.arguments import ROOT
from benchmarks.common.results_file import ResultsFile
from benchmarks.peers import readme, section
from benchmarks.peers.method import Setting
from benchmarks.peers.runs import Run, wanted_runs
from benchmarks.peers.summary import as_csv, cells, updated

SEEDS = [100, 101, 102, 103]
TASK = {
    "title": "Adult, error gap <= 5%",
    "limits": ["gap(error, by=group) <= 5%"],
    "by_group": True,
    "measure": "gap",
    "bound": 0.05,
}


def cell(method: str, accuracy: float, gap: float, ratio: float, **changes: object) -> dict:
    """The same small wobble for every method, so that paired differences are constant."""
    wobble = [0.0, 0.001, 0.002, 0.001]
    gaps = [gap + change for change in wobble]
    fields = {
        "task": "adult_error",
        "method": method,
        "learner": "lightgbm",
        "setting": "default",
        "seeds": SEEDS,
        "accuracy": [accuracy + change for change in wobble],
        "violation": [max(0.0, value - 0.05) for value in gaps],
        "measure": gaps,
        "noise_floor": [0.003] * 4,
        "values": [[value] for value in gaps],
        "held": [value <= 0.05 for value in gaps],
        "seconds": [ratio] * 4,
        "plain_seconds": [1.0] * 4,
    }
    return fields | changes


def document(*made: dict) -> dict:
    titles = {
        "bregboost": ("bregboost", True, False),
        "plain": ("plain", True, False),
        "reduction": ("fairlearn ExponentiatedGradient", False, False),
        "oxonfair": ("OxonFair", True, True),
    }
    return {
        "about": {
            "command": "python -m benchmarks.peers.peers",
            "machine": "a machine",
            "threads": 2,
            "python": "3.11",
            "versions": {"bregboost": "0.1.0"},
        },
        "tasks": {"adult_error": TASK},
        "methods": {
            name: {
                "title": title,
                "deterministic": deterministic,
                "group_at_prediction": needs_group,
                "version": "",
            }
            for name, (title, deterministic, needs_group) in titles.items()
        },
        "cells": list(made),
    }


@pytest.fixture
def results() -> dict:
    return document(
        cell("plain", 0.87, 0.098, 1.0),
        cell("bregboost", 0.858, 0.046, 4.0),
        cell("bregboost", 0.866, 0.07, 4.0, setting="bounds x 1.4"),
        cell("reduction", 0.855, 0.06, 40.0),
        cell("oxonfair", 0.853, 0.045, 1.0),
    )


def line_of(text: str, start: str) -> str:
    return next(line for line in text.splitlines() if line.startswith(start))


def test_table_has_means_and_marks_what_is_clear(results: dict, tmp_path: Path) -> None:
    text = section.render(results, tmp_path)
    ours = line_of(text, "| bregboost (LightGBM)")
    # Deviation of 0, 0.1, 0.2, 0.1 points: sqrt(0.02 / 3).
    assert "**85.90 ± 0.08**" in ours
    assert "| 4.70 ± 0.08 | 4 of 4 | 4.0 | yes | no |" in ours
    assert "**" not in line_of(text, "| plain")  # more accurate, but far over the limit
    assert "| no | no |" in line_of(text, "| fairlearn")
    assert "| yes | needed |" in line_of(text, "| OxonFair")
    # bregboost and OxonFair have no violation: neither is clearly the best in that.
    assert "**0.00" not in text


def test_sentences_name_winner_and_distance(results: dict, tmp_path: Path) -> None:
    text = section.render(results, tmp_path)
    assert "**bregboost (LightGBM)** is the most accurate: 85.90." in text
    assert "Next is OxonFair (LightGBM) (needs the group), 0.50 points behind" in text
    assert "No peer dominates bregboost." in text
    assert "reached 85.90 at 4.70: met." in text


def test_targets_and_domination_are_not_glossed_over(tmp_path: Path) -> None:
    results = document(
        cell("bregboost", 0.85, 0.056, 8.0),
        cell("reduction", 0.86, 0.051, 40.0),
        cell("oxonfair", 0.86, 0.05, 1.0, learner="lightgbm"),
    )
    text = section.render(results, tmp_path)
    assert "missed by 0.60 of accuracy and 0.70 of gap" in text
    assert "8.0 (over) | 5 (under) |" in text
    both = "fairlearn ExponentiatedGradient (LightGBM), OxonFair (LightGBM)"
    assert f"bregboost (LightGBM) is dominated by {both}." in text


def test_missed_targets_say_where_the_frontier_passes(tmp_path: Path) -> None:
    results = document(
        cell("bregboost", 0.85, 0.056, 4.0),
        cell("bregboost", 0.846, 0.036, 4.0, setting="bounds x 0.5"),
        cell("bregboost", 0.83, 0.02, 4.0, setting="bounds x 0.3"),
    )
    # Means are 0.1 points above: from 84.70 at 3.70 to 85.10 at 5.70, 13/20 of the way at 5.
    text = section.render(results, tmp_path)
    assert "the line through its settings passes gap 5 at accuracy 84.96; all seeds share" in text


def test_peer_that_did_not_run_is_in_the_table(results: dict, tmp_path: Path) -> None:
    whole = cell("oxonfair", 0.0, 0.0, 1.0)
    gone = {name: [] if isinstance(value, list) else value for name, value in whole.items()}
    gone["failure"] = "did not install: no wheel"
    results["cells"] = [c for c in results["cells"] if c["method"] != "oxonfair"] + [gone]
    line = line_of(section.render(results, tmp_path), "| OxonFair")
    assert line.startswith("| OxonFair (LightGBM) | did not install: no wheel |")


def test_page_and_picture_are_written_the_same_twice(results: dict, tmp_path: Path) -> None:
    source = tmp_path / "peers.json"
    source.write_text(json.dumps(results))
    figures = tmp_path / "figures"
    figures.mkdir()
    files = {"peers": source, "paper": tmp_path / "none.json"}
    first = results_page.page(files, figures)
    picture = (figures / "results_adult_error.svg").read_bytes()
    assert "](figures/results_adult_error.svg)" in first
    assert results_page.page(files, figures) == first
    assert (figures / "results_adult_error.svg").read_bytes() == picture


def test_readme_has_the_best_other_method(results: dict) -> None:
    results["cells"].append(cell("bregboost", 0.857, 0.048, 4.0, learner="xgboost"))
    line = line_of(readme.render(results), "| Adult, error gap at most 5%")
    # Plain is beyond the noise of the limit, and so is the reduction.
    assert line.split(" | ")[1:] == [
        "87.1 / 4.9 / 1x",
        "85.9 / 0.0 / 4x",
        "85.8 / 0.0 / 4x",
        "85.4 / 0.0 / 1x: OxonFair (LightGBM) (needs the group) |",
    ]


def test_table_is_written_between_its_marks() -> None:
    begins, ends = results_page.TABLE_BEGINS, results_page.TABLE_ENDS
    once = results_page.with_table(f"# Title\n{begins}old{ends}\nthe rest", "| a |")
    assert once == f"# Title\n{begins}\n\n| a |\n\n{ends}\nthe rest"
    assert results_page.with_table(once, "| a |") == once
    with pytest.raises(ValueError, match="readme: no"):
        results_page.with_table("no marks", "| a |")


def test_the_pages_say_what_the_results_say(tmp_path: Path) -> None:
    files = {name: results_page.RESULTS / f"{name}.json" for name in results_page.PARTS}
    made = results_page.page(files, tmp_path)
    assert (ROOT / "docs" / "results.md").read_text() == made
    table = readme.render(json.loads(files["peers"].read_text()))
    text = (ROOT / "README.md").read_text()
    assert results_page.with_table(text, table) == text


def record(seed: int, accuracy: float) -> dict:
    lists = {name: 0.5 for name in ("violation", "measure", "noise_floor", "seconds")}
    run = Run("adult_error", "plain", "lightgbm", Setting(), seed)
    made = {"accuracy": accuracy, "values": [0.123456789], "held": True, "plain_seconds": 0.5}
    return run.words | lists | made


def test_runs_become_lists_by_seed() -> None:
    failed = Run("adult_error", "plain", "lightgbm", Setting(), 102).words | {"failure": "why"}
    made = cells([record(101, 0.8), record(100, 0.7), failed])
    assert len(made) == 1
    assert made[0]["seeds"] == [100, 101]
    assert made[0]["accuracy"] == [0.7, 0.8]
    assert made[0]["values"] == [[0.12346], [0.12346]]
    assert made[0]["failure"] == "why"
    assert as_csv([record(100, 0.7)]).splitlines()[0].startswith("task,method,learner,setting,seed")


def test_results_of_another_build_are_not_mixed(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    ResultsFile(path, "build 1").add("a run", {"accuracy": 0.5})
    assert ResultsFile(path, "build 1").runs == {"a run": {"accuracy": 0.5}}
    with pytest.raises(SystemExit, match="runs of another build"):
        ResultsFile(path, "build 2")


def test_quick_leaves_out_what_is_slow_and_asked_elsewhere() -> None:
    def keys(quick: bool) -> set[tuple[str, str, str]]:
        tasks, methods = ("adult_error", "adult_relaxed"), ("bregboost", "tuned", "reduction")
        runs = wanted_runs(tasks, methods, ["lightgbm"], [100, 101], quick)
        return {(run.task, run.method, run.setting.text) for run in runs}

    assert ("adult_relaxed", "reduction", "default") in keys(False) - keys(True)
    assert ("adult_error", "tuned", "bounds x 1.4") in keys(False) - keys(True)
    assert ("adult_error", "bregboost", "bounds x 1.4") in keys(True)
    assert ("adult_error", "reduction", "default") in keys(True)
    assert keys(True) < keys(False)


def test_methods_are_run_anew_without_the_others(tmp_path: Path) -> None:
    before = document(cell("bregboost", 0.85, 0.05, 5.0), cell("oxonfair", 0.86, 0.06, 3.0))
    now = document(cell("bregboost", 0.87, 0.04, 4.0))
    now["methods"] = {"bregboost": now["methods"]["bregboost"]}
    now["about"] = now["about"] | {"command": "peers --methods bregboost", "machine": "another"}
    result = updated(before, now)
    assert result["cells"] == [now["cells"][0], before["cells"][1]]
    assert result["about"]["command"] == before["about"]["command"]
    update = {"command": "peers --methods bregboost", "machine": "another"}
    assert result["about"]["updates"] == [update]
    assert result["about"]["machine"] == before["about"]["machine"]
    assert updated(result, now)["about"]["updates"] == [update, update]
    assert "peers --methods bregboost --update  # on another\n" in section.render(result, tmp_path)

    with pytest.raises(ValueError, match="threads: 7; allowed beside"):
        updated(before, now | {"about": now["about"] | {"threads": 7}})
    with pytest.raises(ValueError, match="runs: 0 cells, 0 of them with the same seeds"):
        updated(before, now | {"cells": []})
    other_seeds = now["cells"][0] | {"seeds": [7]}
    with pytest.raises(ValueError, match="runs: 1 cells, 0 of them with the same seeds"):
        updated(before, now | {"cells": [other_seeds]})
