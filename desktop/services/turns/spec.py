"""One side of a conversation as it runs, and what it comes to before any model is asked.

``SideSpec`` says what to run, ``ResolvedSide`` is what was found for it: the prompt's skill, the tools it sees, who it
calls as, its limit. Nothing here asks a model, so "what can each side use" and the dry run are the same code as
the run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from desktop.agents.skill.discovery import Visible, not_itself, visible_tools
from desktop.agents.skill.documents import code_tool, described, document, finish_tool
from desktop.agents.skill.provider_port import is_bundled
from desktop.agents.skill.result_contract import DeclaredResult, ResultContract
from desktop.agents.skill.settings import PolicySettings, ToolMode, named_by, named_model
from desktop.domain.definitions import SideDefinition, SideName
from desktop.domain.errors import ConfigurationError, KnownError
from desktop.domain.files.work_place import WorkPlace
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import NoticeBlock
from desktop.domain.model_settings import UNSAID, ModelSettings, read_settings
from desktop.domain.models import ModelRef, ModelRequest
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.limits import USUAL_ROUNDS, Limit, tightest
from desktop.domain.runs.tree import BY_HAND
from desktop.domain.skills import SkillDef
from desktop.domain.tools import Tool
from desktop.pipeline.names import AllowedTools, Caller, ToolTable
from desktop.services.definitions.others import own_model_of
from desktop.services.projects.instructions import words_of
from desktop.services.skills.activation import named_in
from desktop.services.turns.prompt_settings import model_settings, promised_by, settings_of
from desktop.services.turns.prompts import beside_text, system_text
from desktop.services.turns.runtime import Runtime
from desktop.services.turns.unattended import JobTerms, ReadOnly, list_of_job
from desktop.skills.cascade.effective import Cascade
from desktop.supervision.budgets import BudgetTracker
from desktop.tools.builtin.read_document import READ_DOCUMENT

NO_CONTEXT: Mapping[str, Any] = {}
SIDE_LIMIT = Limit("maxSteps", 50, "the default of a side")
"""Rounds in a turn of a debate's side that sets none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SideSpec:
    """What a side is."""

    agent: str
    """The definition's name."""
    shown: str
    """What a person reads as its name."""
    prompt: str
    """The skill that is its prompt, or ""."""
    model: ModelRef
    """The model it asks."""
    side: SideName = "a"
    """Which side it is."""
    where: str = "sideA.prompt"
    """The field that names its prompt."""
    chain: tuple[str, ...] = ()
    """Whom a request for approval names before the prompt's skill (R-AAT-9)."""
    tools: tuple[str, ...] | None = None
    """Patterns that narrow what that skill allows; None: all of it."""
    within: AllowedTools | None = None
    """The caller's own list, for an agent that is called as a tool (R-AAT-4)."""
    terms: JobTerms | None = None
    """The terms of a job (R-CRON-2)."""
    prompt_text: str = ""
    """Stands for the skill's body."""
    in_place: SkillDef | None = None
    """The prompt where it is written in place of a skill's name."""
    stop_on_response: bool = True
    """Whether a reply ends the turn."""
    stop_tool: str = ""
    """The tool whose call ends the turn."""
    stop_property: str = ""
    """The argument of ``stop_tool`` that is the result."""
    end_session_tool: str = ""
    """The tool whose call ends the session."""
    max_rounds: int | None = None
    """The limit on rounds of a turn; None: ``usual_rounds``."""
    usual_rounds: Limit = USUAL_ROUNDS
    """The limit where the side sets none."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """The variables of the thread."""
    said: ModelSettings = UNSAID
    """Settings that a person gave the thread, the side or the job: for all that works below it, too."""
    usual: ModelSettings = UNSAID
    """Settings that were chosen for the agent."""
    project: str = ""
    """The folder that the person's thread works in; set where the turn begins."""

    @property
    def place(self) -> WorkPlace:
        """Where it works."""
        return WorkPlace(self.project, self.environment)


