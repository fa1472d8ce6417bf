"""Words are looked for in a whole document, and marked on the pictures of its pages where they stand."""

import asyncio
import signal
from collections.abc import Iterator
from typing import Any

import pytest

from desktop.domain.files.documents import boxes_from
from desktop.workers.document_host.host import DocumentHost
from desktop.workers.document_host.reading import DocumentFile
from desktop.workers.inside import CallError, WorkerCall
from tests.harness.documents import drawn, pdf, workbook
from tests.unit.workers.document_host.conftest import HeardCall

pytestmark = pytest.mark.spec("R-DOC-1")


async def opened(data: bytes, name: str = "it") -> DocumentHost:
    host = DocumentHost(data)
    await host.about(HeardCall(1, "about", {"name": name}))
    return host


async def marks(host: DocumentHost, words: str, *, part: int = 1, cited: bool = False) -> Any:
    call = HeardCall(2, "marks", {"part": part, "words": words, "cited": cited})
    return boxes_from([[list(box) for box in place] for place in (await host.marks(call))["marks"]])


async def found(host: DocumentHost, words: str) -> list[dict[str, Any]]:
    call = HeardCall(3, "find", {"words": words})
    await host.find(call)
    await call.finish()
    return [item for frame in call.frames for item in frame["items"] if item["count"]]


async def test_places_on_a_page_are_told_as_parts_of_it() -> None:
    host = await opened(pdf([drawn("The guide rod is bent.", at=(0, 421), size=20)]))
    ((box,),) = await marks(host, "GUIDE rod")
    assert 0 < box[0] < box[2] < 0.4
    assert 0.45 < box[1] < 0.5 < box[3] < 0.52
    assert await marks(host, "nowhere") == ()
    assert await marks(host, "guide", part=7) == ()


async def test_a_passage_over_two_lines_has_a_box_for_each() -> None:
    page = drawn("The guide rod is bent by 4 mm where the") + drawn("work boat struck it in February.", at=(72, 700))
    host = await opened(pdf([page + drawn("All else is as it was built.", at=(72, 640))]))
    ((first, second),) = await marks(host, "The rod is bent since the work boat struck in February", cited=True)
    assert first[3] <= second[1] + 0.01
    assert await marks(host, "Bananas are yellow as the sun", cited=True) == ()


async def test_words_are_found_in_every_part_with_their_lines() -> None:
    host = await opened(pdf([drawn("rod"), drawn("none"), drawn("a rod") + drawn("the rod", at=(72, 600))]))
    assert [(item["part"], item["count"]) for item in await found(host, "rod")] == [(1, 1), (3, 2)]
    rows = "".join(
        f'<row r="{at}"><c t="str"><v>{"rod" if at % 50 == 0 else "x"}</v></c></row>' for at in range(1, 201)
    )
    sheet = await opened(workbook({"Levels": f"<sheetData>{rows}</sheetData>"}))
    assert await found(sheet, "rod") == [{"part": 1, "count": 4, "lines": [50, 100, 150, 200]}]


async def test_nothing_is_looked_for_in_a_document_that_is_not_open() -> None:
    with pytest.raises(CallError, match="not open"):
        await found(DocumentHost(b"%PDF-1.7 x"), "rod")


def test_places_that_a_reader_made_up_are_left_out() -> None:
    nan = float("nan")
    told = [[[0, 0, 1, 1], [0, 0, 2, 1], [nan, 0, 1, 1], "x"], [], "y", [[0, 0, 1]], [[True, 0, 1, "1"]]]
    assert boxes_from(told) == (((0, 0, 1, 1),),)
    assert boxes_from({"a": 1}) == ()


class Timed(DocumentFile):
    """One part, which says how much of the processor is left for reading it."""

    def __init__(self) -> None:
        super().__init__()
        self.names, self.left = [""], list[float]()

    def lines(self, part: int) -> Iterator[str]:
        self.left.append(signal.getitimer(signal.ITIMER_PROF)[0])
        yield "x"


async def test_who_waited_for_its_turn_is_bounded_like_any_other() -> None:
    host, document = DocumentHost(b""), Timed()
    host._document = document
    params = {"first": 1, "last": 1, "room": 100}
    async with host._turn:
        calls = [asyncio.create_task(host.text(WorkerCall(at, "text", params, [], lambda _: None))) for at in (1, 2)]
        await asyncio.sleep(0)
    await asyncio.gather(*calls)
    assert [left > 0 for left in document.left] == [True, True]
    assert signal.getitimer(signal.ITIMER_PROF)[0] == 0
