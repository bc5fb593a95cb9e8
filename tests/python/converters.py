"""Boosters of the stock libraries in SHAP, ONNX and Treelite: what each of them predicts. All
compute in float."""

import warnings
from pathlib import Path

import lightgbm as lgb
import numpy as np
import onnxmltools
import onnxruntime
import treelite
import xgboost as xgb
from onnxmltools.convert.common.data_types import FloatTensorType

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # SHAP's plots use what Matplotlib will deprecate
    import shap


def treelite_probabilities(path: Path, features: np.ndarray) -> np.ndarray:
    if path.suffix == ".txt":
        model = treelite.frontend.load_lightgbm_model(str(path))
    else:
        model = treelite.frontend.load_xgboost_model(str(path), format_choice="ubjson")
        features = features.astype(np.float32)
    return treelite.gtil.predict(model, features, nthread=1).reshape(len(features), -1)


def onnx_probabilities(booster: lgb.Booster | xgb.Booster, features: np.ndarray) -> np.ndarray:
    """One column per class."""
    of_lightgbm = isinstance(booster, lgb.Booster)
    convert = onnxmltools.convert_lightgbm if of_lightgbm else onnxmltools.convert_xgboost
    if not of_lightgbm:
        booster.feature_names = None  # the converter wants f0, f1, ...
    model = convert(booster, initial_types=[("x", FloatTensorType([None, features.shape[1]]))])
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3  # LightGBM's converter declares labels of one row
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    predicted = session.run(None, {"x": features.astype(np.float32)})[-1]
    if isinstance(predicted, list):  # a dictionary of classes for each row
        predicted = [[row[name] for name in sorted(row)] for row in predicted]
    return np.asarray(predicted)


def shap_scores(booster: lgb.Booster | xgb.Booster, features: np.ndarray) -> np.ndarray:
    """The expected score and all contributions, added up; one column per score."""
    explainer = shap.TreeExplainer(booster)
    asked = features
    if isinstance(booster, xgb.Booster):
        asked = xgb.DMatrix(features, feature_names=booster.feature_names, nthread=1)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "LightGBM binary classifier with TreeExplainer")
        values = np.asarray(explainer.shap_values(asked))
    return values.sum(axis=1).reshape(len(features), -1) + explainer.expected_value
