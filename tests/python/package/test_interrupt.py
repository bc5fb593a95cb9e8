"""Bars, Ctrl-C, and other threads while a model is trained."""

import signal
import subprocess
import sys
import textwrap
import threading
from typing import Any

import numpy as np
import pytest
from bregboost import ConstrainedClassifier
from bregboost._progress import Progress
from small_learners import BINARY, SEX, X, every_learner, make

GAP = "gap(error, by=sex) <= 5%"
SEXES = {"sensitive_features": {"sex": SEX}}


TREES = pytest.mark.parametrize("learner", ["lightgbm", "xgboost"])


def long_training(learner: str, **parameters: Any) -> Any:
    settings = {} if learner == "linear" else {"n_estimators": 200}
    return ConstrainedClassifier(make(learner, **settings), **parameters)


@every_learner
@pytest.mark.parametrize(("limits", "name"), [((), "loss"), ("fnr <= 5%", "error"), (GAP, "error")])
def test_a_bar_shows_the_course(learner, limits, name, capsys):
    pytest.importorskip("tqdm")
    model = long_training(learner, constraints=limits, verbose=True)
    model.fit(X, BINARY, **(SEXES if limits == GAP else {}))
    shown = capsys.readouterr().err
    for word in ("round", f"{name} 0.", "violation", "multiplier"):
        assert word in shown
    model.set_params(verbose=False).fit(X, BINARY, **(SEXES if limits == GAP else {}))
    assert capsys.readouterr().err == ""


def test_the_estimators_own_wish_counts(capsys):
    pytest.importorskip("tqdm")
    ConstrainedClassifier(make("linear", verbose=1)).fit(X, BINARY)
    assert "loss 0." in capsys.readouterr().err
    ConstrainedClassifier(make("linear", verbose=1), verbose=False).fit(X, BINARY)
    assert capsys.readouterr().err == ""


def interrupt_at_fifth_step(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    seen: list[dict[str, Any]] = []

    def update(self: Progress, stats: dict[str, Any]) -> None:
        seen.append(stats)
        if len(seen) == 5:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Progress, "update", update)
    return seen


@TREES
@pytest.mark.parametrize("solver", ["auto", "abpp"])
@pytest.mark.parametrize("limits", [(), "fnr <= 30%", GAP])
def test_a_signal_ends_the_training_with_a_model(learner, solver, limits, monkeypatch):
    seen = interrupt_at_fifth_step(monkeypatch)
    model = long_training(learner, constraints=limits, solver=solver)
    model.fit(X, BINARY, **(SEXES if limits == GAP else {}))
    assert len(seen) == 5
    assert model.status_ == "interrupted"
    assert "nterrupted" in repr(model.report_)
    trees = (
        model.estimator_.booster_.num_trees()
        if learner == "lightgbm"
        else model.estimator_.get_booster().num_boosted_rounds()
    )
    assert 0 < trees <= 5 * 2 * 5 + 1  # of five folds, two rounds a step
    predicted = model.predict(X)
    np.testing.assert_array_equal(model.estimator_.predict(X), predicted)
    assert np.isfinite(model.predict_proba(X)).all()


def test_a_signal_ends_the_training_of_a_linear_model(monkeypatch):
    seen = interrupt_at_fifth_step(monkeypatch)
    model = long_training("linear", constraints=GAP).fit(X, BINARY, **SEXES)
    assert len(seen) == 5
    assert model.status_ == "interrupted"
    assert model.score(X, BINARY) > 0.7


SCRIPT = """
    import numpy as np
    from bregboost import ConstrainedClassifier
    from small_learners import make
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 10))
    y = (X[:, 0] + rng.normal(size=len(X)) > 0).astype(int)
    estimator = make({learner!r}, n_estimators=1_000_000)
    model = ConstrainedClassifier(estimator, "fnr <= 20%", verbose=True).fit(X, y)
    print(model.status_, model.predict(X).shape, 0.5 < model.score(X, y) < 1.0)
"""


@TREES
def test_ctrl_c_in_a_process_of_its_own(learner):
    pytest.importorskip("tqdm")
    pytest.importorskip(learner)
    script = textwrap.dedent(SCRIPT.format(learner=learner))
    with subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=__file__.rpartition("/")[0],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        deadline = threading.Timer(60, process.kill)
        deadline.start()
        shown = b""
        while shown.count(b"training:") < 3:  # the bar of a training that has begun
            found = process.stderr.read(1)
            assert found, shown.decode()
            shown += found
        process.send_signal(signal.SIGINT)
        out, rest = process.communicate()
        deadline.cancel()
    assert out.decode() == "interrupted (20000,) True\n", rest.decode()[-2000:]
    assert process.returncode == 0


@TREES
def test_other_threads_go_on(learner, monkeypatch):
    count = 0
    is_over = threading.Event()
    made_meanwhile = []
    left_at = []

    def work() -> None:
        nonlocal count
        while not is_over.is_set():
            count += 1

    def update(self: Progress, stats: dict[str, Any]) -> None:
        if left_at:
            made_meanwhile.append(count - left_at[-1])
        left_at.append(count)

    monkeypatch.setattr(Progress, "update", update)
    thread = threading.Thread(target=work)
    thread.start()
    try:
        rows, y, sex = (np.tile(values.T, 10).T for values in (X, BINARY, SEX))
        long_training(learner, constraints=GAP).fit(rows, y, sensitive_features={"sex": sex})
    finally:
        is_over.set()
        thread.join()
    # A core that kept the GIL would leave nothing to count between two of its calls.
    assert np.count_nonzero(np.array(made_meanwhile) > 10) >= 5
