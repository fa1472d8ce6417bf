"""What an agent of another maker asks for, as calls of our tools: its files, its commands, the tools it is offered.

Each goes through the agent's ``invokeRef`` and so through every gate. What it is answered is what the protocol has for
it; a refusal is an error with the reason.
"""

from __future__ import annotations

import asyncio
import os
import re
import shlex
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any

from desktop.domain.ids import new_id
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.tools.acp.asks import OpenRequests
from desktop.tools.builtin.files import READ_FILE, WRITE_FILE

MAX_READ = 8_000_000
"""Characters of a file that is given whole."""
MAX_PARTS = 60
MAX_TERMINALS = 64
NOT_FOUND = -32_002
REFUSED = -32_603
INVALID = -32_602
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

Answer = Mapping[str, Any]
Spawn = Callable[[Coroutine[Any, Any, None], str], "asyncio.Task[None]"]
"""Starts an owned task."""
Call = Callable[[str, Mapping[str, Any]], Awaitable[Answer]]
"""Makes a call of ours: ``{ok, text, code, facts}``."""
Run = Callable[[str, str], Awaitable[Answer]]
"""Makes the call of a command, which can be ended under a name."""


class Refusal(Exception):
    """Why the agent does not get what it asked for; ``code`` is the protocol's."""

    def __init__(self, text: str, code: int = REFUSED) -> None:
        super().__init__(text)
        self.code = code


@dataclass(frozen=True, slots=True)
class Made:
    """What an agent had done through us: a file read or written, a command, a tool."""

    kind: str
    about: str
    done: bool = True
    """False: it was refused, or failed."""


