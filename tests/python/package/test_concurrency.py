"""Several trainings at once, in threads and in processes, give the models that one after another
gives; threads are no more than was allowed; nothing of the process is different afterwards."""

import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import sklearn
from concurrent_trainings import TRAININGS, digest, train
from joblib import Parallel, delayed

# Before, LightGBM sets the number of threads of the whole process (its issue 4705).
FIRST_WITH_THREADS_OF_ITS_OWN = "4.3"
TREES = pytest.mark.parametrize("learner", ["lightgbm", "xgboost"])


@pytest.fixture(scope="module")
def one_by_one() -> dict[str, list[str]]:
    """Digests of trainings that had the process for themselves."""
    return {
        learner: [digest(*training) for training in trainings]
        for learner, trainings in TRAININGS.items()
        if pytest.importorskip(learner)
    }


@TREES
def test_threads_train_the_same_models(learner, one_by_one):
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda training: digest(*training), TRAININGS[learner]))
    assert found == one_by_one[learner]
    assert len(set(found)) == 4


def test_both_libraries_train_at_once(one_by_one):
    trainings = TRAININGS["lightgbm"][:2] + TRAININGS["xgboost"][:2]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda training: digest(*training), trainings))
    assert found == one_by_one["lightgbm"][:2] + one_by_one["xgboost"][:2]


@TREES
def test_threads_of_several_threads_each(learner):
    """Where every training has a team of its own, of which none may wait for another's."""
    trainings = TRAININGS[learner]
    before = [digest(*training, n_jobs=2) for training in trainings]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda training: digest(*training, n_jobs=2), trainings))
    assert found == before


@TREES
def test_joblib_processes_train_the_same_models(learner, one_by_one):
    found = Parallel(n_jobs=2, backend="loky")(
        delayed(digest)(*training) for training in TRAININGS[learner]
    )
    assert found == one_by_one[learner]


def run(script: str, **environment: str) -> str:
    """What a process of its own prints; a hang is an error."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        cwd=__file__.rpartition("/")[0],
        env={
            **os.environ,
            "OMP_WAIT_POLICY": "passive",
            "OPENBLAS_NUM_THREADS": "1",  # NumPy's own threads are not counted
            **environment,
        },
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# The parent's OpenMP has threads that its children do not inherit: one that waits for them would
# wait forever. Stock LightGBM does with n_jobs above 1; XGBoost does with any n_jobs, unless
# OMP_NUM_THREADS is 1.
FORKS = pytest.mark.parametrize(("learner", "threads"), [("lightgbm", "4"), ("xgboost", "1")])

FORK = """
    import os
    from concurrent_trainings import TRAININGS, digest
    trainings = TRAININGS[{learner!r}]
    digest(*trainings[0], n_jobs=2)
    alone = [digest(*training) for training in trainings]
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        for training in trainings:
            os.write(writes, digest(*training).encode())
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    print(os.read(reads, 1 << 16).decode() == "".join(alone))
"""


@FORKS
def test_a_child_trains_after_its_parent(learner, threads):
    pytest.importorskip(learner)
    assert run(FORK.format(learner=learner), OMP_NUM_THREADS=threads) == "True\n"


FORKING_JOBLIB = """
    from concurrent_trainings import TRAININGS, digest
    from joblib import Parallel, delayed
    trainings = TRAININGS[{learner!r}]
    alone = [digest(*training) for training in trainings]
    found = Parallel(n_jobs=2, backend="multiprocessing")(
        delayed(digest)(*training) for training in trainings
    )
    print(found == alone)
"""


@FORKS
def test_joblib_forks_train_the_same_models(learner, threads):
    pytest.importorskip(learner)
    assert run(FORKING_JOBLIB.format(learner=learner), OMP_NUM_THREADS=threads) == "True\n"


# OpenMP keeps the threads that it has started: those that are left were used. Fold threads, which
# take turns, are gone when the training is over.
THREADS = """
    import os
    from concurrent_trainings import train
    from small_learners import make
    tasks = lambda: len(os.listdir("/proc/self/task"))
    training = ({learner!r}, {solver!r}, "gap(error, by=sex) <= 5%")
    make({learner!r})  # loads the library
    before = tasks()
    train(*training, {jobs})
    print(tasks() - before)
"""


@TREES
@pytest.mark.parametrize("solver", ["auto", "abpp"])
@pytest.mark.parametrize("jobs", [1, 2])
def test_trainings_keep_to_their_number_of_threads(learner, solver, jobs):
    lightgbm = learner == "lightgbm"
    pytest.importorskip(learner, minversion=FIRST_WITH_THREADS_OF_ITS_OWN if lightgbm else None)
    script = THREADS.format(learner=learner, solver=solver, jobs=f"n_jobs={jobs}")
    reading = learner == "xgboost"  # the library reads a finished model on two threads
    assert int(run(script, OMP_NUM_THREADS="4")) <= jobs - 1 + reading


@pytest.mark.parametrize("learner", ["xgboost", "linear"])
def test_trainings_keep_to_the_environments_number_of_threads(learner):
    if learner != "linear":
        pytest.importorskip(learner)
    jobs = "n_jobs=None" if learner == "xgboost" else ""
    script = THREADS.format(learner=learner, solver="auto", jobs=jobs)
    assert int(run(script, OMP_NUM_THREADS="1")) == 0


def state_of_the_process() -> dict[str, Any]:
    """What a library could change for those who come after it."""
    import lightgbm.basic
    import xgboost
    from threadpoolctl import threadpool_info

    return {
        "threads of libraries": sorted(
            (pool["filepath"], pool["num_threads"]) for pool in threadpool_info()
        ),
        "NumPy errors": np.geterr(),
        "NumPy print options": np.get_printoptions(),
        "NumPy random numbers": str(np.random.get_state()),  # noqa: NPY002
        "random numbers": random.getstate(),
        "warnings": list(warnings.filters),
        "LightGBM's log": (lightgbm.basic._LOGGER, lightgbm.basic._INFO_METHOD_NAME),
        "XGBoost": xgboost.get_config(),
        "scikit-learn": sklearn.get_config(),
        "signals": {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)},
        "environment": dict(os.environ),
        "folder": os.getcwd(),
        "Python's threads": threading.enumerate(),
        "open files": sorted(os.listdir("/proc/self/fd")),
        "hooks": (sys.excepthook, threading.excepthook, sys.stdout, sys.stderr),
    }


@TREES
@pytest.mark.parametrize("solver", ["auto", "abpp"])
def test_nothing_else_of_the_process_changes(learner, solver):
    pytest.importorskip("lightgbm", minversion=FIRST_WITH_THREADS_OF_ITS_OWN)
    pytest.importorskip("xgboost")
    pytest.importorskip("threadpoolctl")
    training = (learner, solver, "gap(error, by=sex) <= 5%")
    train(*training)  # libraries are loaded
    before = state_of_the_process()
    train(*training, n_jobs=2)
    after = state_of_the_process()
    assert after == before
