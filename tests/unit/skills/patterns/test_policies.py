"""Trust rules in the pattern language (R-PAT-13), together with what a person then sees (R-PRM-11)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.domain.approval.call_facts import CallFacts
from desktop.domain.approval.judgement import Category
from desktop.domain.approval.rule_book import RuleMatch
from desktop.domain.servers.mcp_names import named_on_server
from desktop.skills.patterns import PatternError, PolicyRules
from tests.unit.skills.patterns.tools import patient

CWD = "/work/project"


def decide(text: str | list[str], name: str, *tags: str, **arguments: Any) -> RuleMatch | None:
    return PolicyRules.parse(text, cwd=CWD).decide(CallFacts(name, Category.WRITE, tags=tags, arguments=arguments))


def policy(text: str | list[str], name: str, *tags: str, **arguments: Any) -> str | None:
    found = decide(text, name, *tags, **arguments)
    return found.policy if found else None


@pytest.mark.spec("R-PAT-13", "R-PRM-11")
def test_the_trust_row_of_appendix_a() -> None:
    text = "#meta-internal($policy=allow) *"
    assert decide(text, "skill-list", "meta-internal") == RuleMatch("allow", "#meta-internal($policy=allow)", False)
    assert decide(text, "other") == RuleMatch("ask", "*", False)


@pytest.mark.spec("R-PRM-11")
@pytest.mark.parametrize(
    ("selector", "specific"),
    [
        ("write-file", True),
        ("write-*", True),
        ("{write-file,read-file}", True),
        ("write-[f]*", True),
        ("#t", False),
        ("*", False),
        ("**", False),
        ("?*", False),
        ("*-*", False),
        ("{*,write-file}", False),
        ("[a-z]*", False),
    ],
)
def test_an_allow_is_specific_only_when_it_names_the_tool(selector: str, specific: bool) -> None:
    found = decide(f"{selector}($policy=allow)", "write-file", "t")
    assert found == RuleMatch("allow", f"{selector}($policy=allow)", specific)


@pytest.mark.spec("R-PAT-7", "R-PAT-13")
@patient
@given(st.permutations(["bash", "bash($policy=allow)", "b*($policy=allow)", "#t($deny)", "*"]))
def test_a_deny_wins_in_every_order(rules: list[str]) -> None:
    assert policy(rules, "bash", "t") == "deny"


@pytest.mark.spec("R-PAT-13", "R-PAT-9")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("bash($policy=allow) *", "allow"),
        ("* bash($policy=allow)", "allow"),
        ("bash *($policy=allow)", "ask"),
        ("*($policy=allow) bash", "ask"),
        ("b*($policy=allow) #t", "allow"),
        ("bash bash($policy=allow)", "ask"),
        ("bash($policy=allow) bash", "allow"),
        ("bash bash(command=git*,$policy=allow)", "allow"),
        ("bash($policy=ask) b*($policy=allow)", "ask"),
        ("bash(command=ls*,$policy=allow) b*($policy=allow)", None),
        ("bash(command=ls*,$policy=allow) *", "ask"),
        ("bash(command=ls*) *($policy=allow)", None),
        ("bash(command=ls*,$deny) *($policy=allow)", "allow"),
        ("other", None),
        ("", None),
        ("bash($policy=deny) bash($policy=allow)", "deny"),
    ],
)
def test_the_most_specific_rule_counts_then_constraints_then_the_earlier_one(text: str, expected: str | None) -> None:
    assert policy(text, "bash", "t", command="git status") == expected


@pytest.mark.spec("R-PAT-13", "R-PAT-17")
def test_an_allow_needs_all_of_an_argument_an_ask_or_deny_any_part() -> None:
    allow = "write-file(paths=src/*,$policy=allow)"
    assert policy(allow, "write-file", paths=["src/a", "./src/b"]) == "allow"
    assert policy(allow, "write-file", paths=["src/a", "src/../x"]) is None
    assert policy(allow, "write-file") is None
    for other in ("", ",$deny"):
        text = f"*($policy=allow) write-file(paths=/etc/*{other})"
        assert policy(text, "write-file", paths=["a", "/tmp/../etc/x"]) in {"ask", "deny"}


@pytest.mark.spec("R-PAT-14")
def test_malformed_rules_are_refused_at_their_column() -> None:
    for text, column in (("bash($policy=yes)", 6), ("a b(", 4), ("ok x{1..9999}", 13)):
        with pytest.raises(PatternError) as caught:
            PolicyRules.parse(text)
        assert caught.value.column == column


RULES = st.sampled_from(["*", "a", "a*($policy=allow)", "#t($policy=allow)", "a(x=1,$deny)", "b($deny)"])


@patient
@given(st.lists(RULES, max_size=6), st.sampled_from(["a", "ab", "b"]), st.booleans(), st.integers(1, 2))
def test_nothing_is_allowed_that_no_rule_allows_and_a_match_is_one_of_the_rules(
    rules: list[str], name: str, tagged: bool, x: int
) -> None:
    found = decide(rules, name, *(["t"] if tagged else []), x=x)
    if found is None:
        return
    assert found.pattern in rules
    assert (found.policy == "allow") == ("$policy=allow" in found.pattern)
    if any(rule == "a(x=1,$deny)" for rule in rules) and name == "a" and x == 1:
        assert found.policy == "deny"


@pytest.mark.spec("R-PRM-12", "R-MCP-3")
def test_what_denies_or_asks_about_a_servers_tools_does_so_about_its_resources_and_allows_none() -> None:
    def read(text: str, **arguments: Any) -> str | None:
        given = {"server": "tides", "uri": "tides://1", **arguments}
        also = named_on_server("read-resource", "server", given)
        facts = CallFacts("read-resource", Category.READ, tags=("mcp",), arguments=given, also=also)
        found = PolicyRules.parse(text, cwd=CWD).decide(facts)
        return found.policy if found else None

    assert read("tides-*($deny)") == "deny"
    assert read("tides-*($deny) read-resource($policy=allow)") == "deny"
    assert read("tides-*($deny)", server="other") is None
    assert read("tides-gauge($deny)") is None, "one tool of the server alone"
    assert read("tides-*(uri=tides://2,$deny)") is None
    assert read("tides-*") == "ask"
    assert read("tides-*($policy=allow)") is None, "its tools are not its resources"
    assert read("read-resource(server=tides,$policy=allow) *") == "allow"
    assert read("read-resource(server=tides,$policy=allow) tides-*") == "ask"
