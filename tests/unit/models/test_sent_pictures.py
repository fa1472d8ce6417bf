"""Pictures on their way to a model: made anew before, and no more of them than its provider takes."""

import base64
from collections.abc import Sequence
from typing import Any

import pytest

from desktop.agents.skill.history import messages_from_plain
from desktop.domain.files.pictures import KEPT, NO_ROOM, PictureFit, PictureRefused
from desktop.domain.messages import (
    Block,
    ChatMessage,
    ImageBlock,
    MediaBlock,
    TextBlock,
    ToolResultBlock,
    block_from_plain,
    media_from_plain,
    media_to_plain,
    to_plain,
)
from desktop.domain.models import Senses
from desktop.models.outgoing import parts
from desktop.models.pictures import LIMITS, REMEMBERED, USUAL, PictureLimits, PictureSender, limits_of, too_many
from desktop.safety.confinement.linux.code_profile import code_sandbox_profile
from desktop.tools.pictures.reader import PictureReader
from desktop.workers.picture_child import picture_host
from tests.harness.pictures import with_place

pytestmark = pytest.mark.spec("R-MOD-6")
SEES, MAYBE = Senses(images=True), Senses()


def made(name: str, characters: int = 8) -> ImageBlock:
    return ImageBlock("image/png", "A" * characters, name, 9, 9, "turned upright")


def attached(*blocks: Block) -> ChatMessage:
    return ChatMessage("user", (TextBlock("Look."), *blocks))


def given(*blocks: MediaBlock) -> ChatMessage:
    return ChatMessage("tool", (ToolResultBlock("c1", "shoot", "Done.", media=blocks),))


async def told(messages: Sequence[ChatMessage], limits: PictureLimits, senses: Senses = SEES) -> tuple[list[str], str]:
    """The names of the pictures that go, and all words."""
    pictures = await PictureSender(None).look(messages, senses, limits)
    sent = [piece[1] for piece in parts(messages, senses, pictures=pictures) if piece[0] == "b"]
    names = [one["name"] for one in sent if one["kind"] == "image"]
    return names, "\n".join(one.get("text") or "" for one in sent)


async def test_of_too_many_the_newest_go_and_the_others_are_told() -> None:
    messages = [attached(*(made(f"{n}") for n in range(5))), given(*(made(f"{n}") for n in range(5, 9)))]
    names, words = await told(messages, PictureLimits(8, 10_000))
    assert names == [str(n) for n in range(2, 9)], "a quarter of what is taken makes room at once"
    assert words.count("is not shown to you: there are more images than the 8 that go with one request.]") == 2
    names, words = await told(messages, PictureLimits(9, 10_000))
    assert (len(names), "more images" in words) == (9, False)


async def test_what_tools_gave_counts_only_for_a_model_that_gets_it() -> None:
    messages = [attached(made("mine")), given(*(made(f"{n}") for n in range(30)))]
    names, words = await told(messages, USUAL, MAYBE)
    assert names == ["mine"]
    assert words.count("is not known to see images") == 30


def test_the_beginning_of_a_request_changes_seldom() -> None:
    left = [too_many([1] * count, PictureLimits(20, 1_000)) for count in range(40)]
    assert left[:21] == [0] * 21
    assert left[21:] == [5] * 5 + [10] * 5 + [15] * 5 + [20] * 4
    assert too_many([400, 400, 400], PictureLimits(20, 1_000)) == 1
    assert too_many([4_000], PictureLimits(20, 1_000)) == 1


def test_each_provider_has_its_limits_and_behind_a_gateway_its_makers() -> None:
    assert limits_of("bedrock", "anthropic.claude") == LIMITS["bedrock"]
    assert limits_of("openrouter", "anthropic/claude-sonnet") == LIMITS["anthropic"]
    assert limits_of("openrouter", "qwen/qwen-vl") == limits_of("llamacpp", "") == USUAL
    most = KEPT.size * 4 / 3
    assert most < 5_000_000, "Anthropic takes no more of one"
    assert KEPT.side <= 2_000, "nor a larger one among more than twenty"


