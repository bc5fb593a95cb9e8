"""Frontiers: the same problem with one bound, or rho, swept over a list."""

from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone

from bregboost import _core
from bregboost._frontier import FrontierResult
from bregboost._parameters import check_number
from bregboost._training import RowSet, Trainer, Watch


class Sweep:
    """A list of settings, and the two ways to find out what each costs."""

    def __init__(
        self,
        estimator: Any,
        constraints: list[_core.Constraint],
        bounds: Sequence[float] | None,
        rhos: Sequence[float] | None,
        constraint: int | str,
    ) -> None:
        self._estimator = estimator
        self._constraints = constraints
        if not constraints:
            raise ValueError("constraints: none; allowed for a frontier: one or more")
        if estimator.solver != "auto":
            raise ValueError(f"solver: {estimator.solver!r}; allowed for a frontier: 'auto'")
        if (bounds is None) == (rhos is None):
            raise ValueError("bounds, rhos: both or none; allowed: one of them")
        self._swept = "bound" if rhos is None else "rho"
        self._values = _numbers(f"{self._swept}s", bounds if rhos is None else rhos)
        self._place = self._find(constraint)
        for place in range(len(self._values)):  # a bound that the constraint does not allow
            self._setting(place)

    def by_estimates(
        self, trainer: Trainer, training: RowSet, evaluation: RowSet | None, watch: Watch
    ) -> FrontierResult:
        """Every point from a few trainings, without models."""
        found = trainer.sweep(
            self._constraints,
            training,
            evaluation,
            watch,
            constraint=self._place,
            bounds=self._values if self._swept == "bound" else [],
            rhos=self._values if self._swept == "rho" else [],
            trainings=2,
        )
        return self._result(found["points"], None)

    def by_models(self, X: Any, y: Any, sets: dict[str, Any]) -> FrontierResult:
        """Every point a fitted model: calibrations of one training where that is enough.

        Else every training starts from the multipliers of the one before. Ctrl-C ends the sweep
        with the points that there are.
        """
        first = self._fit(0, X, y, sets)
        models = [first]
        trains = first.report_.to_dict()["path"] != "calibration"
        for place in range(1, len(self._values)):
            if not trains:
                models.append(self._recalibrated(first, place))
            elif models[-1].status_ == "interrupted":
                break
            else:
                models.append(self._fit(place, X, y, sets, models[-1].multipliers_.tolist()))
        origins = list(range(len(models)))
        if trains and self._estimator._task == "classification":
            self._share(models, origins)
        points = [self._point(p, model, origins[p]) for p, model in enumerate(models)]
        self._mark_dominated(points, first.report_.to_dict()["maximise"])
        return self._result(points, models)

    def _recalibrated(self, model: Any, place: int) -> Any:
        constraints, rho = self._setting(place)
        return model.recalibrate(constraints, rho=rho)

    def _share(self, models: list[Any], origins: list[int]) -> None:
        """Let every point have the model of another that suits it better, with new offsets.

        A training is luck to some degree, and one for another bound may hold this one at less cost.
        There and back, so that a model gets from one end of the list to the other.
        """
        last = len(models) - 1
        there = [(place, place - 1) for place in range(1, last + 1)]
        back = [(place, place + 1) for place in reversed(range(last))]
        # Offsets alone go to the bound itself, where training keeps a margin: both with new ones.
        own = [self._merit(self._recalibrated(model, p)) for p, model in enumerate(models)]
        best = [max(merit, self._merit(model)) for merit, model in zip(own, models, strict=True)]
        for place, other in there + back:
            if origins[other] == origins[place]:
                continue
            offered = self._recalibrated(models[other], place)
            if self._merit(offered) > best[place]:
                models[place] = offered
                best[place] = self._merit(offered)
                origins[place] = origins[other]

    def _merit(self, model: Any) -> float:
        report = model.report_.to_dict()
        sign = 1.0 if report["maximise"] else -1.0
        violation = np.inf if report["violation"] is None else report["violation"]
        return sign * report["objective"] - report["rho"] * violation

    def _find(self, constraint: int | str) -> int:
        texts = [str(known) for known in self._constraints]
        if isinstance(constraint, str):
            text = str(_core.Constraint(constraint))
            if text in texts:
                return texts.index(text)
        elif isinstance(constraint, Integral) and 0 <= constraint < len(texts):
            return int(constraint)
        raise ValueError(
            f"constraint: {constraint!r}; allowed: a place from 0 to {len(texts) - 1}, or one of "
            f"{texts}"
        )

    def _setting(self, place: int) -> tuple[list[_core.Constraint], float | None]:
        value = self._values[place]
        if self._swept == "rho":
            return self._constraints, value
        constraints = list(self._constraints)
        constraints[self._place] = constraints[self._place].with_bound(value)
        return constraints, self._estimator.rho

    def _fit(
        self,
        place: int,
        X: Any,
        y: Any,
        sets: dict[str, Any],
        multipliers: Sequence[float] = (),
    ) -> Any:
        constraints, rho = self._setting(place)
        model = clone(self._estimator).set_params(
            constraints=constraints, rho=rho, certify=None, checkpoint_dir=None, resume=False
        )
        return model._fit(X, y, sets, multipliers)

    def _point(self, place: int, model: Any, origin: int) -> dict[str, Any]:
        report = model.report_.to_dict()
        constraints, _ = self._setting(place)
        return {
            "bound": constraints[self._place].bound,
            "rho": report["rho"],
            "objective": report["objective"],
            "total_violation": report["violation"],
            "measurements": report["constraints"],
            "prices": report["prices"] if report["path"] == "calibration" else [],
            "temperature": report["temperature"],
            "offsets": report["offsets"],
            "trained_for": self._values[origin],
            "steps": report["steps_kept"],
        }

    def _mark_dominated(self, points: list[dict[str, Any]], maximise: bool) -> None:
        at_most = self._constraints[self._place].relation == "<="
        found = _core.find_dominated(
            [-point["objective"] if maximise else point["objective"] for point in points],
            [point["total_violation"] for point in points],
            [-point["bound"] if at_most else point["bound"] for point in points],
            sweeps_rho=self._swept == "rho",
        )
        for point, dominated in zip(points, found, strict=True):
            point["dominated"] = dominated

    def _result(self, points: list[dict[str, Any]], models: list[Any] | None) -> FrontierResult:
        is_regression = self._estimator._task == "regression"
        wanted = self._estimator.objective or ("loss" if is_regression else "accuracy")
        return FrontierResult(
            points,
            models,
            swept=self._swept,
            constraint=self._place,
            objective_name=_core.expression_text(wanted),
            maximise=_core.maximises(wanted),
        )


def _numbers(field: str, values: Any) -> list[float]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise TypeError(f"{field}: {values!r}; allowed: a list of numbers")
    numbers = list(values)
    for value in numbers:
        check_number(field, value, low=-np.inf if field == "bounds" else 0.0)
    if not numbers:
        raise ValueError(f"{field}: none; allowed: one or more")
    return [float(number) for number in numbers]
