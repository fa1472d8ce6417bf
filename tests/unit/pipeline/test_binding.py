"""Between the answer and the handle: what was approved runs, or nothing does. Real files, the real gate, ten runs."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from desktop.domain.approval.judgement import Category
from desktop.domain.approval.permission import AuditEntry, Decision, PermissionRequest
from desktop.domain.messages import ToolCallBlock
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.meta import RunMeta
from desktop.domain.runs.middleware import CallNext, FunctionContext
from desktop.domain.safety import SafetySettings, WriteOutcome
from desktop.domain.tools import PreCheck, ToolResult
from desktop.pipeline.context import CallRequest, CallResult, Invocation
from desktop.pipeline.names import Caller
from desktop.pipeline.pipeline import CallSettings, Pipeline
from desktop.safety.boundary.opening import BoundaryFiles
from desktop.safety.boundary.policy import BoundaryPolicy
from desktop.safety.permission.gate import PermissionGate
from desktop.services.rules.trust import TrustRules
from desktop.supervision.tasks import TaskOwner
from desktop.tools.builtin.files import WriteFile
from desktop.tools.registry import ToolRegistry
from tests.harness.changes import KeepsNothing
from tests.unit.pipeline.kit import FakeTool

NEW = "what the model wants to write"


async def _log(_entry: AuditEntry) -> int:
    return 1


class Meanwhile:
    """A layer of middleware: after the answer, before the call runs, ``change`` happens once."""

    def __init__(self, change: Callable[[], None]) -> None:
        self.change: Callable[[], None] | None = change

    async def process(self, context: FunctionContext, call_next: CallNext) -> None:
        change, self.change = self.change, None
        if change is not None:
            change()
        await call_next()


class Person:
    """Answers from a list; ``before`` happens while they think."""

    def __init__(self, *choices: str, before: Callable[[], None] | None = None) -> None:
        self.choices, self.before = list(choices), before
        self.asked: list[PermissionRequest] = []

    async def ask(self, request: PermissionRequest) -> Decision:
        self.asked.append(request)
        before, self.before = self.before, None
        if before is not None:
            before()
        return Decision(self.choices.pop(0), request.digest)  # type: ignore[arg-type]


class Place:
    """One folder, one tool that writes, and the whole pipeline before it."""

    def __init__(self, folder: Path, person: Any, *layers: Any, files: type[BoundaryFiles] = BoundaryFiles) -> None:
        self.folder = folder / "workspace"
        self.folder.mkdir()
        self.safety = SafetySettings(workspace=str(self.folder), allowed=(str(self.folder),), denied=())
        policy = BoundaryPolicy(str(folder / "home"), lambda: self.safety)
        self.registry = ToolRegistry([WriteFile(files(policy), KeepsNothing())])
        gate = PermissionGate(person, TrustRules(), _log, lambda: self.safety)
        self.owner = TaskOwner()
        self.pipeline = Pipeline(
            self.registry, self.owner.spawn, trust=gate, layers=layers, settings=CallSettings(margin_s=0.5)
        )

    async def write(self, path: str = "a.txt") -> CallResult:
        return await self.call("write_file", {"path": path, "content": NEW})

    async def call(self, tool: str, arguments: dict[str, Any]) -> CallResult:
        root = Invocation(RunMeta("run", CancellationToken(), "thread"))
        block = ToolCallBlock("call", tool, arguments)
        outcome = await self.pipeline.invoke(CallRequest(block, Caller(), root, lambda _event: None))
        await self.owner.close()
        return outcome

    @property
    def written(self) -> list[str]:
        return sorted(path.name for path in self.folder.rglob("*") if path.is_file() and path.read_text() == NEW)


def put(path: Path, text: str) -> None:
    path.write_text(text)


def swap(path: Path) -> None:
    other = path.with_name("other")
    other.write_text(path.read_text())
    os.replace(other, path)


def forge(path: Path) -> None:
    """The same length and time as before."""
    before = path.stat()
    path.write_text("y" * before.st_size)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def relink(path: Path) -> None:
    path.with_name("b.txt").write_text("years of work")
    path.unlink()
    path.symlink_to(path.with_name("b.txt"))


CHANGES: dict[str, Callable[[Path], None]] = {
    "changed": lambda path: put(path, "somebody wrote here"),
    "replaced": swap,
    "forged": forge,
    "deleted": Path.unlink,
    "permitted": lambda path: path.chmod(0o666),
    "a link by now": relink,
    "a folder by now": lambda path: (path.unlink(), path.mkdir())[1],
}


@pytest.mark.spec("R-PRM-5", "R-FS-9")
@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("when", ["before the answer", "after the answer"])
async def test_a_file_that_is_another_by_now_is_not_written_on_the_old_answer(tmp_path, name, when):
    path = tmp_path / "workspace" / "a.txt"

    def change() -> None:
        CHANGES[name](path)

    early = when == "before the answer"
    person = Person("allow_once", "deny", before=change if early else None)
    place = Place(tmp_path, person, *([] if early else [Meanwhile(change)]))
    path.write_text("what was there")
    outcome = await place.write()
    assert (outcome.result.is_error, place.written) == (True, [])
    assert [request.stale for request in person.asked] == ([False] if name == "a folder by now" else [False, True])


@pytest.mark.spec("R-PRM-5", "R-FS-9")
@pytest.mark.parametrize("name", [name for name in CHANGES if name != "permitted"])
async def test_a_file_that_changes_after_the_last_look_is_refused_at_the_handle(tmp_path, name):
    class Late(BoundaryFiles):
        """The change comes between the last judgement and the write."""

        def write_atomic(self, path: str, data: bytes, *, expected: str | None = None) -> WriteOutcome:
            CHANGES[name](tmp_path / "workspace" / "a.txt")
            return super().write_atomic(path, data, expected=expected)

    person = Person("allow_once")
    place = Place(tmp_path, person, files=Late)
    (tmp_path / "workspace" / "a.txt").write_text("what was there")
    outcome = await place.write()
    assert (outcome.result.is_error, place.written, len(person.asked)) == (True, [], 1)


@pytest.mark.spec("R-PRM-5")
async def test_nothing_that_changes_is_written_once_as_it_was_allowed(tmp_path):
    place = Place(tmp_path, Person("allow_once"), Meanwhile(lambda: None))
    (tmp_path / "workspace" / "a.txt").write_text("what was there")
    assert (await place.write()).state == "done"
    assert place.written == ["a.txt"]


@pytest.mark.spec("R-PRM-5")
async def test_a_file_that_never_stays_the_same_is_given_up_after_a_few_questions(tmp_path):
    class Restless:
        """Each answer comes too late."""

        asked = 0

        async def ask(self, request: PermissionRequest) -> Decision:
            self.asked += 1
            (tmp_path / "workspace" / "a.txt").write_text(f"version {self.asked}")
            return Decision("allow_once", request.digest)

    person = Restless()
    place = Place(tmp_path, person)
    outcome = await place.write()
    assert (outcome.state, place.written) == ("denied", [])
    assert 1 < person.asked < 10


@pytest.mark.spec("R-PRM-5", "R-TOOL-8")
@pytest.mark.parametrize("how", ["replaced", "removed", "the same again"])
@pytest.mark.parametrize("when", ["before the answer", "after the answer"])
async def test_a_tool_registered_anew_meanwhile_runs_neither_as_old_nor_as_new(tmp_path, how, when):
    old, new = FakeTool("do-it", Category.WRITE), FakeTool("do-it", Category.WRITE)

    def change() -> None:
        if how != "the same again":
            place.registry.unregister("do-it")
        if how == "replaced":
            place.registry.register(new)

    early = when == "before the answer"
    person = Person("allow_once", before=change if early else None)
    place = Place(tmp_path, person, *([] if early else [Meanwhile(change)]))
    place.registry.register(old)
    outcome = await place.call("do_it", {"path": "x"})
    if how == "the same again":
        assert (outcome.state, len(old.calls)) == ("done", 1)
    else:
        assert (outcome.state, old.calls, new.calls) == ("denied", [], [])
        assert ("was removed" if how == "removed" else "was changed") in outcome.result.text


@pytest.mark.spec("R-PRM-5", "R-TOOL-4")
async def test_what_was_shown_of_the_way_it_runs_is_what_the_answer_holds_for(tmp_path):
    """Where, with which network, how confined: all of it is in the request, and in the answer."""
    for key, value in (("network", True), ("cwd", "/elsewhere"), ("confined_by", "none"), ("environment", ["X"])):
        shown = {"kind": "command", "command": "id", "cwd": "/w", "network": False, "confined_by": "bubblewrap"}

        def judged(_args: object, now: dict[str, Any] = shown) -> PreCheck:
            return PreCheck(Category.WRITE, preview=dict(now))

        def change(now: dict[str, Any] = shown, key: str = key, value: object = value) -> None:
            now[key] = value

        tool, person = FakeTool("run-it", Category.WRITE, checks=judged), Person("allow_once", "deny", before=change)
        (tmp_path / key).mkdir()
        place = Place(tmp_path / key, person)
        place.registry.register(tool)
        outcome = await place.call("run_it", {"path": "x"})
        assert (outcome.state, tool.calls) == ("denied", []), key
        assert person.asked[0].digest != person.asked[1].digest, key


# -- ten requests of three runs, answered in any order ---------------------------------------------------------------


class WaitingQuestions:
    """Questions that wait, each to be answered when somebody says so."""

    def __init__(self) -> None:
        self.waiting: dict[str, tuple[PermissionRequest, asyncio.Future[Decision]]] = {}

    async def ask(self, request: PermissionRequest) -> Decision:
        answer: asyncio.Future[Decision] = asyncio.get_running_loop().create_future()
        self.waiting[request.request_id] = (request, answer)
        try:
            return await answer
        finally:
            del self.waiting[request.request_id]


class Crowd:
    """Ten calls of three runs, some nested, each with a mark of its own, through one gate."""

    def __init__(self) -> None:
        self.bench, self.ran = WaitingQuestions(), list[str]()
        gate = PermissionGate(self.bench, TrustRules(), _log, lambda: SafetySettings(workspace="/w"))
        self.owner = TaskOwner()

        def ran(args: dict[str, Any], _context: object) -> ToolResult:
            self.ran.append(args["path"])
            return ToolResult("done")

        writer = FakeTool("do-it", Category.WRITE, body=ran, checks=lambda _: PreCheck(Category.WRITE))
        self.pipeline = Pipeline(ToolRegistry([writer]), self.owner.spawn, trust=gate)
        self.tokens = [CancellationToken() for _ in range(3)]
        self.roots = [Invocation(RunMeta(f"run-{n}", token, f"t{n % 2}")) for n, token in enumerate(self.tokens)]

    async def call(self, number: int) -> CallResult:
        """Call ``number``: of run number % 3, every other one nested in another call; all with the same id."""
        root = self.roots[number % 3]
        parent = root.child("agent", {}) if number % 2 else root
        block = ToolCallBlock("call-1", "do_it", {"path": f"mark-{number}"})
        return await self.pipeline.invoke(CallRequest(block, Caller(), parent, lambda _event: None))


@pytest.mark.spec("R-PRM-8", "R-PRM-5", "R-PRM-9")
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    order=st.permutations(range(10)), yes=st.sets(st.integers(0, 9)), cancelled=st.integers(-1, 2), at=st.integers(0, 9)
)
def test_no_answer_ever_reaches_another_request_in_whatever_order_they_come(order, yes, cancelled, at):
    """``yes`` are allowed, the others denied; before answer number ``at``, run ``cancelled`` is stopped (-1: none)."""

    async def play() -> tuple[list[str], list[CallResult], set[int]]:
        crowd = Crowd()
        tasks = [asyncio.ensure_future(crowd.call(number)) for number in range(10)]
        while len(crowd.bench.waiting) < 10:
            await asyncio.sleep(0)
        by_mark = {request.arguments["path"]: request.request_id for request, _ in crowd.bench.waiting.values()}
        answered: set[int] = set()
        for turn, number in enumerate(order):
            if turn == at and cancelled >= 0:
                crowd.tokens[cancelled].cancel("stopped")
                while any(request.run_id == f"run-{cancelled}" for request, _ in crowd.bench.waiting.values()):
                    await asyncio.sleep(0)
            found = crowd.bench.waiting.get(by_mark[f"mark-{number}"])
            if found is None:
                continue
            request, answer = found
            answered.add(number)
            answer.set_result(Decision("allow_once" if number in yes else "deny", request.digest))
            if turn % 2:
                await asyncio.sleep(0)
        outcomes = await asyncio.gather(*tasks)
        await crowd.owner.close()
        return crowd.ran, list(outcomes), answered

    ran, outcomes, answered = asyncio.run(play())
    stopped = {number for number in range(10) if number % 3 == cancelled}
    certain = {n for n in yes & answered if n not in stopped}  # allowed, and its run went on
    assert {f"mark-{n}" for n in certain} <= set(ran) <= {f"mark-{n}" for n in yes & answered}
    assert len(ran) == len(set(ran))
    for number, outcome in enumerate(outcomes):
        assert (outcome.state == "done") == (f"mark-{number}" in ran) or number in stopped
        if number not in yes:
            assert outcome.result.is_error
