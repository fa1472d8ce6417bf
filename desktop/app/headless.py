"""``assent run AGENT-OR-SKILL "message"``: the same runtime without a window.

Nobody can be asked here, so what no rule allows is denied (R-PRM-6); ``--allow`` adds rules for this run only. The
answer goes to stdout, with ``--json`` every event as a line of JSON; what went wrong goes to stderr. Exit codes: 0 when
it came to its end, 1 when it did not, 2 when it could not begin, 130 when it was stopped. Once nobody reads its stdout
any more the run is stopped.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import json
import os
import re
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from desktop.app.home import home_path, open_home
from desktop.app.logs import Logs
from desktop.app.rooms import Rooms, open_rooms
from desktop.conversation.agents import SKILL
from desktop.conversation.rule_text import read_rule
from desktop.domain.errors import ConfigurationError, KnownError, NotFound
from desktop.domain.events import Event, RunEnded, TextArrived, ToolCallFinished
from desktop.pipeline.context import Outcome
from desktop.settings import SettingsService
from desktop.skills.patterns import PatternError

DONE, FAILED, REFUSED, STOPPED = 0, 1, 2, 130
ENDED_WELL = frozenset({"response", "stop_tool", "end_session_tool"})
_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")


def main(arguments: Sequence[str]) -> int:
    """The whole command; returns its exit code."""
    options = _parser().parse_args(arguments)
    try:
        home = open_home(home_path(options.home, os.environ))
    except KnownError as error:
        return _refused(error)
    try:
        return asyncio.run(_run(home.path, home.logs, options))
    except KnownError as error:
        return _refused(error)
    except KeyboardInterrupt:
        _say_error("assent: stopped")
        return STOPPED
    finally:
        home.release()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="assent run", description="Run an agent or a skill without a window.")
    parser.add_argument("name", metavar="AGENT-OR-SKILL", help="the name of an agent, or of a skill")
    parser.add_argument("message", help="what to say to it; for a skill in code, its arguments as a JSON object")
    parser.add_argument("--json", action="store_true", help="print every event as a line of JSON")
    parser.add_argument(
        "--allow", metavar="RULE", action="append", default=[],
        help="allow what fits this rule, as bash(command=git status*); may be given several times",
    )  # fmt: skip
    parser.add_argument("--model", metavar="CONNECTION/MODEL", default="", help="instead of the default model")
    parser.add_argument("--home", metavar="DIR", help="the home folder (default: $AGENT_HOME, else ~/.agent)")
    parser.add_argument("--script", type=Path, help=argparse.SUPPRESS)
    return parser


async def _run(home: Path, logs: Path, options: argparse.Namespace) -> int:
    """Raises KnownError for what keeps it from beginning."""
    allowed = [_rule(text) for text in options.allow]
    settings = SettingsService(home)
    await settings.load()
    rooms = await open_rooms(
        home, settings, None, windows=lambda _ref: None, script=options.script, allowed=allowed
    )  # fmt: skip
    written = Logs(logs, rooms.redactor.redact_text)
    try:
        return await _Headless(rooms, options).go()
    finally:
        await rooms.service.close()
        await rooms.stop_children()
        await rooms.close()
        written.stop()


def _rule(text: str) -> Any:
    try:
        return read_rule(text, "allow")
    except PatternError as error:
        raise ConfigurationError(f"--allow {text!r} is no rule: {error}.", next_step="See README, Rules.") from error


class _Headless:
    """One run."""

    def __init__(self, rooms: Rooms, options: argparse.Namespace) -> None:
        self._rooms = rooms
        self._options = options
        self._end: RunEnded | None = None
        self._line_open = False
        self._unheard = False
        self._stop: Callable[[], None] = lambda: None

    async def go(self) -> int:
        """An agent, or a skill with a prompt, answers the message; a skill in code is called with its arguments."""
        name = str(self._options.name)
        if name in self._rooms.agents.agents:
            return await self._answered(name)
        skill = await self._rooms.skills.find(name)
        if skill is None:
            raise NotFound(f"There is no agent and no skill named {name!r}.", next_step="Look at the Skills page.")
        return await (self._called(name) if skill.is_code else self._answered(f"{SKILL}{name}"))

    async def _answered(self, agent: str) -> int:
        rooms, options = self._rooms, self._options
        model = options.model or rooms.settings.current.models.default
        if not model:
            then = "Choose one in the app, or give --model."
            raise KnownError("No model is chosen.", next_step=then, code="model.none")
        thread = await rooms.service.create_thread(agent=agent, model=model)
        rooms.bus.listen(self._tell)
        loop = asyncio.get_running_loop()
        stopped: list[bool] = []

        def stop() -> None:
            stopped.append(True)
            self._stop()

        self._stop = lambda: _spawned(rooms, thread.thread_id)
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop)
        await rooms.service.send(thread.thread_id, options.message)
        while not await rooms.service.wait(thread.thread_id, 3600):
            pass
        self._newline()
        end = self._end
        if self._unheard:
            _say_error("assent: stopped, because nobody reads what it says")
            return FAILED
        if end is not None and end.reason in ENDED_WELL:
            return DONE
        _say_error(f"assent: {end.detail or end.reason}" if end is not None else "assent: it did not end")
        if end is not None and end.next_step:
            _say_error(f"  {end.next_step}")
        return STOPPED if stopped else FAILED

    async def _called(self, name: str) -> int:
        try:
            arguments = json.loads(self._options.message) if self._options.message.strip() else {}
        except ValueError as error:
            raise ConfigurationError(
                f"{name} is written in code: its arguments are a JSON object.", next_step='As in: \'{"path": "a.txt"}\''
            ) from error
        if not isinstance(arguments, dict):
            raise ConfigurationError(f"{name} is written in code: its arguments are a JSON object.")
        _, _, work = self._rooms.desk.try_it(name, arguments, self._tell)
        outcome: Outcome = await work
        result = outcome.result
        if self._options.json:
            self._say({"type": "result", "state": outcome.state, "text": result.text, "value": result.structured})
        else:
            (_say_error if result.is_error else self._out)(result.text + "\n" * (not result.is_error))
        return FAILED if result.is_error else DONE

    def _tell(self, event: Event) -> None:
        if isinstance(event, RunEnded):
            self._end = event
        if self._options.json:
            kind = _CAPITAL.sub("-", type(event).__name__).lower()
            self._say({"type": kind, **dataclasses.asdict(event)})
        elif isinstance(event, TextArrived):
            self._line_open = True
            self._out(event.text)
        elif isinstance(event, ToolCallFinished):
            self._newline()
            _say_error(f"[{event.tool}: {event.state}]")

    def _say(self, event: dict[str, Any]) -> None:
        """One line, with nothing in it that the keyring holds (R-SEC-4)."""
        self._out(json.dumps(self._rooms.redactor.mask_data(event), ensure_ascii=False, default=str) + "\n")

    def _out(self, text: str) -> None:
        """To stdout, as long as somebody reads it; a run that nobody hears is ended."""
        if self._unheard:
            return
        try:
            sys.stdout.write(text)
            sys.stdout.flush()
        except BrokenPipeError:
            self._unheard = True
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.stdout.fileno())  # what is still buffered is written at the end of the process
            os.close(nowhere)
            self._stop()

    def _newline(self) -> None:
        if self._line_open:
            self._line_open = False
            self._out("\n")


def _spawned(rooms: Rooms, thread_id: str) -> None:
    rooms.owner.spawn(rooms.service.stop(thread_id), "stop")


def _refused(error: KnownError) -> int:
    _say_error(f"assent: {error}" + (f"\n  {error.next_step}" if error.next_step else ""))
    return REFUSED


def _say_error(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()
