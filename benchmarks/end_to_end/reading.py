"""How long it takes to read a table into typed columns, beside `pandas.read_csv`.

Files given as arguments, and a generated plain CSV of 200,000 rows and 30 columns. Both read the
same file in turn within every repeat; what is printed are medians, and the median of pandas' time
over ours within a repeat: above 1 we are faster.

    python benchmarks/end_to_end/reading.py build/release/benchmarks/end_to_end/reading [FILE ...]
"""

import argparse
import json
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

ROWS, COLUMNS = 200_000, 30


def write_table(path: Path) -> None:
    """Numbers with six digits behind the point, as data sets are often published."""
    values = np.random.default_rng(0).normal(size=(ROWS, COLUMNS))
    table = pd.DataFrame(values, columns=[f"f{j}" for j in range(COLUMNS)])
    table.to_csv(path, index=False, float_format="%.6f")


def compare(program: subprocess.Popen, path: Path, repeats: int) -> None:
    ours, pandas = [], []
    for _ in range(repeats + 1):
        program.stdin.write(f"{path}\n")
        program.stdin.flush()
        answer = json.loads(program.stdout.readline())
        start = time.perf_counter()
        table = pd.read_csv(path)
        pandas.append(time.perf_counter() - start)
        ours.append(answer["seconds"])
        assert table.shape == (answer["rows"], answer["columns"])
    ours, pandas = ours[1:], pandas[1:]  # the first read fills the system's cache
    ratios = [theirs / mine for mine, theirs in zip(ours, pandas, strict=True)]
    print(
        f"{path.name}: {table.shape[0]} x {table.shape[1]}, bregboost "
        f"{statistics.median(ours):.3f} s, pandas {statistics.median(pandas):.3f} s, "
        f"pandas / bregboost {statistics.median(ratios):.2f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=Path, help="the built program `reading`")
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(
            [options.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as program,
    ):
        generated = Path(folder) / "generated.csv"
        write_table(generated)
        for path in [*options.files, generated]:
            compare(program, path, options.repeats)


if __name__ == "__main__":
    main()
