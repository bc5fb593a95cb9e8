"""Where versions of scikit-learn, from 1.4 on, differ."""

from typing import Any

try:  # 1.6 and newer
    from sklearn.utils import get_tags
    from sklearn.utils.validation import _check_feature_names, _check_n_features

    def check_feature_names(estimator: Any, X: Any, *, reset: bool) -> None:
        """Keep the names of the features, or compare them with those that were kept."""
        _check_feature_names(estimator, X, reset=reset)

    def check_n_features(estimator: Any, X: Any, *, reset: bool) -> None:
        """Keep the number of features, or compare it with the one that was kept."""
        _check_n_features(estimator, X, reset=reset)

    def input_tags_of(estimator: Any) -> dict[str, bool]:
        """What an estimator takes."""
        tags = get_tags(estimator).input_tags
        return {"allow_nan": bool(tags.allow_nan), "sparse": bool(tags.sparse)}

except ImportError:

    def check_feature_names(estimator: Any, X: Any, *, reset: bool) -> None:
        """Keep the names of the features, or compare them with those that were kept."""
        estimator._check_feature_names(X, reset=reset)

    def check_n_features(estimator: Any, X: Any, *, reset: bool) -> None:
        """Keep the number of features, or compare it with the one that was kept."""
        estimator._check_n_features(X, reset=reset)

    def input_tags_of(estimator: Any) -> dict[str, bool]:
        """What an estimator takes."""
        tags = estimator._get_tags() if hasattr(estimator, "_get_tags") else {}
        return {
            "allow_nan": bool(tags.get("allow_nan", False)),
            "sparse": "sparse" in tags.get("X_types", ()),
        }
