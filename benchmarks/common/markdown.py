"""Tables of the pages, and parts of pages that programs write."""

from collections.abc import Sequence


def table(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    rows = [list(header), ["---"] * len(header), *map(list, lines)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def marks(name: str) -> tuple[str, str]:
    """Before and after a part that is written by a program."""
    return f"<!-- {name}: begins -->", f"<!-- {name}: ends -->"


def with_part(text: str, name: str, part: str) -> str:
    """The text with another part between the marks of that name."""
    begin, end = marks(name)
    before, begins, rest = text.partition(begin)
    _, ends, after = rest.partition(end)
    if not (begins and ends):
        raise ValueError(f"page: no '{begin}' before '{end}'; allowed: both")
    return f"{before}{begin}\n\n{part}\n\n{end}{after}"
