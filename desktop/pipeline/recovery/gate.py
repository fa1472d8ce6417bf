"""The one layer right before a person is asked: whether a call, new as it looks, may have been done already."""

from __future__ import annotations

from dataclasses import replace

from desktop.domain.approval.judgement import Category
from desktop.domain.runs.call_keys import is_inside
from desktop.domain.runs.middleware import CallNext
from desktop.pipeline.context import CallContext
from desktop.recovery.history import CallHistories
from desktop.recovery.past import Unknown, edited_of
from desktop.recovery.words import JUST_LIKE_IT


class RecoveryGate:
    """Refuses nothing: it gives the call a past with a question, which rules and settings do not answer."""

    def __init__(self, histories: CallHistories | None) -> None:
        self._histories = histories

    async def process(self, context: CallContext, call_next: CallNext) -> None:
        """Ask, unless something is asked already. Middleware at work and an agent's provider are not asked about: what
        they do are calls of their own."""
        request = context.request
        if request.counted and request.serves is None and not context.question:
            question = self._divergence(context) or self._uncertain(context)
            if question:
                context.request = replace(request, past=Unknown(question, edited_of(request.past)))
        await call_next()

    def _divergence(self, context: CallContext) -> str:
        """Whether this call takes the place of others, which were made before: code may go another way the second time,
        and do the same in other words. An agent does in its own thread what nobody would ask about there."""
        nests, key = context.target.spec.nests, context.request.key
        does_something = nests == "thread" or (context.category is not Category.READ and not nests)
        if self._histories is None or not does_something or not is_inside(key):
            return ""
        return self._histories.divergence(context.meta.run_id, key)

    def _uncertain(self, context: CallContext) -> str:
        """Whether it is just like one of which nobody knows the end, whoever makes it and whatever allows it. What does
        nothing itself but make calls is left to these."""
        spec, uncertain = context.target.spec, context.meta.uncertain
        if uncertain is None or spec.nests:
            return ""
        return JUST_LIKE_IT if uncertain.has(spec.name, context.frozen or context.arguments or {}) else ""
