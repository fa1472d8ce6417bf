"""read-file gives pictures to see, behind the same boundary as text."""

import base64

import pytest

from desktop.domain.errors import BoundaryViolation, ToolFailure
from desktop.tools.builtin.files import ReadFile
from desktop.tools.pictures.reader import PictureReader
from tests.harness.pictures import RED, looked_at, marked, near, saved, svg, with_place
from tests.unit.tools.conftest import Bench

pytestmark = pytest.mark.spec("R-MOD-6")


@pytest.fixture
def reads(bench: Bench, reader: PictureReader) -> ReadFile:
    """read-file with what opens pictures."""
    return ReadFile(bench.world.files(), lambda: bench.world.settings, pictures=reader)


async def test_a_picture_is_shown_upright_and_told_in_words(bench: Bench, reads: ReadFile) -> None:
    data = with_place()
    (bench.world.workspace / "quay.png").write_bytes(data)
    result = await bench.run(reads, path="quay.png")
    (block,) = result.media
    assert near(looked_at(base64.b64decode(block.data)).getpixel((35, 5)), RED)
    assert result.text.startswith("quay.png: a picture (JPEG, ")
    assert result.text.endswith("shown at 40 × 60; turned upright; where it was taken is removed.")
    assert result.facts["picture"] == "JPEG"


async def test_one_that_cannot_be_opened_says_why(bench: Bench, reads: ReadFile) -> None:
    (bench.world.workspace / "half.png").write_bytes(saved(marked(), "PNG")[:60])
    with pytest.raises(ToolFailure, match=r"half.png was not opened. It begins like a PNG"):
        await bench.run(reads, path="half.png")


async def test_a_drawing_is_read_as_the_text_that_it_is(bench: Bench, reads: ReadFile) -> None:
    (bench.world.workspace / "a.svg").write_bytes(svg("<rect/>"))
    result = await bench.run(reads, path="a.svg")
    assert "<rect/>" in result.text
    assert result.media == ()


async def test_a_picture_outside_the_boundary_is_not_opened(bench: Bench, reads: ReadFile) -> None:
    with pytest.raises(BoundaryViolation):
        await bench.run(reads, path="/etc/quay.png")
