"""The worker: one JavaScript engine, one pipe; not trusted. Runs as ``python -I __main__.py LAUNCHER FILTER LIMITS``.

It reads one JSON object a line from its stdin and writes them to its stdout. To it: ``seed {memory}``, ``run {code,
args}``, ``answer {id, ok, value | error, code}``. From it: ``ready``, ``ask {id, op, line, …}``, ``log {text}``,
``done {value}`` or ``failed {name, message, line, code}``, and then ``idle``: nothing of that code is left. Before the
first line is read it has shut itself in: no files, no network, no other processes. LAUNCHER is the file that knows how
(``safety/confinement/linux/launcher.py``; empty: nothing is shut).
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # the module signal makes enums of it, which takes longer
import json
import os
import re
import select
import sys
import time
from importlib.machinery import SourceFileLoader  # not importlib.util: it loads contextlib

if sys.platform == "win32":
    import _winapi
    import msvcrt

    resource = None
else:
    import resource

import _quickjs  # type: ignore[import-not-found]  # has no types

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from realm import realm  # type: ignore[import-not-found]  # lies beside: nothing else of ours is loaded

TYPE_CHECKING = False  # the module typing takes a tenth of this worker's start
if TYPE_CHECKING:
    from typing import Any

PIECE = 1 << 16
MAX_LINE = 8 << 20
CPU_S = 3600
MADE = 1 << 16
"""Lines of code that is made at work (``eval``, ``Function``): they are counted from the first."""
FIRST = MADE + 16
MAX_LINES = 1 << 21
"""Lines beyond which pieces of code have none of their own any more."""
LEFT_JOBS, LEFT_S = 50_000, 0.25
"""What is still ready to go on at the end of a piece of code may do that for so long, muted; then the process ends."""
ROOM = 0.9
"""Of the heap, what may still be held when a piece of code has ended."""
LOOK_S = 0.005
"""Between two looks at the pipe, where nothing tells of it."""
MOST_HANDLES = 1 << 16
"""The handles below it are closed but for the pipe: nothing else was given, and one call does it where there is one."""
NICE = 5
"""Beside code that computes as much as it may, the app's window comes first."""
LINE_END = re.compile("\r\n|[\n\r\u2028\u2029]")
UNFINISHED = (
    '{"t":"failed","name":"Error","message":"it waits for something that never comes","line":0,'
    '"code":"code.unfinished"}'
)
_HANDLES = ("seed", "start", "answer", "tick", "stop", "over", "waits")


