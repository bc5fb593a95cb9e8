"""The errors that C++ sources throw, as templates of their messages.

An error is found where it is thrown. A message that a function is handed by its callers is worked
out for each of them; a message that is made by another function is worked out in there. What is
thrown in a way that this does not understand is an error of its own, so that none is missed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from .cpp_source import (
    CppFile,
    Function,
    SourceError,
    Token,
    Tokens,
    arguments,
    closing,
    read,
    split,
)
from .entry import Entry
from .templates import Hole, Template, choice, hole, joined, text

# Where the message is among the arguments; None: it has none.
_MESSAGE_AT: dict[str, int | None] = {
    "std::invalid_argument": 0,
    "std::runtime_error": 0,
    "std::logic_error": 0,
    "std::bad_alloc": None,
    "nb::value_error": 0,
    "nb::type_error": 0,
    "nb::python_error": None,  # what Python raised
    "CheckpointError": 0,
    "CheckpointWriteError": 0,
    "LibraryError": 0,
    "Failure": 1,
    "ConstraintError": 1,
    "Flaw": 2,
}
# What users see in place of it.
_SEEN_AS = {"Flaw": "ConstraintError"}
# Parameters that say which file, value or part of it a message is about, in the words of the data.
_OF_THE_DATA = {"doing", "key", "name", "parent", "path", "source", "value"}
_CASTS = {"static_cast", "const_cast", "reinterpret_cast"}
_AS_IT_IS = {"std::string", "std::string_view", "std::move", "fmt::runtime", "std::to_string"}
_QUIET_METHODS = {
    "what",
    "c_str",
    "string",
    "str",
    "front",
    "back",
    "dump",
    "message",
    "value",
    "data",
}
# Functions and members that hold what another library says.
_WORDS_OF_OTHERS = {"ZSTD_getErrorName", "msg", "GetLastError"}
_MAX_DEPTH = 8


@dataclass
class _Scope:
    """Where an expression stands."""

    file: CppFile
    index: int  # of its first token
    values: dict[str, Template] = field(default_factory=dict)  # of parameters, where they are known
    depth: int = 0


class CppErrors:
    def __init__(self, root: Path, folders: Iterable[str]) -> None:
        paths = sorted(
            path
            for folder in folders
            for path in (root / folder).rglob("*")
            if path.suffix in _SUFFIXES
        )
        self._root = root
        self._files = [read(path) for path in paths]
        self._text_of_file = {file.path: _texts(file) for file in self._files}

    def entries(self) -> Iterator[Entry]:
        for file in self._files:
            for index in file.places.get("throw", ()):
                yield from self._thrown(file, index)

    # ---- what is thrown

    def _thrown(self, file: CppFile, index: int) -> Iterator[Entry]:
        tokens = file.tokens
        if tokens[index + 1].sign == ";":  # what was caught is thrown again
            return
        opening = index + 1
        while tokens[opening].kind == "name" or tokens[opening].sign == "::":
            opening += 1
        kind = "".join(token.text for token in tokens[index + 1 : opening])
        if kind not in _MESSAGE_AT or tokens[opening].sign not in ("(", "{"):
            raise self._error(
                file,
                index,
                f"throws {kind or tokens[opening].text!r}; known: {', '.join(_MESSAGE_AT)}",
            )
        place = _MESSAGE_AT[kind]
        if place is None:
            return
        given = arguments(tokens, opening)
        if place >= len(given):
            raise self._error(
                file, index, f"{kind} of {len(given)} arguments; its message is number {place + 1}"
            )
        template = self._value(given[place], _Scope(file, opening))
        code = (
            "".join(token.text for token in given[0]).removeprefix("ExitCode::k")
            if kind == "Failure"
            else ""
        )
        yield from self._for_callers(file, index, _SEEN_AS.get(kind, kind), code, template, depth=0)

    def _for_callers(
        self, file: CppFile, index: int, kind: str, code: str, template: Template, depth: int
    ) -> Iterator[Entry]:
        """One for each caller that hands over words of the message."""
        for function in file.functions_at(index):
            handed = [
                place
                for place, parameter in enumerate(function.parameters)
                if parameter.name in template.parameters()
                and _is_text(parameter.type)
                and parameter.name not in _OF_THE_DATA
            ]
            if handed and depth < _MAX_DEPTH and function.name:  # a lambda without: Python calls it
                found: list[Entry] = []
                for caller, at, given in self._calls(file, function):
                    values = {}
                    for place in handed:
                        parameter = function.parameters[place]
                        handed_over = given[place] if place < len(given) else parameter.default
                        values[parameter.name] = self._value(handed_over or [], _Scope(caller, at))
                    filled = template.filled(values)
                    found.extend(self._for_callers(caller, at, kind, code, filled, depth + 1))
                if not found:
                    raise self._error(file, index, f"no caller of {function.name}() is found")
                if any(len(e.template.literal()) > len(template.literal()) for e in found):
                    yield from found
                    return
        yield Entry(
            kind=kind,
            code=code,
            template=_without_parameters(template),
            path=str(file.path.relative_to(self._root)),
            line=file.tokens[index].line,
            caught=template.passes_on is not None,
        )

    def _calls(
        self, file: CppFile, function: Function
    ) -> Iterator[tuple[CppFile, int, list[Tokens]]]:
        """Where it is called, and with what. Not found: calls by way of another name."""
        for other in self._files:
            places = other.places.get(function.name, ())
            if not places:
                continue
            if other is not file and (
                function.is_lambda or not self._can_see(other, file, function)
            ):
                continue
            for index in places:
                opening = _call_opening(other.tokens, index)
                if opening is None:
                    continue
                if not other.functions_at(index):  # a declaration, or the definition
                    continue
                if function.is_lambda and not self._shares_function(other, index, function):
                    continue
                before = other.tokens[index - 1]
                if before.kind == "name" and before.text not in ("return", "else", "throw"):
                    continue
                given = arguments(other.tokens, opening)
                if function.accepts(len(given)) and self._is_meant(other, function, len(given)):
                    yield other, index, given

    def _is_meant(self, other: CppFile, function: Function, num_arguments: int) -> bool:
        """Not a function of the same name that the file has itself."""
        if function in other.functions:
            return True
        return not any(
            own.name == function.name and own.accepts(num_arguments) for own in other.functions
        )

    def _shares_function(self, file: CppFile, index: int, function: Function) -> bool:
        around = file.functions_at(function.first - 1)
        return bool(around) and around[0] in file.functions_at(index)

    def _can_see(self, other: CppFile, file: CppFile, function: Function) -> bool:
        """Whether `other` includes a header that has it."""
        headers = {
            str(header.path)
            for header in self._files
            if header.path.suffix == ".h"
            and (header is file or header.path.stem == file.path.stem)
            and function.name in header.places
        }
        return any(path.endswith("/" + name) for path in headers for name in other.included)

    # ---- what a message is made of

    def _value(self, tokens: Tokens, scope: _Scope) -> Template:
        tokens = _without_brackets(tokens)
        if not tokens:
            return text("")
        if all(token.kind == "string" for token in tokens):
            return text("".join(token.text for token in tokens))
        conditional = self._conditional(tokens, scope)
        if conditional is not None:
            return conditional
        summands = split(tokens, "+")
        if len(summands) > 1 and all(summands):
            values = [self._value(part, scope) for part in summands if part[0].kind != "number"]
            if any(value.literal() for value in values):
                return joined(values)
            return hole(_name(tokens))
        called = _called(tokens)
        if called is not None:
            return self._call(called, tokens, scope)
        if len(tokens) == 1 and tokens[0].kind == "name":
            return self._variable(tokens[0].text, scope)
        if tokens[0].sign == "*" and len(tokens) == 2:
            return self._value(tokens[1:], scope)
        if all(token.kind == "number" for token in tokens):
            return text(tokens[0].text)
        if len(tokens) == 5 and tokens[1].sign in (".", "->") and tokens[2].text == "c_str":
            return self._variable(tokens[0].text, scope)
        return self._words_of_others(tokens, scope) or hole(_name(tokens))

    def _words_of_others(self, tokens: Tokens, scope: _Scope) -> Template | None:
        """What an error that was caught says, or another library."""
        around = scope.file.functions_at(scope.index)
        names = [token.text for token in tokens if token.kind == "name"]
        caught = around and names and names[0] in _caught(scope.file.tokens, around[-1])
        if caught or not _WORDS_OF_OTHERS.isdisjoint(names):
            named = _words(names[0]) if caught else "words of the library"
            return Template(hole(named).parts, passes_on=named)
        return None

    def _conditional(self, tokens: Tokens, scope: _Scope) -> Template | None:
        parts = split(tokens, "?")
        if len(parts) == 1:
            return None
        after = [token for part in parts[1:] for token in [*part, Token("sign", "?", 0)]][:-1]
        ways = split(after, ":")
        if len(ways) != len(parts):
            return hole(_name(tokens))
        first = self._value(ways[0], scope)
        rest = [token for way in ways[1:] for token in [*way, Token("sign", ":", 0)]][:-1]
        return choice([first, self._value(rest, scope)])

    def _call(self, called: str, tokens: Tokens, scope: _Scope) -> Template:
        opening = next(i for i, token in enumerate(tokens) if token.sign in ("(", "{"))
        given = arguments(tokens, opening)
        if called == "fmt::format":
            return self._format(given, scope)
        if called in _AS_IT_IS:
            return self._value(given[0], scope) if given else text("")
        others = self._words_of_others(tokens, scope)
        if others is not None:
            return others
        made = self._made_by(called.rpartition("::")[2], given, scope)
        if made is not None:
            return made
        first = self._value(given[0], scope) if given else text("")
        only = first.parts[0] if len(first.parts) == 1 else None
        return hole(only.name) if isinstance(only, Hole) else hole(_name(tokens))

    def _format(self, given: list[Tokens], scope: _Scope) -> Template:
        pattern = self._value(given[0], scope)
        if pattern.parts and not isinstance(pattern.parts[0], str):
            return hole(_name(given[0]))
        parts: list[Template] = []
        number = 0
        for piece in re.split(r"(\{\{|\}\}|\{[^{}]*\})", pattern.literal()):
            if piece in ("{{", "}}"):
                parts.append(text(piece[0]))
            elif piece.startswith("{"):
                which = piece[1:-1].partition(":")[0]
                parts.append(self._value(given[1 + (int(which) if which else number)], scope))
                number += 1
            else:
                parts.append(text(piece))
        return joined(parts)

    def _variable(self, name: str, scope: _Scope) -> Template:
        if name in scope.values:
            return scope.values[name]
        for function in scope.file.functions_at(scope.index):
            set_to = _set_to(scope.file.tokens, function, name)
            if len(set_to) == 1 and scope.depth < _MAX_DEPTH:
                at, expression = set_to[0]
                if all(token.kind == "number" for token in expression):
                    return hole(_words(name))  # a count that begins there
                inner = _Scope(scope.file, at, scope.values, scope.depth + 1)
                value = self._value(expression, inner)
                if value.literal() or value.passes_on:
                    return value
            if any(parameter.name == name for parameter in function.parameters):
                return hole(_words(name), parameter=name)
        if name.endswith("_"):  # a member
            everywhere = Function("", "", [], 1, len(scope.file.tokens) - 3)
            for at, expression in _set_to(scope.file.tokens, everywhere, name):
                if scope.depth < _MAX_DEPTH:
                    value = self._value(expression, _Scope(scope.file, at, {}, scope.depth + 1))
                    if value.passes_on:
                        return value
        constant = self._text_of_file[scope.file.path].get(name)
        return hole(_words(name)) if constant is None else text(constant)

    def _made_by(self, name: str, given: list[Tokens], scope: _Scope) -> Template | None:
        """By a function of ours that returns a text."""
        if scope.depth >= _MAX_DEPTH:
            return None
        for file in [scope.file, *self._files]:
            if name not in file.places:
                continue
            for function in file.functions:
                if function.name != name or not _is_text(function.returns):
                    continue
                if not function.accepts(len(given)):
                    continue
                values = {
                    parameter.name: self._value(argument, scope)
                    for parameter, argument in zip(function.parameters, given, strict=False)
                }
                made = self._returned(file, function, values, scope.depth + 1)
                return made if made.literal() or len(made.parts) > 1 else None
        return None

    def _returned(
        self, file: CppFile, function: Function, values: dict[str, Template], depth: int
    ) -> Template:
        ways = []
        for index in range(function.first, function.end):
            if file.tokens[index].text != "return" or file.function_at(index) is not function:
                continue
            end = index
            while file.tokens[end].sign != ";":
                end = closing(file.tokens, end) if file.tokens[end].sign in ("(", "[", "{") else end
                end += 1
            ways.append(
                self._value(file.tokens[index + 1 : end], _Scope(file, index, values, depth))
            )
        return choice(ways) if ways else hole(_words(function.name))

    def _error(self, file: CppFile, index: int, what: str) -> SourceError:
        path = file.path.relative_to(self._root)
        return SourceError(f"{path}:{file.tokens[index].line}: {what}")


_SUFFIXES = (".cc", ".h")


def _call_opening(tokens: Tokens, name: int) -> int | None:
    """The bracket of `name(...)` or `name<...>(...)`."""
    at = name + 1
    if tokens[at].sign == "<":
        while tokens[at].sign not in (">", ";", "{"):
            at += 1
        at += 1
    return at if tokens[at].sign == "(" else None


def _is_text(type_text: str) -> bool:
    return "string" in type_text or "char *" in type_text


def _texts(file: CppFile) -> dict[str, str]:
    """Constants of the file: `constexpr const char* kFormat = "bregboost run";`."""
    found = {}
    tokens = file.tokens
    for index in range(len(tokens) - 2):
        if tokens[index].kind == "name" and tokens[index + 1].sign == "=":
            end = index + 2
            while end < len(tokens) and tokens[end].kind == "string":
                end += 1
            if end > index + 2 and tokens[end].sign == ";" and not file.functions_at(index):
                found[tokens[index].text] = "".join(t.text for t in tokens[index + 2 : end])
    return found


def _set_to(tokens: Tokens, function: Function, name: str) -> list[tuple[int, Tokens]]:
    """What a variable of a function is set to; nothing is said if it grows as well."""
    found: list[tuple[int, Tokens]] = []
    for index in range(function.first, function.end):
        if tokens[index].text != name or tokens[index].kind != "name":
            continue
        after, before = tokens[index + 1].text, tokens[index - 1]
        if after == "+=" or (after == "." and tokens[index + 2].text in ("append", "push_back")):
            return []
        declares = after in ("(", "{") and before.kind == "name" and before.text != "return"
        if after == "=" and before.sign not in (".", "->"):
            end = index + 2
            while tokens[end].sign not in (";", ")"):
                end = closing(tokens, end) if tokens[end].sign in ("(", "[", "{") else end
                end += 1
            found.append((index, tokens[index + 2 : end]))
        elif declares:
            found.append((index, tokens[index + 2 : closing(tokens, index + 1)]))
    return found


def _caught(tokens: Tokens, function: Function) -> set[str]:
    """Variables of `catch (const std::exception& error)`."""
    return {
        tokens[closing(tokens, index + 1) - 1].text
        for index in range(function.first, function.end)
        if tokens[index].text == "catch" and tokens[index].kind == "name"
    }


def _without_brackets(tokens: Tokens) -> Tokens:
    while tokens and tokens[0].sign == "(" and closing(tokens, 0) == len(tokens) - 1:
        tokens = tokens[1:-1]
    return tokens


def _called(tokens: Tokens) -> str | None:
    """The name of the function whose call this is, as a whole; of members, the last name."""
    if not tokens or tokens[-1].sign not in (")", "}") or tokens[-1].kind != "sign":
        return None
    opening = next((i for i, token in enumerate(tokens) if token.sign in ("(", "{")), 0)
    if opening == 0 or closing(tokens, opening) != len(tokens) - 1:
        return None
    if not all(token.kind == "name" or token.sign == "::" for token in tokens[:opening]):
        return None
    return "".join(token.text for token in tokens[:opening])


def _words(name: str) -> str:
    """kMaxJsonDepth and max_json_depth_ are both `max json depth`."""
    name = re.sub(r"^k(?=[A-Z])", "", name.rstrip("_"))
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|_", " ", name).lower()


def _name(tokens: Tokens) -> str:
    """A name for the value of an expression."""
    tokens = _without_brackets(tokens)
    while tokens and tokens[0].sign in ("*", "&", "-", "!"):
        tokens = tokens[1:]
    if not tokens:
        return "value"
    if tokens[0].text in _CASTS:
        opening = next(i for i, token in enumerate(tokens) if token.sign == "(")
        return _name(tokens[opening + 1 : closing(tokens, opening)])
    for sign in ("?", "+", "-", "*", "/"):
        parts = [part for part in split(tokens, sign) if part]
        if len(parts) > 1:
            return _name(parts[1] if sign == "?" else parts[0])
    last = tokens[-1]
    if last.sign == "]":
        opening = _opening(tokens)
        return _name(tokens[:opening]) if opening > 0 else "value"
    if last.sign in (")", "}"):
        opening = _opening(tokens)
        function = tokens[opening - 1].text if opening > 0 else ""
        if opening >= 2 and tokens[opening - 2].sign in (".", "->"):
            owner = tokens[: opening - 2]
            if function == "size":
                return f"number of {_name(owner)}"
            if function in _QUIET_METHODS:
                return _name(owner)
            return _words(function)
        given = arguments(tokens, opening)
        if given and tokens[opening - 1].kind == "name":
            return _name(given[0])
        return _words(function) if function else "value"
    return _words(last.text) if last.kind == "name" else last.text


def _opening(tokens: Tokens) -> int:
    """The index of the bracket that the last token closes."""
    for index, token in enumerate(tokens):
        if (
            token.kind == "sign"
            and token.sign in ("(", "[", "{")
            and closing(tokens, index) == len(tokens) - 1
        ):
            return index
    return 0


def _without_parameters(template: Template) -> Template:
    return template.filled({name: hole(_words(name)) for name in template.parameters()})
