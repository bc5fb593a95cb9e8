"""Faults by the hundred: what is tried, and how often all was well afterwards.

Run by `make torture`. Each fault is put to the command line in a folder of its own. It ends well if
the training has the right model, or one line that names what is wrong; never with a signal, a hang
or another model.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reliability.md"
BEGIN, END = "<!-- faults: begin -->", "<!-- faults: end -->"
LEARNERS = {"lightgbm": "model.txt", "xgboost": "model.ubj"}
LONGEST = 120.0  # seconds: a hang


class Broken(AssertionError):
    """A fault that did not end well."""


@dataclass(frozen=True)
class Ended:
    code: int
    said: str

    def refuses(self, *parts: str) -> bool:
        return self.code in (1, 3, 5) and "\n" not in self.said and all(
            part in self.said for part in parts
        )  # fmt: skip


class Program:
    """`bregboost` on the same small table."""

    def __init__(self, path: Path, folder: Path, learner: str) -> None:
        self.path, self.folder, self.learner = path, folder, learner
        self.checkpoint = folder / "checkpoints" / "training.checkpoint"
        rng = np.random.default_rng(1)
        table = pd.DataFrame(rng.normal(size=(600, 4)), columns=list("abcd"))
        table["group"] = rng.choice(["x", "y"], 600)
        score = table["a"] + 0.5 * (table["group"] == "x") + rng.logistic(size=600)
        table["label"] = (score > 0).astype(int)
        table.to_csv(folder / "rows.csv", index=False)

    def start(self, *flags: str, before: str = "") -> subprocess.Popen:
        train = [
            "train", "--data", "rows.csv", "--label", "label", "--group", "group",
            "--learner", self.learner, "--constraint", "gap(selection_rate, by=group) <= 5%",
            "--rounds", "60", "--quiet", "--no-compare", "--force", "--out", "run",
            "--checkpoint-dir", "checkpoints", "--checkpoint-every", "10", *flags,
        ]  # fmt: skip
        return self._start(train, before)

    def _start(self, arguments: list[str], before: str = "") -> subprocess.Popen:
        return subprocess.Popen(
            ["bash", "-c", f'{before} exec "$0" "$@"', str(self.path), *arguments],
            cwd=self.folder,
            env={**os.environ, "VIRTUAL_ENV": sys.prefix, "OMP_WAIT_POLICY": "passive"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )

    def train(self, *flags: str, before: str = "") -> Ended:
        return ended(self.start(*flags, before=before))

    def predict(self) -> Ended:
        return ended(
            self._start(["predict", "--model", "run", "--data", "rows.csv", "--out", "p.csv"])
        )

    def model(self) -> bytes:
        return (self.folder / "run" / LEARNERS[self.learner]).read_bytes()


def ended(process: subprocess.Popen) -> Ended:
    try:
        _, said = process.communicate(timeout=LONGEST)
    except subprocess.TimeoutExpired:
        process.kill()
        raise Broken(f"nothing after {LONGEST:.0f} seconds") from None
    return Ended(process.returncode, said.strip())


def require(holds: bool, what: object) -> None:
    if not holds:
        raise Broken(str(what))


def whole(program: Program) -> bytes:
    """The model of a training that nothing happens to."""
    done = program.train()
    require(done.code == 0, done)
    return program.model()


def kills(program: Program, draw: random.Random, count: int) -> Iterator[bool]:
    start = time.monotonic()
    expected = whole(program)
    seconds = time.monotonic() - start
    for _ in range(count):
        program.checkpoint.unlink(missing_ok=True)
        for _ in range(draw.randrange(1, 5)):
            process = program.start("--resume")
            time.sleep(draw.uniform(0.0, seconds))
            process.kill()
            done = ended(process)
            require(done.code in (0, -9), done)
        done = program.train("--resume")
        require(done.code == 0, done)
        require(program.model() == expected, "another model")
        yield True


def damage(
    program: Program, draw: random.Random, count: int, file: Path, change: Callable, run: Callable
) -> Iterator[bool]:
    whole(program)
    content = file.read_bytes()
    for _ in range(count):
        file.write_bytes(change(content, draw))
        done = run(program)
        require(done.refuses(file.name), done)
        yield True


def flipped(content: bytes, draw: random.Random) -> bytes:
    changed = bytearray(content)
    changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
    return bytes(changed)


def cut(content: bytes, draw: random.Random) -> bytes:
    return content[: draw.randrange(len(content))]


def checkpoints(change: Callable) -> Callable:
    def fault(program: Program, draw: random.Random, count: int) -> Iterator[bool]:
        whole(program)
        resume = lambda program: program.train("--resume")  # noqa: E731
        return damage(program, draw, count, program.checkpoint, change, resume)

    return fault


def models(change: Callable) -> Callable:
    def fault(program: Program, draw: random.Random, count: int) -> Iterator[bool]:
        file = program.folder / "run" / LEARNERS[program.learner]
        return damage(program, draw, count, file, change, Program.predict)

    return fault


def no_room(program: Program, draw: random.Random, count: int) -> Iterator[bool]:
    """A limit on the size of files stands for a full disk."""
    expected = whole(program)
    before = program.checkpoint.read_bytes()
    for _ in range(count):
        blocks = draw.randrange(1, max(2, len(before) // 1024))
        done = program.train(before=f"trap '' XFSZ; ulimit -f {blocks};")
        require(done.refuses("training.checkpoint", "cannot be written"), done)
        done = program.train("--resume")
        require(done.code == 0, done)
        require(program.model() == expected, "another model")
        yield True


def no_memory(program: Program, draw: random.Random, count: int) -> Iterator[bool]:
    expected = whole(program)
    for _ in range(count):
        program.checkpoint.unlink(missing_ok=True)
        done = program.train(before=f"ulimit -v {draw.randrange(40_000, 1_200_000)};")
        # The loader itself ends a program that does not fit, before its first line, with 127.
        fits = done.code == 0 and program.model() == expected
        named = done.code in (1, 3, 4, 5, 127)
        if not (fits or named):
            print(f"memory limited, {program.learner}: {done}", file=sys.stderr)
        yield fits or named


FAULTS: dict[str, tuple[Callable, int]] = {
    "killed at a random moment, one to four times, then resumed": (kills, 100),
    "a bit of the checkpoint flipped": (checkpoints(flipped), 100),
    "the checkpoint cut short": (checkpoints(cut), 50),
    "a bit of the model file flipped": (models(flipped), 100),
    "the model file cut short": (models(cut), 50),
    "no room for the next checkpoint": (no_room, 25),
    "memory limited to 40 to 1,200 MB": (no_memory, 50),
}


def run(path: Path, share: float) -> list[tuple[str, str, int, int]]:
    rows = []
    for name, (fault, count) in FAULTS.items():
        for learner in LEARNERS:
            tried = survived = 0
            wanted = max(1, round(share * count))
            with tempfile.TemporaryDirectory() as folder:
                program = Program(path, Path(folder), learner)
                steps = fault(program, random.Random(f"{name} {learner}"), wanted)
                for _ in range(wanted):
                    tried += 1
                    try:
                        survived += next(steps)
                    except Broken as broken:
                        print(f"{name}, {learner}: {broken}", file=sys.stderr)
                        break
            print(f"{name}, {learner}: {survived} of {tried}", flush=True)
            rows.append((name, learner, tried, survived))
    return rows


def as_table(rows: list[tuple[str, str, int, int]]) -> str:
    lines = ["| fault | learner | tried | survived |", "| --- | --- | ---: | ---: |"]
    lines += [f"| {' | '.join(map(str, row))} |" for row in rows]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", type=Path, default=ROOT / "build" / "dev" / "bregboost")
    parser.add_argument("--share", type=float, default=1.0, help="of the number of each fault")
    parser.add_argument("--page", action="store_true", help=f"put the table into {PAGE.name}")
    options = parser.parse_args()
    rows = run(options.program.resolve(), options.share)
    print(as_table(rows))
    if options.page:
        text = PAGE.read_text()
        head, _, rest = text.partition(BEGIN)
        tail = rest.partition(END)[2]
        PAGE.write_text(f"{head}{BEGIN}\n{as_table(rows)}\n{END}{tail}")
    return int(any(tried != survived for _, _, tried, survived in rows))


if __name__ == "__main__":
    sys.exit(main())
