"""The worker: one JavaScript engine, one pipe; not trusted. Runs as ``python -I __main__.py LAUNCHER FILTER LIMITS``.

It reads one JSON object a line from its stdin and writes them to its stdout. To it: ``seed {memory}``, ``run {code,
args}``, ``answer {id, ok, value | error, code}``. From it: ``ready``, ``ask {id, op, line, …}``, ``log {text}``,
``done {value}``, ``failed {name, message, line, code}``. Before the first line is read it has shut itself in: no files,
no network, no other processes. LAUNCHER is the file that knows how (``safety/launcher.py``; empty: nothing is shut).
"""

from __future__ import annotations

import importlib.util
import json
import os
import select
import sys
from typing import Any

import _quickjs  # type: ignore[import-not-found]  # has no types

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from realm import realm  # type: ignore[import-not-found]  # lies beside: nothing else of ours is loaded

PIECE = 1 << 16
MAX_LINE = 8 << 20
CPU_S = 3600
UNFINISHED = (
    '{"t":"failed","name":"Error","message":"it waits for something that never comes","line":0,'
    '"code":"code.unfinished"}'
)
_HANDLES = ("seed", "start", "answer", "tick", "over", "waits")


class Worker:
    """The engine with its pipe."""

    def __init__(self, limits: dict[str, int]) -> None:
        self._out: list[str] = []
        self._in = b""
        context = self._context = _quickjs.Context()
        context.set_memory_limit(limits["heap"])
        context.set_max_stack_size(limits["stack"])
        context.add_callable("__send", self._out.append)
        given = json.dumps({"message": limits["message"], "output": limits["output"]})
        context.eval(f"globalThis.__handles = ({realm()})(__send, {given}); delete globalThis.__send;")
        self._js = {name: context.eval(f"__handles.{name}") for name in _HANDLES}
        context.eval("delete globalThis.__handles;")

    def serve(self) -> None:
        """Until the app closes the pipe."""
        self._say('{"t":"ready"}')
        while True:
            self._take(self._line(None))
            self._work()

    def _take(self, line: bytes) -> None:
        message = json.loads(line)
        kind = message["t"]
        if kind == "seed":
            self._js["seed"](json.dumps(message["memory"]))
        elif kind == "run":
            self._call("start", message["code"], json.dumps(message["args"]))
        elif kind == "answer":
            text = json.dumps(message["value"]) if message["ok"] else str(message["error"])
            self._call("answer", message["id"], message["ok"], text, str(message.get("code", "")))

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
                self._call("start", "", "null")  # whatever else it hoped for is over
                self._jobs()
                self._out.clear()
                return
        self._flush()

    def _jobs(self) -> None:
        """All that is ready to go on; what a job throws is lost, as in every engine. Ends with the code that asked."""
        while True:
            try:
                if not self._context.execute_pending_job() or self._js["over"]():
                    return
            except _quickjs.JSException:
                continue
            if self._out:
                self._flush()

    def _call(self, name: str, *args: Any) -> Any:
        """One of our own functions; if even these find no room any more, the code is over."""
        try:
            return self._js[name](*args)
        except (_quickjs.JSException, _quickjs.StackOverflow) as error:
            code = "code.memory" if "memory" in str(error) else "code.stack"
            self._flush()
            failed = {"t": "failed", "name": "InternalError", "message": str(error)[:200], "line": 0, "code": code}
            self._say(json.dumps(failed))
            os._exit(3)

    # -- the pipe ----------------------------------------------------------------------------------------------------

    def _flush(self) -> None:
        for text in self._out:
            self._say(text)
        self._out.clear()

    @staticmethod
    def _say(text: str) -> None:
        data = text.encode("utf-8", "replace") + b"\n"
        while data:
            data = data[os.write(1, data) :]

    def _line(self, patience: float | None) -> bytes:
        """The next line, or nothing after ``patience`` seconds. Ends the process with the pipe."""
        while b"\n" not in self._in:
            if patience is not None and not select.select([0], [], [], patience)[0]:
                return b""
            piece = os.read(0, PIECE)
            if not piece or len(self._in) > MAX_LINE:
                os._exit(0)
            self._in += piece
        line, _, self._in = self._in.partition(b"\n")
        return line


def shut_in(launcher: str, program: str, limits: dict[str, int]) -> None:
    """Give up everything but the engine and the pipe. What was asked for and cannot be done ends the process."""
    try:
        resource = __import__("resource")
    except ImportError:
        resource = None  # Windows
    if resource is not None:
        for name, most in (("CORE", 0), ("FSIZE", 0), ("NOFILE", 16), ("CPU", CPU_S), ("DATA", limits["process"])):
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (most, most))
    if not launcher:
        return
    spec = importlib.util.spec_from_file_location("launcher", launcher)
    if spec is None or spec.loader is None:
        os._exit(126)
    walls = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(walls)
    libc = walls.ctypes.CDLL(None, use_errno=True)
    walls.prctl(libc, walls.PR_SET_PDEATHSIG, 9)
    walls.drop_capabilities(libc)
    walls.prctl(libc, walls.PR_SET_NO_NEW_PRIVS, 1)
    walls.landlock(libc, [], [], False)
    walls.seccomp(libc, bytes.fromhex(program))
    if resource is not None:
        resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))


def main() -> None:
    """Shut in, then serve."""
    launcher, program, given = sys.argv[1:4]
    limits = json.loads(given)
    worker = Worker(limits)
    shut_in(launcher, program, limits)
    worker.serve()


if __name__ == "__main__":
    main()
