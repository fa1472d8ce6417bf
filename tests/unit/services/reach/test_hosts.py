"""What the explorer says of hosts is what becomes of real calls to them (R-WEB-1)."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from typing import Any

import pytest

from desktop.domain.approval.permission import AuditEntry
from desktop.domain.models import Connection
from desktop.domain.processes import ChildHealth, ChildRefused
from desktop.pipeline.names import Caller
from desktop.pipeline.pipeline import Pipeline
from desktop.safety.permission.gate import PermissionGate
from desktop.safety.secrets.redaction import SecretRedactor
from desktop.services.reach.hosts import ANY, address_in
from desktop.skills.patterns.lists import AllowedList
from desktop.supervision.tasks import TaskOwner
from desktop.tools.builtin.web_fetch import WEB_FETCH, WebFetch, judged
from tests.unit.pipeline.kit import Bench, Table
from tests.unit.services.reach.test_service import EffectRequest, Lab, Office, lab, office

__all__ = ["lab", "office"]
pytestmark = pytest.mark.spec("R-WEB-1", "R-FS-12")
HOSTS = ("example.org", "docs.example.org", "evil.example", "127.0.0.1:8080", "wiki.lan:80", "169.254.169.254", "")
RULES = (
    "",
    "web-fetch(host=example.org,$policy=allow)",
    "web-fetch($policy=allow) web-fetch(host=*.example.org,$deny)",
    "*($policy=allow) web-fetch(host=evil.example,$policy=ask)",
    "#web($deny)",
)
LISTS = (None, "web-fetch(host=example.org)", "web-fetch web-fetch(host=evil.example,$deny)", "read-file")


class Network:
    """The child, for calls that get as far as that."""

    health = ChildHealth("stopped", None, 0, 0)

    def start(self) -> None: ...

    async def call(self, method: str, params: Any = None, *, timeout: float) -> Any:
        raise ChildRefused("test.reached", "It was asked for.")

    def stream(self, method: str, params: Mapping[str, Any], **more: Any) -> Any:
        raise ChildRefused("test.reached", "It was asked for.")

    async def stop(self) -> None: ...


def fetch_of(lab: Lab) -> WebFetch:
    return WebFetch(Network(), lambda: lab.world.settings)


async def came_to(lab: Lab, rules: str, listed: str | None, host: str) -> str:
    """passes | asks | denied: what becomes of a real call, through the real gates."""
    asked = EffectRequest()
    gate = PermissionGate(asked, lab.book(rules), _unwritten, lambda: lab.world.settings, redactor=SecretRedactor())
    bench = Bench()
    bench.pipeline = Pipeline(Table(fetch_of(lab)), TaskOwner().spawn, trust=gate)  # type: ignore[arg-type]
    allowed = AllowedList.of(listed, cwd="/", home="/nowhere") if listed is not None else None
    caller = Caller() if allowed is None else Caller(allowed=allowed)
    outcome = await bench.call("web-fetch", {"url": address_in(host or ANY)}, caller=caller)
    if asked.requests:
        return "asks"
    return "passes" if outcome.result.code == "test.reached" else "denied"


async def _unwritten(_entry: AuditEntry) -> None:
    return None


async def test_a_row_is_what_becomes_of_a_real_call(lab: Lab) -> None:
    lab.world.change(own_hosts=("127.0.0.1:8080", "wiki.lan:80", "169.254.169.254"))
    seen = set()
    for rules, listed, host in itertools.product(RULES, LISTS, HOSTS):
        allowed = AllowedList.of(listed, cwd="/", home="/nowhere") if listed is not None else None
        arguments = {"url": address_in(host or ANY)}
        judge = lab.judge(lab.book(rules), allowed)
        shown = judge.host(WEB_FETCH, arguments, judged(arguments["url"], lab.world.settings.own_hosts))
        real = await came_to(lab, rules, listed, host)
        assert shown.what == real, (rules, listed, host, shown)
        check = judged(arguments["url"], lab.world.settings.own_hosts)
        assert check.denied is not None or check.constraint == (host or ANY), "what is judged is the host of the row"
        seen.add((shown.what, shown.because))
    assert seen == {
        ("passes", "rule"),
        ("asks", "category"),
        ("asks", "rule"),
        ("denied", "rule"),
        ("denied", "tools"),
        ("denied", "boundary"),
    }


async def test_hosts_are_those_of_rules_lists_settings_and_activity_and_all_others(office: Office) -> None:
    office.lab.world.change(own_hosts=("wiki.lan:80",))
    await office.book.add({"pattern": "web-fetch(host=*.tides.example)", "policy": "allow"})
    await office.book.add({"pattern": "web-fetch(host=paste.example)", "policy": "deny"})
    await office.book.add({"pattern": "other-tool(host=elsewhere.example)", "policy": "allow"})
    for url in ("https://read.example/a", "https://read.example/b", "no address", "https://paste.example/"):
        await office.store.audit.add(entry=_read(url))
    rows = await office.service.hosts("")
    assert [(row.host, row.reached.what, row.known) for row in rows] == [
        ("*.tides.example", "passes", "named in a rule"),
        ("paste.example", "denied", "named in a rule"),
        ("read.example", "asks", "read before"),
        ("wiki.lan:80", "asks", "named in your settings"),
        ("", "asks", ""),
    ]
    office.search = Connection("t", "tavily-search", "Tavily")
    rows = await office.service.hosts("reader")
    assert (rows[0].searches, rows[0].host) == (True, "api.tavily.com")
    assert {(row.reached.what, row.reached.because) for row in rows} == {("denied", "tools")}, "its list has neither"


def _read(url: str) -> AuditEntry:
    return AuditEntry(
        at=1.0,
        run_id="r",
        thread_id="t",
        call_id=url,
        chain=("Workbench",),
        tool="web-fetch",
        category="read",
        decision="allow_once",
        by="user",
        digest="",
        summary=json.dumps({"url": url}),
    )
