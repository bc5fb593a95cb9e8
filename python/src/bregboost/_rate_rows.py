"""The lines of the picture of rates: a limit each, and its groups below it."""

from dataclasses import dataclass

from bregboost._certificate import Certificate, ConstraintVerdict
from bregboost._plot_style import wrapped
from bregboost._report_sections import Data, holds, most_telling
from bregboost._units import groups_in_percent, in_percent, value_text

_LABEL_WIDTH = 40  # characters
_SPACE_ABOVE_LIMIT = 0.9  # lines


@dataclass(frozen=True)
class RateRow:
    """One rate: where it is, where it may be, and what is said beside it."""

    label: str
    note: str
    percent: bool
    value: float | None
    bound: float | None  # None: the limit is not about this rate itself
    low: float | None = None  # the confidence interval, if there is one
    high: float | None = None
    held: bool | None = None  # None: a group
    space_above: float = 0.0  # lines

    @property
    def height(self) -> float:
        """In lines of text, with the space above."""
        return 1.0 + self.label.count("\n") + self.space_above


def rate_rows(constraints: list[Data], certificate: Certificate, max_groups: int) -> list[RateRow]:
    """Limits in their order; of too many groups, those with the lowest and highest rates."""
    rows = []
    for constraint in constraints:
        text = str(constraint.get("text"))
        rows.append(_limit_row(constraint, text, certificate.get(text)))
        groups = [group for group in constraint.get("groups") or [] if group.get("group")]
        if len(groups) > 1:
            rows += [_group_row(group, constraint) for group in most_telling(groups, max_groups)]
    return rows


def _limit_row(constraint: Data, text: str, verdict: ConstraintVerdict | None) -> RateRow:
    value, bound, percent = constraint.get("value"), constraint.get("bound"), in_percent(text)
    low, high = _interval(verdict)
    said = value_text(value, percent, bound)
    return RateRow(
        label=wrapped(text, _LABEL_WIDTH),
        note=said if verdict is None else f"{said}, {verdict.verdict}",
        percent=percent,
        value=value,
        bound=bound,
        low=low,
        high=high,
        held=holds(constraint),
        space_above=_SPACE_ABOVE_LIMIT,
    )


def _group_row(group: Data, constraint: Data) -> RateRow:
    text = str(constraint.get("text"))
    percent = groups_in_percent(text)
    each_is_bounded = text.startswith(("max(", "min("))
    return RateRow(
        label=wrapped(str(group["group"]), _LABEL_WIDTH),
        note=value_text(group.get("value"), percent),
        percent=percent,
        value=group.get("value"),
        bound=constraint.get("bound") if each_is_bounded else None,
    )


def _interval(verdict: ConstraintVerdict | None) -> tuple[float | None, float | None]:
    if verdict is None or verdict.confidence_bound is None:
        return None, None
    ends = [verdict.confidence_bound, verdict.other_bound, verdict.value]
    known = [end for end in ends if end is not None]
    return min(known), max(known)
