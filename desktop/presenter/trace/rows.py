"""Which lines of a trace's tree show: what is folded by itself, and what a person opened or folded. Qt-free."""

from __future__ import annotations

from desktop.presenter.trace.node import TraceNode
from desktop.presenter.trace.tree import TraceTree

FEW_ROUNDS = 12
"""A run with more rounds of its own shows the calls of the last ones only, until others are opened."""
LAST_OPEN = 3


class Folding:
    """What a person did counts more than what is folded by itself."""

    def __init__(self) -> None:
        self._chosen: dict[TraceNode, bool] = {}

    def clear(self) -> None:
        """Forget what was opened and folded, for another run."""
        self._chosen.clear()

    def choose(self, node: TraceNode, is_open: bool) -> None:
        """Open or fold a node, as a person asked."""
        self._chosen[node] = is_open

    def reveal(self, node: TraceNode) -> None:
        """Open everything above it."""
        for above in node.ancestors():
            self._chosen[above] = True

    def is_open(self, tree: TraceTree, node: TraceNode) -> bool:
        """Whether what is below it shows."""
        if not node.children:
            return False
        chosen = self._chosen.get(node)
        return _by_itself(tree, node) if chosen is None else chosen

    def rows(self, tree: TraceTree) -> list[TraceNode]:
        """All lines that show, from the top."""
        found: list[TraceNode] = []
        waiting = [tree.root] if tree.root is not None else []
        while waiting:
            node = waiting.pop()
            found.append(node)
            if node.children and self.is_open(tree, node):
                waiting.extend(reversed(node.children))
        return found


def _by_itself(tree: TraceTree, node: TraceNode) -> bool:
    if node.kind == "agent":
        return True
    if node.kind == "call":
        return not node.over or any(child.kind == "agent" for child in node.children)
    if node.depth:
        return not node.over or any(child.live for child in node.children)
    if tree.own_rounds <= FEW_ROUNDS or tree.root is None:
        return True
    return node in tree.root.children[-LAST_OPEN:]
