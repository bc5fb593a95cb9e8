"""Run the fuzz targets of a build one after another, and show what each of them did.

A target goes on until it has run for the seconds and for the executions that were asked for. It
starts from its corpus under tests/fuzz and from what earlier runs added to the folder of new
inputs, which is all that is written to. A finding (a crash, a leak, undefined behaviour, more than
10 seconds or 1 GB for one input) ends the run of its target; the input is kept.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

SOURCES = Path(__file__).resolve().parent.parent / "tests" / "fuzz"
LIMITS = ["-timeout=10", "-rss_limit_mb=1024"]
LONGEST = 65536  # bytes of an input
# Files of flags are short, and as deep as any within this.
SHORTER = {"config": 4096}
# Inputs are chosen by the rare things that they do. What fewer inputs than this have done is rare,
# and is looked for one by one after every execution: with the default of 255, that took half of the
# time of the targets that can do most.
CHOICE = ["-entropic_feature_frequency_threshold=8"]
# Freed memory is watched for use, but does not count as the input's. To start threads takes longer
# than to read a small input; the tests do it.
ENVIRONMENT = {"ASAN_OPTIONS": "quarantine_size_mb=16", "OMP_NUM_THREADS": "1"}


@dataclass
class Outcome:
    """What a target did."""

    target: str
    executions: int = 0
    seconds: float = 0.0
    findings: int = 0


def targets() -> list[str]:
    """Return the targets of tests/fuzz by name."""
    return sorted(path.name.removesuffix("_fuzz.cc") for path in SOURCES.glob("*_fuzz.cc"))


def run_once(target: str, build: Path, out: Path, limit: str) -> tuple[int, bool]:
    """Run a target up to a limit; return its executions, and whether it ended as planned."""
    inputs, findings = out / "inputs" / target, out / "findings" / target
    for folder in (inputs, findings, out / "logs"):
        folder.mkdir(parents=True, exist_ok=True)
    log = out / "logs" / f"{target}.log"
    command = [build / "tests" / "fuzz" / f"{target}_fuzz", inputs, SOURCES / "corpus" / target]
    command += [*LIMITS, *CHOICE, limit, "-print_final_stats=1", f"-artifact_prefix={findings}/"]
    command.append(f"-max_len={SHORTER.get(target, LONGEST)}")
    dictionary = SOURCES / "dictionaries" / f"{target}.dict"
    if dictionary.exists():
        command.append(f"-dict={dictionary}")
    # A target that ends by a finding does not remove its own files.
    with log.open("wb") as stream, tempfile.TemporaryDirectory() as temporary:
        environment = os.environ | ENVIRONMENT | {"TMPDIR": temporary}
        status = subprocess.run(command, stdout=stream, stderr=stream, env=environment).returncode
    text = log.read_text(errors="replace")
    executed = re.search(r"stat::number_of_executed_units: +(\d+)", text)
    if status != 0:
        written = re.findall(r"Test unit written to (\S+)", text)
        place = ", ".join(written) or f"none was written to {findings}"
        print(text[-4000:], f"\n{target}: a finding; input: {place}; log: {log}", flush=True)
    return int(executed[1]) if executed else 0, status == 0


def run_target(target: str, build: Path, out: Path, seconds: int, runs: int) -> Outcome:
    """Run a target until it has both the seconds and the executions, or a finding."""
    outcome = Outcome(target)
    start = time.monotonic()
    limit = f"-max_total_time={seconds}"
    while True:
        executions, is_clean = run_once(target, build, out, limit)
        outcome.executions += executions
        outcome.seconds = time.monotonic() - start
        if not is_clean:
            outcome.findings = 1
            return outcome
        if outcome.executions >= runs:
            return outcome
        limit = f"-runs={runs - outcome.executions}"


def show(outcomes: list[Outcome]) -> None:
    """Print a table, which is Markdown as well."""
    print(f"| {'target':<16} | {'executions':>12} | {'seconds':>8} | {'findings':>8} |")
    print(f"| {'-' * 16} | {'-' * 11}: | {'-' * 7}: | {'-' * 7}: |")
    for outcome in outcomes:
        print(
            f"| {outcome.target:<16} | {outcome.executions:>12,} | {outcome.seconds:>8.0f} "
            f"| {outcome.findings:>8} |"
        )


def main() -> None:
    """Run the targets that the command line names, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True, help="folder of the preset fuzz")
    parser.add_argument("--out", type=Path, required=True, help="folder for inputs and findings")
    parser.add_argument("--seconds", type=int, default=600, help="per target, at least")
    parser.add_argument("--runs", type=int, default=1_000_000, help="per target, at least")
    parser.add_argument("targets", nargs="*", help="all of tests/fuzz if none is named")
    arguments = parser.parse_args()
    unknown = set(arguments.targets) - set(targets())
    if unknown:
        parser.error(f"no such target: {', '.join(sorted(unknown))}; there are {targets()}")
    outcomes = []
    for target in arguments.targets or targets():
        print(f"{target} ...", flush=True)
        outcomes.append(
            run_target(target, arguments.build, arguments.out, arguments.seconds, arguments.runs)
        )
    show(outcomes)
    sys.exit(any(outcome.findings for outcome in outcomes))


if __name__ == "__main__":
    main()
