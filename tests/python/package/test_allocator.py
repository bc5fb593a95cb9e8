"""Memory on Dask's workers: kept from round to round while a training runs, and not after."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.not_sanitized("the sanitizer has an allocator of its own")

# Each round allocates, fills and frees one array of 8 MB; pages that are mapped anew are counted.
PROGRAM = """
import ctypes, resource
from bregboost._allocator import keeping_memory

c = ctypes.CDLL(None)
c.malloc.restype = ctypes.c_void_p
c.free.argtypes = [ctypes.c_void_p]
c.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]

def pages(rounds=20, size=8_000_000):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(rounds):
        array = c.malloc(size)
        c.memset(array, 1, size)
        c.free(array)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

before = pages()
with keeping_memory():
    with keeping_memory():
        pages(1)
    kept = pages()
after = pages()
print(before, kept, after)
"""
PAGES_OF_ALL_ROUNDS = 20 * 8_000_000 // 4096


def pages(**variables: str) -> list[int]:
    """Before, in and after the context."""
    inherited = {key: value for key, value in os.environ.items() if "MALLOC_" not in key}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=inherited | variables, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [int(word) for word in done.stdout.split()]


@pytest.mark.skipif(sys.platform != "linux", reason="glibc's allocator")
@pytest.mark.parametrize("more", [{}, {"MALLOC_MMAP_THRESHOLD_": "100000"}])
def test_rounds_share_memory_while_a_training_runs(more):
    before, kept, after = pages(MALLOC_TRIM_THRESHOLD_="65536", **more)
    assert before > 0.9 * PAGES_OF_ALL_ROUNDS
    assert kept < 0.1 * PAGES_OF_ALL_ROUNDS
    assert after > 0.9 * PAGES_OF_ALL_ROUNDS


@pytest.mark.parametrize("setting", [{}, {"MALLOC_TRIM_THRESHOLD_": "many"}])
def test_where_nothing_was_set_nothing_is_changed(setting):
    before, kept, after = pages(**setting)
    assert max(kept, after) <= before
