"""What code returned, as content for whoever called."""

from __future__ import annotations

import json
from typing import Any

from desktop.domain.errors import ToolFailure
from desktop.domain.tools import ToolResult


class NestedFailure(ToolFailure):
    """A call made from inside another ended in an error; ``code`` is the call's, the text what a model would read."""

    def __init__(self, text: str, code: str) -> None:
        super().__init__(text, code=code or "tool.failed")


def value_of(result: ToolResult) -> Any:
    """A result as code sees it: its structured value, else its text. Raises NestedFailure for an error."""
    if result.is_error:
        raise NestedFailure(result.text, result.code)
    return result.structured if result.structured is not None else result.text


def result_of(value: Any) -> ToolResult:
    """A skill's value as content: text as it is, anything else as JSON with the value beside it."""
    if value is None:
        return ToolResult("Done.", facts={"empty": True})
    if isinstance(value, ToolResult):
        return value
    if isinstance(value, str):
        return ToolResult(value)
    try:
        return ToolResult(json.dumps(value, ensure_ascii=False), structured=value)
    except (TypeError, ValueError) as error:
        raise ToolFailure(f"The skill returned something that is not JSON: {type(value).__name__}.") from error
