"""The process that opens pictures: what it gives, what it can reach, and what it costs when it breaks down."""

import asyncio
import base64
import json
import os
import sys
import tempfile
from pathlib import Path

import pytest

from desktop.domain.files.pictures import PictureFit, PictureRefused, picture_kind
from desktop.domain.messages import AudioBlock, ImageBlock
from desktop.safety.confinement.linux.code_profile import code_sandbox_profile
from desktop.tools.pictures.reader import PictureReader
from desktop.workers.child import ChildProcess, ChildSpec
from desktop.workers.picture_child import picture_host
from tests.harness import pictures
from tests.harness.pictures import RED, looked_at, marked, near, saved, svg
from tests.harness.timeouts import WAIT_S

pytestmark = pytest.mark.spec("R-MOD-6")
ROOT = Path(__file__).parents[4]


def points(block: ImageBlock) -> bytes:
    return base64.b64decode(block.data)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP", "AVIF", "TIFF", "BMP", "ICO"])
async def test_each_kind_is_opened_where_nothing_can_be_reached_any_more(reader: PictureReader, kind: str) -> None:
    options = {"sizes": [(60, 40)]} if kind == "ICO" else {}
    block = await reader.picture(saved(marked(mode="RGBA" if kind == "ICO" else "RGB"), kind, **options), "harbour")
    assert (block.name, block.width, block.height) == ("harbour", 60, 40)
    assert near(looked_at(points(block)).getpixel((5, 5)), RED)


REFUSED = {
    "an empty file": (b"", "picture.unknown", "no picture of a known kind"),
    "a program that is called .png": (b"\x7fELF\x02\x01\x01\x00" + b"\0" * 999, "picture.unknown", "no picture"),
    "a picture of another app": (b"8BPS\0\x01" + b"\0" * 99, "picture.unknown", "It is Photoshop"),
    "a picture of a telephone": (b"\0\0\0\x18ftypheic\0\0\0\0mif1heic", "picture.unknown", "It is HEIC"),
    "a drawing": (svg("<rect/>"), "picture.unknown", "It is SVG"),
    "more than are opened of what is no JPEG": (
        pictures.png_claiming(12_000, 12_000),
        "picture.too_large",
        "144 million points; at most 100 million",
    ),
    "more points than are opened": (pictures.png_claiming(60_000, 60_000), "picture.too_large", "3,600 million points"),
}


@pytest.mark.parametrize("what", REFUSED)
async def test_what_cannot_be_opened_says_why_and_what_to_do(reader: PictureReader, what: str) -> None:
    data, code, words = REFUSED[what]
    with pytest.raises(PictureRefused, match=words) as caught:
        await asyncio.wait_for(reader.picture(data, "it"), WAIT_S)
    assert caught.value.code == code
    assert caught.value.next_step


def test_a_kind_is_known_by_its_content_alone() -> None:
    kinds = {kind: saved(marked(), kind)[:4096] for kind in ("PNG", "JPEG", "GIF", "TIFF", "BMP", "AVIF")}
    assert {kind: picture_kind(head) for kind, head in kinds.items()} == {kind: kind for kind in kinds}
    assert picture_kind(saved(marked(), "WEBP")) == "WebP"
    heads = [b"BM is a text", b"RIFF\0\0\0\0WAVE", b"<html><svg>", b"<svgx>", b"", b"<?xml ?><!-- <svg> --><a/>"]
    assert [picture_kind(head) for head in heads] == [""] * 6
    before = b'<?xml version="1.0"?>\n<!-- a > b -->\n<!DOCTYPE svg PUBLIC "x" [ <!ENTITY a "b"> ]>\n'
    assert picture_kind(b"\xef\xbb\xbf" + before + b"<svg xmlns='x'>") == "SVG"


async def test_it_is_made_as_small_as_whoever_asks_can_take(reader: PictureReader) -> None:
    block = await reader.picture(saved(marked(900, 600), "PNG"), "it", PictureFit(side=300, size=50_000))
    assert (block.width, block.height, block.notes) == (300, 200, "made smaller from 900 × 600")


async def test_of_several_those_that_cannot_be_opened_are_told_and_the_others_stay(reader: PictureReader) -> None:
    def came(data: bytes, name: str) -> ImageBlock:
        return ImageBlock("image/png", base64.b64encode(data).decode(), name)

    sound = AudioBlock("audio/wav", "UklGRg==")
    large = came(saved(marked(3_000, 600), "PNG"), "large")
    media = [came(saved(marked(), "PNG"), "one"), came(b"\x89PNG\r\n\x1a\nno", "two"), sound, large]
    found, said = await reader.remade(media)
    assert [type(one) for one in found] == [ImageBlock, type(None), AudioBlock, ImageBlock]
    assert said == [
        "[The picture “two” is left out. It begins like a PNG, and is broken.]",
        "[The picture “large” is shown at 2000 × 400, made smaller from 3000 × 600.]",
    ]
    again, nothing = await reader.remade([one for one in found if one is not None])
    assert (again, nothing) == ([one for one in found if one is not None], []), "none is opened twice"


