"""Values that JSON can hold, and files of them that are never half-written."""

import json
import math
import os
import uuid
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import Any

_SINGLE = {type(None), bool, int, float, str}  # Python's own, which have no parts


def plain(value: object, place: str) -> Any:
    """A deep copy of `value` in Python's own types; NaN and infinities, which JSON lacks, are None.

    Examples
    --------
    >>> import numpy as np
    >>> plain({"value": np.float64("nan"), "rows": (np.int64(3),)}, "data")
    {'value': None, 'rows': [3]}
    """
    if type(value) in _SINGLE:
        return value if type(value) is not float or math.isfinite(value) else None
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise TypeError(f"{place}: key {key!r} ({type(key).__name__}); allowed: str")
        return {str(key): plain(item, f"{place}[{key!r}]") for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        return [plain(item, f"{place}[{i}]") for i, item in enumerate(value)]
    if hasattr(value, "tolist"):  # arrays and numbers of NumPy
        return plain(value.tolist(), place)
    raise TypeError(f"{place}: {value!r} ({type(value).__name__}); allowed: what JSON can hold")


def write_json(path: str | os.PathLike[str], data: object) -> None:
    """Write `data` as JSON; what was there stays until all is written."""
    write_text(path, json.dumps(data, allow_nan=False, indent=1) + "\n")


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write beside `path`, then rename: what was there stays until all is written."""
    target = Path(path)
    beside = target.with_name(f".{target.name}.{uuid.uuid4().hex}")
    try:
        beside.write_bytes(text.encode())
        beside.replace(target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def read_json(path: str | os.PathLike[str]) -> Any:
    """What a file holds; ValueError, naming the file, where it is not JSON."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:  # of JSON and of UTF-8 alike; lists in lists
        raise ValueError(f"path: {os.fspath(path)}; allowed: a JSON file ({error})") from error
