"""What passes between the benchmark and a peer in an environment of its own: arrays in a file and
one line of JSON with them. Needs NumPy alone."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from benchmarks.common import rate_limits
from benchmarks.common.rate_limits import Limit
from benchmarks.common.rows import Rows


@dataclass(frozen=True)
class Request:
    training: Rows
    test_features: np.ndarray
    test_groups: np.ndarray | None
    limits: tuple[Limit, ...]
    seed: int
    threads: int

    def write(self, path: Path) -> None:
        words = {
            "limits": [{"kind": type(limit).__name__} | asdict(limit) for limit in self.limits],
            "seed": self.seed,
            "threads": self.threads,
        }
        arrays = {
            "features": self.training.features,
            "labels": self.training.labels,
            "groups": self.training.groups,
            "test_features": self.test_features,
            "test_groups": self.test_groups,
        }
        given = {name: array for name, array in arrays.items() if array is not None}
        np.savez(path, words=json.dumps(words), **given)

    @classmethod
    def read(cls, path: Path) -> "Request":
        content = np.load(path)
        words = json.loads(str(content["words"]))
        groups = content.get("groups")
        return cls(
            Rows(content["features"], content["labels"], groups),
            content["test_features"],
            content.get("test_groups"),
            tuple(limit_of(fields) for fields in words["limits"]),
            words["seed"],
            words["threads"],
        )


def limit_of(fields: dict) -> Limit:
    values = dict(fields)
    return getattr(rate_limits, values.pop("kind"))(**values)
