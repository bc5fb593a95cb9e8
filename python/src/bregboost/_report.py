"""What a fit tells its user."""

import json
import os
import re
from collections.abc import Mapping
from typing import Any

from bregboost._certificate import Certificate, ConstraintVerdict
from bregboost._frontier import FrontierResult
from bregboost._history import sums_by_constraint
from bregboost._json_data import plain, read_json, write_json, write_text
from bregboost._layout import as_html, as_text
from bregboost._report_sections import holds, report_sections

_LISTS = (
    "cautious_path",
    "certificate",
    "classes",
    "constraints",
    "history",
    "multipliers",
    "offsets",
    "prices",
    "too_small",
    "warnings",
)
# Of a run document, beside the fit itself.
_ABOUT_THE_RUN = ("data", "settings", "unconstrained", "versions")
_LONGEST_NAME = 150  # MLflow takes 250 characters, and more than one name begins with it


class Report:
    """Do the limits hold on unseen rows, what do they cost, and what stands in the way.

    ``repr`` is a table for a terminal; notebooks show HTML. Undefined numbers are None in
    :meth:`to_dict`, read "undefined" elsewhere, and never count as satisfied.

    Parameters
    ----------
    data : mapping
        What the core writes about a fit: lists, dicts, texts and numbers.

    Examples
    --------
    >>> report = Report({
    ...     "constraints": [
    ...         {"text": "fnr <= 5%", "value": 0.031, "bound": 0.05, "satisfied": True},
    ...     ],
    ...     "objective": 0.912, "objective_name": "accuracy", "maximise": True,
    ...     "validation": "folds", "rows": {"unseen": 4500},
    ... })
    >>> report
    The limit holds on 4,500 unseen rows (out of fold)
      limit      measured  bound  holds
      fnr <= 5%     3.10%     5%  yes
    What it costs
      - accuracy 91.20% on unseen rows
    How it was made
      validation  folds
      rows        4,500 unseen
    >>> report.satisfied, report.metrics()["objective"]
    (True, 0.912)
    """

    __slots__ = ("_data",)

    def __init__(self, data: Mapping[str, object]) -> None:
        if not isinstance(data, Mapping):
            raise TypeError(f"data: {data!r} ({type(data).__name__}); allowed: a dict")
        if "constraints" not in data:
            raise ValueError(f"data: keys {sorted(map(str, data))}; allowed: with 'constraints'")
        for key in _LISTS:
            items = data.get(key)
            if items is not None and (
                isinstance(items, (str, bytes, Mapping)) or not hasattr(items, "__len__")
            ):
                raise TypeError(f"data[{key!r}]: {items!r}; allowed: a list")
        self._data: dict[str, Any] = plain(data, "data")

    @property
    def satisfied(self) -> bool:
        """Whether every limit holds as measured; True without limits."""
        return all(holds(constraint) for constraint in self._list("constraints"))

    @property
    def certificate(self) -> Certificate:
        """The verdicts on the limits."""
        return Certificate(self._list("certificate"), bool(self._data.get("all_certified")))

    def to_dict(self) -> dict[str, Any]:
        """A deep copy of everything, ready for ``json.dumps`` or ``mlflow.log_dict``.

        Examples
        --------
        >>> Report({"constraints": [], "objective": float("nan")}).to_dict()
        {'constraints': [], 'objective': None}
        """
        return plain(self._data, "data")

    def metrics(self) -> dict[str, float]:
        """The numbers under flat names that ``mlflow.log_metrics`` takes; undefined ones left out.

        Examples
        --------
        >>> limit = {"text": "fnr <= 5%", "value": 0.031, "bound": 0.05, "satisfied": True}
        >>> for name, value in Report({"constraints": [limit]}).metrics().items():
        ...     print(name, value)
        satisfied 1.0
        fnr_le_5pct/value 0.031
        fnr_le_5pct/bound 0.05
        fnr_le_5pct/satisfied 1.0
        """
        found: dict[str, float | None] = {
            "objective": self._data.get("objective"),
            "violation": self._data.get("violation"),
            "satisfied": self.satisfied,
        }
        certificate = self.certificate
        if len(certificate):
            found["all_certified"] = certificate.all_certified
        for key in ("rows", "seconds"):
            for name, value in (self._data.get(key) or {}).items():
                found[f"{key}/{name}"] = value
        texts = [str(constraint.get("text")) for constraint in self._list("constraints")]
        for j, slug in enumerate(_slugs(texts)):
            for name, value in self._limit_metrics(j, certificate.get(texts[j])).items():
                found[f"{slug}/{name}"] = value
        return {name: float(value) for name, value in found.items() if value is not None}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a JSON file; what was there stays until all is written."""
        write_json(path, self._data)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Report":
        """Read what :meth:`save` wrote.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> report = Report({"constraints": [], "objective": 0.9})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     report.save(pathlib.Path(folder) / "report.json")
        ...     Report.load(pathlib.Path(folder) / "report.json") == report
        True
        """
        data = read_json(path)
        if not isinstance(data, dict) or "constraints" not in data:
            raise ValueError(f"path: {os.fspath(path)}; allowed: a file that Report.save wrote")
        return cls(data)

    def to_html(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        title: str = "",
        frontier: FrontierResult | None = None,
        unconstrained: Mapping[str, object] | None = None,
    ) -> str:
        """One HTML file for people: verdict, limits, costs, groups, charts, what an audit asks.

        The file needs neither a network nor bregboost; it is the one that the command line makes of
        the same :meth:`run_document`.

        Parameters
        ----------
        path : path-like, optional
            Where to write it; what was there stays until all is written.
        title : str
            What the page is called.
        frontier : FrontierResult, optional
            What other bounds would cost, from ``frontier()`` of the estimator.
        unconstrained : mapping, optional
            From ``unconstrained()`` of the estimator, to compare with. Where offsets alone hold the
            limits the report knows it already.

        Returns
        -------
        str
            The page.

        Examples
        --------
        >>> page = Report({"constraints": []}).to_html(title="Loans < 10k")
        >>> page.startswith("<!DOCTYPE html>"), "<title>Loans &lt; 10k</title>" in page
        (True, True)
        """
        from bregboost import _core

        document = self.run_document(title=title, frontier=frontier, unconstrained=unconstrained)
        page = _core.html_report(json.dumps(document, allow_nan=False))
        if path is not None:
            write_text(path, page)
        return page

    def run_document(
        self,
        *,
        title: str = "",
        frontier: FrontierResult | None = None,
        unconstrained: Mapping[str, object] | None = None,
    ) -> dict[str, Any]:
        """What a run leaves for an audit, ``bregboost.json``; parameters as in :meth:`to_html`.

        Examples
        --------
        >>> document = Report({"constraints": []}).run_document(title="Loans")
        >>> document["format"], document["version"], document["fit"]
        ('bregboost run', 1, {'constraints': []})
        """
        from bregboost import _core

        if not isinstance(title, str):
            raise TypeError(f"title: {title!r} ({type(title).__name__}); allowed: str")
        if frontier is not None and not isinstance(frontier, FrontierResult):
            raise TypeError(
                f"frontier: {frontier!r} ({type(frontier).__name__}); allowed: a FrontierResult"
            )
        data = self.to_dict()
        fit = {key: value for key, value in data.items() if key not in _ABOUT_THE_RUN}
        settings = {
            "learner": str(data.get("learner") or ""),
            "parameters": {},
            "options": {},
            "seed": 0,
        }
        return {
            "format": "bregboost run",
            "version": 1,
            "title": title,
            "fit": fit,
            "unconstrained": plain(unconstrained or data.get("unconstrained"), "unconstrained"),
            "frontier": None if frontier is None else frontier.to_dict(),
            "data": data.get("data"),
            "encoding": None,
            "settings": settings | (data.get("settings") or {}),
            "versions": data.get("versions") or {"bregboost": _core.version},
        }

    def __eq__(self, other: object) -> bool:
        return self._data == other._data if isinstance(other, Report) else NotImplemented

    def __repr__(self) -> str:
        return as_text(report_sections(self._data, self.certificate))

    def _repr_html_(self) -> str:
        return as_html(report_sections(self._data, self.certificate))

    def _list(self, key: str) -> list[Any]:
        return self._data.get(key) or []

    def _limit_metrics(self, j: int, verdict: ConstraintVerdict | None) -> dict[str, float | None]:
        constraint = self._list("constraints")[j]
        prices = self._list("prices")
        multipliers = self._list("multipliers")
        counts = self._list("limits") or [1] * len(multipliers)
        summed = sums_by_constraint(multipliers, counts) if sum(counts) == len(multipliers) else []
        return {
            "value": constraint.get("value"),
            "bound": constraint.get("bound"),
            "violation": constraint.get("violation"),
            "satisfied": holds(constraint),
            "confidence_bound": None if verdict is None else verdict.confidence_bound,
            "certified": None if verdict is None else verdict.certified,
            "price": prices[j].get("price") if j < len(prices) else None,
            "multiplier": plain(summed[j], "multiplier") if j < len(summed) else None,
        }


def _slugs(texts: list[str]) -> list[str]:
    """Names of letters, digits and _, none of them twice."""
    found: list[str] = []
    for text in texts:
        words = text.replace("<=", " le ").replace(">=", " ge ").replace("%", "pct ")
        slug = re.sub(r"[^0-9A-Za-z.]+", "_", words).strip("_")[:_LONGEST_NAME]
        name, copies = slug, 1
        while name in found:
            copies += 1
            name = f"{slug}_{copies}"
        found.append(name)
    return found
