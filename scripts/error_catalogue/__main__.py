"""The catalogue of errors: writes docs/errors.md, or compares it and the tests with the code.

python -m scripts.error_catalogue              # writes the page
python -m scripts.error_catalogue --check      # fails if the page is not up to date
python -m scripts.error_catalogue --provoked build/errors/*  # and if errors did not happen
"""

import argparse
import sys
from pathlib import Path

from .catalogue import CatalogueError, collect
from .cpp_source import SourceError
from .not_provoked import NOT_PROVOKED
from .page import page
from .proof import check, read
from .python_errors import RaiseError

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "errors.md"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument(
        "--provoked", type=Path, nargs="*", help="records of what happened in tests"
    )
    arguments = parser.parse_args()
    listed = collect(ROOT)
    made = page(listed, NOT_PROVOKED)
    if not arguments.check and arguments.provoked is None:
        PAGE.write_text(made, encoding="utf-8")
        return
    if PAGE.read_text(encoding="utf-8") != made:
        raise CatalogueError("docs/errors.md: not what the code says; run `make errors`")
    if arguments.provoked is not None:
        check(listed, read(arguments.provoked, ROOT), NOT_PROVOKED)
        print(f"errors: {len(listed)} in the catalogue, {len(listed) - len(NOT_PROVOKED)} provoked")


if __name__ == "__main__":
    try:
        main()
    except (CatalogueError, SourceError, RaiseError) as error:
        sys.exit(f"error catalogue: {error}")
