"""What becomes of a call that an earlier process may have made: one row a case, through the whole app below the window.

The app ended in the middle of a round. A person chooses Continue, and the same calls come again. A rule allows each of
the tools here, so whatever is asked is asked because of the past alone.

    past      what the journals of earlier runs say of the call
    place     whether the model of the chat makes it, or code that the chat had called, or code inside that code, or
              middleware around the turn, before the model has said anything
    call      what it does: read, write, admin; "code" only makes calls, "writing code" does so and is declared as a
              write, "agent" works in a thread of its own, "batch" writes by itself and makes calls, too
    decision  made      it is made, as any new call is
              given     it is not made: its result is the stored one
              asked     a person is asked whether it was done; they may say that it was, skip it, or have it made again
              asked, never made   the same, but it cannot be made again, whatever they say
              refused   it is not made, and nobody is asked: by itself it had done nothing
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.approval.permission import AuditEntry, Decision, PermissionRequest
from desktop.domain.errors import Denied, KnownError
from desktop.domain.messages import ToolCallBlock
from desktop.domain.runs.call_keys import inside_key, likeness
from desktop.domain.runs.effects import EffectRecord, call_key, digest_value
from desktop.domain.runs.events import ToolCallFinished
from desktop.domain.safety import SafetySettings
from desktop.domain.threads import RunRecord
from desktop.domain.tools import PreCheck, ToolCallContext
from desktop.models.scripted import ScriptedModel, calls, says
from desktop.pipeline.context import CallRequest
from desktop.recovery.effect_values import digest_of
from desktop.recovery.words import SAID_DONE, SKIPPED
from desktop.safety.permission.gate import PermissionGate
from desktop.safety.permission.trust_rules import rule_from
from desktop.services.rules.trust import TrustRules
from tests.unit.pipeline.kit import FakeTool
from tests.unit.services.cut_off import ANSWER, RUN, cut_off, cut_off_before_a_word
from tests.unit.services.kit import MODEL, World, agent, world
from tests.unit.services.turns.test_prompt_middleware import WATCH, prompt, watched

CHAT, CODE, DEEPER, AROUND = "chat", "in code", "in code in code", "around the turn"
MADE, GIVEN, ASKED, NEVER_MADE, REFUSED = "made", "given", "asked", "asked, never made", "refused"
STORED = "as it was stored"
MASKED = json.dumps({"masked": True, "arguments": {"path": "***"}})
ENDS: dict[str, tuple[str, Any]] = {
    "done": ("completed", {"text": STORED}),
    "failed": ("failed", {"error": "ToolFailure", "text": STORED, "fields": {"code": "tool.failed"}}),
    "done, its result forgotten": ("completed", digest_value("00")),
    "cancelled": ("cancelled", ""),
}
"""The second line of a call's journal."""
X, Y, Z = {"path": "x"}, {"path": "y"}, {"path": "z"}

