"""The parts of a report in the order in which a reader asks for them."""

from typing import Any

from bregboost._certificate import (
    ESTIMATED,
    Certificate,
    headline,
    missing_rows,
    verdict_cells,
    verdict_columns,
)
from bregboost._layout import Cell, Column, Section, Table
from bregboost._units import (
    UNDEFINED,
    bound_text,
    count_text,
    difference_text,
    groups_in_percent,
    in_percent,
    interval_text,
    relation,
    value_text,
)

Data = dict[str, Any]  # as the core writes it; numbers are None where undefined

_CONFIDENCE = "95%"  # of the intervals, which are for one rate each and no certificate
_MOST_GROUPS = 6  # of a limit; those with the lowest and highest rates
_MEASURED_ON = {
    "folds": "unseen rows (out of fold)",
    "hold_out": "held-out rows",
    "own_rows": "evaluation rows",
    "none": "training rows",
}
_UNFINISHED = {
    "interrupted": "Interrupted: the best model so far",
    "time_limit": "Out of time: the best model so far",
    "numerical_error": "Stopped by a numerical error: the last sound model",
    "infeasible": "No point that holds every limit was found",
}


def holds(constraint: Data) -> bool:
    """Whether a measured constraint is satisfied; never where it is undefined."""
    return constraint.get("satisfied") is True and constraint.get("value") is not None


def report_sections(data: Data, certificate: Certificate) -> list[Section]:
    """Everything worth a reader's time; sections without content are left out."""
    sections = [
        _limits(data, certificate),
        Section("Groups", items=tuple(_groups(data))),
        Section("What it costs", items=tuple(_costs(data))),
        Section("What stands in the way", items=tuple(_obstacles(data, certificate))),
        Section("How it was made", facts=tuple(_facts(data))),
        Section("Warnings", items=tuple(data.get("warnings") or ())),
    ]
    return [sections[0]] + [part for part in sections[1:] if part.items or part.facts]


def _limits(data: Data, certificate: Certificate) -> Section:
    constraints = data.get("constraints") or []
    has_intervals = any(constraint.get("interval") for constraint in constraints)
    columns = (
        Column("limit", code=True),
        Column("measured", number=True),
        *((Column(f"{_CONFIDENCE} interval", number=True),) if has_intervals else ()),
        Column("bound", number=True),
        Column("holds"),
        *verdict_columns(certificate),
    )
    rows = []
    for constraint in constraints:
        text = str(constraint.get("text"))
        percent, bound = in_percent(text), constraint.get("bound")
        held = holds(constraint)
        interval = Cell(interval_text(constraint.get("interval"), percent))
        rows.append(
            (
                Cell(text),
                Cell(value_text(constraint.get("value"), percent, bound)),
                *((interval,) if has_intervals else ()),
                Cell(bound_text(bound, percent)),
                Cell("yes" if held else "no", "good" if held else "bad"),
                *verdict_cells(certificate, certificate.get(text)),
            )
        )
    items = [_UNFINISHED[data["reason"]]] if data.get("reason") in _UNFINISHED else []
    if len(certificate):
        items.append(_claim(data, certificate))
    table = Table(columns, tuple(rows)) if rows else None
    return Section(_verdict_on_all(data), table=table, items=tuple(items))


def _claim(data: Data, certificate: Certificate) -> str:
    estimated = all(verdict.verdict == ESTIMATED for verdict in certificate)
    if estimated and (data.get("rows") or {}).get("certification"):  # of a fit for other limits
        return "Estimated, not certified: certification rows answer once, and have"
    return headline(certificate)


def _verdict_on_all(data: Data) -> str:
    constraints = data.get("constraints") or []
    if not constraints:
        return "No limits: a plain model"
    held, total = sum(map(holds, constraints)), len(constraints)
    on = f"on {_measured_on(data)}"
    defined = all(constraint.get("value") is not None for constraint in constraints)
    if data.get("all_certified") and defined and held < total:
        # Out of fold one model scores a row, in use the mean of all: the certificate is about that.
        what = "The limit is" if total == 1 else f"All {total} limits are"
        return f"{what} certified, though not measured to hold {on}"
    if total == 1:
        return f"The limit {'holds' if held else 'does not hold'} {on}"
    if held == total:
        return f"All {total} limits hold {on}"
    return f"{held} of {total} limits {'holds' if held == 1 else 'hold'} {on}"


