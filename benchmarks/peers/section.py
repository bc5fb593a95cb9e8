"""The part of docs/results.md that compares methods, from the small file of `peers.py`."""

from collections.abc import Sequence
from pathlib import Path

from benchmarks.common.markdown import table
from benchmarks.common.statistics import Summary, clear_best, paired_difference
from benchmarks.common.trees import DEPTH, LEARNING_RATE, LEAVES, ROUNDS
from benchmarks.peers import picture
from benchmarks.peers.cells import Cell, cells_of
from benchmarks.peers.method import RHO
from benchmarks.peers.targets import (
    LEAST_SPEED_UP,
    OVERVIEW_HEADER,
    REDUCTION,
    TARGETS,
    dominating,
    explanation,
    overview,
    reached,
)

MOST_VALUES = 4  # in one column


def render(results: dict, figures: Path) -> str:
    """Markdown; pictures go to the folder `figures`."""
    cells = cells_of(results)
    tasks = {
        name: task | {"title": task["title"].replace("<=", "at most")}
        for name, task in results["tasks"].items()
    }
    parts = [INTRODUCTION.format(**facts(results, cells)).rstrip()]
    parts.append(table(OVERVIEW_HEADER, overview(cells, tasks)))
    parts.append(times_sentence(cells))
    for name, task in tasks.items():
        here = [cell for cell in cells if cell.task == name]
        if any(cell.seeds for cell in here):
            parts.append(task_section(name, task, here, figures))
    return "\n\n".join(parts) + "\n"


INTRODUCTION = """## The field side by side

The same data, splits, trees and threads for all, each method at its default settings:
{trees}; {threads} threads. Means over {seeds} on test rows that
had no part in anything, ± one standard deviation over seeds, in percent. Made by

    {command}

on {machine}, with
{versions}.

- *Violation*: what limits are exceeded by, summed. *Held*: in how many seeds every limit held on
  the test rows. *Time*: median of the training time over that of plain LightGBM, timed just before.
- *Bold*: the lowest violation, and the highest accuracy among methods whose violation is within the
  noise (no more than chance makes of limits that hold exactly), where the 95% bootstrap interval of
  the paired difference to the next one excludes zero.
- *Dominated*: another method has clearly higher accuracy and clearly less violation, by the same
  intervals. Seeds share data: intervals are about seeds, not about other data sets.
- In the pictures, lines join stricter and more lenient settings of one method.
- *Plain + offsets*: the class offsets with the best accuracy - {rho:g} x violation out of fold,
  then a model of all rows.
- *FairGBM* has limits on FNR and FPR: these stand in for a limit on the error.
- *fairlearn's reduction* bounds the distance of each group to all rows; it is given the bound that
  says the same as the limit on the gap. *Bound as it stands*: it is given the limit itself.
  *ThresholdOptimizer* can only equalise odds exactly.
- *OxonFair* and *MAPIE* choose thresholds on 30% of the training rows, which their model does not
  see; MAPIE's recall is guaranteed with confidence 0.9, which the others do not promise.
- *Random forest*: the estimators CX and ER of Tian and Feng (2021, the package
  [npcs](https://cran.r-project.org/package=npcs)), which hold class errors by weights of classes.

### Targets
"""


def facts(results: dict, cells: Sequence[Cell]) -> dict[str, object]:
    about = results["about"]
    counts = sorted({len(cell.seeds) for cell in cells if cell.setting == "default" and cell.seeds})
    spread = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else f"{counts[0]}"
    peers = {
        method["title"].split(",")[0].split(" ")[0]: method["version"]
        for method in results["methods"].values()
        if method["version"]
    }
    versions = about["versions"] | peers
    commands = [about["command"]]
    for update in about.get("updates", []):
        elsewhere = f"  # on {update['machine']}" if update["machine"] != about["machine"] else ""
        commands.append(f"{update['command']} --update{elsewhere}")
    return {
        "trees": f"{ROUNDS} rounds, rate {LEARNING_RATE}, {LEAVES} leaves or depth {DEPTH}",
        "threads": str(about["threads"]),
        "rho": RHO,
        "seeds": f"{spread} seed{'' if counts == [1] else 's'}",
        "command": "\n    ".join(commands),
        "machine": about["machine"],
        "versions": ", ".join(f"{name} {version}" for name, version in versions.items()),
    }


def times_sentence(cells: Sequence[Cell]) -> str:
    """Why times are what they are."""
    text = (
        "Why targets are missed stands below, task by task. As to time: five fold models, each on "
        "four fifths of the rows, are four plain trainings; the rest is for limits, offsets and "
        "the reasons that a report gives."
    )
    ratios = [
        cell.time_ratio
        for cell in cells
        if cell.method == REDUCTION and cell.setting == "default" and cell.seeds
    ]
    if not ratios:
        return text
    return (
        f"{text} fairlearn's reduction trains until its search ends, which takes "
        f"{min(ratios):.0f} to {max(ratios):.0f} plain trainings here: bregboost is less than "
        f"{LEAST_SPEED_UP:g} times as fast where that is early."
    )


