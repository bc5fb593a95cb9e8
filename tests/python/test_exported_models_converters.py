"""Exported models in SHAP, ONNX and Treelite. What a converter cannot do with a model that the
stock library trained by itself is not asked of an exported one."""

import warnings

import lightgbm as lgb
import numpy as np
import onnxmltools
import onnxruntime
import pytest
import stock_models
import treelite
import xgboost as xgb
from exported_models import CASES
from onnxmltools.convert.common.data_types import FloatTensorType

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # SHAP's plots use what Matplotlib will deprecate
    import shap

ALL = pytest.mark.parametrize("case", CASES, ids=str)
TOLERANCE = 1e-5  # converters compute in float


def predictions(case, exported, features: np.ndarray) -> np.ndarray:
    return stock_models.predict(stock_models.load(exported(case)), features, case.categorical)


@ALL
def test_treelite(case, exported, rows):
    path, features = str(exported(case)), rows["features"]
    if case.library == "lightgbm":
        model = treelite.frontend.load_lightgbm_model(path)
    else:
        model = treelite.frontend.load_xgboost_model(path, format_choice="json")
        features = features.astype(np.float32)
    predicted = treelite.gtil.predict(model, features, nthread=1).reshape(len(features), -1)
    expected = predictions(case, exported, rows["features"])
    np.testing.assert_allclose(predicted, expected, rtol=0, atol=TOLERANCE)


@ALL
def test_onnx(case, exported, rows):
    features = rows["features"].astype(np.float32)
    convert = {"lightgbm": onnxmltools.convert_lightgbm, "xgboost": onnxmltools.convert_xgboost}
    inputs = [("x", FloatTensorType([None, features.shape[1]]))]
    model = convert[case.library](stock_models.load(exported(case)), initial_types=inputs)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3  # LightGBM's converter declares labels of one row
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    predicted = session.run(None, {"x": features})[-1]
    if isinstance(predicted, list):  # a dictionary of classes for each row
        predicted = np.array([[row[name] for name in sorted(row)] for row in predicted])
    predicted = predicted.reshape(len(features), -1)[:, -case.num_scores :]
    expected = predictions(case, exported, rows["features"])
    np.testing.assert_allclose(predicted, expected, rtol=0, atol=TOLERANCE)


def check_shap(explainer, values, scores: np.ndarray) -> None:
    total = np.asarray(values).sum(axis=1).reshape(len(scores), -1) + explainer.expected_value
    assert total.shape == scores.shape
    np.testing.assert_allclose(total, scores, rtol=0, atol=TOLERANCE)


@ALL
@pytest.mark.filterwarnings("ignore:LightGBM binary classifier with TreeExplainer:UserWarning")
def test_shap_by_paths(case, exported, rows):
    booster, features = stock_models.load(exported(case)), rows["features"]
    explainer = shap.TreeExplainer(booster)
    asked = features
    if case.library == "xgboost":
        asked = stock_models.xgboost_matrix(features, categorical=case.categorical)
    values = explainer.shap_values(asked)
    check_shap(explainer, values, stock_models.predict_scores(booster, features, case.categorical))


def can_intervene(case) -> bool:
    """SHAP 0.51 refuses XGBoost's categorical splits and misreads LightGBM's; of a LightGBM booster
    of several classes it adds all trees to one score."""
    if case.categorical:
        return False
    return case.library == "xgboost" or case.kind != "multiclass"


def check_intervention(booster, rows, categorical: bool = False) -> None:
    features = rows["features"][:40]
    explainer = shap.TreeExplainer(booster, data=rows["features"][40:80])
    values = explainer.shap_values(features, check_additivity=False)
    check_shap(explainer, values, stock_models.predict_scores(booster, features, categorical))


@pytest.mark.parametrize("case", list(filter(can_intervene, CASES)), ids=str)
def test_shap_by_intervention(case, exported, rows):
    check_intervention(stock_models.load(exported(case)), rows)


@pytest.mark.parametrize(
    ("library", "kind", "categorical"),
    [
        ("xgboost", "binary", True),
        ("lightgbm", "binary", True),
        ("lightgbm", "multiclass", False),
    ],
)
def test_what_shap_cannot_do_with_stock_models(library, kind, categorical, rows):
    if library == "lightgbm":
        columns = [stock_models.CATEGORICAL] if categorical else []
        data = lgb.Dataset(rows["features"], rows[kind], categorical_feature=columns)
        parameters = {"objective": kind, "num_class": stock_models.NUM_SCORES[kind], "verbose": -1}
        booster = lgb.train({**parameters, "min_data_per_group": 5}, data, 4)
    else:
        data = stock_models.xgboost_matrix(rows["features"], rows[kind], categorical)
        booster = xgb.train({"objective": "binary:logistic", "max_cat_to_onehot": 1}, data, 4)
    with pytest.raises((AssertionError, NotImplementedError)):
        check_intervention(booster, rows, categorical)
