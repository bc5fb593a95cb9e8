"""The same data, seed and threads give the same model, multipliers and report: in every run, and
from Python as from the command line and from a C++ program."""

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from auto_program import SUFFIXES
from boosted_program import Program as CppProgram
from boosted_program import words
from bregboost import ConstrainedClassifier
from cli_program import Program

RUNS = 20
TREES = pytest.mark.parametrize("learner", ["lightgbm", "xgboost"])
LIMITS = ["gap(selection_rate, by=group) <= 5%", "fnr <= 30%"]


def rows(count: int = 800) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    table = pd.DataFrame(rng.normal(size=(count, 4)).round(4), columns=list("abcd"))
    table["group"] = rng.choice(["x", "y"], count)
    score = table["a"] - 0.5 * table["b"] + 0.6 * (table["group"] == "x")
    table["label"] = (score + rng.logistic(size=count) > 0).astype(int)
    return table


def estimator(learner: str, **parameters: Any) -> Any:
    if learner == "lightgbm":
        from lightgbm import LGBMClassifier

        return LGBMClassifier(n_estimators=30, num_leaves=7, n_jobs=2, verbose=-1, **parameters)
    from xgboost import XGBClassifier

    return XGBClassifier(n_estimators=30, max_depth=3, n_jobs=2, **parameters)


def fit(learner: str, **parameters: Any) -> ConstrainedClassifier:
    table = rows()
    model = ConstrainedClassifier(
        estimator(learner, **parameters), LIMITS, certify=0.2, random_state=5
    )
    return model.fit(
        table[list("abcd")], table["label"], sensitive_features=table[["group"]]
    )  # fmt: skip


def timeless(report: dict[str, Any]) -> dict[str, Any]:
    """All that is not a clock's."""
    report = copy.deepcopy(report)
    del report["seconds"]
    for step in report["history"]:
        del step["seconds"]
    return report


@TREES
@pytest.mark.parametrize("sampled", [False, True])
def test_every_run_is_the_same(learner, sampled):
    names = {"lightgbm": {"subsample_freq": 1}, "xgboost": {"colsample_bynode": 0.7}}
    parameters = {"subsample": 0.7, "random_state": 3, **names[learner]} if sampled else {}
    first = fit(learner, **parameters)
    for _ in range(RUNS - 1):
        again = fit(learner, **parameters)
        assert again._model == first._model
        np.testing.assert_array_equal(again.multipliers_, first.multipliers_)
        assert timeless(again.report_.to_dict()) == timeless(first.report_.to_dict())


@TREES
def test_python_and_the_command_line_train_the_same(learner, cli: Program):
    table = rows()
    cli.write("table.csv", table)
    model = fit(learner)
    settings = model.report_.to_dict()["settings"]
    flags = [f"--param={name}={value}" for name, value in settings["parameters"].items()]
    limits = [f"--constraint={limit}" for limit in LIMITS]
    cli.ok(
        "train", "--data", "table.csv", "--label", "label", "--group", "group", "--learner",
        learner, "--certify", "0.2", "--seed", "5", "--out", "run", *flags, *limits,
    )  # fmt: skip
    document = json.loads((cli.folder / "run" / "bregboost.json").read_text())
    report = timeless(model.report_.to_dict())
    for key, value in timeless(document["fit"]).items():
        assert report[key] == value, key
    assert trees_of_file(learner, cli.folder / "run") == trees_of(learner, model.estimator_)


@TREES
def test_python_and_a_cpp_program_train_the_same(learner, build_dir: Path, tmp_path: Path):
    data, out = tmp_path / "table.csv", tmp_path / f"model.{SUFFIXES[learner]}"
    rows().to_csv(data, index=False)
    model = fit(learner)
    report = timeless(model.report_.to_dict())
    parameters = report["settings"]["parameters"]
    done = CppProgram(build_dir / "examples" / "constrained_auto", tmp_path).run(
        "--data", data, "--label", "label", "--group", "group", "--learner", learner,
        "--certify", "0.2", "--seed", "5", "--json", "--out-model", out,
        *words("--param", (f"{name}={value}" for name, value in parameters.items())),
        *words("--constraint", LIMITS),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for key, value in timeless(json.loads(done.stdout)).items():
        assert report[key] == value, key
    assert trees_of_file(learner, tmp_path) == trees_of(learner, model.estimator_)


def trees_of(learner: str, fitted: Any) -> list[str]:
    if learner == "xgboost":
        return fitted.get_booster().get_dump(dump_format="json", with_stats=True)
    return split_text(fitted.booster_.model_to_string())


def trees_of_file(learner: str, folder: Path) -> list[str]:
    if learner == "xgboost":
        import xgboost

        booster = xgboost.Booster(model_file=folder / "model.ubj")
        return booster.get_dump(dump_format="json", with_stats=True)
    return split_text((folder / "model.txt").read_text())


def split_text(text: str) -> list[str]:
    """Trees of LightGBM's text, without what surrounds them."""
    return text[: text.index("end of trees")].split("\nTree=")[1:]
