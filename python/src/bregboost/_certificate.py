"""Whether limits hold on unseen data, and how surely."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING

from bregboost._history import import_pandas
from bregboost._json_data import plain
from bregboost._layout import Cell, Column, Mood, Section, Table, as_html, as_text
from bregboost._units import bound_text, count_text, in_percent, relation, value_text

if TYPE_CHECKING:
    import pandas

CERTIFIED = "certified"
ESTIMATED = "estimated"
NOT_CERTIFIED = "not certified"
VIOLATED = "violated"

_MOODS: dict[str, Mood] = {CERTIFIED: "good", VIOLATED: "bad"}


@dataclass(frozen=True)
class SubsetRows:
    """The rows of a subset, and about how many it needs; None where no number would do."""

    subset: str
    rows: int | None = None
    rows_needed: int | None = None


@dataclass(frozen=True)
class ConstraintVerdict:
    """What the certification rows say about one constraint.

    Attributes
    ----------
    text : str
        The constraint.
    verdict : str
        ``"certified"``: shown to hold; ``"violated"``: shown not to; ``"not certified"``: neither;
        ``"estimated"``: there were no rows to show it.
    value, bound : float or None
        Measured on these rows, and the limit. None is undefined, here and below.
    confidence_bound : float or None
        The true value is on its better side with a probability of `confidence`.
    other_bound : float or None
        The other end, of the same confidence.
    confidence : float or None
        1 - delta.
    rows : int or None
        In the subsets of the constraint.
    method : str or None
        How the bound was computed.
    needs : str or None
        The subset whose want of rows keeps the constraint from being certified.
    rows_needed : int or None
        About how many rows of it would do; None where the measured rate is at its limit.
    too_small : tuple of SubsetRows
        Subsets that could not have shown the limit even without a single unwanted event.
    """

    text: str
    verdict: str
    value: float | None = None
    bound: float | None = None
    confidence_bound: float | None = None
    other_bound: float | None = None
    confidence: float | None = None
    rows: int | None = None
    method: str | None = None
    needs: str | None = None
    rows_needed: int | None = None
    too_small: tuple[SubsetRows, ...] = ()

    @property
    def certified(self) -> bool:
        """Shown to hold; never for an undefined value."""
        return self.verdict == CERTIFIED


class Certificate:
    """The verdicts on all constraints, in their order; they are claimed together.

    Iteration gives a :class:`ConstraintVerdict` per constraint; ``certificate["fnr <= 5%"]`` and
    ``certificate[0]`` look one up.

    Parameters
    ----------
    verdicts : sequence of mappings
        As in ``Report.to_dict()["certificate"]``.
    all_certified : bool
        Whether the constraints were certified together.

    Examples
    --------
    >>> verdict = {
    ...     "text": "fnr <= 5%", "verdict": "certified", "value": 0.031, "bound": 0.05,
    ...     "confidence_bound": 0.0462, "confidence": 0.9, "rows": 812, "method": "binomial",
    ... }
    >>> certificate = Certificate([verdict], all_certified=True)
    >>> certificate
    Certified at 90% confidence
      limit      measured  bound  verdict    at 90%    rows
      fnr <= 5%     3.10%     5%  certified  <= 4.62%   812
    >>> certificate["fnr <= 5%"].confidence_bound
    0.0462
    """

    __slots__ = ("_all_certified", "_verdicts")

    def __init__(self, verdicts: Sequence[Mapping[str, object]], all_certified: bool) -> None:
        self._verdicts = tuple(
            _as_verdict(plain(item, f"verdicts[{i}]"), f"verdicts[{i}]")
            for i, item in enumerate(verdicts)
        )
        self._all_certified = bool(all_certified)

    @property
    def all_certified(self) -> bool:
        """Whether all constraints hold, at the confidence shown; never without constraints."""
        return (
            self._all_certified
            and bool(self._verdicts)
            and all(verdict.certified for verdict in self._verdicts)
        )

    @property
    def confidence(self) -> float | None:
        """The confidence of every verdict; None where they differ or there is none."""
        found = {verdict.confidence for verdict in self._verdicts}
        return found.pop() if len(found) == 1 else None

    def to_frame(self) -> "pandas.DataFrame":
        """One row per constraint; needs pandas.

        Examples
        --------
        >>> verdict = {"text": "fnr <= 5%", "verdict": "estimated", "value": 0.04, "bound": 0.05}
        >>> Certificate([verdict], False).to_frame()[["constraint", "verdict", "value", "bound"]]
          constraint    verdict  value  bound
        0  fnr <= 5%  estimated   0.04   0.05
        """
        pandas = import_pandas("certificate")
        names = [field.name for field in fields(ConstraintVerdict)]
        frame = pandas.DataFrame([asdict(verdict) for verdict in self], columns=names)
        numbers = ("value", "bound", "confidence_bound", "other_bound", "confidence")
        frame = frame.astype(
            dict.fromkeys(numbers, "float64") | dict.fromkeys(("rows", "rows_needed"), "Int64")
        )
        frame["too_small"] = [
            "; ".join(f"{small.subset} ({count_text(small.rows)} rows)" for small in v.too_small)
            for v in self
        ]
        return frame.rename(columns={"text": "constraint"})

    def __len__(self) -> int:
        return len(self._verdicts)

    def __iter__(self) -> Iterator[ConstraintVerdict]:
        return iter(self._verdicts)

    def __getitem__(self, constraint: object) -> ConstraintVerdict:
        """The verdict on a constraint, by its text, the constraint itself, or its place."""
        if isinstance(constraint, int):
            return self._verdicts[constraint]
        found = self.get(constraint)
        if found is None:
            allowed = ", ".join(repr(verdict.text) for verdict in self._verdicts) or "none"
            raise KeyError(f"constraint: {str(constraint)!r}; allowed: {allowed}")
        return found

    def get(self, constraint: object) -> ConstraintVerdict | None:
        """The verdict on a constraint, by its text or the constraint itself; None without one."""
        text = str(constraint)
        return next((verdict for verdict in self._verdicts if verdict.text == text), None)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Certificate):
            return NotImplemented
        return (self._verdicts, self._all_certified) == (other._verdicts, other._all_certified)

    def __repr__(self) -> str:
        return as_text([_section(self)])

    def _repr_html_(self) -> str:
        return as_html([_section(self)])


def headline(certificate: Certificate) -> str:
    """What is claimed, in a line."""
    if not len(certificate):
        return "Nothing to certify"
    if all(verdict.verdict == ESTIMATED for verdict in certificate):
        return "Estimated, not certified: no rows were kept for a certificate"
    confidence = certificate.confidence
    at = "" if confidence is None else f" at {bound_text(confidence, percent=True)} confidence"
    if certificate.all_certified:
        return f"Certified{at}" + (", all limits together" if len(certificate) > 1 else "")
    violated = sum(verdict.verdict == VIOLATED for verdict in certificate)
    open_ = sum(not verdict.certified for verdict in certificate) - violated
    counts = [(violated, "shown not to hold"), (open_, "not shown to hold")]
    found = ", ".join(f"{_limits_text(count)} {what}" for count, what in counts if count)
    return f"Not certified{at}" + (f": {found}" if found else "")


def verdict_columns(certificate: Certificate) -> tuple[Column, ...]:
    """Headings of :func:`verdict_cells`."""
    if not len(certificate):
        return ()
    confidence = certificate.confidence
    title = "shown" if confidence is None else f"at {bound_text(confidence, percent=True)}"
    shown = (Column(title),) if _anything_is_shown(certificate) else ()
    return (Column("verdict"), *shown, Column("rows", number=True))


def verdict_cells(certificate: Certificate, verdict: ConstraintVerdict | None) -> tuple[Cell, ...]:
    """The part of a table's row that is about the certificate; empty cells without a verdict."""
    if verdict is None:
        return (Cell(""),) * len(verdict_columns(certificate))
    text = _shown(verdict)
    if text and certificate.confidence is None and verdict.confidence is not None:
        text = f"{text} at {bound_text(verdict.confidence, percent=True)}"
    shown = (Cell(text),) if _anything_is_shown(certificate) else ()
    mood = _MOODS.get(verdict.verdict, "open")
    return (Cell(verdict.verdict, mood), *shown, Cell(count_text(verdict.rows)))


