"""The context of an agent at work: what the loop's requests hold of the conversation (R-CTX-1)."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from desktop.agents.loop.shrink import shrink_results
from desktop.agents.loop.window import PromptWindow, View
from desktop.domain.context import Account, Overlay
from desktop.domain.errors import KnownError
from desktop.domain.ids import AgentId
from desktop.domain.messages import ChatMessage
from desktop.domain.runs.agent import SHRINK_RESULTS, CompactionStrategy, HistoryProvider

_log = logging.getLogger(__name__)


class ShrinkResults:
    """The strategy that shortens long tool results before anything is left out, but for those of the last round."""

    name = SHRINK_RESULTS

    async def compact(self, messages: Sequence[ChatMessage], budget_tokens: int | None) -> list[ChatMessage]:
        """As many messages, results of more than 500 characters cut to head and tail."""
        last = next((at for at in range(len(messages) - 1, -1, -1) if messages[at].role != "tool"), 0)
        return [*shrink_results(list(messages[:last])), *messages[last:]]


class TurnContext:
    """What a model is to see (R-CTX-1): ``history`` read, then ``strategies`` in their order where not all fits, then
    the window below what ``overlay`` gives. ``view`` is the last window with its account."""

    def __init__(
        self,
        agent_id: AgentId,
        history: HistoryProvider,
        window: PromptWindow,
        strategies: Sequence[CompactionStrategy],
        overlay: Callable[[Sequence[ChatMessage]], Awaitable[Overlay]],
    ) -> None:
        self.agent_id = agent_id
        self._history = history
        self._window = window
        self._strategies = strategies
        self._overlay = overlay
        self.view = View((), 0, Account())

    async def get_prompt_window(self, session_id: str) -> list[ChatMessage]:
        """Raises ModelContextTooLong when nothing that fits can be built."""
        messages = await self._history.read(self.agent_id, session_id)
        overlay = await self._overlay(messages)
        condensed = messages
        if self._strategies and not self._window.fits(messages):
            condensed = await self._condensed(messages, overlay)
        view = self._window.view(condensed, overlay)
        dropped = len(messages) - len(condensed)
        if dropped:
            view = replace(view, account=replace(view.account, dropped=view.account.dropped + dropped))
        self.view = view
        return list(view.messages)

    async def _condensed(self, messages: Sequence[ChatMessage], overlay: Overlay) -> Sequence[ChatMessage]:
        """A strategy that fails leaves it to the next one, and at last to the window (R-CTX-7). What no window leaves
        out stays, whatever a strategy says."""
        for strategy in self._strategies:
            held = {id(messages[at]) for at in self._window.held(messages, overlay)}
            try:
                kept = await strategy.compact(messages, self._window.room)
            except KnownError as error:
                _log.warning("the strategy %s could not condense a conversation: %s", strategy.name, error)
                continue
            chosen = {id(message) for message in kept}
            if held <= chosen or len(kept) == len(messages):
                messages = kept
            else:
                messages = [message for message in messages if id(message) in chosen | held]
        return messages
