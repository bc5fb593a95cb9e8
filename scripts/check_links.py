"""Check that every relative link in the repository's Markdown files leads somewhere.

Files and folders must exist, and a `#fragment` must name a heading of its target. Links with a
scheme (https:, mailto:) are left alone: the check needs no network.
"""

import argparse
import re
import sys
from pathlib import Path
from urllib.parse import unquote

SKIPPED_FOLDERS = {"build", "node_modules"}
FENCE = re.compile(r"^ {0,3}(```+|~~~+).*?^ {0,3}\1[`~]*[ \t]*$", re.MULTILINE | re.DOTALL)
CODE_SPAN = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
LINK_TEXT = r"\[(?:[^\[\]]|\[[^\[\]]*\])*\]"
INLINE_LINK = re.compile(LINK_TEXT + r"\(\s*<?([^\s()<>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
REFERENCE_LINK = re.compile(r"^ {0,3}\[[^\]^]+\]:\s+<?(\S+?)>?\s*$", re.MULTILINE)
HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(.+?)[ \t]*#*$", re.MULTILINE)
EXPLICIT_ANCHOR = re.compile(r"<a\s+(?:id|name)=\"([^\"]+)\"")
SCHEME = re.compile(r"^[a-zA-Z][a-zA-Z0-9+.-]*:|^//")


def markdown_files(root: Path) -> list[Path]:
    """List the Markdown files under `root`, outside hidden and generated folders."""

    def wanted(path: Path) -> bool:
        folders = path.relative_to(root).parts[:-1]
        return not any(name.startswith(".") or name in SKIPPED_FOLDERS for name in folders)

    return sorted(path for path in root.rglob("*.md") if wanted(path))


def blank(match: re.Match[str]) -> str:
    """Replace a match by spaces, so that line numbers stay as they were."""
    return re.sub(r"[^\n]", " ", match[0])


def anchors(page: Path) -> set[str]:
    """Return the fragments that `page` answers to."""
    text = page.read_text(encoding="utf-8")
    found = set(EXPLICIT_ANCHOR.findall(text))
    for heading in HEADING.findall(FENCE.sub(blank, text)):
        title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        repeated, count = slug, 0
        while repeated in found:
            count += 1
            repeated = f"{slug}-{count}"
        found.add(repeated)
    return found


def broken_links(page: Path) -> list[str]:
    """Describe each link of `page` that leads nowhere."""
    prose = CODE_SPAN.sub(blank, FENCE.sub(blank, page.read_text(encoding="utf-8")))
    problems = []
    for match in [*INLINE_LINK.finditer(prose), *REFERENCE_LINK.finditer(prose)]:
        link = match[1]
        if SCHEME.match(link):
            continue
        path, _, fragment = unquote(link).partition("#")
        target = page.parent / path if path else page
        line = prose.count("\n", 0, match.start()) + 1
        if not target.exists():
            problems.append(f"{page}:{line}: no such file: {link}")
        elif fragment and target.suffix == ".md" and fragment not in anchors(target):
            problems.append(f"{page}:{line}: no such heading: {link}")
    return problems


def main() -> int:
    """Print every broken link; exit with 1 if there is one."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("root", nargs="?", type=Path, default=Path(), help="folder to search")
    pages = markdown_files(parser.parse_args().root)
    problems = [problem for page in pages for problem in broken_links(page)]
    print(*problems, sep="\n", end="\n" if problems else "")
    print(f"{len(pages)} Markdown files, {len(problems)} broken links")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
