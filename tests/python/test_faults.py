"""The faults of `make torture`, a few of each."""

import random
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.torture.faults import FAULTS, LEARNERS, Program  # noqa: E402

# Memory may end inside a library, which then ends the process; `make torture` counts how often.
TRIED = [name for name in FAULTS if not name.startswith("memory")]


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("name", TRIED)
def test_a_fault_ends_well(name, learner, build_dir, tmp_path):
    fault, _ = FAULTS[name]
    program = Program(build_dir / "bregboost", tmp_path, learner)
    assert all(fault(program, random.Random(learner), 3))