class CalledFiles:
    """``fs/read_text_file`` and ``fs/write_text_file``."""

    def __init__(
        self, call: Call, made: Callable[[Made], None], may_have_written: Callable[[str, str], Awaitable[bool]]
    ) -> None:
        self._call = call
        self._made = made
        self._may_have_written = may_have_written

    async def read(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """The file as it is, whole or the lines asked for: what is only a part of that is an error, because the agent
        would write it back as the whole."""
        path, line, limit = params.get("path"), params.get("line"), params.get("limit")
        if not isinstance(path, str):
            raise Refusal("A path is missing.", INVALID)
        at: int = line if line is not None and _positive(line) else 1
        left = limit if _positive(limit) else None
        text = ""
        for _ in range(MAX_PARTS):
            asked: dict[str, Any] = {"path": path, "offset": at} | ({} if left is None else {"limit": left})
            answer = await self._call(READ_FILE.name, asked)
            self._made(Made("read", path, bool(answer.get("ok"))))
            if not answer.get("ok"):
                raise Refusal(str(answer.get("text", "")), _code(answer))
            facts = _facts(answer)
            notice, following = str(facts.get("notice", "")), facts.get("next_line")
            part = str(answer.get("text", ""))
            if facts.get("cut_bytes") or (notice and not part.endswith(notice)):
                raise Refusal(f"{path} has lines that are too long to be given whole.")
            text += part[: len(part) - len(notice)]
            shown = following - at if isinstance(following, int) else 0
            left = None if left is None else left - shown
            if not isinstance(following, int) or (left is not None and left <= 0):
                return {"content": text}
            if len(text) > MAX_READ or shown <= 0:
                break
            at = following
        raise Refusal(f"{path} is too long to be given whole: ask for a part of it, with line and limit.")

    async def write(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Replace the file, once a person has agreed."""
        path, content = params.get("path"), params.get("content")
        if not isinstance(path, str) or not isinstance(content, str):
            raise Refusal("A path or the content is missing.", INVALID)
        if await self._may_have_written(path, content) and await self._holds(path, content):
            return {}
        answer = await self._call(WRITE_FILE.name, {"path": path, "content": content})
        self._made(Made("edit", path, bool(answer.get("ok"))))
        if not answer.get("ok"):
            raise Refusal(str(answer.get("text", "")), _code(answer))
        return {}

    async def _holds(self, path: str, content: str) -> bool:
        """Whether the file is exactly that already: some agents write by themselves, and tell the client, too."""
        try:
            found = await self.read({"path": path})
        except Refusal:
            return False
        return bool(found["content"] == content)


class _Terminal:
    """One command of the agent's, which runs as a call of ours."""

    def __init__(self, limit: int | None, ends: str) -> None:
        self.ends = ends
        """The name under which it can be ended."""
        self.killed = False
        self._limit = limit
        self._found: Answer = {"ok": False, "text": "It was stopped."}
        self.task: asyncio.Task[None] | None = None

    async def run(self, work: Awaitable[Answer]) -> None:
        """Run the command, and keep what came of it."""
        self._found = await work

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self.task is None or self.task.done()

    def output(self) -> dict[str, Any]:
        """What it wrote, once it is over: what it writes meanwhile is for the person's eyes."""
        if not self.over:
            return {"output": "", "truncated": False}
        answer = self._found
        text = str(answer.get("text", ""))
        cut = text.encode()[-self._limit :].decode("utf-8", "ignore") if self._limit is not None else text
        return {"output": cut, "truncated": cut != text, "exitStatus": self.status()}

    def status(self) -> dict[str, Any]:
        """How it ended. One that was refused never ran: that is told as a failure, and its text says why."""
        answer = self._found
        code = _facts(answer).get("exit_code")
        if self.killed and not isinstance(code, int):
            return {"exitCode": None, "signal": "SIGTERM"}
        return {"exitCode": code if isinstance(code, int) else 0 if answer.get("ok") else 126, "signal": None}


class CalledTerminals:
    """``terminal/*``: a command is a call of ``bash``, begun at once and answered when it is over."""

    def __init__(
        self, call: Run, made: Callable[[Made], None], folder: str, spawn: Spawn, requests: OpenRequests
    ) -> None:
        self._call = call
        self._made = made
        self._folder = folder
        self._spawn = spawn
        self._requests = requests
        self._open: dict[str, _Terminal] = {}
        self._count = 0

    async def create(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Begin a command."""
        line = command_line(params, self._folder)
        if len([one for one in self._open.values() if not one.over]) >= MAX_TERMINALS:
            raise Refusal(f"More than {MAX_TERMINALS} commands at once.")
        self._count += 1
        name = f"terminal-{self._count}"
        limit = params.get("outputByteLimit")
        ends = f"{name} {new_id()}"
        self._requests.begin(ends)
        made = self._open[name] = _Terminal(limit if isinstance(limit, int) and limit >= 0 else None, ends)
        made.task = self._spawn(made.run(self._call(line, ends)), "a command of another agent")
        made.task.add_done_callback(lambda _: self._requests.end(ends))
        self._made(Made("terminal", name))
        self._made(Made("execute", line))
        return {"terminalId": name}

    async def output(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """What a command wrote."""
        return self._of(params).output()

    async def wait(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """How it ended, once it did."""
        found = self._of(params)
        if found.task is not None:
            await asyncio.wait([found.task])
        return found.status()

    async def kill(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """End a command with all that it started; a question about it closes. What it wrote is kept."""
        await self._end(self._of(params))
        return {}

    async def release(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """The agent has no more use for it: it is ended if it still runs, and forgotten; its card stays."""
        await self._end(self._of(params))
        self._open.pop(str(params.get("terminalId")), None)
        return {}

    async def _end(self, terminal: _Terminal) -> None:
        if terminal.over or terminal.task is None:
            return
        terminal.killed = True
        self._requests.end(terminal.ends)
        await asyncio.wait([terminal.task])

    def _of(self, params: Mapping[str, Any]) -> _Terminal:
        found = self._open.get(str(params.get("terminalId")))
        if found is None:
            raise Refusal("There is no such terminal.", NOT_FOUND)
        return found

    async def over(self) -> None:
        """Wait until no command runs: the turn ends after its calls."""
        running = [one.task for one in self._open.values() if one.task is not None and not one.over]
        if running:
            await asyncio.wait(running)

    def stop(self) -> None:
        """End what still runs."""
        for one in self._open.values():
            if one.task is not None:
                one.task.cancel()


def command_line(params: Mapping[str, Any], folder: str) -> str:
    """The command of a terminal as one line of bash, which is what a person is shown. Raises Refusal."""
    command, args, env, cwd = (params.get(key) for key in ("command", "args", "env", "cwd"))
    if not isinstance(command, str) or not command.strip():
        raise Refusal("A command is missing.", INVALID)
    words = args if args is not None else []
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise Refusal("The arguments of a command are texts.", INVALID)
    line = shlex.join([command, *words]) if words else command
    variables = [_variable(one) for one in _rows(env)]
    if variables:
        line = f"export {' '.join(variables)}\n{line}"
    if cwd in (None, "", folder):
        return line
    if not isinstance(cwd, str) or not os.path.isabs(cwd):
        raise Refusal("The folder of a command is an absolute path.", INVALID)
    return f"cd {shlex.quote(cwd)} || exit\n{line}"  # "&&" would bind the first command of several only


def _rows(value: Any) -> list[Any]:
    if value is not None and not isinstance(value, list):
        raise Refusal("The variables of a command are a list.", INVALID)
    return value or []


def _variable(one: Any) -> str:
    """A variable as bash sets it: what is left out would make it another command than the agent asked for."""
    name, value = (one.get("name"), one.get("value", "")) if isinstance(one, Mapping) else (None, None)
    if not isinstance(name, str) or not _NAME.fullmatch(name) or not isinstance(value, str):
        raise Refusal("A variable of a command has a plain name and a text.", INVALID)
    return f"{name}={shlex.quote(value)}"


def _facts(answer: Answer) -> Mapping[str, Any]:
    facts = answer.get("facts")
    return facts if isinstance(facts, Mapping) else {}


def _positive(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _code(answer: Answer) -> int:
    return NOT_FOUND if str(answer.get("code", "")) in ("file.absent", "file.not_found") else REFUSED
