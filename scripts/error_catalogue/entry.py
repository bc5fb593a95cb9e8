"""An error that users can meet."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .templates import Template


@dataclass(frozen=True)
class Entry:
    kind: str  # the exception
    code: str  # of the program's exit codes, by name; empty where the caller decides
    template: Template
    path: str  # where it is thrown, or where a helper that throws it is called
    line: int
    caught: bool  # the message repeats that of an error that was caught

    def fits(self, message: str) -> bool:
        return re.fullmatch(self.template.pattern(), message) is not None
