"""The way of a call as a list of steps in their order: some come one after the other, some stand around all that follow
them up to the one that runs the tool.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from desktop.domain.errors import BugError
from desktop.domain.files.pictures import PictureOpener
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import ImageBlock
from desktop.domain.runs.middleware import CallNext, Middleware, MiddlewareTermination
from desktop.domain.runs.scopes import Interrupt
from desktop.domain.tools import ToolResult
from desktop.pipeline.compose import compose
from desktop.pipeline.context import CallAttempt, CallContext
from desktop.pipeline.skill_tool import SkillTool
from desktop.pipeline.validation import Validator


@dataclass(frozen=True, slots=True)
class CallStep:
    """Something that happens to a call. It raises to refuse the call; once there is a result, no later step is taken
    but those that are taken ``always``."""

    number: str
    """As documents count the steps; "" for one between them."""
    name: str
    run: Callable[[CallAttempt], Awaitable[None]]
    always: bool = False


@dataclass(frozen=True, slots=True)
class CallLayer:
    """A layer around those after it, and around the first ``CallStep`` that follows them."""

    number: str
    name: str
    layer: Middleware[CallContext]


def planned(steps: Sequence[CallStep | CallLayer]) -> tuple[list[CallStep], list[CallStep]]:
    """The steps up to the result, the layers in one with what they stand around; and those that are always taken."""
    layers = [step.layer for step in steps if isinstance(step, CallLayer)]
    last = max(place for place, step in enumerate(steps) if isinstance(step, CallLayer))
    innermost = steps[last + 1]
    assert isinstance(innermost, CallStep)
    chain = compose(layers)

    async def through(attempt: CallAttempt) -> None:
        call = attempt.call
        assert call is not None

        async def core() -> None:
            await innermost.run(attempt)

        await chain(call, core)
        if call.result is None:
            raise BugError("the pipeline ended without a result")
        attempt.result = call.result

    whole = replace(innermost, run=through)
    single = [whole if step is innermost else step for step in steps if isinstance(step, CallStep)]
    return [step for step in single if not step.always], [step for step in single if step.always]


class ResultCheck:
    """Step 13, first part: a skill's value fits what it declares; a tool's where it is structured."""

    name = "the promised result"

    def __init__(self, validator: Validator) -> None:
        self._validator = validator

    async def process(self, context: CallContext, call_next: CallNext) -> None:
        """Raise ValidationFailure when what came back does not fit."""
        await call_next()
        result = context.result
        if context.definition.returns is None or result is None or result.is_error:
            return
        if result.structured is not None:
            await self._validator.check_result(context.definition, result.structured)
        elif isinstance(context.target, SkillTool):
            text = None if result.facts.get("empty") else result.text
            await self._validator.check_result(context.definition, text)


class Terminated:
    """Middleware that halts the chain ends the call with an error result (R-MW-4)."""

    name = "termination"

    async def process(self, context: CallContext, call_next: CallNext) -> None:
        """What is outside of this sees an ordinary result."""
        try:
            await call_next()
        except MiddlewareTermination as stop:
            context.result = ToolResult(str(stop), is_error=True, code="terminated")


class RemadePictures:
    """Pictures that a tool gave are made anew before anybody gets them, whatever gave them (R-MOD-6). ``opener`` None:
    they stay as they came."""

    name = "pictures"

    def __init__(self, opener: PictureOpener | None) -> None:
        self._opener = opener

    async def process(self, context: CallContext, call_next: CallNext) -> None:
        """What cannot be opened is left out, and said."""
        await call_next()
        result = context.result
        if self._opener is None or result is None or not any(_came_so(one) for one in result.media):
            return
        async with Interrupt(context.meta.cancellation):
            found, said = await self._opener.remade(result.media)
        media = tuple(one for one in found if one is not None)
        context.result = replace(result, text="\n".join(filter(None, [result.text, *said])), media=media)


def _came_so(block: object) -> bool:
    return isinstance(block, ImageBlock) and not block.width
