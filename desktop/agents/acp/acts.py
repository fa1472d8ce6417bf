"""What an agent of another maker says that it does: its tool calls, told apart by who has them done.

What it had done through us has a card, a line in the log and a gate of its own already. What it did by itself, inside
its confinement, is put down in its own words.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Any

from desktop.agents.acp.calls import Made
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.tools.acp.asks import PLAN
from desktop.tools.builtin.files import WRITE_FILE
from desktop.tools.builtin.shell import BASH

MAX_ACTS = 2_000
MAX_SAID = 8_000
SETTLES_S = 2.0
"""Seconds that an agent which may write by itself has for a write that was allowed, before it is made for it."""
_OVER = ("completed", "failed")


@dataclass(slots=True)
class Act:
    """One tool call of the agent, as far as it has told of it."""

    id: str
    """The agent's name for it."""
    title: str = ""
    """What it says that it does."""
    kind: str = "other"
    """What kind of work that is, by the protocol."""
    status: str = "pending"
    """How far it says that it is."""
    paths: tuple[str, ...] = ()
    """The files that it names."""
    given: str = ""
    """What it says that its tool was given, as JSON."""
    command: str = ""
    """The command in that."""
    text: str = ""
    """What it says that came of it."""
    diffs: tuple[Mapping[str, Any], ...] = ()
    """The changes of files that it announces: ``path``, ``new``, and ``old`` where it says that."""
    terminals: tuple[str, ...] = ()
    """The commands of ours that it runs in."""
    began: int = 0
    """How much had been done through us when it began."""
    allowed: tuple[str, str, frozenset[str]] | None = None
    """What it named when it was allowed: its kind, the command, the files; None: it was not."""
    asked: bool = False
    """Whether a person was asked about it."""
    told: bool = False
    """Whether it is put down."""

    def take(self, event: Mapping[str, Any]) -> None:
        """More of it: what is not told stays."""
        for name in ("title", "kind", "status", "given", "command", "text"):
            value = event.get("input" if name == "given" else name)
            if isinstance(value, str) and value:
                setattr(self, name, value[:MAX_SAID] if name not in ("command",) else value)
        for name in ("paths", "diffs", "terminals"):
            value = event.get(name)
            if isinstance(value, list) and value:
                setattr(self, name, tuple(value))

    @property
    def over(self) -> bool:
        """Whether it says that it is done, or failed."""
        return self.status in _OVER

    def through_us(self, made: list[Made]) -> bool:
        """Whether what it says is what it had done through us since it began."""
        since = made[self.began :]
        if self.terminals:
            ours = {one.about for one in since if one.kind == "terminal"}
            return any(name in ours for name in self.terminals)
        failed = self.status == "failed"  # what was done here and failed all the same, failed where nobody saw it
        files = {one.about for one in since if one.kind in ("read", "edit") and one.done is not failed}
        if self.kind in ("read", "edit") and any(path in files for path in self._places):
            return True
        return self._was_tool(made)

    def _was_tool(self, made: list[Made]) -> bool:
        """Whether it is one of our tools that it has called, which may have come here before it said so. Each call of
        ours explains one of them."""
        said = f"{self.title} {self.given}".replace("-", "_")
        for one in reversed(made):
            if one.kind == "tool" and one.about.replace("-", "_") in said:
                made[made.index(one)] = Made("explained", one.about)
                return True
        return False

    @property
    def _places(self) -> tuple[str, ...]:
        return (*self.paths, *(str(one.get("path", "")) for one in self.diffs))

    @property
    def about(self) -> tuple[str, str, frozenset[str]]:
        """Its kind, the command and the files that it names now."""
        return self.kind, self.command, frozenset(path for path in self._places if path)

    def was_answered(self) -> bool:
        """Whether the question about it shows all of it: what was allowed and done, or was refused and not done. What
        was done all the same, failed though it was allowed, or became something else after the answer, is not."""
        if self.allowed is None:
            return self.asked and self.status == "failed"
        if self.status == "failed":
            return False
        kind, command, files = self.allowed
        now = self.about
        return now[:2] == (kind, command) and (not files or now[2] <= files)

    @property
    def said(self) -> dict[str, Any]:
        """It in the agent's own words, as a call of ours takes them."""
        paths = list(dict.fromkeys(path for path in self._places if path))
        kind = "other" if self.kind == PLAN else self.kind[:20]
        found = {"says": (self.title or self.kind)[:400], "kind": kind, "paths": paths[:20]}
        return {**found, **({"given": self.given} if self.given else {})}

    def announces(self) -> dict[str, Any]:
        """The very call of ours that it would come to, where it says so exactly: ``{tool, arguments, before}``."""
        if self.kind == "execute" and self.command:
            return {"tool": BASH.name, "arguments": {"command": self.command}}
        if self.kind in ("edit", "other") and len(self.diffs) == 1:
            (diff,) = self.diffs
            arguments = {"path": str(diff.get("path", "")), "content": str(diff.get("new", ""))}
            before = diff.get("old")
            known = {"before": before} if isinstance(before, str) else {}
            return {"tool": WRITE_FILE.name, "arguments": arguments, **known} if arguments["path"] else {}
        return {}


class Acts:
    """The tool calls of one turn."""

    def __init__(self) -> None:
        self._acts: dict[str, Act] = {}
        self.made: list[Made] = []
        self._allowed: dict[tuple[str, str], Act] = {}
        self._news = asyncio.Condition()

    def allow(self, act: Act) -> None:
        """A person has allowed it."""
        act.allowed = act.about
        about = act.announces()
        if about.get("tool") == WRITE_FILE.name:
            self._allowed[about["arguments"]["path"], about["arguments"]["content"]] = act

    async def may_be_done(self, path: str, content: str) -> bool:
        """Whether a person has allowed that exactly this is written; returns once the agent says that it is over, or
        after ``SETTLES_S``: one that writes by itself, too, would change the file while our write of it is judged."""
        act = self._allowed.get((path, content))
        if act is None:
            return False
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(SETTLES_S), self._news:
                await self._news.wait_for(lambda: act.over)
        return True

    async def heard(self) -> None:
        """Something was told of one of them."""
        async with self._news:
            self._news.notify_all()

    def take(self, event: Mapping[str, Any]) -> Act:
        """What the agent tells of one of them."""
        key = str(event.get("id", ""))
        act = self._acts.get(key)
        if act is None:
            act = Act(key, began=len(self.made))
            if len(self._acts) < MAX_ACTS:
                self._acts[key] = act
        act.take(event)
        return act

    def to_tell(self, act: Act) -> bool:
        """Whether it is over and was done by the agent itself, and nothing shows it yet."""
        if act.told or not act.over:
            return False
        act.told = True
        return not act.was_answered() and not act.through_us(self.made)

    def left_open(self) -> list[Act]:
        """Those that never ended, as far as the agent has said."""
        return [act for act in self._acts.values() if not act.over and not act.told]