def missing_rows(verdict: ConstraintVerdict) -> list[str]:
    """Sentences about the rows that a certificate of the constraint lacks."""
    if verdict.certified or verdict.verdict == VIOLATED:
        return []
    wanted = {small.subset: small for small in verdict.too_small}
    if verdict.needs:
        rows = wanted[verdict.needs].rows if verdict.needs in wanted else None
        wanted[verdict.needs] = SubsetRows(verdict.needs, rows, verdict.rows_needed)
    return [f"{verdict.text}: {_missing(verdict, subset)}" for subset in wanted.values()]


def _missing(verdict: ConstraintVerdict, subset: SubsetRows) -> str:
    if subset.rows_needed is None:
        if subset.rows is None:
            return f"measured too near its limit for more rows of {subset.subset} to show it"
        return f"{count_text(subset.rows)} rows of {subset.subset} are too few to show it"
    if verdict.verdict == ESTIMATED:
        needed = count_text(subset.rows_needed)
        return f"a certificate needs about {needed} rows of {subset.subset} kept for it"
    if subset.rows is None:
        return f"needs about {count_text(subset.rows_needed)} certification rows of {subset.subset}"
    more = count_text(max(subset.rows_needed - subset.rows, 0))
    return (
        f"needs about {more} more certification rows of {subset.subset} "
        f"(has {count_text(subset.rows)})"
    )


