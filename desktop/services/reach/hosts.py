"""Which hosts of the web an agent reaches: those that somebody has named or an agent has read, and all others.

There is no judge of its own here either: the tools make the pre-check, the list of the agent, the rules and ``answer``
say what comes of it, as at gates 6, 9 and 10.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from desktop.domain.approval.permission import AuditEntry
from desktop.domain.approval.reach import HostRow
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.models import Connection
from desktop.domain.web.addresses import BadWebAddress, read_address
from desktop.domain.web.proxies import WebProxies
from desktop.services.reach.judge import Judge
from desktop.skills.patterns.grammar import Pattern
from desktop.tools.builtin.web_fetch import WEB_FETCH, judged
from desktop.tools.builtin.web_search import WEB_SEARCH, judged_search

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


def host_rows(judge: Judge, service: Connection | None, sources: HostSources) -> tuple[HostRow, ...]:
    """Searching first, with the service in use, then the hosts by name, then all others."""
    rows: list[HostRow] = []
    if service is not None:
        searching = {"query": "x"}
        check = judged_search(service, searching["query"], WebProxies())
        rows.append(HostRow(True, check.constraint, judge.host(WEB_SEARCH, searching, check), "your search service"))
    known = sources.hosts()
    for host in (*sorted(known), ""):
        reading = {"url": address_in(host or ANY)}
        reached = judge.host(WEB_FETCH, reading, judged(reading["url"], judge.settings.own_hosts))
        rows.append(HostRow(False, host, reached, known.get(host, "")))
    return tuple(rows)


def address_in(host: str) -> str:
    """A page of a host; of a pattern, one that it covers. Rules tell hosts apart by name and port alone."""
    host = host.replace("*", "any").replace("?", "x")
    return f"https://{host}/"
