"""Tables as the C++ reader reads them, beside what pandas makes of the same files."""

import csv
import gzip
import json
import lzma
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

MISSING = ["", "NA", "?", "NaN", "nan", "null", "NULL", "N/A"]
NUMBERS = ["0", "-1", "+2.5", "1e-7", "3.", ".5", "007", "12345678901234567890", "4.9e-324", "inf"]
TEXTS = ["red", "a,b", 'say "hi"', "two\nlines", "über", "1.0", "1", "1e0", "€ 5", "x y", "'q'"]


@pytest.fixture
def read(build_dir: Path):
    """What the program read from a file: by column its kind and its values."""
    program = build_dir / "tests" / "cpp" / "print_table"
    if not program.is_file():
        pytest.fail(f"no program {program}: run `make build`")

    def run(path: Path) -> dict[str, dict]:
        done = subprocess.run([program, path], capture_output=True, text=True, check=True)
        return {column["name"]: column for column in json.loads(done.stdout)}

    return run


def check(columns: dict[str, dict], path: Path, separator: str = ",") -> None:
    """Fields and kinds are pandas', numbers are those of Python, which are exact."""
    options = {"sep": separator, "keep_default_na": False, "na_values": MISSING}
    inferred = pd.read_csv(path, **options)
    texts = pd.read_csv(path, dtype=object, **options)
    assert list(columns) == list(texts.columns)
    for name, column in columns.items():
        is_numeric = pd.api.types.is_numeric_dtype(inferred[name])
        assert column["kind"] == ("numeric" if is_numeric else "categorical"), name
        theirs = [None if pd.isna(text) else text for text in texts[name]]
        if is_numeric:
            assert [value and float(value) for value in column["values"]] == [
                text and float(text) for text in theirs
            ], name
        else:
            assert column["values"] == theirs, name
            assert column["levels"] == sorted(set(theirs) - {None}, key=str.encode), name


def messy_rows(seed: int) -> list[list[str]]:
    """Columns of numbers, of texts, and of numbers with a text near the end."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(20, 200))

    def draw(words: list[str]) -> list[str]:
        some = [str(word) for word in rng.choice(words, count)]
        return [str(rng.choice(MISSING)) if rng.random() < 0.2 else word for word in some]

    numbers = [f"{value:.{rng.integers(1, 18)}g}" for value in rng.normal(size=count) * 1e3]
    late = draw(NUMBERS)
    late[-3] = "late"
    texts = draw(TEXTS)
    texts[0] = "red"
    return [list(row) for row in zip(draw(NUMBERS), numbers, texts, late, strict=True)]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("ending", [".csv", ".tsv", ".csv.gz", ".csv.xz"])
def test_messy_files(read, tmp_path, seed, ending):
    path, separator = tmp_path / f"rows{ending}", "\t" if ".tsv" in ending else ","
    plain = tmp_path / "plain.csv"
    with plain.open("w", newline="", encoding="utf-8-sig" if seed % 3 == 0 else "utf-8") as file:
        quoting = csv.QUOTE_ALL if seed % 2 else csv.QUOTE_MINIMAL
        line_end = "\r\n" if seed % 4 < 2 else "\n"
        out = csv.writer(file, delimiter=separator, quoting=quoting, lineterminator=line_end)
        out.writerows([["odd", "number", "text, or not", "late"], *messy_rows(seed)])
    packers = {".csv.gz": gzip.compress, ".csv.xz": lzma.compress}
    path.write_bytes(packers.get(ending, bytes)(plain.read_bytes()))
    check(read(path), path, separator)


@pytest.mark.parametrize("name", ["adult_train", "compas", "drybean"])
def test_data_sets(read, data_dir, name):
    path = data_dir / f"{name}.csv.xz"
    if not path.is_file():
        pytest.skip(f"{path} is missing: set BREGBOOST_DATA to the directory that has it")
    check(read(path), path)
