"""The content filter: answers are held against a person's expressions before anybody sees them (D-7, S-MW-1).

What streams in is held back from where an expression may begin to fit until it is known whether it does. A refused
answer ends there: what came before the place was fit to be seen, and calls of tools are not made.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from desktop.agents.given import options, wrong
from desktop.domain.errors import LimitReached, first_of
from desktop.domain.expressions import Expressions
from desktop.domain.messages import Block, ChatMessage, NoticeBlock, ReasoningBlock, TextBlock
from desktop.domain.middleware import CallNext, ChatContext, MiddlewareTermination
from desktop.domain.models import Answer, ReasoningDelta, TextDelta

REMOVED = "[removed]"
CONTEXT = 200
"""Characters that are kept of what was shown, for expressions that look at what stands before (``\\b``)."""


@dataclass(frozen=True, slots=True)
class FilterConfig:
    """``refuse``: an answer with a hit ends there; else the hit is replaced by ``instead``."""

    expressions: tuple[str, ...]
    refuse: bool = False
    instead: str = REMOVED

    @classmethod
    def of(cls, asked: Any) -> FilterConfig:
        """Raises ToolFailure ``skill.configuration``."""
        given = options(asked, "patterns")
        patterns, action = given.get("patterns", ()), given.get("action", "replace")
        if not isinstance(patterns, (list, tuple)) or not all(isinstance(one, str) for one in patterns):
            raise wrong("content-filter.patterns is a list of regular expressions.")
        if action not in ("replace", "refuse"):
            raise wrong("content-filter.action is replace or refuse.")
        return cls(tuple(patterns), action == "refuse", str(given.get("instead", REMOVED)))


class Refused(Exception):
    """Expression ``number`` fits; ``before`` is what came up to there, and may be seen."""

    def __init__(self, number: int, before: str) -> None:
        super().__init__(number)
        self.number, self.before = number, before


class Screen:
    """One text on its way. Blocks for as long as the expressions take: use it in threads."""

    def __init__(self, expressions: Expressions, config: FilterConfig) -> None:
        self._expressions = expressions
        self._config = config
        self._text = ""
        self._at = 0  # where what was not given yet begins
        self._looked = 0
        self.hits = 0

    def feed(self, text: str) -> str:
        """What may be seen by now. Raises Refused, LimitReached. A long stretch that is held back is looked at again
        only when it has grown by an eighth: else the work would grow with its square."""
        self._text += text
        held = len(self._text) - self._at
        if held < self._looked + self._looked // 8:
            return ""
        return self._given(whole=False)

    def flush(self) -> str:
        """The rest: no more text will come."""
        return self._given(whole=True)

    def whole(self, text: str) -> str:
        """A text that is there already."""
        return self.feed(text) + self.flush()

    def _given(self, *, whole: bool) -> str:
        seen: list[str] = []
        while True:
            hit = self._expressions.first(self._text, self._at, whole=whole)
            end = len(self._text) if hit is None else hit[1]
            seen.append(self._text[self._at : end])
            self._at = end
            if hit is None or hit[2] < 0:
                break
            if self._config.refuse:
                raise Refused(hit[0], "".join(seen))
            self.hits += 1
            seen.append(self._config.instead)
            self._at = hit[2]
        drop = max(0, self._at - CONTEXT)
        self._text, self._at = self._text[drop:], self._at - drop
        self._looked = len(self._text) - self._at
        return "".join(seen)


class ContentFilter:
    """One answer: a layer's work around one request."""

    def __init__(self, expressions: Expressions, config: FilterConfig, context: ChatContext) -> None:
        self._expressions, self._config, self._context = expressions, config, context
        self._screen = Screen(expressions, config)
        self._tell = context.tell
        self._waiting: deque[Any] = deque()
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
        if self._stopped is None and isinstance(context.response, Answer):
            context.response = await self._cleaned(context.response)
        if self._stopped is not None:
            context.response = self._refused(context.response)

    def _refused(self, response: Any) -> Answer:
        """What had been shown, and what it used."""
        shown = tuple(
            (TextBlock if kind is TextDelta else ReasoningBlock)("".join(text for _, text in pieces))
            for kind, pieces in itertools.groupby(self._given, key=lambda piece: piece[0])
        )
        message = response.message if isinstance(response, Answer) else ChatMessage("assistant", ())
        return Answer(ChatMessage("assistant", shown, "error", message.usage, message.model), self._stopped)

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
                await self._shown(self._screen.flush)
                return
            if not self._waiting:
                self._more.clear()
                await self._more.wait()

    async def _piece(self, event: Any) -> None:
        if not isinstance(event, (TextDelta, ReasoningDelta)):
            self._tell(event)
            return
        if type(event) is not self._kind:
            await self._shown(self._screen.flush)
            self._screen, self._kind = Screen(self._expressions, self._config), type(event)
        text = [event.text]
        while self._waiting and type(self._waiting[0]) is self._kind:
            text.append(self._waiting.popleft().text)
        await self._shown(self._screen.feed, "".join(text))

    async def _shown(self, look: Callable[..., str], *texts: str) -> None:
        seen = await self._looked(look, *texts)
        if seen:
            self._given.append((self._kind, seen))
            self._tell(self._kind(seen))

    async def _looked(self, look: Callable[..., str], *texts: str) -> str:
        """What may be seen of it, and from then on nothing where it is refused."""
        try:
            return await asyncio.to_thread(look, *texts)
        except Refused as refused:
            number, of = refused.number, len(self._config.expressions)
            self._stopped = MiddlewareTermination(
                f"The content filter stopped this answer: expression {number} of {of} fits it. They are in Settings, "
                "Middleware."
            )
            return refused.before
        except LimitReached as error:
            self._stopped = MiddlewareTermination(f"The content filter stopped this answer. {error} {error.next_step}")
            return ""

    async def _cleaned(self, answer: Answer) -> Answer:
        """The whole answer, as it is kept and as later requests have it."""
        hits, blocks = 0, list[Block]()
        for block in answer.message.blocks:
            if isinstance(block, (TextBlock, ReasoningBlock)):
                screen = Screen(self._expressions, self._config)
                block = replace(block, text=await self._looked(screen.whole, block.text))
                hits += screen.hits
            blocks.append(block)
        if self._config.refuse:  # arguments are never replaced: what a person is asked about is what the model wrote
            for call in answer.message.tool_calls:
                written = call.raw if call.arguments is None else json.dumps(call.arguments, ensure_ascii=False)
                await self._looked(Screen(self._expressions, self._config).whole, written)
        if not hits:
            return answer
        places = "One place was" if hits == 1 else f"{hits} places were"
        notice = NoticeBlock(f"{places} replaced by the content filter.", "answer.filtered")
        return replace(answer, message=replace(answer.message, blocks=(*blocks, notice)))


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
