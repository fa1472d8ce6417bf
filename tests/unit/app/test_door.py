"""The door: what programs outside and the app say to each other over the home's socket, and who is cut off."""

import asyncio
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from desktop.app.door import peer as door_peer
from desktop.app.door import wire
from desktop.app.door.client import OPEN, connect
from desktop.app.door.host import GUESTS_MAX, Door, Guest
from desktop.app.door.peer import Peer
from desktop.app.home.instance import InstanceServer
from desktop.domain.errors import KnownError
from tests.harness.timeouts import WAIT_S, until

ME = {"kind": "test", "name": "A test"}


class Room:
    """Answers with what it was given; ``waits`` until it is stopped; tells as many events as it is asked for."""

    def __init__(self, peer: Peer, guest: Guest) -> None:
        self.peer, self.guest = peer, guest
        self.heard: list[str] = []
        self.stopped: list[str] = []
        self.waiting = asyncio.Event()
        self.over = asyncio.Event()

    async def answer(self, method: str, params: Mapping[str, Any]) -> Any:
        if method == "waits":
            self.waiting.set()
            try:
                await asyncio.Event().wait()
            finally:
                self.stopped.append(str(params.get("which")))
        if method == "refuses":
            raise KnownError("Not today.", next_step="Come tomorrow.", code="test.no")
        if method == "fails":
            raise ValueError("a secret of ours")
        if method == "tells":
            for number in range(int(params["count"])):
                self.peer.tell("event", {"number": number, "text": params.get("text", "")})
        if method == "asks":
            return await self.peer.call("question", {"of": params["of"]})
        return dict(params)

    def hear(self, method: str, params: Mapping[str, Any]) -> None:
        self.heard.append(f"{method} {params.get('said')}")

    async def left(self) -> None:
        self.over.set()


class House:
    """A home's socket with a door behind it."""

    def __init__(self, folder: Path) -> None:
        self.address = folder / "socket"
        self.rooms: list[Room] = []
        self.door = Door(lambda: {"test": self._room}, window=True)

    def _room(self, peer: Peer, guest: Guest) -> Room:
        self.rooms.append(Room(peer, guest))
        return self.rooms[-1]


@asynccontextmanager
async def house() -> AsyncIterator[House]:
    async def post(_to: str, _text: str) -> None: ...

    with tempfile.TemporaryDirectory(prefix="as-") as folder:
        made = House(Path(folder))
        server = InstanceServer(made.address, None, post, receive=made.door.receive)
        await server.start()
        try:
            yield made
        finally:
            await server.stop()
            await made.door.close("The house is closed.", "Go home.")


