"""XGBoost on several processes against one with all rows."""

import json
import multiprocessing
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import xgboost
from bregboost import _core, as_constraints
from bregboost._backends import backend_for
from bregboost._workers import xgboost_workers
from xgboost.tracker import RabitTracker

ROWS = 3000
LIMITS = ["fnr <= 15%", "gap(error, by=city) <= 4%"]
PARAMETERS = {"n_estimators": 20, "max_depth": 3, "tree_method": "hist", "n_jobs": 1}


@dataclass(frozen=True)
class Table:
    features: np.ndarray
    labels: np.ndarray
    city: np.ndarray

    def part(self, worker: int, workers: int) -> "Table":
        """Uneven: the first worker has more. The last city is on the last worker alone."""
        draws = np.random.default_rng(1).random(len(self.labels)) ** 2
        owner = np.minimum((draws * workers).astype(int), workers - 1)
        owner[self.city == 2] = workers - 1
        here = owner == worker
        return Table(self.features[here], self.labels[here], self.city[here])


def make_table() -> Table:
    """Features of at most 64 values, which every sketch of quantiles has exactly."""
    random = np.random.default_rng(0)
    features = random.integers(0, 64, size=(ROWS, 6)).astype(float)
    city = random.choice(3, p=[0.5, 0.4, 0.1], size=ROWS)
    score = (features[:, 0] - features[:, 1]) / 16.0 + 0.8 * (city == 1)
    labels = (score + random.logistic(size=ROWS) > 0.5).astype(int)
    return Table(features, labels, city)


def fit(table: Table, solver: str, workers: Any = None) -> dict:
    backend = backend_for(xgboost.XGBClassifier(**PARAMETERS), "classification")
    data = backend.make_data(table.features)
    rows = _core.RowData(
        codes=table.labels.astype(np.int32),
        classes=["0", "1"],
        groups=[("city", ["0", "1", "2"], table.city.astype(np.int32))],
        workers=workers,
    )
    features = _core.XgboostDataset(data.keep, data.handle, backend.library())
    limits = as_constraints(LIMITS)
    if solver == "auto":
        options = _core.FitOptions()
        options.validation = "hold_out"
        boosting = _core.BoostedOptions(backend.parameters(data.columns), 2)
        done = _core.fit_xgboost(features, rows, limits, boosting, options)
        report = json.loads(done.report_json(diagnose=True))
        return {"model": bytes(done.model(1.0, [])), "report": report}
    options = _core.PaperOptions()
    options.solver = solver
    boosting = _core.BoostedOptions(backend.parameters(data.columns))
    done = _core.paper_xgboost(features, rows, limits, boosting, options)
    return {"model": bytes(done.model()), "report": json.loads(done.report_json(limits))}


def work(solver: str, arguments: dict, workers: int, results: Any) -> None:
    with xgboost.collective.CommunicatorContext(**arguments):
        rank = xgboost.collective.get_rank()
        together = xgboost_workers(check=lambda: None)
        results.put((rank, fit(make_table().part(rank, workers), solver, together)))


def fit_on(workers: int, solver: str) -> list[dict]:
    """What each worker has, by rank."""
    tracker = RabitTracker(n_workers=workers, host_ip="127.0.0.1")
    tracker.start()
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    arguments = tracker.worker_args()
    processes = [
        context.Process(target=work, args=(solver, arguments, workers, results))
        for _ in range(workers)
    ]
    for process in processes:
        process.start()
    found = dict(results.get(timeout=120) for _ in processes)
    for process in processes:
        process.join(timeout=60)
        assert process.exitcode == 0
    return [found[rank] for rank in range(workers)]


def dumped(model: bytes) -> tuple[list[str], np.ndarray]:
    """Trees without their leaves' values, and those."""
    booster = xgboost.Booster(model_file=bytearray(model))
    table = booster.trees_to_dataframe()
    leaves = table["Feature"] == "Leaf"
    shape = [f"{row.Tree}-{row.Node} {row.Feature} {row.Split}" for row in table.itertuples()]
    return shape, table.loc[leaves, "Gain"].to_numpy()


@pytest.mark.parametrize(("solver", "workers"), [("abpp", 1), ("abpp", 4), ("cbpr", 2)])
def test_workers_grow_the_trees_of_one_machine(solver: str, workers: int) -> None:
    alone = fit(make_table(), solver)
    shape, leaves = dumped(alone["model"])
    together = fit_on(workers, solver)
    assert all(worker["model"] == together[0]["model"] for worker in together)
    its_shape, its_leaves = dumped(together[0]["model"])
    assert its_shape == shape
    np.testing.assert_allclose(its_leaves, leaves, atol=1e-5)
    report, expected = together[0]["report"], alone["report"]
    np.testing.assert_allclose(report["multipliers"], expected["multipliers"], atol=1e-5, rtol=1e-5)
    for ours, theirs in zip(report["constraints"], expected["constraints"], strict=True):
        assert ours["value"] == pytest.approx(theirs["value"], abs=1e-12)


def test_auto_holds_limits_on_rows_that_workers_held_out() -> None:
    together = fit_on(2, "auto")
    first, second = (worker["report"] for worker in together)
    assert together[0]["model"] == together[1]["model"]
    for name in ("temperature", "offsets", "constraints", "rows"):
        assert first[name] == second[name]
    alone = fit(make_table(), "auto")["report"]
    assert sum(first["rows"].values()) == pytest.approx(sum(alone["rows"].values()), abs=4)
    assert first["constraints"][0]["value"] <= 0.155
    for ours, theirs in zip(first["constraints"], alone["constraints"], strict=True):
        assert ours["value"] == pytest.approx(theirs["value"], abs=0.05)
