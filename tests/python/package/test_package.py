"""The package as it is installed."""

import ast
import importlib.metadata
import subprocess
import sys
from pathlib import Path

import bregboost
import pytest
from bregboost import _core

INSTALLED = pytest.mark.not_sanitized("the package's parts are linked into place, not installed")

# Imports of these libraries fail as they do where nobody installed them.
WITHOUT_LIBRARIES = """
import sys
for name in ("lightgbm", "xgboost", "pandas", "polars", "pyarrow", "matplotlib"):
    sys.modules[name] = None
import bregboost
print(bregboost.parse("fnr <= 5%"), bregboost.rate.error(race=None))
"""


def test_optional_libraries_are_not_needed_to_import() -> None:
    command = [sys.executable, "-c", WITHOUT_LIBRARIES]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("fnr <= 5% error(race=<missing>)\n", "")


@INSTALLED
def test_version_is_that_of_the_project() -> None:
    assert bregboost.__version__ == importlib.metadata.version("bregboost")


def test_package_is_typed() -> None:
    folder = Path(bregboost.__file__).parent
    assert (folder / "py.typed").is_file()


@INSTALLED
def test_stub_names_everything_in_the_extension() -> None:
    stub = ast.parse(Path(_core.__file__).with_name("_core.pyi").read_text())
    named = {node.name for node in stub.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    named |= {node.target.id for node in stub.body if isinstance(node, ast.AnnAssign)}
    assert named == {name for name in vars(_core) if not name.startswith("__")}


def test_public_names_say_where_they_are_found() -> None:
    for name in bregboost.__all__:
        thing = getattr(bregboost, name)
        if isinstance(thing, type) or callable(thing):
            assert thing.__module__ == "bregboost", name
