"""A key that this computer keeps, in what a person or a model writes: it reaches neither the disk nor the model."""

from pathlib import Path

import pytest

from desktop.domain.cancellation import RunMeta
from desktop.domain.messages import FileBlock, NoticeBlock, TextBlock
from desktop.domain.models import Finished, ModelRequest, TextDelta
from desktop.safety.model_text import MaskedModel
from desktop.safety.redaction import Redactor
from tests.unit.conversation.kit import world

KEY = "sk-live-0123456789abcdef"


class Echo:
    """A server that says the key it was sent, a letter at a time, and keeps what it was asked."""

    def __init__(self) -> None:
        self.requests: list[ModelRequest] = []

    async def stream(self, request: ModelRequest, meta: RunMeta):
        self.requests.append(request)
        for letter in f"key {KEY}!":
            yield TextDelta(letter)
        yield Finished("end")


def knowing() -> Redactor:
    redactor = Redactor()
    redactor.remember(KEY)
    return redactor


@pytest.mark.spec("R-SEC-1", "R-SEC-5")
async def test_a_key_that_the_server_repeats_or_the_person_pastes_is_nowhere_on_the_disk(tmp_path: Path) -> None:
    redactor, echo = knowing(), Echo()
    async with world(tmp_path, MaskedModel(echo, redactor), mask=redactor.mask_known) as made:
        thread = await made.thread()
        await made.service.save_draft(thread, f"draft {KEY}", (FileBlock("k.txt", KEY),))
        await made.service.keep_edited(thread, "m", f"edited {KEY}")
        question, answer = await made.ask(thread, f"use {KEY}", FileBlock("keys.txt", f"a={KEY}"))
        await made.service.rename(thread, f"about {KEY}")
        found = await made.service.search("live")
        written = (await made.service.draft(thread), await made.service.edited(thread))
        shown = repr((question, answer, found, made.events, written, echo.requests))
        assert KEY not in shown
        assert answer.blocks == (TextBlock("key [REDACTED]!"),)
        assert question.blocks[0] == TextBlock("use [REDACTED]")
        (notice,) = [block for block in question.blocks if isinstance(block, NoticeBlock)]
        assert "keyring" in notice.text
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert KEY.encode() not in stored
    assert b"key [REDACTED]!" in stored


@pytest.mark.spec("R-SEC-1")
async def test_an_ordinary_message_has_no_notice_and_an_edited_one_loses_its_own(tmp_path: Path) -> None:
    redactor = knowing()
    async with world(tmp_path, MaskedModel(Echo(), redactor), mask=redactor.mask_known) as made:
        thread = await made.thread()
        first, *_ = await made.ask(thread, f"use {KEY}")
        await made.service.edit(first.message_id, "use nothing")
        (question, *_) = await made.settled(thread)
        assert question.blocks == (TextBlock("use nothing"),)


@pytest.mark.spec("R-SEC-4")
async def test_a_title_never_holds_what_looks_like_a_key_and_an_export_nothing_that_is_known_by_now(
    tmp_path: Path,
) -> None:
    redactor, pasted = Redactor(), "ghp_0123456789abcdefghijABCD"
    clean = {"mask": redactor.mask_known, "redact": redactor.redact_text}
    async with world(tmp_path, MaskedModel(Echo(), redactor), **clean) as made:
        thread = await made.thread()
        question, *_ = await made.ask(thread, f"{pasted} is my token")
        assert question.blocks == (TextBlock(f"{pasted} is my token"),), "no keyring keeps it: it is the person's text"
        (listed,) = await made.service.threads()
        assert pasted not in listed.title
        for form in ("md", "html", "json"):
            assert pasted.encode() in await made.service.export(thread, form)
        redactor.remember(pasted)
        for form in ("md", "html", "json"):
            assert pasted.encode() not in await made.service.export(thread, form)
