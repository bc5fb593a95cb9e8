"""The Python of Markdown pages: found, run, and compared with the output that the page shows.

A fenced block ``python`` is code; a block ``text`` right after it is what the code prints. The
blocks of a page run in order in one namespace.
"""

import contextlib
import io
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_BLOCK = re.compile(
    r"^```python\n(?P<code>.*?)^```$(?:\n+```text\n(?P<shown>.*?)^```$)?", re.MULTILINE | re.DOTALL
)
_NUMBER = re.compile(r"[-+]?(?:\d[\d,]*)(?:\.\d+)?(?:e[-+]?\d+)?")
_TIMES = re.compile(r"^ *seconds .*\n", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """Code, and what the page says that it prints; None where it shows nothing."""

    code: str
    shown: str | None
    line: int


def find_blocks(text: str) -> list[Block]:
    """The blocks of a page in their order."""
    return [
        Block(found["code"], found["shown"], text.count("\n", 0, found.start()) + 2)
        for found in _BLOCK.finditer(text)
    ]


def run_page(page: Path, folder: Path) -> tuple[list[str], dict[str, Any]]:
    """Run all blocks in `folder`; returns what each prints, and the names that they leave."""
    names: dict[str, Any] = {"__name__": page.stem}
    printed = []
    with _working_in(folder):
        for block in find_blocks(page.read_text(encoding="utf-8")):
            # Errors name the line of the page.
            code = compile("\n" * (block.line - 1) + block.code, str(page), "exec")
            with contextlib.redirect_stdout(io.StringIO()) as output:
                exec(code, names)
            printed.append(output.getvalue())
    return printed, names


def with_output(text: str, printed: list[str]) -> str:
    """The page with `printed` in place of the outputs that it shows."""
    outputs = iter(printed)

    def recorded(found: re.Match[str]) -> str:
        output = next(outputs)
        if found["shown"] is None:
            return found[0]
        start, end = (place - found.start() for place in found.span("shown"))
        return found[0][:start] + output + found[0][end:]

    return _BLOCK.sub(recorded, text)


def differences(printed: str, shown: str) -> Iterator[str]:
    """How two outputs differ: in words, or in numbers by more than other machines explain."""
    printed, shown = (_TIMES.sub("", text) for text in (printed, shown))
    if _words(printed) != _words(shown):
        yield f"printed:\n{printed}\nshown:\n{shown}"
        return
    for found, expected in zip(_numbers(printed), _numbers(shown), strict=True):
        if abs(found - expected) > 1.5 + 0.25 * abs(expected):
            yield f"printed {found:g}, shown {expected:g}"


def _words(text: str) -> list[str]:
    """Without numbers, and without the spaces and the breaks of lines that depend on them."""
    return _NUMBER.sub("#", text).split()


def _numbers(text: str) -> list[float]:
    return [float(number.replace(",", "")) for number in _NUMBER.findall(text)]


@contextlib.contextmanager
def _working_in(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
