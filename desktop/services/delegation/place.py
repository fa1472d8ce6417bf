"""Where a called agent stands in the run tree of its caller, and how its questions come to the caller's card."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.runs.agent import AgentOutcome
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.events import Event, ToolCallAnswered, ToolCallWaiting
from desktop.domain.runs.supervision import Supervision
from desktop.domain.runs.tree import NodeState
from desktop.pipeline.context import CallContext
from desktop.supervision.budgets import BudgetTracker
from desktop.supervision.bus import Bus
from desktop.supervision.live_runs import LiveRuns
from desktop.supervision.tree import TreeNode


@dataclass(frozen=True, slots=True)
class AgentPlace:
    """Where one called agent works."""

    thread_id: str
    """Its thread."""
    supervision: Supervision
    """Its node's rights and budgets."""
    token: CancellationToken
    """Stops it."""
    budget: BudgetTracker
    """What its branch has used and may use."""
    kept: str
    """How long its thread is kept."""
    live: LiveRuns | None = None
    """The runs at work; None: nobody counts or shows it."""
    node: TreeNode | None = None
    """Its node in the tree."""
    run_id: str = ""
    """Its run."""
    bus: Bus | None = None
    """Publishes its events."""

    def end(self, outcome: AgentOutcome) -> None:
        """Mark the agent's node as ended, with its outcome."""
        if self.live is not None and self.node is not None:
            self.live.end(self.run_id, self.node, outcome)
        self.token.detach()

    @contextmanager
    def waited_for(self, call: CallContext) -> Iterator[None]:
        """The caller works on nothing itself within, and what the agent asks a person stands on the caller's card,
        too (R-AAT-9)."""
        with ExitStack() as held:
            if self.node is not None and self.node.parent is not None:
                held.enter_context(self.node.parent.idles(NodeState.JOINING, self.node.agent_id.type))
            if self.bus is not None:
                held.callback(self.bus.listen(_relay(self.thread_id, call)))
            yield


def _relay(thread_id: str, call: CallContext) -> Callable[[Event], None]:
    """A listener that tells the questions of the thread below as those of the call above it."""

    def hear(event: Event) -> None:
        if event.thread_id != thread_id or not isinstance(event, ToolCallWaiting | ToolCallAnswered):
            return
        request = call.request
        call.request.sink(
            replace(event, thread_id=call.meta.thread_id, message_id=request.message_id, call_id=request.block.call_id)
        )

    return hear
