"""Exported models in the stock libraries: they predict what the formula says, and behave as models
that the library trained itself."""

import json
import subprocess
from pathlib import Path

import exported_models
import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import stock_models
import xgboost as xgb
from exported_models import (
    CASES,
    SCORE_TOLERANCES,
    Case,
    check_predictions,
    expected_scores,
    predictions_of,
    run_export,
)

LIGHTGBM_PARAMETERS = {"num_threads": 1, "verbose": -1, "num_leaves": 7, "min_data_in_leaf": 5}
STOCK_XGBOOST = {**stock_models.XGBOOST_OBJECTIVES, "huber": "reg:pseudohubererror"}


def check(case: Case, booster, rows: dict, models: Path) -> None:
    features = rows["features"]
    check_predictions(
        case,
        models,
        features,
        scores=stock_models.predict_scores(booster, features, case.categorical),
        predicted=stock_models.predict(booster, features, case.categorical),
    )


@pytest.mark.parametrize("case", CASES, ids=str)
def test_predicts_what_the_formula_says(case, exported, rows, trained_models):
    check(case, stock_models.load(exported(case)), rows, trained_models)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_survives_the_librarys_own_formats(case, exported, rows, trained_models, tmp_path):
    booster = stock_models.load(exported(case))
    suffixes = [".txt"] if case.library == "lightgbm" else [".json", ".ubj"]
    for suffix in suffixes:
        path = tmp_path / f"again{suffix}"
        booster.save_model(path)
        check(case, stock_models.load(path), rows, trained_models)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_contributions_add_up(case, exported, rows):
    booster, features = stock_models.load(exported(case)), rows["features"]
    np.testing.assert_allclose(
        stock_models.predict_contributions(booster, features, case.categorical).sum(axis=2),
        stock_models.predict_scores(booster, features, case.categorical),
        rtol=0,
        atol=SCORE_TOLERANCES[case.library],
    )


def loss(kind: str, scores: np.ndarray, target: np.ndarray) -> float:
    if kind == "multiclass":
        probability = predictions_of(kind, scores)
        return -np.log(probability[np.arange(len(target)), target.astype(int)]).mean()
    scores = scores[:, 0]
    if kind == "binary":
        return np.logaddexp(0, np.where(target == 1, -scores, scores)).mean()
    return np.square(scores - target).mean()


def train_on(case: Case, path: Path, rows: dict, rounds: int):
    features, target = rows["features"], rows[case.kind]
    if case.library == "lightgbm":
        data = lgb.Dataset(
            features,
            target,
            categorical_feature=[stock_models.CATEGORICAL] if case.categorical else [],
            params={"verbose": -1},
            free_raw_data=False,
        )
        parameters = {"objective": case.kind, "num_class": case.num_scores, **LIGHTGBM_PARAMETERS}
        return lgb.train(parameters, data, rounds, init_model=str(path))
    parameters = {"objective": STOCK_XGBOOST[case.kind], "nthread": 1, "max_depth": 3}
    if case.kind == "multiclass":
        parameters["num_class"] = case.num_scores
    data = stock_models.xgboost_matrix(features, target, case.categorical)
    return xgb.train(parameters, data, rounds, xgb_model=path)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_training_goes_on_from_it(case, exported, rows):
    before = stock_models.load(exported(case))
    after = train_on(case, exported(case), rows, rounds=3)
    features, target = rows["features"], rows[case.kind]
    old_scores = stock_models.predict_scores(before, features, case.categorical)
    if case.library == "lightgbm":
        num_rounds = before.current_iteration()
        first = {"num_iteration": num_rounds}
        assert after.current_iteration() == num_rounds + 3
    else:
        num_rounds = before.num_boosted_rounds()
        first = {"iteration_range": (0, num_rounds)}
        assert after.num_boosted_rounds() == num_rounds + 3
    np.testing.assert_allclose(
        stock_models.predict_scores(after, features, case.categorical, **first),
        old_scores,
        rtol=0,
        atol=SCORE_TOLERANCES[case.library],
    )
    new_scores = stock_models.predict_scores(after, features, case.categorical)
    assert loss(case.kind, new_scores, target) < loss(case.kind, old_scores, target)


@pytest.mark.parametrize("kind", stock_models.NUM_SCORES)
def test_lightgbm_knows_the_objective(kind, exported):
    booster = lgb.Booster(model_file=exported(Case("lightgbm", "numeric", kind, "mean")))
    assert booster.params["objective"] == kind
    assert booster.params["num_class"] == stock_models.NUM_SCORES[kind]
    assert booster.dump_model()["objective"].split()[0] == kind
    assert "custom" not in json.dumps(booster.params)


