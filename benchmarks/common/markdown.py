"""Tables of the pages."""

from collections.abc import Sequence


def table(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    rows = [list(header), ["---"] * len(header), *map(list, lines)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
