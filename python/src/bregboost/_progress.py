"""A bar that shows how a training goes."""

import sys
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, TextIO

from bregboost._json_data import plain
from bregboost._units import difference_text

_SHORTEST_INTERVAL = 0.1  # seconds between two updates


class Progress:
    """Shows round, objective, worst violation and largest multiplier while a model is trained.

    Needs tqdm; without it nothing is shown. An output that breaks ends the bar, not the training.

    Parameters
    ----------
    total : int or None
        Rounds; None if unknown.
    enabled : bool or None
        None shows the bar where somebody may be looking: in a terminal or a notebook.
    objective_name : str
        The word before the objective.
    percent : bool
        Whether violations are of shares, and shown in points.
    file : file, optional
        Where to write; standard error by default.

    Examples
    --------
    >>> with Progress(100, enabled=False) as progress:
    ...     progress.update({"k": 1, "objective": 0.4})
    """

    def __init__(
        self,
        total: int | None,
        enabled: bool | None = None,
        *,
        objective_name: str = "objective",
        percent: bool = True,
        file: TextIO | None = None,
    ) -> None:
        self._total = total
        self._enabled = _is_watched(file) if enabled is None else enabled
        self._objective_name = objective_name
        self._percent = percent
        self._file = file
        self._bar: Any = None
        self._last: Mapping[str, Any] | None = None
        self._drawn_at = 0.0

    def __enter__(self) -> "Progress":
        self._bar = _make_bar(self._total, self._file) if self._enabled else None
        self._drawn_at = -_SHORTEST_INTERVAL
        return self

    def update(self, stats: Mapping[str, Any]) -> None:
        """Take a row of the history: k, objective, exact_violation, max_multiplier, phase."""
        self._last = stats
        now = time.monotonic()
        if self._bar is not None and now - self._drawn_at >= _SHORTEST_INTERVAL:
            self._drawn_at = now
            self._draw(stats)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None and self._last is not None:
            self._draw(self._last)
        if self._bar is not None:
            bar, self._bar = self._bar, None
            _written(bar.close)

    def _draw(self, stats: Mapping[str, Any]) -> None:
        bar = self._bar
        phase = stats.get("phase") or "main"
        bar.set_description_str("training" if phase == "main" else str(phase), refresh=False)
        bar.set_postfix_str(self._stats_text(stats), refresh=False)
        bar.n = int(stats.get("k") or 0)
        if not _written(bar.refresh):
            bar.disable = True  # or it would write once more when it is collected
            self._bar = None

    def _stats_text(self, stats: Mapping[str, Any]) -> str:
        objective, violation, multiplier = (
            plain(stats.get(name), name)
            for name in ("objective", "exact_violation", "max_multiplier")
        )
        return (
            f"{self._objective_name} {difference_text(objective, percent=False)}, "
            f"violation {difference_text(violation, self._percent)}, "
            f"multiplier {difference_text(multiplier, percent=False)}"
        )


def _is_watched(file: TextIO | None) -> bool:
    if file is None and "ipykernel" in sys.modules:
        return True
    stream = sys.stderr if file is None else file
    return stream is not None and stream.isatty()


def _make_bar(total: int | None, file: TextIO | None) -> Any:
    """A bar of tqdm, or None without tqdm or a place to write to."""
    stream = sys.stderr if file is None else file
    if stream is None or stream.closed:
        return None
    try:
        from tqdm.std import tqdm
    except ImportError:
        return None

    class Bar(tqdm):
        monitor_interval = 0  # no thread beside a training that may fork

    return Bar(total=total, file=stream, unit="round", dynamic_ncols=True)


def _written(write: Callable[[], object]) -> bool:
    try:
        write()
    except (OSError, ValueError):  # a pipe that broke, a file that was closed
        return False
    return True