@pytest.mark.parametrize("kind", stock_models.NUM_SCORES)
@pytest.mark.parametrize("recipe", exported_models.RECIPES)
def test_lightgbm_writes_the_same_text(kind, recipe, exported):
    """Sizes, order of lines, importances, the form of single leaves."""
    path = exported(Case("lightgbm", "categorical", kind, recipe))
    assert lgb.Booster(model_file=path).model_to_string() == path.read_text()


def test_plain_export_leaves_trees_alone(exported, trained_models):
    for kind in stock_models.NUM_SCORES:
        case = Case("lightgbm", "categorical", kind, "plain")
        old, new = (
            text[text.index("Tree=0") : text.index("parameters:")]
            for text in (case.model_of(trained_models, 0).read_text(), exported(case).read_text())
        )
        assert new == old


@pytest.mark.parametrize("kind", ["binary", "multiclass"])
def test_scikit_learn_wrapper_of_xgboost(kind, exported, rows, trained_models):
    case = Case("xgboost", "numeric", kind, "mean")
    classifier = xgb.XGBClassifier()
    classifier.load_model(exported(case))
    expected = predictions_of(kind, expected_scores(case, trained_models, rows["features"]))
    predicted = classifier.predict_proba(rows["features"])[:, -case.num_scores :]
    np.testing.assert_allclose(predicted, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("kind", ["binary", "multiclass"])
def test_scikit_learn_wrapper_of_lightgbm_goes_on(kind, exported, rows):
    path = exported(Case("lightgbm", "numeric", kind, "mean"))
    classifier = lgb.LGBMClassifier(n_estimators=2, **LIGHTGBM_PARAMETERS)
    classifier.fit(rows["features"], rows[kind].astype(int), init_model=path)
    before = lgb.Booster(model_file=path)
    assert classifier.booster_.current_iteration() == before.current_iteration() + 2
    np.testing.assert_allclose(
        classifier.booster_.predict(rows["features"], num_iteration=before.current_iteration()),
        before.predict(rows["features"]),
        rtol=0,
        atol=1e-12,
    )


@pytest.mark.parametrize("library", stock_models.TRAINERS)
@pytest.mark.parametrize("kind", stock_models.NUM_SCORES)
def test_stalled_training(library, kind, rows, export_model, tmp_path):
    """Trees without a split: LightGBM keeps the first round of them, XGBoost every one."""
    stall = {"lightgbm": {"min_gain_to_split": 1e9}, "xgboost": {"gamma": 1e9}}[library]
    trained, output = tmp_path / "trained", tmp_path / f"out{stock_models.SUFFIXES[library]}"
    trained.write_text(stock_models.TRAINERS[library](rows, kind, 2, **stall))
    k = stock_models.NUM_SCORES[kind]
    offsets = [1.5, -0.5, 0.25][:k]
    run_export(
        export_model,
        library=library,
        output=str(output),
        parts=[{"file": str(trained)}],
        objective=kind,
        num_scores=k,
        offsets=offsets,
    )
    booster = stock_models.load(output)
    trees = stock_models.load(trained.rename(tmp_path / f"trained{output.suffix}"))
    features = rows["features"]
    base = 0.5 if library == "xgboost" and kind != "binary" else 0.0
    np.testing.assert_allclose(
        stock_models.predict_scores(booster, features, False),
        stock_models.predict_scores(trees, features, False) - base + offsets,
        rtol=0,
        atol=1e-6,
    )


@pytest.mark.parametrize("library", stock_models.TRAINERS)
def test_one_class_stalls(library, rows, export_model, tmp_path, monkeypatch):
    def without_last_class(kind, scores, target, original=stock_models.derivatives):
        gradient, hessian = original(kind, scores, target)
        gradient[:, 2] = 0.0
        return gradient, hessian

    monkeypatch.setattr(stock_models, "derivatives", without_last_class)
    suffix = stock_models.SUFFIXES[library]
    trained, output = tmp_path / f"trained{suffix}", tmp_path / f"out{suffix}"
    trained.write_text(stock_models.TRAINERS[library](rows, "multiclass", 3))
    run_export(
        export_model,
        library=library,
        output=str(output),
        parts=[{"file": str(trained), "round_weights": [1, 0.5, 0.25]}],
        objective="multiclass",
        num_scores=3,
        offsets=[0.0, 0.0, 2.0],
    )
    scores = stock_models.predict_scores(stock_models.load(output), rows["features"], False)
    np.testing.assert_allclose(scores[:, 2], 2.0, rtol=0, atol=1e-6)
    assert np.ptp(scores[:, 0]) > 0.5


@pytest.mark.parametrize(
    "parameters",
    [
        {"num_parallel_tree": 3, "subsample": 0.7},
        {"tree_method": "exact", "gamma": 1.5},  # prunes, which leaves deleted nodes
    ],
    ids=["parallel trees", "pruned"],
)
@pytest.mark.parametrize("kind", stock_models.NUM_SCORES)
@pytest.mark.parametrize("weights", [[1.0, 0.5, 0.0], [0.0] * 3])
def test_other_xgboost_trees(parameters, kind, weights, rows, export_model, tmp_path):
    k = stock_models.NUM_SCORES[kind]
    trained, output = tmp_path / "trained.json", tmp_path / "out.json"
    trained.write_text(stock_models.train_xgboost(rows, kind, 3, **parameters))
    offsets = [1.5, -0.5, 0.25][:k]
    run_export(
        export_model,
        library="xgboost",
        output=str(output),
        parts=[{"file": str(trained), "round_weights": weights}],
        objective=kind,
        num_scores=k,
        offsets=offsets,
    )
    case = Case("xgboost", "numeric", kind, "")
    booster, features = stock_models.load(trained), rows["features"]
    expected = np.tile(offsets, (len(features), 1))
    for round_, weight in enumerate(weights):
        expected += weight * exported_models.scores_of_round(case, booster, features, round_)
    exported = stock_models.load(output)
    scores = stock_models.predict_scores(exported, features, False)
    np.testing.assert_allclose(scores, expected, rtol=0, atol=3e-6)
    contributions = stock_models.predict_contributions(exported, features, False)
    np.testing.assert_allclose(contributions.sum(axis=2), scores, rtol=0, atol=3e-6)


@pytest.mark.parametrize("library", stock_models.TRAINERS)
def test_tables_with_named_categories(library, rows, export_model, tmp_path):
    """Codes of categories stay with the model: in a line of LightGBM's Python package, in
    XGBoost's JSON from 3.1 on."""
    table = pd.DataFrame(rows["features"], columns=["size", "NaN", "age", "colour"])
    names = ["red", "green", "blue", "grey", "pink", "black", "white", "tan", "Infinity"]
    colours = np.array(names)
    table["colour"] = pd.Categorical(colours[table["colour"].astype(int)])
    suffix = stock_models.SUFFIXES[library]
    trained, output = tmp_path / f"trained{suffix}", tmp_path / f"out{suffix}"
    if library == "lightgbm":
        data = lgb.Dataset(table, rows["binary"], params={"verbose": -1})
        parameters = {"objective": "binary", "boost_from_average": False, **LIGHTGBM_PARAMETERS}
        before = lgb.train({**parameters, "min_data_per_group": 5}, data, 3)
    else:
        data = xgb.DMatrix(table, rows["binary"], enable_categorical=True)
        parameters = {"objective": "binary:logistic", "base_score": 0.5, "max_cat_to_onehot": 1}
        before = xgb.train(parameters, data, 3)
    before.save_model(trained)
    run_export(
        export_model,
        library=library,
        output=str(output),
        parts=[{"file": str(trained)}],
        objective="binary",
        offsets=[0.75],
    )
    after = stock_models.load(output)
    if library == "lightgbm":
        scores = [booster.predict(table, raw_score=True) for booster in (before, after)]
    else:
        shuffled = table.assign(colour=table["colour"].cat.reorder_categories(colours))
        matrix = xgb.DMatrix(shuffled, enable_categorical=True)
        scores = [booster.predict(matrix, output_margin=True) for booster in (before, after)]
        assert after.feature_names == list(table.columns)
    np.testing.assert_allclose(scores[1], scores[0] + 0.75, rtol=0, atol=1e-6)
    assert np.ptp(scores[0]) > 0.5


@pytest.mark.parametrize("library", stock_models.TRAINERS)
@pytest.mark.parametrize(
    ("request_", "complaint"),
    [
        ({"parts": [{"weight": 0.0}]}, "parts[0].weight: 0"),
        ({"parts": [{"round_weights": [1.0]}]}, "one for each of the model's 4 rounds"),
        ({"num_scores": 3, "objective": "multiclass"}, "num_scores is 3"),
    ],
)
def test_refusals(library, request_, complaint, trained_models, export_model, tmp_path):
    case = Case(library, "numeric", "binary", "plain")
    parts = request_.get("parts", [{}])
    parts = [{"file": str(case.model_of(trained_models, 0)), **part} for part in parts]
    output = tmp_path / "out"
    request_ = {"objective": "binary", **request_, "parts": parts}
    with pytest.raises(subprocess.CalledProcessError) as refused:
        run_export(export_model, library=library, output=str(output), **request_)
    assert complaint in refused.value.stderr
    assert not output.exists()
