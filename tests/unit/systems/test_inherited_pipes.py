"""Streams over the pipes that a process was started with; Windows' need nothing that only Windows has."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from desktop.systems.posix import inherited_pipes as posix
from desktop.systems.windows import inherited_pipes as windows
from tests.harness.timeouts import WAIT_S, until

ROOT = Path(__file__).resolve().parents[3]
MUCH = os.urandom(3_000_000)
both = pytest.mark.parametrize("side", [posix, windows], ids=["posix", "windows"])
pytestmark = [pytest.mark.spec("R-PKG-3"), pytest.mark.expects_threads]


@both
async def test_what_is_written_at_one_end_is_read_at_the_other_and_then_the_end(side: object) -> None:
    given, taken = os.pipe()
    reader, transport = await side.reader_of(given, 2**16)  # type: ignore[attr-defined]
    writer = await side.writer_of(taken)  # type: ignore[attr-defined]
    writer.write(b"a line\n")
    await writer.drain()
    assert await reader.readline() == b"a line\n"
    read = asyncio.ensure_future(reader.readexactly(len(MUCH)))
    for start in range(0, len(MUCH), 100_000):
        writer.write(MUCH[start : start + 100_000])
        await writer.drain()
    assert await read == MUCH
    writer.write(b"last words")
    writer.close()
    assert await reader.read() == b"last words"
    transport.close()


@both
async def test_who_writes_waits_for_who_reads(side: object) -> None:
    given, taken = os.pipe()
    writer = await side.writer_of(taken)  # type: ignore[attr-defined]
    writer.write(MUCH)
    drained = asyncio.ensure_future(writer.drain())
    await asyncio.sleep(0)
    assert not drained.done()
    reader, transport = await side.reader_of(given, 2**16)  # type: ignore[attr-defined]
    assert await reader.readexactly(len(MUCH)) == MUCH
    await drained
    writer.close()
    assert await reader.read() == b""
    transport.close()


async def test_no_more_is_read_than_somebody_takes() -> None:
    """A child could fill the memory of who listens to it."""
    given, taken = os.pipe()
    reader, transport = await windows.reader_of(given, 1_000)
    os.set_blocking(taken, False)

    def fills() -> bool:
        try:
            os.write(taken, b"x" * 4_096)
        except BlockingIOError:
            return True
        return False

    await until(fills, "the pipe is full")
    assert len(reader._buffer) <= 3 * windows.PIECE  # type: ignore[attr-defined]
    os.close(taken)
    transport.close()


@both
async def test_writing_to_whom_nobody_listens_any_more_is_an_error_and_waits_for_nobody(side: object) -> None:
    given, taken = os.pipe()
    writer = await side.writer_of(taken)  # type: ignore[attr-defined]
    os.close(given)
    writer.write(MUCH)
    await until(writer.transport.is_closing, "it is noticed")
    with pytest.raises(ConnectionError):
        await writer.drain()
    writer.close()


def test_what_was_said_before_the_end_arrives_though_the_program_ends_at_once() -> None:
    code = (
        "import asyncio, os\n"
        "from desktop.systems.windows.inherited_pipes import reader_of, writer_of\n"
        "async def main():\n"
        "    reader, _ = await reader_of(os.dup(0), 2**16)\n"
        "    writer = await writer_of(os.dup(1))\n"
        "    writer.write(await reader.readline() * 100_000)\n"
        "    writer.close()\n"
        "asyncio.run(main())\n"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, input=b"hello\nmore", capture_output=True, timeout=WAIT_S)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == b"hello\n" * 100_000
