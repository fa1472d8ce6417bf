"""The service of the rules page: listed, checked, saved, changed, revoked, restored, counted; over a restart too."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.approval.call_facts import CallFacts
from desktop.domain.approval.judgement import Category, CommandPart
from desktop.domain.approval.permission import PermissionRequest, RuleRecord
from desktop.domain.approval.rules import RuleDraft, RuleView
from desktop.domain.errors import KnownError
from desktop.safety.secrets.redaction import SecretRedactor
from desktop.services.rules.calls import recorded
from desktop.services.rules.editing import RuleService
from desktop.services.rules.simulator import Simulator
from desktop.services.rules.trial import Judges
from desktop.services.rules.trust import TrustRules
from desktop.store import Store
from desktop.tools.builtin.files import LIST_DIRECTORY, READ_FILE, WRITE_FILE
from desktop.tools.builtin.shell import BASH

TOOLS = (BASH, LIST_DIRECTORY, READ_FILE, WRITE_FILE)


def never(*_: object) -> Any:
    raise AssertionError("nothing is tried here")


JUDGES = Judges(never, never, lambda: TOOLS, "/w", "/home/me")


class Room:
    """A store with its rules and the service above them, as the app wires them."""

    def __init__(self, path: Path) -> None:
        self.store = Store(path / "assent.db")
        self.redactor = SecretRedactor()
        self.now = 100.0

    async def open(self) -> Room:
        await self.store.open()
        self.book = TrustRules(
            kept=self.store.rules,
            cwd="/w",
            home="/home/me",
            clock=lambda: self.now,
            record=lambda facts, at: self.store.rules.record(make=lambda: recorded(facts, at, self.redactor)),
        )
        await self.book.load()
        self.service = RuleService(
            self.book, lambda: TOOLS, Simulator(self.store.rules, JUDGES).run, clock=lambda: self.now
        )
        return self

    async def close(self) -> None:
        await self.book.flush()
        await self.store.close()

    async def again(self) -> Room:
        await self.close()
        return await self.open()

    def policy(self, facts: CallFacts) -> str | None:
        found = self.book.match(facts)
        return None if found is None else found.policy

    def mine(self) -> list[RuleView]:
        return [view for view in self.service.rules() if view.origin in ("you", "request")]


@pytest.fixture
async def room(tmp_path: Path) -> AsyncIterator[Room]:
    made = await Room(tmp_path).open()
    yield made
    await made.close()


def shell(*commands: str, thread: str = "t1", line: str = "") -> CallFacts:
    line = line or "; ".join(commands)
    parts = tuple(CommandPart(command) for command in commands)
    return CallFacts("bash", Category.WRITE, line, BASH.tags, {"command": line}, "library", parts, thread_id=thread)


def write(path: str, given: str = "") -> CallFacts:
    return CallFacts(
        "write-file",
        Category.WRITE,
        path,
        WRITE_FILE.tags,
        {"path": given or path, "content": "x"},
        "library",
        resolved={"path": path},
    )


@pytest.mark.spec("R-PRM-11")
async def test_what_is_built_in_is_listed_as_it_is_and_cannot_be_changed(room: Room) -> None:
    found = {view.pattern: (view.decision, view.origin, view.editable) for view in room.service.rules()}
    assert found == {
        "bash": ("ask", "built_in", False),
        "write-file": ("ask", "built_in", False),
        "read-file": ("allow", "built_in", False),
        "list-directory": ("allow", "built_in", False),
    }
    for act in (room.service.revoke, room.service.restore):
        with pytest.raises(KnownError):
            await act("built-in:bash")
    with pytest.raises(KnownError):
        await room.service.revoke("nothing")


@pytest.mark.spec("R-PRM-11")
async def test_a_saved_rule_counts_at_once_for_running_agents_and_after_a_restart(room: Room) -> None:
    told: list[int] = []
    room.service.on_change(lambda: told.append(1))
    view = await room.service.save(RuleDraft("bash(command=git diff*)"))
    assert (view.pattern, view.decision, view.origin, view.created_at, view.editable) == (
        "bash(command=git diff*)",
        "allow",
        "you",
        100.0,
        True,
    )
    assert room.policy(shell("git diff --stat")) == "allow"
    assert told
    await room.again()
    assert [found.pattern for found in room.mine()] == ["bash(command=git diff*)"]
    assert room.policy(shell("git diff --stat")) == "allow"


@pytest.mark.spec("R-PRM-11", "R-PRM-12")
async def test_a_rule_is_changed_revoked_and_restored(room: Room) -> None:
    first = await room.service.save(RuleDraft("bash(command=git *)"))
    second = await room.service.save(RuleDraft("bash(command=git *)", "deny", replaces=first.rule_id))
    assert [found.rule_id for found in room.mine()] == [second.rule_id]
    assert room.policy(shell("git log")) == "deny"
    await room.service.revoke(second.rule_id)
    assert room.policy(shell("git log")) is None
    await room.again()
    assert room.policy(shell("git log")) is None
    await room.service.restore(second.rule_id)
    assert room.policy(shell("git log")) == "deny"
    await room.again()
    assert room.policy(shell("git log")) == "deny"
    with pytest.raises(KnownError):
        await room.service.restore(second.rule_id)


@pytest.mark.spec("R-PRM-11")
async def test_a_rule_for_one_thread_counts_in_no_other(room: Room) -> None:
    await room.service.save(RuleDraft("bash(command=ls)", thread_id="t1"))
    assert room.policy(shell("ls", thread="t1")) == "allow"
    assert room.policy(shell("ls", thread="t2")) is None
    await room.again()
    assert room.policy(shell("ls", thread="t2")) is None
    assert room.mine()[0].thread_id == "t1"


@pytest.mark.spec("R-PRM-11", "R-PAT-14")
@pytest.mark.parametrize(
    ("pattern", "decision", "start"),
    [
        ("", "allow", 0),
        ("bash(", "allow", 4),
        ("bash ls", "allow", 5),
        ("bash($policy=allow)", "deny", 5),
        ("*", "allow", 0),
        ("#network", "allow", 0),
        ("  *(path=x)", "allow", 2),
        ("bash(comand=x)", "deny", 5),
        ("bash(command=a\u200bb)", "allow", 14),
        ("bash(command=a\u202eb)", "deny", 14),
    ],
)
async def test_what_cannot_be_a_rule_is_refused_where_it_is_wrong(
    room: Room, pattern: str, decision: Any, start: int
) -> None:
    draft = RuleDraft(pattern, decision)
    problem = room.service.check(draft)
    assert problem is not None
    assert problem.start == start
    with pytest.raises(KnownError):
        await room.service.save(draft)
    with pytest.raises(KnownError):
        await room.service.simulate(draft)
    assert room.mine() == []


@pytest.mark.parametrize(
    "draft", [RuleDraft("#network", "ask"), RuleDraft("*", "deny"), RuleDraft("bash(command=*)"), RuleDraft("mcp-*")]
)
async def test_what_can_be_a_rule_is_not_refused(room: Room, draft: RuleDraft) -> None:
    assert room.service.check(draft) is None


async def test_the_same_rule_twice_is_refused_and_may_be_another_decision(room: Room) -> None:
    view = await room.service.save(RuleDraft("bash(command=ls)"))
    assert room.service.check(RuleDraft(" bash(command=ls)")) is not None
    assert room.service.check(RuleDraft("bash(command=ls)", "ask")) is None
    assert room.service.check(RuleDraft("bash(command=ls)", replaces=view.rule_id)) is None
    assert room.service.check(RuleDraft("bash(command=ls -l)", replaces="gone")) is not None


@pytest.mark.spec("R-PRM-13")
async def test_uses_and_the_last_use_are_counted_and_survive_a_restart(room: Room) -> None:
    view = await room.service.save(RuleDraft("bash(command=ls)"))
    for at in range(1, 8):
        room.now = 200.0 + at
        room.book.decided(shell("ls"), room.book.match(shell("ls")))
        room.book.decided(shell("id"), None)
    for _ in range(2):
        (found,) = room.mine()
        assert (found.rule_id, found.uses, found.last_used_at) == (view.rule_id, 7, 207.0)
        built_in = {view.pattern: (view.uses, view.last_used_at) for view in room.service.rules()}
        assert built_in["bash"] == (7, 207.0)
        assert built_in["read-file"] == (0, None)
        await room.again()


@pytest.mark.spec("R-PRM-3", "R-PAT-1")
@pytest.mark.parametrize(
    ("record", "shown", "fits", "not_that"),
    [
        (
            RuleRecord("r", "write-file", {"constraint": "/w/a.txt"}, "allow", "approval", 1.0),
            "write-file(path=/w/a.txt)",
            write("/w/a.txt"),
            write("/w/b.txt"),
        ),
        (
            RuleRecord("r", "write-file", {"path": "notes/*"}, "allow", "test", 1.0),
            "write-file(path=notes/*)",
            write("/w/notes/x"),
            write("/w/x"),
        ),
        (
            RuleRecord("r", "bash", {"constraint": "git log (a), b \\*"}, "allow", "approval", 1.0),
            "bash(command=git log \\(a\\)\\, b \\*)",
            shell("git log (a), b *"),
            shell("git log (a), b c"),
        ),
        (
            RuleRecord("r", "bash", {"constraint": "git log *"}, "allow", "approval", 1.0),
            "bash(command=git log\\ *)",
            shell("git log a/b"),
            shell("git log a", "curl x"),
        ),
    ],
)
async def test_rules_of_older_databases_count_and_are_shown_as_one_would_write_them(
    room: Room, record: RuleRecord, shown: str, fits: CallFacts, not_that: CallFacts
) -> None:
    await room.store.rules.add(rule=record)
    await room.again()
    (view,) = room.mine()
    assert (view.pattern.replace("\\ ", " "), view.origin) == (shown.replace("\\ ", " "), "request")
    assert room.policy(fits) == "allow"
    assert room.policy(not_that) is None
    saved = await room.service.save(RuleDraft(view.pattern, replaces=view.rule_id))
    assert (room.policy(fits), room.policy(not_that), saved.uses) == ("allow", None, 0)


@pytest.mark.spec("R-PRM-3")
@pytest.mark.parametrize(
    ("tool", "arguments", "paths", "pattern"),
    [
        ("bash", {"command": "git commit -m 'a, (b) {c}'"}, (), "bash(command=git commit -m 'a\\, \\(b\\) \\{c\\}')"),
        ("write-file", {"path": "a.txt", "content": "long"}, ("/w/a.txt",), "write-file(path=/w/a.txt)"),
        ("deploy", {"to": "x*", "count": 3, "dry": True}, (), "deploy(to=x\\*,count=3,dry=true)"),
    ],
)
async def test_the_rule_proposed_from_a_request_allows_exactly_that(
    room: Room, tool: str, arguments: dict[str, Any], paths: tuple[str, ...], pattern: str
) -> None:
    request = PermissionRequest(
        "q", "r", "t", "c", tool, "", Category.WRITE, "", (), arguments, paths, (), {}, "d", 1.0
    )
    draft = room.service.propose(request)
    assert (draft.pattern, draft.decision, draft.origin) == (pattern, "allow", "request")
    view = await room.service.save(draft)
    assert view.origin == "request"
    facts = CallFacts(tool, Category.WRITE, "", (), arguments, resolved={"path": paths[0]} if paths else {})
    if tool == "bash":
        facts = shell(arguments["command"])
    assert room.policy(facts) == "allow"
