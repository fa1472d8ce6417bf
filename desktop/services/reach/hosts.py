"""Which hosts of the web an agent reaches: those that somebody has named or an agent has read, and all others.

There is no judge of its own here either: the tool makes the pre-check, the list of the agent, the rules and ``answer``
say what comes of it, as at gates 6, 9 and 10.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from desktop.domain.approval.permission import AuditEntry
from desktop.domain.approval.reach import HostRow
from desktop.domain.files.work_place import WorkPlace
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.tools import Tool
from desktop.domain.web.addresses import BadWebAddress, read_address
from desktop.services.reach.judge import Judge
from desktop.skills.patterns.grammar import Pattern
from desktop.tools.builtin.web_fetch import WEB_FETCH

MOST = 200
"""Hosts that are listed."""
ANY = "some-host.example"
"""Stands for a host that nobody has named."""
OWN, RULE, LIST, READ = "named in your settings", "named in a rule", "named in the agent's list", "read before"


@dataclass(frozen=True, slots=True)
class HostSources:
    """Where hosts are known from."""

    own: Sequence[str] = ()
    """Hosts of the person's own network, in the settings."""
    rules: Sequence[Pattern] = ()
    """The rules of trust."""
    listed: Sequence[Pattern] = ()
    """The agent's list of tools."""
    entries: Sequence[AuditEntry] = ()
    """Calls of the activity log, the newest first."""

    def hosts(self) -> Mapping[str, str]:
        """Each host with where it is known from; the first that says so counts."""
        found: dict[str, str] = {}
        named = ((OWN, self.own), (RULE, _named(self.rules)), (LIST, _named(self.listed)), (READ, _read(self.entries)))
        for where, hosts in named:
            for host in hosts:
                if len(found) < MOST and host.strip("*"):
                    found.setdefault(host, where)
        return found


def _named(patterns: Iterable[Pattern]) -> Iterable[str]:
    for pattern in patterns:
        if pattern.selector.text == WEB_FETCH.name:
            yield from (one.glob.replace("\\", "") for one in pattern.constraints if one.name == WEB_FETCH.about)


def _read(entries: Iterable[AuditEntry]) -> Iterable[str]:
    for entry in entries:
        try:
            yield read_address(str(json.loads(entry.summary)["url"])).host
        except (ValueError, TypeError, KeyError, BadWebAddress):
            continue


async def host_rows(
    judge: Judge, fetch: Tool | None, search: Tool | None, sources: HostSources, place: WorkPlace
) -> tuple[HostRow, ...]:
    """Searching first, then the hosts by name, then all others."""
    rows: list[HostRow] = []
    if search is not None:
        check = await search.precheck({"query": "x"}, place)
        reached = judge.host(search.spec, {"query": "x"}, check)
        rows.append(HostRow(True, check.constraint, reached, "your search service"))
    if fetch is None:
        return tuple(rows)
    known = sources.hosts()
    for host in (*sorted(known), ""):
        arguments = {"url": _address(host or ANY)}
        check = await fetch.precheck(arguments, place)
        rows.append(HostRow(False, host, judge.host(fetch.spec, arguments, check), known.get(host, "")))
    return tuple(rows)


def _address(host: str) -> str:
    """A page of a host; of a pattern, one that it covers."""
    host = host.replace("*", "any").replace("?", "x")
    return f"http://{host}/" if host.endswith(":80") else f"https://{host}/"