def task_section(name: str, task: dict, cells: Sequence[Cell], figures: Path) -> str:
    done = [cell for cell in cells if cell.seeds]
    shown = [cell for cell in done if cell.setting == "default"]
    floor = Summary.of(shown[0].noise_floor).mean
    file = f"results_{name}.svg"
    picture.draw(task, done, floor, figures / file)
    lines = [
        f"### {task['title']}",
        f"{winner_sentence(shown)} {domination_sentence(shown)}".rstrip(),
        f"![{picture.described(task, done)}](figures/{file})",
        table(header(task), method_lines(task, shown, cells)),
    ]
    targets = target_lines(name, done)
    return "\n\n".join([*lines, *targets])


def percent(value: float, digits: int = 2) -> str:
    return f"{100.0 * value:.{digits}f}"


def spread(values: Sequence[float]) -> str:
    summary = Summary.of(values)
    if len(values) < 2:
        return percent(summary.mean)
    return f"{percent(summary.mean)} ± {percent(summary.deviation)}"


def comparable(cells: Sequence[Cell]) -> list[Cell]:
    """Those with the seeds that most have: differences are paired."""
    most = max((cell.seeds for cell in cells), key=len)
    return [cell for cell in cells if cell.seeds == most]


def winner_sentence(cells: Sequence[Cell]) -> str:
    within = [cell for cell in comparable(cells) if cell.is_within_noise]
    if not within:
        least = min(comparable(cells), key=lambda cell: Summary.of(cell.violation).mean)
        return (
            "No method stays within the noise of the limits; the least violation has "
            f"**{least.name}**: {percent(Summary.of(least.violation).mean)} points at accuracy "
            f"{percent(Summary.of(least.accuracy).mean)}."
        )
    within.sort(key=lambda cell: -Summary.of(cell.accuracy).mean)
    best = within[0]
    text = (
        f"Of the methods that stay within the noise of the limits, **{best.name}** is the most "
        f"accurate: {percent(Summary.of(best.accuracy).mean)}{traits(best)}."
    )
    if len(within) == 1:
        return text + " No other stays within it."
    next_best = within[1]
    difference = paired_difference(best.accuracy, next_best.accuracy)
    distance = f"{percent(difference.mean)} points behind"
    if len(best.seeds) > 1:
        interval = f"[{percent(difference.low)}, {percent(difference.high)}]"
        clearly = "" if difference.excludes_zero else ", which the seeds do not tell apart"
        distance += f", interval {interval}{clearly}"
    return f"{text} Next is {next_best.name}{traits(next_best)}, {distance}."


def traits(cell: Cell) -> str:
    words = [] if cell.deterministic else ["random decisions"]
    words += ["needs the group"] if cell.group_at_prediction else []
    return f" ({', '.join(words)})" if words else ""


def domination_sentence(cells: Sequence[Cell]) -> str:
    """Empty where nothing can be said: without runs of bregboost, or with one seed."""
    if not any(cell.is_ours and len(cell.seeds) > 1 for cell in cells):
        return ""
    found = {cell.name: dominating(cell, cells) for cell in cells if cell.is_ours}
    dominated = [f"{name} is dominated by {', '.join(by)}" for name, by in found.items() if by]
    return f"{'; '.join(dominated)}." if dominated else "No peer dominates bregboost."


def header(task: dict) -> list[str]:
    names = ["method", "accuracy", "violation"]
    limits = [text.partition(" <=")[0] for text in task["limits"]]
    if len(limits) <= MOST_VALUES:
        names.append(" / ".join(limits))
    else:
        names.append(task["measure"])
    return [*names, "held", "time / plain", "deterministic", "group at prediction"]


def value_text(task: dict, cell: Cell) -> str:
    if len(task["limits"]) == 1:
        return spread([values[0] for values in cell.values])
    if len(task["limits"]) <= MOST_VALUES:
        return " / ".join(percent(Summary.of(v).mean) for v in zip(*cell.values, strict=True))
    return spread(cell.measure)


def method_lines(task: dict, shown: Sequence[Cell], cells: Sequence[Cell]) -> list[list[str]]:
    paired = comparable(shown)
    most_accurate = clear_best({c.name: c.accuracy for c in paired if c.is_within_noise})
    least_violation = clear_best({c.name: c.violation for c in paired}, larger=False)

    def bold(text: str, is_best: bool) -> str:
        return f"**{text}**" if is_best else text

    lines = [
        [
            cell.name,
            bold(spread(cell.accuracy), cell.name == most_accurate),
            bold(spread(cell.violation), cell.name == least_violation),
            value_text(task, cell),
            f"{sum(cell.held)} of {len(cell.held)}",
            f"{cell.time_ratio:.1f}",
            "yes" if cell.deterministic else "no",
            "needed" if cell.group_at_prediction else "no",
        ]
        for cell in shown
    ]
    failed = [cell for cell in cells if cell.setting == "default" and not cell.seeds]
    blanks = [""] * (len(header(task)) - 2)
    return lines + [[cell.name, cell.failure.replace("|", "/"), *blanks] for cell in failed]


def target_lines(task: str, cells: Sequence[Cell]) -> list[str]:
    lines = []
    for target in TARGETS:
        if target.task != task:
            continue
        for learner in ("lightgbm", "xgboost"):
            found = reached(target, cells, learner)
            if found is not None:
                setting = f", {found.cell.setting}" if target.on_frontier else ""
                why = explanation(target, cells, learner)
                lines.append(
                    f"- Target, {found.cell.name}{setting}: {target.text}; reached "
                    f"{percent(found.accuracy)} at {percent(found.measure)}: {found.verdict}"
                    f"{f' ({why})' if why else ''}."
                )
    return ["\n".join(lines)] if lines else []
