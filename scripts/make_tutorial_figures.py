"""Runs the Python pages of docs/ and keeps what they draw and print: figures and outputs.

Figures land in docs/figures, outputs in the pages themselves; those named, or all. BREGBOOST_DATA
names the folder of the real data, without which tutorials are left as they are. Takes two minutes.
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
from page_code import run_page, with_output

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
TUTORIALS = DOCS / "tutorials"
PAGES = [ROOT / "README.md", DOCS / "python.md", *sorted(TUTORIALS.glob("*.md"))]


def main() -> None:
    plt.rcParams["svg.hashsalt"] = "bregboost"  # the same drawing gives the same file
    os.environ["SOURCE_DATE_EPOCH"] = "0"
    sys.path.insert(0, str(TUTORIALS))
    import tutorial_data

    for page in PAGES:
        if sys.argv[1:] and page.stem not in sys.argv[1:]:
            continue
        if page.parent == TUTORIALS and not tutorial_data.is_real():
            print(f"{page.name}: left as it is, {tutorial_data.FOLDER} is not set")
            continue
        with tempfile.TemporaryDirectory() as folder:
            printed, _ = run_page(page, Path(folder))
            plt.close("all")
            for figure in sorted(Path(folder).glob("*.svg")):
                shutil.copyfile(figure, DOCS / "figures" / figure.name)
                print(f"{page.name}: {figure.name}")
        text = page.read_text(encoding="utf-8")
        page.write_text(with_output(text, printed), encoding="utf-8")


if __name__ == "__main__":
    main()
