"""Pages and drawings as pictures: by a process without network and files, whatever they are made of."""

from __future__ import annotations

import base64
import zlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import ClientSession, web

from desktop.domain.files.results import ResultKind, ResultRefused
from tests.harness.pictures import packed_png, plain_png
from tests.unit.workers.result_host.conftest import Show

pytestmark = pytest.mark.spec("R-DOC-2")

WANTS = """<!doctype html><html manifest="{a}/m"><head><base href="{a}/"><link rel=stylesheet href="{a}/1.css">
<link rel="icon preload prefetch dns-prefetch preconnect import" href="{a}/2">
<meta http-equiv=refresh content="0;url={a}/3">
<meta http-equiv="Content-Security-Policy" content="report-uri {a}/4"><script src="{a}/5.js"></script>
<script type=module>import "{a}/6.js"; fetch("{a}/7")</script>
<style>@import "{a}/8.css"; @import url({a}/9.css); @font-face{{font-family:x;src:url({a}/10.woff)}}
body{{background:url({a}/11.png), image-set("{a}/12.png" 1x);font-family:x}} li{{list-style-image:url('{a}/13.png')}}
p::before{{content:url({a}/14.png)}}
p{{cursor:url({a}/15.cur),auto;mask:url({a}/16.svg#m);filter:url({a}/17.svg#f)}}</style></head>
<body background="{a}/18.png" onload="fetch('{a}/19')"><h1>Drawn</h1><img src="{a}/20.png" srcset="{a}/21.png 2x">
<img src="//{host}/22.png"><img src="/23.png"><picture><source srcset="{a}/24.webp"><img src="{file}"></picture>
<iframe src="{a}/25"></iframe><iframe srcdoc="<img src={a}/26>"></iframe>
<object data="{a}/27"></object><embed src="{a}/28">
<video src="{a}/29" poster="{a}/30.png"><track src="{a}/31"></video><audio src="{a}/32"></audio>
<form action="{a}/33"><input type=image src="{a}/34.png"><button formaction="{a}/35">x</button></form>
<svg width=40 height=40><image href="{a}/36.png" width=9 height=9 /><use href="{a}/37.svg#x" />
<image xlink:href="{file}" width=40 height=40 />
<text x=1 y=9>letters</text><foreignObject width=9 height=9><img src="{a}/38"></foreignObject></svg>
<svg width=20 height=20><image href="{a}/39.svg" width=9 height=9 /></svg>
<p style="background:url({a}/40.png)">words</p><a href="{a}/41" ping="{a}/42">link</a>
<table background="{a}/43"><tr><td background={a}/44>x</table>
<img src="qrc:/qt-project.org/logos/pysidelogo.png">
<img src="data:text/html,<img src={a}/45>"><frameset><frame src="{a}/46"></frameset></body></html>"""


