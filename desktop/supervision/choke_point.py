"""The one choke point before every model request: pause, budget, the shared queue (R-SUP-6, R-SUP-7, R-SUP-14)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from types import TracebackType

from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.tree import NodeState
from desktop.supervision.model_queue import ModelQueue
from desktop.supervision.tree import TreeNode


class ModelAdmission:
    """``async with Admission(node, queue, token, model):`` one agent may ask a model within.

    What was true before it waited in the queue is looked at again once its place is held: in the meantime a person may
    have paused it, or others used the budget up. Requests under way count among the rounds of every branch that they
    belong to, so agents that ask at the same time cannot go beyond a limit together. Raises BudgetExhausted and
    CancellationError.
    """

    def __init__(self, node: TreeNode, queue: ModelQueue, token: CancellationToken, model: str = "") -> None:
        self._node = node
        self._queue = queue
        self._token = token
        self._model = model
        self._in = False

    async def __aenter__(self) -> ModelAdmission:
        await self._enter()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave()
        self._node.does(NodeState.WORKING)

    async def rest(self, sleep: Callable[[], Awaitable[None]]) -> None:
        """Wait before another attempt, in nobody's way; then come in again as at first."""
        self._leave()
        await sleep()
        await self._enter()

    async def _enter(self) -> None:
        node, queue = self._node, self._queue
        while not self._in:
            await node.may_call(model=True)
            node.check_budget()
            if waits := queue.full:
                node.does(NodeState.QUEUED)
            await queue.acquire(node.priority, self._token)
            try:
                if waits:
                    node.check_budget()
                self._in = not node.held
            finally:
                if not self._in:
                    queue.release()
        node.budget.asks(1)
        node.does(NodeState.THINKING, model=self._model)

    def _leave(self) -> None:
        if self._in:
            self._in = False
            self._node.budget.asks(-1)
            self._queue.release()
