"""Every call leaves a line in the activity log: decided, refused, or not in need of a decision (R-PRM-13)."""

from types import SimpleNamespace
from typing import Any

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.approval.permission import AuditEntry, Decision, PermissionRequest
from desktop.domain.errors import BoundaryViolation, Denied
from desktop.domain.safety import SafetySettings
from desktop.domain.tools import PreCheck, ToolResult
from desktop.pipeline.activity import ActivityJournal
from desktop.pipeline.names import Caller
from desktop.pipeline.pipeline import CallSettings
from desktop.safety.permission.gate import PermissionGate
from desktop.safety.secrets.redaction import SecretRedactor
from desktop.services.rules.trust import TrustRules
from tests.unit.pipeline.kit import Bench, FakeTool


class Log:
    """The lines, as a store would keep them."""

    def __init__(self) -> None:
        self.lines: list[AuditEntry] = []
        self.outcomes: dict[int, str] = {}

    async def add(self, entry: AuditEntry) -> int:
        self.lines.append(entry)
        return len(self.lines)

    def note(self, *, entry: AuditEntry) -> None:
        self.lines.append(entry)

    def settle(self, *, number: int, outcome: str) -> None:
        self.outcomes[number] = outcome

    @property
    def rows(self) -> list[tuple[str, str, str]]:
        """(decision, by, outcome) of each line."""
        return [
            (line.decision, line.by, line.outcome or self.outcomes.get(number, ""))
            for number, line in enumerate(self.lines, 1)
        ]


