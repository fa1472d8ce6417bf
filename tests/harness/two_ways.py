"""A model host whose direct way can be closed: every request then goes by the model library."""

import re
from typing import Any

from desktop.domain.errors import ModelError
from desktop.domain.models import Finished, ModelRequest, ReasoningDelta, ReasoningSealed, TextDelta, ToolCallProgress
from desktop.domain.processes import Child, ChildStream
from desktop.models.client import ModelServices
from tests.servers.hosts import meta

_MADE_UP = re.compile(r"call_[0-9a-f]{16}")


class ByLibrary:
    """Says in each request what the app says of a provider that is not asked directly."""

    def __init__(self, child: Child) -> None:
        self._child = child

    def __getattr__(self, name: str) -> Any:
        return getattr(self._child, name)

    def stream(self, method: str, params: dict[str, Any], **more: Any) -> ChildStream:
        """As of the child itself."""
        return self._child.stream(method, {**params, "direct": False}, **more)


async def told(models: ModelServices, asked: ModelRequest) -> list[Any]:
    """What came, as plain data: texts that follow each other in one, and the end or the error. How far a call is, is
    left out, for it depends on the time; so is the part of an id that the host makes up."""
    found: list[Any] = []
    try:
        async for item in models.client.stream(asked, meta()):
            if isinstance(item, TextDelta | ReasoningDelta):
                kind = "text" if isinstance(item, TextDelta) else "think"
                if found and found[-1][0] == kind:
                    found[-1][1] += item.text
                else:
                    found.append([kind, item.text])
            elif isinstance(item, Finished):
                found.append(_end(item))
            elif isinstance(item, ReasoningSealed):
                found.append(["seal", item.sealed])
            elif not isinstance(item, ToolCallProgress):
                found.append([type(item).__name__, repr(item)])
    except ModelError as error:
        found.append(["error", type(error).__name__, str(error), error.next_step, getattr(error, "retry_after", None)])
    return found


def _end(item: Finished) -> list[Any]:
    calls = [
        ["made" if _MADE_UP.fullmatch(call.call_id) else call.call_id, call.tool, call.arguments, call.problem]
        for call in item.tool_calls
    ]
    used = item.usage
    counts = used and [
        used.input_tokens,
        used.output_tokens,
        used.reasoning_tokens,
        used.cached_tokens,
        used.written_tokens,
        used.cost_usd,
    ]
    return ["end", item.stop_reason, calls, counts, item.model, bool(item.maker)]
