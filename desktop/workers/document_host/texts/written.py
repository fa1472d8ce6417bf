"""How a table as text is written: what parts its cells, and what stands around them."""

from __future__ import annotations

import csv
import io
from collections import Counter

SAMPLE = 65_536
"""Characters at its beginning that tell it."""
_MARKS = "\t;,|"
"""What can part cells; of those that fit alike the first."""


def dialect_of(text: str) -> csv.Dialect:
    """By its beginning: the mark by which most of its rows have the same number of cells. Each is tried once: what the
    standard library guesses by expressions takes minutes over rows that are made for it, and long over prose."""
    sample = text[:SAMPLE].rpartition("\n")[0] or text[:SAMPLE]
    found = csv.excel()
    found.delimiter = mark = max((_share(sample, one), -at, one) for at, one in enumerate(_MARKS))[2]
    if not _share(sample, mark):
        found.delimiter = mark = ","
    if sample.lstrip()[:1] == "'" and f"'{mark}'" in sample and '"' not in sample:
        found.quotechar = "'"
    first = sample.partition("\n")[0]
    found.skipinitialspace = 0 < first.count(mark) == first.count(f"{mark} ")
    return found


def _share(sample: str, mark: str) -> float:
    """Of how many of its rows the most usual number of cells is, if that is more than one."""
    if mark not in sample:
        return 0.0
    csv.field_size_limit(SAMPLE)
    try:
        cells = Counter(len(row) for row in csv.reader(io.StringIO(sample, newline=""), delimiter=mark) if row)
    except csv.Error:
        return 0.0
    return max((rows for count, rows in cells.items() if count > 1), default=0) / max(1, cells.total())
