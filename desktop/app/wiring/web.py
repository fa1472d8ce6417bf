"""The tools of the web in the running app, and the process that they share."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from desktop.app.wiring.keys import KeyServices
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.safety import SafetySettings
from desktop.domain.web.proxies import proxies_of
from desktop.safety.confinement import launcher
from desktop.services.skills.world import SkillWorld
from desktop.settings import SettingsService
from desktop.tools.builtin.search_services import SearchServices
from desktop.tools.builtin.web_fetch import WebFetch
from desktop.tools.builtin.web_search import WebSearch
from desktop.tools.registry import ToolRegistry
from desktop.workers.child import ChildProcess
from desktop.workers.web_child import web_host


@dataclass(frozen=True, slots=True)
class WebServices:
    """The tools of the web."""

    child: ChildProcess
    """The process that reads pages and searches, which runs while somebody does."""
    searches: SearchServices
    """The search services that the person has connected."""


def add_web(
    tools: ToolRegistry, safety: Callable[[], SafetySettings], keys: KeyServices, settings: SettingsService
) -> WebServices:
    """The tools that read pages and search; a search is offered while a service for it is connected."""
    proxies = proxies_of(os.environ)
    confined = launcher.__file__ if sys.platform == "linux" else ""
    web = web_host(launcher=confined, secrets=keys.redactor.values)
    tools.register(WebFetch(web, safety, proxies))
    searches = SearchServices(
        web, keys.secrets, lambda: settings.current.web.search, lambda: settings.current.tools.own_hosts
    )
    offer = WebSearch(searches, proxies)
    if searches.in_use is not None:
        tools.register(offer)
    settings.subscribe(lambda _settings, _keys: _offer(tools, offer, searches))
    return WebServices(web, searches)


def _offer(tools: ToolRegistry, search: WebSearch, searches: SearchServices) -> None:
    """Search is there if there is something to search with."""
    is_there = tools.find(search.spec.name) is search
    if searches.in_use is not None and not is_there:
        tools.register(search)
    elif searches.in_use is None and is_there:
        tools.unregister(search.spec.name)


def follow_searches(settings: SettingsService, skills: SkillWorld) -> None:
    """Whoever lists tools hears when a search is there, or no longer."""

    def changed(_settings: object, keys: frozenset[str]) -> None:
        if "web.search" in keys:
            skills.shown.refresh()

    settings.subscribe(changed)
