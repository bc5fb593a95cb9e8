"""ABPP on linear models against an independent conic solver, on real data."""

import numpy as np
import pandas as pd
import pytest
from linear_problem import Limit, LinearProblem, standardise
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.model_selection import train_test_split


def breast_cancer(*limits: tuple[str, float], **options) -> LinearProblem:
    """Limits on `fnr`, `fpr` and `error`; a miss is a malignant case called benign."""
    data = load_breast_cancer()
    names = data.target_names[data.target]
    rows = {"fnr": names == "malignant", "fpr": names == "benign", "error": names != ""}
    return LinearProblem(
        features=standardise(data.data),
        outcome=names,
        limits=tuple(Limit(f"{rate} <= {e}", (rows[rate],), e) for rate, e in limits),
        positive="malignant",
        **options,
    )


def class_errors(features: np.ndarray, labels: np.ndarray, limits: dict, **options):
    return LinearProblem(
        features=standardise(features),
        outcome=labels,
        limits=tuple(
            Limit(f"error(class={name}) <= {e}", (labels == name,), e) for name, e in limits.items()
        ),
        **options,
    )


def wine() -> LinearProblem:
    data = load_wine()
    return class_errors(
        data.data, data.target_names[data.target], {"class_1": 0.03, "class_2": 0.08}
    )


def dry_beans(data_dir, rows: int | None) -> LinearProblem:
    path = data_dir / "drybean.csv.xz"
    if not path.is_file():
        pytest.skip(f"{path} is missing: set BREGBOOST_DATA to the directory that has it")
    table = pd.read_csv(path)
    if rows is not None:
        table, _ = train_test_split(table, train_size=rows, stratify=table["Class"], random_state=0)
    return class_errors(
        table.drop(columns="Class").to_numpy(),
        table["Class"].to_numpy(dtype=str),
        {"BOMBAY": 0.02, "CALI": 0.13, "DERMASON": 0.14, "HOROZ": 0.16},
        l2=0.001,
    )


def diabetes(loss: str, bound: float) -> LinearProblem:
    """Bounded group loss, between what the plain model's worse sex has and the least possible."""
    data = load_diabetes()
    sex = np.where(data.data[:, data.feature_names.index("sex")] > 0, "b", "a")
    limit = Limit(f"max(loss, by=sex) <= {bound}", (sex == "a", sex == "b"), bound)
    return LinearProblem(
        features=standardise(data.data),
        outcome=standardise(data.target),
        limits=(limit,),
        loss=loss,
        groups={"sex": sex},
    )


def some_weights(count: int) -> np.ndarray:
    return np.random.default_rng(0).uniform(0.2, 3.0, count)


def assert_agreement(
    problem: LinearProblem, train, binding: list[bool], step_ratio: float = 1.0
) -> None:
    conic = problem.solve_conic()
    result = train(problem.frame(), *problem.arguments(), "--step-ratio", str(step_ratio))
    assert result["reason"] == "converged"
    shape = (problem.num_scores, problem.features.shape[1])
    ours = problem.check(
        np.reshape(result["coefficients"], shape).T,
        np.array(result["intercept"]),
        np.array(result["multipliers"]),
    )
    # The program and this file read the constraints alike.
    np.testing.assert_allclose(result["objective"], ours.objective, rtol=1e-9)
    np.testing.assert_allclose(result["surrogate_values"], ours.values, atol=1e-9)
    # The problem is what its name says.
    np.testing.assert_array_equal(conic.multipliers > 1e-4, binding)
    np.testing.assert_array_equal(ours.multipliers > 0, binding)
    # Each side satisfies the optimality conditions, so a disagreement shows which one is wrong.
    assert conic.stationarity < 1e-4
    assert ours.stationarity < 1e-5

    np.testing.assert_allclose(ours.objective, conic.objective, rtol=1e-4)
    np.testing.assert_allclose(ours.values, conic.values, atol=1e-4)
    np.testing.assert_allclose(ours.multipliers, conic.multipliers, rtol=1e-2, atol=1e-6)


@pytest.mark.parametrize("step_ratio", [0.1, 1.0, 30.0])
@pytest.mark.parametrize(("bound", "binds"), [(0.05, True), (0.5, False)])
def test_binary_limit_whatever_the_steps(train, bound, binds, step_ratio):
    assert_agreement(breast_cancer(("fnr", bound)), train, [binds], step_ratio)


def test_several_limits_at_once(train):
    problem = breast_cancer(("fnr", 0.06), ("fpr", 0.08), ("error", 0.5))
    assert_agreement(problem, train, [True, True, False])


def test_weak_penalty(train):
    problem = breast_cancer(("fnr", 0.05), ("fpr", 0.05), l2=0.001)
    assert_agreement(problem, train, [True, True])


def test_class_balanced_objective(train):
    assert_agreement(breast_cancer(("fnr", 0.05), class_balanced=True), train, [True])


def test_row_weights(train):
    weights = some_weights(len(load_breast_cancer().target))
    assert_agreement(breast_cancer(("fnr", 0.05), weights=weights), train, [True])


def test_three_classes(train):
    assert_agreement(wine(), train, [True, False])


def test_seven_classes(train, data_dir):
    assert_agreement(dry_beans(data_dir, rows=1600), train, [True] * 4)


@pytest.mark.slow
def test_seven_classes_all_rows(train, data_dir):
    assert_agreement(dry_beans(data_dir, rows=None), train, [True] * 4)


@pytest.mark.parametrize(("loss", "bound"), [("squared", 0.505), ("huber", 0.24)])
def test_bounded_group_loss(train, loss, bound):
    assert_agreement(diabetes(loss, bound), train, [True, False])


def test_an_infeasible_problem_ends_with_a_limit_not_an_error(train):
    """No linear model has both mean losses at 0.4 once every tenth label is flipped."""
    data = load_breast_cancer()
    table = pd.DataFrame(standardise(data.data[:, :6])).add_prefix("f").assign(y=data.target)
    table.loc[::10, "y"] = 1 - table.loc[::10, "y"]
    arguments = ["--label", "y", "--l2", "0.01", "--max-iterations", "500"]
    result = train(table, *arguments, "--constraint", "fnr <= 40%", "--constraint", "fpr <= 40%")
    assert result["reason"] == "iteration_limit"
    assert max(result["surrogate_values"]) > 0.01
