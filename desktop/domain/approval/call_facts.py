"""What rules look at of one call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from desktop.domain.approval.judgement import Category, CommandPart
from desktop.domain.loading.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class CallFacts:
    """What a trust rule may look at."""

    tool: str
    """The tool's name."""
    category: Category
    """The effective category."""
    constraint: str = ""
    """What the call is about: a path, a command."""
    tags: tuple[str, ...] = ()
    """The tool's tags."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """The arguments."""
    source: str = ""
    """Where the tool comes from."""
    parts: tuple[CommandPart, ...] = ()
    """The commands of a shell command, as in ``PreCheck``."""
    resolved: Mapping[str, str] = field(default_factory=dict)
    """Where arguments that are paths really lead, as in ``PreCheck``."""
    thread_id: str = ""
    """The thread of the call."""
    digest: str = ""
    """The SHA-256 of ``constraint`` where that is known only without its secrets, else ""."""
    above: tuple[str, ...] = ()
    """Threads of the agents above, as in ``RunMeta``: their rules count for the call as well."""
    network: bool = False
    """The network is opened for the call because it was judged to need it."""
    project: str = ""
    """The folder that the person's thread works in, as in ``RunMeta``; "": none."""
    also: str = ""
    """Another name of it for rules that deny or ask: ``tides-read-resource`` for the resources of the server tides, and
    the tool whose refusals hold for it (``ToolSpec.bound_by``)."""
    asks: bool = False
    """A person is asked about it although it only reads (``PreCheck.asks``)."""