TABLE = [
    # past, place, call, decision
    ("never begun", CHAT, "read", MADE),
    ("never begun", CHAT, "write", MADE),
    ("never begun", CHAT, "admin", MADE),
    ("never begun", CHAT, "code", MADE),
    ("never begun", CHAT, "agent", MADE),
    ("never begun", CHAT, "write, outside the boundary now", REFUSED),
    ("done", CHAT, "read", GIVEN),
    ("done", CHAT, "write", GIVEN),
    ("done", CHAT, "admin", GIVEN),
    ("done", CHAT, "code", GIVEN),
    ("done", CHAT, "agent", GIVEN),
    ("done", CHAT, "write, outside the boundary now", GIVEN),
    ("done", CHAT, "write, its tool is gone", GIVEN),
    ("failed", CHAT, "read", GIVEN),
    ("failed", CHAT, "write", GIVEN),
    ("done, its result forgotten", CHAT, "read", GIVEN),
    ("done, its result forgotten", CHAT, "write", GIVEN),
    ("unknown", CHAT, "read", MADE),
    ("unknown", CHAT, "write", ASKED),
    ("unknown", CHAT, "admin", ASKED),
    ("unknown", CHAT, "batch", ASKED),
    ("unknown", CHAT, "read, its tool is gone", REFUSED),
    ("unknown", CHAT, "write, outside the boundary now", NEVER_MADE),
    ("unknown", CHAT, "write, its tool is gone", NEVER_MADE),
    ("unknown, a secret of it not kept", CHAT, "write", NEVER_MADE),
    ("unknown, a secret of it not kept", CHAT, "read", REFUSED),
    ("unknown, a secret of it not kept", CHAT, "code", REFUSED),
    ("unknown, a secret of it not kept, its thread there", CHAT, "agent", MADE),
    ("unknown, a secret of it not kept, its thread gone", CHAT, "agent", REFUSED),
    ("unknown, a secret of it not kept", CHAT, "read, its tool is gone", NEVER_MADE),
    ("unknown, a secret of it not kept", CHAT, "write, its tool is gone", NEVER_MADE),
    ("cancelled", CHAT, "read", MADE),
    ("cancelled", CHAT, "write", ASKED),
    ("in progress, nothing inside", CHAT, "code", MADE),
    ("in progress, nothing inside", CHAT, "agent", MADE),
    ("in progress, a write inside done", CHAT, "read", MADE),
    ("in progress, a write inside done", CHAT, "code", MADE),
    ("in progress, a write inside done", CHAT, "batch", ASKED),
    ("in progress, a write inside unknown", CHAT, "read", MADE),
    ("in progress, a write inside unknown", CHAT, "code", MADE),
    ("in progress, a write inside unknown", CHAT, "writing code", MADE),
    ("in progress, a write inside unknown", CHAT, "batch", ASKED),
    ("in progress, an agent's write unknown", CHAT, "agent", MADE),
    ("in progress, an agent's write unknown, its thread gone", CHAT, "agent", ASKED),
    ("in progress, calls inside without names", CHAT, "code", ASKED),
    ("never begun", CODE, "read", MADE),
    ("never begun", CODE, "write", MADE),
    ("never begun", CODE, "admin", MADE),
    ("never begun", CODE, "agent", MADE),
    ("never begun", CODE, "write, outside the boundary now", REFUSED),
    ("done", CODE, "read", GIVEN),
    ("done", CODE, "write", GIVEN),
    ("done", CODE, "admin", GIVEN),
    ("done", CODE, "code", GIVEN),
    ("done", CODE, "agent", GIVEN),
    ("done", CODE, "write, outside the boundary now", GIVEN),
    ("failed", CODE, "write", GIVEN),
    ("done, its result forgotten", CODE, "read", MADE),
    ("done, its result forgotten", CODE, "write", GIVEN),
    ("unknown", CODE, "read", MADE),
    ("unknown", CODE, "write", ASKED),
    ("unknown", CODE, "admin", ASKED),
    ("unknown", CODE, "batch", ASKED),
    ("unknown", CODE, "write, outside the boundary now", NEVER_MADE),
    ("done", CODE, "write, its tool is gone", GIVEN),
    ("failed", CODE, "write, its tool is gone", GIVEN),
    ("never begun", CODE, "write, its tool is gone", REFUSED),
    ("unknown", CODE, "read, its tool is gone", REFUSED),
    ("unknown", CODE, "write, its tool is gone", NEVER_MADE),
    ("unknown, a secret of it not kept", CODE, "write, its tool is gone", NEVER_MADE),
    ("unknown, a secret of it not kept", CODE, "write", NEVER_MADE),
    ("unknown, a secret of it not kept", CODE, "read", MADE),
    ("unknown, a secret of it not kept", CODE, "code", REFUSED),
    ("unknown, a secret of it not kept, its thread there", CODE, "agent", MADE),
    ("unknown, a secret of it not kept, its thread gone", CODE, "agent", REFUSED),
    ("cancelled", CODE, "read", MADE),
    ("cancelled", CODE, "write", ASKED),
    ("in progress, nothing inside", CODE, "code", MADE),
    ("in progress, nothing inside", CODE, "agent", MADE),
    ("in progress, a write inside done", CODE, "code", MADE),
    ("in progress, a write inside unknown", CODE, "code", MADE),
    ("in progress, a write inside unknown", CODE, "writing code", MADE),
    ("in progress, a write inside unknown", CODE, "batch", ASKED),
    ("in progress, an agent's write unknown", CODE, "agent", MADE),
    ("in progress, an agent's write unknown, its thread gone", CODE, "agent", ASKED),
    ("another way: a write unknown, not come to again", CODE, "read", MADE),
    ("another way: a write unknown, not come to again", CODE, "write", ASKED),
    ("another way: a write unknown, not come to again", CODE, "admin", ASKED),
    ("another way: a write unknown, not come to again", CODE, "code", MADE),
    ("another way: a write unknown, not come to again", CODE, "writing code", MADE),
    ("another way: a write unknown, not come to again", CODE, "agent", ASKED),
    ("another way: a write done, not come to again", CODE, "write", ASKED),
    ("never begun", DEEPER, "write", MADE),
    ("done", DEEPER, "read", GIVEN),
    ("done", DEEPER, "write", GIVEN),
    ("unknown", DEEPER, "read", MADE),
    ("unknown", DEEPER, "write", ASKED),
    ("unknown", DEEPER, "write, its tool is gone", NEVER_MADE),
    ("another way: a write unknown, not come to again", DEEPER, "write", ASKED),
    ("never begun", AROUND, "write", MADE),
    ("done", AROUND, "write", GIVEN),
    ("done, its result forgotten", AROUND, "write", GIVEN),
    ("failed", AROUND, "write", GIVEN),
    ("unknown", AROUND, "read", MADE),
    ("unknown", AROUND, "write", ASKED),
    ("unknown", AROUND, "admin", ASKED),
    ("unknown, a secret of it not kept", AROUND, "write", NEVER_MADE),
    ("another way: a write unknown, not come to again", AROUND, "write", ASKED),
]

