"""C++ files as tokens, and the functions in them: as much of C++ as our sources use."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

_TOKEN = re.compile(
    r"""
    (?P<space>\s+ | //[^\n]* | /\*.*?\*/ | ^\#(?:[^\n\\]|\\.|\\\n)*)
  | (?P<raw>(?:u8|[LuU])?R"(?P<mark>[^(\s]*)\((?P<inside>.*?)\)(?P=mark)")
  | (?P<string>(?:u8|[LuU])?"(?:[^"\\\n]|\\.)*")
  | (?P<character>'(?:[^'\\\n]|\\.)+')
  | (?P<name>[A-Za-z_]\w*)
  | (?P<number>\.?\d(?:[eEpP][+-]|'?[\w.])*)
  | (?P<sign>::|->|\+\+|--|\+=|-=|==|!=|<=|>=|&&|\|\||[^\s\w])
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_CLOSING = {"(": ")", "[": "]", "{": "}"}


class SourceError(Exception):
    """Code that the scanner does not understand."""


@dataclass(frozen=True)
class Token:
    kind: str  # name, number, string, character, sign
    text: str  # of a string: what it holds
    line: int

    @property
    def sign(self) -> str:
        return self.text if self.kind == "sign" else ""


Tokens = list[Token]


@dataclass
class Parameter:
    name: str
    type: str
    default: Tokens | None = None


@dataclass
class Function:
    """A function, member function or lambda: `void Place::Fail(std::string message) {...}`."""

    name: str
    returns: str
    parameters: list[Parameter]
    first: int  # of its body, an index into the file's tokens
    end: int
    is_lambda: bool = False

    def accepts(self, num_arguments: int) -> bool:
        needed = sum(parameter.default is None for parameter in self.parameters)
        return needed <= num_arguments <= len(self.parameters)


@dataclass
class CppFile:
    path: Path
    tokens: Tokens
    included: tuple[str, ...] = ()
    functions: list[Function] = field(default_factory=list)
    places: dict[str, list[int]] = field(default_factory=dict)  # of each name among the tokens

    def function_at(self, index: int) -> Function | None:
        """The innermost one around a token."""
        around = [f for f in self.functions if f.first <= index < f.end]
        return max(around, key=lambda f: f.first, default=None)

    def functions_at(self, index: int) -> list[Function]:
        """All around a token, the innermost first: a lambda and the function that it is in."""
        around = [f for f in self.functions if f.first <= index < f.end]
        return sorted(around, key=lambda f: -f.first)


def read(path: Path) -> CppFile:
    source = path.read_text(encoding="utf-8")
    file = CppFile(path, list(_tokens(source, path)))
    file.included = tuple(re.findall(r'#include "([^"]+)"', source))
    for index, token in enumerate(file.tokens):
        if token.kind == "name":
            file.places.setdefault(token.text, []).append(index)
    file.functions = list(_functions(file.tokens))
    return file


def _tokens(source: str, path: Path) -> Iterator[Token]:
    at, line = 0, 1
    while at < len(source):
        found = _TOKEN.match(source, at)
        if found is None:
            raise SourceError(f"{path}:{line}: no token of C++")
        kind = found.lastgroup
        if found["raw"] is not None:
            yield Token("string", found["inside"], line)
        elif kind == "string":
            body = found["string"]
            yield Token("string", ast.literal_eval(body[body.index('"') :]), line)
        elif kind != "space":
            yield Token(kind, found[0], line)
        line += found[0].count("\n")
        at = found.end()


def closing(tokens: Tokens, opening: int) -> int:
    """The index of the bracket that closes the one at `opening`."""
    stack: list[str] = []
    for index in range(opening, len(tokens)):
        if tokens[index].kind != "sign":
            continue
        sign = tokens[index].text
        if sign in _CLOSING:
            stack.append(_CLOSING[sign])
        elif sign in _CLOSING.values():
            if sign != stack.pop():
                break
            if not stack:
                return index
    raise SourceError(f"line {tokens[opening].line}: a bracket that is not closed")


def split(tokens: Tokens, separator: str) -> list[Tokens]:
    """The parts between separators that no bracket encloses."""
    parts: list[Tokens] = [[]]
    depth = 0
    for token in tokens:
        if token.kind == "sign":
            depth += (token.text in _CLOSING) - (token.text in _CLOSING.values())
            if depth == 0 and token.text == separator:
                parts.append([])
                continue
        parts[-1].append(token)
    return parts


def arguments(tokens: Tokens, opening: int) -> list[Tokens]:
    """Of the call whose bracket opens there."""
    inside = tokens[opening + 1 : closing(tokens, opening)]
    return split(inside, ",") if inside else []


def _functions(tokens: Tokens) -> Iterator[Function]:
    start = 0  # of the statement
    index = 0
    while index < len(tokens):
        token = tokens[index]
        if token.kind == "sign":
            if token.sign in (";", "}") or (
                token.sign == ":"
                and index > 0
                and tokens[index - 1].text
                in (
                    "public",
                    "private",
                    "protected",
                )
            ):
                start = index + 1
            elif token.sign == "{":
                head = tokens[start:index]
                if _initialises(head):
                    index = closing(tokens, index) + 1
                    continue
                function = _function(head)
                if function is not None:
                    function.first, function.end = index, closing(tokens, index)
                    yield function
                    yield from _lambdas(tokens, function.first, function.end)
                    index = function.end
                start = index + 1
        index += 1


def _initialises(head: Tokens) -> bool:
    """Whether a `{` after this belongs to an initialiser: `: values_{`, `int count{`, `= {`."""
    if not head or _opens_scope(head):
        return False
    last = head[-1]
    if last.kind == "sign":
        return last.sign in ("=", ",", "(", ">")
    after_parameters = any(token.sign == ":" for token in head) and _parameter_list(head)
    if after_parameters:
        return last.kind == "name" and last.text not in ("const", "noexcept", "override")
    return _parameter_list(head) is None


def _opens_scope(head: Tokens) -> bool:
    words = {token.text for token in head}
    return "namespace" in words or (
        not words.isdisjoint({"struct", "class", "enum", "union"}) and "(" not in words
    )


def _parameter_list(head: Tokens) -> tuple[int, int] | None:
    """Where the brackets of `name(...)` are."""
    angle = 0
    for index, token in enumerate(head):
        if token.kind != "sign":
            continue
        if token.sign == "<":
            angle += 1
        elif token.sign == ">":
            angle -= 1
        elif token.sign == "=" and angle == 0:
            return None
        elif token.sign == "(" and index > 0 and head[index - 1].kind == "name" and angle == 0:
            return index, closing(head, index)
    return None


def _function(head: Tokens) -> Function | None:
    if not head or _opens_scope(head):
        return None
    place = _parameter_list(head)
    if place is None:
        return None
    opening, end = place
    name = head[opening - 1].text
    begin = opening - 1
    while begin >= 2 and head[begin - 1].sign == "::":
        begin -= 2
    returns = " ".join(token.text for token in head[:begin])
    return Function(name, returns, parameters(head[opening + 1 : end]), 0, 0)


def parameters(tokens: Tokens) -> list[Parameter]:
    found = []
    for part in _split_types(tokens):
        if not part:
            continue
        declaration = split(part, "=")
        names = [token for token in declaration[0] if token.kind == "name"]
        if not names:
            continue
        type_text = " ".join(token.text for token in declaration[0])
        default = declaration[1] if len(declaration) > 1 else None
        found.append(Parameter(names[-1].text, type_text, default))
    return found


def _split_types(tokens: Tokens) -> list[Tokens]:
    """Between commas that are not in `std::function<void(int, int)>` either."""
    parts: list[Tokens] = [[]]
    depth = 0
    for token in tokens:
        if token.kind == "sign":
            depth += (token.sign in ("(", "[", "{", "<")) - (token.sign in (")", "]", "}", ">"))
            if depth == 0 and token.sign == ",":
                parts.append([])
                continue
        parts[-1].append(token)
    return parts


def _lambdas(tokens: Tokens, first: int, end: int) -> Iterator[Function]:
    """`const auto fail = [&](const std::string& message) { ... };` within a function."""
    for index in range(first, end):
        if tokens[index].sign != "[" or tokens[index].kind != "sign":
            continue
        before = tokens[index - 1]
        if before.kind in ("name", "number") and before.text not in ("return",):
            continue  # a subscript
        if before.sign in (")", "]"):
            continue
        after = closing(tokens, index) + 1
        taken: list[Parameter] = []
        if tokens[after].sign == "(":
            close = closing(tokens, after)
            taken = parameters(tokens[after + 1 : close])
            after = close + 1
        while after < end and tokens[after].sign not in ("{", ";", ")", ","):
            after += 1
        if tokens[after].sign != "{":
            continue
        name = tokens[index - 2].text if before.sign == "=" else ""
        yield Function(name, "", taken, after, closing(tokens, after), is_lambda=True)
