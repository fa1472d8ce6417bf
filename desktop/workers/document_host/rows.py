"""Rows of a sheet as a table in Markdown: with the letters of its columns and the numbers of its rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from desktop.workers.document_host import limits

ROWS_AHEAD = 100
"""Rows that are looked at for how many columns a table has."""


class SheetRow:
    """One row of a sheet, or those up to ``last`` that are all like it."""

    __slots__ = ("cells", "is_hidden", "last", "number")

    def __init__(self, number: int, is_hidden: bool, last: int = 0) -> None:
        self.number, self.is_hidden, self.last = number, is_hidden, max(number, last)
        self.cells: dict[int, str] = {}

    def line(self) -> str:
        """As a row of a table."""
        near = [column for column in self.cells if column <= limits.COLUMNS]
        shown = [self.cells.get(column, "") for column in range(1, max(near, default=0) + 1)]
        far = [f"{letters(at)}{self.number}: {self.cells[at]}" for at in self.cells if at > limits.COLUMNS]
        name = str(self.number) if self.last == self.number else f"{self.number} to {self.last}"
        name = f"{name} (hidden)" if self.is_hidden else name
        return f"| {' | '.join((name, *shown, *far))} |"


def _begun(rows: list[SheetRow]) -> Iterator[tuple[int, str]]:
    """The head of a table, and its first rows."""
    widest = max(max((at for at in row.cells if at <= limits.COLUMNS), default=1) for row in rows)
    first = rows[0].number
    yield first, f"|  | {' | '.join(letters(column) for column in range(1, widest + 1))} |"
    yield first, "|" + " --- |" * (widest + 1)
    for row in rows:
        yield row.number, row.line()


def as_table(rows: Iterable[SheetRow], line: int) -> Iterator[tuple[int, str]]:
    """Its lines from a row on, each with the number of its row."""
    head: list[SheetRow] = []
    told = False
    for row in rows:
        if row.last < line:
            continue
        if told:
            yield row.number, row.line()
            continue
        head.append(row)
        if len(head) >= ROWS_AHEAD:
            yield from _begun(head)
            told = True
    if not told and head:
        yield from _begun(head)
    elif not told and line <= 1:
        yield 1, "[The sheet is empty.]"


def letters(column: int) -> str:
    """``B`` of 2, ``AA`` of 27."""
    made = ""
    while column > 0:
        column, rest = divmod(column - 1, 26)
        made = chr(65 + rest) + made
    return made


def number_of(name: str) -> int:
    """2 of ``B``."""
    number = 0
    for letter in name:
        number = number * 26 + ord(letter) - 64
    return number