ANSWERS = [
    # what a person says to "asked", what the call gives, whether it is made, how the run ends
    ("done", SAID_DONE, 0, "response"),
    ("deny", SKIPPED, 0, "response"),
    ("allow_once", "did write-file", 1, "response"),
    ("stop", "", 0, "cancelled"),
    ("nobody is here", SKIPPED, 0, "response"),
]

LATER = [
    # a person wrote on instead; the chat has one write of unknown outcome. What the model calls then, what comes of it
    ("the same write", ASKED),
    ("the same write, code makes it", ASKED),
    ("another write", MADE),
    ("a read with the same arguments", MADE),
]


@pytest.mark.spec("R-JRN-2", "R-PRM-4", "R-PRM-5", "R-INV-1")
@pytest.mark.parametrize(("past", "place", "call", "decision"), TABLE)
async def test_what_becomes_of_a_call(tmp_path: Path, past: str, place: str, call: str, decision: str) -> None:
    case = Case(past, place, call)
    async with case.world(tmp_path, ScriptedModel([says("ok")])) as w:
        thread = await case.goes_on(w)
        assert case.came(w) == decision
        if decision == GIVEN:
            later = [run.run_id for run in await w.store.runs.of_thread(thread_id=thread) if run.run_id != RUN]
            lines = [one.agent for run_id in later for one in await w.store.effects.load(run_id)]
            assert case.key not in lines, "the first run's journal has it"


@pytest.mark.spec("R-JRN-2", "R-PRM-4", "R-PRM-6")
@pytest.mark.parametrize(("answer", "text", "made", "end"), ANSWERS)
@pytest.mark.parametrize("place", [CHAT, CODE, DEEPER])
async def test_what_a_person_says_of_a_write_that_may_have_been_done(
    tmp_path: Path, place: str, answer: str, text: str, made: int, end: str
) -> None:
    case = Case("unknown", place, "write", answer)
    async with case.world(tmp_path, ScriptedModel([says("ok")])) as w:
        thread = await case.goes_on(w)
        assert (len(case.subject.calls), w.ends()[-1].reason) == (made, end)
        open_still = await w.store.effects.unfinished()
        if end == "response":
            (gave,) = case.gave(w)
            assert gave.startswith(text)
            assert open_still == []
        else:
            assert RUN in open_still
            case.person.answer = "done"
            await w.service.continue_answer(thread)
            await w.settled(thread)
            assert [len(case.person.past), len(case.subject.calls)] == [2, 0], "they are asked again the next time"
            assert case.gave(w)[-1].startswith(SAID_DONE)


@pytest.mark.spec("R-JRN-2", "R-PRM-4")
@pytest.mark.parametrize(("then", "decision"), LATER)
async def test_a_later_call_just_like_one_of_unknown_outcome(tmp_path: Path, then: str, decision: str) -> None:
    case = Case("unknown", CHAT, "read" if then.startswith("a read") else "write")
    args = Y if then == "another write" else X
    asks = calls("code", X) if then.endswith("code makes it") else calls(case.subject.name.replace("-", "_"), args)
    case.code.makes = ((case.subject.name, args),)
    async with case.world(tmp_path, ScriptedModel([asks, says("ok")])) as w:
        thread = await case.interrupted(w, "write-file")
        await w.ask(thread, "Go on.")
        assert case.came(w) == decision


