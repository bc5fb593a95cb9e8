"""What the Python package costs: `fit` with the solver abpp against the same loop of the core, and
against the stock estimator's own `fit`.

Generated data, one limit. The three ways run one after the other in every repeat; what is printed
are medians and the medians of the ratios within a repeat.

    python benchmarks/end_to_end/python_overhead.py [--rows 100000] [--repeats 7]
"""

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from bregboost import ConstrainedClassifier, _core, as_constraints
from bregboost._backends import backend_for
from lightgbm import LGBMClassifier
from xgboost import XGBClassifier

LIMIT = "fnr <= 20%"


def make_data(rows: int, features: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels that depend on a third of the features, with noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, features)).astype(np.float32)
    weights = rng.normal(size=features) * (np.arange(features) % 3 == 0)
    score = X @ weights + 0.5 * X[:, 0] * X[:, 3] + rng.logistic(size=rows)
    return X, (score > np.quantile(score, 0.7)).astype(int)


def core_loop(estimator: Any, X: np.ndarray, y: np.ndarray) -> Callable[[], object]:
    """The C++ loop as a program would call it: a data set of the library, then one call."""
    backend = backend_for(estimator, "classification")
    kinds = {"lightgbm": _core.LightGbmDataset, "xgboost": _core.XgboostDataset}
    solve = getattr(_core, f"paper_{backend.name}")

    def run() -> bytes:
        data = backend.make_data(X)
        rows = _core.RowData(codes=y.astype(np.int32), classes=["0", "1"])
        fit = solve(
            kinds[backend.name](data.keep, data.handle, backend.library()),
            rows,
            as_constraints(LIMIT),
            _core.BoostedOptions(backend.parameters(data.columns)),
            _core.PaperOptions(),
        )
        return fit.model()

    return run


def seconds(run: Callable[[], object]) -> float:
    """Of one run."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def compare(estimator: Any, X: np.ndarray, y: np.ndarray, repeats: int) -> None:
    """Print one line per way."""
    ways = {
        "stock fit": lambda: type(estimator)(**estimator.get_params()).fit(X, y),
        "core loop": core_loop(estimator, X, y),
        "Python fit": lambda: ConstrainedClassifier(estimator, LIMIT, solver="abpp").fit(X, y),
    }
    for run in ways.values():
        run()  # warms up caches and threads
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(repeats):
        for name, run in ways.items():
            times[name].append(seconds(run))
    print(f"\n{type(estimator).__name__}")
    for name, values in times.items():
        print(f"  {name:<11} {statistics.median(values):7.3f} s")
    for other, aim in (("core loop", 1.02), ("stock fit", 1.05)):
        ratios = [a / b for a, b in zip(times["Python fit"], times[other], strict=True)]
        spread = f"{min(ratios):.3f} to {max(ratios):.3f}"
        print(f"  Python fit / {other}: {statistics.median(ratios):.3f} ({spread}; aim {aim})")


def main() -> None:
    """Read the flags and run both libraries."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--features", type=int, default=28)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=7)
    args = parser.parse_args()
    X, y = make_data(args.rows, args.features)
    print(f"{args.rows} x {args.features}, {args.trees} trees, medians of {args.repeats}")
    compare(LGBMClassifier(n_estimators=args.trees, verbose=-1), X, y, args.repeats)
    compare(XGBClassifier(n_estimators=args.trees), X, y, args.repeats)


if __name__ == "__main__":
    main()
