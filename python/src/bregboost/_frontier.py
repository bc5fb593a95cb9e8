"""What limits cost: the points of a sweep over a bound, or over the weight of violations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from bregboost._history import import_pandas
from bregboost._json_data import plain
from bregboost._layout import Cell, Column, Section, Table, as_html, as_text
from bregboost._report_sections import holds
from bregboost._units import (
    UNDEFINED,
    bound_text,
    count_text,
    difference_text,
    in_percent,
    left_side,
    value_text,
)

if TYPE_CHECKING:
    import pandas

_SWEPT = ("bound", "rho")


@dataclass(frozen=True)
class FrontierPoint:
    """One setting and what it gives on unseen rows; None is undefined.

    Attributes
    ----------
    bound : float or None
        Of the swept limit; of the first one if rho is swept.
    rho : float or None
        How many points of the objective a point of violation is worth.
    objective : float or None
        As the user named it.
    total_violation : float or None
        Summed over the limits.
    measurements : tuple of dict
        Of all limits: text, value, violation, satisfied.
    dominated : bool
        Another point is at least as good in both respects.
    trained_for : float or None
        The bound, or rho, of the training that the point comes from.
    steps : int or None
        Of that training.
    prices : tuple of dict
        What each bound costs at the point, where that is known.
    model : object
        A fitted estimator, or None.
    """

    bound: float | None
    rho: float | None
    objective: float | None
    total_violation: float | None
    measurements: tuple[dict[str, Any], ...]
    dominated: bool
    trained_for: float | None
    steps: int | None
    prices: tuple[dict[str, Any], ...] = ()
    model: object = None

    @property
    def satisfied(self) -> bool:
        """Whether every limit holds as measured; never where one is undefined."""
        return self.total_violation == 0 and all(map(holds, self.measurements))


class FrontierResult:
    """Points of a sweep in the order of the settings.

    Parameters
    ----------
    points : sequence of mappings
        With the keys bound, rho, objective, total_violation, measurements, dominated, trained_for,
        steps.
    models : sequence of estimators or None, optional
        One per point.
    swept : {"bound", "rho"}
        What differs from point to point.
    constraint : int
        The place, among the limits, of the one whose bound is swept.
    objective_name : str
        What `objective` is.
    maximise : bool
        Whether more of it is better.

    Examples
    --------
    >>> points = [
    ...     {"bound": bound, "rho": 5.0, "objective": accuracy, "total_violation": 0.0}
    ...     for bound, accuracy in ((0.02, 0.81), (0.05, 0.88))
    ... ]
    >>> result = FrontierResult(points, objective_name="accuracy")
    >>> result
    2 points by bound, 2 worth choosing
      bound  accuracy    violation  holds  worth choosing  steps
         2%    81.00%  0.00 points  yes    yes
         5%    88.00%  0.00 points  yes    yes
    >>> result.best().bound
    0.05
    """

    __slots__ = ("_constraint", "_maximise", "_objective_name", "_points", "_swept")

    def __init__(
        self,
        points: Sequence[Mapping[str, object]],
        models: Sequence[object] | None = None,
        *,
        swept: str = "bound",
        constraint: int = 0,
        objective_name: str = "objective",
        maximise: bool = True,
    ) -> None:
        if swept not in _SWEPT:
            raise ValueError(f"swept: {swept!r}; allowed: {', '.join(map(repr, _SWEPT))}")
        if models is not None and len(models) != len(points):
            raise ValueError(f"models: {len(models)}; allowed: {len(points)}, one per point")
        owners = [None] * len(points) if models is None else models
        self._points = tuple(
            _as_point(plain(point, f"points[{i}]"), model)
            for i, (point, model) in enumerate(zip(points, owners, strict=True))
        )
        self._swept = swept
        self._constraint = constraint
        self._objective_name = objective_name
        self._maximise = maximise

    @property
    def points(self) -> tuple[FrontierPoint, ...]:
        """All points, in the order given."""
        return self._points

    @property
    def models(self) -> list[object]:
        """The estimator of each point, or None."""
        return [point.model for point in self._points]

    @property
    def swept(self) -> str:
        """``"bound"`` or ``"rho"``."""
        return self._swept

    @property
    def objective_name(self) -> str:
        """What is optimised."""
        return self._objective_name

    @property
    def maximise(self) -> bool:
        """Whether more of the objective is better."""
        return self._maximise

    @property
    def constraint(self) -> str:
        """The swept limit without its bound; empty if there is none."""
        texts = self._texts()
        return left_side(texts[self._constraint]) if self._constraint < len(texts) else ""

    @property
    def bounds_in_percent(self) -> bool:
        """Whether the bounds are shares; losses have a unit of their own."""
        texts = self._texts()
        return self._constraint >= len(texts) or in_percent(texts[self._constraint])

    @property
    def violations_in_percent(self) -> bool:
        """Whether all limits are on shares, so that their violations are points."""
        return all(in_percent(text) for text in self._texts())

    @property
    def frame(self) -> "pandas.DataFrame":
        """One row per point, and one column per limit with its value; needs pandas.

        Examples
        --------
        >>> measured = {"text": "fnr <= 5%", "value": 0.04, "satisfied": True}
        >>> point = {"bound": 0.05, "total_violation": 0.0, "measurements": [measured]}
        >>> FrontierResult([point]).frame[["bound", "total_violation", "satisfied", "value: fnr"]]
           bound  total_violation  satisfied  value: fnr
        0   0.05              0.0       True        0.04
        """
        pandas = import_pandas("frontier")
        numbers = ("bound", "rho", "objective", "total_violation", "trained_for")
        columns = {
            name: pandas.Series([getattr(p, name) for p in self._points], dtype="float64")
            for name in numbers
        }
        columns["steps"] = pandas.Series([point.steps for point in self._points], dtype="Int64")
        for name in ("satisfied", "dominated"):
            columns[name] = pandas.Series([getattr(p, name) for p in self._points], dtype="bool")
        for j, text in enumerate(self._texts()):
            swept = self._swept == "bound" and j == self._constraint
            columns[f"value: {left_side(text) if swept else text}"] = pandas.Series(
                [_measured_value(point, j) for point in self._points], dtype="float64"
            )
        return pandas.DataFrame(columns)

    def best(self, max_violation: float = 0.0) -> FrontierPoint:
        """The point with the best objective among those that violate no more than this.

        Parameters
        ----------
        max_violation : float
            Summed over the limits, each against its own bound, in the unit of the rates.

        Returns
        -------
        FrontierPoint
            Of equals the one that violates least, then the first.

        Raises
        ------
        ValueError
            If no point violates so little.
        """
        if not max_violation >= 0:
            raise ValueError(f"max_violation: {max_violation}; allowed: 0 or more")
        sign = -1 if self._maximise else 1
        ranked = [
            ((sign * point.objective, point.total_violation), point)
            for point in self._points
            if point.objective is not None and point.total_violation is not None
        ]
        allowed = [(rank, point) for rank, point in ranked if rank[1] <= max_violation]
        if not allowed:
            least = min((rank[1] for rank, _ in ranked), default=None)
            what = "no point has one" if least is None else f"{least:.6g} or more"
            raise ValueError(f"max_violation: {max_violation}; allowed: {what}")
        return min(allowed, key=lambda candidate: candidate[0])[1]

    def to_dict(self) -> dict[str, Any]:
        """The points without their models, ready for ``json.dumps``.

        Examples
        --------
        >>> FrontierResult([{"bound": 0.05, "objective": 0.9}]).to_dict()["points"][0]["objective"]
        0.9
        """
        names = [field.name for field in fields(FrontierPoint) if field.name != "model"]
        points = [{name: getattr(point, name) for name in names} for point in self._points]
        return plain(
            {"points": points, "swept": self._swept, "constraint": self._constraint}, "frontier"
        )

    def __len__(self) -> int:
        return len(self._points)

    def __repr__(self) -> str:
        return as_text(self._sections())

    def _repr_html_(self) -> str:
        return as_html(self._sections())

    def _texts(self) -> list[str]:
        """The limits; the bound of the swept one is that of the first point."""
        if not self._points:
            return []
        return [str(measured.get("text")) for measured in self._points[0].measurements]

    def _sections(self) -> list[Section]:
        chosen = sum(not point.dominated for point in self._points)
        of = f" of {self.constraint}" if self._swept == "bound" and self.constraint else ""
        title = f"{len(self)} points by {self._swept}{of}, {chosen} worth choosing"
        columns = (
            Column(self._swept, number=True),
            Column(self._objective_name, number=True),
            Column("violation", number=True),
            Column("holds"),
            Column("worth choosing"),
            Column("steps", number=True),
        )
        rows = tuple(self._row(point) for point in self._points)
        return [Section(title, Table(columns, rows) if rows else None)]

    def _row(self, point: FrontierPoint) -> tuple[Cell, ...]:
        if self._swept == "bound":
            setting = bound_text(point.bound, self.bounds_in_percent)
        else:
            setting = UNDEFINED if point.rho is None else f"{point.rho:.4g}"
        return (
            Cell(setting),
            Cell(value_text(point.objective, "loss" not in self._objective_name)),
            Cell(difference_text(point.total_violation, self.violations_in_percent)),
            Cell("yes", "good") if point.satisfied else Cell("no", "bad"),
            Cell("no" if point.dominated else "yes"),
            Cell("" if point.steps is None else count_text(point.steps)),
        )


def _measured_value(point: FrontierPoint, j: int) -> float | None:
    return point.measurements[j].get("value") if j < len(point.measurements) else None


def _as_point(data: dict[str, Any], model: object) -> FrontierPoint:
    return FrontierPoint(
        bound=data.get("bound"),
        rho=data.get("rho"),
        objective=data.get("objective"),
        total_violation=data.get("total_violation"),
        measurements=tuple(data.get("measurements") or ()),
        dominated=bool(data.get("dominated")),
        trained_for=data.get("trained_for"),
        steps=data.get("steps"),
        prices=tuple(data.get("prices") or ()),
        model=model,
    )
