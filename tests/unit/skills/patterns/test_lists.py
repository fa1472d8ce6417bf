"""Allowed-tools lists: a golden table row by row, precedence, arguments, and the reasons given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.pipeline.names import AllowedTools, Caller, ExactTools, offered, resolve
from desktop.skills.patterns import AllowedList, Intersection, PatternError, matching
from tests.unit.skills.patterns.tools import patient, tool

CWD, HOME = "/work/project", "/home/ada"


def permits(text: str | list[str] | None, name: str, *tags: str, **arguments: Any) -> bool:
    allowed = AllowedList.of(text, cwd=CWD, home=HOME)
    return allowed.permits(tool(name, *tags), arguments)


# -- golden table: selectors ------------------------------------------------------------------------------------------


@pytest.mark.spec("R-PAT-2", "R-PAT-3", "R-PAT-16")
@pytest.mark.parametrize(
    ("pattern", "fits", "not_fits"),
    [
        ("*", ["file-read", "bash"], ["", "a/b"]),
        ("file-read", ["file-read"], ["file-read-all", "File-read"]),
        ("file-*", ["file-read", "file-read-all", "file-"], ["profile-read"]),
        ("{file-read,file-write}", ["file-read", "file-write"], ["file-x"]),
        ("file-[rw]*", ["file-read", "file-write"], ["file-delete"]),
        ("file?", ["files", "filed"], ["file", "filesx"]),
        ("callback-*", ["callback-1a2b3c4d"], ["invoke-1a2b3c4d"]),
        ("my-*", ["my-job"], ["amy-job"]),
        ("*@mycompany.com", ["bob@mycompany.com"], ["bob@mycompany.com.evil"]),
        ("src/*", ["src/a.txt"], ["src/a/b.txt"]),
        ("src/**", ["src/a/b.txt"], ["lib/a"]),
    ],
)
def test_selectors_of_appendix_a(pattern: str, fits: list[str], not_fits: list[str]) -> None:
    assert [name for name in fits if not permits(pattern, name)] == []
    assert [name for name in not_fits if permits(pattern, name)] == []


@pytest.mark.spec("R-PAT-2", "R-PAT-15")
def test_tag_selectors_of_appendix_a() -> None:
    assert permits("#meta-internal", "skill-list", "meta-internal")
    assert not permits("#meta-internal", "meta-internal")
    assert permits("#Destructive", "x", "destructive")
    assert permits("#destructive", "x", "Destructive!")
    assert permits("#a(b=c)", "x", "a", b="c")
    assert not permits("#a(b=c)", "x", "a", b="d")


# -- golden table: lists and calls ------------------------------------------------------------------------------------

ALLOW, DENY = True, False
Call = tuple[str, tuple[str, ...], Mapping[str, Any]]


def call(name: str, *tags: str, **arguments: Any) -> Call:
    return name, tags, arguments


@pytest.mark.spec(
    "R-PAT-5", "R-PAT-6", "R-PAT-7", "R-PAT-8", "R-PAT-9", "R-PAT-10", "R-PAT-12", "R-PAT-14", "R-PAT-16", "R-PAT-17"
)
@pytest.mark.parametrize(
    ("text", "expected", "calls"),
    [
        (None, ALLOW, [call("file-read"), call("context-manager", op="finish")]),
        ("", DENY, [call("file-read"), call("bash", command="ls")]),
        ("", ALLOW, [call("context-manager", op="finish")]),
        ("file-read", ALLOW, [call("file-read")]),
        ("file-read", DENY, [call("bash")]),
        ("#meta-internal custom-tool", ALLOW, [call("skill-list", "meta-internal"), call("custom-tool")]),
        ("#meta-internal custom-tool", DENY, [call("other"), call("meta-internal")]),
        ("* #destructive($deny)", DENY, [call("wipe", "destructive")]),
        ("* #destructive($deny)", ALLOW, [call("other"), call("other", "slow")]),
        ("#destructive($deny) *", DENY, [call("wipe", "destructive")]),
        ("#destructive($deny) *", ALLOW, [call("other")]),
        (
            "* context-manager(op={finish,fail},$deny)",
            DENY,
            [call("context-manager", op="finish"), call("context-manager", op="fail")],
        ),
        ("* context-manager(op={finish,fail},$deny)", ALLOW, [call("context-manager", op="invoke"), call("bash")]),
        ("context-manager(op=finish,$deny)", DENY, [call("context-manager", op="finish"), call("bash")]),
        ("context-manager(op=finish,$deny)", ALLOW, [call("context-manager", op="next")]),
        ("file-read", ALLOW, [call("context-manager", op="finish")]),
        ("file-read agent(allowedTools=file-read)", ALLOW, [call("agent", allowedTools="file-read")]),
        (
            "file-read agent(allowedTools=file-read)",
            DENY,
            [call("agent", allowedTools="file-write"), call("agent", allowedTools="file-read bash"), call("agent")],
        ),
        ("agent(allowedTools=file-*)", ALLOW, [call("agent", allowedTools="file-read file-write")]),
        ("agent(allowedTools=file-*)", DENY, [call("agent", allowedTools="file-read bash")]),
        ("* agent(allowedTools=file-read)", DENY, [call("agent", allowedTools="bash")]),
        ("* agent(allowedTools=file-read)", ALLOW, [call("bash")]),
        ("file-read callback-*", ALLOW, [call("callback-1a2b3c4d")]),
        ("schedule-create(ref=my-*)", ALLOW, [call("schedule-create", ref="my-job")]),
        ("schedule-create(ref=my-*)", DENY, [call("schedule-create", ref="other")]),
        ("file-read(path=src/*)", ALLOW, [call("file-read", path="src/a")]),
        ("file-read(path=src/*)", DENY, [call("file-read", path="src/../x")]),
        ("file-read(", DENY, [call("file-read"), call("context-manager", op="finish")]),
    ],
)
def test_lists_and_calls_of_appendix_a(text: str | None, expected: bool, calls: list[Call]) -> None:
    for cwd in (CWD, ""):
        allowed = AllowedList.of(text, cwd=cwd)
        for name, tags, arguments in calls:
            judged = allowed.explain(tool(name, *tags), arguments)
            assert judged.allowed is expected, (name, arguments)
            assert judged.reason


@pytest.mark.spec("R-PAT-14")
def test_a_malformed_list_allows_nothing_and_says_where_the_mistake_is() -> None:
    allowed = AllowedList.of("bash file-read(")
    assert allowed.problem is not None
    assert allowed.problem.column == 15
    assert not allowed.offers(tool("bash"))
    assert not allowed.names("bash")
    assert not allowed.discovers
    assert allowed.exact_names == ()
    assert "column 15" in allowed.explain(tool("bash"), {}).reason
    for text in ("a,b", "a($policy=allow)", "a($policy=ask)", "x{a..}{1..9999}", ["a", "(b)"], "a\0"):
        assert AllowedList.of(text).problem is not None, text
    assert AllowedList.of("a($policy=deny)").problem is None


# -- the pipeline's protocol ------------------------------------------------------------------------------------------


class Table:
    def __init__(self, *names: str, hidden: str) -> None:
        self._tools = {name: tool(name, visibility="hidden" if name == hidden else "") for name in names}

    def find(self, name: str) -> Any:
        return type("T", (), {"spec": self._tools[name]}) if name in self._tools else None

    def tools(self) -> Any:
        return [type("T", (), {"spec": spec}) for spec in self._tools.values()]


@pytest.mark.spec("R-VIS-1", "R-VIS-6")
@pytest.mark.parametrize(
    ("text", "seen"),
    [
        (None, ["a", "b"]),
        ("*", ["a", "b"]),
        ("* {h,i}", ["a", "b"]),
        ("h a", ["a", "h"]),
        ("h*", []),
        ("#t", []),
        ("h\\ ", []),
        ("h h($deny)", []),
        ("h(x=1)", ["h"]),
    ],
)
def test_it_is_the_pipelines_allowed_tools_and_names_only_by_exact_names(text: str | None, seen: list[str]) -> None:
    allowed: AllowedTools = AllowedList.of(text)
    table = Table("a", "b", "h", hidden="h")
    assert [found.spec.name for found in offered(table, allowed)] == seen
    if "h" in seen:
        assert resolve(table, "h", Caller("code", allowed=allowed)).spec.name == "h"


@pytest.mark.spec("R-PAT-5")
@patient
@given(st.lists(st.sampled_from(["a", "b", "file-r", "*"]), max_size=5), st.sampled_from(["a", "b", "c", "file-r"]))
def test_plain_names_and_stars_mean_what_they_meant(entries: list[str], name: str) -> None:
    simple, whole = ExactTools(tuple(entries)), AllowedList.of(entries)
    assert whole.offers(tool(name)) == simple.offers(tool(name)) == whole.permits(tool(name), {})
    assert whole.names(name) == simple.names(name)


def test_what_lists_open_and_name_is_told() -> None:
    assert AllowedList.of(None).discovers
    assert AllowedList.of("a *").discovers
    assert not AllowedList.of("a* #b *($deny)").discovers
    assert AllowedList.of("z a b* c(x=1) a d($deny) \\e").exact_names == ("z", "a", "c", "e")


# -- precedence -------------------------------------------------------------------------------------------------------


@pytest.mark.spec("R-PAT-7")
@patient
@given(st.permutations(["file-read", "file-*", "*", "#t", "file-read($deny)"]))
def test_a_deny_wins_in_every_order(entries: list[str]) -> None:
    assert not permits(entries, "file-read", "t")
    assert permits(entries, "file-write")


@pytest.mark.spec("R-PAT-7", "R-PAT-4")
def test_a_deny_with_constraints_denies_only_calls_that_satisfy_all_of_them() -> None:
    text = "* fetch(url=http:*,method=POST,$deny)"
    assert permits(text, "fetch", url="http:x", method="GET")
    assert permits(text, "fetch", url="http:x")
    assert not permits(text, "fetch", url="http:x", method="POST")
    assert AllowedList.of(text).offers(tool("fetch"))
    assert AllowedList.of(text).constraints(tool("fetch")) == ("fetch(url=http:*,method=POST,$deny)",)
    assert not AllowedList.of("* fetch($deny)").offers(tool("fetch"))


@pytest.mark.spec("R-PAT-9")
@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        ("* file-read(mode=fast)", False),
        ("file-* file-read(mode=fast)", False),
        ("#t file-*(mode=fast)", False),
        ("#t(mode=fast) *", False),
        ("file-read file-read(mode=fast)", True),
        ("#t *(mode=fast)", True),
        ("file-*(mode=fast) file-r*", True),
        ("{*,file-read}(mode=fast) #t", True),
        ("?* #t(mode=fast)", False),
    ],
)
def test_only_the_most_specific_patterns_count(text: str, allowed: bool) -> None:
    assert permits(text, "file-read", "t", mode="slow") is allowed
    assert permits(text, "file-read", "t", mode="fast")


@pytest.mark.spec("R-PAT-12")
def test_only_a_deny_with_an_op_constraint_removes_operations_of_context_manager() -> None:
    for text in ("", "context-manager($deny)", "#meta-internal($deny)", "context-manager(op=next)", "*(x=1,$deny)"):
        assert permits(text, "context-manager", "meta-internal", op="finish", x=1), text
    for text in ("*(op=finish,$deny)", "#meta-internal(op=f*,$deny)", "context-manager(op=*,$deny)"):
        assert not permits(text, "context-manager", "meta-internal", op="finish"), text
    for text in ("*(op=finish,$deny)", "context-manager(op=next,$deny)"):
        assert permits(text, "context-manager", "meta-internal", op="fail"), text
    assert AllowedList.of("context-manager(op=*,$deny)").offers(tool("context-manager"))
    for text in ("", "tool($deny)", "* tool($deny)", "#meta-internal($deny)", "tool(op=next)", "*(x=1,$deny)"):
        assert not permits(text, "tool", "meta-internal", op="finish", x=1), f"any other tool has to be named: {text}"


# -- reasons, intersection, the testing box ---------------------------------------------------------------------------


def test_explain_names_the_rule_that_decided() -> None:
    allowed = AllowedList.of("file-* file-read(path=src/*) wipe($deny) *(x=1,$deny)")

    def said(name: str, arguments: Mapping[str, Any] | None) -> tuple[bool, str]:
        judged = allowed.explain(tool(name), arguments)
        return judged.allowed, judged.rule_text

    assert said("file-read", None) == (True, "file-read(path=src/*)")
    assert "path=src/*" in allowed.explain(tool("file-read")).reason
    assert said("file-read", {"path": "x"}) == (False, "file-read(path=src/*)")
    assert said("file-list", {}) == (True, "file-*")
    assert said("file-list", {"x": 1}) == (False, "*(x=1,$deny)")
    assert said("wipe", None) == (False, "wipe($deny)")
    assert said("bash", {}) == (False, "")
    assert allowed.constraints(tool("file-read")) == ("file-read(path=src/*)", "*(x=1,$deny)")
    assert AllowedList.of(None).constraints(tool("a")) == ()


@pytest.mark.spec("R-AG-5")
def test_a_child_never_does_more_than_its_parent() -> None:
    parent = AllowedList.of("file-* bash(command=git *) secret")
    both = Intersection(parent, AllowedList.of("* secret bash(command={git,ls} *)"))
    assert both.permits(tool("file-read"), {})
    assert not both.permits(tool("other"), {})
    assert both.permits(tool("bash"), {"command": "git status"})
    assert not both.permits(tool("bash"), {"command": "ls x"})
    assert both.names("secret")
    assert not both.names("bash-x")
    assert "caller itself" in both.explain(tool("other"), {}).reason
    assert both.explain(tool("bash"), {"command": "git x"}).rule_text == "bash(command={git,ls} *)"
    assert (both.discovers, list(both.exact_names)) == (False, ["secret", "bash"])
    assert Intersection(AllowedList.of(None), AllowedList.of("* a")).discovers
    deeper: AllowedTools = Intersection(both, AllowedList.of(None))
    assert not deeper.offers(tool("other"))
    assert not Intersection(AllowedList.of(None), AllowedList.of("(")).offers(tool("a"))


def test_whose_exact_names_count_depends_on_who_wrote_the_lists() -> None:
    everything, named = AllowedList.of(None), AllowedList.of("secret b a")
    assert Intersection(everything, named).names("secret")
    assert not Intersection(named, everything).names("secret")
    assert not Intersection(everything, named, "both").names("secret")
    assert Intersection(named, AllowedList.of("a secret"), "both").names("secret")
    narrowed = Intersection(named, AllowedList.of("s* a c"), "either")
    assert narrowed.names("secret")
    assert list(narrowed.exact_names) == ["secret", "b", "a", "c"]
    assert [name for name in narrowed.exact_names if narrowed.offers(tool(name))] == ["secret", "a"]


ENTRIES = st.lists(st.sampled_from(["*", "a", "a*", "#t", "b(x=1)", "a($deny)", "*(x=2,$deny)", "{a,b}"]), max_size=4)


@pytest.mark.spec("R-AG-5")
@patient
@given(ENTRIES, ENTRIES, st.sampled_from(["a", "ab", "b", "c"]), st.booleans(), st.integers(1, 3))
def test_an_intersection_permits_exactly_what_both_permit(
    one: list[str], two: list[str], name: str, tagged: bool, x: int
) -> None:
    spec = tool(name, *(["t"] if tagged else []))
    lists = AllowedList.of(one), AllowedList.of(two)
    both = Intersection(*lists)
    assert both.permits(spec, {"x": x}) == all(each.permits(spec, {"x": x}) for each in lists)
    assert both.explain(spec, {"x": x}).allowed == both.permits(spec, {"x": x})
    assert both.offers(spec) or not both.permits(spec, {"x": x})


@pytest.mark.spec("S-PAT-2")
def test_the_testing_box_lists_the_tools_that_a_text_selects() -> None:
    specs = [tool("file-read"), tool("bash", "shell"), tool("wipe", "destructive")]
    assert matching("file-* #Shell(x=1)", specs) == ["file-read", "bash"]
    with pytest.raises(PatternError):
        matching("a(", specs)


# -- bad input --------------------------------------------------------------------------------------------------------


def test_ten_thousand_entries_decide_rightly() -> None:
    entries = [entry for n in range(3334) for entry in (f"tool-{n}", f"glob-{n}-*", f"#tag-{n}")]
    allowed = AllowedList.of(entries)
    assert allowed.problem is None
    for name, tag, fits in [
        ("tool-3333", "", True),
        ("tool-3334", "", False),
        ("glob-77-x", "", True),
        ("glob-77", "", False),
        ("z", "tag-3333", True),
        ("z", "tag-3334", False),
    ]:
        assert allowed.offers(tool(name, tag)) is fits


@pytest.mark.parametrize(
    ("entries", "says"),
    [
        (["a" * n + "?" * 300 + "[bc]*" for n in range(300)], "too many patterns with wildcards"),
        (["{a,b}{c,d}{1..99}x"] * 10_000, "braces of the list stand for too many"),
        (["x(a={a,b}{c,d}{1..99})"] * 10_000, "braces of the list stand for too many"),
        (["{" + ",".join("abcdefgh" for _ in range(200)) + "}"] * 260, "braces of the list"),
        (["x(a=" + "{a,b,c}" * 5 + "?*" * 9 + ")"], "too many patterns with wildcards"),
    ],
)
def test_a_list_of_costly_patterns_allows_nothing_and_says_so(entries: list[str], says: str) -> None:
    allowed = AllowedList.of(entries)
    assert says in str(allowed.problem)
    assert not allowed.offers(tool("a"))


@patient
@given(st.text(alphabet="ab(){},=$#*?[]\\ ./~-\0", max_size=30), st.text(max_size=12), st.text(max_size=12))
def test_no_text_and_no_call_makes_it_raise(text: str, name: str, value: str) -> None:
    allowed = AllowedList.of(text, cwd=CWD, home=HOME)
    for arguments in ({}, {"a": value}, {"path": value}, {"allowedTools": value}, {"a": [value, {}]}):
        assert isinstance(allowed.permits(tool(name), arguments), bool)
    assert isinstance(allowed.offers(tool(name)), bool)


@pytest.mark.spec("R-PAT-7", "R-MCP-3")
def test_a_list_that_denies_a_servers_tools_denies_its_resources() -> None:
    reading = replace(tool("read-resource", "mcp"), on_server="server")
    listed = AllowedList.of("* tides-*($deny)")
    assert not listed.permits(reading, {"server": "tides"})
    assert listed.permits(reading, {"server": "books"})
    assert listed.offers(reading)
    assert not AllowedList.of("tides-*").permits(reading, {"server": "tides"}), "its tools are not its resources"


@pytest.mark.spec("R-EDT-1", "R-PAT-7")
def test_a_list_that_takes_a_tool_out_takes_out_what_is_bound_by_it() -> None:
    edit = replace(tool("edit-file", "files"), bound_by="write-file")
    assert AllowedList.of("* write-file").permits(edit, {"path": "a"})
    assert not AllowedList.of("* write-file($deny)").permits(edit, {"path": "a"})
    assert AllowedList.of("* write-file($deny)").denies(edit)
    keys = AllowedList.of("* write-file(path=keys/**,$deny)", cwd=CWD, home=HOME)
    assert not keys.permits(edit, {"path": "keys/a"})
    assert keys.permits(edit, {"path": "src/a"})
    assert not AllowedList.of("write-file").permits(edit, {"path": "a"})