# -- the world of a row -----------------------------------------------------------------------------------------------


class Answerer:
    """Answers questions about the past with ``answer``, all others with yes."""

    def __init__(self, answer: str) -> None:
        self.answer = answer
        self.past: list[PermissionRequest] = []

    async def ask(self, request: PermissionRequest) -> Decision:
        if not request.unknown:
            return Decision("allow_once", request.digest)
        self.past.append(request)
        return Decision(self.answer, request.digest)  # type: ignore[arg-type]


class Code:
    """A tool that only makes calls, one after the other."""

    def __init__(self, name: str, *makes: tuple[str, dict[str, Any]]) -> None:
        self.makes = makes
        self.gave: list[str] = []
        self.world: World | None = None
        self.tool = _tool(name, Category.READ, "calls", self._run)

    async def _run(self, _args: dict[str, Any], context: ToolCallContext) -> str:
        call, w = context.scope, self.world
        assert w is not None
        for number, (name, args) in enumerate(self.makes):
            block, request = ToolCallBlock(f"{self.tool.name}-{number}", name, args), call.request
            made = CallRequest(block, request.caller, call.invocation, request.sink, request.message_id)
            self.gave.append((await w.runtime.pipeline.invoke(made)).result.text)
        return "code has run"


@dataclass(frozen=True)
class Kind:
    """A tool by the name of the column ``call``."""

    name: str
    category: Category = Category.WRITE
    nests: str = ""


KINDS = {
    "read": Kind("read-file", Category.READ),
    "write": Kind("write-file"),
    "admin": Kind("admin-thing", Category.ADMIN),
    "code": Kind("inner-code", Category.READ, "calls"),
    "writing code": Kind("writing-code", Category.WRITE, "calls"),
    "agent": Kind("helper-agent", Category.WRITE, "thread"),
    "batch": Kind("batch"),
}


def _tool(name: str, category: Category, nests: str, body: Any = None, *, refused: bool = False) -> FakeTool:
    denied = Denied("It is outside.") if refused else None
    made = FakeTool(name, category, body=body, checks=lambda _args: PreCheck(category, denied=denied))
    made.spec = replace(made.spec, nests=nests)  # type: ignore[arg-type]
    return made


