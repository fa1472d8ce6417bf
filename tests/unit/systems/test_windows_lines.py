"""Lines on Windows, tried here: they need nothing that only Windows has. Who has not read the file is nobody, at either
end of the line."""

import asyncio
import os
import socket
import stat
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from desktop.systems.windows import local_lines
from desktop.systems.windows.local_lines import HOST, MOST_WAITING, SECRET, connect, listen, reach, streams
from tests.harness.timeouts import FOREVER_S, WAIT_S, until

MOST = 4096


class Listener:
    """Says back what it is told, and keeps it."""

    def __init__(self, folder: Path) -> None:
        self.address = folder / "door"
        self.told: list[bytes] = []
        self.came = 0
        self.strangers: list[asyncio.StreamWriter] = []

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.came += 1
        said = await reader.readline()
        self.told.append(said)
        writer.write(b"you said " + said)
        await writer.drain()
        writer.close()

    async def open(self, *, patience: float = FOREVER_S) -> None:
        self.server = await listen(self.address, self.answer, MOST, patience=patience)
        self.port = int(self.address.read_bytes().split(b" ")[0])

    async def stranger(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Another program of this computer, which knows the port alone."""
        reader, writer = await asyncio.open_connection(HOST, self.port)
        self.strangers.append(writer)
        return reader, writer

    def close(self) -> None:
        self.server.close()
        for writer in self.strangers:
            writer.close()


@pytest.fixture
async def listener(tmp_path: Path) -> AsyncIterator[Listener]:
    made = Listener(tmp_path)
    await made.open()
    yield made
    made.close()


async def told(listener: Listener, text: bytes) -> bytes:
    reader, writer = await streams(await reach(listener.address))
    writer.write(text)
    answer = await asyncio.wait_for(reader.read(), WAIT_S)
    writer.close()
    return answer


async def left_alone(reader: asyncio.StreamReader) -> bytes:
    """What it is told until it is left."""
    found = b""
    try:
        while more := await asyncio.wait_for(reader.read(MOST), WAIT_S):
            found += more
    except ConnectionError:
        pass
    return found


async def test_who_has_read_the_file_is_heard_and_answered(listener: Listener) -> None:
    assert await told(listener, b"open\n") == b"you said open\n"
    line = await asyncio.to_thread(connect, listener.address, WAIT_S)
    with line:
        line.sendall(b"again\n")
        assert await asyncio.to_thread(line.recv, MOST) == b"you said again\n"
    assert listener.told == [b"open\n", b"again\n"]


async def test_a_request_in_the_same_breath_as_the_proof_is_not_lost(listener: Listener) -> None:
    """What follows the proof is for whoever receives, from its first byte on."""
    reader, writer = await listener.stranger()
    port, secret = local_lines._told(listener.address)
    writer.write(bytes(SECRET))
    said = await reader.readexactly(2 * SECRET)
    writer.write(local_lines._answer(secret, bytes(SECRET), said) + b"open\n")
    assert await left_alone(reader) == b"you said open\n"
    assert port == listener.port


@pytest.mark.parametrize(
    "second",
    [bytes(SECRET), b"\xff" * SECRET, b"open\n" * SECRET, b"\n" * SECRET],
    ids=["zeros", "ones", "a request", "lines"],
)
async def test_who_cannot_prove_it_is_left_before_it_is_heard(listener: Listener, second: bytes) -> None:
    reader, writer = await listener.stranger()
    writer.write(bytes(SECRET))
    await reader.readexactly(2 * SECRET)
    writer.write(second + b"open\n")
    assert await left_alone(reader) == b""
    assert await told(listener, b"mine\n") == b"you said mine\n"
    assert listener.told == [b"mine\n"]


async def test_a_proof_that_was_heard_is_no_proof_at_the_next_line(listener: Listener) -> None:
    """Nor is the listener's own: it is asked first, and says something else of each end."""
    first, second = await listener.stranger(), await listener.stranger()
    _, secret = local_lines._told(listener.address)
    first[1].write(bytes(SECRET))
    heard = local_lines._answer(secret, bytes(SECRET), await first[0].readexactly(2 * SECRET))
    second[1].write(bytes(SECRET))
    said = await second[0].readexactly(2 * SECRET)
    second[1].write(heard + b"open\n")
    assert await left_alone(second[0]) == b""
    third = await listener.stranger()
    third[1].write(said[:SECRET])
    third[1].write((await third[0].readexactly(2 * SECRET))[SECRET:] + b"open\n")
    assert await left_alone(third[0]) == b""
    assert listener.came == 0


async def test_the_secret_is_never_said(listener: Listener) -> None:
    """Whoever can look at the lines of this computer, and whoever listens at a port that was ours, learns nothing."""
    _, secret = local_lines._told(listener.address)
    heard = await proxied(listener)
    assert secret not in heard
    assert bytes.fromhex(secret.decode()) not in heard


async def proxied(listener: Listener) -> bytes:
    """All that is said while somebody opens a line, both ways."""
    heard = bytearray()

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while said := await reader.read(MOST):
            heard.extend(said)
            writer.write(said)
        writer.close()

    async def between(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        to_reader, to_writer = await listener.stranger()
        await asyncio.gather(pass_on(reader, to_writer), pass_on(to_reader, writer))

    async with await asyncio.start_server(between, HOST, 0) as server:
        _, secret = local_lines._told(listener.address)
        elsewhere = listener.address.with_name("elsewhere")
        elsewhere.write_bytes(b"%d " % server.sockets[0].getsockname()[1] + secret)
        reader, writer = await streams(await reach(elsewhere))
        writer.write(b"open\n")
        assert await asyncio.wait_for(reader.read(), WAIT_S) == b"you said open\n"
        writer.close()
    return bytes(heard)


@pytest.mark.parametrize("says", [bytes(2 * SECRET), b"HTTP/1.1 400 Bad Request\r\n\r\n" * 4, b""])
async def test_another_program_at_a_port_that_was_ours_is_told_nothing(listener: Listener, says: bytes) -> None:
    """We have ended without a word, the file still names the port, and another program has taken it."""
    heard = bytearray()

    async def false(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.extend(await reader.readexactly(SECRET))
        writer.write(says)
        if not says:
            writer.close()
        heard.extend(await left_alone(reader))
        writer.close()

    async with await asyncio.start_server(false, HOST, 0) as server:
        _, secret = local_lines._told(listener.address)
        listener.address.write_bytes(b"%d " % server.sockets[0].getsockname()[1] + secret)
        with pytest.raises(OSError):
            await reach(listener.address)
        with pytest.raises(OSError):
            await asyncio.to_thread(connect, listener.address, WAIT_S)
    await until(lambda: len(heard) == 2 * SECRET, "both were let go")
    assert secret not in heard


async def test_who_stays_silent_is_left(tmp_path: Path) -> None:
    listener = Listener(tmp_path)
    await listener.open(patience=0.05)
    reader, _ = await listener.stranger()
    assert await left_alone(reader) == b""
    half, half_writer = await listener.stranger()
    half_writer.write(bytes(SECRET))
    await half.readexactly(2 * SECRET)
    assert await left_alone(half) == b"", "the first half is no proof"
    assert listener.came == 0
    listener.close()


async def test_a_crowd_that_stays_silent_keeps_nobody_out_and_takes_little(listener: Listener) -> None:
    """Nobody of it is sent away by the clock here: only by the next who comes."""
    crowd = [await listener.stranger() for _ in range(4 * MOST_WAITING)]
    assert await asyncio.wait_for(told(listener, b"mine\n"), WAIT_S) == b"you said mine\n"
    left = await asyncio.gather(*(left_alone(reader) for reader, _ in crowd[: 3 * MOST_WAITING]))
    assert left == [b""] * (3 * MOST_WAITING)
    assert listener.told == [b"mine\n"]


async def flood(writer: asyncio.StreamWriter) -> None:
    for _ in range(4_000):
        writer.write(bytes(65_536))
        await writer.drain()


async def test_a_flood_before_the_proof_is_not_kept(listener: Listener) -> None:
    reader, writer = await listener.stranger()
    with pytest.raises(ConnectionError):
        await flood(writer)
    assert (await left_alone(reader))[2 * SECRET :] == b""
    assert listener.came == 0


async def test_the_file_is_the_persons_alone_and_whole(listener: Listener) -> None:
    assert stat.S_IMODE(listener.address.stat().st_mode) == 0o600
    assert [one.name for one in listener.address.parent.iterdir()] == ["door"]


async def test_only_this_computer_reaches_the_port(listener: Listener) -> None:
    (at,) = [one.getsockname() for one in listener.server.sockets]
    assert at[0] == "127.0.0.1"


async def test_what_lies_at_the_path_is_replaced_never_written_through(tmp_path: Path) -> None:
    """Neither a link there, nor one where the half-written file will be."""
    theirs = tmp_path / "theirs"
    theirs.write_text("mine")
    for name in ("door", f"door.{os.getpid()}"):
        (tmp_path / name).symlink_to(theirs)
    listener = Listener(tmp_path)
    await listener.open()
    assert theirs.read_text() == "mine"
    assert not listener.address.is_symlink()
    assert await told(listener, b"open\n") == b"you said open\n"
    listener.close()


async def test_where_the_file_cannot_be_written_nobody_listens_and_nothing_is_left(tmp_path: Path) -> None:
    (tmp_path / "door").mkdir()
    with pytest.raises(OSError):
        await listen(tmp_path / "door", Listener(tmp_path).answer, MOST)
    with pytest.raises(OSError):
        await listen(tmp_path / "gone" / "door", Listener(tmp_path).answer, MOST)
    assert [one.name for one in tmp_path.iterdir()] == ["door"]


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"80",
        b"80 short",
        b"0 " + b"a" * 64,
        b"65536 " + b"a" * 64,
        b"-1 " + b"a" * 64,
        "٨٠ ".encode() + b"a" * 64,
        b"9" * 150 + b" " + b"a" * 64,
        b"80 " + b"a" * 65,
        b"80 " + b"a" * 100_000,
    ],
    ids=["empty", "a port alone", "short", "zero", "too high", "negative", "other digits", "huge", "long", "very long"],
)
async def test_a_file_of_something_else_names_no_line(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "door").write_bytes(text)
    with pytest.raises(OSError, match="names no line"):
        connect(tmp_path / "door", WAIT_S)
    with pytest.raises(OSError, match="names no line"):
        await reach(tmp_path / "door")


async def test_who_listens_and_says_nothing_holds_nobody_for_ever(tmp_path: Path) -> None:
    with socket.create_server((HOST, 0)) as silent:
        (tmp_path / "door").write_bytes(b"%d " % silent.getsockname()[1] + b"a" * 64)
        with pytest.raises(TimeoutError):
            await asyncio.to_thread(connect, tmp_path / "door", 0.05)
