"""All errors that users can meet, by the part of the project that they come from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from .cpp_errors import CppErrors
from .entry import Entry
from .python_errors import PythonErrors

# In the order of the data; the folders and files that belong to each.
ROOMS = {
    "Data": ("src/data/",),
    "Limits": ("src/problem/",),
    "Learners": ("src/learners/", "src/detail/bytes.h"),
    "Solvers": ("src/solve/",),
    "Calibration": ("src/calibrate/",),
    "Certificates": ("src/certify/",),
    "Models": ("src/model/",),
    "Fits": ("src/pipeline/",),
    "Reports": ("src/report/",),
    "Command line": ("cli/",),
    "Dask": tuple(
        f"python/src/bregboost/{name}.py"
        for name in ("dask", "_cluster", "_lightgbm_sockets", "_star", "_workers")
    ),
    "Python": ("python/",),
}

# A broken promise of the library to itself. Nobody can provoke it without changing the library.
_INTERNAL = "std::logic_error"


class CatalogueError(Exception):
    """Errors that cannot be listed, or a list that says something else than the code."""


@dataclass(frozen=True)
class Listed:
    room: str
    message: str  # with names for what is put in
    entries: tuple[Entry, ...]  # everywhere that it comes from

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(sorted({entry.kind for entry in self.entries}))

    @property
    def codes(self) -> tuple[str, ...]:
        return tuple(sorted({entry.code for entry in self.entries} - {""}))


def collect(root: Path) -> list[Listed]:
    found = [
        *CppErrors(root, ("src", "include", "cli", "python/bindings")).entries(),
        *PythonErrors(root, "python/src/bregboost").entries(),
    ]
    return listed(found)


def listed(entries: Iterable[Entry]) -> list[Listed]:
    """By room and message. What only repeats another error is that error, and not listed."""
    vague = []
    found: dict[tuple[str, str], list[Entry]] = {}
    for entry in entries:
        if entry.kind == _INTERNAL:
            continue
        if entry.template.is_telling():
            found.setdefault((_room(entry), entry.template.shown()), []).append(entry)
        elif not entry.caught:
            vague.append(f"{entry.path}:{entry.line}: {entry.template.shown()}")
    if vague:
        raise CatalogueError(
            "messages of which too little is always there to find or to test them:\n  "
            + "\n  ".join(vague)
        )
    order = list(ROOMS)
    return [
        Listed(room, message, tuple(of_message))
        for (room, message), of_message in sorted(
            found.items(), key=lambda item: (order.index(item[0][0]), _sorting(item[0][1]))
        )
    ]


def _room(entry: Entry) -> str:
    for room, places in ROOMS.items():
        if entry.path.startswith(places):
            return room
    raise CatalogueError(f"{entry.path}: belongs to none of {', '.join(ROOMS)}")


def _sorting(message: str) -> str:
    """By the first words of its own."""
    return (
        message.split("⟩", 1)[-1].lstrip("':, ").lower()
        if message[:2] in ("⟨", "'⟨")
        else message.lower()
    )
