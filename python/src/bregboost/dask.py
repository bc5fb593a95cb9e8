"""Training on a Dask cluster, by the distributed engine of XGBoost or LightGBM.

Each worker trains on the partitions that it has. Only sums cross the network: by class and group in
every round, counts of nearly equal scores when offsets are chosen, counts for the certificate. The
result is the plain model that one machine would have.
"""

from typing import Any

import dask
import distributed
import numpy as np
import pandas as pd
from dask import array as da
from dask import dataframe as dd
from sklearn.base import clone

from bregboost import _classifier
from bregboost._allocator import keeping_memory
from bregboost._backends import backend_for
from bregboost._cluster import Cluster, Placed, cancellation, check_collection, partitions
from bregboost._engines import engine_of
from bregboost._row_parts import whole
from bregboost._rows import Labels, encode_labels
from bregboost._training import Adjustment

__all__ = ["ConstrainedClassifier"]

_COLUMNS = ("sample_weight", "sensitive_features", "rate_weight")


class ConstrainedClassifier(_classifier.ConstrainedClassifier):
    """`bregboost.ConstrainedClassifier` for rows on a Dask cluster.

    Takes the same parameters. Limits are held on a hold-out, drawn from the partitions of every
    worker, or on an `eval_set`; folds, `deploy="refit"`, `recalibrate` and `frontier` are for one
    machine.

    Examples
    --------
    >>> import numpy as np
    >>> from dask import array as da
    >>> from distributed import Client
    >>> from xgboost import XGBClassifier
    >>> from bregboost.dask import ConstrainedClassifier
    >>> random = np.random.default_rng(0)
    >>> X = random.normal(size=(4000, 4))
    >>> y = (X[:, 0] + random.normal(size=4000) > 0).astype(int)
    >>> with Client(n_workers=2, threads_per_worker=1, dashboard_address=":0") as client:
    ...     model = ConstrainedClassifier(XGBClassifier(n_estimators=10), "fnr <= 20%")
    ...     model = model.fit(da.from_array(X, chunks=(1000, 4)), da.from_array(y, chunks=1000))
    >>> model.status_
    'satisfied'
    """

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        sensitive_features: Any = None,
        *,
        rate_weight: Any = None,
        eval_set: Any = None,
        eval_sample_weight: Any = None,
        eval_sensitive_features: Any = None,
        eval_rate_weight: Any = None,
        certify_set: Any = None,
        certify_sample_weight: Any = None,
        certify_sensitive_features: Any = None,
        certify_rate_weight: Any = None,
        client: distributed.Client | None = None,
    ) -> "ConstrainedClassifier":
        """Train on the cluster.

        Parameters
        ----------
        X : Dask DataFrame or Array
        y : Dask Series or Array
        sample_weight, sensitive_features, rate_weight : Dask collections, optional
            With the partitions of `X`.
        eval_set, certify_set : (X, y), optional
            Dask collections, and so are their weights and groups.
        client : distributed.Client, optional
            None: the current one.

        Returns
        -------
        self

        Raises
        ------
        RuntimeError
            A worker is lost; its address is in the text, as it is in that of an error which one
            worker alone has.
        """
        cluster = Cluster(client)
        given = {
            "": (X, y, sample_weight, sensitive_features, rate_weight),
            "eval_": (
                *(eval_set or (None, None)),
                eval_sample_weight, eval_sensitive_features, eval_rate_weight,
            ),
            "certify_": (
                *(certify_set or (None, None)),
                certify_sample_weight, certify_sensitive_features, certify_rate_weight,
            ),
        }  # fmt: skip
        sets = {
            prefix: dict(zip(("X", "y", *_COLUMNS), values, strict=True))
            for prefix, values in given.items()
            if values[0] is not None
        }
        for prefix, columns in sets.items():
            for name, value in columns.items():
                if value is not None:
                    check_collection(prefix + name, value)
        engine = engine_of(self)
        labels = distinct_labels(y)
        placed: dict[str, dict[str, Placed]] = {}
        for prefix, columns in sets.items():
            present = {name: value for name, value in columns.items() if value is not None}
            placed[prefix] = cluster.place(present, among=list(placed.get("", ())), prefix=prefix)
        workers = list(placed[""])
        by_worker = {
            worker: [{prefix: parts[worker] for prefix, parts in placed.items()}]
            for worker in workers
        }
        with engine.network(cluster, workers) as network:
            found = cluster.run(fit_part, by_worker, clone(self), labels, network)
        self._take(next(result for result in found if result is not None))
        return self

    def _take(self, fitted: dict[str, Any]) -> None:
        """What a worker has fitted, in an estimator that knows nothing of the network."""
        own = self.get_params(deep=False)
        self.__dict__.update((name, fitted[name]) for name in fitted if name not in own)
        self._backend = backend_for(self.estimator, self._task)
        report = self.report_.to_dict()
        offsets = tuple(report.get("offsets") or ())
        self._deploy_adjustment(Adjustment(report.get("temperature") or 1.0, offsets))

    def recalibrate(self, *_: Any, **__: Any) -> "ConstrainedClassifier":
        """Not on a cluster: no machine has all unseen rows."""
        raise TypeError(
            "recalibrate: a model from a cluster; allowed: fit with the new limits, or a model "
            "from one machine"
        )

    def predict(self, X: Any) -> Any:
        """Labels under the limits, lazily for a Dask collection.

        Parameters
        ----------
        X : features

        Returns
        -------
        ndarray, or a Dask Series or Array
        """
        return self._by_part(X, "predict", self.classes_.dtype, columns=None)

    def predict_proba(self, X: Any) -> Any:
        """Probabilities of the classes, lazily for a Dask collection.

        Parameters
        ----------
        X : features

        Returns
        -------
        ndarray, or a Dask DataFrame or Array
        """
        return self._by_part(X, "predict_proba", np.dtype(float), columns=list(self.classes_))

    def _by_part(self, X: Any, method: str, dtype: Any, columns: list[Any] | None) -> Any:
        alone = _classifier.ConstrainedClassifier(**self.get_params(deep=False))
        alone.__dict__.update(self.__dict__)
        call = getattr(alone, method)
        if isinstance(X, dd.DataFrame):

            def on_frame(part: pd.DataFrame) -> Any:
                values = call(part) if len(part) else np.empty((0, len(columns or [0])), dtype)
                if columns is None:
                    return pd.Series(np.ravel(values), index=part.index, dtype=dtype)
                return pd.DataFrame(values, index=part.index, columns=columns)

            empty = np.empty(0, dtype) if columns is None else None
            meta = (
                pd.Series(empty, dtype=dtype)
                if columns is None
                else pd.DataFrame({name: np.empty(0, dtype) for name in columns})
            )
            return X.map_partitions(on_frame, meta=meta)
        if isinstance(X, da.Array):
            if columns is None:
                return X.map_blocks(call, dtype=dtype, drop_axis=1)
            return X.map_blocks(call, dtype=dtype, chunks=(X.chunks[0], (len(columns),)))
        return call(X)


