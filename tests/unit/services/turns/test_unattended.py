"""What runs while nobody is there: a job's list, exact names for admin, and never a question."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from desktop.domain.approval.call_facts import CallFacts
from desktop.domain.approval.judgement import Category
from desktop.domain.approval.permission import AuditEntry, Decision, PermissionRequest
from desktop.domain.jobs import JobPolicy
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.meta import RunMeta
from desktop.domain.safety import CommandPart, SafetySettings
from desktop.domain.tools import PreCheck, ToolSpec
from desktop.safety.permission.gate import PermissionGate
from desktop.services.rules.trust import TrustRules
from desktop.services.turns.unattended import JobPermission, policy_problems, tool_problems
from desktop.skills.patterns.paths import Where

READ, WRITE, ADMIN = Category.READ, Category.WRITE, Category.ADMIN


@dataclass
class Call:
    """A judged call as the pipeline would hand it over."""

    tool: str
    category: Category
    policy: JobPolicy
    admin_on: bool = False
    frozen: Mapping[str, Any] = field(default_factory=lambda: {"command": "git status"})
    parts: tuple[CommandPart, ...] = ()
    stale: bool = False
    original: None = None
    question: str = ""
    allowed_before: bool = False
    unrepeatable: str = ""
    refused: str = ""
    place: str = ""
    logged: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.check = PreCheck(self.category, constraint="git status", parts=self.parts)
        self.target = SimpleNamespace(spec=ToolSpec(self.tool, "Does.", {}, WRITE, tags=("files",)))
        permission = JobPermission(self.policy, lambda: self.admin_on, Where("/w", "/h"))
        self.meta = RunMeta("run-1", CancellationToken(), thread_id="t", unattended=permission)
        self.request = SimpleNamespace(
            block=SimpleNamespace(call_id="c"), caller=SimpleNamespace(chain=("assistant",)), said=""
        )


class NeverAsked:
    """A person who would say yes to everything, and must not be asked."""

    def __init__(self) -> None:
        self.asked: list[PermissionRequest] = []

    async def ask(self, request: PermissionRequest) -> Decision:
        self.asked.append(request)
        return Decision("allow_once", request.digest)


async def decided(call: Call, rules: str = "") -> tuple[bool, str, list[AuditEntry]]:
    person, written = NeverAsked(), []

    async def audit(entry: AuditEntry) -> int:
        written.append(entry)
        return len(written)

    gate = PermissionGate(person, TrustRules(text=rules), audit, SafetySettings)
    decision = await gate.decide(call, lambda _request: None)
    assert person.asked == []
    return decision.allowed, decision.reason, written


def listed(*tools: str, admin: tuple[str, ...] = ()) -> JobPolicy:
    return JobPolicy(allowed_tools=tools, allow_admin=admin)


NONE = JobPolicy()
MATRIX = [
    ("read-file", READ, NONE, False, True),
    ("write-file", WRITE, NONE, False, False),
    ("bash", ADMIN, NONE, True, False),
    ("read-file", READ, listed(), False, True),
    ("read-file", READ, listed("bash"), False, True),
    ("read-file", READ, listed("bash", "read-file($deny)"), False, False),
    ("list-directory", READ, listed("bash", "read-file($deny)"), False, True),
    ("write-file", WRITE, listed("write-file($deny)", "write-file"), False, False),
    ("read-file", READ, listed("read-file"), False, True),
    ("read-file", READ, listed("*"), False, True),
    ("write-file", WRITE, listed("write-file"), False, True),
    ("write-file", WRITE, listed("write-*"), False, True),
    ("write-file", WRITE, listed("*"), False, False),
    ("write-file", WRITE, listed("bash"), False, False),
    ("bash", WRITE, listed("bash(command=git *)"), False, True),
    ("bash", WRITE, listed("bash(command=rm *)"), False, False),
    ("bash", ADMIN, listed("bash"), True, False),
    ("bash", ADMIN, listed("bash", admin=("bash",)), False, False),
    ("bash", ADMIN, listed("bash", admin=("bash",)), True, True),
    ("bash", ADMIN, listed("read-file", admin=("bash",)), True, False),
    ("bash", ADMIN, JobPolicy(allow_admin=("bash",)), True, False),
    ("bash", WRITE, JobPolicy(allow_admin=("bash",)), True, False),
    ("bash", ADMIN, listed("*", "ba*", "bash", admin=("ba*",)), True, False),
    ("bash", ADMIN, listed("*", "bash", admin=("*",)), True, False),
    ("bash", ADMIN, listed("bash", admin=("Bash",)), True, False),
]


@pytest.mark.spec("R-FS-8", "R-CRON-5")
async def test_a_folder_opened_for_the_session_is_closed_to_jobs_whatever_they_list(tmp_path: Path) -> None:
    allowed, opened = tmp_path / "allowed", tmp_path / "opened"
    for folder in (allowed, opened, allowed / "deep"):
        folder.mkdir()
    (opened / "link").symlink_to(allowed)
    settings = SafetySettings(str(allowed), (str(allowed),), granted=(str(opened), str(allowed / "deep")))

    async def audit(_entry: AuditEntry) -> int:
        return 1

    gate = PermissionGate(NeverAsked(), TrustRules(), audit, lambda: settings)
    policy = listed("write-file", "read-file", admin=("write-file", "read-file"))
    for path, passes in ((opened / "a", False), (allowed / "a", True), (allowed / "deep/a", True), (opened, False)):
        for tool, category in (("write-file", ADMIN), ("read-file", ADMIN), ("read-file", READ)):
            call = Call(tool, category, policy, True)
            call.check = replace(call.check, paths=(str(allowed / "b"), str(path)))
            decision = await gate.decide(call, lambda _request: None)
            assert decision.allowed is passes, path
            assert ("opened for this session" in decision.reason) is not passes


@pytest.mark.parametrize(("tool", "category", "policy", "admin_on", "allowed"), MATRIX)
@pytest.mark.spec("R-CRON-1", "R-CRON-2", "R-CRON-3", "R-CRON-4", "C-34")
async def test_a_jobs_policy_decides_alone_and_nobody_is_asked(
    tool: str, category: Category, policy: JobPolicy, admin_on: bool, allowed: bool
) -> None:
    found, reason, written = await decided(Call(tool, category, policy, admin_on))
    assert found is allowed, reason
    assert bool(reason) is not allowed
    if not allowed or category is not READ:
        assert [(entry.by, entry.tool) for entry in written] == [("job", tool)]


@pytest.mark.spec("R-CRON-1", "R-CRON-5")
async def test_a_rule_that_allows_grants_a_job_nothing_and_one_that_denies_or_asks_forbids() -> None:
    assert not (await decided(Call("write-file", WRITE, NONE), "write-file $allow"))[0]
    assert not (await decided(Call("write-file", WRITE, listed("write-file")), "write-file $deny"))[0]
    allowed, reason, written = await decided(Call("write-file", WRITE, listed("write-file")), "write-file $ask")
    assert (allowed, reason, written[0].by) == (False, "a rule asks a person each time", "rule")


@pytest.mark.spec("R-CRON-3")
def test_everything_wrong_with_a_policy_is_said_at_once() -> None:
    policy = JobPolicy(("read-file", "bash(", "a b"), ("bash", "ba*", "tag:x"), 0, -1, 0.0, float("inf"))
    assert [problem.path for problem in policy_problems(policy)] == [
        "policy.allowed_tools[1]",
        "policy.allowed_tools[2]",
        "policy.allow_admin[1]",
        "policy.allow_admin[2]",
        "policy.max_rounds",
        "policy.max_tokens",
        "policy.max_cost",
        "policy.deadline_s",
    ]
    assert not list(policy_problems(listed("read-file", "write-*", admin=("bash",))))
    full, names = tuple(f"tool-{number}" for number in range(100)), ["policy"]
    assert not list(policy_problems(JobPolicy(full, full)))
    for policy in (JobPolicy((*full, "one-more")), JobPolicy(full, (*full, "one-more"))):
        assert [problem.path for problem in policy_problems(policy)] == names
    (useless,) = policy_problems(JobPolicy(None, ("bash",)))
    assert (useless.path, useless.warning) == ("policy.allow_admin", True)


@pytest.mark.spec("R-CRON-2", "R-CRON-3")
@pytest.mark.parametrize("source", ["project", "shared"])
def test_a_skill_of_a_folder_of_others_is_allowed_only_with_its_source_and_the_page_warns_of_the_name_alone(
    source: str,
) -> None:
    tools = [ToolSpec("tidy-up", "Does.", {}, WRITE, source=source), ToolSpec("write-file", "Does.", {}, WRITE)]
    facts = CallFacts("tidy-up", WRITE, source=source)
    for entry, warned in (("tidy-up", True), (f"tidy-up(call-source={source})", False), ("write-file", False)):
        policy = JobPolicy((entry,))
        permission = JobPermission(policy, lambda: False, Where("/w", "/h"))
        said = list(tool_problems(policy, tools))
        assert [(one.code, one.warning) for one in said] == ([("job.elsewhere", True)] if warned else [])
        assert bool(permission.refusal(facts)) is (entry != f"tidy-up(call-source={source})")
        if warned:
            assert f"(call-source={source})" in said[0].text


@pytest.mark.parametrize(
    ("entry", "warned"), [("bash", True), ("bash(command=**)", True), ("bash(command=git *)", False)]
)
def test_the_page_of_a_job_says_what_it_means_to_list_every_command(entry: str, warned: bool) -> None:
    said = list(tool_problems(JobPolicy((entry,)), [ToolSpec("bash", "Runs.", {}, WRITE)]))
    assert [(one.code, one.warning) for one in said] == ([("job.any_command", True)] if warned else [])
