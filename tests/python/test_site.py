"""The rendered documentation: it builds without a warning, and its reference is complete."""

import re
import subprocess
import sys
from pathlib import Path

import bregboost
import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "-d", str(folder)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


def test_every_public_name_is_in_the_reference(site: Path) -> None:
    reference = "".join(page.read_text(encoding="utf-8") for page in (site / "api").glob("*.html"))
    shown = set(re.findall(r'id="bregboost\.(\w+)"', reference))
    assert set(bregboost.__all__) - {"__version__"} <= shown
    # The extension's part comes from its stub.
    assert 'id="bregboost.Constraint.with_bound"' in reference


def test_docstrings_are_rendered(site: Path) -> None:
    for page in (site / "api").glob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert not re.findall(r":(?:class|func|meth|mod|attr|ref):", text), page.name
        assert "Examples" in text or page.stem == "errors"


def test_every_page_is_reached(site: Path) -> None:
    pages = {page.relative_to(site).as_posix() for page in site.rglob("*.html")}
    linked = set(re.findall(r'href="([^"#]+\.html)', (site / "index.html").read_text("utf-8")))
    assert pages - linked <= {"404.html", "index.html", "search.html"}
