"""What keeps a debate from starting, what each side can use, and how it would run: without asking a model.

All problems at once, each with its field's path and a stable code (R-DEF-11 … R-DEF-14); the run itself checks again.
"""

from __future__ import annotations

import math
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import replace
from functools import partial

from desktop.agents.loop.round_notes import rounds_note
from desktop.agents.loop.window import NOTHING
from desktop.agents.skill.discovery import NOT_TOOLS
from desktop.agents.turn import TurnInput, TurnSpec, request_with, window_of
from desktop.domain.context import Overlay
from desktop.domain.debates import MAX_TURNS, USUAL_TURNS, DebateSetup, SidePreview, SideSetup, ToolOffer
from desktop.domain.definitions import SIDES, DefinitionProblem, SideName
from desktop.domain.ids import AgentId
from desktop.domain.model_settings import read_settings
from desktop.domain.models import ModelRef, ModelRequest
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.supervision import ExecutionBudget
from desktop.domain.skills import SkillDef
from desktop.domain.text.hidden_characters import odd_text
from desktop.services.debates.ends import last_turn_note
from desktop.services.debates.perspectives import Perspectives
from desktop.services.debates.setup import label_of, spec_of
from desktop.services.definitions.values import frontmatter_problem
from desktop.services.skills.side_prompt import in_place
from desktop.services.threads.variables import looks_secret
from desktop.services.turns.dry_run import dry_run, offers, side_problems
from desktop.services.turns.runtime import Runtime
from desktop.services.turns.spec import SIDE_LIMIT, SideSpec, own_model, prompt_text, ready, request_of, round_limit
from desktop.supervision.budgets import BudgetTracker

MAX_TOPIC = 100_000
MAX_PROMPT = 200_000
MADE_FOR_DEBATES = "debate"
_JUDGE = "judge"
_AS_A_SIDE = re.compile(r"\(\s*side\b", re.IGNORECASE)
"""What stands behind a label where it matters which side that is: a label cannot say it itself."""
_NO_BUDGET = ExecutionBudget()
_NOBODY = ModelRef("", "")
_ANY_TEXT = "(not written yet)"
"""Which tools there are to choose from does not depend on what a prompt says."""


