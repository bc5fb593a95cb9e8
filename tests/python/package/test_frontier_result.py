"""Sweeps of a bound or of rho: tables, the best point, what is refused."""

import math
import pickle
import sys

import pytest
from bregboost._frontier import FrontierResult

BOUNDS = (0.01, 0.02, 0.05)
ACCURACIES = (0.70, 0.80, 0.85)
VIOLATIONS = (0.004, 0.0, 0.0)


def points() -> list[dict[str, object]]:
    return [
        {
            "bound": bound,
            "rho": 5.0,
            "objective": accuracy,
            "total_violation": violation,
            "measurements": [
                {"text": "fpr <= 10%", "value": 0.09, "violation": 0.0, "satisfied": True},
                {
                    "text": f"fnr <= {100 * bound:g}%",
                    "value": bound + violation,
                    "violation": violation,
                    "satisfied": violation == 0,
                },
            ],
            "dominated": violation > 0,
            "trained_for": 0.02,
            "steps": 100,
        }
        for bound, accuracy, violation in zip(BOUNDS, ACCURACIES, VIOLATIONS, strict=True)
    ]


def result(**changes: object) -> FrontierResult:
    return FrontierResult(points(), constraint=1, objective_name="accuracy", **changes)


def test_text() -> None:
    assert (
        repr(result())
        == """\
3 points by bound of fnr, 2 worth choosing
  bound  accuracy    violation  holds  worth choosing  steps
     1%    70.00%  0.40 points  no     no                100
     2%    80.00%  0.00 points  yes    yes               100
     5%    85.00%  0.00 points  yes    yes               100"""
    )


def test_html_has_every_row() -> None:
    html = result()._repr_html_()
    assert html.count("<tr") == 1 + len(BOUNDS)
    assert "70.00%" in html


def test_frame() -> None:
    frame = result().frame
    assert frame["bound"].tolist() == list(BOUNDS)
    assert frame["objective"].tolist() == list(ACCURACIES)
    assert frame["satisfied"].tolist() == [False, True, True]
    assert frame["dominated"].tolist() == [True, False, False]
    assert frame["value: fpr <= 10%"].tolist() == [0.09] * 3
    assert frame["value: fnr"].tolist() == [0.014, 0.02, 0.05]


def test_frame_of_a_sweep_of_rho_names_limits_in_full() -> None:
    columns = result(swept="rho").frame.columns
    assert list(columns[-2:]) == ["value: fpr <= 10%", "value: fnr <= 1%"]


def test_frame_without_pandas_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"frontier: .*pip install bregboost\[pandas\]"):
        _ = result().frame


def test_models_stand_beside_their_points() -> None:
    found = result(models=["a", "b", "c"])
    assert found.models == ["a", "b", "c"]
    assert found.best().model == "c"
    assert result().models == [None, None, None]
    with pytest.raises(ValueError, match="models: 2; allowed: 3, one per point"):
        result(models=["a", "b"])


def test_best_is_the_best_objective_among_those_that_violate_little() -> None:
    assert result().best().bound == 0.05
    assert result(maximise=False).best().bound == 0.02
    assert result(maximise=False).best(max_violation=0.004).bound == 0.01


def test_best_of_equals_violates_least() -> None:
    equals = points()
    for point in equals:
        point["objective"] = 0.5
    assert FrontierResult(equals).best(max_violation=1).bound == 0.02


def test_best_refuses_what_no_point_reaches() -> None:
    only = FrontierResult(points()[:1])
    with pytest.raises(ValueError, match=r"max_violation: 0\.0; allowed: 0\.004 or more"):
        only.best()
    with pytest.raises(ValueError, match="max_violation: -1; allowed: 0 or more"):
        only.best(-1)
    with pytest.raises(ValueError, match="max_violation: nan; allowed: 0 or more"):
        only.best(math.nan)
    with pytest.raises(ValueError, match=r"max_violation: 0\.0; allowed: no point has one"):
        FrontierResult([]).best()


def test_undefined_points_are_never_best_nor_satisfied() -> None:
    undefined = points()[1] | {"objective": math.nan}
    unknown = points()[2] | {"total_violation": None}
    found = FrontierResult([*points()[:2], undefined, unknown], objective_name="accuracy")
    assert found.best().objective == 0.80
    assert [point.satisfied for point in found.points] == [False, True, True, False]
    assert repr(found).count("undefined") == 2
    measured = points()[1] | {"measurements": [{"text": "fnr <= 2%", "satisfied": True}]}
    assert not FrontierResult([measured]).points[0].satisfied


def test_losses_keep_their_unit() -> None:
    measured = [{"text": "max(loss, by=a) <= 0.5", "value": 0.48, "satisfied": True}]
    point = {"bound": 0.5, "objective": 0.31, "total_violation": 0.0, "measurements": measured}
    text = repr(FrontierResult([point], objective_name="loss", maximise=False))
    assert text.splitlines()[2].split() == ["0.5", "0.31", "0", "yes", "yes"]


def test_empty_result() -> None:
    empty = FrontierResult([])
    assert repr(empty) == "0 points by bound, 0 worth choosing"
    assert len(empty.frame) == 0


def test_pickles() -> None:
    found = pickle.loads(pickle.dumps(result(models=[1, 2, 3])))
    assert found.points == result(models=[1, 2, 3]).points
    assert repr(found) == repr(result())


def test_swept_is_checked() -> None:
    with pytest.raises(ValueError, match="swept: 'tau'; allowed: 'bound', 'rho'"):
        result(swept="tau")
