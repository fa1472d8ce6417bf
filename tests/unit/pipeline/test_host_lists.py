"""What a list of tools says of hosts holds for calls that name an address, or a service that the person chose."""

from pathlib import Path

import pytest

from desktop.domain.approval.permission import AuditEntry
from desktop.domain.models import Connection
from desktop.domain.web.proxies import WebProxies
from desktop.pipeline.names import Caller
from desktop.pipeline.pipeline import Pipeline
from desktop.safety.permission.gate import PermissionGate
from desktop.services.rules.trust import TrustRules
from desktop.skills.patterns.lists import AllowedList
from desktop.supervision.tasks import TaskOwner
from desktop.tools.builtin.search_services import SearchServices
from desktop.tools.builtin.web_fetch import WebFetch
from desktop.tools.builtin.web_search import WebSearch
from desktop.workers.web_child import web_host
from tests.servers.hosts import Secrets
from tests.unit.pipeline.kit import Bench, Table
from tests.unit.safety.world import World


async def came_to(listed: str, tool: str, arguments: dict[str, object], world: World) -> str:
    """The code of a call under a list: past the list, nobody is there to be asked."""
    child = web_host()
    services = SearchServices(child, Secrets(), lambda: (Connection("t", "tavily-search", "Tavily"),))
    tools = [WebFetch(child, lambda: world.settings), WebSearch(services, WebProxies())]
    bench = Bench()
    gate = PermissionGate(None, TrustRules(), _unwritten, lambda: world.settings)
    bench.pipeline = Pipeline(Table(*tools), TaskOwner().spawn, trust=gate)  # type: ignore[arg-type]
    caller = Caller(allowed=AllowedList.of(listed, cwd="/", home="/nowhere"))
    code = (await bench.call(tool, arguments, caller=caller)).result.code
    assert child.health.state == "stopped", "nothing was sent"
    return code


async def _unwritten(_entry: AuditEntry) -> None:
    return None


@pytest.mark.spec("R-WEB-1", "R-PAT-4")
@pytest.mark.parametrize(
    ("listed", "url", "passes"),
    [
        ("web-fetch(host=docs.example.org)", "https://docs.example.org/a", True),
        ("web-fetch(host=docs.example.org)", "https://DOCS.example.org:443/a", True),
        ("web-fetch(host=docs.example.org)", "http://docs.example.org/a", False),
        ("web-fetch(host=docs.example.org)", "https://evil.example/docs.example.org", False),
        ("web-fetch(host=*.example.org)", "https://docs.example.org/", True),
        ("web-fetch web-fetch(host=evil.example,$deny)", "https://good.example/", True),
        ("web-fetch web-fetch(host=evil.example,$deny)", "https://evil.example/x", False),
        ("web-fetch web-fetch(host=evil.example,$deny)", "https://EVIL.example./x", False),
        ("web-fetch web-fetch(host=*.evil.example,$deny)", "https://a.evil.example/x", False),
        ("web-fetch(host=docs.example.org)", "no address", False),
    ],
)
async def test_a_list_that_names_hosts_holds_for_addresses(listed: str, url: str, passes: bool, tmp_path: Path) -> None:
    code = await came_to(listed, "web-fetch", {"url": url}, World(tmp_path))
    assert code == ("denied.permission" if passes else "denied.allowed_tools")


@pytest.mark.spec("R-WEB-1")
async def test_a_host_that_a_model_says_itself_counts_for_nothing(tmp_path: Path) -> None:
    sly = {"url": "https://evil.example/", "host": "docs.example.org"}
    assert (
        await came_to("web-fetch(host=docs.example.org)", "web-fetch", sly, World(tmp_path)) == "denied.allowed_tools"
    )


@pytest.mark.spec("R-WEB-2")
@pytest.mark.parametrize(
    ("listed", "passes"),
    [
        ("web-search(host=api.tavily.com)", True),
        ("web-search(host=api.exa.ai)", False),
        ("web-search web-search(host=api.tavily.com,$deny)", False),
        ("web-search(query=tide*)", True),
        ("web-search(query=secret*)", False),
    ],
)
async def test_a_list_that_names_services_holds_for_searches(listed: str, passes: bool, tmp_path: Path) -> None:
    code = await came_to(listed, "web-search", {"query": "tide"}, World(tmp_path))
    assert code == ("denied.permission" if passes else "denied.allowed_tools")
