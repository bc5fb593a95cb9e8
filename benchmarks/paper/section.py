"""The paper's section of docs/results.md, from the results that are kept with the sources."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scipy.stats import t as student_t

from benchmarks.paper.courses import SETTINGS
from benchmarks.paper.drawing import (
    LEARNER_TITLES,
    METHOD_TITLES,
    describe,
    draw_courses,
    draw_scatter,
)
from benchmarks.paper.parameters import MEANINGS, RANGES
from benchmarks.paper.printed import SETS, PrintedRow, printed, printed_rows
from benchmarks.paper.problems import FORMS, PROBLEMS, Problem
from benchmarks.paper.summary import Cell, Mean, cells_of

PREFIX = "results_paper"
CONFIDENCE = 0.95  # of what is called a difference
Cells = Mapping[tuple[str, str, str], Cell]

INTRODUCTION = """\
## The paper's experiments

Tables 1 and 2 and the figures of [Lin and Deng, 2023](https://arxiv.org/abs/2308.10767), run again
with {sets} random sets of hyper-parameters. A set also draws the split of the rows, and all methods
share it. As in the paper, a table has the mean and the standard deviation over the sets, on test
rows.

- *plain*: the stock library without limits.
- *the paper's method*: limits on losses of the training rows, held by ABPP (Credit, Drybean) or
  CBPR (Adult, Compas). *Linearised*: CBPR without proximal terms in the limits, which hold it near
  its start.
- *bregboost*: `solver="auto"`, 0-1 limits held on unseen rows, default settings.
- *bregboost, limit at the paper's level*: where there is one limit, the same with the bound that
  the paper's method reached in print. So the accuracies are those of equal promises.

*In print* are the paper's own figures. They are for all rows of Credit, of which a sample is used
here, for features that include the group, and for hyper-parameters and an alpha that the paper does
not give. Differences are in points, and called so where a {confidence:.0%} interval over the sets
leaves out 0.
"""


def render(results: dict[str, Any], figures: Path) -> str:
    """Markdown of the section; draws its pictures into `figures`, the folder beside the page."""
    cells = cells_of(results)
    parts = [INTRODUCTION.format(sets=sets_text(cells), confidence=CONFIDENCE)]
    for name, problem in PROBLEMS.items():
        if any(cell.problem == name for cell in cells.values()):
            parts.append(problem_part(name, problem, results, figures))
    if results["courses"]:
        parts.append(courses_part(results["courses"], figures))
    parts.append(settings_part(results))
    return "\n".join(parts)


def sets_text(cells: Cells) -> str:
    """Cells differ if a run is not finished, or some sets were refused."""
    counts = {cell.sets + cell.failures for cell in cells.values()}
    return f"{min(counts)} to {max(counts)}" if len(counts) > 1 else str(max(counts, default=0))


def problem_part(name: str, problem: Problem, results: Mapping[str, Any], figures: Path) -> str:
    cells = cells_of(results)
    picture = f"{PREFIX}_{name}.svg"
    draw_scatter(name, cells, figures / picture)
    limits = ", ".join(f"`{limit.text}`" for limit in problem.task.limits[:4])
    more = len(problem.task.limits) - 4
    asked = f"{limits} and {more} more" if more > 0 else limits
    surrogate = ", ".join(f"`{text}`" for text in problem.paper_limits)
    lines = [
        f"### {problem.title}, of Table {problem.table}",
        "",
        f'Limits: {asked}. The paper\'s method: `solver="{problem.solver}"` with {surrogate}'
        + (" on cross-entropies." if problem.solver == "abpp" else "."),
        "",
        f"![{describe(problem)}](figures/{picture})",
        "",
        table(name, problem, cells),
        "",
        *sentences(name, problem, cells),
        *refusals(name, results),
        "",
    ]
    return "\n".join(lines)


def table(name: str, problem: Problem, cells: Cells) -> str:
    large = any(cell.problem == name and cell.has_large_groups for cell in cells.values())
    header = ["learner", "method", "accuracy", problem.measure]
    header += [f"{problem.measure}, large groups"] if large else []
    header += ["accuracy in print", f"{problem.measure} in print", "time, plain = 1"]
    rows = [header, ["---"] * len(header)]
    for learner, title in LEARNER_TITLES.items():
        for method, method_title in METHOD_TITLES.items():
            cell = cells.get((name, learner, method))
            if cell is None:
                continue
            row = [title, method_title, str(cell.mean("accuracy")), str(cell.mean("measure"))]
            if large:
                row.append(str(cell.mean("large_groups")))
            row += printed_words(printed(name, learner, method))
            rows.append([*row, time_ratio(cell, cells.get((name, learner, "plain")))])
    empty = [""] * (3 if large else 2)
    for row in printed_rows():
        if row.problem == name and row.method not in METHOD_TITLES:
            rows.append(["", f"{row.name}, in print only", *empty, *printed_words(row), ""])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def printed_words(row: PrintedRow | None) -> list[str]:
    if row is None:
        return ["", ""]
    return [f"{figure.mean:.2f} ± {figure.deviation:.2f}" for figure in (row.accuracy, row.measure)]


def time_ratio(cell: Cell, plain: Cell | None) -> str:
    return "" if plain is None else f"{cell.ratio(plain, 'seconds'):.1f}"


def sentences(name: str, problem: Problem, cells: Cells) -> list[str]:
    """For each learner, who is better in which respect."""
    found = []
    for learner, title in LEARNER_TITLES.items():
        ours = cells.get((name, learner, "auto"))
        if ours is None:
            continue
        words = []
        for method in ("paper", "paper_linearized"):
            theirs = cells.get((name, learner, method))
            if theirs is not None and ours.shares_sets(theirs):
                pair = ours.difference(theirs, "accuracy"), ours.difference(theirs, "measure")
                outcome = compared(*pair, problem) + of_large_groups(ours, theirs, problem)
                words.append(f"against {METHOD_TITLES[method]}, bregboost {outcome}")
        row = printed(name, learner, "paper")
        if row is not None:
            outcome = compared(*from_printed(ours, row), problem)
            words.append(f"against the paper's print it {outcome}")
            relaxed = cells.get((name, learner, "auto_relaxed"))
            if relaxed is not None:
                outcome = compared(*from_printed(relaxed, row), problem)
                words.append(f"with the limit at that level it {outcome}")
        found.append(f"- **{title}**: {'; '.join(words)}.")
    return found


Differences = tuple[Mean, Mean]


def from_printed(ours: Cell, row: PrintedRow) -> Differences:
    """Means of unlike samples: their variances add up."""

    def difference(name: str) -> Mean:
        mine, theirs = ours.mean(name), getattr(row, name)
        variance = mine.deviation**2 / mine.count + theirs.deviation**2 / SETS
        # Mean has the deviation of a single value.
        deviation = math.sqrt(variance * mine.count)
        return Mean(mine.value - theirs.mean, deviation, mine.count)

    return difference("accuracy"), difference("measure")


def direction(difference: Mean, larger_is_better: bool) -> int:
    """1 better, -1 worse, 0 within the noise, as is a single value."""
    if difference.count < 2:
        return 0
    quantile = student_t.ppf((1.0 + CONFIDENCE) / 2.0, difference.count - 1)
    if abs(difference.value) <= quantile * difference.standard_error:
        return 0
    return 1 if (difference.value > 0) == larger_is_better else -1


def compared(accuracy: Mean, measure: Mean, problem: Problem) -> str:
    """Such as: has a smaller gap and is less accurate (accuracy -1.20, gap -5.30)."""
    name = problem.measure
    found = direction(accuracy, larger_is_better=True), direction(measure, larger_is_better=False)
    words = {
        (1, 1): f"is more accurate and has a smaller {name}",
        (1, 0): f"is more accurate, with no clear difference in the {name}",
        (1, -1): f"is more accurate and has a larger {name}",
        (0, 1): f"has a smaller {name}, with no clear difference in accuracy",
        (0, 0): f"is not clearly different in accuracy or {name}",
        (0, -1): f"has a larger {name}, with no clear difference in accuracy",
        (-1, 1): f"has a smaller {name} and is less accurate",
        (-1, 0): f"is less accurate, with no clear difference in the {name}",
        (-1, -1): f"is less accurate and has a larger {name}",
    }[found]
    return f"{words} (accuracy {accuracy.value:+.2f}, {name} {measure.value:+.2f})"


def of_large_groups(ours: Cell, theirs: Cell, problem: Problem) -> str:
    """A clause of its own: what small groups measure is mostly chance."""
    if not (ours.has_large_groups and theirs.has_large_groups):
        return ""
    difference = ours.difference(theirs, "large_groups")
    words = {1: "smaller", 0: "not clearly different", -1: "larger"}
    found = words[direction(difference, larger_is_better=False)]
    return f", the {problem.measure} of large groups {found} ({difference.value:+.2f})"


def refusals(name: str, results: Mapping[str, Any]) -> list[str]:
    """Limits that the rows of a split have nothing for."""
    return [
        f"- {LEARNER_TITLES[cell['learner']]}, {METHOD_TITLES[cell['method']]}: "
        f"{cell['failures']} sets refused, the first with: {cell['failure']}"
        for cell in results["cells"]
        if cell["problem"] == name and cell["failures"]
    ]


def courses_part(courses: list[dict[str, Any]], figures: Path) -> str:
    found = sorted({course["alpha"] for course in courses} - {None})
    alphas = ", ".join(f"{alpha:g}" for alpha in found)
    lines = [
        "### The course of CBPR",
        "",
        f"Adult, `gap(loss, by=sex) <= alpha` for alpha {alphas}, on the training rows: the "
        f"paper's third figure. {SETTINGS.iterations} iterations, learning rate "
        f"{SETTINGS.learning_rate:g}, {SETTINGS.leaves} leaves or depth {SETTINGS.depth}; the "
        "search for a feasible point comes first and counts. Dotted: alpha.",
        "",
    ]
    for method in FORMS:
        shown = [course for course in courses if course["method"] in ("plain", method)]
        if any(course["method"] == method for course in shown):
            picture = f"{PREFIX}_courses_{FORMS[method]['form']}.svg"
            draw_courses(shown, figures / picture)
            words = (
                f"{METHOD_TITLES[method].capitalize()}: mean loss and loss difference of the sexes "
                "against the iteration, for several alpha, for LightGBM and XGBoost"
            )
            lines += [f"![{words}](figures/{picture})", "", f"{words}.", ""]
    return "\n".join([*lines, courses_table(courses), ""])


def courses_table(courses: list[dict[str, Any]]) -> str:
    """Loss and loss difference where the courses end."""
    columns = sorted({course["alpha"] for course in courses} - {None})
    header = ["learner", "method", "no limit", *(f"alpha {alpha:g}" for alpha in columns)]
    ends: dict[tuple[str, str], dict[float | None, str]] = {}
    for course in courses:
        row = ends.setdefault((course["learner"], course["method"]), {})
        row[course["alpha"]] = f"{course['objective'][-1]:.3f} / {course['difference'][-1]:.3f}"
    rows = [header, ["---"] * len(header)]
    for learner, title in LEARNER_TITLES.items():
        for method, method_title in METHOD_TITLES.items():
            if (learner, method) in ends:
                row = ends[learner, method]
                rows.append([title, method_title, *(row.get(a, "") for a in (None, *columns))])
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return f"Where they end, loss / loss difference:\n\n{table}"


def settings_part(results: Mapping[str, Any]) -> str:
    rows = ["| hyper-parameter | drawn from | is |", "| --- | --- | --- |"]
    rows += [f"| {name} | {values} | {MEANINGS[name]} |" for name, values in RANGES.items()]
    machine, origin = results["machine"], results["origin"]
    commands = f"`{results['command']}`"
    if "updated_by" in results:
        commands += f", then `{results['updated_by']} --update`,"
    versions = ", ".join(f"{name} {origin[name]}" for name in ("bregboost", "lightgbm", "xgboost"))
    lines = [
        "### Hyper-parameters and machine",
        "",
        *rows,
        "",
        f"{commands} with {versions}, Python {machine['python']}, on "
        f"{machine['cores']} cores of {machine['processor']}.",
        "",
    ]
    return "\n".join(lines)
