"""Pictures that a tool gives: nobody gets them before they were made anew."""

import base64

import pytest

from desktop.domain.messages import AudioBlock, ImageBlock, MediaBlock
from desktop.domain.tools import ToolResult
from desktop.pipeline.context import CallContext
from desktop.safety.confinement.linux.code_profile import code_sandbox_profile
from desktop.tools.pictures.reader import PictureReader
from desktop.workers.picture_child import picture_host
from tests.harness.pictures import with_place
from tests.unit.pipeline.kit import Bench, FakeTool

pytestmark = pytest.mark.spec("R-MOD-6")


class Sees:
    """Middleware that keeps what it sees of a result."""

    name = "sees"

    def __init__(self) -> None:
        self.seen: tuple[MediaBlock, ...] = ()

    async def process(self, context: CallContext, call_next) -> None:
        await call_next()
        assert context.result is not None
        self.seen = context.result.media


async def test_pictures_of_a_tool_are_made_anew_before_anything_else_sees_them() -> None:
    def came(data: bytes) -> ImageBlock:
        return ImageBlock("image/gif", base64.b64encode(data).decode(), "shot")

    def body(_args, _context) -> ToolResult:
        sound = AudioBlock("audio/wav", "UklGRg==")
        return ToolResult("Two shots.", media=(came(with_place()), sound, came(b"\xff\xd8\xff nothing")))

    confined, middleware = code_sandbox_profile(in_a_loop=True), Sees()
    reader = PictureReader(lambda handle: picture_host(handle, confined=confined))
    bench = Bench(FakeTool("shoot", body=body), layers=[middleware], pictures=reader)
    result = (await bench.call("shoot")).result
    picture, sound = result.media
    assert isinstance(picture, ImageBlock)
    assert (picture.media_type, picture.width, picture.height) == ("image/jpeg", 40, 60)
    assert b"Camera of Ida" not in base64.b64decode(picture.data)
    assert isinstance(sound, AudioBlock)
    assert result.text == "Two shots.\n[The picture “shot” is left out. It begins like a JPEG, and is broken.]"
    assert middleware.seen == result.media