class DebateChecks:
    """Checks set-ups of debates. Raises only what the skills raise when they cannot be read."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    async def prompts(self) -> list[str]:
        """Skills that are text and ready, those made for debates first."""
        found = [skill for skill in await self._runtime.skills.listed() if _can_speak(skill)]
        found.sort(key=lambda skill: (MADE_FOR_DEBATES not in skill.tags, skill.name))
        return [skill.name for skill in found]

    async def tools_of(self, prompt: str) -> list[ToolOffer]:
        """What a prompt's skill allows at most, or with "" a prompt that is written in place. Raises
        ConfigurationError for what can be no prompt."""
        own = None if prompt else in_place(_ANY_TEXT, MADE_FOR_DEBATES)
        spec = SideSpec(
            agent=MADE_FOR_DEBATES, shown=prompt, prompt=prompt, model=_NOBODY, where="prompt", in_place=own
        )
        return list(offers(await ready(self._runtime, spec)))

    async def modelled(self, setup: DebateSetup, usual: str = "") -> DebateSetup:
        """The set-up with a model for each side: its own, else the one that its prompt's skill names, else the
        ``usual`` one."""
        for name in SIDES:
            side = setup.side(name)
            if side.model:
                continue
            skill = await self._runtime.skills.find(side.prompt) if side.prompt else None
            setup = setup.with_side(name, replace(side, model=own_model(skill) or usual))
        return setup

    async def problems(self, setup: DebateSetup) -> list[DefinitionProblem]:
        """Errors first, then warnings."""
        setup = await self.modelled(setup)
        found = [*_whole(setup), *self._cost(setup)]
        for name in SIDES:
            found += [problem async for problem in self._side(setup, name)]
        return sorted(found, key=lambda problem: problem.warning)

    def _cost(self, setup: DebateSetup) -> Iterator[DefinitionProblem]:
        """Warns where the debate ends by cost and the cost of a model is not known (R-SUP-7)."""
        models = [ModelRef.parse(setup.side(name).model) for name in SIDES] if setup.max_cost is not None else []
        unknown = dict.fromkeys(str(ref) for ref in models if ref.model and not self._runtime.priced(ref))
        if unknown:
            names = " and ".join(unknown)
            text = f"the cost of {names} is not known, so the end by cost may never come: bound tokens, too"
            yield DefinitionProblem("maxCost", "cost.unknown", text, True)

    async def _side(self, setup: DebateSetup, name: SideName) -> AsyncIterator[DefinitionProblem]:
        side, path = setup.side(name), f"side{name.upper()}."
        for problem in _fields(side, path, self._runtime.tracker().budget.max_rounds or math.inf):
            yield problem
        if not side.prompt and not side.prompt_text.strip():
            return
        for problem in await side_problems(self._runtime, _spec(setup, name), path[:-1], "and this side allow"):
            yield problem

    async def preview(self, setup: DebateSetup, problems: Sequence[DefinitionProblem]) -> dict[SideName, SidePreview]:
        """Both sides as they would run (the dry run)."""
        return {name: await self._preview(setup, name, problems) for name in SIDES}

    async def _preview(self, setup: DebateSetup, name: SideName, problems: Sequence[DefinitionProblem]) -> SidePreview:
        path = f"side{name.upper()}."
        own = tuple(problem for problem in problems if problem.path.startswith(path))
        spec = _spec(setup, name)
        limits = tuple(_limits(setup, setup.side(name), name))
        notes = _notes(setup, 1 if name == "a" else 2, spec)
        return await dry_run(self._runtime, spec, setup.side(name).model, limits, own, notes)

    async def next_request(
        self, setup: DebateSetup, name: SideName, seen: Perspectives, number: int, overlay: Overlay = NOTHING
    ) -> ModelRequest:
        """What a side would be asked with in turn ``number``, which is the next one or, for the side whose turn it is
        not, as much of it as is known; ``overlay`` is the side's. Raises ConfigurationError and ToolFailure."""
        spec = _spec(setup, name)
        mine = (number % 2 == 1) == (name == "a")
        messages = seen.next_for(name) if mine else seen.of(name)
        at = await ready(self._runtime, spec)
        request = await request_of(self._runtime, at, await prompt_text(self._runtime, at, CancellationToken()))
        topic = (seen.topic,) if seen.topic is not None else ()
        budget = self._runtime.tracker()
        limit = round_limit(spec.max_rounds, spec.shown, budget, usual=spec.usual_rounds)
        notes = (last_turn_note(setup, number if mine else number + 1),)
        task = messages[-1].source_id if messages else ""
        given = TurnInput(messages=messages, pinned=topic, notes=notes, task=task)
        turn = TurnSpec(
            agent_id=AgentId(spec.agent, spec.side),
            request=request,
            limit=lambda _done: limit,
            context_window=self._runtime.context_window(request.model),
            token_scale=partial(self._runtime.token_scale, request.model),
        )
        view = window_of(turn, given).view(messages, overlay)
        return request_with(request, view, given, rounds_note(int(limit.value), 1))


def _can_speak(skill: SkillDef) -> bool:
    text = skill.kind in ("markdown", "folder") and skill.state == "ready" and skill.role not in NOT_TOOLS
    return text and _JUDGE not in skill.tags


def _spec(setup: DebateSetup, name: SideName) -> SideSpec:
    """The spec of a side as it would run; a missing model does not matter here, because nobody is asked."""
    side = setup.side(name)
    known = side if ModelRef.parse(side.model).model else replace(side, model="none/none")
    spec = spec_of(setup.with_side(name, known), name)
    return spec if known is side else replace(spec, model=_NOBODY)


def _notes(setup: DebateSetup, number: int, spec: SideSpec) -> list[str]:
    limit = round_limit(spec.max_rounds, spec.shown, BudgetTracker(_NO_BUDGET), usual=spec.usual_rounds)
    return [last_turn_note(setup, number), rounds_note(int(limit.value), 1)]


