"""Peers that live in environments of their own, beside the project's: they run as subprocesses."""

import os
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.common.arguments import ROOT
from benchmarks.common.rate_limits import Limit
from benchmarks.peers.apart.request import Request
from benchmarks.peers.method import Answer, DidNotRun, Method, Problem

LONGEST_RUN = 3600  # seconds


@dataclass(frozen=True)
class Environment:
    """A folder that `environments.py` makes; where that failed, the folder says why."""

    name: str

    @property
    def folder(self) -> Path:
        return ROOT / "build" / "peers" / self.name

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    @property
    def requirements(self) -> Path:
        return Path(__file__).parent / f"requirements-{self.name}.txt"

    @property
    def failure(self) -> Path:
        """Has what pip said, if it failed."""
        return self.folder / "did_not_install.txt"

    def check(self) -> None:
        if self.failure.is_file():
            raise DidNotRun(f"did not install: {self.failure.read_text().strip()}")
        if not self.python.is_file():
            raise DidNotRun(
                f"did not install: no environment build/peers/{self.name}; "
                "python -m benchmarks.peers.environments makes it"
            )


class Peer(Method):
    """`function` is `<package>.<function>` as the worker takes it."""

    def __init__(
        self,
        title: str,
        environment: Environment,
        function: str,
        kinds: tuple[Callable[[tuple[Limit, ...]], bool], ...],
        deterministic: bool = True,
        group_at_prediction: bool = False,
    ) -> None:
        self.title, self.environment, self.function = title, environment, function
        self.kinds = kinds  # of limits that it has words for
        self.learners = ("lightgbm",)
        self.deterministic = deterministic
        self.group_at_prediction = group_at_prediction

    def can_do(self, limits: tuple[Limit, ...]) -> bool:
        return any(kind(limits) for kind in self.kinds)

    def package_version(self) -> str:
        """Empty where it is not installed."""
        if not self.environment.python.is_file():
            return ""
        package = self.function.partition(".")[0]
        code = f"from importlib.metadata import version; print(version('{package}'))"
        done = subprocess.run([self.environment.python, "-c", code], capture_output=True, text=True)
        return done.stdout.strip()

    def fit(self, problem: Problem, learner: str) -> Answer:
        self.environment.check()
        test = problem.split.test
        request = Request(
            problem.split.training,
            test.features,
            test.groups,
            problem.limits,
            problem.seed,
            problem.threads,
        )
        with tempfile.TemporaryDirectory() as name:
            source, target = Path(name) / "request.npz", Path(name) / "answer.npz"
            request.write(source)
            self._work(source, target, problem.threads)
            answer = np.load(target)
            return Answer(answer["predicted"], float(answer["seconds"]))

    def _work(self, source: Path, target: Path, threads: int) -> None:
        command = [self.environment.python, "-m", "benchmarks.peers.apart.worker"]
        settings = {"OMP_NUM_THREADS": str(threads), "PYTHONWARNINGS": "ignore"}
        try:
            done = subprocess.run(
                [*command, self.function, source, target],
                cwd=ROOT,
                env=os.environ | settings,
                capture_output=True,
                text=True,
                timeout=LONGEST_RUN,
            )
        except subprocess.TimeoutExpired as error:
            raise DidNotRun(f"failed: more than {LONGEST_RUN} seconds") from error
        if done.returncode != 0:
            lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
            raise DidNotRun(f"failed: {lines[-1]}")