class Worker:
    """The engine with its pipe."""

    def __init__(self, limits: dict[str, Any]) -> None:
        self._out = bytearray()
        self._in = b""
        self._maximum = limits["message"]
        self._cpu = limits["cpu"]
        self._heap = limits["heap"]
        context = self._context = _quickjs.Context()
        context.set_memory_limit(limits["heap"])
        context.set_max_stack_size(limits["stack"])
        context.add_callable("__send", self._send)
        self._next = FIRST
        given = json.dumps({"message": self._maximum, "output": limits["output"], "piece": PIECE // 8, "made": MADE})
        context.eval(f"globalThis.__handles = ({realm()})(__send, {given}); delete globalThis.__send;")
        self._js = {name: context.eval(f"__handles.{name}") for name in _HANDLES}
        context.eval("delete globalThis.__handles;")

    def serve(self) -> None:
        """Until the app closes the pipe."""
        self._say('{"t":"ready"}')
        while True:
            if self._take(self._line(None)) == "run":
                self._work()

    def _take(self, line: bytes) -> str:
        """Handle one message from the app and return its kind."""
        message = json.loads(line)
        kind = str(message["t"])
        if kind == "seed":
            self._call("seed", json.dumps(message["memory"]))
        elif kind == "run":
            self._start(_whole(message["code"]), json.dumps(message["args"]))
        elif kind == "answer":
            text = json.dumps(message["value"]) if message["ok"] else _whole(message["error"])
            self._call("answer", message["id"], message["ok"], text, _whole(message.get("code", "")))
        return kind

    def _start(self, code: str, args: str) -> None:
        """Each piece has lines of its own, below all that code can give to what it makes at work, and below the
        pieces before it: the line in a request that a person sees is one of this piece, and nothing else can have it.
        Where the lines are used up, requests have none."""
        _watch(self._cpu)
        lines = 1 + len(LINE_END.findall(code))
        alone = self._next + lines < MAX_LINES
        offset = self._next if alone else FIRST
        if alone:
            self._next += lines + 2
        self._call("start", code, args, offset, lines, alone)

    def _work(self) -> None:
        """Compute until there is nothing to do but wait for the app."""
        while not self._js["over"]():
            self._jobs()
            if self._js["over"]():
                break
            pause = self._call("tick")
            if pause == 0:
                continue
            self._flush()
            if self._js["waits"]() or pause > 0:
                line = self._line(pause / 1000 if pause > 0 else None)
                if line:
                    self._take(line)
            else:
                self._say(UNFINISHED)
                self._call("stop")
        self._settle()

    def _jobs(self) -> None:
        """All that is ready to go on; what a job throws is lost, as in every engine. Ends with the code that asked."""
        while True:
            try:
                if not self._context.execute_pending_job() or self._js["over"]():
                    return
            except _quickjs.JSException:
                continue

    def _settle(self) -> None:
        """Nothing of a piece of code goes on in the next one: what it left ready runs now, muted, and to its end."""
        self._flush()
        until = time.process_time() + LEFT_S
        for _ in range(LEFT_JOBS):
            try:
                if not self._context.execute_pending_job():
                    self._idle()
                    return
            except _quickjs.JSException:
                continue
            if time.process_time() > until:
                break
        os._exit(4)

    def _idle(self) -> None:
        """Ready for the next piece; not with a heap that has no room for it."""
        if self._held() > ROOM * self._heap:
            self._context.gc()
            if self._held() > ROOM * self._heap:
                os._exit(4)
        _watch(0)
        self._say('{"t":"idle"}')

    def _held(self) -> int:
        return int(self._context.memory()["malloc_size"])

    def _call(self, name: str, *args: Any) -> Any:
        """One of our own functions; if even these find no room any more, the code is over."""
        try:
            return self._js[name](*args)
        except (_quickjs.JSException, _quickjs.StackOverflow, MemoryError, SystemError) as error:
            code = "code.stack" if "stack" in str(error) else "code.memory"
            failed = {"t": "failed", "name": "InternalError", "message": "the engine gave up", "line": 0, "code": code}
            self._say(json.dumps(failed))
            os._exit(3)

    # -- the pipe ----------------------------------------------------------------------------------------------------

    def _send(self, text: str) -> bool:
        """A message of the realm; False when it is too large. An exception would stay in the engine's binding."""
        try:
            data = text.encode("utf-8", "replace")
            if len(data) > self._maximum:
                return False
            self._out += data
            self._out += b"\n"
            if len(self._out) > PIECE:
                self._flush()
        except MemoryError:
            return False
        return True

    def _flush(self) -> None:
        data, self._out = self._out, bytearray()
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(1, view) :]
        except OSError:
            os._exit(0)  # the app is gone

    def _say(self, text: str) -> None:
        self._out += text.encode() + b"\n"
        self._flush()

    def _line(self, timeout: float | None) -> bytes:
        """The next line, or nothing after ``timeout`` seconds. Ends the process with the pipe."""
        while b"\n" not in self._in:
            if timeout is not None and not _comes(timeout):
                return b""
            piece = os.read(0, PIECE)
            if not piece or len(self._in) > MAX_LINE:
                os._exit(0)
            self._in += piece
        line, _, self._in = self._in.partition(b"\n")
        return line


def _comes(timeout: float) -> bool:
    """Whether there is something to read, or the end of the pipe, within so many seconds."""
    if sys.platform == "win32":  # which waits for sockets only
        pipe, until = msvcrt.get_osfhandle(0), time.monotonic() + timeout
        while not (there := _is_there(pipe)) and time.monotonic() < until:
            time.sleep(LOOK_S)
        return there
    return bool(select.select([0], [], [], timeout)[0])


def _is_there(pipe: int) -> bool:
    """Whether Windows has something to read in a pipe, or it has ended."""
    if sys.platform == "win32":
        try:
            return bool(_winapi.PeekNamedPipe(pipe, 0)[0])
        except OSError:
            return True
    return False


def _whole(text: str) -> str:
    """Without halves of characters, which the engine does not take."""
    return str(text).encode("utf-8", "replace").decode()


def _watch(seconds: float) -> None:
    """Have the system end this process when it computes for longer; 0 ends the watch. Not on Windows."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)


def shut_in(launcher: str, program: str, limits: dict[str, Any]) -> None:
    """Give up everything but the engine and the pipe. What was asked for and cannot be done ends the process."""
    if resource is not None:
        for name, maximum in (("CORE", 0), ("FSIZE", 0), ("NOFILE", 16), ("CPU", CPU_S), ("DATA", limits["process"])):
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (maximum, maximum))
    if not launcher or resource is None:
        return
    confinement: Any = type(sys)("launcher")
    SourceFileLoader("launcher", launcher).exec_module(confinement)
    libc = confinement.ctypes.CDLL(None, use_errno=True)
    confinement.prctl(libc, confinement.PR_SET_PDEATHSIG, 9)
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
    confinement.drop_capabilities(libc)
    _powerless(confinement.ctypes, libc)
    confinement.prctl(libc, confinement.PR_SET_NO_NEW_PRIVS, 1)
    if confinement.landlock_abi(libc) > 0:  # a second wall: the filter refuses to open anything
        confinement.landlock(libc, [], [])
    os.closerange(3, MOST_HANDLES)  # a library may have left a file open: newer ones of libffi keep their own
    confinement.seccomp(libc, bytes.fromhex(program))


def _powerless(ctypes: Any, libc: Any) -> None:
    """Root keeps none of root's rights in this process. Raises OSError."""
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    if libc.capset(header, (ctypes.c_uint32 * 6)()) != 0:
        raise OSError(ctypes.get_errno(), "capset")


def main() -> None:
    """Shut this process in, then serve."""
    launcher, program, given = sys.argv[1:4]
    limits = json.loads(given)
    if hasattr(os, "nice"):  # Windows has none
        os.nice(NICE)
    worker = Worker(limits)
    shut_in(launcher, program, limits)
    worker.serve()


if __name__ == "__main__":
    main()
