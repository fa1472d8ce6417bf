"""Tools registered by code."""

from __future__ import annotations

import re
import threading
from typing import Any

import pytest

from desktop.domain.errors import ConfigurationError
from desktop.skills.resolution.find import find_cached, find_tool
from desktop.skills.resolution.globals import Globals
from desktop.skills.resolution.listing import list_tools
from desktop.skills.resolution.programmatic import (
    RegisterToolOptions,
    create_callback_ref,
    register_tool,
    unregister_tool,
)
from tests.harness.skills import empty_globals


@pytest.fixture
def globals() -> Globals:
    return empty_globals([])


@pytest.mark.spec("R-RES-11")
def test_all_options_end_up_in_the_definition(globals: Globals) -> None:
    schema: dict[str, Any] = {"type": "object"}
    definition = register_tool(
        globals,
        RegisterToolOptions(
            "tool",
            print,
            "Does it.",
            schema,
            {"type": "string"},
            ["Big Tag", "big--tag"],
            "hidden",
            {"model": {"x": 1}},
            "middleware",
            "read-*",
            "mcp://a/b",
            "some.module",
            "the code",
            ("do_it",),
            "write",
        ),
    )
    assert find_tool("tool", globals) is definition
    assert (definition.kind, definition.source, definition.fn) == ("program", "program", print)
    assert (definition.params, definition.returns) == (schema, {"type": "string"})
    assert definition.metadata["model"] == {"x": 1}
    assert definition.tags == ("big-tag",)
    assert (definition.visibility, definition.role, definition.allowed_tools) == ("hidden", "middleware", "read-*")
    assert definition.src == "mcp://a/b"
    assert definition.extras == {"module": "some.module", "content": "the code"}
    assert find_cached("do_it", globals) == (True, definition)


@pytest.mark.spec("R-RES-11", "S-RES-3")
def test_unregistering_removes_the_tool_its_alias_its_source_and_its_cache_entry(globals: Globals) -> None:
    register_tool(globals, RegisterToolOptions("tool", src="inline://1", aliases=("a_tool",)))
    globals.cache.authority["tool"] = None
    assert unregister_tool(globals, "tool")
    assert not unregister_tool(globals, "tool")
    assert [find_tool(ref, globals) for ref in ("tool", "a_tool", "inline://1")] == [None, None, None]
    assert not globals.cache.authority
    assert list_tools(globals) == []


@pytest.mark.spec("R-RES-11")
def test_registering_the_name_again_replaces_the_tool(globals: Globals) -> None:
    register_tool(globals, RegisterToolOptions("tool", description="Old.", aliases=("old_name",)))
    register_tool(globals, RegisterToolOptions("tool", description="New."))
    assert find_tool("tool", globals).description == "New."
    assert find_tool("old_name", globals) is None


@pytest.mark.spec("R-RES-10")
@pytest.mark.parametrize(
    "options",
    [
        RegisterToolOptions("Bad_Name"),
        RegisterToolOptions("x" * 65),
        RegisterToolOptions("new", aliases=("taken",)),
        RegisterToolOptions("new", aliases=("other_alias",)),
        RegisterToolOptions("new", aliases=("a/b",)),
        RegisterToolOptions("new", src="inline://taken"),
        RegisterToolOptions("plain-alias"),
    ],
    ids=["name", "long", "alias-is-name", "alias-is-alias", "alias-characters", "source", "name-is-alias"],
)
def test_a_name_an_alias_and_a_source_mean_one_tool(globals: Globals, options: RegisterToolOptions) -> None:
    register_tool(globals, RegisterToolOptions("taken", src="inline://taken", aliases=("other_alias", "plain-alias")))
    with pytest.raises(ConfigurationError):
        register_tool(globals, options)
    assert [definition.name for definition in list_tools(globals)] == ["taken"]


@pytest.mark.spec("R-VIS-5", "R-SK-10")
@pytest.mark.parametrize(
    ("source", "kept"), [("library", ("meta-internal", "x")), ("program", ("x",)), ("mcp", ("x",))]
)
def test_only_the_library_carries_reserved_tags(globals: Globals, source: Any, kept: tuple[str, ...]) -> None:
    options = RegisterToolOptions("tool", tags=["meta-internal", "x"], source=source)
    assert register_tool(globals, options).tags == kept


@pytest.mark.spec("R-RES-12")
def test_a_callback_gets_a_name_of_its_own_and_is_an_ordinary_hidden_tool(globals: Globals) -> None:
    names = {create_callback_ref(globals, "on-done", lambda ctx, args: 1) for _ in range(50)}
    assert len(names) == 50
    assert all(re.fullmatch(r"on-done-[0-9a-f]{8}", name) for name in names)
    assert {one.name for one in list_tools(globals)} == names
    found = find_tool(names.pop(), globals)
    assert (found.kind, found.visibility, found.fn(None, {})) == ("program", "hidden", 1)
    assert (found.source, found.category, found.params) == ("program", "read", None)
    for label in ("", "Bad", "x" * 56):
        with pytest.raises(ConfigurationError):
            create_callback_ref(globals, label, print)


@pytest.mark.spec("R-RES-9", "R-RES-12")
def test_tools_come_and_go_while_others_look(globals: Globals) -> None:
    stop = threading.Event()
    errors: list[BaseException] = []

    def look() -> None:
        try:
            while not stop.is_set():
                list_tools(globals)
                find_cached("callback-00000000", globals)
        except BaseException as error:  # the test shows it
            errors.append(error)

    thread = threading.Thread(target=look)
    thread.start()
    for _ in range(500):
        unregister_tool(globals, create_callback_ref(globals, "callback", print))
    stop.set()
    thread.join()
    assert errors == []
    assert list_tools(globals) == []
