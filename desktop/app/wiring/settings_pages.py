"""The table of the pages of Settings: a page is one row, and the folder of its widgets.

``PageRow`` says what a row can hold. A view-model of one page alone is made in its row, too, from ``views.services``
and ``views.bridge``; those that others need as well are made by ``ViewModels``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from desktop.domain.loading.lazy import lazy_module
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.presenter.settings.pages import APPROVALS, FILESYSTEM, MODELS, UPDATES
from desktop.ui.settings.page_row import PageRow, SettingsFrame

if TYPE_CHECKING:
    from desktop.app.wiring.view_models import ViewModels
    from desktop.presenter.mcp.servers import McpServersViewModel
    from desktop.presenter.settings.agents_editing import AgentsViewModel
    from desktop.presenter.settings.cli_tools import CliToolsViewModel
    from desktop.presenter.settings.confinement import ConfinementViewModel
    from desktop.ui.settings.about import page as about_page
    from desktop.ui.settings.agents import page as agents_page
    from desktop.ui.settings.boundaries import grants as boundaries_grants
    from desktop.ui.settings.boundaries import page as boundaries_page
    from desktop.ui.settings.boundaries.page import BoundariesPage
    from desktop.ui.settings.changes import card as changes_card
    from desktop.ui.settings.cli_tools import page as cli_tools_page
    from desktop.ui.settings.help import page as help_page
    from desktop.ui.settings.keys import page as keys_page
    from desktop.ui.settings.mcp import page as mcp_page
    from desktop.ui.settings.mcp.page import McpPage
    from desktop.ui.settings.middleware import page as middleware_page
    from desktop.ui.settings.models import page as models_page
    from desktop.ui.settings.other_agents import page as other_agents_page
    from desktop.ui.settings.other_apps import page as other_apps_page
    from desktop.ui.settings.updates import page as updates_page
    from desktop.ui.settings.web_search import page as web_search_page
else:
    about_page = lazy_module("desktop.ui.settings.about.page")
    agents_page = lazy_module("desktop.ui.settings.agents.page")
    boundaries_grants = lazy_module("desktop.ui.settings.boundaries.grants")
    boundaries_page = lazy_module("desktop.ui.settings.boundaries.page")
    changes_card = lazy_module("desktop.ui.settings.changes.card")
    cli_tools_page = lazy_module("desktop.ui.settings.cli_tools.page")
    help_page = lazy_module("desktop.ui.settings.help.page")
    keys_page = lazy_module("desktop.ui.settings.keys.page")
    mcp_page = lazy_module("desktop.ui.settings.mcp.page")
    middleware_page = lazy_module("desktop.ui.settings.middleware.page")
    models_page = lazy_module("desktop.ui.settings.models.page")
    other_agents_page = lazy_module("desktop.ui.settings.other_agents.page")
    other_apps_page = lazy_module("desktop.ui.settings.other_apps.page")
    updates_page = lazy_module("desktop.ui.settings.updates.page")
    web_search_page = lazy_module("desktop.ui.settings.web_search.page")


Declared = TypeVar("Declared", "CliToolsViewModel", "McpServersViewModel")


@dataclass(frozen=True, slots=True)
class SettingsModels:
    """What the rows make their pages of."""

    views: ViewModels
    confinement: ConfinementViewModel
    """What confines shell commands on this machine."""


def _with_requests(tools: Declared, frame: SettingsFrame) -> Declared:
    """A page of tools that can be tried, which may ask the person."""
    tools.requests_wanted.connect(frame.approvals_wanted)
    return tools


def _with_undo(agents: AgentsViewModel, frame: SettingsFrame) -> AgentsViewModel:
    """The page says what was done to an agent, and takes it back."""
    agents.told.connect(frame.toast.say)
    frame.toast.undone.connect(agents.undo)
    return agents


def _boundaries(m: SettingsModels, frame: SettingsFrame) -> BoundariesPage:
    views = m.views
    views.reach.told.connect(frame.toast.say)
    return boundaries_page.BoundariesPage(frame.settings, views.boundaries, m.confinement, frame.offer, views.reach)


def _servers(m: SettingsModels, frame: SettingsFrame) -> McpPage:
    m.views.mcp.told.connect(frame.toast.say)
    frame.toast.undone.connect(m.views.mcp.undo)
    page = mcp_page.McpPage(_with_requests(m.views.mcp, frame))
    page.own_head.connect(frame.give_head)
    return page


SETTINGS_PAGES: tuple[PageRow[SettingsModels], ...] = (
    PageRow(
        MODELS,
        "Models and keys",
        "key",
        help="models-and-providers",
        words=(
            "API key",
            "token",
            "provider",
            "server",
            "connection",
            "endpoint",
            "address",
            "Ollama",
            "LM Studio",
            "OpenAI",
            "Anthropic",
            "local model",
        ),
        build=lambda m, _: models_page.ModelsPage(m.views.setup, m.views.starts),
    ),
    PageRow(
        "Keyring",
        "Keyring",
        "lock",
        help="keyring",
        words=("API key", "secret", "password", "credential", "token"),
        build=lambda m, _: keys_page.KeysPage(m.views.keys),
    ),
    PageRow(
        "Web search",
        "Web search",
        "search",
        help="web",
        words=("internet", "API key", "SearXNG", "Brave", "Tavily", "Exa", "Google", "search engine"),
        build=lambda m, _: web_search_page.WebSearchPage(m.views.searches),
    ),
    PageRow(
        "Appearance",
        "Appearance",
        "appearance",
        help="appearance",
        words=("dark mode", "light mode", "color", "colour", "font", "zoom", "animation", "accessibility"),
    ),
    PageRow("Chats", "Chats", "chats", words=("rounds", "history", "send with Enter", "limits"), help="chats"),
    PageRow(
        "Agents",
        "Agents",
        "agent",
        help="agents",
        words=("prompt", "definition", "debate agent", "system text"),
        build=lambda m, frame: agents_page.AgentsPage(_with_undo(m.views.agents_editor, frame)),
    ),
    PageRow(
        APPROVALS,
        "Approvals",
        "approvals",
        help="approvals",
        words=("permission", "ask", "blocklist", "request", "grant", "allow"),
        note="Admin calls always ask, whatever is set here.",
        below=lambda m: boundaries_grants.GrantsCard(m.views.grants),
    ),
    PageRow(
        "Tools",
        "Tools and limits",
        "terminal",
        help="limits",
        words=("shell", "command", "network", "timeout", "memory limit", "env", "sandbox"),
        note="These apply from the next tool call on.",
    ),
    PageRow(
        "Changes",
        "Undo and changes",
        "undo",
        help="changes",
        words=("undo", "history", "backup", "restore", "versions", "retention", "before-image"),
        below=lambda m: changes_card.KeptCard(m.views.kept),
    ),
    PageRow(
        "CLI tools",
        "Tools from tools.yaml",
        "file",
        help="tools",
        words=("CLI tools", "command line tools", "program"),
        build=lambda m, frame: cli_tools_page.CliPage(_with_requests(m.views.cli, frame)),
    ),
    PageRow(
        "MCP servers",
        "MCP servers",
        "server",
        help="mcp",
        words=("mcp.yaml", "model context protocol", "plugin", "extension"),
        build=_servers,
    ),
    PageRow(
        "Other agents",
        "Other agents",
        "agent",
        help="other-agents",
        words=("ACP", "Agent Client Protocol", "opencode", "Gemini CLI", "Claude Code", "Codex", "goose", "Kiro"),
        build=lambda m, frame: other_agents_page.OtherAgentsPage(m.views.other_agents, frame.chat_wanted.emit),
    ),
    PageRow(
        "Other apps",
        "Assent for other apps",
        "link",
        help="other-apps",
        words=("MCP", "Claude Code", "VS Code", "Zed", "Cursor", "assent mcp", "server"),
        build=lambda m, frame: other_apps_page.OtherAppsPage(m.views.other_apps, frame.toast.say),
    ),
    PageRow(
        "Skills",
        "Skills",
        "skills",
        help="skills",
        words=("SKILL.md", "folder of skills"),
        note="In addition to your own folder, ~/.agents and ~/.claude, which are always searched.",
    ),
    PageRow(
        "Middleware",
        "Middleware",
        "filter",
        help="skills",
        words=("retry", "cache", "filter", "layer"),
        build=lambda m, frame: middleware_page.MiddlewarePage(m.views.middleware, frame.settings),
    ),
    PageRow(
        FILESYSTEM,
        "Filesystem boundaries",
        "folder",
        help="boundaries",
        words=("folder", "path", "directory", "workspace", "boundary", "sandbox", "file access", "denied"),
        head="Changes apply from the next tool call on, also in runs that are working",
        build=_boundaries,
    ),
    PageRow(
        UPDATES,
        "Updates",
        "retry",
        help="updates",
        words=("new version", "upgrade", "downgrade", "go back", "restart", "signature", "release"),
        build=lambda m, frame: updates_page.UpdatesPage(m.views.updates, frame.toast.say),
    ),
    PageRow(
        "Help",
        "Help",
        "info",
        help="first-steps",
        words=("manual", "documentation", "report a problem", "bug", "what is new", "shortcuts", "keys"),
        build=lambda m, frame: help_page.HelpPages(m.views.help, frame.command_wanted.emit),
    ),
    PageRow(
        "About",
        "About",
        "mark",
        help="about",
        words=("version", "commit", "licence", "license", "third party", "open source", "copyright", "SBOM"),
        build=lambda m, frame: about_page.AboutPage(m.views.about, frame.toast.say),
    ),
)
"""In the order in which they stand. A page more is a row more, and what the row names."""
