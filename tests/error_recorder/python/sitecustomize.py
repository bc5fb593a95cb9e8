"""Writes down what the package raises, and where, to the file that BREGBOOST_ERROR_RECORD names.

Python imports this module as it starts if its folder is on PYTHONPATH. Every `raise X` of bregboost
is then read as `raise recorded(X)`, so that nothing else gets slower. So the tests prove that the
errors of docs/errors.md can be provoked, see scripts/error_catalogue.
"""

import ast
import builtins
import json
import os
import sys
from importlib.machinery import ModuleSpec, SourceFileLoader

_RECORD = os.environ.get("BREGBOOST_ERROR_RECORD")
_PACKAGE = "bregboost"
_FUNCTION = "__bregboost_recorded__"
# Beside the record, and of this version of this file.
_CACHE = os.path.join(os.path.dirname(_RECORD or ""), f".cache-{os.stat(__file__).st_mtime_ns}")
_seen: set[str] = set()


def _recorded(raised, path: str, line: int):
    try:
        error = raised() if isinstance(raised, type) else raised
        message = str(error.args[0]) if error.args else ""
        entry = json.dumps([type(error).__name__, message, path, line])
        if entry not in _seen:
            _seen.add(entry)
            descriptor = os.open(_RECORD, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            os.write(descriptor, (entry + "\n").encode())
            os.close(descriptor)
    except OSError:  # no room, or no more files: tests of such faults go on
        pass
    return raised


class _Raises(ast.NodeTransformer):
    def __init__(self, path: str) -> None:
        self._path = path

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        self.generic_visit(node)
        if node.exc is not None:
            function = ast.Name(_FUNCTION, ast.Load())
            arguments = [node.exc, ast.Constant(self._path), ast.Constant(node.lineno)]
            node.exc = ast.copy_location(ast.Call(function, arguments, []), node.exc)
        return node


class _Loader(SourceFileLoader):
    """In place of another loader, such as that of an editable install, which still has the data."""

    def __init__(self, name: str, path: str, replaced) -> None:
        super().__init__(name, path)
        self._replaced = replaced

    def get_resource_reader(self, name):
        return self._replaced.get_resource_reader(name)

    def get_code(self, fullname):
        """Kept for other processes, apart from what Python runs without a record."""
        before = sys.pycache_prefix, sys.dont_write_bytecode
        sys.pycache_prefix, sys.dont_write_bytecode = _CACHE, False
        try:
            return super().get_code(fullname)
        finally:
            sys.pycache_prefix, sys.dont_write_bytecode = before

    def source_to_code(self, data, path, *, _optimize=-1):
        tree = _Raises(os.fspath(path)).visit(ast.parse(data, path))
        return compile(
            ast.fix_missing_locations(tree), path, "exec", dont_inherit=True, optimize=_optimize
        )


class _Finder:
    """Finds what the others find, and loads the package's sources in its own way."""

    def find_spec(self, name, path=None, target=None) -> ModuleSpec | None:
        if name.partition(".")[0] != _PACKAGE:
            return None
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(name, path, target)
            if spec is not None:
                if spec.origin is not None and spec.origin.endswith(".py"):
                    spec.loader = _Loader(name, spec.origin, spec.loader)
                return spec
        return None


if _RECORD:
    setattr(builtins, _FUNCTION, _recorded)
    sys.meta_path.insert(0, _Finder())
