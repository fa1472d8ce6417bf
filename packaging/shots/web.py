"""Requests to read a page of the web and to search it, and connected search services, for pictures and tests."""

from __future__ import annotations

import time
from typing import Any

from desktop.domain.approval.judgement import Category
from desktop.domain.approval.permission import PermissionRequest
from desktop.domain.models import Connection
from desktop.domain.tools import ToolSpec
from desktop.domain.web.addresses import read_address
from desktop.domain.web.proxies import WebProxies
from desktop.tools.builtin.search_services import SERVICES as KINDS
from desktop.tools.builtin.search_services import address_of
from desktop.tools.builtin.web_fetch import NEW_HOST, WEB_FETCH, preview_of
from desktop.tools.builtin.web_search import NEW_SERVICE, WEB_SEARCH
from desktop.tools.builtin.web_search import preview_of as search_preview
from shots.samples import SampleSetup

QUERY = "power cut quay 3 harbour office notice 17 March"
SERVICES = (
    Connection("brave-search", "brave-search", "Brave Search", "", "connection/brave-search"),
    Connection("searxng", "searxng", "SearXNG at home", "http://searx.lan:8888"),
)
URL = "https://example.org/ports/quay-3/notices?from=2026-03-17&gauge=07"


def web_request(url: str = URL) -> PermissionRequest:
    """As the gate would make it."""
    address = read_address(url)
    return _request(WEB_FETCH, {"url": url}, preview_of(address), NEW_HOST.format(host=address.host))


def search_request(query: str = QUERY, service: Connection = SERVICES[0]) -> PermissionRequest:
    """As the gate would make it."""
    address = address_of(service)
    preview = search_preview(service, address, query, WebProxies())
    return _request(WEB_SEARCH, {"query": query}, preview, NEW_SERVICE.format(host=address.host))


def _request(spec: ToolSpec, arguments: dict[str, Any], preview: dict[str, Any], asks: str) -> PermissionRequest:
    return PermissionRequest(
        request_id="r27",
        run_id="run1",
        thread_id="t1",
        call_id="c27",
        tool=spec.name,
        description=spec.description,
        category=Category.READ,
        raised_because="",
        chain=("Workbench",),
        arguments=arguments,
        paths=(),
        judgements=(),
        preview=preview,
        digest="d27",
        asked_at=time.time() - 48,
        asks=asks,
    )


class SampleSearches(SampleSetup):
    """Brave in use, a SearXNG that was there first."""

    def __init__(self) -> None:
        super().__init__()
        self.providers = KINDS
        self.connections = SERVICES

    @property
    def in_use(self) -> str:
        """The first."""
        return next((one.connection_id for one in self.connections), "")

    def use(self, connection_id: str) -> None:
        """Remembered."""
        self.calls.append(("use", connection_id))
