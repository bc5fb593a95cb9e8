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
_MOST_OF_NUMBERS = 5
_MOST_OF_TEXTS = 50
# Made-up limits have quotes within quotes, so all up to the last place is the limit.
_PUT_IN = re.compile(r"constraint '.*', column \d+: |'[^']*'|\d+")
_NUMBER = re.compile(r"\d+")
_KIND_OF_TYPE = {"nanobind::builtin_exception": ("nb::value_error", "nb::type_error")}


@dataclass(frozen=True)
class Happened:
    kinds: tuple[str, ...]
    message: str
    place: tuple[str, int] | None  # the file and the line that raised it, where that is known


def read(records: Iterable[Path], root: Path) -> list[Happened]:
    """Of messages that differ in numbers alone, a few; of those that differ in quoted texts, some.

    Made-up input has many. But a quoted text may be the error's own word.
    """
    alike: dict[str, dict[str, set[str]]] = {}
    for record in records:
        for line in record.read_text(encoding="utf-8", errors="replace").rstrip("\n").split("\n"):
            some = alike.setdefault(_PUT_IN.sub("0", line), {})
            without_numbers = _NUMBER.sub("0", line)
            if without_numbers not in some and len(some) >= _MOST_OF_TEXTS:
                continue
            few = some.setdefault(without_numbers, set())
            if len(few) < _MOST_OF_NUMBERS:
                few.add(line)
    kept = [few for some in alike.values() for few in some.values()]
    return [_parsed(line, root) for few in kept for line in sorted(few)]


def _parsed(line: str, root: Path) -> Happened:
    if line.startswith("["):
        kind, message, path, number = json.loads(line)
        inside = Path(path).resolve()
        place = str(inside.relative_to(root)) if inside.is_relative_to(root) else path
        return Happened((kind,), message, (place, number))
    kind, _, message = line.partition("\t")
    unescaped = re.sub(r"\\(.)", lambda found: {"n": "\n"}.get(found[1], found[1]), message)
    kinds = _KIND_OF_TYPE.get(kind, (kind.removeprefix("bregboost::").removeprefix("cli::"),))
    return Happened(kinds, unescaped, None)


def missing(listed: list[Listed], happened: list[Happened]) -> list[Listed]:
    """What did not happen.

    A message counts for the error of which it holds the most words, so that an error that says less
    is not taken for one that says more: `rows: ⟨rows⟩; allowed: ⟨rows⟩` fits much.
    """
    patterns = [
        (error, entry, re.compile(_pattern(entry)), len(entry.template.literal()))
        for error in listed
        for entry in error.entries
    ]
    met: set[Listed] = set()
    for one in happened:
        fitting = [
            (words, error)
            for error, entry, pattern, words in patterns
            if _same_kind(entry, one) and pattern.fullmatch(one.message)
        ]
        most = max((words for words, _ in fitting), default=0)
        met.update(error for words, error in fitting if words == most)
    return [error for error in listed if error not in met]


def _pattern(entry: Entry) -> str:
    return (_BEFORE_LIMITS if entry.kind == "ConstraintError" else "") + entry.template.pattern()


def _same_kind(entry: Entry, one: Happened) -> bool:
    return not set(entry.kind.split(" or ")).isdisjoint(one.kinds)


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