async def test_one_that_nobody_has_opened_is_made_anew_once_and_one_that_cannot_be_is_told() -> None:
    asked: list[str] = []

    class Reader(PictureReader):
        async def picture(self, data: bytes, name: str, fit: PictureFit = KEPT) -> ImageBlock:
            asked.append(name)
            return await super().picture(data, name, fit)

    confined = code_sandbox_profile(in_a_loop=True)
    sender = PictureSender(Reader(lambda handle: picture_host(handle, confined=confined)))
    old = ImageBlock("image/jpeg", base64.b64encode(with_place()).decode(), "old")
    broken = ImageBlock("image/png", base64.b64encode(b"\x89PNG\r\n\x1a\nno").decode(), "broken")
    messages = [attached(old, broken), given(old)]
    for _ in range(2):
        pictures = await sender.look(messages, SEES, USUAL)
        sent: list[dict[str, Any]] = [piece[1] for piece in parts(messages, SEES, pictures=pictures) if piece[0] == "b"]
        shown = [one for one in sent if one["kind"] == "image"]
        assert [one["name"] for one in shown] == ["old", "old"]
        assert not any(b"Camera of Ida" in base64.b64decode(one["data"]) for one in shown)
        words = "\n".join(str(one.get("text")) for one in sent)
        assert "“broken” (image/png) is not shown to you: it cannot be opened" in words
    assert asked == ["old", "broken"]


def test_that_a_picture_was_made_anew_is_believed_of_what_was_kept_here_alone() -> None:
    block = made("shot")
    assert block_from_plain(to_plain(block)) == block
    assert media_from_plain(media_to_plain([block]), kept=True) == (block,)
    (claimed,) = media_from_plain(media_to_plain([block]))
    assert isinstance(claimed, ImageBlock)
    assert (claimed.width, claimed.height, claimed.notes, claimed.data) == (0, 0, "", block.data)


class Growing:
    """Makes much of little, as a picture of noise that was packed well; the first time the disk is full."""

    def __init__(self, characters: int) -> None:
        self.asked: list[str] = []
        self.full = False
        self._data = "A" * characters

    async def picture(self, data: bytes, name: str, fit: PictureFit = KEPT) -> ImageBlock:
        self.asked.append(name)
        if self.full:
            raise PictureRefused("It cannot be opened now: no room.", code=NO_ROOM)
        return ImageBlock("image/jpeg", self._data, name, 9, 9)

    async def remade(self, media: Sequence[MediaBlock]) -> tuple[list[MediaBlock | None], list[str]]:
        raise NotImplementedError


def little(number: int) -> ImageBlock:
    return ImageBlock("image/jpeg", base64.b64encode(b"%d" % number).decode(), str(number))


async def test_what_is_kept_for_the_next_round_is_counted_as_large_as_it_became() -> None:
    opener = Growing(REMEMBERED // 4)
    sender = PictureSender(opener)
    for number in range(5):
        await sender.look([attached(little(number))], SEES, USUAL)
    await sender.look([attached(little(4), little(0))], SEES, USUAL)
    assert opener.asked == ["0", "1", "2", "3", "4", "0"], "the newest is kept, the oldest had to go"


async def test_one_that_the_disk_had_no_room_for_is_opened_in_the_next_round() -> None:
    opener = Growing(4)
    sender, messages = PictureSender(opener), [attached(little(1))]
    opener.full = True
    assert "no room" in str((await sender.look(messages, SEES, USUAL)).sent(little(1)))
    opener.full = False
    assert isinstance((await sender.look(messages, SEES, USUAL)).sent(little(1)), ImageBlock)


@pytest.mark.parametrize("width", [9, True, "wide", 1e9])
def test_nor_of_what_stands_in_a_result_that_a_skill_tells(width: object) -> None:
    shot = {**to_plain(made("shot")), "width": width}
    odd = [{**shot, "data": 5}, {**shot, "media_type": None}, {"kind": "audio", "media_type": "audio/wav", "data": []}]
    result = {**to_plain(ToolResultBlock("c1", "shoot", "Done.")), "media": [shot, *odd]}
    (message,) = messages_from_plain([{"role": "tool", "blocks": [result]}])
    (told,) = message.blocks
    assert isinstance(told, ToolResultBlock)
    assert [(one.name, one.width) for one in told.media if isinstance(one, ImageBlock)] == [("shot", 0)]
    assert len(told.media) == 1
    assert media_from_plain([shot, *odd]) == told.media


@pytest.mark.parametrize("media", [0, 7, "shots", {"kind": "image"}, None])
async def test_media_that_are_no_list_are_none(media: object) -> None:
    result = {**to_plain(ToolResultBlock("c1", "shoot", "Done.")), "media": media}
    messages = messages_from_plain([{"role": "tool", "blocks": [result]}])
    assert await told(messages, USUAL) == ([], "Done.")
