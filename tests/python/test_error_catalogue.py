"""The catalogue of errors is that of the code, and its proof can fail."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.error_catalogue.__main__ import PAGE, ROOT
from scripts.error_catalogue.catalogue import CatalogueError, collect, listed
from scripts.error_catalogue.cpp_errors import CppErrors
from scripts.error_catalogue.cpp_source import SourceError
from scripts.error_catalogue.not_provoked import NOT_PROVOKED
from scripts.error_catalogue.page import page
from scripts.error_catalogue.proof import Happened, check, missing, read
from scripts.error_catalogue.python_errors import PythonErrors, RaiseError

CPP = """
#include <stdexcept>
namespace bregboost {
namespace {
constexpr const char* kFormat = "a format";
std::string Quoted(std::string_view value) { return fmt::format("'{}'", value); }
[[noreturn]] void Fail(std::string_view message, const char* what = "file") {
  throw std::invalid_argument(fmt::format("{} '{}': {}", what, path_, message));
}
}  // namespace
class Reader : public Base {
 public:
  explicit Reader(int rows) : Base(rows), rows_{rows} {
    if (rows == 0) Fail("no rows; allowed: at least 1");  // throw nothing here
    if (rows == 1) Fail("one row; allowed: 2", "stream");
    if (rows < 0) Fail(fmt::format("{} rows{}", rows + 1, rows == -1 ? ", one" : ""));
  }
  void Read(const std::vector<int>& columns) const {
    const std::string found = fmt::format("{} columns", columns.size());
    if (columns.empty()) throw ConstraintError(Code::kEmpty, found + ", " + kFormat, "text");
    try {
      Parse("(", columns);
    } catch (const std::exception& error) {
      throw std::invalid_argument(error.what());
    }
    throw std::runtime_error("no table " + Quoted(columns.name));
  }
};
}  // namespace bregboost
"""

PYTHON = """
def check(field, value, why):
    if value is None:
        raise ValueError(f"{field}: None; allowed: numbers")
    if not value:
        raise TypeError(why)

def use(rows):
    check("rows", rows, f"rows: {len(rows)} of them; allowed: some")
    try:
        return int(rows)
    except ValueError as error:
        raise ValueError(str(error)) from None

class Trouble:
    def error(self):
        if self.first:
            return self.first
        return RuntimeError(f"rows: {len(self.rows)} lost")

def run(trouble):
    raise trouble.error()
