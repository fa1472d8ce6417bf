"""A child for the tests of workers: well behaved or not, as its first argument says."""

import asyncio
import contextlib
import fcntl
import os
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from desktop.workers import frames
from desktop.workers.inside import CallError, ChildServer, WorkerCall, pipes, run


async def echo(call: WorkerCall) -> object:
    return call.params.get("value")


async def parts(call: WorkerCall) -> object:
    return {"count": len(call.parts), "characters": sum(len(str(part)) for part in call.parts)}


async def count(call: WorkerCall) -> object:
    """Streams numbers; with ``size``, each with so much text."""
    for number in range(call.params["to"]):
        await call.emit({"n": number, "text": "x" * call.params.get("size", 0)})
        if call.params.get("every"):
            await asyncio.sleep(call.params["every"])
    return "done"


async def text(call: WorkerCall) -> object:
    for _ in range(call.params["to"]):
        await call.emit({"k": "text", "t": "ab"}, join="t")
    return None


async def refuse(call: WorkerCall) -> object:
    raise CallError("test.refused", "Not today.", {"wait": 3})


async def break_down(call: WorkerCall) -> object:
    raise RuntimeError("token sk-abcdefghij0123456789 was wrong")


async def hang(call: WorkerCall) -> object:
    print("a library prints", flush=True)
    await asyncio.sleep(3600)
    return None


async def cancelled(call: WorkerCall) -> object:
    """Writes a file when it is cancelled."""
    try:
        await asyncio.sleep(3600)
    except asyncio.CancelledError:
        Path(call.params["file"]).write_text("cancelled")
        raise
    return None


async def die(call: WorkerCall) -> object:
    print("last words with sk-abcdefghij0123456789", file=sys.stderr, flush=True)
    os._exit(call.params.get("code", 3))


async def deafen(call: WorkerCall) -> object:
    """Reads no more, and lives on; with ``for``, so many seconds."""
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            reads = not fcntl.fcntl(int(name), fcntl.F_GETFL) & os.O_WRONLY
            if reads and "pipe:" in os.readlink(f"/proc/self/fd/{name}"):
                os.close(int(name))
    if call.params.get("for"):
        asyncio.get_running_loop().call_later(call.params["for"], os._exit, 0)
    return "closed"


async def offspring(call: WorkerCall) -> object:
    """Starts a process that would outlive us and holds all our pipes."""
    return subprocess.Popen(["sleep", "60"]).pid


async def environment(call: WorkerCall) -> object:
    return dict(os.environ)


async def chatter(call: WorkerCall) -> object:
    sys.stderr.write("e" * 1_000_000)
    sys.stderr.flush()
    return "said"


METHODS = {
    f.__name__: f
    for f in (
        echo,
        parts,
        count,
        text,
        refuse,
        break_down,
        hang,
        cancelled,
        die,
        deafen,
        offspring,
        environment,
        chatter,
    )
}


async def serve() -> None:
    reader, writer = await pipes()
    await ChildServer("test", "1", METHODS).serve(reader, writer)


def write(*messages: bytes) -> None:
    for message in messages:
        os.write(1, message)


def flood() -> None:
    """Zeros without end, more of them in the pipe than are read at once."""
    fcntl.fcntl(1, fcntl.F_SETPIPE_SZ, 1 << 20)
    while True:
        write(bytes(1 << 20))


FIRST = {"huge": lambda: write(frames.HEADER.pack(frames.FRAME_MAX + 1)), "zeros without end": flood}
HELLO = frames.encode({"t": "hello", "protocol": frames.PROTOCOL, "service": "test", "version": "1"})


def main(how: str) -> None:
    if how == "good":
        run(serve, "test")
    elif how == "silent":
        sys.stdin.buffer.read()
    elif how == "old":
        write(frames.encode({"t": "hello", "protocol": 0, "service": "test", "version": "0"}))
        sys.stdin.buffer.read()
    elif how == "dies at once":
        sys.exit(7)
    elif how == "deaf":
        write(HELLO)
        while True:
            os.read(0, 0)
            time.sleep(1)
    else:  # any text: a frame of it, after a good greeting and one question
        write(HELLO)
        for _ in range(2):
            size = frames.HEADER.unpack(sys.stdin.buffer.read(frames.HEADER.size))[0]
            sys.stdin.buffer.read(size)
        if how in FIRST:
            FIRST[how]()
        payload = how.encode()
        for _ in range(frames.WINDOW + 2):
            write(frames.HEADER.pack(len(payload)) + payload)
        sys.stdin.buffer.read()


if __name__ == "__main__":
    main(sys.argv[1])
