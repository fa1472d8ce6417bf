"""Who in a run is at work, and when everything stood still because a person was asked. Qt-free."""

from __future__ import annotations

from desktop.presenter.trace.node import Span, TraceNode


class AtWork:
    """A round works while its model does, a call while it runs and nothing below it does. ``stills`` are the spans in
    which a call waited and nothing worked."""

    def __init__(self) -> None:
        self.stills: list[Span] = []
        self._active = 0
        self._waiting = 0

    def begin(self, node: TraceNode, *, busy: bool = True) -> None:
        """Count a node as running until it ends."""
        node.live = True
        for above in node.ancestors():
            above.open_below += 1
            self.rest(above)
        if busy:
            self.work(node)

    def end(self, node: TraceNode, at: float) -> None:
        """Note that a node has ended, if it had not before."""
        node.ended = at if node.ended is None else node.ended
        self.rest(node)
        if not node.live:
            return
        node.live = False
        for above in node.ancestors():
            above.open_below -= 1
            if above.is_call and above.live and above.state == "running":
                self.work(above)

    def work(self, node: TraceNode) -> None:
        """Count the node as busy, unless something below it is."""
        if not node.busy and not node.open_below:
            node.busy = True
            self._active += 1

    def rest(self, node: TraceNode) -> None:
        """Count the node as idle."""
        if node.busy:
            node.busy = False
            self._active -= 1

    def ask(self, node: TraceNode, at: float) -> None:
        """Note that a node waits for a person from now on."""
        if node.state != "waiting":
            node.state = "waiting"
            node.waits = [*node.waits, [at, None]]
            self._waiting += 1
            self.rest(node)

    def answered(self, node: TraceNode, at: float) -> None:
        """The person has answered: the node waits no longer."""
        if node.state == "waiting":
            node.state = "running"
            node.waits[-1][1] = at
            self._waiting -= 1

    def look(self, at: float) -> None:
        """Note whether everything stands still now; called after each entry."""
        still = self._waiting > 0 and not self._active
        stands = bool(self.stills) and self.stills[-1][1] is None
        if still and not stands:
            self.stills.append([at, None])
        elif stands and not still:
            self.stills[-1][1] = at