"""


def cpp_errors(folder: Path, source: str) -> list[str]:
    (folder / "src" / "data").mkdir(parents=True, exist_ok=True)
    (folder / "src" / "data" / "reader.cc").write_text(source)
    return [error.message for error in listed(CppErrors(folder, ["src"]).entries())]


def python_errors(folder: Path, source: str) -> list[str]:
    (folder / "python").mkdir(exist_ok=True)
    (folder / "python" / "rows.py").write_text(source)
    return [error.message for error in listed(PythonErrors(folder, "python").entries())]


def test_page_is_that_of_the_code():
    made = page(collect(ROOT), NOT_PROVOKED)
    assert PAGE.read_text() == made, "docs/errors.md is not up to date: run `make errors`"


def test_messages_of_cpp(tmp_path: Path):
    assert set(cpp_errors(tmp_path, CPP)) == {
        "file '⟨path⟩': no rows; allowed: at least 1",
        "stream '⟨path⟩': one row; allowed: 2",
        "file '⟨path⟩': ⟨rows⟩ rows[, one]",
        "⟨number of columns⟩ columns, a format",
        "no table '⟨name⟩'",
    }


def test_messages_of_python(tmp_path: Path):
    assert set(python_errors(tmp_path, PYTHON)) == {
        "⟨field⟩: None; allowed: numbers",
        "rows: ⟨number of rows⟩ of them; allowed: some",
        "rows: ⟨number of rows⟩ lost",
    }


@pytest.mark.parametrize(
    "statement",
    ['throw Surprise("what is it");', "throw error;", "throw std::invalid_argument();"],
)
def test_unknown_throws_are_refused(tmp_path: Path, statement: str):
    with pytest.raises(SourceError, match=r"reader\.cc:2: "):
        cpp_errors(tmp_path, f"void Read() {{\n  {statement}\n}}\n")


@pytest.mark.parametrize(
    "statement",
    [
        "raise Surprise('what')",
        "raise made",
        "raise made.elsewhere()",
        "raise ValueError",
    ],
)
def test_unknown_raises_are_refused(tmp_path: Path, statement: str):
    with pytest.raises(RaiseError, match=r"rows\.py:2: "):
        python_errors(tmp_path, f"def use(made):\n    {statement}\n")


def test_vague_messages_are_refused(tmp_path: Path):
    with pytest.raises(CatalogueError, match=r"reader\.cc:2: ⟨field⟩: ⟨rows⟩"):
        cpp_errors(
            tmp_path,
            "void Read(int rows, int field) {\n"
            '  throw std::invalid_argument(fmt::format("{}: {}", field, rows));\n}\n',
        )


def test_errors_that_did_not_happen_are_named(tmp_path: Path):
    cpp_errors(tmp_path, CPP)
    errors = listed(CppErrors(tmp_path, ["src"]).entries())
    record = tmp_path / "record"
    record.write_text(
        "std::invalid_argument\tfile 'a\\\\b': no rows; allowed: at least 1\n"
        "std::invalid_argument\tstream 'a': one row; allowed: 2\n"
        "std::invalid_argument\tfile 'a': -1 rows, one\n"
        "bregboost::ConstraintError\tconstraint 'fnr <= 5%', column 3: 0 columns, a format\n"
    )
    happened = read([record], tmp_path)
    assert happened[0].message == "file 'a\\b': no rows; allowed: at least 1"
    assert [error.message for error in missing(errors, happened)] == ["no table '⟨name⟩'"]
    with pytest.raises(
        CatalogueError, match=r"reader\.cc:26: no test provokes `no table '⟨name⟩'`"
    ):
        check(errors, happened, {})
    check(errors, happened, {"no table '⟨name⟩'": "the reason"})
    of_other_kind = [*happened, Happened(("std::invalid_argument",), "no table 'it'", None)]
    assert [error.message for error in missing(errors, of_other_kind)] == ["no table '⟨name⟩'"]
    with_all = [*happened, Happened(("std::runtime_error",), "no table 'it'", None)]
    assert missing(errors, with_all) == []
    with pytest.raises(CatalogueError, match="a test provokes `no table '⟨name⟩'`"):
        check(errors, with_all, {"no table '⟨name⟩'": "the reason"})


def test_errors_of_bindings_are_known_whatever_the_version_of_nanobind(tmp_path: Path):
    record = tmp_path / "record"
    record.write_text("nanobind::abi1::builtin_exception\tbound: nan; allowed: a number\n")
    (happened,) = read([record], tmp_path)
    assert happened.kinds == ("nb::value_error", "nb::type_error")


def test_python_errors_are_written_down(tmp_path: Path):
    """Also those of an editable install, and with what the package has beside its sources."""
    record = tmp_path / "record"
    recorder = ROOT / "tests" / "error_recorder" / "python"
    script = """
import importlib.resources
import bregboost

assert (importlib.resources.files(bregboost) / "py.typed").is_file()
try:
    bregboost.ConstrainedClassifier("tree", "fnr <= 5%").fit([[1.0]], [1])
except ValueError:
    raise SystemExit(0)
"""
    environment = {"BREGBOOST_ERROR_RECORD": str(record), "PYTHONPATH": str(recorder)}
    for _ in range(2):  # the second time from what the first has compiled
        subprocess.run([sys.executable, "-c", script], env=os.environ | environment, check=True)
        (happened,) = read([record], ROOT)
        assert happened.kinds == ("ValueError",)
        assert happened.message.startswith("estimator: 'tree'; allowed: ")
        assert happened.place is not None
        assert happened.place[0].endswith("bregboost/_backends/__init__.py")
        record.unlink()
    assert list(tmp_path.glob(".cache-*/**/*.pyc"))


def test_a_message_counts_for_the_error_that_says_most(tmp_path: Path):
    cpp_errors(
        tmp_path,
        "void Read(int rows) {\n"
        '  throw std::invalid_argument(fmt::format("rows: {}", rows));\n'
        '  throw std::invalid_argument(fmt::format("rows: {}; allowed: at least 1", rows));\n}\n',
    )
    errors = listed(CppErrors(tmp_path, ["src"]).entries())
    happened = [Happened(("std::invalid_argument",), "rows: 0; allowed: at least 1", None)]
    assert [error.message for error in missing(errors, happened)] == ["rows: ⟨rows⟩"]
