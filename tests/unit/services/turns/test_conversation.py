"""What middleware is told of a conversation: all of it, but for the megabytes of its pictures and sounds."""

import pytest

from desktop.domain.messages import AudioBlock, ChatMessage, ImageBlock, MediaBlock, TextBlock, ToolResultBlock
from desktop.services.turns.around import conversation

MEGABYTES = "A" * 3_000_000


def said(media: MediaBlock, *, in_result: bool) -> str:
    block = ToolResultBlock("c1", "shoot", "Done.", media=(media,)) if in_result else media
    return conversation([ChatMessage("tool" if in_result else "user", (TextBlock("Look."), block))])


@pytest.mark.parametrize("in_result", [True, False])
@pytest.mark.parametrize(
    "made", [lambda data: ImageBlock("image/png", data), lambda data: AudioBlock("audio/wav", data)]
)
def test_pictures_and_sounds_stand_by_their_digest(made, in_result: bool) -> None:
    one, other = made(MEGABYTES), made(MEGABYTES[:-1] + "B")
    assert len(said(one, in_result=in_result)) < 1_000
    assert said(one, in_result=in_result) == said(made(MEGABYTES), in_result=in_result)
    assert said(one, in_result=in_result) != said(other, in_result=in_result)
    assert '"Look."' in said(one, in_result=in_result)
