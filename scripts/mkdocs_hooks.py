"""Hooks of mkdocs.yml that make the rendered pages complete without a network.

Formulas become MathML, which browsers draw by themselves, and links that leave docs/ lead from
build/docs to the same file of the repository. The API reference is read from the sources of the
Python package, which never run, and from the stub of its extension.
"""

import html
import importlib.util
import posixpath
import re
import shutil
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.exceptions import PluginError
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
API_SOURCES = ROOT / "build" / "api_sources"

# What pymdownx.arithmatex leaves in a page with `generic: true`.
INLINE = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', re.DOTALL)
BLOCK = re.compile(r'<div class="arithmatex">\s*\\\[(.*?)\\\]\s*</div>', re.DOTALL)
# Of docstrings, which are reStructuredText here and there.
ROLE = re.compile(r":(?:class|func|meth|mod):(?=<code>)")
UPWARD_LINK = re.compile(r'(?<=href=")\.\./[^"]*')

# LaTeX that latex2mathml does not know, in words that it does.
SUBSTITUTES = [
    (re.compile(r"\\(begin|end)\{(?:aligned|gathered)\}"), r"\\\1{split}"),
    (re.compile(r"\\arg(?![a-zA-Z])"), r"\\operatorname{arg}"),
]


def on_startup(**_: Any) -> None:
    """Put the package and the stub of its extension, which the build writes, into one folder."""
    extension = importlib.util.find_spec("bregboost._core")
    stub = Path(extension.origin).with_name("_core.pyi") if extension else None
    if stub is None or not stub.is_file():
        raise PluginError("no stub of bregboost._core: run `make build-python`")
    shutil.rmtree(API_SOURCES, ignore_errors=True)
    package = API_SOURCES / "bregboost"
    shutil.copytree(ROOT / "python" / "src" / "bregboost", package)
    shutil.copyfile(stub, package / stub.name)


def on_page_content(content: str, page: Page, **_: Any) -> str:
    """Replace the formulas, the roles and the links of a rendered page."""
    source = page.file.src_uri

    def math(display: str) -> Any:
        return lambda found: to_mathml(html.unescape(found[1]), display, source)

    def link(found: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), found[0]))
        return f"../{found[0]}" if target.startswith("../") else found[0]

    content = BLOCK.sub(math("block"), content)
    content = INLINE.sub(math("inline"), content)
    return UPWARD_LINK.sub(link, ROLE.sub("", content))


def to_mathml(latex: str, display: str, source: str) -> str:
    """Convert one formula; a command that the converter does not know is an error."""
    for pattern, substitute in SUBSTITUTES:
        latex = pattern.sub(substitute, latex)
    mathml = convert(latex, display=display)
    if unknown := re.search(r">(\\[a-zA-Z]+)<", mathml):
        raise PluginError(f"docs/{source}: unknown LaTeX command {unknown[1]} in: {latex.strip()}")
    return mathml
