"""Reports of models under other limits: about those limits, and nothing of the old ones left."""

import numpy as np
import pytest
from bregboost import ConstrainedClassifier


@pytest.fixture(scope="module")
def fitted() -> ConstrainedClassifier:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 4))
    group = rng.choice(["a", "b"], 900)
    y = (X[:, 0] + 0.5 * (group == "a") + rng.logistic(size=900) > 0).astype(int)
    model = ConstrainedClassifier("linear", "gap(fnr, by=group) <= 30%", certify=0.3)
    return model.fit(X, y, sensitive_features={"group": group})


def test_rows_of_gaps_are_counted(fitted: ConstrainedClassifier) -> None:
    limits = ["gap(fnr, by=group) <= 20%", "fpr <= 40%", "max(error, by=group) <= 60%"]
    report = fitted.recalibrate(limits).report_
    assert "undefined" not in str(report)
    assert "undefined" not in report._repr_html_()
    unseen = report.to_dict()["rows"]["unseen"]
    rows = [verdict.rows for verdict in report.certificate]
    assert rows[2] == unseen
    assert 0 < rows[0] < unseen
    assert rows[0] + rows[1] == unseen  # positives and negatives


def test_settings_are_those_of_the_calibration(fitted: ConstrainedClassifier) -> None:
    report = fitted.recalibrate("fnr <= 20%", rho=50, objective="balanced_error").report_.to_dict()
    assert report["settings"]["options"]["rho"] == 50
    assert report["settings"]["options"]["objective"] == "balanced_error"
    assert fitted.report_.to_dict()["settings"]["options"]["rho"] is None  # not asked for


def test_certification_rows_answer_once(fitted: ConstrainedClassifier) -> None:
    text = str(fitted.recalibrate("fnr <= 20%").report_)
    assert "certification rows answer once" in text
    assert "no rows were kept" not in text
