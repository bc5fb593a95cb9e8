"""Reports as HTML files: the core's page, and what goes into it."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bregboost import ConstrainedClassifier, ConstrainedRegressor, _core
from bregboost._frontier import FrontierResult
from bregboost._report import Report
from report_samples import small
from sklearn.linear_model import LogisticRegression
from small_learners import BINARY, SCORE, SEX, X, every_learner, make

TRAIN, TEST = np.arange(0, 400), np.arange(400, 600)
GAP = "gap(error, by=sex) <= 5%"


def fit(limits: Any, learner: str = "linear", **parameters: Any) -> ConstrainedClassifier:
    model = ConstrainedClassifier(make(learner), limits, **parameters)
    return model.fit(X, BINARY, sensitive_features={"sex": SEX})


def test_the_file_is_the_page_of_the_core(tmp_path: Path) -> None:
    report = fit("fnr <= 10%").report_
    page = report.to_html(tmp_path / "report.html", title="Größe & <more>")
    assert (tmp_path / "report.html").read_bytes() == page.encode()
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    document = report.run_document(title="Größe & <more>")
    assert _core.html_report(json.dumps(document)) == page
    report.save(tmp_path / "report.json")
    again = Report.load(tmp_path / "report.json").to_html(title="Größe & <more>")
    assert again == page


def test_what_was_there_stays_if_the_page_cannot_be_made(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text("old")
    with pytest.raises(TypeError, match=r"title: 3 \(int\); allowed: str"):
        Report({"constraints": []}).to_html(path, title=3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"frontier: .*; allowed: a FrontierResult"):
        Report({"constraints": []}).to_html(path, frontier=[])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"settings\.seed: -1; allowed: an integer of 0 or more"):
        Report({"constraints": [], "settings": {"seed": -1}}).to_html(path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@every_learner
def test_an_audit_finds_settings_data_and_versions(learner: str, tmp_path: Path) -> None:
    model = fit(["fnr <= 10%", "fpr <= 60%"], learner, random_state=5)
    document = model.report_.run_document()
    assert document["settings"]["learner"] == learner
    assert document["settings"]["seed"] == 5
    assert document["settings"]["options"]["rho"] is None  # not asked for
    model.report_.to_html(tmp_path / "report.html")
    assert "<dt>rho</dt><dd>chosen</dd>" in (tmp_path / "report.html").read_text()
    assert all(isinstance(text, str) for text in document["settings"]["parameters"].values())
    assert document["settings"]["parameters"]
    assert document["data"]["rows"] == 600
    library = {"linear": "scikit-learn"}.get(learner, learner)
    assert {"bregboost", "numpy", "python", "scikit-learn", library} == set(document["versions"])
    assert "settings" not in document["fit"]


def test_offsets_are_compared_with_none() -> None:
    model = fit("fnr <= 2%")
    decided = (model._unseen.scores > 0).astype(int)
    truth = BINARY  # folds: every row is unseen, in its order
    without = model.report_.to_dict()["unconstrained"]
    assert without["objective"] == pytest.approx(np.mean(decided == truth), abs=1e-12)
    assert without["constraints"][0]["value"] == pytest.approx(np.mean(decided[truth == 1] == 0))
    assert without["objective"] > model.report_.to_dict()["objective"]


def test_groups_are_compared_with_a_plain_model() -> None:
    model = ConstrainedClassifier(LogisticRegression(), GAP)
    sets = {
        "sensitive_features": {"sex": SEX[TRAIN]},
        "eval_set": (X[TEST], BINARY[TEST]),
        "eval_sensitive_features": {"sex": SEX[TEST]},
    }
    assert model.fit(X[TRAIN], BINARY[TRAIN], **sets).report_.to_dict()["unconstrained"] is None
    found = model.unconstrained(X[TRAIN], BINARY[TRAIN], **sets)
    predicted = LogisticRegression().fit(X[TRAIN], BINARY[TRAIN]).predict(X[TEST])
    wrong = predicted != BINARY[TEST]
    one_row = 1.5 / len(TEST)  # solvers end where they end
    assert found["objective"] == pytest.approx(1 - wrong.mean(), abs=one_row)
    for group in found["constraints"][0]["groups"]:
        rows = SEX[TEST] == group["group"].removeprefix("sex=")
        assert group["rows"] == rows.sum()
        assert group["value"] == pytest.approx(wrong[rows].mean(), abs=2 * one_row)
    page = model.report_.to_html(unconstrained=found)
    assert "than the same learner without limits" in page


def test_numeric_targets_are_compared_too() -> None:
    model = ConstrainedRegressor(make("linear", "regression"), "max(loss, by=sex) <= 0.35")
    found = model.unconstrained(X, SCORE, sensitive_features={"sex": SEX})
    assert len(found["constraints"][0]["groups"]) == 2
    assert found["objective"] > 0


def test_without_limits_there_is_nothing_to_compare() -> None:
    with pytest.raises(ValueError, match=r"unconstrained: .* with 0 constraints; allowed: "):
        ConstrainedClassifier(make("linear"), ()).unconstrained(X, BINARY)
    with pytest.raises(ValueError, match=r"unconstrained: the solver 'abpp'"):
        ConstrainedClassifier(make("linear"), "fnr <= 9%", solver="abpp").unconstrained(X, BINARY)


@pytest.mark.parametrize("models", [True, False])
def test_frontiers_tell_rates_and_prices(models: bool) -> None:
    model = ConstrainedClassifier(make("linear"), "fnr <= 10%")
    sweep = model.frontier(X, BINARY, bounds=[0.05, 0.1], models=models)
    told = sweep.to_dict()
    assert json.loads(json.dumps(told)) == told
    assert (told["swept"], told["constraint"]) == ("bound", 0)
    for point in told["points"]:
        measured = point["measurements"][0]
        assert measured["rows"] == (BINARY == 1).sum()
        low, high = measured["interval"]
        assert low < measured["value"] < high
        assert point["prices"][0]["price"] > 0
    page = model.fit(X, BINARY).report_.to_html(frontier=sweep)
    assert "What another bound would cost" in page


def test_other_limits_have_other_comparisons() -> None:
    model = fit("fnr <= 10%").recalibrate("fnr <= 5%", rho=50.0)
    report = model.report_.to_dict()
    assert report["unconstrained"] is None
    assert report["prices"][0]["price"] > 0
    assert "The limit holds" in model.report_.to_html()


def test_reports_that_know_little_have_pages_too() -> None:
    for data in ({"constraints": []}, small(), small(certificate=[], prices=[], history=[])):
        assert Report(data).to_html().startswith("<!DOCTYPE html>")
    frontier = FrontierResult([{"bound": None, "objective": None}])
    assert "Points of the frontier" in Report(small()).to_html(frontier=frontier)
