"""The process that reads documents: what it gives, what it can reach, and what it costs when it breaks down."""

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest

from desktop.domain.files.documents import WRONG_PASSWORD, DocumentRefused, about_from
from desktop.safety.confinement.linux.code_profile import code_sandbox_profile
from desktop.tools.documents.reader import DocumentReader
from desktop.workers.child import ChildProcess, ChildSpec
from desktop.workers.document_child import document_host
from tests.harness.documents import drawn, locked_office, locked_pdf, paragraph, pdf, run, word, workbook
from tests.harness.timeouts import WAIT_S

pytestmark = pytest.mark.spec("R-DOC-1")


async def test_a_page_that_is_a_picture_is_known_as_one_and_drawn(reader: DocumentReader, tmp_path: Path) -> None:
    (tmp_path / "scan.pdf").write_bytes(pdf(["0.5 g 100 100 300 300 re f\n"]))
    with (tmp_path / "scan.pdf").open("rb") as file:
        async with reader.open(file.fileno(), "scan.pdf") as document:
            text = await document.text(1, 1, room=1_000)
            picture = await document.picture(1, 400)
    assert (text.parts, text.scans) == (((1, ""),), (1,))
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    assert int.from_bytes(picture[16:20]) == 400


async def test_what_does_not_fit_is_gone_on_with_at_its_line(reader: DocumentReader, tmp_path: Path) -> None:
    rows = "".join(f'<row r="{n}"><c r="A{n}"><v>{n}</v></c></row>' for n in range(1, 2001))
    (tmp_path / "long.xlsx").write_bytes(workbook({"A": f"<sheetData>{rows}</sheetData>", "B": "<sheetData/>"}))
    with (tmp_path / "long.xlsx").open("rb") as file:
        async with reader.open(file.fileno(), "long.xlsx") as document:
            first = await document.text(1, 2, room=5_000)
            rest = await document.text(first.next_part, 2, line=first.next_line, room=100_000)
    told = first.parts[0][1].split("\n") + rest.parts[0][1].split("\n")[2:]
    assert first.next_part == 1
    assert told[2:] == [f"| {n} | {n} |" for n in range(1, 2001)]
    assert (rest.parts[1], rest.next_part) == ((2, "[The sheet is empty.]"), 0)


async def test_what_a_password_locks_is_opened_by_the_process_that_can_open_no_file(
    reader: DocumentReader, tmp_path: Path
) -> None:
    (tmp_path / "a.docx").write_bytes(locked_office(word(paragraph(run("hush"))), "sesame"))
    (tmp_path / "a.pdf").write_bytes(locked_pdf("hush", "sesame"))
    for name in ("a.docx", "a.pdf"):
        with (tmp_path / name).open("rb") as file:
            async with reader.open(file.fileno(), name, "sesame") as document:
                assert (await document.text(1, 1, room=100)).parts == ((1, "hush"),)
            with pytest.raises(DocumentRefused) as refused:
                async with reader.open(file.fileno(), name, "other"):
                    pass
            assert refused.value.code == WRONG_PASSWORD