def _measured_on(data: Data) -> str:
    validation = data.get("validation") or "folds"
    counts = data.get("rows") or {}
    count = counts.get("training" if validation == "none" else "unseen")
    where = _MEASURED_ON.get(validation, "unseen rows")
    return where if count is None else f"{count_text(count)} {where}"


def _groups(data: Data) -> list[str]:
    sentences = []
    for constraint in data.get("constraints") or []:
        groups = [group for group in constraint.get("groups") or [] if group.get("group")]
        if len(groups) < 2:
            continue
        text = str(constraint.get("text"))
        telling = most_telling(groups, _MOST_GROUPS)
        rates = ", ".join(_group_text(group, groups_in_percent(text)) for group in telling)
        more = len(groups) - len(telling)
        sentences.append(f"{text}: {rates}" + (f"; {more} between them" if more else ""))
    return sentences


def most_telling(groups: list[Data], most: int) -> list[Data]:
    """The groups in order of their rates; of too many, the lowest and the highest."""
    defined = [group for group in groups if group.get("value") is not None]
    undefined = [group for group in groups if group.get("value") is None]
    ordered = [*sorted(defined, key=lambda group: group["value"]), *undefined]
    if len(ordered) <= most:
        return ordered
    return ordered[: most // 2] + ordered[len(ordered) - (most - most // 2) :]


def _group_text(group: Data, percent: bool) -> str:
    known = [
        interval_text(group.get("interval"), percent),
        "" if group.get("rows") is None else f"{count_text(group['rows'])} rows",
    ]
    aside = "; ".join(text for text in known if text)
    value = value_text(group.get("value"), percent)
    return f"{group['group']} {value}{f' ({aside})' if aside else ''}"


def _costs(data: Data) -> list[str]:
    sentences = []
    name, percent = _objective(data)
    where = "training rows" if data.get("validation") == "none" else "unseen rows"
    if "objective" in data:
        sentences.append(f"{name} {value_text(data['objective'], percent)} on {where}")
    path, point = data.get("cautious_path") or [], data.get("certified_point")
    if point is not None and 0 <= point < len(path) - 1:
        certified, free = path[point].get("objective"), path[-1].get("objective")
        sentences.append(
            f"certified: {name} {value_text(certified, percent)}, where the decision that is only "
            f"estimated has {value_text(free, percent)}"
        )
    if data.get("violation"):
        percents = [in_percent(str(limit.get("text"))) for limit in data.get("constraints") or []]
        total = difference_text(data["violation"], percent=all(percents))
        sentences.append(f"total violation {total}")
    sentences += _prices(data)
    return sentences


def _prices(data: Data) -> list[str]:
    prices = data.get("prices") or []
    broken = {limit.get("text") for limit in data.get("constraints") or [] if not holds(limit)}
    sentences = [_price_text(price, price.get("text") in broken, data) for price in prices]
    binding = [text for text, price in zip(sentences, prices, strict=True) if price.get("binding")]
    others = len(prices) - len(binding)
    if not others:
        return binding
    if not binding:
        if any(price.get("text") in broken for price in prices):
            return ["no limit that holds binds; what the broken ones cost is not known"]
        return ["no limit binds: loosening one buys nothing"]
    return [*binding, f"{others} other limit{'s do' if others > 1 else ' does'} not bind"]


def _price_text(price: Data, broken: bool, data: Data) -> str:
    text, value = str(price.get("text")), price.get("price")
    name, percent = _objective(data)
    if value is None:
        return f"{text}: price {UNDEFINED}"
    if broken and not value:
        return f"{text}: broken; loosening it alone buys nothing"
    if broken:
        side = "over" if relation(text) == "<=" else "short"
        charge = f"{_number_text(value)} points of {name}"
        return f"{text}: broken; each point {side} is charged {charge}"
    step = "one point" if in_percent(text) else "0.01"
    direction = "more" if relation(text) == "<=" else "less"
    gain = difference_text(0.01 * value, percent)
    buys = f"buys {gain} of {name}" if data.get("maximise", True) else f"takes {gain} off {name}"
    error = price.get("standard_error")
    spread = f" (standard error {error if percent else 0.01 * error:.2g})" if error else ""
    return f"{text}: {step} {direction} {buys}{spread}"


def _objective(data: Data) -> tuple[str, bool]:
    """Its name, and whether it is a share; losses have a unit of their own."""
    name = data.get("objective_name") or "objective"
    return name, "loss" not in name


def _obstacles(data: Data, certificate: Certificate) -> list[str]:
    sentences = _diagnosis(data)
    for small in data.get("too_small") or []:
        of = f" of {small['group']}" if small.get("group") else ""
        rows = count_text(small.get("rows"))
        sentences.append(f"{small.get('text')}: {rows} rows{of} are too few to tell such a rate")
    for verdict in certificate:
        sentences += missing_rows(verdict)
    return sentences


def _diagnosis(data: Data) -> list[str]:
    found = data.get("diagnosis")
    if not found:
        return []
    surely = "" if found.get("exact") else ", as far as the search found"
    if found.get("feasible"):
        everything = all(map(holds, data.get("constraints") or []))
        return [] if everything else [f"a decision that holds every limit exists{surely}"]
    percents = [in_percent(str(limit.get("text"))) for limit in data.get("constraints") or []]
    if found.get("relaxation") is None:
        sentences = [f"no decision holds all limits, however far they are loosened{surely}"]
    else:
        looser = difference_text(found["relaxation"], percent=all(percents))
        sentences = [f"no decision holds all limits; loosened by {looser} they can be held{surely}"]
    binding = [str(text) for text in found.get("binding") or []]
    if binding:
        what = "limits in conflict" if len(binding) > 1 else "the limit that is out of reach"
        sentences.append(f"{what}: {'; '.join(binding)}")
    for alone in found.get("alone") or []:
        text = str(alone.get("text"))
        value = value_text(alone.get("value"), in_percent(text))
        sentences.append(f"{text}: reaches {value} if nothing else counts")
    for cell in found.get("blocking") or []:
        share = UNDEFINED if cell.get("share") is None else f"{100 * cell['share']:.0f}%"
        sentences.append(
            f"{cell.get('cell')} ({count_text(cell.get('rows'))} rows) adds {share} of what is "
            "over the bounds"
        )
    return sentences


def _facts(data: Data) -> list[tuple[str, str]]:
    facts = [
        ("learner", _learner(data)),
        ("solver", _solver(data)),
        ("validation", str(data.get("validation") or "").replace("_", " ")),
        ("rows", ", ".join(f"{count_text(n)} {name}" for name, n in _counted(data, "rows"))),
        ("positive class", str(data.get("positive_class") or "")),
        ("decision", _decision(data)),
        ("ended", _ending(data)),
        ("seconds", ", ".join(f"{time:.1f} {name}" for name, time in _counted(data, "seconds"))),
    ]
    return [(name, text) for name, text in facts if text]


def _counted(data: Data, key: str) -> list[tuple[str, Any]]:
    return [(name, number) for name, number in (data.get(key) or {}).items() if number]


def _learner(data: Data) -> str:
    learner, models = data.get("learner"), data.get("models")
    if not learner or not models or models == 1:
        refit = ", trained anew on all rows" if learner and data.get("deploy") == "refit" else ""
        return f"{learner or ''}{refit}"
    return f"{learner}, the mean of {models} fold models in one"


def _solver(data: Data) -> str:
    parts = [
        data.get("solver"),
        data.get("path") and f"{data['path']} path",
        data.get("rho") is not None and f"rho {_number_text(data['rho'])}",
    ]
    return ", ".join(part for part in parts if part)


def _decision(data: Data) -> str:
    parts = []
    if data.get("temperature") is not None:
        parts.append(f"temperature {data['temperature']:.4g}")
    offsets, classes = data.get("offsets") or [], data.get("classes") or []
    texts = [UNDEFINED if offset is None else f"{offset:+.4g}" for offset in offsets]
    if len(texts) == len(classes) and texts:
        texts = [f"{text} for {name}" for text, name in zip(texts, classes, strict=True)]
    if texts:
        parts.append(f"offset{'s' if len(texts) > 1 else ''} {', '.join(texts)}")
    return "; ".join(parts)


def _ending(data: Data) -> str:
    text = str(data.get("reason") or "").replace("_", " ")
    if text and data.get("detail"):
        text += f" ({data['detail']})"
    steps, taken = data.get("steps_kept"), len(data.get("history") or []) - 1
    if steps is not None:
        of_all = f" of {count_text(taken)}" if taken > steps else ""
        text += f"{', ' if text else ''}{count_text(steps)}{of_all} steps kept"
    return text


def _number_text(value: float | None) -> str:
    return UNDEFINED if value is None else f"{value:.4g}"
