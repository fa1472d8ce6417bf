"""A worker that speaks the protocol wrongly: it is started in the real one's place, and its first line says how.

Not for import: the tests write it to an executable file with ``MODE`` before it.
"""

import json
import os
import signal
import subprocess
import sys
import time

MODE: str = globals().get("MODE", "")
ASK = {"t": "ask", "id": 1, "op": "invoke", "line": 1, "ref": "x", "args": {}, "options": {}}
DEEP = b"[" * 100_000 + b"]" * 100_000


def raw(data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(1, view) :]


def say(message: object) -> None:
    raw(json.dumps(message).encode() + b"\n")


def hear() -> bytes:
    return sys.stdin.buffer.readline()


def end() -> None:
    say({"t": "done", "value": 1})
    say({"t": "idle"})


def forever(data: bytes) -> None:
    while True:
        raw(data)


def asks(many: int) -> None:
    for number in range(many):
        say({**ASK, "id": number + 1})


def orphan() -> None:
    """Leaves a process of another session that holds the pipes."""
    code = "import time; time.sleep(3)"
    subprocess.Popen([sys.executable, "-I", "-c", code], start_new_session=True)
    os._exit(0)


STARTS = {
    "start: nothing at all": lambda: time.sleep(3600),
    "start: exits": lambda: os._exit(1),
    "start: another kind": lambda: say({"t": "done", "value": 1}),
    "start: no json": lambda: raw(b"hello\n"),
    "start: no end of the line": lambda: forever(b"x" * 65536),
    "start: a list": lambda: say(["ready"]),
}
RUNS = {
    "no json": lambda: raw(b"hello\n"),
    "an empty line": lambda: raw(b"\n"),
    "a list": lambda: say([1]),
    "a number": lambda: say(1),
    "a text": lambda: say("done"),
    "null": lambda: say(None),
    "no kind": lambda: say({"value": 1}),
    "a kind that is a number": lambda: say({"t": 1}),
    "a kind that is a list": lambda: say({"t": ["done"]}),
    "an unknown kind": lambda: say({"t": "exec", "code": "1"}),
    "ready again": lambda: say({"t": "ready"}),
    "idle before it is done": lambda: say({"t": "idle"}),
    "an answer to nothing": lambda: say({"t": "answer", "id": 1, "ok": True, "value": 1}),
    "a giant line": lambda: raw(b'{"t":"done","value":"' + b"x" * 100_000_000 + b'"}\n'),
    "a line without end": lambda: forever(b"x" * 65536),
    "nul bytes without end": lambda: forever(b"\0" * 65536),
    "a deep value": lambda: raw(b'{"t":"done","value":' + DEEP + b"}\n"),
    "a deep argument": lambda: raw(b'{"t":"ask","id":1,"op":"invoke","line":1,"ref":"x","args":{"a":' + DEEP + b"}}\n"),
    "not a number": lambda: raw(b'{"t":"done","value":NaN}\n'),
    "infinity": lambda: raw(b'{"t":"done","value":-Infinity}\n'),
    "invalid utf-8": lambda: raw(b'{"t":"done","value":"\xff\xfe\x80"}\n'),
    "utf-16": lambda: raw('{"t":"done","value":1}'.encode("utf-16") + b"\n"),
    "an integer of ten thousand digits": lambda: raw(b'{"t":"done","value":' + b"9" * 10_000 + b"}\n"),
    "an id that is a text": lambda: say({**ASK, "id": "1"}),
    "an id that is true": lambda: say({**ASK, "id": True}),
    "an id below zero": lambda: say({**ASK, "id": -1}),
    "an id that is huge": lambda: say({**ASK, "id": 10**400}),
    "a line that is a text": lambda: say({**ASK, "line": "1"}),
    "a line below zero": lambda: say({**ASK, "line": -1}),
    "a line that is a fraction": lambda: say({**ASK, "line": 1.5}),
    "a name that is a number": lambda: say({**ASK, "ref": 1}),
    "a name that is null": lambda: say({**ASK, "ref": None}),
    "arguments that are a list": lambda: say({**ASK, "args": []}),
    "arguments that are a text": lambda: say({**ASK, "args": "{}"}),
    "arguments that are false": lambda: say({**ASK, "args": False}),
    "options that are a list": lambda: say({**ASK, "options": [1]}),
    "an unknown operation": lambda: say({**ASK, "op": "exec"}),
    "an operation that is a list": lambda: say({**ASK, "op": ["invoke"]}),
    "no operation": lambda: say({"t": "ask", "id": 1, "line": 1}),
    "console that is a number": lambda: say({"t": "log", "text": 1}),
    "console that is missing": lambda: say({"t": "log"}),
    "a flood of console": lambda: forever(b'{"t":"log","text":"' + b"x" * 60_000 + b'"}\n'),
    "a flood of empty console": lambda: forever(b'{"t":"log","text":""}\n' * 1000),
    "a hundred thousand requests": lambda: asks(100_000),
    "the same id again and again": lambda: forever(json.dumps(ASK).encode() + b"\n"),
    "dies": lambda: os._exit(0),
    "dies in the middle of a line": lambda: (raw(b'{"t":"do'), os._exit(0)),
    "dies in a call": lambda: (say(ASK), os._exit(0)),
    "kills itself": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "leaves another process with its pipes": orphan,
    "computes for ever": lambda: [None for _ in iter(int, 1)],
    "computes for ever in a call": lambda: (say({**ASK, "ref": "slow"}), [None for _ in iter(int, 1)]),
}
ENDS = {
    "done and never idle": lambda: say({"t": "done", "value": 1}),
    "done twice": lambda: (say({"t": "done", "value": 1}), end()),
    "done, and dies": lambda: (say({"t": "done", "value": 1}), os._exit(0)),
    "done, and asks": lambda: (say({"t": "done", "value": 1}), say(ASK)),
    "done, and floods": lambda: (say({"t": "done", "value": 1}), forever(b"x" * 65536)),
}
ODD = {
    "done without a value": lambda: (say({"t": "done"}), say({"t": "idle"})),
    "half a character": lambda: (raw(b'{"t":"done","value":"\\ud800"}\n'), say({"t": "idle"})),
    "a number beyond all": lambda: (raw(b'{"t":"done","value":[1e999]}\n'), say({"t": "idle"})),
    "a failure of numbers": lambda: (
        say({"t": "failed", "name": 1, "message": [2], "line": "3", "code": {"a": 1}}),
        say({"t": "idle"}),
    ),
    "a failure with a code of ours": lambda: (
        say({"t": "failed", "name": "x", "message": "m", "line": 1, "code": "denied.permission"}),
        say({"t": "idle"}),
    ),
    "a failure of megabytes": lambda: (
        say({"t": "failed", "name": "x" * 99_999, "message": "m" * 99_999, "line": 10**300, "code": "code.stack"}),
        say({"t": "idle"}),
    ),
    "a second request with the same id": lambda: (say(ASK), say(ASK), hear(), hear(), end()),
    "an ending that nobody waits for": lambda: (say({"t": "ask", "id": 1, "op": "finish", "line": 1}), end()),
}


def main() -> None:
    if MODE in STARTS:
        STARTS[MODE]()
        time.sleep(3600)
    say({"t": "ready"})
    if MODE == "after the end":
        while hear():
            end()
            say(ASK)
    hear()
    {**RUNS, **ENDS, **ODD}[MODE]()
    time.sleep(3600)


if __name__ == "__main__":
    main()
