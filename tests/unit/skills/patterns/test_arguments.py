"""Constraints on arguments: values of every kind, lists of patterns, and paths in every spelling."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.skills.patterns import AllowedList
from tests.unit.skills.patterns.tools import patient, tool

CWD, HOME = "/work/project", "/home/ada"


def permits(text: str | list[str] | None, name: str, *tags: str, **arguments: Any) -> bool:
    allowed = AllowedList.of(text, cwd=CWD, home=HOME)
    return allowed.permits(tool(name, *tags), arguments)


# -- values of arguments ----------------------------------------------------------------------------------------------


@pytest.mark.spec("R-PAT-8", "R-PAT-11")
@pytest.mark.parametrize(
    ("constraint", "value", "fits"),
    [
        ("v=true", True, True),
        ("v=True", True, False),
        ("v=3", 3, True),
        ("v=3", 3.0, True),
        ("v=3.5", 3.5, True),
        ("v=null", None, True),
        ("v=1e+22", 1e22, True),
        ("v=*", float("nan"), False),
        ("v=*", {}, False),
        ("v=*", {"a": 1}, False),
        ("v=a*", ["a", "ab"], True),
        ("v=a*", ["a", "b"], False),
        ("v=a*", [], False),
        ("v=a*", [["a"], ["b"]], False),
        ("v=a*", [["a"], []], False),
        ("v=1", [1, 1.0], True),
        ("v=*", ["a", {}], False),
        ("v=*", "", False),
        ("v=*", 10**2000, False),
        ("v=*", b"bytes", False),
        ("v=a\nb", "a\nb", True),
        ("w=*", "x", False),
        ("v.k=a", {"k": "a"}, True),
        ("v.k=a", {"k": "b"}, False),
        ("v.0=a", ["a"], True),
        ("v[1]=b", ["a", "b"], True),
        ("v[2]=b", ["a", "b"], False),
        ("v.k.j=a", {"k": "a"}, False),
    ],
)
def test_values_are_compared_by_their_json_text(constraint: str, value: Any, fits: bool) -> None:
    assert permits(f"x({constraint})", "x", v=value) is fits


def test_an_argument_whose_name_has_a_dot_comes_before_the_path() -> None:
    allowed = AllowedList.of("x(a.b=1)")
    assert allowed.permits(tool("x"), {"a.b": 1, "a": {"b": 2}})
    assert not allowed.permits(tool("x"), {"a.b": 2, "a": {"b": 1}})


def test_deeply_nested_and_cyclic_arrays_allow_nothing() -> None:
    nested: list[Any] = ["a"]
    for _ in range(5000):
        nested = [nested]
    cyclic: list[Any] = []
    cyclic.append(cyclic)
    assert not permits("x(v=*)", "x", v=nested)
    assert not permits("x(v=*)", "x", v=cyclic)


@pytest.mark.spec("R-PAT-7", "R-PAT-11")
def test_a_deny_is_not_got_round_by_a_harmless_second_element() -> None:
    text = "* delete(paths=/etc/*,$deny) agent(allowedTools=bash,$deny)"
    assert not permits(text, "delete", paths=["/tmp/x", "/etc/passwd"])
    assert permits(text, "delete", paths=["/tmp/x"])
    for tools in ("file-read bash", ["file-read", "bash"], "*", "b*", "#any", "file-read bash(", "{bash,x}"):
        assert not permits(text, "agent", allowedTools=tools), tools
    assert permits(text, "agent", allowedTools="file-read f*")


@pytest.mark.spec("R-PAT-10")
@pytest.mark.parametrize(
    ("constraint", "tools", "fits"),
    [
        ("file-*", ["file-read", "file-write file-x"], True),
        ("file-*", ["file-read bash"], False),
        ("file-*", "file-read\nbash", False),
        ("file-*", "", False),
        ("file-*", [], False),
        ("file-*", "file-r*", True),
        ("file-*", "file-*", True),
        ("file-?", "file-*", False),
        ("file-[^x]*", "file-*", False),
        ("*-read", "#x-read", False),
        ("*-read", "*-read", True),
        ("*read", "{bash,x-read", False),
        ("file-*", "file-{a,b}", False),
        ("{file-read,file-list}", "file-read file-list", True),
        ("{file-read,file-list}", "file-read bash", False),
        ("*", "anything #at-all", True),
        ("file-*", 3, False),
        ("file-*", "file-x(a=b)", False),
        ("?", "*", False),
    ],
)
def test_an_argument_that_is_a_pattern_list_is_judged_token_by_token(constraint: str, tools: Any, fits: bool) -> None:
    for name in ("allowedTools", "allowed-tools", "allowed_tools"):
        assert permits(f"agent(allowedTools={constraint})", "agent", **{name: tools}) is fits
        assert permits(f"agent({name}={constraint})", "agent", allowedTools=tools) is fits


@pytest.mark.spec("R-PAT-10")
@patient
@given(
    st.text("ab*?", min_size=1, max_size=4),
    st.text("ab*?", min_size=1, max_size=4),
    st.text("ab", min_size=1, max_size=5),
)
def test_a_child_list_never_stands_for_more_than_its_constraint(constraint: str, token: str, name: str) -> None:
    """Whatever the token, as a list of the child, allows, the constraint fits too."""
    if permits(f"agent(allowedTools={constraint})", "agent", allowedTools=token) and permits(token, name):
        assert permits(constraint, name)


# -- paths ------------------------------------------------------------------------------------------------------------


@pytest.mark.spec("R-PAT-17")
@pytest.mark.parametrize(
    ("constraint", "path", "fits"),
    [
        ("src/*", "src/a", True),
        ("src/*", "./src/a", True),
        ("src/*", "src//a/", True),
        ("src/*", "src/../x", False),
        ("src/*", "src/a/../../x", False),
        ("src/*", "lib/../src/a", True),
        ("src/*", "src/..", False),
        ("src/*", f"{CWD}/src/a", True),
        ("src/*", "/src/a", False),
        ("src/*", "src/a/b", False),
        ("src/**", "src/a/b", True),
        ("src/**", "src/../../x", False),
        ("src/**", "src/.git/config", False),
        ("src/**", "src", True),
        ("./src/*", "src/a", True),
        ("src/../lib/*", "lib/a", True),
        ("src/../lib/*", "src/a", False),
        ("~/notes/*", "~/notes/a", True),
        ("~/notes/*", f"{HOME}/notes/a", True),
        ("~/notes/*", "~/notes/../.ssh", False),
        ("/etc/*", "/etc/../root/x", False),
        ("/etc/*", "//etc/passwd", True),
        ("/etc/*", "/../etc/x", True),
        ("**", "src/a", True),
        ("**", "/etc/passwd", False),
        ("/**", "/etc/passwd", True),
        ("/**", "/etc/.hidden", False),
        ("*", "a", True),
        ("*", "../a", False),
        ("*", "", False),
        ("*", "a\0", False),
        ("*", "~root/x", False),
        ("{src/*,/etc/*,~/a}", "/etc/x", True),
        ("{src/*,/etc/*,~/a}", f"{HOME}/a", True),
        ("{src/*,/etc/*,~/a}", f"{CWD}/etc/x", False),
        ("../other/*", "/work/other/x", True),
        ("a/**/../b", "b", False),
        (".", ".", True),
        (".", CWD, True),
        ("/", "/", True),
        ("/", "//", True),
        ("../../../..", "/", True),
    ],
)
def test_paths_are_compared_after_normalisation(constraint: str, path: str, fits: bool) -> None:
    assert permits(f"file-read(path={constraint})", "file-read", path=path) is fits


@pytest.mark.spec("R-PAT-17")
def test_a_folder_with_special_characters_is_no_pattern() -> None:
    allowed = AllowedList.of("r(path=src/*)", cwd="/w/[ab]*{x,y}?")
    assert allowed.permits(tool("r"), {"path": "src/a"})
    assert not allowed.permits(tool("r"), {"path": "/w/a/src/a"})


@pytest.mark.spec("R-PAT-17", "R-PAT-7")
def test_a_deny_of_many_paths_holds_in_a_folder_with_a_long_name() -> None:
    cwd = "/" + "long/" * 40 + "folder"
    text = "* r(path={" + ",".join(f"secret-{n}/*" for n in range(90)) + "},$deny)"
    allowed = AllowedList.of(text, cwd=cwd)
    assert allowed.problem is None
    assert not allowed.permits(tool("r"), {"path": "x/../secret-89/a"})
    assert allowed.permits(tool("r"), {"path": "secret-90/a"})


@pytest.mark.spec("R-PAT-17")
@pytest.mark.parametrize(
    ("name", "params", "value", "fits"),
    [
        ("path", {}, "src/../src/a", True),
        ("file", {}, "./src/a", True),
        ("outputDir", {}, "./src/a", True),
        ("target_file", {}, "./src/a", True),
        ("profile", {}, "./src/a", False),
        ("dirt", {}, "./src/a", False),
        ("note", {"properties": {"note": {"format": "path"}}}, "./src/a", True),
        ("note", {"properties": {"note": {"items": {"format": "path"}}}}, ["./src/a", "src/b"], True),
        ("path", {"properties": {"path": {"format": "uri"}}}, "./src/a", False),
        ("path", {"properties": {"path": {"format": "uri"}}}, "src/a", True),
        ("ref", {}, "src/a", True),
        ("ref", {}, "src/../x", False),
        ("ref", {}, "x/../src/a", False),
        ("opts.path", {}, {"path": "./src/a"}, True),
        ("path", {"properties": []}, "./src/a", True),
        ("path", {"properties": {"path": {"format": 3, "items": 5}}}, "./src/a", True),
    ],
)
def test_which_arguments_are_paths(name: str, params: dict[str, Any], value: Any, fits: bool) -> None:
    allowed = AllowedList.of(f"r({name}=src/*)", cwd=CWD)
    argument = name.split(".")[0]
    assert allowed.permits(tool("r", params=params), {argument: value}) is fits


@pytest.mark.spec("R-PAT-17", "R-PAT-7")
def test_a_denied_path_is_denied_in_every_spelling() -> None:
    text = "* file-read(path=~/.ssh/*,$deny) x(ref=/etc/*,$deny)"
    for path in ("~/.ssh/id", f"{HOME}/.ssh/id", "../../home/ada/.ssh/id", "~/x/../.ssh/id", "/home//ada/./.ssh/id"):
        assert not permits(text, "file-read", path=path), path
    assert not permits(text, "x", ref="/tmp/../etc/passwd")
    assert permits(text, "file-read", path="~/.bashrc")


@pytest.mark.spec("R-PAT-17")
@patient
@given(st.lists(st.sampled_from(["src", "..", ".", "a", "", "~", "/", "**"]), max_size=6).map("/".join))
def test_no_spelling_of_a_path_leaves_the_allowed_folder(path: str) -> None:
    if permits("r(path=src/**)", "r", path=path):
        parts: list[str] = []
        for part in (path if path.startswith("/") else f"{CWD}/{path}").split("/"):
            if part == "..":
                parts = parts[:-1]
            elif part not in {"", "."}:
                parts.append(part)
        assert parts[:3] == ["work", "project", "src"]
