"""Messages with holes: what a page shows, and which texts are such a message."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Hole:
    """A value that the code puts in; `parameter` is set if a caller hands it over."""

    name: str
    parameter: str | None = None


@dataclass(frozen=True)
class Choice:
    """One of several texts, by a condition in the code."""

    options: tuple[Template, ...]


Part = str | Hole | Choice


@dataclass(frozen=True)
class Template:
    parts: tuple[Part, ...]
    # It repeats what another error says: the name of the variable that holds that error.
    passes_on: str | None = field(default=None, compare=False)

    def shown(self) -> str:
        """The message, each hole by its name: `rows: ⟨num rows⟩; allowed: at least 1`."""
        return re.sub(r"\s+", " ", _shown_parts(self)).strip()

    def pattern(self) -> str:
        """A regular expression that the whole message fits."""
        return "".join(_pattern(part) for part in self.parts)

    def literal(self) -> str:
        """Everything that is always there; of a choice, the shortest."""
        return "".join(_literal(part) for part in self.parts)

    def is_telling(self) -> bool:
        """Whether the words that are always there say which error it is."""
        return len(re.findall(r"[^\W\d_]", self.literal().replace("allowed", ""))) >= 4

    def parameters(self) -> set[str]:
        return {hole.parameter for hole in self.holes() if hole.parameter is not None}

    def holes(self) -> Iterator[Hole]:
        for part in self.parts:
            if isinstance(part, Hole):
                yield part
            elif isinstance(part, Choice):
                for option in part.options:
                    yield from option.holes()

    def filled(self, values: Mapping[str, Template]) -> Template:
        """With what callers hand over in place of the holes that are their parameters."""
        parts: list[Part] = []
        passes_on = self.passes_on
        for part in self.parts:
            if isinstance(part, Hole) and part.parameter in values:
                value = values[part.parameter]
                parts.extend(value.parts)
                passes_on = passes_on or value.passes_on
            elif isinstance(part, Choice):
                parts.append(Choice(tuple(option.filled(values) for option in part.options)))
            else:
                parts.append(part)
        return joined([Template(tuple(parts), passes_on)])


def text(literal: str) -> Template:
    return Template((literal,) if literal else ())


def hole(name: str, parameter: str | None = None) -> Template:
    return Template((Hole(name, parameter),))


def choice(options: list[Template]) -> Template:
    distinct = tuple(dict.fromkeys(options))
    passed = [option.passes_on for option in distinct if option.passes_on]
    if len(distinct) == 1:
        return distinct[0]
    return Template((Choice(distinct),), passed[0] if passed else None)


def joined(templates: list[Template]) -> Template:
    """One after the other; neighbouring texts become one."""
    parts: list[Part] = []
    for template in templates:
        for part in template.parts:
            if isinstance(part, str) and parts and isinstance(parts[-1], str):
                parts[-1] += part
            else:
                parts.append(part)
    passed = [template.passes_on for template in templates if template.passes_on]
    return Template(tuple(parts), passed[0] if passed else None)


def _shown_parts(template: Template) -> str:
    return "".join(_shown(part) for part in template.parts)


def _shown(part: Part) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, Hole):
        return f"⟨{part.name}⟩"
    options = [_shown_parts(option) for option in part.options]
    if "" in options:  # there or not
        return f"[{' | '.join(option for option in options if option)}]"
    return f"⟨{' | '.join(options)}⟩"


def _literal(part: Part) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, Hole):
        return ""
    return min((option.literal() for option in part.options), key=len)


def _pattern(part: Part) -> str:
    if isinstance(part, str):
        return re.escape(part)
    if isinstance(part, Hole):
        return r"[\s\S]*"
    return f"(?:{'|'.join(option.pattern() for option in part.options)})"
