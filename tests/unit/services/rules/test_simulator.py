"""The simulator: drafts tried on recorded calls and on tricks, by the functions that decide real calls."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.approval.call_facts import CallFacts
from desktop.domain.approval.judgement import Category
from desktop.domain.approval.rules import RuleDraft, Simulation
from desktop.safety.secrets.redaction import SecretRedactor
from desktop.services.rules.calls import facts_of, recorded
from desktop.services.rules.editing import RuleService
from desktop.services.rules.simulator import Simulator, outcome
from desktop.services.rules.text import ANY_COMMAND
from desktop.services.rules.trial import Judges, RuleTrial
from desktop.services.rules.tricks_shell import FAMILIES, shell_tricks
from desktop.services.rules.trust import TrustRules
from desktop.skills.patterns.grammar import parse_pattern
from desktop.store import Store
from tests.harness.timeouts import WAIT_S
from tests.unit.safety.world import World
from tests.unit.services.rules.test_editing import TOOLS

COMMANDS = (
    "git diff",
    "git diff --stat",
    "git diff --cached",
    "git diff HEAD~1 -- src/a.py",
    "git status",
    "ls -la",
    "git diff --stat | head -5",
    "git push origin x",
    "pytest -q",
    "git diff > out.txt",
    "git diff $X",
    "sudo id",
)


class Lab:
    """A world with a store of recorded calls and a service above it."""

    def __init__(self, root: Path) -> None:
        self.world = World(root)
        self.store = Store(root / "assent.db")
        self.redactor = SecretRedactor()

    async def open(self) -> Lab:
        await self.store.open()
        workspace = str(self.world.workspace)
        self.book = TrustRules(kept=self.store.rules, cwd=workspace, home=str(Path.home()))
        await self.book.load()
        self.judges = Judges(
            self.world.reader.read_now, self.world.policy.explain, lambda: TOOLS, workspace, str(Path.home())
        )
        self.service = RuleService(self.book, lambda: TOOLS, Simulator(self.store.rules, self.judges).run)
        return self

    def shell(self, command: str, thread: str = "t1") -> CallFacts | None:
        reading = self.world.reader.read_now(command)
        if reading.blocked is not None:
            return None
        return CallFacts(
            "bash",
            reading.category,
            command,
            TOOLS[0].tags,
            {"command": command},
            "library",
            reading.parts,
            thread_id=thread,
        )

    def write(self, path: str) -> CallFacts:
        resolved = str(self.world.workspace / path)
        return CallFacts(
            "write-file",
            Category.WRITE,
            resolved,
            (),
            {"path": path, "content": "secret=hunter2hunter2"},
            "library",
            resolved={"path": resolved},
        )

    async def keep(self, *calls: CallFacts | None, times: int = 1) -> None:
        for at, facts in enumerate(found for found in calls for _ in range(times)):
            if facts is not None:
                self.store.rules.record(make=lambda facts=facts, at=at: recorded(facts, float(at), self.redactor))  # type: ignore[misc]

    async def try_on(self, pattern: str, decision: Any = "allow", **fields: Any) -> Simulation:
        return await self.service.simulate(RuleDraft(pattern, decision, **fields))


@pytest.fixture
async def lab(tmp_path: Path) -> AsyncIterator[Lab]:
    made = await Lab(tmp_path).open()
    yield made
    await made.store.close()


@pytest.mark.spec("R-PRM-11")
async def test_a_draft_is_tried_on_recorded_calls_and_on_tricks_and_a_verified_one_is_suggested(lab: Lab) -> None:
    lists = ("ls", "ls --all", "ls -l src")
    await lab.keep(*map(lab.shell, (*COMMANDS, *lists)), times=3)
    plain = await lab.try_on("bash(command=git diff*)")
    assert (plain.recorded, plain.passing_count, plain.stopped_count, plain.through_count) == (42, 12, 0, 0)
    assert sorted(call.text for call in plain.passing) == sorted(COMMANDS[:4])
    found = await lab.try_on("bash(command=ls*)")
    assert sorted(call.text for call in found.passing) == sorted(("ls -la", *lists))
    assert {(call.before, call.after, call.times) for call in found.passing} == {("asks", "passes", 3)}
    assert [call.text for call in found.through] == ["lsx", "ls-evil"]
    assert found.tricks == found.through_count + found.held_count
    assert found.suggestion == "bash(command=ls{, *})"
    again = await lab.try_on(found.suggestion)
    assert (again.passing_count, again.through_count) == (found.suggestion_lets, 0)
    assert (again.suggestion, again.suggestion_lets) == ("", 0)


@pytest.mark.spec("R-PRM-11")
async def test_what_would_be_asked_or_denied_from_now_on_is_shown(lab: Lab) -> None:
    await lab.keep(*map(lab.shell, COMMANDS))
    await lab.service.save(RuleDraft("bash(command=git *)"))
    denied = await lab.try_on("bash(command=git push*)", "deny")
    assert [(call.text, call.before, call.after) for call in denied.stopped] == [
        ("git push origin x", "passes", "denied")
    ]
    asked = await lab.try_on("bash(command=git *)", "ask")
    assert asked.stopped_count == 6
    assert asked.through_count == denied.through_count == 0


@pytest.mark.spec("R-PRM-11")
async def test_a_rule_that_takes_the_place_of_another_is_tried_without_it(lab: Lab) -> None:
    await lab.keep(lab.shell("git status"), lab.shell("ls"))
    old = await lab.service.save(RuleDraft("bash(command=git *)"))
    found = await lab.try_on("bash(command=ls)", replaces=old.rule_id)
    assert [call.text for call in found.passing] == ["ls"]
    assert [call.text for call in found.stopped] == ["git status"]


async def test_a_rule_for_one_thread_is_tried_on_calls_of_that_thread(lab: Lab) -> None:
    await lab.keep(lab.shell("ls", "t1"), lab.shell("id", "t2"))
    found = await lab.try_on("bash(command={ls,id})", thread_id="t2")
    assert [(call.text, call.thread_id) for call in found.passing] == [("id", "t2")]


@pytest.mark.spec("R-PRM-11", "R-FS-3")
async def test_a_path_rule_is_tried_with_links_siblings_and_parents(lab: Lab) -> None:
    await lab.keep(*(lab.write(f"docs/{n}.md") for n in range(5)), lab.write("src/a.py"))
    found = await lab.try_on("write-file(path=docs/**)")
    through = {call.text for call in found.through}
    assert found.passing_count == 5
    assert {"docs/Makefile", "docs/conftest.py", "docs/package.json"} <= through
    assert not any(text.startswith((".", "/", "~")) or ".." in text for text in through)
    assert found.suggestion == "write-file(path=docs/*.md)"
    held = {call.text for call in found.held}
    assert {"docs/../a.md", "docs-old/a.md", "DOCS/a.md", "docs/.git/hooks/pre-commit", "/etc/passwd"} <= held
    wide = await lab.try_on("write-file(path=**)")
    assert "conftest.py" in {call.text for call in wide.through}
    assert (wide.suggestion, wide.suggestion_lets) == ("write-file(path=docs/*.md)", 5)


@pytest.mark.spec("R-PRM-11")
@pytest.mark.parametrize(
    "pattern",
    [
        "bash(command=git diff)",
        "bash(command=git diff --stat)",
        "bash(command=git log{, *})",
        "bash(command=ls{, *})",
        "bash(command=find *)",
        "bash(command=rg *)",
        "bash(command=sort *)",
        "bash(command=awk *)",
        "bash(command=sed *)",
        "bash(command=tar *)",
        "bash(command=curl -s *)",
        "bash(command=make{, *})",
        "write-file(path=docs/*.md)",
        "write-file(path=notes.md)",
        "write-file(path=~/work/out/*)",
        "write-file(path=src/**/*.ts)",
    ],
)
async def test_no_trick_gets_through_an_ordinary_rule(lab: Lab, pattern: str) -> None:
    found = await lab.try_on(pattern)
    assert [call.text for call in found.through] == []
    assert found.held_count >= 60


@pytest.mark.spec("R-PRM-11")
async def test_every_rule_that_is_too_wide_lets_some_trick_through(lab: Lab) -> None:
    wide = (
        "bash",
        "bash(command=*)",
        "bash(command=git *)",
        "bash(command=g*)",
        "bash(command=python *)",
        "bash(command=pytest*)",
        "bash(command=npm *)",
        "write-file",
        "write-file(path=**)",
        "ba*",
        "write-*",
        "bash(command=sh *)",
    )
    for pattern in wide:
        found = await lab.try_on(pattern)
        assert found.through_count > 0, pattern


@pytest.mark.spec("R-PRM-11", "R-PAT-9")
@pytest.mark.parametrize(
    ("pattern", "through"),
    [
        ("bas?", {("bash", "./evil")}),
        ("b*", {("bash", "./evil")}),
        ("*ash", {("bash", "python3 evil.py")}),
        ("{bash,write-file}", {("bash", "./evil"), ("write-file", "docs/Makefile")}),
        ("write*", {("write-file", "docs/Makefile"), ("write-file", "docs/conftest.py")}),
        ("w*(path=docs/**)", {("write-file", "docs/Makefile")}),
        ("*-file(path=src/*)", {("write-file", "src/package.json")}),
        ("write-file(path=**/docs/*)", {("write-file", "a/docs/Makefile")}),
        ("write-file(path=src/**/*.py)", {("write-file", "src/conftest.py")}),
    ],
)
async def test_a_glob_is_tried_on_every_tool_that_it_selects(
    lab: Lab, pattern: str, through: set[tuple[str, str]]
) -> None:
    """What is said to get through is what really passes once the rule is saved."""
    found = await lab.try_on(pattern)
    names = {spec.name for spec in TOOLS}
    said = {(call.tool, call.text) for call in found.through if call.tool in names}
    if "docs" not in pattern and "src" not in pattern:
        through = {(tool, text.removeprefix("docs/")) for tool, text in through}
    assert through <= said
    await lab.service.save(RuleDraft(pattern))
    for tool, text in said:
        real = lab.shell(text) if tool == "bash" else lab.write(text)
        assert real is not None
        assert outcome(lab.book.set, real) == "passes", (tool, text)


def test_there_are_more_than_sixty_families_and_each_marks_what_makes_it_a_trick() -> None:
    assert len({family for family, _, _ in FAMILIES}) == len(FAMILIES) >= 75
    tricks = list(shell_tricks("git diff*", "../.ssh/id"))
    assert len({trick.family for trick in tricks}) >= 85
    for trick in tricks:
        assert trick.marked, trick
        assert all(0 <= start < start + length <= len(trick.text) for start, length in trick.marked), trick
        assert trick.why


async def test_the_tricks_are_decided_by_the_function_of_real_calls(lab: Lab) -> None:
    """Each trick as the gate would see it, with the rule saved: what the simulation said comes true."""
    said = await lab.try_on("bash(command=git *)")
    await lab.service.save(RuleDraft("bash(command=git *)"))
    passing = {call.text for call in said.through if call.tool == "bash"}
    tried = {
        trick.text: lab.shell(trick.text)
        for trick, _ in RuleTrial(parse_pattern("bash(command=git *)"), lab.judges).calls()
        if (trick.tool, trick.source, trick.category) == ("bash", "", None)
    }
    assert len(tried) > 100
    passes = {text for text, real in tried.items() if real is not None and outcome(lab.book.set, real) == "passes"}
    assert passes == passing != set()


@pytest.mark.spec("R-SEC-4")
async def test_recorded_calls_hold_no_secrets_and_are_enough_to_decide(lab: Lab) -> None:
    lab.redactor.remember("hunter2hunter2")
    facts = lab.shell("deploy --token hunter2hunter2 && git diff")
    assert facts is not None
    await lab.keep(facts, lab.write("docs/a.md"))
    kept = await lab.store.rules.recorded()
    assert "hunter2" not in repr(kept)
    raw = (lab.store.path.read_bytes() + lab.store.path.with_name("assent.db-wal").read_bytes()).decode("latin-1")
    assert "hunter2hunter2" not in raw
    again = facts_of(next(call for call in kept if call.tool == "bash"))
    assert (again.category, again.source, len(again.parts)) == (facts.category, facts.source, 2)
    assert (again.parts[1], again.above) == (facts.parts[1], ())
    await lab.keep(replace(facts, tool="other", thread_id="hidden", above=("t1", "t2")))
    below = facts_of(next(call for call in await lab.store.rules.recorded() if call.tool == "other"))
    assert (below.thread_id, below.above) == ("hidden", ("t1", "t2"))


async def test_the_same_call_is_kept_once_and_the_oldest_go_first(lab: Lab) -> None:
    await lab.keep(lab.shell("ls"), times=7)
    await lab.keep(lab.shell("id"))
    found = await lab.store.rules.recorded()
    assert sorted((facts_of(call).constraint, call.times) for call in found) == [("id", 1), ("ls", 7)]
    assert [call.tool for call in await lab.store.rules.recorded(limit=1)] == ["bash"]


async def test_a_simulation_that_nobody_waits_for_ends_its_thread(lab: Lab) -> None:
    await lab.keep(*(lab.shell(f"ls d{n}") for n in range(300)))
    await lab.store.rules.recorded()
    for pause in (0.0, 0.005, 0.02):
        task = asyncio.ensure_future(lab.try_on("bash"))
        await asyncio.sleep(pause)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    until = time.monotonic() + WAIT_S
    while any(thread.name.startswith("asyncio") and _busy(thread) for thread in threading.enumerate()):
        assert time.monotonic() < until
        await asyncio.sleep(0.01)


def _busy(thread: threading.Thread) -> bool:
    frame = sys._current_frames().get(thread.ident or 0)
    while frame is not None:
        if "rule_simulator" in frame.f_code.co_filename:
            return True
        frame = frame.f_back
    return False


@pytest.mark.spec("R-PRM-11")
@pytest.mark.parametrize(
    ("pattern", "decision", "unlisted"),
    [
        ("bash(command=deploy *)", "allow", ("deploy",)),
        ("bash(command={deploy,ls} *)", "allow", ("deploy",)),
        ("bash(command=A=1 bin/deploy *)", "allow", ("deploy",)),
        ("bash(command=ls *)", "allow", ()),
        ("bash(command=git log*)", "allow", ()),
        ("bash(command=echo *)", "allow", ()),
        ("bash(command=deploy --now)", "allow", ()),
        ("bash(command=deploy *)", "deny", ()),
        ("read-file", "allow", ()),
    ],
)
async def test_a_trial_names_the_programs_whose_options_nobody_knows(
    lab: Lab, pattern: str, decision: str, unlisted: tuple[str, ...]
) -> None:
    assert (await lab.try_on(pattern, decision)).unlisted == unlisted


@pytest.mark.parametrize(
    ("pattern", "decision", "said"),
    [
        ("bash", "allow", True),
        ("bash(command=*)", "allow", True),
        ("ba*", "allow", True),
        ("bash", "deny", False),
        ("bash(command=git *)", "allow", False),
        ("write-file", "allow", False),
    ],
)
async def test_a_rule_that_allows_any_command_says_what_that_means(
    lab: Lab, pattern: str, decision: str, said: bool
) -> None:
    assert (await lab.try_on(pattern, decision)).note == (ANY_COMMAND if said else "")
