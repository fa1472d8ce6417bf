"""What a worker may say, and what may be said to it: shape, size, depth, number of values (R-COD-5, R-COD-14).

Nothing that a worker sends is trusted: whatever it does, a message costs the app a few milliseconds and some memory.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from desktop.domain.code import CodeCall, CodeFailure
from desktop.domain.errors import ToolFailure
from desktop.domain.text.json_text import read_json

OPS = ("invoke", "finish", "fail", "next")
MAX_VALUES = 5_000
"""Values in the arguments or options of one call: each gate looks at every one of them."""
MAX_RETURNED = 10_000
"""Values in what the code returns."""
MAX_RESULT_VALUES = 20_000
"""Values in what a call is answered with: more take the loop too long to write."""
MAX_DEPTH = 64
MAX_ID = 2**53
MANY = 8
_SIMPLE = frozenset({str, int, bool, type(None)})
_HALVES = dict.fromkeys(range(0xD800, 0xE000), 0xFFFD)
FAILURES = frozenset({"code.raised", "code.syntax", "code.memory", "code.stack", "code.message", "code.unfinished"})
"""What a worker can say of a failure; that it took too long or died is found out here."""


class Violation(Exception):
    """The worker said something that it may not say."""


def read(line: bytes) -> Mapping[str, Any]:
    """Parse one message. Raises Violation for what is no JSON object."""
    try:
        text = line.decode("utf-8")
        message = read_json(text, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise Violation("a line is no JSON") from error
    if not isinstance(message, dict):
        raise Violation("a line is no object")
    if "\\u" in text and message.get("t") != "log":
        message = json.loads(whole(json.dumps(message, ensure_ascii=False)))
    found: Mapping[str, Any] = message
    return found


def whole(text: str) -> str:
    """With U+FFFD for halves of characters. Two that belong together are one already: JSON is read so."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.translate(_HALVES)  # decoding with ``replace`` takes ten times as long
    return text


def asked(message: Mapping[str, Any]) -> tuple[CodeCall, int]:
    """A request, with the shape that it has to have. Raises Violation."""
    op, number, line = message.get("op"), message.get("id"), message.get("line")
    ref, args, options = message.get("ref", ""), message.get("args"), message.get("options")
    good = (
        op in OPS
        and type(number) is int
        and 0 < number <= MAX_ID
        and type(line) is int
        and 0 <= line <= MAX_ID
        and isinstance(ref, str)
        and (args is None or isinstance(args, dict))
        and (options is None or isinstance(options, dict))
    )
    if not good:
        raise Violation("a request of the wrong shape")
    assert isinstance(number, int)
    assert isinstance(line, int)
    return CodeCall(op, ref, args, options, message.get("value"), line), number  # type: ignore[arg-type]


def fair(call: CodeCall) -> None:
    """Raise ToolFailure for what is too deep or too much for a call, though it is short enough to be sent."""
    for what, value in (("arguments", call.args), ("options", call.options), ("value", call.value)):
        problem = problem_of(value, MAX_VALUES)
        if problem:
            raise ToolFailure(f"The {what} are {problem}.", code="code.message")


def problem_of(value: Any, maximum: int) -> str:
    """What is wrong with a value that was JSON, or "". Costs no more than looking at ``maximum`` values."""
    if isinstance(value, float):
        return "" if math.isfinite(value) else "numbers without end"
    level, count = [value] if isinstance(value, (dict, list)) else [], 0
    for _ in range(MAX_DEPTH):
        below: list[Any] = []
        for one in level:
            count += len(one)
            if count > maximum:
                return f"more than {maximum} values"
            items = one.values() if isinstance(one, dict) else one
            if len(one) > MANY and _SIMPLE.issuperset(map(type, items)):
                continue
            for item in items:
                if isinstance(item, (dict, list)):
                    below.append(item)
                elif isinstance(item, float) and not math.isfinite(item):
                    return "numbers without end"
        if not below:
            return ""
        level = below
    return f"nested more than {MAX_DEPTH} deep"


def run(code: str, args: Any) -> bytes:
    """The line that starts a piece of code. Raises ValueError, TypeError or RecursionError for what is no JSON."""
    return json.dumps({"t": "run", "code": code, "args": args}, allow_nan=False).encode()


def weigh(value: Any, maximum: int) -> None:
    """Raise ToolFailure for a result that is too large by far to be written."""
    if (isinstance(value, str) and len(value) > maximum) or problem_of(value, MAX_RESULT_VALUES).startswith("more"):
        raise ToolFailure(_too_large(maximum), code="code.message")


def answer(number: int, value: Any, maximum: int) -> bytes:
    """The line that answers a call, with a value that was weighed. Raises ToolFailure for what is too large or no
    JSON."""
    try:
        text = json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ToolFailure("The result is no JSON.", code="code.message") from error
    if len(text) > maximum:
        raise ToolFailure(_too_large(maximum), code="code.message")
    return b'{"t":"answer","id":%d,"ok":true,"value":%b}' % (number, text.encode())


def _too_large(maximum: int) -> str:
    return f"The result is larger than {maximum} bytes or {MAX_RESULT_VALUES} values; ask for less."


def refusal(number: int, failure: ToolFailure) -> bytes:
    """The line that says no."""
    said = {"t": "answer", "id": number, "ok": False, "error": str(failure)[:4000], "code": failure.code}
    return json.dumps(said).encode()


def failure_of(message: Mapping[str, Any]) -> CodeFailure:
    """What a worker says that the code raised."""
    line, code = message.get("line"), message.get("code")
    return CodeFailure(
        str(message.get("name"))[:100],
        str(message.get("message"))[:2000],
        line if type(line) is int and 0 <= line <= MAX_ID else 0,
        code if isinstance(code, str) and code in FAILURES else "code.raised",
    )


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")
