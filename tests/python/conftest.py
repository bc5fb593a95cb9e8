"""Options and fixtures that the Python tests share."""

import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import stock_models
from cli_program import Program, make_table
from exported_models import Case, export_all

ROOT = Path(__file__).resolve().parents[2]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="also run the tests marked slow")


def pytest_configure() -> None:
    # A shell that starts the tests in the background lets them, and all that they start, ignore
    # Ctrl-C.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if "slow" in item.keywords and not config.getoption("--slow"):
            item.add_marker(pytest.mark.skip(reason="slow: runs with --slow"))
        unfit = item.get_closest_marker("not_sanitized")
        if unfit is not None and "BREGBOOST_SANITIZED" in os.environ:
            item.add_marker(pytest.mark.skip(reason=f"sanitized: {unfit.args[0]}"))


@pytest.fixture(scope="session")
def build_dir() -> Path:
    """Where CMake put the programs: BREGBOOST_BUILD_DIR, build/dev unless told otherwise."""
    path = ROOT / os.environ.get("BREGBOOST_BUILD_DIR", "build/dev")
    if not path.is_dir():
        pytest.fail(f"no build in {path}: run `make build`, or set BREGBOOST_BUILD_DIR")
    return path


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The data sets that are not part of the project: BREGBOOST_DATA, ../shared/data by default."""
    return ROOT / os.environ.get("BREGBOOST_DATA", "../shared/data")


@pytest.fixture(scope="session")
def constrained_linear(build_dir: Path) -> Path:
    """The example program."""
    path = build_dir / "examples" / "constrained_linear"
    if not path.is_file():
        pytest.fail(f"no program {path}: run `make build`")
    return path


@pytest.fixture(scope="session")
def constrained_boosting(build_dir: Path) -> Path:
    """The example program that trains LightGBM and XGBoost."""
    path = build_dir / "examples" / "constrained_boosting"
    if not path.is_file():
        pytest.fail(f"no program {path}: run `make build`")
    return path


@pytest.fixture
def train(constrained_linear: Path, tmp_path: Path) -> Callable[..., dict]:
    """Runs the example program on a table with these arguments and returns what it wrote."""

    def run(table: pd.DataFrame, *arguments: str) -> dict:
        data, out = tmp_path / "data.csv", tmp_path / "result.json"
        table.to_csv(data, index=False)
        subprocess.run([constrained_linear, "--data", data, "--out", out, *arguments], check=True)
        return json.loads(out.read_text())

    return run


@pytest.fixture
def cli(build_dir: Path, tmp_path: Path) -> Program:
    """`bregboost`, in a folder with `rows.csv` to train on and `new.csv` to predict."""
    path = build_dir / "bregboost"
    if not path.is_file():
        pytest.fail(f"no program {path}: run `make build`")
    program = Program(path, tmp_path)
    program.write("rows.csv", make_table())
    program.write("new.csv", make_table(300, seed=1))
    return program


@pytest.fixture(scope="session")
def export_model(build_dir: Path) -> Path:
    """The program that exports models."""
    path = build_dir / "tests" / "cpp" / "export_model"
    if not path.is_file():
        pytest.fail(f"no program {path}: run `make build`")
    return path


@pytest.fixture(scope="session")
def rows() -> dict[str, np.ndarray]:
    """Features and targets that the stock libraries train on."""
    return stock_models.make_rows()


@pytest.fixture(scope="session")
def trained_models(rows: dict[str, np.ndarray], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of models that the stock libraries trained on custom derivatives."""
    return stock_models.train_all(rows, tmp_path_factory.mktemp("trained"))


@pytest.fixture(scope="session")
def exported(
    export_model: Path, trained_models: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[Case], Path]:
    """The exported model of a case; all are in one folder."""
    folder = tmp_path_factory.mktemp("exported")
    return export_all(export_model, trained_models, folder).__getitem__
