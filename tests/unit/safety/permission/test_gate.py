"""The gate: rules, what was decided before, a person; and always "no" when in doubt."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import pytest

from desktop.domain.approval.call_facts import CallFacts
from desktop.domain.approval.judgement import Category, Judgement
from desktop.domain.approval.permission import AuditEntry, Decision, PermissionRequest
from desktop.domain.errors import ConfigurationError, StoreFull
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.meta import RunMeta
from desktop.domain.safety import SafetySettings
from desktop.domain.tools import PreCheck, ToolSpec
from desktop.safety.permission.gate import PermissionGate, digest_of
from desktop.safety.permission.trust_rules import TrustRule, rule_from
from desktop.safety.secrets.redaction import SecretRedactor
from desktop.services.rules.trust import TrustRules
from tests.harness.timeouts import WAIT_S

READ, WRITE, ADMIN = Category.READ, Category.WRITE, Category.ADMIN


@dataclass
class Call:
    """A judged call as the pipeline would hand it over."""

    category: Category = WRITE
    tool: str = "write-file"
    frozen: Mapping[str, Any] = field(default_factory=lambda: {"path": "a.txt", "content": "x"})
    check: PreCheck | None = None
    stale: bool = False
    original: Mapping[str, Any] | None = None
    place: str = ""
    logged: list[int] = field(default_factory=list)
    run: str = "run-1"
    call_id: str = "call-1"
    token: CancellationToken = field(default_factory=CancellationToken)
    tags: tuple[str, ...] = ("files",)
    question: str = ""
    allowed_before: bool = False
    unrepeatable: str = ""
    refused: str = ""

    def __post_init__(self) -> None:
        if self.check is None:
            self.check = PreCheck(
                self.category,
                paths=("/w/a.txt",),
                identity={"/w/a.txt": "absent"},
                preview={"kind": "diff"},
                constraint="/w/a.txt",
            )
        self.target = SimpleNamespace(spec=ToolSpec(self.tool, "Writes.", {}, WRITE, tags=self.tags))
        self.meta = RunMeta(self.run, self.token, thread_id="thread-1")
        self.request = SimpleNamespace(
            block=SimpleNamespace(call_id=self.call_id), caller=SimpleNamespace(chain=("helper", "writer")), said=""
        )


class Person:
    """Answers each request with `answer(request)`, after `delay` seconds; keeps what was asked and what was closed."""

    def __init__(self, choice: str = "allow_once", *, delay: float = 0.0, **fields: Any) -> None:
        self.choice, self.delay, self.fields = choice, delay, fields
        self.asked: list[PermissionRequest] = []
        self.closed: list[str] = []

    async def ask(self, request: PermissionRequest) -> Decision:
        self.asked.append(request)
        try:
            await asyncio.sleep(self.delay)
        except asyncio.CancelledError:
            self.closed.append(request.call_id)
            raise
        return Decision(self.choice, request.digest, **self.fields)  # type: ignore[arg-type]


class GateBench:
    """A gate with everything around it."""

    def __init__(self, person: Any = None, *rules: TrustRule, book: TrustRules | None = None, **settings: Any) -> None:
        self.log: list[AuditEntry] = []
        self.settings = SafetySettings(workspace="/w", **settings)
        self.rules = book or TrustRules(rules)
        self.shown: list[PermissionRequest] = []
        self.gate = PermissionGate(person, self.rules, self.audit, lambda: self.settings, redactor=SecretRedactor())

    async def audit(self, entry: AuditEntry) -> int:
        self.log.append(entry)
        return len(self.log)

    async def decide(self, call: Any) -> Decision:
        return await self.gate.decide(call, self.shown.append)


@pytest.mark.spec("R-PRM-1", "R-TOOL-5")
@pytest.mark.parametrize("category", [WRITE, ADMIN])
async def test_write_and_admin_ask_each_time(category: Category) -> None:
    person = Person()
    bench = GateBench(person)
    for _ in range(3):
        decision = await bench.decide(Call(category))
        assert (decision.allowed, decision.by) == (True, "user")
    assert len(person.asked) == len(bench.shown) == 3


@pytest.mark.spec("R-PRM-2", "R-PRM-5", "R-PRM-6")
@pytest.mark.parametrize("category", [READ, WRITE])
async def test_an_edit_that_may_not_be_made_is_shown_whatever_else_would_answer(category: Category) -> None:
    person = Person("deny")
    bench = GateBench(person, TrustRule("write-file", "allow"), auto_approve_workspace_writes=True)
    decision = await bench.decide(Call(category, refused="it is outside"))
    assert (decision.allowed, decision.by) == (False, "user")
    assert [request.refused for request in person.asked] == ["it is outside"]
    nobody = await GateBench(None).decide(Call(category, refused="it is outside"))
    assert (nobody.allowed, nobody.by) == (False, "no_handler")


@pytest.mark.spec("R-TOOL-5", "R-BLT-1")
async def test_read_runs_without_a_question_or_a_line_in_the_log() -> None:
    bench = GateBench(None)
    assert (await bench.decide(Call(READ))).allowed
    assert bench.log == []


@pytest.mark.spec("R-PRM-2")
async def test_the_request_shows_everything() -> None:
    person = Person()
    judgement = Judgement("rm x", "deletes")
    check = PreCheck(ADMIN, "because", ("/p",), (judgement,), {"kind": "command"}, {"/p": "1:2:3:4"})
    await GateBench(person).decide(Call(ADMIN, "bash", {"command": "x" * 1000}, check))
    request = person.asked[0]
    assert (request.tool, request.description, request.category, request.raised_because) == (
        "bash",
        "Writes.",
        ADMIN,
        "because",
    )
    assert (request.chain, request.thread_id, request.run_id, request.call_id) == (
        ("helper", "writer"),
        "thread-1",
        "run-1",
        "call-1",
    )
    assert (request.arguments, request.paths, request.judgements) == ({"command": "x" * 1000}, ("/p",), (judgement,))
    assert request.preview == {"kind": "command"}


@pytest.mark.spec("R-PRM-3", "R-PRM-4", "R-PRM-5")
async def test_a_call_that_goes_on_was_allowed_before_and_a_rule_may_still_forbid_it() -> None:
    """What it does are calls, each of which is judged by itself."""
    bench = GateBench(person := Person("deny"))
    goes_on = await bench.decide(Call(allowed_before=True))
    assert (goes_on.allowed, goes_on.by, bench.log[-1].by, person.asked) == (True, "remembered", "remembered", [])
    forbids = GateBench(person, rule_from({"tool": "write-file", "policy": "deny"}))
    assert not (await forbids.decide(Call(allowed_before=True))).allowed
    assert not (await bench.decide(Call(allowed_before=True, stale=True))).allowed
    assert len(person.asked) == 1


@pytest.mark.spec("R-PRM-3")
async def test_allow_for_this_run_counts_for_the_same_tool_and_object_only() -> None:
    person = Person("allow_run")
    bench = GateBench(person)
    await bench.decide(Call())
    again = await bench.decide(Call(frozen={"path": "./a.txt", "content": "other"}))
    assert (again.allowed, again.by) == (True, "remembered")
    other = PreCheck(WRITE, paths=("/w/b.txt",), constraint="/w/b.txt")
    await bench.decide(Call(check=other))
    await bench.decide(Call(run="run-2"))
    await bench.decide(Call(tool="other-tool"))
    assert len(person.asked) == 4
    bench.gate.forget_run("run-1")
    await bench.decide(Call())
    assert len(person.asked) == 5


@pytest.mark.spec("R-PRM-3")
@pytest.mark.parametrize("choice", ["allow_run", "allow_always"])
async def test_admin_is_never_remembered(choice: str) -> None:
    person = Person(choice)
    bench = GateBench(person)
    assert (await bench.decide(Call(ADMIN))).choice == "allow_once"
    await bench.decide(Call(ADMIN))
    await bench.decide(Call(WRITE))
    assert len(person.asked) == 3


@pytest.mark.spec("R-PRM-3", "R-PRM-5")
async def test_what_was_allowed_for_the_run_does_not_cover_a_raised_or_changed_call() -> None:
    person = Person("allow_run")
    bench = GateBench(person)
    await bench.decide(Call())
    await bench.decide(Call(ADMIN))
    await bench.decide(Call(stale=True))
    assert len(person.asked) == 3
    assert person.asked[2].stale


@pytest.mark.spec("R-PRM-4")
async def test_deny_carries_its_reason() -> None:
    decision = await GateBench(Person("deny", reason="not now")).decide(Call())
    assert (decision.allowed, decision.by, decision.reason) == (False, "user", "not now")


@pytest.mark.spec("R-PRM-5")
async def test_an_answer_to_another_digest_is_void() -> None:
    class Confused(Person):
        async def ask(self, request: PermissionRequest) -> Decision:
            return await super().ask(replace(request, digest="old"))

    person = Confused()
    decision = await GateBench(person).decide(Call())
    assert not decision.allowed
    assert len(person.asked) == 3


@pytest.mark.spec("R-PRM-5")
def test_the_digest_covers_arguments_paths_files_and_category() -> None:
    check = PreCheck(WRITE, paths=("/a",), identity={"/a": "1:2:3:4"})
    first = digest_of("t", {"a": 1, "b": 2}, WRITE, check)
    assert first == digest_of("t", {"b": 2, "a": 1}, WRITE, check)
    others = {
        digest_of("u", {"a": 1, "b": 2}, WRITE, check),
        digest_of("t", {"a": 1, "b": 3}, WRITE, check),
        digest_of("t", {"a": 1, "b": "2"}, WRITE, check),
        digest_of("t", {"a": 1, "b": 2}, ADMIN, check),
        digest_of("t", {"a": 1, "b": 2}, WRITE, replace(check, paths=("/b",))),
        digest_of("t", {"a": 1, "b": 2}, WRITE, replace(check, identity={"/a": "1:9:3:4"})),
    }
    assert len(others) == 6
    assert first not in others


@pytest.mark.spec("R-PRM-6")
@pytest.mark.parametrize("category", [WRITE, ADMIN])
async def test_nobody_to_ask_means_no(category: Category) -> None:
    decision = await GateBench(None).decide(Call(category))
    assert (decision.allowed, decision.by) == (False, "no_handler")


@pytest.mark.spec("R-PRM-7", "R-PRM-8")
async def test_ten_questions_at_once_stay_apart() -> None:
    class Picky(Person):
        async def ask(self, request: PermissionRequest) -> Decision:
            await super().ask(request)
            await together.wait()
            return Decision(
                "allow_once" if int(request.call_id) % 2 else "deny", request.digest, reason=request.call_id
            )

    together = asyncio.Barrier(10)
    bench = GateBench(Picky())
    calls = [Call(call_id=str(n), run=f"run-{n % 3}", frozen={"path": str(n)}) for n in range(10)]
    async with asyncio.timeout(WAIT_S), asyncio.TaskGroup() as group:
        tasks = [group.create_task(bench.decide(call)) for call in calls]
    assert [t.result().allowed for t in tasks] == [bool(n % 2) for n in range(10)]
    assert [t.result().reason for t in tasks] == [str(n) for n in range(10)]
    assert len({r.digest for r in bench.shown}) == 10


@pytest.mark.spec("R-PRM-8")
async def test_deny_all_from_this_run_closes_its_other_questions_and_no_one_elses() -> None:
    class Once(Person):
        async def ask(self, request: PermissionRequest) -> Decision:
            if request.call_id == "first":
                await asyncio.sleep(0.05)
                return Decision("deny_run", request.digest)
            return await super().ask(request)

    person = Once(delay=0.3)
    bench = GateBench(person)
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(bench.decide(Call(call_id="waiting")))
        other = group.create_task(bench.decide(Call(call_id="other", run="run-2")))
        first = group.create_task(bench.decide(Call(call_id="first")))
    assert first.result().choice == "deny_run"
    assert (waiting.result().allowed, waiting.result().by) == (False, "remembered")
    assert other.result().allowed
    assert person.closed == ["waiting"]
    assert not (await bench.decide(Call())).allowed


@pytest.mark.spec("R-PRM-9", "R-CAN-10")
async def test_cancelling_the_run_closes_its_question() -> None:
    person = Person(delay=30)
    call = Call()
    asyncio.get_running_loop().call_later(0.05, call.token.cancel, "stopped")
    bench = GateBench(person)
    decision = await bench.decide(call)
    assert (decision.allowed, decision.by) == (False, "cancelled")
    assert [(line.decision, line.by, line.outcome) for line in bench.log] == [("unanswered", "cancelled", "aborted")]
    assert person.closed == ["call-1"]


@pytest.mark.spec("R-PRM-9")
async def test_closing_the_app_denies_all_now_and_later() -> None:
    person = Person(delay=30)
    bench = GateBench(person)
    asyncio.get_running_loop().call_later(0.05, bench.gate.close)
    assert (await bench.decide(Call())).by == "closed"
    assert (await bench.decide(Call())).by == "closed"
    assert person.closed == ["call-1"]


@pytest.mark.spec("R-PRM-9", "R-CAN-11")
async def test_a_cancelled_task_takes_its_question_with_it() -> None:
    person = Person(delay=30)
    bench = GateBench(person)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(bench.decide(Call()))
        await asyncio.sleep(0.05)
        task.cancel()
    assert task.cancelled()
    assert person.closed == ["call-1"]


@pytest.mark.spec("R-PRM-10")
async def test_waiting_is_measured_and_a_deadline_does_not_run_meanwhile() -> None:
    call = Call(token=CancellationToken(deadline=time.monotonic() + 1.0))
    decision = await GateBench(Person(delay=1.2)).decide(call)
    assert decision.allowed
    assert 1.1 < decision.waited_s < WAIT_S


@pytest.mark.spec("R-PRM-11")
@pytest.mark.parametrize(
    ("rule", "category", "asks"),
    [
        (TrustRule("write-file", "allow"), WRITE, False),
        (TrustRule("write-*", "allow"), WRITE, False),
        (TrustRule("*", "allow"), WRITE, True),
        (TrustRule("*-*", "allow"), WRITE, True),
        (TrustRule("#files", "allow"), WRITE, True),
        (TrustRule("write-file", "allow"), ADMIN, True),
        (TrustRule("write-file", "allow", "/w/*"), WRITE, False),
        (TrustRule("write-file", "allow", "/other/*"), WRITE, True),
        (TrustRule("read-*", "allow"), WRITE, True),
        (TrustRule("write-file", "ask"), WRITE, True),
    ],
)
async def test_only_a_rule_that_names_the_tool_approves_and_never_admin(
    rule: TrustRule, category: Category, asks: bool
) -> None:
    person = Person("deny")
    decision = await GateBench(person, rule).decide(Call(category))
    assert (len(person.asked) == 1) is asks
    assert decision.allowed is not asks
    assert decision.by == ("user" if asks else "rule")


@pytest.mark.spec("R-PRM-12")
@pytest.mark.parametrize("pattern", ["write-file", "write-*", "#files", "*"])
@pytest.mark.parametrize("category", [READ, WRITE, ADMIN])
async def test_a_deny_rule_denies_silently_with_a_line_in_the_log(pattern: str, category: Category) -> None:
    person = Person()
    bench = GateBench(person, TrustRule("write-file", "allow"), TrustRule(pattern, "deny", reason="never"))
    decision = await bench.decide(Call(category))
    assert (decision.allowed, decision.by, decision.reason) == (False, "rule", "never")
    assert person.asked == []
    assert [(e.decision, e.by) for e in bench.log] == [("deny", "rule")]


async def test_an_ask_rule_asks_again_although_the_run_was_allowed() -> None:
    person = Person("allow_run")
    bench = GateBench(person, TrustRule("write-file", "ask"))
    await bench.decide(Call())
    await bench.decide(Call())
    assert len(person.asked) == 2


async def test_always_becomes_a_rule_for_exactly_that_object() -> None:
    person = Person("allow_always")
    bench = GateBench(person)
    star = PreCheck(WRITE, paths=("/w/*.txt",), constraint="/w/*.txt")
    decision = await bench.decide(Call(check=star))
    assert decision.rule == {"tool": "write-file", "policy": "allow", "constraint": r"/w/\*.txt"}
    bench.gate.forget_run("run-1")
    assert (await bench.decide(Call(check=star))).by == "rule"
    await bench.decide(Call())
    assert len(person.asked) == 2


@pytest.mark.spec("R-TOOL-5", "C-28")
@pytest.mark.parametrize(
    ("check", "asks"),
    [
        (PreCheck(WRITE, paths=("/w/a",), preview={"kind": "diff"}), False),
        (PreCheck(WRITE, paths=("/w2/a",), preview={"kind": "diff"}), True),
        (PreCheck(WRITE, paths=("/w/a", "/x"), preview={"kind": "diff"}), True),
        (PreCheck(WRITE, preview={"kind": "diff"}), True),
        (PreCheck(WRITE, paths=("/w/a",), judgements=(Judgement("touch a", "edits"),), preview={"kind": "diff"}), True),
        (PreCheck(WRITE, paths=("/w/a",), preview={"kind": "command"}), True),
        (PreCheck(WRITE, paths=("/w/a",), preview={"kind": "mcp"}), True),
    ],
)
async def test_the_workspace_setting_covers_file_writes_inside_it_only(check: PreCheck, asks: bool) -> None:
    person = Person("deny")
    bench = GateBench(person, auto_approve_workspace_writes=True)
    decision = await bench.decide(Call(check=check))
    assert decision.by == ("user" if asks else "setting")
    assert (await bench.decide(Call(ADMIN, check=replace(check, category=ADMIN)))).by == "user"


@pytest.mark.spec("R-PRM-13")
async def test_each_decision_is_written_down_redacted() -> None:
    bench = GateBench(Person("deny", reason="no"))
    await bench.decide(Call(frozen={"path": "a", "api_key": "sk-verysecretvalue", "content": "x" * 9000}))
    entry = bench.log[0]
    assert (entry.run_id, entry.thread_id, entry.call_id, entry.chain) == (
        "run-1",
        "thread-1",
        "call-1",
        ("helper", "writer"),
    )
    assert (entry.tool, entry.category, entry.decision, entry.by) == ("write-file", "write", "deny", "user")
    assert entry.digest == bench.shown[0].digest
    assert "sk-verysecretvalue" not in repr(entry)
    assert len(entry.summary) <= 500
    assert entry.extra["reason"] == "no"


@pytest.mark.spec("R-PRM-13")
async def test_what_cannot_be_written_down_does_not_happen() -> None:
    bench = GateBench(Person())

    async def full(_: AuditEntry) -> None:
        raise StoreFull("The disk is full.")

    gate = PermissionGate(Person(), bench.rules, full, lambda: bench.settings)
    with pytest.raises(StoreFull):
        await gate.decide(Call(), bench.shown.append)


async def test_a_window_that_fails_is_no_yes() -> None:
    class Broken:
        async def ask(self, request: PermissionRequest) -> Decision:
            raise RuntimeError("window gone")

    with pytest.raises(RuntimeError):
        await GateBench(Broken()).decide(Call())


async def test_an_approval_time_limit_denies_when_it_is_over() -> None:
    person = Person(delay=30)
    decision = await GateBench(person, approval_timeout_s=0.05).decide(Call())
    assert not decision.allowed
    assert "0.05 seconds" in decision.reason
    assert person.closed == ["call-1"]


# -- rules ---------------------------------------------------------------------------------------------


def test_the_most_specific_rule_counts_and_of_equals_the_first() -> None:
    rules = TrustRules(
        [TrustRule("*", "ask"), TrustRule("write-file", "allow", reason="1"), TrustRule("write-file", "ask")]
    )
    match = rules.match(CallFacts("write-file", WRITE))
    assert match is not None
    assert (match.policy, match.reason, match.specific) == ("allow", "1", True)
    assert rules.match(CallFacts("bash", WRITE)).policy == "ask"  # type: ignore[union-attr]
    assert TrustRules().match(CallFacts("bash", WRITE)) is None


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"tool": "x"},
        {"tool": "", "policy": "allow"},
        {"tool": "x", "policy": "yes"},
        {"tool": 3, "policy": "allow"},
        {"tool": "x", "policy": "allow", "constraint": 1},
    ],
)
def test_rules_from_outside_are_checked(data: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        rule_from(data)


@pytest.mark.spec("R-PRM-4", "R-PRM-6", "R-CRON-1")
@pytest.mark.parametrize("category", [READ, WRITE])
async def test_what_may_have_happened_is_done_again_only_when_a_person_says_so_now(category: Category) -> None:
    """No rule, nothing remembered and no job's policy says it for them; without anybody it is not done."""
    rule = rule_from({"tool": "write-file", "policy": "allow"})
    bench = GateBench(person := Person("done"), rule)
    assert (await bench.decide(Call(category))).allowed
    call = Call(category, question="may have happened")
    assert (await bench.decide(call)).choice == "done"
    assert [request.unknown for request in person.asked] == ["may have happened"]
    assert (bench.log[-1].decision, bench.log[-1].outcome) == ("done", "")
    assert (await GateBench(None, rule).decide(call)).by == "no_handler"
    job = GateBench(person, rule)
    unattended = SimpleNamespace(refusal=lambda facts: "", present=False, at_edge=False)
    allowed = Call(category)
    allowed.meta = replace(allowed.meta, unattended=unattended)
    call.meta = replace(call.meta, unattended=unattended)
    assert (await job.decide(allowed)).allowed
    assert (await job.decide(call)).allowed is False
    assert len(person.asked) == 1
    unattended.present = True
    person.choice = "done"
    assert (await job.decide(call)).choice == "done"
