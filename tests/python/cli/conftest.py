"""The program and tables for it."""

from pathlib import Path

import pytest
from cli_program import Program, make_table


@pytest.fixture(scope="session")
def program_path(build_dir: Path) -> Path:
    path = build_dir / "bregboost"
    if not path.is_file():
        pytest.fail(f"no program {path}: run `make build`")
    return path


@pytest.fixture
def program(program_path: Path, tmp_path: Path) -> Program:
    program = Program(program_path, tmp_path)
    program.write("rows.csv", make_table())
    program.write("new.csv", make_table(300, seed=1))
    return program
