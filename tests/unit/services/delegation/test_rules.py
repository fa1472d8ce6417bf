"""Called agents under what binds their caller: the rules of its thread, the policy of its job."""

from __future__ import annotations

from pathlib import Path

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.approval.permission import AuditEntry
from desktop.domain.jobs import JobPolicy
from desktop.domain.runs.events import RunEnded
from desktop.domain.runs.supervision import ExecutionBudget
from desktop.domain.safety import SafetySettings
from desktop.models.scripted import ScriptedModel, calls, says
from desktop.safety.permission.gate import PermissionGate
from desktop.services.rules.trust import TrustRules
from desktop.services.turns.unattended import terms_of
from desktop.skills.patterns.paths import Where
from tests.unit.agents.script import Script, call
from tests.unit.agents.script import calls as asks
from tests.unit.agents.script import says as speaks
from tests.unit.pipeline.kit import FakeTool
from tests.unit.services.delegation.test_tools import BOSS, HELPER, OTHER, house, one
from tests.unit.services.turns.test_unattended import NeverAsked


@pytest.mark.spec("R-PRM-11", "R-PRM-12", "R-AAT-4", "R-AAT-9")
async def test_the_rules_of_a_thread_bind_every_agent_that_works_for_it(tmp_path: Path) -> None:
    """A called agent has a thread of its own: it is neither a way round what is denied or asked about above it, nor
    asked about again for what is allowed there; a rule of another thread is none of its business."""
    person, rules = NeverAsked(), TrustRules()

    async def audit(_entry: AuditEntry) -> int:
        return 1

    gate = PermissionGate(person, rules, audit, lambda: SafetySettings(str(tmp_path)))
    change = FakeTool("change", category=Category.WRITE)
    paths = ("secret", "ask", "open", "other")
    model = Script(
        asks(call("1", "helper_agent", message="x")),
        asks(call("2", "other_agent", message="x")),
        asks(*(call(path, "change", path=path) for path in paths)),
        speaks("o"),
        speaks("h"),
        speaks("done"),
    )
    agents = (one(BOSS, "boss"), one(HELPER, "helper"), one(OTHER, "other"))
    async with house(tmp_path, model, *agents, tools=(change,), person=gate) as h:
        thread = await h.world.thread(agent=BOSS)
        elsewhere = await h.world.thread(agent=BOSS)
        for pattern, policy, bound in (
            ("*-agent", "allow", ""),
            ("change(path=s*)", "allow", ""),
            ("change(path=secret)", "deny", thread),
            ("change(path=a*)", "allow", ""),
            ("change(path=ask)", "ask", thread),
            ("change(path=open)", "allow", thread),
            ("change(path=other)", "allow", elsewhere),
            ("change", "deny", elsewhere),
        ):
            await rules.add({"pattern": pattern, "policy": policy, "thread_id": bound})
        await h.world.ask(thread, "Please.")
        helper, other = await h.children()
        asked = [request for request in person.asked if request.tool == "change"]
        assert sorted(dict(request.arguments)["path"] for request in asked) == ["ask", "other"]
        for request in asked:
            assert (request.seen_in, request.above) == (thread, (thread, helper.thread_id))
            assert request.thread_id == other.thread_id
        assert sorted(args["path"] for args in change.calls) == ["ask", "open", "other"]


@pytest.mark.spec("R-CRON-1", "R-CRON-3")
async def test_an_agent_that_takes_over_a_jobs_conversation_is_bound_by_the_jobs_policy(tmp_path: Path) -> None:
    person = NeverAsked()

    async def audit(_entry: AuditEntry) -> int:
        return 1

    gate = PermissionGate(person, TrustRules(), audit, lambda: SafetySettings(str(tmp_path)))
    change = FakeTool("change", category=Category.WRITE)
    model = ScriptedModel(
        [
            calls("helper_agent", {"message": "Tides."}),
            calls("change", {"path": "a"}, unoffered=True),
            says("I could not."),
        ]
    )
    agents = (one(BOSS, "boss"), one(HELPER, "helper", handoff="transfer"))
    async with house(tmp_path, model, *agents, tools=(change,), person=gate) as h:
        policy = JobPolicy(allowed_tools=("read-file", "helper-agent"), allow_admin=("helper-agent",))
        terms = terms_of(policy, ExecutionBudget(), lambda: True, Where("/w", "/h"))
        thread = await h.world.thread(agent=BOSS)
        await h.world.service.run_job(thread, "When is high tide?", terms)
        await h.world.until(RunEnded, 2)
        shown = await h.world.settled(thread)
        assert (await h.world.service.thread(thread)).agent == HELPER
        assert (shown[-1].text, change.calls, person.asked) == ("I could not.", [], [])


@pytest.mark.spec("R-CRON-2", "R-CRON-3", "R-AAT-4")
async def test_a_job_that_only_reads_changes_nothing_through_an_agent_that_it_calls(tmp_path: Path) -> None:
    """Neither by the list that is handed down nor by the gate: a name for admin calls is none beside no list."""
    change, rule = FakeTool("change", category=Category.WRITE), FakeTool("rule", category=Category.ADMIN)
    model = ScriptedModel(
        [
            calls("helper_agent", {"message": "Go."}),
            calls("change", {"path": "a"}, unoffered=True),
            calls("rule", {"path": "a"}, unoffered=True),
            calls("look", {"path": "a"}),
            says("I looked."),
            says("Done."),
        ]
    )
    skills = {"boss": "", "helper": "allowed-tools: look change rule\nmetadata: {category: read}"}
    agents = (one(BOSS, "boss"), one(HELPER, "helper"))
    async with house(tmp_path, model, *agents, tools=(FakeTool("look"), change, rule), skills=skills) as h:
        terms = terms_of(JobPolicy(None, ("rule",)), ExecutionBudget(), lambda: True, Where("/w", "/h"))
        thread = await h.world.thread(agent=BOSS)
        await h.world.service.run_job(thread, "Go.", terms)
        await h.world.settled(thread)
        assert [tool["name"] for tool in model.requests[1].tools] == ["look"]
        (child,) = await h.children()
        results = [b for m in await h.world.service.path(child.thread_id) for b in m.blocks if b.kind == "tool_result"]
        assert [(b.tool, b.is_error) for b in results] == [("change", True), ("rule", True), ("look", False)]
        assert (change.calls, rule.calls) == ([], [])