def _shown(verdict: ConstraintVerdict) -> str:
    """At this confidence: what a violation amounts to at least, or how far the value may reach."""
    sign, bound = relation(verdict.text), verdict.confidence_bound
    if verdict.verdict == VIOLATED:
        sign, bound = (">=" if sign == "<=" else "<="), verdict.other_bound
    if bound is None:
        return ""
    return f"{sign} {value_text(bound, in_percent(verdict.text), verdict.bound)}"


def _limits_text(count: int) -> str:
    return f"{count} limit{'s' if count > 1 else ''}"


def _anything_is_shown(certificate: Certificate) -> bool:
    return any(_shown(verdict) for verdict in certificate)


def _section(certificate: Certificate) -> Section:
    columns = (
        Column("limit", code=True),
        Column("measured", number=True),
        Column("bound", number=True),
        *verdict_columns(certificate),
    )
    rows = tuple(
        (
            Cell(verdict.text),
            Cell(value_text(verdict.value, in_percent(verdict.text), verdict.bound)),
            Cell(bound_text(verdict.bound, in_percent(verdict.text))),
            *verdict_cells(certificate, verdict),
        )
        for verdict in certificate
    )
    needed = tuple(sentence for verdict in certificate for sentence in missing_rows(verdict))
    return Section(headline(certificate), Table(columns, rows) if rows else None, needed)


def _as_verdict(data: object, place: str) -> ConstraintVerdict:
    if not isinstance(data, dict) or not isinstance(data.get("text"), str):
        raise TypeError(f"{place}: {data!r}; allowed: a dict with a 'text'")
    names = {field.name for field in fields(ConstraintVerdict)} - {"too_small", "verdict"}
    too_small = tuple(
        SubsetRows(str(small.get("subset")), small.get("rows"), small.get("rows_needed"))
        for small in data.get("too_small") or ()
    )
    verdict = str(data.get("verdict") or NOT_CERTIFIED)
    undefined = data.get("value") is None
    return ConstraintVerdict(
        verdict=NOT_CERTIFIED if verdict == CERTIFIED and undefined else verdict,
        too_small=too_small,
        **{name: value for name, value in data.items() if name in names},
    )