@dataclass(frozen=True, slots=True)
class ResolvedSide:
    """A side with all that it needs."""

    spec: SideSpec
    """What the side is."""
    skill: SkillDef
    """Its prompt."""
    allowed: AllowedTools
    """Its list of tools."""
    caller: Caller
    """In whose name its calls are made."""
    visible: Visible
    """The tools that it is offered."""
    settings: PolicySettings
    """What its prompt says below ``model``."""
    cascade: Cascade
    """What the prompt's frontmatter comes to, with what stands above it."""
    by_schema: bool = False
    """Whether its model is held to what the side promises by its own structured output (R-MOD-8)."""

    @property
    def metadata(self) -> Mapping[str, Any]:
        """The metadata of the prompt's skill."""
        return self.cascade.metadata

    @property
    def mode(self) -> ToolMode:
        """How the model calls its tools."""
        return self.settings.mode

    @property
    def model_settings(self) -> Mapping[str, Any]:
        """What ``model`` of the prompt's skill says."""
        return model_settings(self.metadata)

    @property
    def request(self) -> ModelSettings:
        """The settings of its requests: what a person said for the thread, over what was chosen for the agent, over
        what its prompt says."""
        return self.spec.said.over(self.spec.usual).over(self.settings.request)

    @property
    def rounds(self) -> Limit | None:
        """What the prompt's skill says about rounds (``maxTurns``); None: nothing. A persistent agent has no limit of
        its own, but a job's rounds hold for its agent too (R-PER-2)."""
        if self.settings.persistent:
            return self.spec.usual_rounds if self.spec.terms is not None else self.settings.rounds
        return self.settings.rounds if self.model_settings.get("maxTurns") is not None else None

    @property
    def calls(self) -> Limit | None:
        """What the prompt's skill says about tool calls (``maxSteps``); None: nothing."""
        return self.settings.calls if self.model_settings.get("maxSteps") is not None else None

    @property
    def native(self) -> tuple[Tool, ...]:
        """The tools that the model calls one by one."""
        return self.visible.inlined if self.mode != "code" else ()


async def with_what_is_there(runtime: Runtime, side: ResolvedSide, thread_id: str) -> ResolvedSide:
    """The side without the tool that reads on in documents, where its thread has none; its tools in the order in which
    the thread was offered them before."""
    usable, inlined = side.visible.usable, side.visible.inlined
    if runtime.has_documents is None or not await runtime.has_documents(thread_id):
        usable, inlined = (
            tuple(tool for tool in tools if tool.spec.name != READ_DOCUMENT.name) for tools in (usable, inlined)
        )
    inlined = runtime.offered.of(f"{thread_id}/{side.spec.agent}/{side.spec.side}/{side.skill.name}", inlined)
    return replace(side, visible=replace(side.visible, usable=usable, inlined=inlined))


async def ready(runtime: Runtime, spec: SideSpec) -> ResolvedSide:
    """Resolve everything, so that a missing piece is an error before any model call (R-DEF-11).

    Raises ConfigurationError.
    """
    skill = await prompt_of(runtime, spec)
    allowed = runtime.skills.allowed_of(skill)
    if spec.tools is not None:
        allowed = runtime.skills.together(allowed, runtime.skills.allowed(" ".join(spec.tools)), "either")
    listed = spec.terms.tools if spec.terms is not None else None
    if listed is not None:
        allowed = runtime.skills.together(allowed, list_of_job(listed, runtime.skills.allowed), "either")
    if spec.within is not None:
        allowed = runtime.skills.together(spec.within, allowed)
    if spec.terms is not None and listed is None:
        allowed = ReadOnly(allowed)  # here, so that it holds for the agents below too
    above = spec.chain or (spec.agent,)
    chain = above if spec.in_place is not None or above[-1] == skill.name else (*above, skill.name)
    caller = Caller("native", chain, not_itself(allowed, skill.name))
    room = runtime.offers().room(runtime.context_window(spec.model))
    visible = await visible_tools(runtime.pipeline.table, caller.allowed, serving=skill.name, room=room)
    cascade = await runtime.skills.cascade(skill, {})
    settings = settings_of(skill, cascade.metadata, runtime.tool_mode(spec.agent))
    return ResolvedSide(spec, skill, allowed, caller, visible, settings, cascade)


async def held(runtime: Runtime, side: ResolvedSide) -> ResolvedSide:
    """The side, held to what it promises by its model's own structured output where that goes (R-MOD-8). May ask the
    model's server what its models can do."""
    if contract_of(runtime, side).strict is None or not is_bundled(runtime.pipeline.table, side.settings.provider):
        return side
    own = await runtime.held_to_schemas(side.spec.model, with_tools=bool(side.native))
    return replace(side, by_schema=own)


async def prompt_of(runtime: Runtime, spec: SideSpec) -> SkillDef:
    """The skill that is the side's prompt. Raises ConfigurationError when it is not there or not usable."""
    if spec.in_place is not None:
        return spec.in_place
    found = await runtime.skills.find(spec.prompt)
    if found is None:
        raise ConfigurationError(
            f"The agent {spec.shown} needs the skill {spec.prompt!r} ({spec.where}), which is not there.",
            next_step="Choose another agent, or restore the skill.",
        )
    if found.kind not in ("markdown", "folder"):
        raise ConfigurationError(
            f"The agent {spec.shown} names the skill {found.name} as its prompt ({spec.where}), which is code; a "
            "prompt is a skill in words.",
            next_step="Name a skill in words that may call it (allowed-tools), or call it by itself.",
        )
    if found.state != "ready":
        raise ConfigurationError(
            f"The skill {found.name}, which the agent {spec.shown} works by, is not ready ({found.state}).",
            next_step="Look at it on the Skills page.",
        )
    return found


