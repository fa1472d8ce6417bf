"""The content filter: answers are held against a person's expressions before anybody sees them (D-7, S-MW-1).

What streams in is held back from where an expression may begin to fit until it is known whether it does. A refused
answer ends there: what came before the place was fit to be seen, and calls of tools are not made. What counts as a hit,
and what does not, stands in ``content_screen``. Of a call the name and the arguments are looked at, each call by itself
and also with the escapes of JSON read, where an answer with a hit is refused; where hits are replaced, calls stay as
the model wrote them, for a person is asked about what runs. What a server says of a failure is no part of an answer.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import re
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from desktop.agents.middleware.content_screen import CONTEXT, ContentRefused, FilterConfig, Screen
from desktop.domain.errors import LimitReached, first_of
from desktop.domain.messages import Block, ChatMessage, NoticeBlock, ReasoningBlock, TextBlock, ToolCallBlock
from desktop.domain.models import ModelAnswer, ModelRequest, ReasoningDelta, TextDelta, ToolCallProgress
from desktop.domain.runs.middleware import CallNext, ChatContext, MiddlewareTermination
from desktop.domain.text.expressions import Expressions

_ESCAPE = re.compile(r'\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))')
_SHORT = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_NESTED = 3
"""How often escapes are read: JSON within JSON within JSON."""


class ContentFilter:
    """The filter of one answer: a layer's work around one request."""

    def __init__(self, expressions: Expressions, config: FilterConfig, context: ChatContext) -> None:
        self._expressions, self._config, self._context = expressions, config, context
        self._screens = self._new_screens()
        self._tell = context.tell
        self._waiting: deque[Any] = deque()
        self._named: set[str] = set()
        self._more = asyncio.Event()
        self._over = False
        self._kind: type[TextDelta] | type[ReasoningDelta] = TextDelta
        self._given: list[tuple[type[TextDelta] | type[ReasoningDelta], str]] = []
        self._stopped: MiddlewareTermination | None = None

    async def process(self, call_next: CallNext) -> None:
        """Go on, and let through what may be seen. An answer that is refused has MiddlewareTermination as its error."""
        context = self._context
        context.tell = self._hear
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._pump(), name="content filter")
                await call_next()
                self._over = True
                self._more.set()
        except BaseExceptionGroup as failed:
            raise first_of(failed) from None
        finally:
            context.tell = self._tell
        if self._stopped is None and isinstance(context.response, ModelAnswer):
            context.response = await self._cleaned(context.response)
        if self._stopped is not None:
            context.response = self._refused(context.response)

    def _refused(self, response: Any) -> ModelAnswer:
        """The answer in place of a refused one: the text that was shown before, and the usage."""
        shown = tuple(
            (TextBlock if kind is TextDelta else ReasoningBlock)("".join(text for _, text in pieces))
            for kind, pieces in itertools.groupby(self._given, key=lambda piece: piece[0])
        )
        message = response.message if isinstance(response, ModelAnswer) else ChatMessage("assistant", ())
        return ModelAnswer(ChatMessage("assistant", shown, "error", message.usage, message.model), self._stopped)

    def _hear(self, event: Any) -> None:
        """In the place of whoever shows the answer. Raising ends the stream of an answer that nobody will see."""
        if self._stopped is not None:
            raise self._stopped
        self._waiting.append(event)
        self._more.set()

    async def _pump(self) -> None:
        """Streamed pieces in their order, until the answer is whole."""
        while self._stopped is None:
            while self._waiting and self._stopped is None:
                await self._piece(self._waiting.popleft())
            if self._over and not self._waiting:
                await self._shown(self._screens[self._kind].flush)
                return
            if not self._waiting:
                self._more.clear()
                await self._more.wait()

    async def _piece(self, event: Any) -> None:
        if not isinstance(event, (TextDelta, ReasoningDelta)):
            await self._beside(event)
            return
        if type(event) is not self._kind:
            await self._shown(self._screens[self._kind].flush)
            self._kind = type(event)
        text = [event.text]
        while self._waiting and type(self._waiting[0]) is self._kind:
            text.append(self._waiting.popleft().text)
        await self._shown(self._screens[self._kind].feed, "".join(text))

    async def _beside(self, event: Any) -> None:
        """What stands between pieces of text keeps its place."""
        if self._screens[self._kind].open:
            await self._shown(self._screens[self._kind].flush)
        if self._config.refuse and isinstance(event, ToolCallProgress) and event.tool not in self._named:
            self._named.add(event.tool)
            await self._looked(Screen(self._expressions, self._config).whole, event.tool)
        if self._stopped is None:
            self._tell(event)

    async def _shown(self, look: Callable[..., str], *texts: str) -> None:
        seen = await self._looked(look, *texts)
        if seen:
            self._given.append((self._kind, seen))
            self._tell(self._kind(seen))

    async def _looked(self, look: Callable[..., str], *texts: str) -> str:
        """What may be seen of it, and from then on nothing where it is refused."""
        try:
            return await asyncio.to_thread(look, *texts)
        except ContentRefused as refused:
            number, of = refused.number, len(self._config.expressions)
            self._stopped = MiddlewareTermination(
                f"The content filter stopped this answer: expression {number} of {of} fits it. They are in Settings, "
                "Middleware."
            )
            return refused.before
        except LimitReached as error:
            self._stopped = MiddlewareTermination(f"The content filter stopped this answer. {error.advice}")
            return ""

    async def _cleaned(self, answer: ModelAnswer) -> ModelAnswer:
        """The whole answer, as it is kept and as later requests have it."""
        blocks, hits = list[Block](), 0

        def clean() -> str:
            nonlocal hits
            screens = self._new_screens()
            for block in answer.message.blocks:
                if isinstance(block, (TextBlock, ReasoningBlock)):
                    kind = TextDelta if isinstance(block, TextBlock) else ReasoningDelta
                    block = replace(block, text=screens[kind].whole(block.text))
                blocks.append(block)
            if screens[ReasoningDelta].hits:  # its maker would refuse what was altered
                blocks[:] = [
                    replace(one, sealed="", maker="") if isinstance(one, ReasoningBlock) else one for one in blocks
                ]
            for call in answer.message.tool_calls if self._config.refuse else ():
                for text in _writings(call):
                    Screen(self._expressions, self._config).whole(text)
            hits = sum(screen.hits for screen in screens.values())
            return ""

        await self._looked(clean)
        if not hits or self._stopped is not None:
            return answer
        places = "One place was" if hits == 1 else f"{hits} places were"
        notice = NoticeBlock(f"{places} replaced by the content filter.", "answer.filtered")
        return replace(answer, message=replace(answer.message, blocks=(*blocks, notice)))

    def _new_screens(self) -> dict[type[TextDelta] | type[ReasoningDelta], Screen]:
        """For a whole answer: text follows on the text of earlier rounds; their thinking is in no request."""
        return {
            TextDelta: Screen(self._expressions, self._config, _read_before(self._context.request)),
            ReasoningDelta: Screen(self._expressions, self._config),
        }


