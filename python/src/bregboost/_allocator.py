"""The C allocator of this process, while a training allocates the same large arrays every round."""

import contextlib
import ctypes
import os
import threading
from collections.abc import Iterator

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of mallopt, in glibc's malloc.h
_TRIM_VARIABLE, _MMAP_VARIABLE = "MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"
_DEFAULT_MMAP_THRESHOLD = 128 * 1024
_LARGEST_MMAP_THRESHOLD = 32 * 1024 * 1024  # what glibc takes at most
_KEPT = 256 * 1024 * 1024

_lock = threading.Lock()
_users = 0


@contextlib.contextmanager
def keeping_memory() -> Iterator[None]:
    """Memory that one round frees is there for the next, and goes to the system at the end.

    Dask starts its workers with MALLOC_TRIM_THRESHOLD_ set, so that what tasks free goes back to
    the system at once. glibc then also stops to learn which large arrays come again: each of them,
    in every round, is mapped and cleared anew by the system. Without that variable it does learn,
    and nothing is done here.
    """
    global _users
    library = _glibc()
    if library is None:
        yield
        return
    with _lock:
        _users += 1
        _set(library, trim=_KEPT, mmap=_LARGEST_MMAP_THRESHOLD)
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                mmap = os.environ.get(_MMAP_VARIABLE, _DEFAULT_MMAP_THRESHOLD)
                _set(library, trim=int(os.environ[_TRIM_VARIABLE]), mmap=int(mmap))
                library.malloc_trim(0)


def _set(library: ctypes.CDLL, trim: int, mmap: int) -> None:
    library.mallopt(_TRIM_THRESHOLD, trim)
    library.mallopt(_MMAP_THRESHOLD, mmap)


def _glibc() -> ctypes.CDLL | None:
    """Unless it is another C library, or has no settings to be changed."""
    texts = [os.environ.get(_TRIM_VARIABLE, ""), os.environ.get(_MMAP_VARIABLE, "0")]
    if not all(text.isdecimal() for text in texts):
        return None
    library = ctypes.CDLL(None)
    is_glibc = all(hasattr(library, name) for name in ("mallopt", "malloc_trim"))
    return library if is_glibc else None
