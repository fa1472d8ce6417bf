"""Results of a chat: what its calls wrote, as they wrote it, whatever became of the files since."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from desktop.domain.files.pictures import PictureRefused
from desktop.domain.files.results import ResultRefused
from desktop.safety.confinement.linux.code_profile import drawing_profile
from desktop.services.results.reading import ResultReader
from desktop.services.results.service import ResultService
from desktop.tools.pictures.reader import PictureReader
from desktop.workers.document_child import result_host
from desktop.workers.picture_child import picture_host
from tests.harness.pictures import chunk, plain_png
from tests.unit.services.changes.kit import Calls, calls_in

pytestmark = pytest.mark.spec("R-DOC-2")
PAGE = "<h1>Levels</h1><script>x()</script>"


@pytest_asyncio.fixture
async def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Calls]:
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    async with calls_in(tmp_path) as made:
        yield made


def service(calls: Calls) -> ResultService:
    reader = ResultReader(lambda handle: result_host(handle, confined=drawing_profile()))
    pictures = PictureReader(picture_host)
    return ResultService(calls.store.changes, calls.store.kept_files, reader, pictures, calls.files)


async def test_versions_are_what_calls_wrote_also_once_the_file_is_gone(calls: Calls) -> None:
    results, path = service(calls), calls.root / "a.html"
    path.write_text("by hand")
    for text in ("one", "two", PAGE):
        await calls.write("a.html", text)
    path.write_text("by hand again")
    (found,) = await results.of_thread("t")
    assert [await results.content(one) for one in found.versions] == [b"one", b"two", PAGE.encode()]
    assert await results.beginning(found.beginning) == b"by hand"
    assert "was changed since" in await results.now(found)
    path.write_text(PAGE)
    assert await results.now(found) == ""
    path.unlink()
    assert "is deleted since" in await results.now(found)
    async with results.opened(found, found.versions[-1]) as opened:
        assert opened.about.left == (("script", "x()"),)
        assert (await opened.draw(300, 1.0)).height > 20


async def test_what_stands_at_the_place_now_is_said_and_never_read(calls: Calls) -> None:
    results, path = service(calls), calls.root / "a.html"
    await calls.write("a.html", "one")
    (found,) = await results.of_thread("t")
    path.unlink()
    path.symlink_to("/etc/passwd")
    assert "a link at its place" in await results.now(found)
    path.unlink()
    os.mkfifo(path)
    assert "a pipe, or something like it," in await results.now(found)
    path.unlink()
    path.mkdir()
    assert "a folder at its place" in await results.now(found)
    assert await results.content(found.versions[0]) == b"one"


async def test_of_a_folder_that_was_closed_since_nothing_is_looked_at(calls: Calls) -> None:
    results, path = service(calls), calls.root / "a.html"
    await calls.write("a.html", "one")
    (found,) = await results.of_thread("t")
    path.unlink()
    calls.world.change(denied=(str(calls.root),))
    assert "is closed to this chat now" in await results.now(found)
    assert await results.content(found.versions[0]) == b"one"


async def test_what_is_not_kept_or_damaged_says_so(calls: Calls) -> None:
    results = service(calls)
    await calls.write("a.html", "one")
    await calls.write("a.html", "two")
    (found,) = await results.of_thread("t")
    kept = calls.world.home / "data" / "changes" / "kept"
    for place in kept.rglob(f"{found.versions[0].digest}*"):
        place.write_bytes(b"other")
    with pytest.raises(ResultRefused, match="damaged"):
        await results.content(found.versions[0])
    await calls.service.clear()
    (found,) = await results.of_thread("t")
    assert found.versions[0].gone
    with pytest.raises(ResultRefused, match="not kept any more"):
        await results.content(found.versions[1])
    calls.limits.most_bytes = 1
    await calls.write("b.csv", "a,b\n" * 100)
    csv = next(one for one in await results.of_thread("t") if one.name == "b.csv")
    with pytest.raises(ResultRefused, match=r"not kept|more than is kept"):
        await results.content(csv.versions[0])


async def test_a_picture_is_made_anew_and_what_is_none_says_so(calls: Calls) -> None:
    results = service(calls)
    note = chunk(b"tEXt", b"gps\x0048 N")
    whole = plain_png(3, 2, b"\xd0\x80\x20")
    await calls.write("a.png", whole[:33] + note + whole[33:])
    await calls.write("b.png", b"\x89PNG\r\n\x1a\n and no more")
    first, second = await results.of_thread("t")
    made = await results.picture(first, first.versions[0])
    assert made.startswith(b"\x89PNG")
    assert b"gps" not in made
    with pytest.raises(PictureRefused):
        await results.picture(second, second.versions[0])
