"""The lines of a trace's tree as a flat model: what is folded is not in it."""

from __future__ import annotations

import time
from typing import Any

from PySide6.QtCore import Qt

from desktop.presenter.trace.node import Axis, TraceNode
from desktop.presenter.trace.rows import Folding
from desktop.presenter.trace.tree import TraceTree
from desktop.presenter.trace.words import short_summary, spoken
from desktop.ui.widgets.rows import Index, LinesModel
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.tips import plain_tip

NODE = int(Qt.ItemDataRole.UserRole)
SHOWN = 300


class TreeModel(LinesModel):
    """``refresh`` brings it up to date with its tree."""

    lines: list[TraceNode]

    def __init__(self) -> None:
        super().__init__()
        self.tree: TraceTree | None = None
        self.folding = Folding()
        self.axis = Axis(0.0, 1.0, ())
        self.now = 0.0

    def show_tree(self, tree: TraceTree | None) -> None:
        """Show another run."""
        self.tree = tree
        self.folding.clear()
        self.reset([])
        self.refresh()

    def refresh(self) -> None:
        """The lines as they are now; those that stay keep their places in the view."""
        self.tick()
        self.follow(self.folding.rows(self.tree) if self.tree is not None else [], _alike)

    def tick(self) -> None:
        """The clock went on."""
        self.now = time.time()
        if self.tree is not None:
            self.axis = self.tree.axis(self.now)

    def is_open(self, node: TraceNode) -> bool:
        """Whether what is below shows."""
        return self.tree is not None and self.folding.is_open(self.tree, node)

    def fold(self, node: TraceNode, is_open: bool) -> None:
        """A person opens or folds it."""
        if node.children:
            self.folding.choose(node, is_open)
            self.refresh()

    def reveal(self, node: TraceNode) -> int:
        """Open everything above a node; its row, or -1."""
        self.folding.reveal(node)
        self.refresh()
        return self.row_of(node)

    def row_of(self, node: TraceNode | None) -> int:
        """Where a node is, or -1."""
        try:
            return self.lines.index(node) if node is not None else -1  # by identity, in C
        except ValueError:
            return -1

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The node under ``NODE``."""
        node = self.lines[index.row()]
        if role == NODE:
            return node
        if role == Qt.ItemDataRole.DisplayRole:
            return shown_line(f"{node.title} {short_summary(node) if node.kind == 'call' else ''}".strip()[:SHOWN])
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return shown_line(spoken(node, self.axis, self.now, self.is_open(node))[:SHOWN])
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(shown_line(f"{node.title} {node.summary}".strip()[:SHOWN]))
        return None


def _alike(one: list[TraceNode], other: list[TraceNode]) -> int:
    """How many nodes are the same from the beginning."""
    count = min(len(one), len(other))
    if one[:count] == other[:count]:
        return count
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a is not b), count)
