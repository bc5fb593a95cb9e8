"""Trainings that are killed and taken up again end with the model that they would have had."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from bregboost import CheckpointError, ConstrainedClassifier, ConstrainedRegressor
from bregboost._digest import digest_of
from small_learners import BINARY, SCORE, SEX, X, make

TREES = pytest.mark.parametrize("learner", ["lightgbm", "xgboost"])
LIMIT = "gap(selection_rate, by=sex) <= 5%"
FILE = "training.checkpoint"


def classifier(learner: str, folder: Path | None, **parameters: object) -> ConstrainedClassifier:
    estimator = make(learner, n_estimators=60)
    return ConstrainedClassifier(
        estimator, LIMIT, checkpoint_dir=folder, checkpoint_every=10, **parameters
    )


def fit(model: ConstrainedClassifier, features: np.ndarray = X) -> ConstrainedClassifier:
    return model.fit(features, BINARY, sensitive_features={"sex": SEX})


def kill_when_written(learner: str, folder: Path) -> None:
    """Train in another process, and kill it once it has written a checkpoint."""
    code = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from pathlib import Path\n"
        "from test_checkpoints import classifier, fit\n"
        "while True:\n"
        f"    fit(classifier({learner!r}, Path({str(folder)!r})))\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code])
    try:
        deadline = time.monotonic() + 60
        while not (folder / FILE).exists():
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.001)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


@TREES
def test_a_killed_training_ends_with_the_same_model(learner, tmp_path):
    whole = fit(classifier(learner, tmp_path / "whole"))
    kill_when_written(learner, tmp_path / "killed")
    resumed = fit(classifier(learner, tmp_path / "killed", resume=True))
    assert resumed._model == whole._model
    np.testing.assert_array_equal(resumed.predict_proba(X), whole.predict_proba(X))
    np.testing.assert_array_equal(resumed.multipliers_, whole.multipliers_)
    assert len(resumed.history_) == len(whole.history_)
    reports = [model.report_.to_dict() for model in (whole, resumed)]
    for report in reports:
        del report["seconds"], report["history"]
    assert reports[0] == reports[1]


@TREES
def test_solvers_of_the_paper_have_checkpoints(learner, tmp_path):
    options = {"checkpoint_every": 10, "checkpoint_dir": tmp_path, "solver": "abpp"}
    estimator = make(learner, n_estimators=40)
    whole = ConstrainedClassifier(estimator, "fnr <= 10%", **options).fit(X, BINARY)
    assert (tmp_path / FILE).exists()
    resumed = ConstrainedClassifier(estimator, "fnr <= 10%", resume=True, **options).fit(X, BINARY)
    assert resumed._model == whole._model


@TREES
def test_regressors_have_checkpoints(learner, tmp_path):
    models = [
        ConstrainedRegressor(
            make(learner, "regression", n_estimators=40), "loss(sex=F) <= 0.2",
            checkpoint_dir=str(tmp_path), checkpoint_every=10, resume=resume,
        ).fit(X, SCORE, sensitive_features={"sex": SEX})
        for resume in (False, True)
    ]  # fmt: skip
    assert models[0]._model == models[1]._model


@TREES
def test_another_training_is_refused(learner, tmp_path):
    fit(classifier(learner, tmp_path))
    with pytest.raises(CheckpointError, match="another set of features"):
        fit(classifier(learner, tmp_path, resume=True), np.flipud(X))
    with pytest.raises(CheckpointError, match="another list of settings"):
        fit(classifier(learner, tmp_path, resume=True, rho=7.0))
    faster = classifier(learner, tmp_path, resume=True).set_params(estimator__learning_rate=0.2)
    with pytest.raises(CheckpointError, match="another list of parameters"):
        fit(faster)
    with pytest.raises(CheckpointError, match="another list of constraints"):
        fit(classifier(learner, tmp_path, resume=True).set_params(constraints="fnr <= 20%"))
    (tmp_path / FILE).write_bytes((tmp_path / FILE).read_bytes()[:-1])
    with pytest.raises(CheckpointError, match=r"training\.checkpoint': \d+ bytes of contents"):
        fit(classifier(learner, tmp_path, resume=True))


def test_a_sweep_has_none(tmp_path):
    model = classifier("lightgbm", tmp_path)
    for models in (True, False):
        model.frontier(
            X, BINARY, bounds=[0.05, 0.1], models=models, sensitive_features={"sex": SEX}
        )
    model.unconstrained(X, BINARY, sensitive_features={"sex": SEX})
    assert not (tmp_path / FILE).exists()


def test_parameters_are_checked(tmp_path):
    with pytest.raises(ValueError, match="resume: True; allowed without a checkpoint_dir: False"):
        fit(classifier("lightgbm", None, resume=True))
    with pytest.raises(ValueError, match="checkpoint_every: 0; allowed: an integer"):
        fit(classifier("lightgbm", tmp_path).set_params(checkpoint_every=0))
    with pytest.raises(TypeError, match=r"checkpoint_dir: 3 \(int\); allowed: a path, None"):
        fit(classifier("lightgbm", 3))
    with pytest.raises(ValueError, match="allowed for linear models, which are trained in one go"):
        fit(ConstrainedClassifier("linear", LIMIT, checkpoint_dir=tmp_path))
    (tmp_path / "file").write_text("")
    with pytest.raises(CheckpointError, match=r"checkpoint directory '.*': cannot be made"):
        fit(classifier("lightgbm", tmp_path / "file" / "inside"))


def test_digests_tell_tables_apart():
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    sparse = pytest.importorskip("scipy.sparse")
    columns = {"a": [1.0, 2.0], "b": ["x", "y"]}
    others = {"a": [1.0, 2.0], "b": ["x", "z"]}
    for kind in (pandas.DataFrame, polars.DataFrame):
        assert digest_of(kind(columns)) == digest_of(kind(columns))
        assert digest_of(kind(columns)) != digest_of(kind(others))
        assert digest_of(kind(columns)) != digest_of(
            kind(columns).rename({"a": "c"}, **({"axis": 1} if kind is pandas.DataFrame else {}))
        )
    matrix = np.array([[0.0, 1.0], [2.0, 0.0]])
    assert digest_of(sparse.csr_matrix(matrix)) != digest_of(sparse.csr_matrix(matrix.T))
    assert digest_of(matrix) != digest_of(matrix, None)
    assert digest_of(matrix) == digest_of(np.asfortranarray(matrix))