def _limits(setup: DebateSetup, side: SideSetup, name: SideName) -> Iterator[str]:
    limit = round_limit(side.max_rounds, label_of(setup, name), BudgetTracker(_NO_BUDGET), usual=SIDE_LIMIT)
    yield f"rounds in a turn: {limit.value:g}"
    turns = (setup.turn_limit + (1 if name == "a" else 0)) // 2
    yield f"turns of this side: {turns} of {setup.turn_limit}"
    if side.stop_tool:
        yield f"{side.stop_tool} ends its turn"
    elif not side.stop_on_response:
        yield "a reply does not end its turn"
    if side.end_session_tool:
        yield f"{side.end_session_tool} ends the debate"
    if setup.max_cost is not None:
        yield f"cost of all: {setup.max_cost:g} USD"
    if setup.max_tokens is not None:
        yield f"tokens of all: {setup.max_tokens}"


def _whole(setup: DebateSetup) -> Iterator[DefinitionProblem]:
    """What concerns both sides."""
    if not setup.topic.strip():
        yield DefinitionProblem("topic", "field.missing", "say what it is about")
    elif len(setup.topic) > MAX_TOPIC:
        yield DefinitionProblem("topic", "field.length", f"at most {MAX_TOPIC} characters")
    yield from _count("maxSessionTurns", setup.max_turns, MAX_TURNS)
    yield from _count("maxTokens", setup.max_tokens)
    if setup.max_cost is not None and not (math.isfinite(setup.max_cost) and setup.max_cost > 0):
        yield DefinitionProblem("maxCost", "limit.value", "maxCost must be an amount of more than 0")
    for key, kept in setup.environment.items():
        if looks_secret(key, kept):
            yield DefinitionProblem(f"tenvs.{key}", "environment.secret", "keys belong into the keyring")
    if setup.max_turns is None:
        text = f"without a number of turns it ends after {USUAL_TURNS}"
        yield DefinitionProblem("maxSessionTurns", "turns.unset", text, True)
    same = [(s.prompt, s.model, s.prompt_text) for s in (setup.a, setup.b)]
    if same[0] == same[1] and (setup.a.prompt or setup.a.prompt_text):
        yield DefinitionProblem("sideB.prompt", "sides.same", "both sides have the same prompt and model", True)


def _count(path: str, value: object, maximum: float = math.inf) -> Iterator[DefinitionProblem]:
    """What is wrong with a number that is set (R-LIM-7)."""
    if value is None or (type(value) is int and 0 < value <= maximum):
        return
    at_most = f", at most {maximum:g}" if maximum < math.inf else ""
    text = f"{path.rpartition('.')[2]} must be a whole number of more than 0{at_most}"
    yield DefinitionProblem(path, "limit.value", text)


def _fields(side: SideSetup, path: str, max_rounds: float) -> Iterator[DefinitionProblem]:
    """What can be seen of one side without looking anything up."""
    if not side.prompt and not side.prompt_text.strip():
        yield DefinitionProblem(f"{path}prompt", "field.missing", "choose a prompt, or write one")
    ref = ModelRef.parse(side.model)
    if not ref.connection_id or not ref.model:
        yield DefinitionProblem(f"{path}model", "field.missing", "choose a model")
    if len(side.prompt_text) > MAX_PROMPT:
        yield DefinitionProblem(f"{path}promptText", "field.length", f"at most {MAX_PROMPT} characters")
    elif not side.prompt and (wrong := frontmatter_problem(side.prompt_text) or odd_text(side.prompt_text)):
        yield DefinitionProblem(f"{path}promptText", "prompt.text", f"the prompt: {wrong}")
    yield from _count(f"{path}maxSteps", side.max_rounds, max_rounds)
    for one in read_settings(side.settings)[1]:
        yield DefinitionProblem(f"{path}model.{one.key}", "model.setting", one.text)
    if odd_text(side.label) or "\n" in side.label or "\t" in side.label or _AS_A_SIDE.search(side.label):
        text = "a label is one line that can be seen, and names no side"
        yield DefinitionProblem(f"{path}label", "label.invalid", text)
    if side.stop_tool and not side.stop_property:
        yield DefinitionProblem(
            f"{path}stopToolResponseProperty", "stop.property", "name the property that is the outcome"
        )
    if not side.stop_on_response and not (side.stop_tool or side.end_session_tool or side.max_rounds):
        yield DefinitionProblem(f"{path}stopOnResponse", "stop.never", "needs stopTool, endSessionTool or maxSteps")
