"""The table of tools (R-TOOL-8, C-3)."""

from dataclasses import dataclass
from typing import Any

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.errors import ConfigurationError
from desktop.domain.tools import ToolSpec
from desktop.tools.registry import ToolRegistry

pytestmark = pytest.mark.spec("C-3")


@dataclass
class Fake:
    spec: ToolSpec

    async def precheck(self, args: Any, place: Any) -> Any:
        raise NotImplementedError

    async def execute(self, args: Any, context: Any) -> Any:
        raise NotImplementedError


def tool(name: str, alias: str = "", source: str = "library", category: Any = Category.READ) -> Fake:
    return Fake(ToolSpec(name, "", {}, category, alias=alias, source=source))


@pytest.mark.spec("R-TOOL-8")
def test_a_name_is_taken_once_also_by_an_alias() -> None:
    registry = ToolRegistry([tool("read-file", "read_file")])
    for name, alias in (("read-file", ""), ("other", "read_file"), ("read_file", ""), ("other", "read-file")):
        with pytest.raises(ConfigurationError, match="taken by read-file"):
            registry.register(tool(name, alias))
    assert [t.spec.name for t in registry.tools()] == ["read-file"]
    assert registry.unregister("read-file")
    assert not registry.unregister("read-file")
    registry.register(tool("read-file"))


def test_tools_are_found_by_name_and_alias_and_listed_in_order() -> None:
    registry = ToolRegistry([tool("b-tool", "b"), tool("a-tool")])
    assert registry.find("b-tool") is registry.find("b")
    assert registry.find("a_tool") is registry.find("a-tool")
    assert registry.find("c") is None
    assert [t.spec.name for t in registry.tools()] == ["a-tool", "b-tool"]


@pytest.mark.spec("R-TOOL-1")
def test_a_tool_without_a_category_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="no category"):
        ToolRegistry([tool("x", category="read")])


@pytest.mark.spec("R-CLI-14")
def test_a_source_is_replaced_at_once_or_not_at_all() -> None:
    registry = ToolRegistry([tool("keep"), tool("old", source="cli")])
    registry.replace_source("cli", [tool("new", source="cli")])
    assert [t.spec.name for t in registry.tools()] == ["keep", "new"]
    with pytest.raises(ConfigurationError):
        registry.replace_source("cli", [tool("newer", source="cli"), tool("keep", source="cli")])
    assert [t.spec.name for t in registry.tools()] == ["keep", "new"]
