"""The Python of the pages runs, and prints and finds what the pages say.

Tutorials run on the real data if BREGBOOST_DATA names their folder, else on generated ones, where
the outputs that the pages show are not to be expected.
"""

import re
import sys
from pathlib import Path
from typing import Any

import matplotlib
import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
TUTORIALS = DOCS / "tutorials"
sys.path[:0] = [str(ROOT / "scripts"), str(TUTORIALS)]

import page_code  # noqa: E402
import tutorial_data  # noqa: E402

matplotlib.use("agg")
import matplotlib.pyplot as plt  # noqa: E402


@pytest.fixture(autouse=True)
def _close_figures() -> Any:
    yield
    plt.close("all")


def run(page: Path, folder: Path, *, compare: bool) -> dict[str, Any]:
    """Run a page, check what it prints against what it shows, and return its names."""
    blocks = page_code.find_blocks(page.read_text(encoding="utf-8"))
    printed, names = page_code.run_page(page, folder)
    for block, output in zip(blocks, printed, strict=True):
        where = f"{page.name}:{block.line}"
        assert bool(output) == (block.shown is not None), f"{where}: prints {output!r}"
        if compare and block.shown is not None:
            found = list(page_code.differences(output, block.shown))
            assert not found, "\n".join([f"{where}:", *found])
    return names


def run_tutorial(name: str, folder: Path) -> dict[str, Any]:
    return run(TUTORIALS / f"{name}.md", folder, compare=tutorial_data.is_real())


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", DOCS / "python.md", DOCS / "report.md"], ids=lambda p: p.stem
)
def test_pages_print_what_they_show(page: Path, tmp_path: Path) -> None:
    run(page, tmp_path, compare=True)


def test_fraud(tmp_path: Path) -> None:
    names = run_tutorial("fraud", tmp_path)
    assert names["model"].status_ == "satisfied"
    assert names["certified"].status_ == "certified"
    # A tighter limit never comes with more accuracy, as far as it holds.
    held = names["frontier"].frame.query("satisfied")
    assert held["objective"].is_monotonic_increasing
    assert len(held) >= 3


def test_equal_errors(tmp_path: Path) -> None:
    names = run_tutorial("equal_errors", tmp_path)
    model = names["model"]
    assert model.status_ == "satisfied"
    assert "sex" not in model.feature_names_in_
    wrong = model.predict(names["X_test"]) != names["test"]["income"]
    errors = wrong.groupby(names["test"]["sex"], observed=True).mean()
    # Nearer to the limit than to the gap of a plain model, 10 points or more.
    assert errors.max() - errors.min() < 0.075
    assert names["frontier"].frame["satisfied"].all()


def test_seven_classes(tmp_path: Path) -> None:
    names = run_tutorial("seven_classes", tmp_path)
    assert names["feasible"].status_ == "satisfied"
    limits, model = names["limits"], names["model"]
    assert [str(limit) for limit in model.constraints_] == limits
    lenient, strict = (model.recalibrate(limits, rho=rho).report_.metrics() for rho in (0.5, 20.0))
    assert strict["violation"] <= lenient["violation"]
    assert strict["objective"] <= lenient["objective"]


def test_alert_budget(tmp_path: Path) -> None:
    names = run_tutorial("alert_budget", tmp_path)
    assert names["both"].status_ == "satisfied"
    assert names["most"].status_ == "satisfied"
    assert names["greedy"].status_ == "violated"
    recall = names["both"].recalibrate("selection_rate <= 1%", objective="recall", rho=1000.0)
    assert names["most"].report_.metrics()["objective"] == pytest.approx(
        recall.report_.metrics()["objective"]
    )


@pytest.mark.parametrize("name", ["credit", "adult", "drybean"])
def test_stand_ins_are_repeatable(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(tutorial_data.FOLDER, raising=False)
    read = getattr(tutorial_data, f"read_{name}")
    first, second = ([table] if not isinstance(table := read(), tuple) else table for _ in "ab")
    assert all(a.equals(b) for a, b in zip(first, second, strict=True))


def test_a_folder_without_the_data_is_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(tutorial_data.FOLDER, str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"BREGBOOST_DATA: no drybean\.csv\.xz"):
        tutorial_data.read_drybean()


@pytest.mark.skipif(not tutorial_data.is_real(), reason="BREGBOOST_DATA is not set")
@pytest.mark.parametrize("name", ["credit", "adult", "drybean"])
def test_stand_ins_have_the_columns_of_the_real_data(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = getattr(tutorial_data, f"read_{name}")
    real = read()
    monkeypatch.delenv(tutorial_data.FOLDER)
    made = read()
    if name == "adult":
        real, made = real[0], made[0]
    assert list(made.columns) == list(real.columns)
    kinds = [[str(dtype)[:3] for dtype in table.dtypes] for table in (made, real)]
    assert kinds[0] == kinds[1]


def test_every_figure_that_a_page_draws_is_shown() -> None:
    for page in [DOCS / "python.md", *TUTORIALS.glob("*.md")]:
        text = page.read_text(encoding="utf-8")
        for name in re.findall(r'savefig\("(\w+\.svg)"\)', text):
            assert f"figures/{name})" in text, f"{page.name} does not show {name}"
            assert (DOCS / "figures" / name).is_file()


def test_outputs_are_put_into_a_page() -> None:
    page = "```python\nprint(1)\n```\n\n```text\n```\n\n```python\nx = 2\n```\n"
    recorded = page_code.with_output(page, ["1\n", ""])
    assert [block.shown for block in page_code.find_blocks(recorded)] == ["1\n", None]
    assert recorded.replace("1\n```\n\n```python", "```\n\n```python") == page


@pytest.mark.parametrize(
    ("printed", "alike"),
    [("rate 4.9%\n", True), ("rate 24.9%\n", False), ("error 5.0%\n", False), ("", False)],
)
def test_outputs_are_compared_by_words_and_loosely_by_numbers(printed: str, alike: bool) -> None:
    assert (not list(page_code.differences(printed, "rate 5.0%\n"))) == alike
