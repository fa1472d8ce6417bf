"""One plain question to a provider, and its answer or the error in our codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from desktop.domain.text.scrub import scrub
from desktop.workers.inside import CallError
from desktop.workers.model_host.failures import refused
from desktop.workers.model_host.http import HttpAnswer, Unreachable, fetch
from desktop.workers.model_host.refusals import AnswerRefused

TIMEOUT = 20.0  # seconds


def address(base: str, path: str, options: Mapping[str, str]) -> str:
    """``base`` and ``path`` with the connection's options filled in. Raises CallError where one is missing."""
    try:
        return (base.rstrip("/") + path).format_map(options)
    except (KeyError, ValueError, IndexError):
        raise CallError("model.bad_request", "", {"detail": "a field of the connection is empty"}) from None


async def ask(url: str, headers: Mapping[str, str], secrets: Sequence[str], body: Any = None) -> HttpAnswer:
    """GET, or POST with a body; whatever status is answered. Raises CallError when nothing is."""
    try:
        return await fetch(url, headers=headers, body=body, timeout=TIMEOUT)
    except Unreachable as error:
        raise CallError("model.unreachable", "", {"detail": scrub(str(error), secrets)}) from None
    except AnswerRefused as refused:
        raise CallError(refused.code, "", {"detail": scrub(refused.detail, secrets)}) from None


def checked(answer: HttpAnswer, secrets: Sequence[str]) -> dict[str, Any]:
    """The body of a good answer. Raises CallError for any other."""
    if answer.status == 200 and isinstance(answer.body, dict):
        return answer.body
    raise refused(answer.status, answer.headers, answer.text, secrets)
