"""What ``assent run`` says of results that a terminal cannot show."""

import pytest

from desktop.app.commands.headless import media_words
from desktop.domain.messages import AudioBlock, ImageBlock
from desktop.domain.runs.events import ToolCallFinished

IMAGE, SOUND = ImageBlock("image/png", "aGk="), AudioBlock("audio/wav", "aGk=")


@pytest.mark.parametrize(
    ("media", "said"),
    [
        ((), ""),
        ((IMAGE,), "; 1 image: see this chat in the app"),
        ((IMAGE, SOUND, IMAGE), "; 2 images and 1 sound: see this chat in the app"),
    ],
)
def test_images_and_sounds_of_a_result_are_named_with_where_they_are(media: tuple[ImageBlock, ...], said: str) -> None:
    event = ToolCallFinished(
        run_id="r",
        thread_id="t",
        message_id="m",
        call_id="c",
        tool="shoot",
        state="done",
        text="",
        is_error=False,
        code="",
        elapsed_ms=1,
        media=media,
    )
    assert media_words(event, "see this chat in the app") == said
