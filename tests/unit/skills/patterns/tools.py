"""Tools as the tests of lists and rules need them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from desktop.domain.tools import Category, ToolSpec


def tool(name: str, *tags: str, params: Mapping[str, Any] | None = None, visibility: str = "") -> ToolSpec:
    return ToolSpec(name, "A tool.", params or {}, Category.READ, tags=tags, visibility=visibility)
