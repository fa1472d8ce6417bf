"""A table as text (CSV, TSV): its rows as cells, all of them words. A formula is text like any other."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator
from typing import Any

from desktop.workers.document_host.rows import letters
from desktop.workers.document_host.texts.written import dialect_of
from desktop.workers.inside import CallError
from desktop.workers.result_host import limits
from desktop.workers.web_host.decoding import decoded


class ResultTable:
    """``rows`` and ``columns`` say how many; ``names`` are those of the columns that are shown."""

    def __init__(self, data: bytes, name: str) -> None:
        text = decoded(data, "")
        self.notes: list[str] = []
        self._rows: list[list[str]] = []
        self.columns = 0
        self._read(text, name)
        first = self._rows[0] if self._rows else []
        has_names = len(self._rows) > 1 and _names(first)
        if has_names:
            del self._rows[0]
        shown = min(self.columns, limits.COLUMNS)
        self.names = [
            (first[at] if has_names and at < len(first) else letters(at + 1))[: limits.CELL] for at in range(shown)
        ]
        if self.columns > shown:
            self.notes.append(f"It has {self.columns:,} columns; the first {shown} are shown.")
        self._order: list[int] | None = None

    @property
    def rows(self) -> int:
        """How many rows there are below the names."""
        return len(self._rows)

    def window(self, first: int, count: int, room: int) -> Iterator[list[str]]:
        """Rows from one on, as they are ordered now."""
        for at in range(max(0, first), min(first + count, len(self._rows))):
            row = self._rows[self._order[at] if self._order is not None else at]
            yield [cell[:room] for cell in row[: limits.COLUMNS]]

    def sort(self, column: int, descending: bool) -> None:
        """Order the rows by a column: numbers by their size before words, and what is empty last. Column -1: as they
        stand in the file."""
        if column < 0:
            self._order = None
            return
        filled, empty = list[tuple[Any, int]](), list[int]()
        for at, row in enumerate(self._rows):
            cell = row[column].strip() if column < len(row) else ""
            if cell:
                filled.append((_key(cell), at))
            else:
                empty.append(at)
        filled.sort(key=lambda one: one[0], reverse=descending)
        self._order = [at for _, at in filled] + empty

    def _read(self, text: str, name: str) -> None:
        dialect = csv.excel_tab() if name.lower().endswith((".tsv", ".tab")) else dialect_of(text)
        csv.field_size_limit(limits.FILE)
        cells = 0
        try:
            for row in csv.reader(io.StringIO(text, newline=""), dialect):
                cells += len(row)
                if cells > limits.CELLS or len(self._rows) >= limits.ROWS:
                    self.notes.append(f"Only the first {len(self._rows):,} rows are shown.")
                    return
                if row:
                    self._rows.append(row)
                    self.columns = max(self.columns, len(row))
        except csv.Error as error:
            if not self._rows:
                raise CallError("result.not_shown", f"It is no table ({error}).") from None
            self.notes.append(f"Only the first {len(self._rows):,} rows can be read ({error}).")


def _names(row: list[str]) -> bool:
    """Whether a first row names the columns: each is filled, none is a number, and no two are the same."""
    words = [cell.strip() for cell in row]
    return all(words) and len(set(words)) == len(words) and not any(_number(word) is not None for word in words)


def _number(text: str) -> float | None:
    try:
        found = float(text.replace(" ", "").removesuffix("%"))
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def _key(cell: str) -> tuple[int, float, str]:
    number = _number(cell)
    return (0, number, "") if number is not None else (1, 0.0, cell.casefold())