class Person:
    """Answers with a list of choices or functions of the request."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked: list[PermissionRequest] = []

    async def ask(self, request: PermissionRequest) -> Decision:
        self.asked.append(request)
        answer = self.answers.pop(0)
        return answer(request) if callable(answer) else Decision(answer, request.digest)


def bench_and_log(*tools: FakeTool, person: Person | None = None, **options: Any) -> tuple[Bench, Log]:
    log, redactor = Log(), SecretRedactor()
    redactor.remember("known-secret-1")
    gate = PermissionGate(person, TrustRules(), log.add, lambda: SafetySettings(workspace="/w"), redactor=redactor)
    journal = ActivityJournal(log, redactor)
    return Bench(*tools, person=gate, journal=journal, redactor=redactor, **options), log  # type: ignore[arg-type]


def writer(**options: Any) -> FakeTool:
    return FakeTool("write-file", Category.WRITE, **options)


@pytest.mark.spec("R-PRM-13")
async def test_a_call_that_a_person_allowed_has_its_outcome_and_its_exit_code() -> None:
    results = iter(
        [
            ToolResult("fine"),
            ToolResult("no", True, code="tool.exit", facts={"exit_code": 7}),
            ToolResult("late", True, code="tool.timeout"),
        ]
    )
    bench, log = bench_and_log(writer(body=lambda _a, _c: next(results)), person=Person(*["allow_once"] * 3, "deny"))
    for _ in range(4):
        await bench.call("write_file")
    assert log.rows == [
        ("allow_once", "user", "done"),
        ("allow_once", "user", "failed, exit code 7"),
        ("allow_once", "user", "failed, tool.timeout"),
        ("deny", "user", "denied"),
    ]


@pytest.mark.spec("R-PRM-13", "R-BLT-1")
async def test_reads_are_listed_although_nobody_is_asked() -> None:
    bench, log = bench_and_log(FakeTool(checks=lambda _: PreCheck(Category.READ, paths=("/w/a",))))
    await bench.call("read_file")
    assert log.rows == [("allow_once", "setting", "done")]
    assert (log.lines[0].tool, log.lines[0].category, log.lines[0].paths) == ("read-file", "read", ("/w/a",))


@pytest.mark.spec("R-PRM-13", "R-FS-7", "R-BLK-1", "R-TOOL-2", "R-INV-3")
@pytest.mark.parametrize(
    ("refusal", "by"),
    [
        (BoundaryViolation("/etc/x is outside the allowed folders"), "boundary"),
        (Denied("Blocked: 'rm'", code="denied.blocklist"), "blocklist"),
        (None, "schema"),
        ("list", "allowed tools"),
        ("unknown", "unknown tool"),
    ],
)
async def test_a_refused_call_is_listed_with_the_gate_that_refused_it_and_why(refusal: Any, by: str) -> None:
    tool = writer()
    if isinstance(refusal, Denied):
        tool.checks = lambda _: PreCheck(Category.ADMIN, paths=("/etc/x",), denied=refusal)
    caller = Caller(allowed=SimpleNamespace(permits=lambda *_: False)) if refusal == "list" else None  # type: ignore[arg-type]
    bench, log = bench_and_log(tool, person=Person())
    name = "frobnicate" if refusal == "unknown" else "write_file"
    outcome = await bench.call(name, {"path": 5 if refusal is None else "/etc/x"}, caller=caller)
    (line,) = log.lines
    assert (line.decision, line.by, line.outcome.split(",")[0]) == ("refused", by, outcome.state)
    assert line.summary == ('{"path": 5}' if refusal is None else '{"path": "/etc/x"}')
    assert line.extra["reason"] in outcome.result.text
    assert line.extra["reason"]
    if isinstance(refusal, Denied):
        assert line.paths == ("/etc/x",)


@pytest.mark.spec("R-PRM-13", "R-PRM-5")
async def test_the_log_tells_the_edited_call_that_ran_and_the_original_beside_it() -> None:
    def checks(args: Any) -> PreCheck:
        return PreCheck(Category.WRITE, paths=(f"/w/{args['path']}",))

    def edit(request: PermissionRequest) -> Decision:
        return Decision("allow_edited", request.digest, edited_arguments={"path": "important.txt"})

    person = Person(edit, "allow_once")
    bench, log = bench_and_log(writer(checks=checks), person=person)
    await bench.call("write_file", {"path": "new.txt"})
    assert log.rows == [("allow_edited", "user", "asked again"), ("allow_once", "user", "done")]
    asked, ran = log.lines
    assert (asked.paths, asked.summary) == (("/w/new.txt",), '{"path": "new.txt"}')
    assert asked.extra["edited"] == '{"path": "important.txt"}'
    assert (ran.paths, ran.summary) == (("/w/important.txt",), '{"path": "important.txt"}')
    assert ran.extra["original"] == '{"path": "new.txt"}'
    assert asked.digest != ran.digest
    assert [request.original for request in person.asked] == [None, {"path": "new.txt"}]


@pytest.mark.spec("R-PRM-5")
async def test_what_was_allowed_for_the_run_does_not_let_an_edited_call_pass_unseen() -> None:
    def checks(args: Any) -> PreCheck:
        return PreCheck(Category.WRITE, constraint=args["path"])

    def edit(request: PermissionRequest) -> Decision:
        return Decision("allow_edited", request.digest, edited_arguments={"path": "a"})

    person = Person("allow_run", edit, "deny")
    tool = writer(checks=checks)
    bench, _ = bench_and_log(tool, person=person)
    await bench.call("write_file", {"path": "a"})
    await bench.call("write_file", {"path": "b"})
    assert len(person.asked) == 3
    assert tool.calls == [{"path": "a"}]


@pytest.mark.spec("R-PRM-13", "R-PRM-5")
async def test_an_approval_that_went_stale_is_listed_as_asked_again() -> None:
    identities = iter(["1", "2", "2"])
    tool = writer(checks=lambda _: PreCheck(Category.WRITE, identity={"a": next(identities)}))
    bench, log = bench_and_log(tool, person=Person("allow_once", "allow_once"))
    await bench.call("write_file")
    assert log.rows == [("allow_once", "user", "asked again"), ("allow_once", "user", "done")]


@pytest.mark.spec("R-SEC-1", "R-SEC-4")
async def test_no_line_holds_a_known_secret() -> None:
    bench, log = bench_and_log(writer(), person=Person("deny"))
    await bench.call("write_file", {"path": "known-secret-1", "mode": 1})
    await bench.call("write_file", {"path": "known-secret-1"})
    assert len(log.lines) == 2
    assert "known-secret-1" not in repr(log.lines)


@pytest.mark.spec("R-SEC-5", "R-TMO-5")
async def test_known_secrets_are_masked_in_every_part_of_a_result_before_it_is_cut() -> None:
    secret = "known-secret-1"
    result = ToolResult("x" * 95 + secret, structured={"a": [secret]}, facts={"path": f"/{secret}"})
    bench, _ = bench_and_log(FakeTool(body=lambda _a, _c: result), settings=CallSettings(output_limit=lambda: 100))
    outcome = await bench.call("read_file")
    shown = repr((outcome, bench.events))
    assert "known" not in shown
    assert outcome.result.structured == {"a": ["[REDACTED]"]}


@pytest.mark.spec("R-SEC-5")
async def test_a_known_secret_in_the_output_of_a_running_call_is_masked_also_when_it_comes_in_two_pieces() -> None:
    def body(_args: Any, context: Any) -> str:
        for piece in ("begin kno", "wn-secret-1 end\n", "kno"):
            context.progress(piece)
        return "done"

    bench, _ = bench_and_log(FakeTool(body=body))
    await bench.call("read_file")
    shown = [event.text for event in bench.events if type(event).__name__ == "ToolCallOutput"]
    assert "".join(shown) == "begin [REDACTED] end\n"


@pytest.mark.spec("R-MCP-5", "R-SEC-5")
async def test_how_far_a_running_call_is_is_told_as_numbers_with_its_words_masked() -> None:
    def body(_args: Any, context: Any) -> str:
        context.advance(1, 4, "found known-secret-1")
        context.advance(2, None, "")
        return "done"

    bench, _ = bench_and_log(FakeTool(body=body))
    await bench.call("read_file")
    shown = [event for event in bench.events if type(event).__name__ == "ToolCallAdvanced"]
    assert [(one.call_id, one.done, one.total, one.text) for one in shown] == [
        ("c1", 1, 4, "found [REDACTED]"),
        ("c1", 2, None, ""),
    ]
