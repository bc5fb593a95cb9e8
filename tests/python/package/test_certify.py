"""Certificates of any model's predictions, against the exact binomial bound."""

import numpy as np
import pytest
from bregboost import ConstraintError, certify
from scipy.stats import beta


def predictions(misses: int, positives: int = 400, negatives: int = 600):
    y_true = np.array(["yes"] * positives + ["no"] * negatives)
    y_pred = y_true.copy()
    y_pred[:misses] = "no"
    return y_true, y_pred


@pytest.mark.parametrize(("misses", "verdict"), [(8, "certified"), (18, "not certified")])
def test_the_bound_is_the_exact_binomial_one(misses, verdict):
    y_true, y_pred = predictions(misses)
    row = certify(y_true, y_pred, "fnr <= 5%", delta=0.1)["fnr <= 5%"]
    assert row.verdict == verdict
    assert row.value == pytest.approx(misses / 400)
    assert row.confidence_bound == pytest.approx(beta.ppf(0.9, misses + 1, 400 - misses))
    assert row.rows == 400


def test_a_limit_that_is_broken_is_said_to_be():
    y_true, y_pred = predictions(80)
    assert certify(y_true, y_pred, "fnr <= 5%")["fnr <= 5%"].verdict == "violated"


def test_claims_of_their_own_share_the_risk():
    y_true, y_pred = predictions(8)
    limits = ["fnr <= 5%", "fpr <= 5%"]
    apart = certify(y_true, y_pred, limits, joint=False)
    assert apart["fnr <= 5%"].confidence == pytest.approx(0.95)
    assert certify(y_true, y_pred, limits).all_certified


def test_groups_and_positive_class():
    y_true, y_pred = predictions(8)
    side = np.where(np.arange(1000) % 2 == 0, "left", "right")
    found = certify(y_true, y_pred, "max(error, by=side) <= 5%", sensitive_features={"side": side})
    assert found.all_certified
    # The negatives are all right.
    assert certify(y_true, y_pred, "fnr <= 1%", pos_label="no")["fnr <= 1%"].value == 0.0


def test_bad_input_is_named():
    y_true, y_pred = predictions(8)
    with pytest.raises(ValueError, match="y_pred: 999 values"):
        certify(y_true, y_pred[:-1], "fnr <= 5%")
    with pytest.raises(ValueError, match="'side'"):
        certify(y_true, y_pred, "gap(error, by=side) <= 5%")
    with pytest.raises(ValueError, match=r"delta: 0.7"):
        certify(y_true, y_pred, "fnr <= 5%", delta=0.7)
    with pytest.raises(ConstraintError, match="error"):
        certify(y_true, y_pred, "error(class=perhaps) <= 5%")
