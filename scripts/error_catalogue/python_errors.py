"""The errors that the Python package raises, as templates of their messages.

As in C++: a message that callers hand over is worked out for each of them, and a `raise` that is
not understood is an error. A name that they hand over is no message: `⟨field⟩: all zero` tells.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .entry import Entry
from .templates import Template, choice, hole, joined, text

_KNOWN = {
    "AttributeError",
    "ConnectionResetError",
    "ImportError",
    "KeyError",
    "NotFittedError",
    "PeerError",
    "RuntimeError",
    "TypeError",
    "ValueError",
}
_MAX_DEPTH = 4

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class RaiseError(Exception):
    """A `raise` that the scanner does not understand."""


@dataclass
class _Module:
    path: Path
    tree: ast.Module
    parent: dict[ast.AST, ast.AST]
    calls: list[ast.Call]
    imported: set[str]

    def around(self, node: ast.AST) -> list[_Function]:
        """The functions that a node is in, the innermost first."""
        found: list[_Function] = []
        while node in self.parent:
            node = self.parent[node]
            if isinstance(node, _Function):
                found.append(node)
        return found


class PythonErrors:
    def __init__(self, root: Path, folder: str) -> None:
        self._root = root
        self._modules = [_read(path) for path in sorted((root / folder).rglob("*.py"))]

    def entries(self) -> Iterator[Entry]:
        for module in self._modules:
            for node in ast.walk(module.tree):
                if isinstance(node, ast.Raise):
                    yield from self._raised(module, node)

    def _raised(self, module: _Module, node: ast.Raise) -> Iterator[Entry]:
        raised = node.exc
        if raised is None:  # what was caught is raised again
            return
        if isinstance(raised, ast.Name) and raised.id in _caught(module, node):
            return
        made = _made_by_method(module, raised)
        for error in made or [raised]:
            kind = self._kind(module, error)
            if kind is None or not isinstance(error, ast.Call) or not error.args:
                if made:  # what was caught, maybe with words about where
                    continue
                place = f"{module.path.relative_to(self._root)}:{node.lineno}"
                known = ", ".join(sorted(_KNOWN))
                raise RaiseError(f"{place}: raises {ast.unparse(raised)!r}; known: {known}")
            template = self._value(module, error.args[0], {}, 0)
            at = error if made else node
            yield from self._for_callers(module, at, at.lineno, kind, template, 0)

    def _kind(self, module: _Module, raised: ast.expr) -> str | None:
        if not isinstance(raised, ast.Call) or not isinstance(raised.func, ast.Name):
            return None
        name = raised.func.id
        if name in _KNOWN:
            return name
        for function in module.around(raised):
            for value in _set_to(function, name):
                if isinstance(value, ast.IfExp):
                    kinds = [getattr(way, "id", "") for way in (value.body, value.orelse)]
                    if set(kinds) <= _KNOWN:
                        return " or ".join(sorted(kinds))
        return None

    def _for_callers(
        self, module: _Module, node: ast.AST, line: int, kind: str, template: Template, depth: int
    ) -> Iterator[Entry]:
        """One for each caller that hands over words of the message."""
        for function in module.around(node):
            if template.is_telling() or isinstance(function, ast.Lambda) or depth >= _MAX_DEPTH:
                continue
            names = {argument.arg for argument in _arguments(function)} & template.parameters()
            if not names:
                continue
            found: list[Entry] = []
            for caller, call in self._calls(module, function):
                given = _given(function, call)
                values = {
                    name: self._value(caller, given[name], {}, 0) for name in names if name in given
                }
                filled = template.filled(values)
                found.extend(self._for_callers(caller, call, line, kind, filled, depth + 1))
            if any(len(entry.template.literal()) > len(template.literal()) for entry in found):
                yield from found
                return
        yield Entry(
            kind=kind,
            code="",
            template=template.filled({name: hole(name) for name in template.parameters()}),
            path=str(module.path.relative_to(self._root)),
            line=getattr(node, "lineno", line),
            caught=template.passes_on is not None,
        )

    def _calls(self, module: _Module, function: _Function) -> Iterator[tuple[_Module, ast.Call]]:
        for other in self._modules:
            if other is not module and function.name not in other.imported:
                continue
            for node in other.calls:
                if _called(node) == function.name:
                    of_object = isinstance(node.func, ast.Attribute)
                    if of_object and getattr(node.func.value, "id", "") != "self":
                        continue  # of which class, cannot be told
                    if function not in module.around(node):
                        yield other, node

    # ---- what a message is made of

    def _value(
        self, module: _Module, node: ast.expr, values: Mapping[str, Template], depth: int
    ) -> Template:
        if isinstance(node, ast.Constant):
            return text(str(node.value))
        if isinstance(node, ast.JoinedStr):
            return joined([self._piece(module, piece, values, depth) for piece in node.values])
        if isinstance(node, ast.IfExp):
            ways = (node.body, node.orelse)
            return choice([self._value(module, way, values, depth) for way in ways])
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            sides = [self._value(module, side, values, depth) for side in (node.left, node.right)]
            if any(side.literal() for side in sides):
                return joined(sides)
        if isinstance(node, ast.Name):
            return self._variable(module, node, values, depth)
        if isinstance(node, ast.Call):
            made = self._made_by(module, node, values, depth)
            if made is not None:
                return made
        return self._words_of_others(module, node) or hole(_name(node))

    def _piece(
        self, module: _Module, node: ast.expr, values: Mapping[str, Template], depth: int
    ) -> Template:
        if not isinstance(node, ast.FormattedValue):
            return self._value(module, node, values, depth)
        made = self._value(module, node.value, values, depth)
        if node.conversion == ord("r") and made.literal():
            return hole(_name(node.value))
        return made

    def _variable(
        self, module: _Module, node: ast.Name, values: Mapping[str, Template], depth: int
    ) -> Template:
        if node.id in values:
            return values[node.id]
        if node.id in _caught(module, node):
            return Template(hole(node.id).parts, passes_on=node.id)
        for function in module.around(node):
            set_to = [] if isinstance(function, ast.Lambda) else _set_to(function, node.id)
            if set_to and depth < _MAX_DEPTH:
                inner = {**values, node.id: hole(_name(node))}  # `text = text.strip()`
                made = choice([self._value(module, way, inner, depth + 1) for way in set_to])
                if made.literal() or len(set_to) > 1:
                    return made
            listed = _listed(function, node.id)
            if listed:
                return choice([self._value(module, way, values, depth + 1) for way in listed])
            if any(argument.arg == node.id for argument in _arguments(function)):
                return hole(node.id, parameter=node.id)
        for value in _set_to(module.tree, node.id):
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                return text(value.value)
        return hole(node.id.strip("_").lower())

    def _made_by(
        self, module: _Module, node: ast.Call, values: Mapping[str, Template], depth: int
    ) -> Template | None:
        """By a function of the module that returns a text."""
        if not isinstance(node.func, ast.Name) or depth >= _MAX_DEPTH:
            return None
        if node.func.id in ("str", "repr") and node.args:
            return self._words_of_others(module, node.args[0]) or hole(_name(node.args[0]))
        for function in module.tree.body:
            if not isinstance(function, ast.FunctionDef) or function.name != node.func.id:
                continue
            given = {
                name: self._value(module, value, values, depth + 1)
                for name, value in _given(function, node).items()
            }
            ways = [
                self._value(module, way.value, given, depth + 1)
                for way in ast.walk(function)
                if isinstance(way, ast.Return) and way.value is not None
            ]
            if ways and all(way.literal() for way in ways):
                return choice(ways)
        return None

    def _words_of_others(self, module: _Module, node: ast.expr) -> Template | None:
        names = [part.id for part in ast.walk(node) if isinstance(part, ast.Name)]
        caught = [name for name in names if name in _caught(module, node)]
        return Template(hole(caught[0]).parts, passes_on=caught[0]) if caught else None


def _read(path: Path) -> _Module:
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    parent = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    calls = [node for node in parent if isinstance(node, ast.Call)]
    imported = {
        alias.name for node in parent if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    return _Module(path, tree, parent, calls, imported)


def _made_by_method(module: _Module, raised: ast.expr) -> list[ast.expr]:
    """What `raise trouble.error()` may be: whatever a method of that name returns."""
    if not isinstance(raised, ast.Call) or not isinstance(raised.func, ast.Attribute):
        return []
    return [
        way.value
        for function in module.parent
        if isinstance(function, ast.FunctionDef) and function.name == raised.func.attr
        for way in ast.walk(function)
        if isinstance(way, ast.Return) and way.value is not None
    ]


def _caught(module: _Module, node: ast.AST) -> set[str]:
    """The variables of `except ... as error` that a node can see."""
    scope = module.around(node)
    return _handlers(scope[-1]) if scope else set()


@cache
def _handlers(function: _Function) -> set[str]:
    return {
        handler.name
        for handler in ast.walk(function)
        if isinstance(handler, ast.ExceptHandler) and handler.name
    }


def _arguments(function: _Function) -> list[ast.arg]:
    return [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]


def _given(function: _Function, call: ast.Call) -> dict[str, ast.expr]:
    """The arguments of a call by the names of the parameters, defaults included."""
    positional = [argument.arg for argument in [*function.args.posonlyargs, *function.args.args]]
    defaults = function.args.defaults
    given = dict(zip(positional[len(positional) - len(defaults) :], defaults, strict=True))
    given |= {
        argument.arg: default
        for argument, default in zip(
            function.args.kwonlyargs, function.args.kw_defaults, strict=True
        )
        if default is not None
    }
    if positional and positional[0] in ("self", "cls") and isinstance(call.func, ast.Attribute):
        positional = positional[1:]
    given |= dict(zip(positional, call.args, strict=False))
    return given | {word.arg: word.value for word in call.keywords if word.arg is not None}


@cache
def _set_to(scope: ast.AST, name: str) -> list[ast.expr]:
    """What a variable is set to; nothing is said if it is set in other ways as well."""
    found: list[ast.expr] = []
    for node in ast.walk(scope):
        if isinstance(
            node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.For | ast.comprehension
        ):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [
                part.id
                for target in targets
                for part in ast.walk(target)
                if isinstance(part, ast.Name)
            ]
            if name not in names:
                continue
            plain = isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(
                targets[0], ast.Name
            )
            if not plain or node.value is None:
                return []
            found.append(node.value)
    return found


def _listed(function: _Function, name: str) -> list[ast.expr]:
    """What a variable is in a loop over a list that is written out: `for a, b in ((1, 2),)`."""
    for node in ast.walk(function):
        if not isinstance(node, ast.For) or not isinstance(node.target, ast.Tuple):
            continue
        names = [getattr(part, "id", "") for part in node.target.elts]
        rows = node.iter.elts if isinstance(node.iter, ast.Tuple | ast.List) else []
        if name in names and rows and all(isinstance(row, ast.Tuple) for row in rows):
            return [row.elts[names.index(name)] for row in rows]
    return []


def _called(node: ast.Call) -> str:
    if isinstance(node.func, ast.Name):
        return node.func.id
    return node.func.attr if isinstance(node.func, ast.Attribute) else ""


def _name(node: ast.expr) -> str:
    """A name for the value of an expression."""
    if isinstance(node, ast.Name):
        return node.id.strip("_").replace("_", " ")
    if isinstance(node, ast.Attribute):
        return node.attr.strip("_").replace("_", " ")
    if isinstance(node, ast.Subscript):
        return _name(node.value)
    if isinstance(node, ast.Call):
        called = _called(node)
        if called == "len" and node.args:
            return f"number of {_name(node.args[0])}"
        if called in ("join", "map", "filter") and node.args:
            return _name(node.args[-1])
        if called == "type" and node.args:
            return f"type of {_name(node.args[0])}"
        return _name(node.args[0]) if node.args else _name(node.func)
    if isinstance(node, ast.Attribute | ast.Starred):
        return _name(node.value)
    if isinstance(node, ast.BinOp):
        return _name(node.left)
    if isinstance(node, ast.GeneratorExp | ast.ListComp):
        return _name(node.generators[0].iter)
    return "value"