@pytest.mark.skipif(sys.platform != "linux", reason="the filter of system calls is Linux's")
async def test_whoever_takes_the_process_over_can_open_start_and_reach_nothing(tmp_path: Path) -> None:
    script = tmp_path / "taken.py"
    script.write_text(
        "import json, os, socket, subprocess, sys, threading\n"
        f"sys.path.insert(0, {str(ROOT)!r})\n"
        "from desktop.workers.picture_host import host, remaking\n"
        "def taken(data, kind, side, size):\n"
        "    tries = {\n"
        "        'read': lambda: open('/etc/passwd').read(),\n"
        f"        'write': lambda: open({str(tmp_path / 'made')!r}, 'w'),\n"
        "        'list': lambda: os.listdir('/'),\n"
        "        'connect': lambda: socket.socket(),\n"
        "        'start': lambda: subprocess.run(['true']),\n"
        "        'fork': os.fork,\n"
        "        'signal': lambda: os.kill(os.getppid(), 0),\n"
        "        'look': lambda: os.stat('/etc/passwd'),\n"
        "    }\n"
        "    done = []\n"
        "    for what, attempt in tries.items():\n"
        "        try:\n"
        "            attempt()\n"
        "            done.append(what)\n"
        "        except OSError:\n"
        "            pass\n"
        "    raise host.CallError('taken', json.dumps(done))\n"
        "remaking.remade = taken\n"
        "host.main(int(sys.argv[1]), sys.argv[2], sys.argv[3])\n"
    )

    def child(handle: int) -> ChildProcess:
        argv = (sys.executable, "-I", str(script), str(handle), *code_sandbox_profile(in_a_loop=True))
        return ChildProcess(ChildSpec("picture-host", argv, folder=os.sep, once=True, handles=(handle,)))

    with pytest.raises(PictureRefused) as caught:
        await PictureReader(child).picture(saved(marked(), "PNG"), "it")
    assert (caught.value.code, json.loads(str(caught.value))) == ("taken", [])


async def test_a_process_that_breaks_down_costs_its_picture_only(reader: PictureReader) -> None:
    made: list[ChildProcess] = []

    def child(handle: int) -> ChildProcess:
        made.append(picture_host(handle, confined=code_sandbox_profile(in_a_loop=True)))
        return made[-1]

    slow = asyncio.ensure_future(PictureReader(child).picture(saved(marked(9_000, 9_000), "PNG"), "it"))
    async with asyncio.timeout(WAIT_S):
        while not (made and made[0].health.pid):
            await asyncio.sleep(0.01)
    pid = made[0].health.pid
    assert pid is not None
    os.kill(pid, 11)
    with pytest.raises(PictureRefused, match="broke down over it"):
        await asyncio.wait_for(slow, WAIT_S)
    assert (await reader.picture(saved(marked(), "PNG"), "it")).width == 60


TRUE = saved(marked(), "PNG")
SAYS = {"kind": "PNG", "media_type": "image/png", "width": 60, "height": 40, "notes": []}
LIES = {
    "another size": (TRUE, {"width": 61}),
    "larger than was asked for": (TRUE, {"width": 9_999}),
    "no size": (TRUE, {"width": "60"}),
    "another size of a JPEG": (saved(marked(), "JPEG"), {"media_type": "image/jpeg", "height": 41}),
    "another kind": (TRUE, {"media_type": "image/jpeg"}),
    "a kind that is not made": (b"GIF89a", {"media_type": "image/gif"}),
    "no picture": (b"#!/bin/sh", {}),
}


def lying(tmp_path: Path, emits: str, said: object) -> PictureReader:
    script = tmp_path / "lies.py"
    script.write_text(
        "import sys\n"
        f"sys.path.insert(0, {str(ROOT)!r})\n"
        "from desktop.workers.inside import ChildServer, pipes, run\n"
        f"async def picture(call):\n    {emits}\n    return {said!r}\n"
        "async def serve():\n"
        "    await ChildServer('picture-host', '1', {'picture': picture}).serve(*await pipes())\n"
        "run(serve, 'lies')\n"
    )
    argv = (sys.executable, "-I", str(script))
    return PictureReader(lambda _: ChildProcess(ChildSpec("picture-host", argv, folder=os.sep, once=True)))


@pytest.mark.parametrize("lie", LIES)
async def test_what_a_process_that_lies_says_is_not_taken(tmp_path: Path, lie: str) -> None:
    data, changed = LIES[lie]
    emits = f"await call.emit({{'data': {base64.b64encode(data).decode()!r}}})"
    with pytest.raises(PictureRefused, match="said what it may not say"):
        await asyncio.wait_for(lying(tmp_path, emits, {**SAYS, **changed}).picture(TRUE, "it"), WAIT_S)


WHOLE = base64.b64encode(TRUE + b"\0" * (-len(TRUE) % 3)).decode()


@pytest.mark.parametrize("more", ["5", "'A' * 500_000"])
async def test_nor_more_of_it_than_was_asked_for(tmp_path: Path, more: str) -> None:
    emits = f"[await call.emit({{'data': one}}) for one in ({WHOLE!r}, *[{more}] * 12)]"
    with pytest.raises(PictureRefused, match="said what it may not say"):
        await asyncio.wait_for(lying(tmp_path, emits, SAYS).picture(TRUE, "it"), WAIT_S)


async def test_what_it_says_of_the_picture_is_cut(tmp_path: Path) -> None:
    emits = f"await call.emit({{'data': {base64.b64encode(TRUE).decode()!r}}})"
    block = await lying(tmp_path, emits, {**SAYS, "notes": ["x" * 9_999] * 99}).picture(TRUE, "it")
    assert len(block.notes) < 1_000


async def test_a_full_disk_leaves_the_picture_out_and_what_came_with_it_stays(
    reader: PictureReader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    shot = ImageBlock("image/png", base64.b64encode(TRUE).decode(), "shot")
    made, said = await reader.remade([AudioBlock("audio/wav", "", "hum"), shot])
    assert made[1] is None
    assert isinstance(made[0], AudioBlock)
    assert len(said) == 1
    assert said[0].startswith("[The picture “shot” is left out. It cannot be opened now: ")