def _read_before(request: ModelRequest | None) -> str:
    """The end of what a person read of the earlier rounds of this turn."""
    said: list[str] = []
    for message in reversed(request.messages if request is not None else ()):
        if message.role == "user" or sum(map(len, said)) > CONTEXT:
            break
        if message.role == "assistant":
            said.append(message.text)
    return "".join(reversed(said))


def _writings(call: ToolCallBlock) -> Iterator[str]:
    """A call as it is written, and as it is read once its escapes are."""
    text = call.raw if call.arguments is None else json.dumps(call.arguments, ensure_ascii=False)
    yield f"{call.tool}\n{call.via}"
    yield text
    for _ in range(_NESTED):
        read = _ESCAPE.sub(_unescaped, text)
        if read == text:
            return
        yield read
        text = read


def _unescaped(escape: re.Match[str]) -> str:
    return chr(int(escape[1], 16)) if escape[1] else _SHORT.get(escape[2], escape[2])


async def filter_answer(config: Any, context: ChatContext, call_next: CallNext) -> None:
    """The work of the library's ``content-filter``. Raises MiddlewareTermination for what cannot be filtered."""
    read = FilterConfig.of(config)
    if not read.expressions:
        await call_next()
        return
    try:
        expressions = await asyncio.to_thread(Expressions, read.expressions)
    except ValueError as error:
        raise MiddlewareTermination(f"The content filter cannot be used: {error}") from error
    await ContentFilter(expressions, read, context).process(call_next)
