"""The repository's Markdown links resolve, and scripts/check_links.py would notice if not."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def check_links(root: Path) -> subprocess.CompletedProcess[str]:
    script = ROOT / "scripts" / "check_links.py"
    return subprocess.run(
        [sys.executable, script], cwd=root, capture_output=True, text=True, check=False
    )


def test_links_of_the_repository_resolve():
    result = check_links(ROOT)
    assert result.returncode == 0, result.stdout


def test_broken_links_are_named_with_file_and_line(tmp_path):
    (tmp_path / "other.md").write_text("# A heading, twice\n\n# A heading, twice\n")
    (tmp_path / "page.md").write_text(
        "[good](other.md#a-heading-twice-1) [web](https://example.org/none)\n"
        "`[code](nowhere.md)`\n"
        "```\n[fenced](nowhere.md)\n```\n"
        "[gone](gone.md)\n"
        "[lost](other.md#no-such-heading)\n"
    )
    result = check_links(tmp_path)
    assert result.returncode == 1
    assert result.stdout.splitlines() == [
        "page.md:6: no such file: gone.md",
        "page.md:7: no such heading: other.md#no-such-heading",
        "2 Markdown files, 2 broken links",
    ]
