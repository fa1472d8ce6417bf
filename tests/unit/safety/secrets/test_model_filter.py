"""A server that repeats the key it was sent: nothing behind the stream ever sees it (R-SEC-1, R-SEC-5)."""

import base64
from collections.abc import AsyncIterator
from typing import Any

import pytest

from desktop.domain.errors import ModelBadRequest, ModelStreamBroken
from desktop.domain.messages import ToolCallBlock
from desktop.domain.models import (
    Finished,
    ModelRef,
    ModelRequest,
    ReasoningDelta,
    ReasoningSealed,
    TextDelta,
    ToolCallProgress,
)
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.meta import RunMeta
from desktop.safety.secrets.model_filter import MaskedModel
from desktop.safety.secrets.redaction import SecretRedactor

KEY = "sk-live-0123456789abcdef"
REQUEST = ModelRequest(ModelRef("c", "m"), ())


class Server:
    """A model that says these items, and then fails with ``error``."""

    def __init__(self, *items: Any, error: Exception | None = None) -> None:
        self.items, self.error = items, error

    async def stream(self, request: ModelRequest, meta: RunMeta) -> AsyncIterator[Any]:
        for item in self.items:
            yield item
        if self.error is not None:
            raise self.error


async def said(server: Server) -> list[Any]:
    redactor = SecretRedactor()
    redactor.remember(KEY)
    found: list[Any] = []
    try:
        async for item in MaskedModel(server, redactor).stream(REQUEST, RunMeta("r", CancellationToken())):
            found.append(item)
    except ModelStreamBroken as error:
        found.append(error)
    return found


def text_of(items: list[Any], kind: type) -> str:
    return "".join(item.text for item in items if isinstance(item, kind))


@pytest.mark.spec("R-SEC-1", "R-SEC-5")
@pytest.mark.parametrize("size", [1, 3, 7, 100])
async def test_a_key_in_text_and_thinking_is_masked_however_the_stream_is_cut(size: int) -> None:
    words = f"Your key {KEY} works, s"
    pieces = [words[at : at + size] for at in range(0, len(words), size)]
    items = await said(Server(*map(TextDelta, pieces), *map(ReasoningDelta, pieces), Finished("end")))
    assert text_of(items, TextDelta) == text_of(items, ReasoningDelta) == "Your key [REDACTED] works, s"
    assert [type(item) for item in items[-2:]] == [ReasoningDelta, Finished]


@pytest.mark.spec("R-SEC-1")
async def test_a_key_in_a_call_is_masked_in_every_field_so_that_what_is_shown_is_what_runs() -> None:
    call = ToolCallBlock(KEY, KEY, {"command": f"curl -H {KEY}", "more": [{KEY: KEY}]}, f'{{"command": "{KEY}"}}', KEY)
    progress, end = await said(Server(ToolCallProgress(0, KEY, 3), Finished("tool_calls", (call,), model=KEY)))
    assert KEY not in repr((progress, end))
    assert end.tool_calls[0].arguments == {"command": "curl -H [REDACTED]", "more": [{"[REDACTED]": "[REDACTED]"}]}


@pytest.mark.spec("R-SEC-5", "R-LOOP-10")
async def test_of_a_stream_that_is_cut_nothing_is_lost_that_was_held_back() -> None:
    items = await said(Server(TextDelta("the end is sk-li"), error=ModelStreamBroken("cut")))
    assert text_of(items, TextDelta) == "the end is sk-li"
    assert isinstance(items[-1], ModelStreamBroken)


@pytest.mark.spec("R-SEC-6")
async def test_what_a_server_says_of_a_failure_is_masked_in_every_writing() -> None:
    written = base64.b64encode(f"me:{KEY}".encode()).decode()
    error = ModelBadRequest(f"It says: Basic {written[:20]}\n{written[20:]}", next_step=f"Look at {KEY}")
    redactor = SecretRedactor()
    redactor.remember(KEY)
    stream = MaskedModel(Server(TextDelta("Half"), error=error), redactor).stream(
        REQUEST, RunMeta("r", CancellationToken())
    )
    with pytest.raises(ModelBadRequest) as caught:
        async for _ in stream:
            pass
    assert str(caught.value).startswith("It says: Basic ")
    assert "[REDACTED]" in str(caught.value)
    assert base64.b64encode(KEY.encode()).decode()[4:16] not in "".join(str(caught.value).split())
    assert caught.value.next_step == "Look at [REDACTED]"


@pytest.mark.spec("R-MOD-4", "R-SEC-1")
@pytest.mark.parametrize("size", [1, 3, 100])
async def test_thinking_that_held_a_key_goes_back_to_nobody_for_its_maker_would_refuse_what_was_masked(
    size: int,
) -> None:
    words = f"The key {KEY} is short."
    pieces = [ReasoningDelta(words[at : at + size]) for at in range(0, len(words), size)]
    items = await said(Server(*pieces, ReasoningSealed("s"), Finished("end", maker="m")))
    assert text_of(items, ReasoningDelta) == "The key [REDACTED] is short."
    assert not any(isinstance(item, ReasoningSealed) for item in items)
    assert items[-1].maker == ""


@pytest.mark.spec("R-MOD-4", "R-SEC-1")
async def test_a_seal_that_holds_a_key_is_dropped_and_any_other_comes_with_its_thinking() -> None:
    kept = (ReasoningDelta("Quite "), ReasoningDelta("so."), ReasoningSealed("s"), Finished("end", maker="m"))
    items = await said(Server(*kept))
    assert text_of(items, ReasoningDelta) == "Quite so."
    assert items[-2:] == list(kept[-2:])
    first = [type(item) for item in items].index(ReasoningSealed)
    assert not any(isinstance(item, ReasoningDelta) for item in items[first:])
    dropped = await said(Server(ReasoningSealed(f'{{"details":[{{"text":"{KEY}"}}]}}'), Finished("end", maker="m")))
    assert [type(item) for item in dropped] == [Finished]
    assert dropped[-1].maker == ""
