"""docs/errors.md, of the catalogue."""

from __future__ import annotations

from collections.abc import Mapping

from .catalogue import ROOMS, Listed

_HEAD = """\
# Errors

Every message that bregboost can give, from A to Z within the part of the project that it comes
from. Search the page for words of the message that you have; ⟨so⟩ stands for what was put in, [so]
may be there or not, and ⟨a | b⟩ is one of the two.

This page is made from the code by `make errors`; a test fails if it is not what the code says.
`make test` writes down what happens in all tests, and fails if one of the messages is not among it,
but for those at the end of the page.

| kind | C++ | Python | exit code of the program |
| --- | --- | --- | --- |
| value | `std::invalid_argument` | `ValueError` | 2 about flags, 3 about data, else 1 |
| limit | `ConstraintError`, a `std::invalid_argument` | `ConstraintError`, a `ValueError` | 2 |
| checkpoint | `CheckpointError` | `CheckpointError` | 3; 5 where it cannot be written |
| library | `LibraryError` | `LibraryError` | 4 |
| run | `std::runtime_error` | `RuntimeError` | 1; or within a message about a file |
| exit n | | | n; a line on stderr |

Other kinds are classes of Python. A message about a limit begins with the limit and, where it
cannot be read, the place: `constraint 'fnrr <= 5%', column 1: ...`. [The reference](api/errors.md)
has the classes.

Not listed: words of other libraries that are passed on as they are, such as those of CLI11 about
flags (exit code 2) and those of scikit-learn; `std::bad_alloc`, where memory runs out (exit code
1); and `std::logic_error`, with which the library ends where it has broken a promise to itself.
That would be a bug: please report it.
"""

_KINDS = {
    "std::invalid_argument": "value",
    "std::runtime_error": "run",
    "nb::value_error": "`ValueError`",
    "nb::type_error": "`TypeError`",
    "ConstraintError": "limit",
    "CheckpointError": "checkpoint",
    "CheckpointWriteError": "checkpoint",
    "LibraryError": "library",
}
_EXIT_CODES = {"Usage": 2, "Data": 3, "Output": 5, "NotHeld": 6, "Interrupted": 130}


def page(listed: list[Listed], not_provoked: Mapping[str, str]) -> str:
    lines = [_HEAD]
    for room in ROOMS:
        of_room = [error for error in listed if error.room == room]
        if not of_room:
            continue
        lines += [f"## {room}", "", "| message | kind |", "| --- | --- |"]
        lines += [f"| {_code(error.message)} | {_kind(error)} |" for error in of_room]
        lines.append("")
    if not_provoked:
        lines += ["## Not provoked by tests", "", "| message | why not |", "| --- | --- |"]
        lines += [f"| {_code(message)} | {why} |" for message, why in sorted(not_provoked.items())]
        lines.append("")
    return "\n".join(lines)


def _kind(error: Listed) -> str:
    if error.codes:
        return " or ".join(f"exit {_EXIT_CODES[code]}" for code in error.codes)
    kinds = [_KINDS.get(kind) or f"`{kind.replace(' or ', '`, `')}`" for kind in error.kinds]
    return ", ".join(dict.fromkeys(kinds))


def _code(message: str) -> str:
    """As code in a table: bars are escaped, backticks enclosed in two."""
    escaped = message.replace("|", "\\|")
    return f"`` {escaped} ``" if "`" in escaped else f"`{escaped}`"
