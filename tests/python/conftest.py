"""Options and fixtures that the Python tests share."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="also run the tests marked slow")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--slow"):
        return
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="slow: runs with --slow"))


@pytest.fixture(scope="session")
def build_dir() -> Path:
    """Where CMake put the programs: BREGBOOST_BUILD_DIR, build/dev unless told otherwise."""
    path = ROOT / os.environ.get("BREGBOOST_BUILD_DIR", "build/dev")
    if not path.is_dir():
        pytest.fail(f"no build in {path}: run `make build`, or set BREGBOOST_BUILD_DIR")
    return path