async def stop_problem(runtime: Runtime, side: ResolvedSide, wanted: str, allowed: str = "") -> tuple[str, str] | None:
    """(code, sentence) of what keeps a tool from ending this side's turn, or None (R-DEF-11, R-DEF-13).
    ``allowed``: what has to allow it beside the prompt's skill."""
    table = runtime.skills.table
    await table.bring(wanted)
    found = table.find(wanted)
    if found is None:
        return "tool.unknown", f"there is no tool {wanted}"
    if all(tool.spec.name != found.spec.name for tool in side.visible.usable):
        return "tool.not_allowed", f"{wanted} is not among the tools that {side.skill.name} {allowed or 'allows here'}"
    return None


async def check_stops(runtime: Runtime, side: ResolvedSide) -> None:
    """Raises ConfigurationError that names the field, before any model call (R-DEF-11, R-DEF-13)."""
    spec = side.spec
    at = spec.where.rpartition(".")[0]
    for field_name, wanted in (("stopTool", spec.stop_tool), ("endSessionTool", spec.end_session_tool)):
        problem = await stop_problem(runtime, side, wanted) if wanted else None
        if problem is not None:
            place = f"{at}.{field_name}" if at else field_name
            raise ConfigurationError(
                f"{spec.shown} cannot run: {place}: {problem[1]}.",
                next_step="Correct the agent, or its prompt's tools.",
            )


def contract_of(runtime: Runtime, side: ResolvedSide) -> ResultContract:
    """What a turn of this side has to give (R-AAT-3)."""
    returns, declared = promised_by(side.metadata), None
    if returns is not None:
        declared = DeclaredResult(returns, side.skill.name, runtime.pipeline.validator)
    return ResultContract(declared, side.caller.allowed, side.mode, by_schema=side.by_schema)


def how_called(side: ResolvedSide, table: ToolTable) -> list[str]:
    """What a dry run says of tools that the side is not offered one by one, those above all that end something."""
    offered = {tool.spec.name for tool in side.native}
    others = {tool.spec.name for tool in side.visible.usable} - offered
    ways = (("through skill_invoke", "skill-invoke" in offered), ("in code", side.mode != "direct"))
    how = " or ".join(way for way, is_open in ways if is_open)
    if not others or not how:
        return []
    ending = [table.find(name) for name in (side.spec.stop_tool, side.spec.end_session_tool) if name]
    named = [tool.spec.name for tool in ending if tool is not None and tool.spec.name in others]
    whole = f"{len(others)} of its tools are called {how}"
    return [whole, *(f"{name} is called {how}, which counts" for name in named)]


async def prompt_text(
    runtime: Runtime, side: ResolvedSide, token: CancellationToken, context: Mapping[str, Any] = NO_CONTEXT
) -> str:
    """The text of the side's prompt; ``context`` is what ``:context[]`` finds. Raises ToolFailure when it cannot be
    made."""
    spec = side.spec
    return spec.prompt_text or await runtime.skills.expanded(
        side.skill, {}, side.metadata, context, token=token, place=spec.place
    )


async def brought_in(
    runtime: Runtime, side: ResolvedSide, token: CancellationToken, asked: str, left_out: list[NoticeBlock]
) -> list[tuple[str, str]]:
    """The texts of the skills that a message names, or that fit it (S-SK-4, S-SK-5). Raises ToolFailure when one that
    was named cannot be made; one that nobody asked for is ``left_out`` with a notice."""
    skills, wanted = runtime.skills, named_in(asked)
    texts: list[tuple[str, str]] = []
    for one in await skills.brought_in(asked) if asked else ():
        if one.name == side.skill.name:
            continue
        try:
            text = await skills.named(one, asked, token=token, place=side.spec.place)
        except KnownError as error:
            if one.name in wanted:
                raise
            left_out.append(_left_out(one, error))
        else:
            texts.append((one.name, text))
    return texts


def _left_out(skill: SkillDef, error: KnownError) -> NoticeBlock:
    return NoticeBlock(
        f"The skill {skill.name} fits this message and was left out: {error}",
        "skill.left_out",
        f"Correct it on the Skills page, or name it (/{skill.name}) where you need it.",
        "warning",
    )


