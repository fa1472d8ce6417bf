"""A call that runs model-written code, as its card shows it: the code, and what became of it (R-COD-18).

Everything here comes from a model or from a stored file: it is read as far as it can be read, and shown as text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from desktop.domain.text.json_text import read_json
from desktop.presenter.transcript.items import CodeText

TOOLS = ("invoke", "agent-code")
"""What the tool is called by a model, and by the app."""

SOURCE_LIMIT = 200_000
READ_LIMIT = 1_000_000
"""Characters of a result that are read as JSON; what is longer is shown as it is."""

SUMMARY_LIMIT = 400
_REMARKS = ("//", "/*", "*", '"use strict"', "'use strict'")


def code_of(tool: str, arguments: Mapping[str, Any] | None) -> CodeText | None:
    """The code of a call, if it is one that runs code."""
    source = (arguments or {}).get("code")
    if tool not in TOOLS or not isinstance(source, str):
        return None
    return CodeText(source if len(source) <= SOURCE_LIMIT else f"{source[:SOURCE_LIMIT]}\n…")


def summary_of(code: CodeText | None, otherwise: str) -> str:
    """What stands beside the name of the call: of code its own first line."""
    return code_summary(code.source) if code else otherwise


def code_summary(source: str) -> str:
    """The first line of code that does something; where there are only comments, the first of these."""
    lines = [line.strip() for line in source[:20_000].splitlines()]
    said = [line for line in lines if line]
    doing = next((line for line in said if not line.startswith(_REMARKS) and line.strip("{}();")), "")
    return (doing or (said[0] if said else ""))[:SUMMARY_LIMIT]


def ran(code: CodeText, text: str, *, is_error: bool) -> CodeText:
    """The code with its outcome: ``text`` is the result as the model gets it."""
    shown = _read(text)
    if shown is None:
        return replace(code, error=text) if is_error else replace(code, value=text)
    failure = shown.get("error")
    error, line = _failure(failure) if failure is not None else ("", 0)
    value = shown.get("result" if "result" in shown and shown.get("finished") is True else "value")
    if not shown.get("ok") and not error:
        error = "It failed."
    return replace(
        code,
        value="" if error or value is None else _words(value),
        error=error,
        line=line,
        stdout=str(shown.get("stdout") or ""),
        note=str(shown.get("note") or ""),
        finished=shown.get("finished") is True,
    )


def _read(text: str) -> Mapping[str, Any] | None:
    if len(text) > READ_LIMIT:
        return None
    try:
        found = read_json(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and isinstance(found.get("ok"), bool) else None


def _failure(failure: Any) -> tuple[str, int]:
    if not isinstance(failure, Mapping):
        return _words(failure), 0
    line = failure.get("line")
    name, message = str(failure.get("name") or "Error"), str(failure.get("message") or "")
    known = isinstance(line, int) and not isinstance(line, bool) and line > 0
    return f"{name}: {message}" if message else name, line if known and isinstance(line, int) else 0


def _words(value: Any) -> str:
    try:
        return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)
    except RecursionError:
        return "…"
