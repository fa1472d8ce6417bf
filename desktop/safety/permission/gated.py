"""What the gate needs to know of a call; the pipeline's ``Call`` is one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from desktop.domain.approval.judgement import Category
from desktop.domain.runs.meta import RunMeta
from desktop.domain.tools import PreCheck, Tool


class BlockLike(Protocol):
    """The call as the model wrote it."""

    @property
    def call_id(self) -> str: ...


class CallerLike(Protocol):
    """The caller of a call, as far as the gate needs it."""

    @property
    def chain(self) -> tuple[str, ...]: ...


class RequestLike(Protocol):
    """Where the call came from."""

    @property
    def block(self) -> BlockLike: ...

    @property
    def caller(self) -> CallerLike: ...

    @property
    def said(self) -> str: ...


class GatedCall(Protocol):
    """What the gate needs to know of a call; the pipeline's ``Call`` is one."""

    @property
    def target(self) -> Tool: ...

    @property
    def frozen(self) -> Mapping[str, Any]: ...

    @property
    def check(self) -> PreCheck | None: ...

    @property
    def category(self) -> Category: ...

    @property
    def stale(self) -> bool: ...

    @property
    def place(self) -> str: ...

    @property
    def original(self) -> Mapping[str, Any] | None: ...

    @property
    def logged(self) -> list[int]: ...

    @property
    def meta(self) -> RunMeta: ...

    @property
    def question(self) -> str: ...

    @property
    def allowed_before(self) -> bool: ...

    @property
    def unrepeatable(self) -> str: ...

    @property
    def refused(self) -> str: ...

    @property
    def request(self) -> RequestLike: ...
