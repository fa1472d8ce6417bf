"""Colours of code, asked of the real process that reads it."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from desktop.domain.fences.colours import CODE_LONGEST
from desktop.safety.confinement.linux.code_profile import code_sandbox_profile
from desktop.services.fences.service import FenceService
from desktop.workers.child import ChildProcess, ChildSpec
from desktop.workers.fence_child import SERVICE, fence_host

pytestmark = pytest.mark.spec("R-DOC-2")

COMMON = (
    "python py javascript js typescript ts tsx jsx bash sh shell zsh console powershell batch json jsonc json5 yaml "
    "yml toml ini xml html css scss less sql c cpp c++ h hpp csharp cs java kotlin kt scala groovy gradle swift "
    "objc go golang rust rs zig nim d ruby rb php perl lua r julia matlab octave haskell hs ocaml fsharp elixir "
    "erlang clojure lisp scheme racket prolog fortran cobol pascal delphi ada vb assembly asm nasm dockerfile "
    "docker makefile make cmake nginx apache hcl terraform protobuf proto graphql diff patch markdown md latex tex "
    "rst vim awk sed solidity dart vue svelte jinja handlebars properties http "
).split()
ENDLESS = "\n" * 60_000
"""Keeps the reader of AutoHotkey busy for minutes: one of its expressions looks at the same lines again from each."""
SAMPLE = "x = 1\nif (x) { return \"two\" } // three\n# four\n<b c='d'>5</b>\nSELECT a FROM b WHERE c = 6;\n$e = [7];\n"
"""Something of most languages: a number, a string, a keyword."""
OWN = {
    "diff": "- a\n+ b\n",
    "patch": "- a\n+ b\n",
    "jinja": "{% if a %}b{% endif %}",
    "handlebars": "{{#if a}}b{{/if}}",
    "http": "GET / HTTP/1.1\nHost: a\n",
    "markdown": "# a\n",
    "md": "# a\n",
}


@pytest.fixture
async def service() -> AsyncIterator[FenceService]:
    child = fence_host(confined=code_sandbox_profile(in_a_loop=True))
    yield FenceService(child)
    await child.stop()


async def told(service: FenceService, language: str, code: str) -> list[tuple[str, str]]:
    colours = await service.colours(language, code)
    return [(code[start:end], role) for start, end, role in colours.within(0, len(code))]


async def test_code_has_the_colours_of_its_language(service: FenceService) -> None:
    zig = 'const std = @import("std"); // all of it'
    assert await told(service, "zig", zig) == [
        ("const", "keyword"),
        ("@import", "name"),
        ('"std"', "string"),
        ("// all of it", "comment"),
    ]
    assert await told(service, "json", '{"a": 1}') == [('"a"', "name"), ("1", "number")]
    assert await told(service, "patch", "- old\n+ new\n") == [("- old", "deleted"), ("+ new", "inserted")]


async def test_every_name_that_fences_often_give_is_known(service: FenceService) -> None:
    assert [name for name in COMMON if not await told(service, name, OWN.get(name, SAMPLE))] == []


async def test_what_is_no_language_is_in_one_colour(service: FenceService) -> None:
    for name in ("", "text", "output", "nonsense", "../../etc/passwd", "x" * 100_000):
        assert await told(service, name, SAMPLE) == [], name


async def test_letters_beyond_the_first_plane_and_foreign_line_ends_do_not_shift_a_colour(
    service: FenceService,
) -> None:
    code = 'a = "\U0001f409\r\n"\rb = "\u2028" # \U0001d518\r\nreturn 1'
    found = await told(service, "python", code)
    assert ("return", "keyword") in found
    assert ("1", "number") in found


async def test_code_that_would_take_minutes_keeps_what_it_has_and_the_next_is_coloured(service: FenceService) -> None:
    assert (await told(service, "autohotkey", "; a remark\n" + ENDLESS))[:1] == [("; a remark", "comment")]
    assert await told(service, "python", "return 1") == [("return", "keyword"), ("1", "number")]
    assert service.health.generation == 1, "the same process, which ended nothing but the call"


async def test_more_code_than_is_coloured_stays_in_one_colour(service: FenceService) -> None:
    assert await told(service, "python", "return 1\n" * (CODE_LONGEST // 9 + 1)) == []
    assert await told(service, "python", "x" * 1_000_000) == []


async def test_a_language_inside_a_language_finds_its_reader_although_nothing_can_be_opened(
    service: FenceService,
) -> None:
    code = "# Title\n\n```zig\nconst a = 1;\n```\n\n```nonsense\nx\n```\n"
    assert ("const", "keyword") in await told(service, "markdown", code)


LIAR = """
import sys
sys.path.insert(0, {root!r})
import asyncio
from desktop.workers.inside import ChildServer, pipes, run

async def colours(call):
    await call.emit({item})
    return {{"known": True}}

async def serve():
    reader, writer = await pipes()
    await ChildServer({service!r}, "1", {{"colours": colours}}).serve(reader, writer)

run(serve, {service!r})
"""
LIES = {
    "no text": '{"spans": 7}',
    "no base64": '{"spans": "%%%"}',
    "another thing": '{"colour": "red"}',
    "half a span": '{"spans": "AAAA"}',
    "spans beyond the code, of no role": '{"spans": "/" * 20000}',
}


@pytest.mark.parametrize("item", LIES.values(), ids=LIES)
async def test_a_host_that_lies_colours_nothing_outside_the_code(item: str) -> None:
    root = str(Path(__file__).resolve().parents[4])
    program = LIAR.format(root=root, item=item, service=SERVICE)
    child = ChildProcess(ChildSpec(SERVICE, (sys.executable, "-I", "-c", program), {}, on_demand=True))
    try:
        colours = await FenceService(child).colours("python", "return 1")
    finally:
        await child.stop()
    assert list(colours.within(0, 8)) == []
