"""Tables, lists and facts, once as text for a terminal and once as HTML for a notebook."""

import textwrap
from dataclasses import dataclass
from html import escape
from typing import Literal

from bregboost._units import NO_BREAK_SPACE, with_unbroken_bound

Mood = Literal["plain", "good", "bad", "open"]

TEXT_WIDTH = 100
_INDENT = "  "
_GAP = "  "

# White on these is readable, and they stand out from light and dark pages alike.
_BADGES: dict[Mood, str] = {"good": "#1b6ca8", "bad": "#b3261e", "open": "#5f6368"}
_RULE = "1px solid rgba(128,128,128,.4)"


@dataclass(frozen=True)
class Cell:
    """A cell of a table; its mood is a colour, never the only sign of anything."""

    text: str
    mood: Mood = "plain"


@dataclass(frozen=True)
class Column:
    """A column's heading, and whether it holds numbers or code."""

    title: str
    number: bool = False
    code: bool = False


@dataclass(frozen=True)
class Table:
    """Columns and rows of as many cells."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class Section:
    """A heading and what stands below it, any of which may be empty."""

    title: str
    table: Table | None = None
    items: tuple[str, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()


def as_text(sections: list[Section]) -> str:
    """At most `TEXT_WIDTH` columns wide, without blank lines, which doctests cannot show.

    Examples
    --------
    >>> print(as_text([Section("Rows", items=("12 training",), facts=(("seed", "7"),))]))
    Rows
      - 12 training
      seed  7
    """
    lines: list[str] = []
    for section in sections:
        lines += _wrapped(section.title, TEXT_WIDTH)
        if section.table is not None:
            lines += _table_lines(section.table)
        for item in section.items:
            lines += _hanging(f"{_INDENT}- ", item)
        name_width = max((len(name) for name, _ in section.facts), default=0)
        for name, value in section.facts:
            lines += _hanging(f"{_INDENT}{name:<{name_width}}{_GAP}", value)
    return "\n".join(line.rstrip() for line in lines)


def as_html(sections: list[Section]) -> str:
    """Self-contained: colours and rules stand in the elements, text colours are the page's own."""
    parts = [_section_html(section, first=i == 0) for i, section in enumerate(sections)]
    return f'<div style="line-height:1.4;max-width:70em">{"".join(parts)}</div>'


def _printable(text: str) -> str:
    """Line breaks and terminal codes in users' names are shown, not obeyed."""
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text
    )


def _wrapped(text: str, width: int) -> list[str]:
    unbroken = with_unbroken_bound(_printable(text))
    lines = textwrap.wrap(unbroken, width, break_on_hyphens=False)
    return [line.replace(NO_BREAK_SPACE, " ") for line in lines] or [""]


def _hanging(start: str, text: str) -> list[str]:
    first, *others = _wrapped(text, TEXT_WIDTH - len(start))
    return [start + first, *(" " * len(start) + line for line in others)]


def _table_lines(table: Table) -> list[str]:
    texts = [[column.title for column in table.columns]]
    texts += [[_printable(cell.text) for cell in row] for row in table.rows]
    widths = [max(len(text) for text in column) for column in zip(*texts, strict=True)]
    room = TEXT_WIDTH - len(_INDENT) - len(_GAP) * (len(widths) - 1)
    while sum(widths) > room:
        widths[widths.index(max(widths))] -= 1
    lines = []
    for row in texts:
        wrapped = [_wrapped(text, width) for text, width in zip(row, widths, strict=True)]
        for i in range(max(len(cell) for cell in wrapped)):
            cells = [
                f"{cell[i] if i < len(cell) else '':{'>' if column.number else '<'}{width}}"
                for cell, column, width in zip(wrapped, table.columns, widths, strict=True)
            ]
            lines.append(_INDENT + _GAP.join(cells))
    return lines


def _section_html(section: Section, first: bool) -> str:
    size = "1.15em" if first else "1em"
    style = f"font-weight:600;font-size:{size};margin:.8em 0 .2em"
    html = f'<div style="{style}">{_shown(section.title)}</div>'
    if section.table is not None:
        html += _table_html(section.table)
    if section.items:
        items = "".join(
            f'<li style="overflow-wrap:anywhere">{_shown(item)}</li>' for item in section.items
        )
        html += f'<ul style="margin:.2em 0;padding-left:1.4em">{items}</ul>'
    if section.facts:
        rows = "".join(
            f'<tr style="background:none"><td style="{_cell_style()};opacity:.75">{_shown(name)}'
            f'</td><td style="{_cell_style()};overflow-wrap:anywhere">{_shown(value)}</td></tr>'
            for name, value in section.facts
        )
        html += f'<table style="border-collapse:collapse;margin:0">{rows}</table>'
    return html


def _table_html(table: Table) -> str:
    head = "".join(
        f'<th style="{_cell_style(column)};border-bottom:{_RULE}">{_shown(column.title)}</th>'
        for column in table.columns
    )
    body = "".join(
        '<tr style="background:none">'
        + "".join(
            f'<td style="{_cell_style(column)};border-bottom:{_RULE}">'
            f"{_badge(cell.text, cell.mood)}</td>"
            for cell, column in zip(row, table.columns, strict=True)
        )
        + "</tr>"
        for row in table.rows
    )
    return (
        '<table style="border-collapse:collapse;margin:0">'
        f'<thead><tr style="background:none">{head}</tr></thead><tbody>{body}</tbody></table>'
    )


def _cell_style(column: Column | None = None) -> str:
    style = "padding:.2em .8em .2em 0;vertical-align:top"
    if column is None:
        return f"{style};text-align:left"
    style += f";text-align:{'right' if column.number else 'left'}"
    if column.number:
        style += ";white-space:nowrap;font-variant-numeric:tabular-nums"
    if column.code:
        style += ";font-family:monospace;min-width:14em;overflow-wrap:anywhere"
    return style


def _badge(text: str, mood: Mood) -> str:
    if mood == "plain":
        return _shown(text)
    return (
        f'<span style="background:{_BADGES[mood]};color:#fff;padding:.05em .5em;'
        f'border-radius:.6em;white-space:nowrap">{_shown(text)}</span>'
    )


def _shown(text: str) -> str:
    return escape(_printable(text))