class Visitor:
    """A program that came in."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer
        self.events: list[Mapping[str, Any]] = []
        self.serving = asyncio.create_task(peer.serve(self.answer, self.hear))

    async def answer(self, _method: str, params: Mapping[str, Any]) -> Any:
        return f"yes, {params['of']}"

    def hear(self, _method: str, params: Mapping[str, Any]) -> None:
        self.events.append(params)


@asynccontextmanager
async def visitor(at: House, **said: Any) -> AsyncIterator[Visitor]:
    peer, greeting = await connect(at.address, {**ME, **said})
    assert greeting["window"] is True
    came = Visitor(peer)
    try:
        yield came
    finally:
        peer.close("That was all.")
        await asyncio.wait_for(came.serving, WAIT_S)


async def raw(at: House, data: bytes) -> bytes:
    """What comes back for these bytes, until the connection is closed."""
    reader, writer = await asyncio.open_unix_connection(at.address)
    writer.write(OPEN + data)
    found = await asyncio.wait_for(reader.read(), WAIT_S)
    writer.close()
    return found


def hello(**said: Any) -> bytes:
    return wire.encoded({"t": "hello", "door": wire.VERSION, "version": "1", **ME, **said})


async def test_each_side_calls_the_other_and_is_told_of_refusals_in_words() -> None:
    async with house() as at, visitor(at) as came:
        assert await came.peer.call("echo", {"a": [1, None, "ж"]}) == {"a": [1, None, "ж"]}
        assert await came.peer.call("asks", {"of": "you"}) == "yes, you"
        with pytest.raises(KnownError, match=r"Not today\.") as refused:
            await came.peer.call("refuses", {})
        assert (refused.value.code, refused.value.next_step) == ("test.no", "Come tomorrow.")


@pytest.mark.expects_log("fails could not be answered")
async def test_the_text_of_a_bug_of_ours_is_not_told_to_others() -> None:
    async with house() as at, visitor(at) as came:
        with pytest.raises(KnownError) as failed:
            await came.peer.call("fails", {})
        assert "secret" not in str(failed.value)
        assert failed.value.code == "bug"


@pytest.mark.parametrize("text", ["x" * 3_000_000, "ж\n\0" * 200_000, "\\" * wire.LIFTED * 3])
async def test_long_texts_come_back_as_they_were_with_calls_between_their_pieces(text: str) -> None:
    async with house() as at, visitor(at) as came:
        sent = {"a": text, "b": [{"c": text[::-1]}, "short"], "": {"$long": 0}}
        both = await asyncio.gather(came.peer.call("echo", sent), *(came.peer.call("echo", {"n": n}) for n in range(9)))
        assert both == [sent, *({"n": n} for n in range(9))]


async def test_what_no_message_holds_is_refused_before_anything_is_sent() -> None:
    deep: Any = "end"
    for _ in range(wire.DEEPEST + 1):
        deep = [deep]
    async with house() as at, visitor(at) as came:
        for params in ({"deep": deep}, {"many": list(range(100_000))}, {"long": "x" * (wire.LONG_MAX + 1)}):
            with pytest.raises(KnownError) as refused:
                await came.peer.call("echo", params)
            assert refused.value.code == "door.too_large"
        assert await came.peer.call("echo", {"n": 1}) == {"n": 1}


async def test_events_come_in_order_and_before_the_result_that_follows_them() -> None:
    async with house() as at, visitor(at) as came:
        await came.peer.call("tells", {"count": 5000})
        assert [event["number"] for event in came.events] == list(range(5000))


async def test_a_call_that_is_cancelled_is_stopped_at_the_other_side() -> None:
    async with house() as at, visitor(at) as came:
        call = asyncio.create_task(came.peer.call("waits", {"which": "this"}))
        await until(lambda: at.rooms and at.rooms[0].waiting.is_set())
        call.cancel()
        await until(lambda: at.rooms[0].stopped == ["this"])
        assert await came.peer.call("echo", {}) == {}


async def test_what_a_program_began_is_stopped_when_it_leaves_or_dies() -> None:
    for how in ("leaves", "dies"):
        async with house() as at:
            peer, _ = await connect(at.address, ME)
            serving = Visitor(peer).serving
            call = asyncio.create_task(peer.call("waits", {"which": how}))
            await until(lambda at=at: at.rooms and at.rooms[0].waiting.is_set())
            if how == "leaves":
                peer.close()
            else:
                peer._writer.transport.abort()
            await asyncio.wait_for(at.rooms[0].over.wait(), WAIT_S)
            assert at.rooms[0].stopped == [how]
            assert at.door.guests == ()
            with pytest.raises(KnownError) as gone:
                await call
            assert gone.value.code == door_peer.GONE
            await serving


async def test_a_program_is_told_why_the_house_is_closed_and_its_calls_end() -> None:
    async with house() as at, visitor(at) as came:
        call = asyncio.create_task(came.peer.call("waits", {"which": "it"}))
        await until(lambda: at.rooms and at.rooms[0].waiting.is_set())
        await at.door.close("The house is closed.", "Go home.")
        with pytest.raises(KnownError, match=r"The house is closed\.") as gone:
            await call
        assert (gone.value.code, gone.value.next_step) == (door_peer.GONE, "Go home.")
        assert at.rooms[0].stopped == ["it"]
        with pytest.raises(KnownError, match="The house is closed"):
            await connect(at.address, ME)


@pytest.mark.expects_log("reads too slowly and was cut off")
async def test_one_that_does_not_read_is_cut_off_and_others_are_served() -> None:
    async with house() as at, visitor(at) as other:
        line = socket.socket(socket.AF_UNIX)
        await asyncio.to_thread(line.connect, str(at.address))
        line.sendall(OPEN + hello() + wire.encoded({"t": "call", "id": 1, "method": "echo", "params": {}}))
        await until(lambda: len(at.rooms) == 2)
        slow = at.rooms[1]
        for _ in range(2 * door_peer.OUTBOX_MAX // 10_000):
            slow.peer.tell("event", {"text": "x" * 10_000})
        assert slow.peer._waiting < 1000, "what waited for it is not kept"
        await asyncio.wait_for(slow.over.wait(), WAIT_S)
        assert await other.peer.call("echo", {"n": 1}) == {"n": 1}
        line.close()


@pytest.mark.expects_log("reads too slowly and was cut off")
async def test_one_that_reads_too_slowly_learns_it_once_it_reads() -> None:
    async with house() as at:
        reader, writer = await asyncio.open_unix_connection(at.address)
        writer.write(OPEN + hello())
        await until(lambda: at.rooms)
        for _ in range(2 * door_peer.OUTBOX_MAX // 10_000):
            at.rooms[0].peer.tell("event", {"text": "x" * 10_000})
        said = await asyncio.wait_for(reader.read(), WAIT_S)
        assert b"reads too slowly" in said[-300:]
        writer.close()


@pytest.mark.parametrize(
    "bad",
    [
        b"\xff\xff\xff\xff",
        b"\x00\x00\x00\x02{}",
        b"\x00\x00\x00\x01[",
        wire.encoded({"t": "hello", "door": wire.VERSION}),
        wire.encoded({"t": "call", "id": "1", "method": "echo", "params": {}}),
        wire.encoded({"t": "call", "id": 1, "method": "echo", "params": []}),
        wire.encoded({"t": "call", "id": 1, "method": "waits", "params": {}}) * 2,
        wire.encoded({"t": "piece", "key": 1, "n": "0", "text": ""}),
        wire.encoded({"t": "event", "method": "e", "params": {}, "long": {"key": 1, "places": [["params"]]}}),
        wire.encoded({"t": "piece", "key": 1, "n": 0, "text": "x"})
        + wire.encoded(
            {"t": "event", "method": "e", "params": {"a": 1}, "long": {"key": 1, "places": [["params", "a"]]}}
        ),
        wire.HEADER.pack(2000) + b"[" * 2000,
    ],
)
async def test_who_breaks_the_protocol_is_cut_off_alone(bad: bytes) -> None:
    async with house() as at, visitor(at) as other:
        said = await raw(at, hello() + bad)
        assert b'"t":"hello"' in said
        await until(lambda: len(at.door.guests) == 1)
        assert await other.peer.call("echo", {"n": 1}) == {"n": 1}


@pytest.mark.parametrize(
    ("first", "why"),
    [
        (hello(kind="other"), b"nothing for programs of this kind"),
        (wire.encoded({"t": "hello", "door": 99, **ME}), b"another version"),
        (wire.encoded({"t": "call", "id": 1, "method": "echo", "params": {}}), b"no greeting"),
        (b"GET / HTTP/1.1\r\n\r\n", b"no greeting"),
    ],
)
async def test_who_does_not_greet_as_it_should_is_sent_away_in_words(first: bytes, why: bytes) -> None:
    async with house() as at:
        assert why in await raw(at, first)
        assert at.rooms == []


async def test_more_programs_than_there_is_room_for_are_sent_away() -> None:
    async with house() as at:
        came = [await connect(at.address, ME) for _ in range(GUESTS_MAX)]
        with pytest.raises(KnownError, match="programs are connected") as full:
            await connect(at.address, ME)
        assert full.value.code == "door.full"
        serving = [asyncio.create_task(peer.serve(_no_answer, lambda *_: None)) for peer, _ in came]
        came[0][0].close()
        await until(lambda: len(at.door.guests) == GUESTS_MAX - 1)
        async with visitor(at):
            assert len(at.door.guests) == GUESTS_MAX
        for peer, _ in came:
            peer.close()
        await asyncio.gather(*serving)


async def _no_answer(_method: str, _params: Mapping[str, Any]) -> Any:
    return None


async def test_more_calls_at_once_than_there_is_room_for_are_refused_and_ten_thousand_one_by_one_answered() -> None:
    async with house() as at, visitor(at) as came:
        waiting = [asyncio.create_task(came.peer.call("waits", {})) for _ in range(door_peer.CALLS_MAX)]
        await until(lambda: at.rooms and len(at.rooms[0].peer._tasks) == door_peer.CALLS_MAX)
        with pytest.raises(KnownError) as busy:
            await came.peer.call("echo", {})
        assert busy.value.code == "door.busy"
        for one in waiting:
            one.cancel()
        await until(lambda: len(at.rooms[0].stopped) == door_peer.CALLS_MAX)
        some = asyncio.Semaphore(door_peer.CALLS_MAX)

        async def one(number: int) -> Any:
            async with some:
                return (await came.peer.call("echo", {"n": number}))["n"]

        assert await asyncio.gather(*map(one, range(10_000))) == list(range(10_000))


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Zed\x1b[31m\n<b>\u202e", "Zed [31m <b>"),
        ("", "A program without a name"),
        ("x" * 200_000, "x" * 79 + "…"),
        ("\ud800", "A program without a name"),
    ],
)
async def test_what_a_program_calls_itself_is_shown_as_one_short_plain_line(name: str, shown: str) -> None:
    async with house() as at:
        told = json.dumps({"t": "hello", "door": wire.VERSION, "version": "1", "kind": "test", "name": name}).encode()
        reader, writer = await asyncio.open_unix_connection(at.address)
        writer.write(OPEN + wire.HEADER.pack(len(told)) + told)
        await until(lambda: at.door.guests)
        (guest,) = at.door.guests
        assert (guest.name, guest.pid) == (shown, os.getpid())
        assert await asyncio.wait_for(reader.read(1), WAIT_S), "it is greeted"
        writer.close()
        await until(lambda: not at.door.guests)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can be somebody else")
@pytest.mark.expects_log("a process of user 65534 wanted to come in")
async def test_another_user_is_sent_away_even_where_the_socket_lets_them_in() -> None:
    program = (
        "import os, socket, sys\nos.setuid(65534)\nline = socket.socket(socket.AF_UNIX)\nline.connect(sys.argv[1])\n"
        "line.sendall(bytes.fromhex(sys.argv[2]))\nprint(line.recv(100))"
    )
    async with house() as at:
        at.address.parent.chmod(0o755)
        at.address.chmod(0o777)
        command = [sys.executable, "-I", "-c", program, str(at.address), (OPEN + hello()).hex()]
        done = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, timeout=WAIT_S)
        assert done.stdout.strip() == "b''" or "ConnectionReset" in done.stderr
        assert at.rooms == []
