"""``assent run AGENT-OR-SKILL "message"``: the same runtime without a window.

An agent answers in a thread of its own. A skill is called as any other call would (R-AG-1): one in words by an agent
with its limits, provider and promised value, one in code with its arguments; that leaves no thread.

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
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from desktop.app.commands.headless_output import Output, say_error
from desktop.app.commands.windowless import windowless
from desktop.app.door.host import Door
from desktop.app.home.folder import Home, home_path, open_home
from desktop.app.wiring.services import Services
from desktop.domain.errors import ConfigurationError, KnownError, NotFound, ToolAborted, ValidationFailure
from desktop.domain.messages import ImageBlock
from desktop.domain.model_settings import EFFORTS, NAMES, SPELLINGS, ModelSettings, settings_from
from desktop.domain.models import ModelRef
from desktop.domain.runs.cancellation import STOPPED as BY_PERSON
from desktop.domain.runs.events import (
    AgentListening,
    AgentTraced,
    Event,
    MessageClosed,
    RunEnded,
    TextArrived,
    ToolCallFinished,
)
from desktop.domain.skills import SkillDef
from desktop.domain.text.words import count_words
from desktop.pipeline.skills.code_mode import result_in
from desktop.presenter.approvals.activity_words import BROKEN
from desktop.presenter.common.shown import shown_line
from desktop.services.definitions.others import PREFIX, own_model_of
from desktop.services.rules.text import problem_of, read_rule
from desktop.services.skills.side_prompt import prompt_skill
from desktop.services.turns.endings import EMPTY
from desktop.services.turns.spec import model_of, own_model
from desktop.skills.patterns.grammar import Pattern
from desktop.skills.resolution.refs import classify, path_target
from desktop.systems import ending_signals

DONE, FAILED, REFUSED, STOPPED = 0, 1, 2, 130
MOMENTS = 40
_NEVER_BEGAN = frozenset({ConfigurationError.code, ValidationFailure.code})
"""Codes of results of a call that came to nothing before anything was done."""
ENDED_WELL = frozenset({"response", "stop_tool", "end_session_tool"})
_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")


def main(arguments: Sequence[str]) -> int:
    """Run the whole command; returns its exit code."""
    options = parser().parse_args(arguments)
    if sys.stdout is None:
        return _refused(ConfigurationError("stdout is closed, so there is no place for an answer."))
    try:
        return _in_home(options)
    except KnownError as error:
        return _refused(error)
    except KeyboardInterrupt:
        say_error("assent: stopped")
        return STOPPED


def _in_home(options: argparse.Namespace) -> int:
    home = open_home(home_path(options.home, os.environ))
    try:
        return asyncio.run(_run(home, options))
    finally:
        home.release()


def parser() -> argparse.ArgumentParser:
    """What `assent run` takes."""
    made = argparse.ArgumentParser(prog="assent run", description="Run an agent or a skill without a window.")
    made.add_argument(
        "name", metavar="AGENT-OR-SKILL", help="the name of an agent or a skill, or the path of a skill's file"
    )
    made.add_argument(
        "message", help="what to say to it; for a skill that takes arguments also these, as a JSON object"
    )
    made.add_argument("--json", action="store_true", help="print every event as a line of JSON")
    made.add_argument(
        "--allow",
        metavar="RULE",
        action="append",
        default=[],
        help="allow what fits this rule, as bash(command=git status*); may be given several times",
    )
    made.add_argument("--model", metavar="CONNECTION/MODEL", default="", help="instead of the default model")
    made.add_argument("--effort", metavar="LEVEL", default="", help=f"how much the model thinks: {', '.join(EFFORTS)}")
    made.add_argument(
        "--set",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help=f"a setting of the model, over what the agent or the skill says: {', '.join(NAMES)}",
    )
    made.add_argument(
        "--project", metavar="DIR", default="", help="the folder to work in; without it, Assent's own workspace"
    )
    made.add_argument("--home", metavar="DIR", help="the home folder (default: $AGENT_HOME, else ~/.agent)")
    made.add_argument("--script", type=Path, help=argparse.SUPPRESS)
    return made


async def _run(held: Home, options: argparse.Namespace) -> int:
    """Raises KnownError for what keeps it from beginning."""
    allowed, settings = [_rule(text) for text in options.allow], _model_settings(options)
    async with windowless(held, _nobody, script=options.script, allowed=allowed, model=options.model) as (services, _):
        _look_at(allowed, services)
        followed = services.owner.spawn(_follow_log(services), "headless: follow the activity log")
        code = await _Headless(services, options, settings).go()
        await followed
        return code


def _nobody(_services: Services) -> Door:
    """Its rules are for this run alone, so no other program works with them."""
    return Door(dict, window=False, closed="`assent run` works with this home and lets nobody in.")


async def _follow_log(services: Services) -> None:
    """The activity log is followed at each start, without a window too; what is wrong with it is said at once."""
    try:
        report = await services.store.audit.check(lambda _done, _all: None, lambda: False)
    except KnownError as error:
        say_error(f"assent: the activity log could not be checked: {error}")
        return
    if report.damaged:
        say_error(f"assent: {BROKEN}")


def _rule(text: str) -> Pattern:
    """Parse a rule; a tool may be named as models and events name it (``write_file``). Raises ConfigurationError."""
    name, bracket, rest = text.partition("(")
    canonical = (name if "/" in name else name.replace("_", "-")) + bracket + rest
    problem = problem_of(canonical, "allow")
    if problem is not None:
        next_step = "The page resources/help/rules.md says how rules are written."
        raise ConfigurationError(f"--allow {text!r} is no rule: {problem.message}", next_step=next_step)
    return read_rule(canonical, "allow")


def _model_settings(options: argparse.Namespace) -> ModelSettings:
    """Raises ConfigurationError for a setting that there is not, and for a value that none takes."""
    given: dict[str, Any] = {"effort": options.effort} if options.effort else {}
    for text in options.set:
        name, equals, value = text.partition("=")
        if name not in SPELLINGS or not equals:
            known = f"settings are {', '.join(NAMES)}"
            raise ConfigurationError(f"--set {text!r} is no setting.", next_step=f"Write NAME=VALUE; {known}.")
        given[name] = _value(value)
    return settings_from(given, "the command line")


def _value(text: str) -> Any:
    """A number, true, a list as JSON has them; anything else is a text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _look_at(allowed: Sequence[Pattern], services: Services) -> None:
    """Say which rules name nothing that there is: they would look as if they counted."""
    for one in allowed:
        name = one.selector.text
        if re.fullmatch(r"[a-z0-9-]+", name) and services.skills.table.find(name) is None:
            say_error(f"assent: --allow {one.text}: there is no tool and no skill named {name} here")