class Case:
    """One row: the tools, the journal as the end of the process left it, and what is seen afterwards."""

    def __init__(self, past: str, place: str, call: str, answer: str = "deny") -> None:
        self.past, self.place = past, place
        kind = call.partition(",")[0]
        self.gone = call.endswith("gone")
        self.kind = KINDS[kind]
        refused = call.endswith("outside the boundary now")
        self.subject = _tool(self.kind.name, self.kind.category, self.kind.nests, refused=refused)
        self.inner = Code("middle-code", (self.kind.name, X))
        self.code = Code("code", (self.kind.name, X) if place != DEEPER else ("middle-code", Y))
        self.person = Answerer(answer)
        self.around: list[str] = []
        self.lines: list[EffectRecord] = []
        self.key = ""

    def world(self, path: Path, model: ScriptedModel) -> Any:
        tools = [self.code.tool, self.inner.tool, *([] if self.gone else [self.subject])]
        names = [kind.name for kind in KINDS.values()]
        rules = TrustRules([rule_from({"tool": name, "policy": "allow"}) for name in names])
        options: dict[str, Any] = {}
        if self.place == AROUND:
            options = {"roots": prompt(path / "mine", f"{WATCH}: true", tools=" ".join(names))}
            options["agents"] = agent(prompt="helper")
        asker = None if self.person.answer == "nobody is here" else self.person
        gate = PermissionGate(asker, rules, _log, lambda: SafetySettings(workspace="/w"))
        return world(path, model, *tools, person=gate, supervised=True, **options)

    async def goes_on(self, w: World) -> str:
        """The process ended, and a person chooses Continue."""
        thread = await self.interrupted(w, self.kind.name)
        await w.service.continue_answer(thread)
        await w.settled(thread)
        return thread

    async def interrupted(self, w: World, name: str) -> str:
        self.code.world = self.inner.world = w
        asked = name if self.place == CHAT else "code"
        key = root = call_key(ANSWER, "c1")
        if self.place == AROUND:
            root = inside_key(call_key(RUN, "turn  helper"), likeness(WATCH, None), 1)
            self._begun(root, WATCH, writes=False)
            key = inside_key(root, likeness(name, X), 1)
        elif self.place != CHAT:
            self._begun(root, "code", writes=False)
            if self.place == DEEPER:
                root = inside_key(root, likeness("middle-code", Y), 1)
                self._begun(root, "middle-code", writes=False)
            key = inside_key(root, likeness(name, X), 1)
        self.key = key
        self._tell(root, key, name)
        if self.place == AROUND:
            watched(w, self._layer)
            return await cut_off_before_a_word(w, self.lines)
        thread = await cut_off(w, [("c1", asked)], self.lines, arguments=X)
        if self.past.endswith(("agent's write unknown", "its thread there")):
            await w.store.runs.start(record=RunRecord("below", thread, 2.0, "assistant", MODEL))
            await w.store.runs.end(run_id="below", reason="interrupted", at=3.0)
            await w.store.called.add(run_id="below", tree_run_id=RUN, call_key=key)
        return thread

    async def _layer(self, ctx: Any) -> Any:
        """Middleware that makes the call, whatever comes of it, and then has the turn taken."""
        try:
            gave = await ctx.manager.invoke(self.kind.name, X)
        except KnownError as error:
            gave = str(error)
        self.around.append(str(gave or ""))
        return await ctx.manager.next()

    def _tell(self, root: str, key: str, name: str) -> None:
        """The lines of the journal that the past is."""
        past, writes = self.past, name not in ("read-file", "inner-code")
        if past == "never begun":
            return
        if past.startswith("another way"):
            other = inside_key(root, likeness("write-file", Z), 1)
            self._begun(other, "write-file")
            if "done" in past:
                self._ended(other, "completed", {"text": STORED})
            return
        self._begun(key, name, writes=writes, value=MASKED if "not kept" in past else "")
        if past in ENDS:
            self._ended(key, *ENDS[past])
        elif "agent's write" in past:
            self._begun(call_key("of the agent", "c9"), "write-file")
        elif past.endswith("without names"):
            self._begun(call_key(ANSWER, "by chance"), "write-file")
        elif past.startswith("in progress, a write inside"):
            inside = inside_key(key, likeness("write-file", Z), 1)
            self._begun(inside, "write-file")
            if past.endswith("done"):
                self._ended(inside, "completed", {"text": STORED})

    def _begun(self, key: str, name: str, *, writes: bool = True, value: str = "") -> None:
        digest = digest_of(name, X)
        self._line(key, name, "begun", value, f"{name} {key[-4:]}" if writes else "", digest)

    def _ended(self, key: str, phase: str, value: Any) -> None:
        self._line(key, "", phase, value if isinstance(value, str) else json.dumps(value), "", "")

    def _line(self, key: str, name: str, phase: str, value: str, summary: str, digest: str) -> None:
        number = len(self.lines) + 1
        record = EffectRecord(RUN, number, key, 1, "tool", name, digest, phase, 1.0, value, summary)  # type: ignore[arg-type]
        self.lines.append(record)

    def came(self, w: World) -> str:
        """The last column of the row, from what was seen."""
        asked = self.person.past
        if asked:
            assert [one.tool for one in asked] == [self.kind.name], "about this call, and once"
            assert self.subject.calls == [], "the person says that it is to be skipped"
            return ASKED if "allow_once" in asked[0].choices else NEVER_MADE
        if self.subject.calls:
            assert len(self.subject.calls) == 1
            return MADE
        texts = self.gave(w)
        stored = STORED in texts or any("was done before" in text for text in texts)
        return GIVEN if stored or self._given_to_code(texts) else REFUSED

    def gave(self, w: World) -> Sequence[str]:
        """The texts that came of the call."""
        inner = {CHAT: [], CODE: self.code.gave, DEEPER: self.inner.gave, AROUND: self.around}[self.place]
        finished = [one for one in w.events if isinstance(one, ToolCallFinished)]
        return [*inner, *(one.text for one in finished if self.place == CHAT)]

    def _given_to_code(self, texts: Sequence[str]) -> bool:
        """Code takes a text for the value: of a call whose result is forgotten it gets none."""
        return self.place != CHAT and list(texts) == [""]


async def _log(_entry: AuditEntry) -> int:
    return 1