async def request_of(
    runtime: Runtime, side: ResolvedSide, text: str, brought_in: Sequence[tuple[str, str]] = (), asked: str = ""
) -> ModelRequest:
    """Model, system text and tools, without messages; ``text`` is the prompt's, ``asked`` is what skills may fit. What
    holds for the message alone stands beside it."""
    spec = side.spec
    safety = runtime.safety().within(spec.place) if runtime.safety is not None else None
    schemas = [described(tool, side.visible, runtime.pipeline) for tool in side.native]
    discovery = side.visible.discovery and side.mode != "code"
    fitting = await _fitting(runtime, side, asked, brought_in) if discovery and asked else ()
    system = system_text(text, side.native, safety, spec.environment, discovery=discovery, guided=side.visible.inlined)
    if runtime.instructions is not None and spec.project:
        system = f"{system}{words_of(await runtime.instructions.told(spec.project))}"
    contract = contract_of(runtime, side)
    if contract.native is not None:
        schemas.append(finish_tool(contract.native))
    if contract.words:
        system = f"{system}\n{contract.words}\n"
    if side.mode != "direct":
        schemas.append(code_tool())
        system = f"{system}\n{document(side.visible, runtime.pipeline)}"
    beside, answer = beside_text(brought_in, fitting), contract.answer_schema
    return ModelRequest(spec.model, (), system, tuple(schemas), side.request, answer, beside=beside)


async def _fitting(
    runtime: Runtime, side: ResolvedSide, asked: str, brought_in: Sequence[tuple[str, str]]
) -> list[tuple[str, str]]:
    """Skills in words that the side may call, and has not got yet."""
    usable = {tool.spec.name for tool in side.visible.usable} - {name for name, _ in brought_in}
    return [one for one in await runtime.skills.fitting(asked) if one[0] in usable]


def own_model(skill: SkillDef | None) -> str:
    """``connection/model`` that a prompt's skill names in its metadata; "" for none. It holds where a person chose no
    other."""
    return str(named_by(skill) or "")


def model_of(side: SideDefinition, skill: SkillDef | None) -> str:
    """``connection/model`` that a side's definition names, else its prompt's skill; "" for none."""
    named = named_model(side.model) if own_model_of(side) is None else None
    return str(named) if named is not None else own_model(skill)


def chosen_for(runtime: Runtime, agent: str, side: SideDefinition) -> ModelSettings:
    """What goes with an agent: the effort that a person chose for it, over what its definition says."""
    return ModelSettings(effort=runtime.effort(agent) or None).over(read_settings(side.model)[0])


def model_from(text: str) -> ModelRef:
    """``connection/model`` of a thread or a side. Raises KnownError ``model.none`` for what is none."""
    ref = ModelRef.parse(text)
    if not ref.connection_id or not ref.model:
        raise KnownError("No model is chosen for this chat.", next_step="Choose a model.", code="model.none")
    return ref


@dataclass(frozen=True, slots=True)
class TurnRounds:
    """How many rounds a turn may have, asked before each of them with the number that it has had: the tightest of what
    applies (R-LIM-1). That is the side's ``own`` limit, unless a person has set its rounds while it works, what the
    budget leaves, of which all agents of the run use, and what is left of the ``thread``'s. ``begun`` rounds of the
    turn were another run's."""

    own: Limit
    budget: BudgetTracker
    begun: int = 0
    thread: Limit | None = None

    @staticmethod
    def of(
        spec: SideSpec,
        who: str,
        budget: BudgetTracker,
        begun: int = 0,
        thread: Limit | None = None,
        prompts: Limit | None = None,
    ) -> TurnRounds:
        """The limits on rounds of a side's turn; ``who`` has the limit that the side sets, ``prompts`` is that of its
        prompt's skill."""
        side = Limit("maxSteps", spec.max_rounds, who) if spec.max_rounds else None
        return TurnRounds(tightest(side, prompts) or spec.usual_rounds, budget, begun, thread)

    def __call__(self, done: int) -> Limit:
        """The limit on rounds as of now."""
        left = self.budget.rounds_left(done - self.begun)
        left = replace(left, value=left.value + self.begun, kind="budget") if left is not None else None
        by_hand = self.budget.budget.max_rounds is not None and self.budget.where_of("max_rounds") == BY_HAND
        return tightest(None if by_hand else self.own, left, self.thread) or self.own


def round_limit(own: int | None, who: str, budget: BudgetTracker, usual: Limit = USUAL_ROUNDS) -> Limit:
    """The limit on rounds of a turn that has not begun."""
    return TurnRounds(Limit("maxSteps", own, who) if own else usual, budget)(0)
