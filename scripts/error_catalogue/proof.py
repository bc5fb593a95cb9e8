"""Whether errors that happened, as the tests write them down, are all that the catalogue lists."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from .catalogue import CatalogueError, Listed
from .entry import Entry

_BEFORE_LIMITS = r"constraint '[\s\S]*'(?:, column \d+)?: "
_KIND_OF_TYPE = {"nanobind::builtin_exception": ("nb::value_error", "nb::type_error")}
_VERSION_OF_NANOBIND = re.compile(r"(?<=^nanobind::)abi\d+::")


@dataclass(frozen=True)
class Happened:
    kinds: tuple[str, ...]
    message: str
    place: tuple[str, int] | None  # the file and the line that raised it, where that is known


def read(records: Iterable[Path], root: Path) -> list[Happened]:
    lines = dict.fromkeys(
        line
        for record in records
        for line in record.read_bytes().decode(errors="replace").split("\n")
        if line
    )
    return [_parsed(line, root) for line in lines]


def _parsed(line: str, root: Path) -> Happened:
    if line.startswith("["):
        kind, message, path, number = json.loads(line)
        inside = Path(path).resolve()
        place = str(inside.relative_to(root)) if inside.is_relative_to(root) else path
        return Happened((kind,), message, (place, number))
    kind, _, message = line.partition("\t")
    kind = _VERSION_OF_NANOBIND.sub("", kind)
    unescaped = re.sub(r"\\(.)", lambda found: {"n": "\n"}.get(found[1], found[1]), message)
    kinds = _KIND_OF_TYPE.get(kind, (kind.removeprefix("bregboost::").removeprefix("cli::"),))
    return Happened(kinds, unescaped, None)


def missing(listed: list[Listed], happened: list[Happened]) -> list[Listed]:
    """What did not happen.

    A message counts for the error of which it holds the most words, so that an error that says less
    is not taken for one that says more: `rows: ⟨rows⟩; allowed: ⟨rows⟩` fits much.
    """
    by_kind: dict[str, list[_Sought]] = {}
    for error in listed:
        for entry in error.entries:
            for kind in entry.kind.split(" or "):
                by_kind.setdefault(kind, []).append(_Sought.of(error, entry))
    met: set[Listed] = set()
    for one in happened:
        fitting = [
            sought
            for kind in one.kinds
            for sought in by_kind.get(kind, ())
            if sought.longest in one.message and sought.pattern.fullmatch(one.message)
        ]
        most = max((sought.words for sought in fitting), default=0)
        met.update(sought.error for sought in fitting if sought.words == most)
    return [error for error in listed if error not in met]


@dataclass(frozen=True)
class _Sought:
    error: Listed
    pattern: re.Pattern[str]
    longest: str  # of its texts: tests write down tens of thousands of messages, most without it
    words: int

    @classmethod
    def of(cls, error: Listed, entry: Entry) -> _Sought:
        texts = [part for part in entry.template.parts if isinstance(part, str)]
        pattern = re.compile(_pattern(entry))
        return cls(error, pattern, max(texts, key=len, default=""), len(entry.template.literal()))


def _pattern(entry: Entry) -> str:
    return (_BEFORE_LIMITS if entry.kind == "ConstraintError" else "") + entry.template.pattern()


def check(listed: list[Listed], happened: list[Happened], not_provoked: Mapping[str, str]) -> None:
    """Raise CatalogueError unless all happened but those that are known not to."""
    lacking = missing(listed, happened)
    names = {error.message for error in listed}
    unknown = [message for message in not_provoked if message not in names]
    known = [error for error in lacking if error.message in not_provoked]
    needless = set(not_provoked) - {error.message for error in known} - set(unknown)
    complaints = [
        f"{entry.path}:{entry.line}: no test provokes `{error.message}` ({entry.kind})"
        for error in lacking
        if error not in known
        for entry in error.entries[:1]
    ]
    complaints += [f"not_provoked.py: no such error: `{message}`" for message in unknown]
    complaints += [f"not_provoked.py: a test provokes `{message}`" for message in sorted(needless)]
    if complaints:
        raise CatalogueError(
            "\n".join(complaints) + f"\n{len(complaints)} in all. Add tests, see CONTRIBUTING.md"
        )
