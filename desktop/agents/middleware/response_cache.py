"""The response cache: a request that was answered before is answered from memory (D-7, S-MW-1).

The key is the whole request, the connection as it is set up, and its key in the keyring: an answer never goes to
another model, account or server. Only whole answers are kept, in this process alone.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import os
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

from desktop.agents.middleware.settings import number, options
from desktop.domain.errors import SecretsUnavailable
from desktop.domain.ids import short_id
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import Block, NoticeBlock, ToolCallBlock, Usage, to_plain
from desktop.domain.models import ModelAnswer, ModelRef, ModelRequest
from desktop.domain.runs.middleware import CallNext, ChatContext

MAX_ENTRIES = 1_000
MAX_CHARACTERS = 8_000_000
"""Of all answers together."""
MINUTES = 60.0
ENTRIES = 200
FROM_CACHE = "answer.cached"

Account = Callable[[ModelRef], Awaitable[str | None]]
"""What tells one account at one server from any other; None where that cannot be known, and nothing is kept."""


async def nobody(_model: ModelRef) -> str | None:
    """The ``account`` of a cache that cannot tell one account from another."""
    return None


@dataclass(frozen=True, slots=True)
class CacheConfig:
    """How long an answer is kept, and how many."""

    seconds: float = MINUTES * 60
    entries: int = ENTRIES

    @classmethod
    def of(cls, asked: Any) -> CacheConfig:
        """What the key ``response-cache`` of a skill says. Raises ToolFailure ``skill.configuration``."""
        given = options(asked, "minutes")
        minutes = number(given.get("minutes"), "response-cache.minutes", MINUTES)
        entries = number(given.get("entries"), "response-cache.entries", ENTRIES, minimum=1, whole=True)
        return cls(minutes * 60, min(int(entries), MAX_ENTRIES))


class ResponseCache:
    """Answers of models, kept for the whole process. ``account`` says which key a request goes out with."""

    def __init__(self, account: Account) -> None:
        self._account = account
        self._secret = os.urandom(32)
        self._kept: OrderedDict[bytes, tuple[float, int, ModelAnswer]] = OrderedDict()
        self._size = 0

    def clear(self) -> None:
        """Forget all answers."""
        self._kept.clear()
        self._size = 0

    async def process(self, config: CacheConfig, context: ChatContext, call_next: CallNext) -> None:
        """From memory, or the model's, which is then kept."""
        key = await self._key(context.request)
        found = self._kept.get(key) if key else None
        if key and found is not None and found[0] > time.monotonic():
            self._kept.move_to_end(key)
            context.response = _again(found[2])
            return
        await call_next()
        if key and isinstance(context.response, ModelAnswer) and _whole(context.response):
            self._keep(key, context.response, config)

    def _keep(self, key: bytes, answer: ModelAnswer, config: CacheConfig) -> None:
        size = sum(len(json.dumps(to_plain(block), default=str)) for block in answer.message.blocks)
        if size > MAX_CHARACTERS // 8:
            return
        self._drop(key)
        self._kept[key] = (time.monotonic() + config.seconds, size, answer)
        self._size += size
        while self._kept and (len(self._kept) > config.entries or self._size > MAX_CHARACTERS):
            self._drop(next(iter(self._kept)))

    def _drop(self, key: bytes) -> None:
        gone = self._kept.pop(key, None)
        self._size -= gone[1] if gone is not None else 0

    async def _key(self, request: ModelRequest | None) -> bytes | None:
        if request is None:
            return None
        try:
            account = await self._account(request.model)
        except SecretsUnavailable:
            return None
        if account is None:
            return None
        return await asyncio.to_thread(self._digest, request, account)

    def _digest(self, request: ModelRequest, account: str) -> bytes:
        """Digest of the whole request. Blocks: a long chat with pictures has some megabytes."""
        asked = {
            "account": account,
            "model": str(request.model),
            "system": request.instructions,
            "messages": [[message.role, [to_plain(block) for block in message.blocks]] for message in request.messages],
            "tools": [dict(tool) for tool in request.tools],
            "settings": request.settings.plain(),
            "schema": request.answer_schema,
        }
        text = json.dumps(asked, sort_keys=True, default=_plain)
        return hmac.new(self._secret, text.encode("utf-8", "replace"), hashlib.sha256).digest()


def _whole(answer: ModelAnswer) -> bool:
    """Whether the answer neither failed nor was cut off."""
    message = answer.message
    return answer.error is None and message.stop_reason in ("end", "tool_calls") and bool(message.blocks)


def _again(answer: ModelAnswer) -> ModelAnswer:
    """The answer once more: it cost nothing, and its calls are new ones."""
    blocks: list[Block] = [
        replace(block, call_id=f"call_{short_id()}{at}") if isinstance(block, ToolCallBlock) else block
        for at, block in enumerate(answer.message.blocks)
        if not isinstance(block, NoticeBlock)
    ]
    notice = NoticeBlock("From the response cache: no model was asked, and it cost nothing.", FROM_CACHE)
    usage = Usage(cost_usd=0.0)
    return ModelAnswer(replace(answer.message, blocks=(*blocks, notice), usage=usage))


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else repr(value)
