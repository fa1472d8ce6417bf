"""One model request of a run: through the chat-level middleware, and so through the one choke point (R-MW-6, R-SUP-7).

Rounds and what is asked beside them, as a summary of older messages, go the same way.
"""

from __future__ import annotations

from collections.abc import Sequence

from desktop.agents.loop.answer import Answerer
from desktop.agents.loop.events import LoopListener
from desktop.domain.models import ModelAnswer, ModelRequest
from desktop.domain.runs.meta import RunMeta
from desktop.domain.runs.middleware import ChatContext, Middleware
from desktop.pipeline.compose import compose


async def ask_within(
    layers: Sequence[Middleware[ChatContext]],
    answerer: Answerer,
    request: ModelRequest,
    meta: RunMeta,
    tell: LoopListener,
) -> ModelAnswer:
    """Ask through the chat-level layers; failures and aborts of the model are in the answer. Raises what a layer
    raises: BudgetExhausted, CancellationError, MiddlewareTermination."""
    if not layers:
        return await answerer.ask(request, meta, tell)
    context = ChatContext(meta, request=request, tell=tell)

    async def core() -> None:
        context.response = await answerer.ask(context.request or request, meta, context.tell, context.rest)

    await compose(layers)(context, core)
    response = context.response
    return response if isinstance(response, ModelAnswer) else ModelAnswer(response)
