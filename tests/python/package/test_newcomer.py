"""A newcomer's first script, and its plain model where bregboost is not installed."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

TEN_LINES = """\
from sklearn.datasets import load_breast_cancer
from {package} import {estimator}
from bregboost import ConstrainedClassifier
import joblib, numpy
X, y = load_breast_cancer(return_X_y=True)
X = X / X.max(axis=0)
model = ConstrainedClassifier({estimator}({settings}), "fnr <= 2%", pos_label=0).fit(X, y)
print(model.report_)
{save}
numpy.savez("expected.npz", proba=model.predict_proba(X), label=model.predict(X))
"""
WITHOUT_BREGBOOST = """\
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "bregboost":
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Blocker())
try:
    import bregboost
except ModuleNotFoundError:
    pass
else:
    raise SystemExit("bregboost can be imported")
import numpy
from sklearn.datasets import load_breast_cancer
X = load_breast_cancer(return_X_y=True)[0]
X = X / X.max(0)
{load}
numpy.save("found.npy", found)
"""
CASES = {
    "lightgbm": (
        {
            "package": "lightgbm",
            "estimator": "LGBMClassifier",
            "settings": "n_jobs=1",
            "save": 'model.estimator_.booster_.save_model("model.txt")',
        },
        "import lightgbm\nfound = lightgbm.Booster(model_file='model.txt').predict(X)",
    ),
    "xgboost": (
        {
            "package": "xgboost",
            "estimator": "XGBClassifier",
            "settings": "n_jobs=1",
            "save": 'model.estimator_.save_model("model.ubj")',
        },
        "import xgboost\nmodel = xgboost.XGBClassifier()\nmodel.load_model('model.ubj')\n"
        "found = model.predict_proba(X)[:, 1]",
    ),
    "linear": (
        {
            "package": "sklearn.linear_model",
            "estimator": "LogisticRegression",
            "settings": "",
            "save": 'joblib.dump(model.estimator_, "model.joblib")',
        },
        "import joblib\nfound = joblib.load('model.joblib').predict_proba(X)[:, 1]",
    ),
}


def run(script: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("learner", CASES)
def test_ten_lines_and_a_plain_model(learner, tmp_path):
    settings, load = CASES[learner]
    if learner != "linear":
        pytest.importorskip(learner)
    script = TEN_LINES.format(**settings)
    assert len(script.splitlines()) <= 10
    shown = run(script, tmp_path)
    assert "fnr <= 2%" in shown
    assert "positive class  0" in shown
    run(WITHOUT_BREGBOOST.format(load=load), tmp_path)
    expected, found = np.load(tmp_path / "expected.npz"), np.load(tmp_path / "found.npy")
    np.testing.assert_allclose(found, expected["proba"][:, 1], rtol=0, atol=1e-6)
    np.testing.assert_array_equal((found > 0.5).astype(int), expected["label"])
