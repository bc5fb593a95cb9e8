"""The progress bar: what it shows, how often, and when it keeps quiet."""

import io
import math
import sys
import threading
import time

import pytest
from bregboost._progress import Progress

STATS = {"k": 12, "objective": 0.3124, "exact_violation": 0.012, "max_multiplier": 0.53}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(stats: dict[str, object], **options: object) -> str:
    file = io.StringIO()
    with Progress(100, True, file=file, **options) as progress:
        progress.update(stats)
    return file.getvalue().rstrip().rpartition("\r")[2]


def test_round_objective_violation_and_multiplier() -> None:
    line = shown(STATS, objective_name="loss")
    assert line.startswith("training:  12%|")
    assert "12/100" in line
    assert "loss 0.3124, violation 1.20 points, multiplier 0.53" in line


def test_phase_and_units() -> None:
    line = shown(STATS | {"phase": "feasibility"}, percent=False)
    assert line.startswith("feasibility:")
    assert "violation 0.012," in line


@pytest.mark.parametrize("nothing", [None, math.nan, math.inf])
def test_undefined_numbers(nothing: float | None) -> None:
    line = shown(dict.fromkeys(STATS, nothing) | {"k": 1})
    assert "objective undefined, violation undefined, multiplier undefined" in line


def test_unknown_total() -> None:
    file = io.StringIO()
    with Progress(None, True, file=file) as progress:
        progress.update(STATS)
    assert "12round" in file.getvalue()


def test_at_most_ten_updates_a_second_and_the_last_one() -> None:
    file = io.StringIO()
    start = time.monotonic()
    with Progress(100_000, True, file=file) as progress:
        for k in range(20_000):
            progress.update(STATS | {"k": k})
    elapsed = time.monotonic() - start
    # The start, the first row and the two lines of the end are drawn in any case.
    assert file.getvalue().count("\r") <= 5 + 10 * elapsed
    assert "19999/100000" in file.getvalue()


def test_quiet_where_nobody_looks_unless_asked() -> None:
    quiet, watched, asked = io.StringIO(), Terminal(), io.StringIO()
    for file, enabled in ((quiet, None), (watched, None), (asked, True)):
        with Progress(100, enabled, file=file) as progress:
            progress.update(STATS)
    assert quiet.getvalue() == ""
    assert "12/100" in watched.getvalue()
    assert "12/100" in asked.getvalue()


def test_disabled() -> None:
    file = Terminal()
    with Progress(100, False, file=file) as progress:
        progress.update(STATS)
    assert file.getvalue() == ""


def test_standard_error_by_default(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress(100, True) as progress:
        progress.update(STATS)
    assert "12/100" in capsys.readouterr().err


def test_no_bar_without_tqdm_nor_standard_error(monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.StringIO()
    monkeypatch.setitem(sys.modules, "tqdm.std", None)
    with Progress(100, True, file=file) as progress:
        progress.update(STATS)
    assert file.getvalue() == ""
    monkeypatch.undo()
    monkeypatch.setattr(sys, "stderr", None)
    for enabled in (None, True):
        with Progress(100, enabled) as progress:
            progress.update(STATS)


def test_an_output_that_breaks_does_not_end_the_training() -> None:
    file = io.StringIO()
    with Progress(100, True, file=file) as progress:
        progress.update(STATS)
        file.close()
        time.sleep(0.11)
        progress.update(STATS)
        progress.update(STATS)
    with Progress(100, True, file=file) as progress:
        progress.update(STATS)


def test_interrupts_pass_and_the_last_row_is_shown() -> None:
    file = io.StringIO()

    def interrupted_training() -> None:
        with Progress(100, True, file=file) as progress:
            progress.update(STATS)
            progress.update(STATS | {"k": 13})
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted_training()
    assert "13/100" in file.getvalue()
    assert file.getvalue().endswith("\n")


def test_no_thread_is_left_behind() -> None:
    before = threading.active_count()
    with Progress(100, True, file=io.StringIO()) as progress:
        progress.update(STATS)
        assert threading.active_count() == before
