"""The rules in force: one language, remembered over a restart, and never for another's file of the same name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.domain.approval.call_facts import CallFacts
from desktop.domain.approval.judgement import Category
from desktop.domain.approval.permission import RuleRecord
from desktop.domain.errors import ConfigurationError
from desktop.domain.tools import PreCheck, ToolSpec
from desktop.safety.permission.decide import call_facts
from desktop.safety.permission.trust_rules import TrustRule, escape_glob
from desktop.services.rules.trust import TrustRules
from desktop.skills.patterns import PatternError
from desktop.store import Store
from desktop.tools.builtin.edit_file import EDIT_FILE
from desktop.tools.builtin.finding import FIND_FILES, FIND_TEXT
from tests.unit.safety.permission.test_gate import Call, GateBench, Person

READ, WRITE = Category.READ, Category.WRITE


def facts(tool: str, constraint: str = "", source: str = "mine", **arguments: Any) -> CallFacts:
    return CallFacts(tool, WRITE, constraint, arguments=arguments, source=source)


def policy(rules: TrustRules, *args: Any, **kwargs: Any) -> str | None:
    found = rules.match(facts(*args, **kwargs))
    return None if found is None else found.policy


@pytest.mark.spec("R-PAT-13", "R-PRM-11", "R-PAT-1")
async def test_the_trust_row_of_appendix_a_through_the_gate() -> None:
    person = Person("deny")
    bench = GateBench(person, book=TrustRules(text="#meta-internal($policy=allow) *"))
    internal = ("meta-internal",)
    assert (await bench.decide(Call(READ, tags=internal))).allowed
    assert (await bench.decide(Call(READ))).allowed
    assert person.asked == []
    assert not (await bench.decide(Call(WRITE, tags=internal))).allowed
    assert not (await bench.decide(Call(WRITE))).allowed
    assert len(person.asked) == 2


@pytest.mark.spec("R-PRM-3", "R-SK-14")
@pytest.mark.parametrize("source", ["project", "shared"])
def test_a_rule_that_only_names_a_tool_is_none_for_another_s_skill_of_that_name(source: str) -> None:
    rules = TrustRules([TrustRule("deploy", "allow"), TrustRule("publish", "deny")])
    assert policy(rules, "deploy") == "allow"
    assert policy(rules, "deploy", source=source) is None
    assert policy(rules, "publish", source=source) == "deny"
    named = TrustRules(text=f"deploy(call-source={source},$policy=allow)")
    assert policy(named, "deploy", source=source) == "allow"
    assert policy(named, "deploy") is None
    assert policy(named, "deploy", **{"call-source": source}) is None


@pytest.mark.spec("R-PRM-3", "R-PAT-1")
@given(st.text(max_size=40), st.text(max_size=40))
def test_what_is_allowed_always_is_exactly_this_object(one: str, other: str) -> None:
    rules = TrustRules([TrustRule("bash", "allow", escape_glob(one))]) if one else TrustRules()
    assert (policy(rules, "bash", one) == "allow") is bool(one)
    assert (policy(rules, "bash", other) == "allow") is bool(one and one == other)


@pytest.mark.spec("R-PAT-3")
def test_wildcards_of_a_plain_rule_are_those_of_every_pattern() -> None:
    rules = TrustRules([TrustRule("look", "allow", "git log (*), {x} [y]")])
    assert policy(rules, "look", "git log (abc), {x} [y]") == "allow"
    assert policy(rules, "look", "git log (abc), x y") is None
    assert policy(rules, "look", "git log (a/../b), {x} [y]") is None


@pytest.mark.spec("R-PRM-12", "R-PAT-7")
def test_the_match_is_shown_as_the_rule_was_given() -> None:
    found = TrustRules([TrustRule("write-file", "deny", "/etc/*", "never")]).match(facts("write-file", "/etc/x"))
    assert found is not None
    assert (found.policy, found.pattern, found.reason) == ("deny", "write-file(/etc/*)", "never")


@pytest.mark.spec("R-PRM-3", "R-PRM-11")
async def test_always_is_remembered_over_a_restart_and_ends_when_it_is_revoked(tmp_path: Path) -> None:
    store = Store(tmp_path / "assent.db")
    await store.open()
    try:
        bench = GateBench(Person("allow_always"), book=TrustRules(kept=store.rules))
        assert (await bench.decide(Call())).by == "user"
        rules = TrustRules(kept=store.rules)
        await rules.load()
        assert (await GateBench(book=rules).decide(Call())).by == "rule"
        (record,) = await store.rules.list_rules()
        assert (record.tool, record.constraints, record.decision) == ("write-file", {"constraint": "/w/a.txt"}, "allow")
        await store.rules.revoke(rule_id=record.rule_id, at=1.0)
        revoked = TrustRules(kept=store.rules)
        await revoked.load()
        assert revoked.match(facts("write-file", "/w/a.txt")) is None
    finally:
        await store.close()


class Damaged:
    """A store whose rules make no sense."""

    async def add(self, *, rule: RuleRecord, replaces: str = "") -> None:
        raise AssertionError(rule)

    async def built_in_uses(self) -> dict[str, tuple[int, float]]:
        return {}

    async def list_rules(self) -> list[RuleRecord]:
        return [
            RuleRecord("1", "bash(", {}, "allow", "", 0.0),
            RuleRecord("2", "a b", {}, "allow", "", 0.0),
            RuleRecord("3", "bash", json.loads('{"constraint": 3}'), "allow", "", 0.0),
            RuleRecord("4", "look", {}, "deny", "", 0.0),
        ]


@pytest.mark.expects_log("is of no use")
async def test_a_remembered_rule_that_makes_no_sense_counts_for_nothing() -> None:
    rules = TrustRules(kept=Damaged())
    await rules.load()
    assert policy(rules, "bash") is None
    assert policy(rules, "look") == "deny"
    for bad in ({"tool": "x", "policy": "ask"}, {"tool": "a b", "policy": "allow"}, {"tool": "x(", "policy": "deny"}):
        with pytest.raises(ConfigurationError):
            await rules.add(bad)
    with pytest.raises(PatternError):
        TrustRules(text="file-read(")


@pytest.mark.spec("R-EDT-1", "R-PRM-12")
@pytest.mark.parametrize(
    ("rules", "policy_of_edit"),
    [
        ("write-file(path=docs/**,$deny)", "deny"),
        ("write-file(path=docs/**,$deny) edit-file($policy=allow)", "deny"),
        ("write-file(path=docs/**,$policy=ask)", "ask"),
        ("write-file(path=docs/**,$policy=ask) edit-file(path=docs/**,$policy=allow)", "ask"),
        ("write-file(path=docs/**,$policy=allow)", None),
        ("write-file(path=src/**,$deny)", None),
    ],
)
def test_what_may_not_be_written_whole_may_not_be_in_parts_and_no_more_is_allowed(
    rules: str, policy_of_edit: str | None
) -> None:
    book = TrustRules(text=rules, cwd="/w", home="/h")
    call = CallFacts("edit-file", WRITE, "/w/docs/a.md", arguments={"path": "docs/a.md"}, also="write-file")
    found = book.match(call)
    assert (None if found is None else found.policy) == policy_of_edit


@pytest.mark.spec("R-EDT-1", "R-EDT-2")
@pytest.mark.parametrize(
    ("spec", "bound_by"), [(EDIT_FILE, "write-file"), (FIND_TEXT, "read-file"), (FIND_FILES, "list-directory")]
)
def test_the_tools_for_parts_are_bound_by_those_for_the_whole(spec: ToolSpec, bound_by: str) -> None:
    book = TrustRules(text=f"{bound_by}(path=keys/**,$deny)", cwd="/w", home="/h")
    check = PreCheck(spec.category, constraint="/w/keys/a", resolved={"path": "/w/keys/a"})
    found = book.match(call_facts(spec, {"path": "keys/a"}, check, spec.category, ""))
    assert found is not None
    assert found.policy == "deny"