async def test_words_are_found_and_marked_by_the_process(reader: DocumentReader, tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(pdf([drawn("rod")] + [drawn("none")] * 60 + [drawn("rod and rod")]))
    told: list[int] = []
    with (tmp_path / "a.pdf").open("rb") as file:
        async with reader.open(file.fileno(), "a.pdf") as document:
            found = await document.find("rod", told.append)
            marks = await document.marks(62, "rod", cited=False)
    assert [(one.part, one.count) for one in found] == [(1, 1), (62, 2)]
    assert told == [1, 25, 50, 62]
    assert len(marks) == 2


@pytest.mark.parametrize("box", ["0 0 9000 9000", "0 0 200000 1", "0 0 9e9 9e9"])
async def test_a_page_of_any_size_is_drawn_within_bounds(reader: DocumentReader, tmp_path: Path, box: str) -> None:
    (tmp_path / "huge.pdf").write_bytes(pdf([drawn("x")]).replace(b"0 0 595 842", box.encode()))
    with (tmp_path / "huge.pdf").open("rb") as file:
        async with reader.open(file.fileno(), "huge.pdf") as document:
            picture = await document.picture(1, 9_000)
    across, down = int.from_bytes(picture[16:20]), int.from_bytes(picture[20:24])
    assert 0 < across <= 2_000
    assert 0 < across * down <= 12_100_000


@pytest.mark.skipif(sys.platform != "linux", reason="the filter of system calls is Linux's")
async def test_whoever_takes_the_process_over_can_open_start_and_reach_nothing(tmp_path: Path) -> None:
    script = tmp_path / "taken.py"
    root = Path(__file__).parents[4]
    script.write_text(
        "import json, os, socket, subprocess, sys\n"
        f"sys.path.insert(0, {str(root)!r})\n"
        "from desktop.workers.document_host import host, opening\n"
        "def taken(data, name, password):\n"
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
        "host.opened = taken\n"
        "host.main(int(sys.argv[1]), sys.argv[2], sys.argv[3])\n"
    )
    (tmp_path / "it").write_bytes(b"x")
    with (tmp_path / "it").open("rb") as file:
        argv = (sys.executable, "-I", str(script), str(file.fileno()), *code_sandbox_profile(in_a_loop=True))
        child = ChildProcess(ChildSpec("document-host", argv, folder=os.sep, once=True, handles=(file.fileno(),)))
        reader = DocumentReader(lambda _: child)
        with pytest.raises(DocumentRefused) as caught:
            async with reader.open(file.fileno(), "it"):
                pass
    assert (caught.value.code, json.loads(str(caught.value))) == ("taken", [])


async def test_a_reader_that_breaks_down_costs_its_document_only(reader: DocumentReader, tmp_path: Path) -> None:
    (tmp_path / "it.pdf").write_bytes(pdf([drawn("x")]))
    made: list[ChildProcess] = []

    def child(handle: int) -> ChildProcess:
        made.append(document_host(handle, confined=code_sandbox_profile(in_a_loop=True)))
        return made[-1]

    with (tmp_path / "it.pdf").open("rb") as file:
        async with DocumentReader(child).open(file.fileno(), "it.pdf") as document:
            pid = made[0].health.pid
            assert pid is not None
            os.kill(pid, 11)
            with pytest.raises(DocumentRefused) as caught:
                await asyncio.wait_for(document.text(1, 1, room=100), WAIT_S)
        assert "broke down over it (signal 11)" in str(caught.value)
        async with reader.open(file.fileno(), "it.pdf") as again:
            assert (await again.text(1, 1, room=100)).parts == ((1, "x"),)


LIES = {
    "another part": "await call.emit({'part': 7, 'text': 'x'})",
    "more than asked for": "[await call.emit({'part': 1, 'text': 'x' * 20_000}) for _ in range(9)]",
    "no text": "await call.emit({'part': 1, 'text': 5})",
    "nothing about it": "raise SystemExit",
}


@pytest.mark.parametrize("lie", LIES)
async def test_what_a_process_that_lies_says_is_not_taken(tmp_path: Path, lie: str) -> None:
    script = tmp_path / "lies.py"
    about = {"kind": "PDF", "unit": "page", "count": 1, "names": [], "notes": []}
    script.write_text(
        "import sys\n"
        f"sys.path.insert(0, {str(Path(__file__).parents[4])!r})\n"
        "from desktop.workers.inside import ChildServer, pipes, run\n"
        f"async def about(call):\n    return {about!r}\n"
        f"async def text(call):\n    {LIES[lie]}\n    return {{}}\n"
        "async def serve():\n"
        "    methods = {'about': about, 'text': text}\n"
        "    await ChildServer('document-host', '1', methods).serve(*await pipes())\n"
        "run(serve, 'lies')\n"
    )
    child = ChildProcess(ChildSpec("document-host", (sys.executable, "-I", str(script)), folder=os.sep, once=True))
    with (tmp_path / "it").open("wb+") as file:
        async with DocumentReader(lambda _: child).open(file.fileno(), "it") as document:
            with pytest.raises(DocumentRefused):
                await asyncio.wait_for(document.text(1, 1, room=100), WAIT_S)


@pytest.mark.parametrize(
    "told", [{}, {"unit": "page"}, {"unit": "roll", "count": 1, "names": []}, None, {"count": "9"}]
)
def test_what_is_nothing_about_a_document_is_none(told: object) -> None:
    with pytest.raises(ValueError, match="document"):
        about_from(told)