def distinct_labels(y: Any) -> Labels:
    """Classes of all partitions."""
    distinct = dask.compute(*(dask.delayed(pd.unique)(part) for part in partitions("y", y)))
    return encode_labels(np.concatenate([np.asarray(values) for values in distinct]))


def fit_part(
    sets: dict[str, Any], owner: ConstrainedClassifier, labels: Labels, network: Any
) -> dict[str, Any] | None:
    """Train on the rows of this worker; the first one returns what is fitted."""
    worker = distributed.get_worker()
    with network.joined(worker, cancellation(worker)) as workers, keeping_memory():
        part = PartClassifier(**owner.get_params(deep=False))
        part.estimator = network.prepared(part.estimator, worker)
        part._labels_of_all = labels
        tables = {prefix: Placed(*placed).table() for prefix, placed in sets.items()}
        arguments: dict[str, Any] = {"eval_set": None, "certify_set": None}
        for prefix in ("", "eval_", "certify_"):
            for name in _COLUMNS:
                arguments[prefix + name] = whole(tables.get(prefix, {}).get(name))
            if prefix and prefix in tables:
                pair = tables[prefix]
                arguments[f"{prefix}set"] = (whole(pair["X"]), whole(pair["y"]))
        # Features are most of the data, and XGBoost takes them in parts.
        part._fit(tables[""]["X"], whole(tables[""]["y"]), arguments, workers=workers)
        del part._labels_of_all
        part._unseen = None  # of this worker alone, which leaves none of its rows to others
        return part.__dict__ if workers.rank == 0 else None


class PartClassifier(_classifier.ConstrainedClassifier):
    """On the rows of one worker, which may lack some of the classes."""

    _labels_of_all: Labels

    def _target(self, y: Any, like: Labels | None = None, field: str = "y") -> tuple[Labels, None]:
        return super()._target(y, like or self._labels_of_all, field)