@pytest.fixture
async def asked() -> AsyncIterator[tuple[str, list[str]]]:
    """A server on this computer, and what it was asked for."""
    paths: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        paths.append(request.path)
        return web.Response(text="x")

    app = web.Application()
    app.router.add_route("*", "/{rest:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    assert site._server is not None
    yield f"http://127.0.0.1:{site._server.sockets[0].getsockname()[1]}", paths  # type: ignore[attr-defined]
    await runner.cleanup()


def pixels(picture: bytes) -> tuple[int, set[bytes]]:
    """How wide a piece of a page is, and its colours."""
    width = int.from_bytes(picture[16:20])
    data, at = b"", 8
    while at < len(picture):
        size = int.from_bytes(picture[at : at + 4])
        data += picture[at + 8 : at + 8 + size] if picture[at + 4 : at + 8] == b"IDAT" else b""
        at += 12 + size
    raw, stride = zlib.decompress(data), 4 * width + 1
    rows = [raw[at + 1 : at + stride] for at in range(0, len(raw), stride)]
    return width, {row[at : at + 3] for row in rows for at in range(0, len(row), 4)}


async def test_a_page_that_wants_everything_gets_nothing(
    show: Show, asked: tuple[str, list[str]], tmp_path: Path
) -> None:
    address, paths = asked
    (tmp_path / "red.png").write_bytes(plain_png(40, 40, b"\xfe\x01\x02"))
    page = WANTS.format(a=address, host=address[7:], file=f"file://{tmp_path}/red.png")
    async with show(page, "page") as result:
        drawn = await result.draw(500, 1.0)
        width, colours = pixels(await result.tile(0))
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" width="90" height="90">{page[page.index("<image") :]}</svg>'
    async with show(svg.replace(address, f"{address}/svg"), "drawing") as result:
        with pytest.raises(ResultRefused):  # it is no XML
            await result.draw(500, 1.0)
    assert paths == []
    assert (width, drawn.width) == (500, 500)
    assert drawn.height > 60, "it is drawn all the same"
    assert b"\xfe\x01\x02" not in colours, "the file beside it is not in it"
    assert b"\x00\x00\x00" in colours, "but its letters are"
    left = result_left = {what for what, _ in (await _about(show, page))}
    assert {"script", "picture", "style sheet", "font", "film", "sound", "way to another page"} <= left
    assert {"page in the page", "program in the page", "form, which sends nothing", "page in a drawing"} <= result_left
    async with ClientSession() as session, session.get(f"{address}/it-listens"):
        assert paths == ["/it-listens"]


async def _about(show: Show, page: str) -> tuple[tuple[str, str], ...]:
    async with show(page, "page") as result:
        return result.about.left


async def test_a_drawing_has_its_letters_and_fetches_nothing(
    show: Show, asked: tuple[str, list[str]], tmp_path: Path
) -> None:
    address, paths = asked
    (tmp_path / "red.png").write_bytes(plain_png(40, 40, b"\xfe\x01\x02"))
    svg = (
        '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'viewBox="0 0 200 100"><script href="{address}/1"/><image href="{address}/2.png" width="9" height="9"/>'
        f'<image xlink:href="{tmp_path}/red.png" width="90" height="90"/><image href="red.png" width="9" height="9"/>'
        f'<style>@import "{address}/3.css"; rect {{ fill: url({address}/4.svg#g) }}</style><use href="{address}/5#a"/>'
        '<text x="10" y="50" font-size="40" fill="#0000fe">Quay</text></svg>'
    )
    async with show(svg, "drawing", "levels.svg") as result:
        drawn = await result.draw(300, 2.0)
        _, colours = pixels(await result.tile(0))
        left = result.about.left
    assert paths == []
    assert (drawn.width, drawn.height) == (600, 200), "as large as it says, with two pixels for each"
    assert b"\x00\x00\xfe" in colours
    assert b"\xfe\x01\x02" not in colours
    assert [what for what, _ in left] == [
        "script",
        "picture",
        "picture",
        "picture",
        "style sheet",
        "picture",
        "drawing",
    ]


async def test_a_drawing_in_a_page_has_its_letters_and_the_variables_of_the_page(show: Show) -> None:
    page = (
        "<style>:root { --ink: #0000fe; --line: #fe00fe } .name { font-size: 40px }</style><p>Levels</p>"
        '<svg viewBox="0 0 200 60" width="200"><text class="name" x="5" y="45" fill="var(--ink)">Quay</text></svg>'
        '<svg viewBox="0 0 200 60" width="200"><rect width="90" height="40" fill="var(--line)"/></svg>'
    )
    async with show(page, "page") as result:
        await result.draw(300, 1.0)
        _, colours = pixels(await result.tile(0))
    assert {b"\x00\x00\xfe", b"\xfe\x00\xfe", b"\x00\x00\x00"} <= colours


BOMB = base64.b64encode(packed_png(60_000, 60_000, 0, zlib.compress(bytes(60_000 * 7_501), 9), depth=1)).decode()
LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
HOSTILE: dict[str, tuple[ResultKind, str, str]] = {
    "a picture that is a bomb": ("page", f'<h1>x</h1><img src="data:image/png;base64,{BOMB}">', ""),
    "elements inside each other": ("page", "<div>" * 4_000, ""),
    "a page as high as a mountain": ("page", '<body><div style="height:9999999px;width:9999999px">x</div></body>', ""),
    "a drawing of a billion laughs": (
        "drawing",
        f'<!DOCTYPE svg [<!ENTITY l0 "ha">{LAUGHS}]><svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">'
        "<text>&l11;</text></svg>",
        "It cannot be drawn",
    ),
    "a drawing that uses itself": (
        "drawing",
        '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><g id="a"><use href="#a"/></g></svg>',
        "",
    ),
    "rules inside each other": ("page", "<style>" + "a{" * 100_000 + "<script><!--", "broke down over it"),
    "quotes that never end": ("page", '<a "' * 100_000 + ">", ""),
    "no page at all": ("page", "\x00\x01\x02" * 1000, ""),
}


@pytest.mark.parametrize("name", HOSTILE)
async def test_what_is_made_to_hurt_is_drawn_or_refused_with_why(show: Show, name: str) -> None:
    kind, text, refused = HOSTILE[name]
    if refused:
        with pytest.raises(ResultRefused, match=refused):
            async with show(text, kind) as result:
                await result.draw(400, 1.0)
        return
    async with show(text, kind) as result:
        assert (await result.draw(400, 1.0)).height <= 40_000
        assert (await result.tile(0)).startswith(b"\x89PNG")
