"""Tools as the tests of lists and rules need them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import HealthCheck, settings

from desktop.domain.approval.judgement import Category
from desktop.domain.tools import ToolSpec

# Properties hold on a busy machine too.
patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def tool(name: str, *tags: str, params: Mapping[str, Any] | None = None, visibility: str = "") -> ToolSpec:
    return ToolSpec(name, "A tool.", params or {}, Category.READ, tags=tags, visibility=visibility)