class _Headless:
    """One run of ``assent run``."""

    def __init__(self, services: Services, options: argparse.Namespace, settings: ModelSettings) -> None:
        self._services = services
        self._settings = settings
        self._options = options
        self._end: RunEnded | None = None
        self._empty = False
        self._limit = ""
        self._stopped = False
        self._thread = ""
        self._project = ""
        self._stop: Callable[[], None] = lambda: None
        self._out = Output(services.redactor, self._unheard)

    async def go(self) -> int:
        """An agent answers the message; a skill is called."""
        loop = asyncio.get_running_loop()
        name = _reference(str(self._options.name))
        if name.startswith(PREFIX):
            await self._services.others.agents.opened()
        ending_signals.hear_interrupts(loop, self._interrupted)
        if self._options.project:
            self._project = await self._chosen(_whole(str(self._options.project)))
        if name in self._services.agents.agents:
            return await self._answered(name)
        return await self._called(await self._skill(name), name if classify(name) == "path" else "")

    async def _chosen(self, folder: str) -> str:
        """The folder to work in, as if it was chosen in the window; what it tells the model is said. Raises KnownError
        for one that no thread can work in."""
        projects = self._services.projects
        real = await projects.choose("", folder)
        for file in await projects.instructions.look(real):
            state = "told to the model" if file.state == "told" else f"not told ({file.why or file.state})"
            say_error(f"assent: {shown_line(file.name)}: {state}")
        return real

    def _interrupted(self) -> None:
        self._stopped = True
        self._stop()

    def _unheard(self) -> None:
        self._stop()

    def _model(self, named: str = "") -> str:
        """What was asked for, else what the agent has ``named``, else the default. Raises KnownError where none is
        chosen, or one that nothing leads to."""
        chosen = str(self._options.model or named or self._services.settings.current.models.default)
        then = "Choose one in the app, or give --model CONNECTION/MODEL."
        if not chosen:
            raise KnownError("No model is chosen.", next_step=then, code="model.none")
        if not self._services.models.reaches(ModelRef.parse(chosen)):
            known = ", ".join(one.connection_id for one in self._services.models.connections.saved()) or "none"
            raise KnownError(
                f"There is no connection for the model {chosen!r}; connections: {known}.",
                next_step=then,
                code="model.unknown",
            )
        return chosen

    async def _skill(self, name: str) -> SkillDef:
        """Raises NotFound, with what is wrong with a file that could have been it."""
        services = self._services
        skill = await services.skills.find(name)
        if skill is not None and skill.state == "untrusted" and self._is_strange(skill):
            raise ConfigurationError(
                f"{skill.path} lies in no folder of skills that Assent knows, so nobody has agreed to what it says.",
                next_step=f"Put it into {services.home / 'skills'}, or name its project folder in Settings, Skills.",
            )
        if skill is not None and skill.state != "broken":
            return skill
        problems = [str(one) for one in (skill.problems if skill else services.skill_service.problems_near(name))]
        if problems:
            raise ConfigurationError(f"The skill {name} cannot be used.", next_step="\n  ".join(problems))
        if classify(name) == "path":
            there = await asyncio.to_thread(os.path.exists, path_target(name, "").path)
            raise NotFound(
                f"{name} {'holds no skill' if there else 'is not there'}.",
                next_step="Give the name of an agent or a skill, or the path of a skill's file or folder.",
            )
        raise NotFound(f"There is no agent and no skill named {name!r}.", next_step="Look at the Skills page.")

    def _is_strange(self, skill: SkillDef) -> bool:
        """Whether it lies outside every folder of skills."""
        return all(skill.root != root.path for root in self._services.skills.fabric.roots)

    # -- an agent -----------------------------------------------------------------------------------------------------

    async def _answered(self, agent: str) -> int:
        services = self._services
        own = own_model_of(services.agents.get(agent).side_a)
        named = await self._agents_model(agent)
        model = "" if own is not None else self._model(named)
        thread = await services.chats.create_thread(agent=agent, model=model, project=self._project)
        await services.chats.set_model_settings(thread.thread_id, self._settings)
        self._thread = thread.thread_id
        services.bus.listen(self._tell)
        self._stop = lambda: _spawned(services, thread.thread_id)
        if not self._stopped:
            await services.chats.send(thread.thread_id, self._options.message)
        await self._over(thread.thread_id, agent)
        self._out.newline()
        end = self._end
        if end is not None and end.reason in ENDED_WELL:
            return self._ended(DONE)
        reason = (end.detail or end.reason) if end is not None else "it did not end"
        return self._ended(FAILED, reason, end.next_step if end is not None else "")

    async def _agents_model(self, name: str) -> str:
        """The model that the agent names itself; "" for none."""
        agent = self._services.agents.get(name)
        return model_of(agent.side_a, await prompt_skill(self._services.skills, agent, agent.side_a))

    async def _over(self, thread_id: str, agent: str) -> None:
        """Until the run has ended, and that of every agent that the conversation was handed to (S-AAT-1)."""
        service = self._services.chats
        while True:
            while not await service.wait(thread_id, 3600):
                pass
            now = (await service.thread(thread_id)).agent
            if now == agent or self._stopped:
                return
            agent = now
            for _ in range(MOMENTS):  # it begins by itself, unless it cannot
                if thread_id in service.running():
                    break
                await asyncio.sleep(0.05)

    def _ended(self, code: int, reason: str = "", then: str = "") -> int:
        if self._out.unheard:
            say_error(f"assent: stopped, because {self._out.unheard}")
            return FAILED
        if self._stopped:
            say_error("assent: stopped")
            return STOPPED
        if self._empty and code == DONE:
            say_error(f"assent: {EMPTY.text}")
        if reason:
            say_error(f"assent: {reason}" + (f"\n  {then}" if then else ""))
        return code

    # -- a skill ------------------------------------------------------------------------------------------------------

    async def _called(self, skill: SkillDef, path: str) -> int:
        """Call it as a person does, that very file where they gave a ``path``; the result is what it returned."""
        if not skill.is_code or self._options.model:
            self._model(own_model(skill))
        args, said = self._given(skill)
        service = self._services.skill_service
        call = service.try_it(skill.name, args, self._tell, said, path, self._settings, self._project)
        self._stop = lambda: call.token.cancel(BY_PERSON)
        if self._stopped:
            self._stop()
        outcome = await call.work
        result = outcome.result
        self._out.newline()
        if self._options.json:
            self._out.event(
                {
                    "type": "result",
                    "run_id": call.run_id,
                    "state": outcome.state,
                    "text": result.text,
                    "value": result.structured,
                    "code": result.code,
                    "usage": dataclasses.asdict(call.usage),
                }
            )
        elif not result.is_error and not result.facts.get("empty"):
            self._out.text(result.text + "\n")
        if not result.is_error:
            self._empty = not skill.is_code and not result.text.strip()
            return self._ended(FAILED, f"Stopped: {self._limit}.") if self._limit else self._ended(DONE)
        if result.code == ToolAborted.code:
            return self._ended(FAILED, result.text)
        return self._ended(REFUSED if result.code in _NEVER_BEGAN else FAILED, result.text)

    def _given(self, skill: SkillDef) -> tuple[Mapping[str, Any], str]:
        """(arguments, what is said): a JSON object where the skill takes arguments, else the words themselves."""
        text = str(self._options.message)
        try:
            found = json.loads(text) if text.strip() else {}
        except ValueError:
            found = None
        if isinstance(found, dict) and (skill.is_code or skill.params is not None):
            return found, ""
        if skill.role == "agent":
            return {"message": text}, ""
        if skill.is_code:
            raise ConfigurationError(
                f"{skill.name} is written in code: its arguments are a JSON object.",
                next_step='As in: \'{"path": "a.txt"}\'',
            )
        return {}, text

    # -- what happens -------------------------------------------------------------------------------------------------

    def _tell(self, event: Event) -> None:
        own = event.thread_id == self._thread  # an agent that was called has a thread of its own
        if isinstance(event, RunEnded) and own:
            self._end = event
        elif isinstance(event, AgentTraced) and event.type == "agent-complete" and not event.ancestor_context_id:
            self._limit = str(event.data.get("limit") or "")
        elif isinstance(event, MessageClosed) and own:
            self._empty = any(notice.code == EMPTY.code for notice in event.notices)
        elif isinstance(event, AgentListening) and event.waiting and not self._options.json:
            self._out.newline()
            say_error(f'assent: {event.agent} waits for a message: assent send {event.context_id} "…"')
        if self._options.json:
            kind = _CAPITAL.sub("-", type(event).__name__).lower()
            self._out.event({"type": kind, **dataclasses.asdict(event)})
        elif isinstance(event, TextArrived) and own:
            self._out.text(event.text)
        elif isinstance(event, ToolCallFinished):
            self._out.newline()
            gave = media_words(event, "see this chat in the app" if own else "see it with --json")
            say_error(f"[{event.tool}: {event.state}{gave}]")
            if own and event.facts.get("finished") is True:
                self._out.text(result_in(event.text) + "\n")


def media_words(event: ToolCallFinished, where: str) -> str:
    """What a terminal cannot show of a result, and where it can be seen or heard."""
    images = sum(isinstance(one, ImageBlock) for one in event.media)
    counts = ((images, "image"), (len(event.media) - images, "sound"))
    given = " and ".join(count_words(count, noun) for count, noun in counts if count)
    return f"; {given}: {where}" if given else ""


def _whole(path: str) -> str:
    """A path from the folder that the command was given in."""
    return os.path.abspath(os.path.expanduser(path))


def _reference(name: str) -> str:
    """What looks like a path is one, from the folder that the command was given in; a name is a name."""
    is_path = classify(name) == "path" and (os.sep in name or os.path.exists(name) or name.startswith("~"))
    return _whole(name) if is_path else name


def _spawned(services: Services, thread_id: str) -> None:
    services.owner.spawn(services.chats.stop(thread_id), "stop")


def _refused(error: KnownError) -> int:
    say_error(f"assent: {error}" + (f"\n  {error.next_step}" if error.next_step else ""))
    return REFUSED
