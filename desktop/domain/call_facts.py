"""What rules look at of one call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from desktop.domain.judgement import Category, CommandPart


@dataclass(frozen=True, slots=True)
class CallFacts:
    """What a trust rule may look at. ``parts`` and ``resolved`` as in ``PreCheck``; ``digest`` is the SHA-256 of
    ``constraint`` where that is known only without its secrets, else empty. ``above`` as in ``RunMeta``: rules of those
    threads count for the call as well. ``network``: the network is opened for it because it was judged to need it.
    """

    tool: str
    category: Category
    constraint: str = ""
    tags: tuple[str, ...] = ()
    arguments: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""
    parts: tuple[CommandPart, ...] = ()
    resolved: Mapping[str, str] = field(default_factory=dict)
    thread_id: str = ""
    digest: str = ""
    above: tuple[str, ...] = ()
    network: bool = False
