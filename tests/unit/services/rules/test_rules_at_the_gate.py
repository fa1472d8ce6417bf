"""Rules where they count: real tools, the real reader of commands, the gate."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.approval.call_facts import CallFacts
from desktop.domain.approval.judgement import Category
from desktop.domain.approval.permission import Decision
from desktop.domain.approval.rules import RuleDraft
from desktop.domain.files.work_place import NOWHERE
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.meta import RunMeta
from desktop.domain.tools import PreCheck
from desktop.safety.permission.gate import PermissionGate
from desktop.safety.secrets.redaction import SecretRedactor
from desktop.services.rules.editing import RuleService
from desktop.tools.builtin.files import WriteFile
from tests.harness.changes import KeepsNothing
from tests.unit.safety.permission.test_gate import Call, Person
from tests.unit.services.rules.test_simulator import Lab

WRITE = Category.WRITE


class Gate:
    """Calls of the real readers through a real gate; ``said`` is what became of each."""

    def __init__(self, lab: Lab, person: Person) -> None:
        self.lab, self.person, self.log = lab, person, []  # type: ignore[var-annotated]
        self.gate = PermissionGate(person, lab.book, self._log, lambda: lab.world.settings, redactor=SecretRedactor())

    async def _log(self, entry: Any) -> int:
        self.log.append(entry)
        return len(self.log)

    async def decide(
        self, tool: str, arguments: dict[str, Any], thread: str = "t1", run: str = "r", project: str = ""
    ) -> Decision:
        from_tool = await self._check(tool, arguments)
        tags = next((one.tags for one in self.lab.judges.tools() if one.name == tool), ())
        call = Call(from_tool.category, tool, arguments, from_tool, run=run, tags=tags)
        call.meta = RunMeta(run, CancellationToken(), thread_id=thread, project=project)
        return await self.gate.decide(call, lambda _request: None)

    async def _check(self, tool: str, arguments: dict[str, Any]) -> Any:
        if tool == "bash":
            reading = self.lab.world.reader.read_now(arguments["command"])
            return PreCheck(reading.category, constraint=arguments["command"].strip(), parts=reading.parts)
        if tool == "write-file":
            return await WriteFile(self.lab.world.files(), KeepsNothing()).precheck(arguments, NOWHERE)
        return PreCheck(WRITE)

    async def said(self, command: str, **more: Any) -> str:
        before = len(self.person.asked)
        decision = await self.decide("bash", {"command": command}, **more)
        return "asked" if len(self.person.asked) > before else f"{decision.choice} {decision.by}"


@pytest.fixture
async def gate(tmp_path: Path) -> AsyncIterator[Gate]:
    lab = await Lab(tmp_path).open()
    yield Gate(lab, Person("deny"))
    await lab.book.flush()
    await lab.store.close()


async def save(gate: Gate, *rules: tuple[str, str]) -> None:
    for pattern, decision in rules:
        await gate.lab.service.save(RuleDraft(pattern, decision))  # type: ignore[arg-type]


PASSES = "allow_once rule"


@pytest.mark.spec("R-PRM-11", "R-BLK-4")
async def test_every_command_of_a_line_needs_an_allow_of_its_own(gate: Gate) -> None:
    await save(gate, ("bash(command=git diff{, *})", "allow"), ("bash(command=head *)", "allow"))
    for command in ("git diff", "git diff --stat | head -5", "git  diff", "'git' diff; git diff a/b/.c", "git diff &"):
        assert await gate.said(command) == PASSES, command
    for command in (
        "git diff | tail -5",
        "git diff; curl x",
        "git diff\ntouch a",
        "git diff $(id)",
        "git diff > a",
        "git diff *",
        'git diff "$X"',
        "A=1 git diff",
        "/usr/bin/git diff",
        "env git diff",
        "sh -c 'git diff'",
        "xargs git diff",
        "git diff <<< x",
        "git diffx",
        "GIT diff",
        "git diff --output=a",
        "git -C x diff",
        "git() { id; }; git diff",
    ):
        assert await gate.said(command) == "asked", command


@pytest.mark.spec("R-PRM-11", "R-PRM-12", "R-PAT-7")
@pytest.mark.parametrize(
    "command",
    [
        "git push",
        "ls; git push a b",
        "ls && (git push)",
        "env git push",
        "sh -c 'git push'",
        "/usr/bin/git push x",
        "git -C x push",
        "GIT_A=1 git push",
        "git push > a",
        "git push $X",
        "echo $(git push)",
        "g\\it 'push'",
        "xargs git push",
        "find . -exec git push \\;",
        "f() { git push; }; f",
        "if ls; then git push; fi",
        "git -c a.b=c push x",
    ],
)
async def test_a_deny_counts_wherever_the_command_stands(gate: Gate, command: str) -> None:
    await save(gate, ("bash", "allow"), ("bash(command=git push{, *})", "deny"))
    assert await gate.said(command) == "deny rule"
    assert gate.person.asked == []


@pytest.mark.spec("R-PRM-11", "R-PAT-13")
async def test_an_ask_rule_counts_for_any_command_and_the_more_exact_rule_decides(gate: Gate) -> None:
    await save(
        gate, ("bash(command=git *)", "allow"), ("bash(command=git fetch*)", "ask"), ("bash(command=ls)", "allow")
    )
    assert await gate.said("git log") == PASSES
    assert await gate.said("ls; git fetch x") == "asked"
    assert gate.person.asked[-1].rule.startswith("bash(command=git fetch*")
    await save(gate, ("bash(command=git fetch x)", "allow"))
    assert await gate.said("ls; git fetch x") == PASSES


@pytest.mark.spec("R-PRM-3", "R-PRM-11")
async def test_no_rule_allows_a_raised_call(gate: Gate) -> None:
    await save(gate, ("bash", "allow"), ("bash(command=*)", "allow"))
    for command in (
        "git reset --hard",
        "python3 -c x",
        "rg --pre ./x y",
        "$X",
        "cat ~/.ssh/id_rsa",
        "echo 'unbalanced",
    ):
        assert await gate.said(command) == "asked", command
    assert await gate.said("anything else") == PASSES


@pytest.mark.spec("R-PRM-11", "R-FS-3", "R-PAT-17")
async def test_a_path_rule_counts_where_the_path_leads(gate: Gate) -> None:
    workspace = gate.lab.world.workspace
    for folder in ("docs", "docs-old", "src"):
        (workspace / folder).mkdir()
    (workspace / "docs" / "link").symlink_to(workspace / "src")
    (workspace / "way").symlink_to(workspace / "docs")
    await save(gate, ("write-file(path=docs/**)", "allow"))
    for path, passes in (
        ("docs/a.md", True),
        ("./docs/b/c.md", True),
        (f"{workspace}/docs/a.md", True),
        ("way/a.md", True),
        ("docs/../src/a.py", False),
        ("docs/link/a.py", False),
        ("docs-old/a.md", False),
        ("DOCS/a.md", False),
        ("docs/.hidden", False),
    ):
        decision = await gate.decide("write-file", {"path": path, "content": "x"})
        assert decision.allowed is passes, path


@pytest.mark.spec("R-PRM-12", "R-FS-3")
async def test_a_deny_below_a_link_counts_for_the_place_it_leads_to(gate: Gate) -> None:
    workspace = gate.lab.world.workspace
    (workspace / "real").mkdir()
    (workspace / "link").symlink_to(workspace / "real")
    await save(gate, ("write-file", "allow"), ("write-file(path=link/**)", "deny"))
    for path in ("link/a", "real/a", f"{workspace}/real/a", "real/../link/b", "real/b/c"):
        assert (await gate.decide("write-file", {"path": path, "content": "x"})).by == "rule", path
        assert not (await gate.decide("write-file", {"path": path, "content": "x"})).allowed, path
    assert (await gate.decide("write-file", {"path": "other", "content": "x"})).allowed


@pytest.mark.spec("R-PRM-11")
async def test_a_star_reaches_over_no_second_command_of_a_tool_that_nobody_reads(gate: Gate) -> None:
    await save(gate, ("run-there(command=git diff*)", "allow"))
    assert (await gate.decide("run-there", {"command": "git diff --stat"})).by == "rule"
    for more in ("; id", " && id", " | sh", "\nid", " $(id)", " `id`", " > a", " $X", "*"):
        assert (await gate.decide("run-there", {"command": f"git diff{more}"})).by == "user", more


@pytest.mark.spec("R-PRM-13")
async def test_what_a_rule_decides_names_the_rule_and_is_counted_for_it(gate: Gate) -> None:
    view = await gate.lab.service.save(RuleDraft("bash(command=ls)"))
    for _ in range(3):
        await gate.said("ls")
    await gate.said("id")
    assert [dict(entry.extra).get("rule") for entry in gate.log] == [{"pattern": "bash(command=ls)"}] * 3 + [None]
    found = {one.rule_id: one.uses for one in gate.lab.service.rules()}
    assert (found[view.rule_id], found["built-in:bash"]) == (3, 1)


@pytest.mark.spec("R-PRM-3")
async def test_always_with_the_rule_of_the_editor_is_kept_as_it_was_written(gate: Gate) -> None:
    gate.person.choice = "allow_always"
    gate.person.fields = {"rule": {"pattern": "bash(command=make{, *})", "policy": "allow", "thread_id": "t1"}}
    assert await gate.said("make all") == "asked"
    assert await gate.said("make other", run="later") == PASSES
    assert await gate.said("make other", thread="t2", run="third") == "asked"
    (view,) = [one for one in gate.lab.service.rules() if one.origin == "request"]
    assert (view.pattern, view.thread_id) == ("bash(command=make{, *})", "t1")


@pytest.mark.spec("R-PRM-11")
async def test_a_tag_or_a_star_asks_and_denies_but_allows_nothing(gate: Gate) -> None:
    service: RuleService = gate.lab.service
    for pattern in ("*", "#files", "#shell", "**", "?*"):
        assert service.check(RuleDraft(pattern, "allow")) is not None
    await save(gate, ("#shell", "ask"), ("bash(command=ls)", "allow"))
    assert await gate.said("ls") == PASSES
    await save(gate, ("#shell", "deny"))
    assert await gate.said("ls") == "deny rule"
    read = CallFacts("read-file", Category.READ, "", ("files",))
    assert gate.lab.book.match(read) is None


@pytest.mark.spec("R-PRJ-2")
async def test_a_rule_of_a_project_counts_for_the_calls_of_its_threads_alone(gate: Gate) -> None:
    for pattern, decision, scope in (
        ("bash(command=npm test)", "allow", "/w/tides"),
        ("bash(command=git push)", "deny", "/w/tides"),
        ("bash(command=make all)", "allow", ""),
    ):
        await gate.lab.service.save(RuleDraft(pattern, decision, scope))  # type: ignore[arg-type]
    here = {"project": "/w/tides"}
    assert await gate.said("npm test", **here) == PASSES
    assert await gate.said("npm test", **here, thread="another", run="r2") == PASSES
    assert await gate.said("git push", **here) == "deny rule"
    for elsewhere in ({}, {"project": "/w/other"}, {"project": "/w/tides/inner"}, {"project": "/w"}):
        assert await gate.said("npm test", **elsewhere) == "asked"
        assert await gate.said("git push", **elsewhere) == "asked"
        assert await gate.said("make all", **elsewhere) == PASSES


@pytest.mark.spec("R-PRJ-2", "R-PRM-3")
async def test_what_is_always_allowed_from_a_request_in_a_project_is_proposed_for_that_project(gate: Gate) -> None:
    await gate.said("npm test", project="/w/tides")
    draft = gate.lab.service.propose(gate.person.asked[-1])
    assert (draft.pattern, draft.thread_id) == ("bash(command=npm test)", "/w/tides")
    await gate.lab.service.save(draft)
    assert await gate.said("npm test", project="/w/tides", run="r2") == PASSES
    assert await gate.said("npm test", run="r2") == "asked"
    await gate.said("npm run x")
    assert gate.lab.service.propose(gate.person.asked[-1]).thread_id == ""


@pytest.mark.spec("R-PRJ-2")
async def test_always_without_a_rule_of_ones_own_holds_in_the_project_alone(gate: Gate) -> None:
    gate.person.choice = "allow_always"
    assert await gate.said("npm test", project="/w/tides") == "asked"
    gate.person.choice = "deny"
    assert await gate.said("npm test", project="/w/tides", run="r2") == PASSES
    assert await gate.said("npm test", run="r3") == "asked"
