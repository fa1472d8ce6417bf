"""The settings' schema: a setting is a field of one of these classes, and its key is the field's place.

To add a setting, add a field. Paths may begin with ``~``; ``{home}`` in a default stands for the app's home folder,
``~/.agent`` unless AGENT_HOME or ``--home`` says otherwise.
"""

from __future__ import annotations

import functools
import sys
from dataclasses import field
from pathlib import Path
from typing import Any, Literal

from desktop.domain.lazy_dataclass import dataclass
from desktop.domain.models import Connection
from desktop.domain.supervision import RUN_ROUNDS, ExecutionBudget
from desktop.settings.spec import Setting, build, flat, setting, settings_of

_DENIED = (
    "~/.ssh",
    "~/.gnupg",
    "/etc/shadow",
    "/etc/passwd",
    "~/.aws",
    "~/.azure",
    "~/.config/gcloud",
    "~/.kube",
    "~/.docker/config.json",
    "~/.netrc",
    "~/.git-credentials",
    "{home}/data",
)
_DENIED_HERE = {
    "linux": (
        "~/.local/share/keyrings",
        "~/.mozilla",
        "~/.config/google-chrome",
        "~/.config/chromium",
        "~/.config/BraveSoftware",
        "~/.config/microsoft-edge",
        "~/.thunderbird",
    ),
    "darwin": (
        "~/Library/Keychains",
        "~/Library/Cookies",
        "~/Library/Safari",
        "~/Library/Application Support/Google/Chrome",
        "~/Library/Application Support/Firefox",
        "~/Library/Application Support/BraveSoftware",
    ),
    "win32": (
        "~/AppData/Local/Microsoft/Credentials",
        "~/AppData/Roaming/Microsoft/Credentials",
        "~/AppData/Local/Google/Chrome/User Data",
        "~/AppData/Local/Microsoft/Edge/User Data",
        "~/AppData/Roaming/Mozilla",
    ),
}
_ENVIRONMENT = ("PATH", "HOME", "USER", "LANG", "LC_ALL", "TERM", "SHELL", "TMPDIR", "TZ")
_ENVIRONMENT_WINDOWS = (
    "SYSTEMROOT",
    "COMSPEC",
    "PATHEXT",
    "TEMP",
    "TMP",
    "USERPROFILE",
    "APPDATA",
    "LOCALAPPDATA",
    "WINDIR",
)


@dataclass(frozen=True, slots=True)
class Appearance:
    """Settings of the app's looks."""

    theme: Literal["system", "light", "dark"] = setting(
        "system",
        "Theme",
        "choice",
        "Light, dark, or as the system is set.",
        "Appearance",
        choices=(("system", "Follow the system"), ("light", "Light"), ("dark", "Dark")),
    )
    text_scale: float = setting(
        1.0,
        "Text size",
        "number",
        "Size of all text, from 80 % to 200 % of the usual size.",
        "Appearance",
        minimum=0.8,
        maximum=2.0,
        unit="×",
    )
    reduce_motion: Literal["system", "on", "off"] = setting(
        "system",
        "Reduce motion",
        "choice",
        "Show changes at once, without animation.",
        "Appearance",
        choices=(("system", "Follow the system"), ("on", "On"), ("off", "Off")),
    )


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """Settings of models: the default model and the connections."""

    default: str = setting(
        "",
        "Default model",
        "text",
        "The model of a new chat, written connection/model. Empty: the first one that is there.",
        "Models and keys",
    )
    connections: tuple[Connection, ...] = setting(
        (),
        "Connections",
        "connections",
        "Providers and servers, without their keys: those are in the system's keyring.",
        "Models and keys",
    )


@dataclass(frozen=True, slots=True)
class BashSettings:
    """Settings of shell commands and of tool calls."""

    timeout_s: float = setting(
        120,
        "Time limit of a tool call",
        "number",
        "A call that runs longer is ended with everything it started; a tool may set its own limit.",
        "Tools",
        minimum=1,
        maximum=86_400,
        unit="seconds",
    )
    network: Literal["as asked", "never", "always"] = setting(
        "as asked",
        "Network for commands",
        "choice",
        "As asked: the request says when a command needs the network, and allowing it lets it through. Where that "
        "cannot be told there is a tick for it; every other command has no network. Never: no command has it, so "
        "nothing that commands read can leave this computer that way.",
        "Tools",
        choices=(("as asked", "As asked"), ("never", "Never"), ("always", "Always")),
    )
    path: str = setting(
        "", "Bash", "text", "The bash that runs commands. Empty: the one that is found on this computer.", "Tools"
    )


@dataclass(frozen=True, slots=True)
class ToolSettings:
    """Settings of tools."""

    bash: BashSettings = field(default_factory=BashSettings)
    """Shell commands."""
    timeouts: tuple[tuple[str, float], ...] = setting(
        (),
        "Time limits of single tools",
        "times",
        "Seconds that a call of this tool may take, instead of the limit above. A tool that declares its own keeps it.",
        "Tools",
        minimum=1,
        maximum=86_400,
        unit="seconds",
    )
    output_limit_bytes: int = setting(
        200_000,
        "Output limit",
        "whole",
        "Longer output of a tool is cut, and the model is told so.",
        "Tools",
        minimum=1_000,
        maximum=20_000_000,
        unit="bytes",
    )
    memory_gb: float = setting(
        0,
        "Memory of commands",
        "number",
        "On Linux a command or program of a tool that holds more, together with all that it started, is ended. What it "
        "hides on purpose is not seen. 0: half of this computer's memory.",
        "Tools",
        minimum=0,
        maximum=100_000,
        unit="GB",
        zero="Half of this computer's",
        smallest=0.1,
    )
    offered: int = setting(
        40,
        "Tools offered at once",
        "whole",
        "The most tools a model is given with their parameters; it can search for the others. What an agent's list "
        "names is always offered.",
        "Tools",
        minimum=0,
        maximum=500,
        unit="tools",
    )
    offered_share: float = setting(
        10,
        "Room for offered tools",
        "number",
        "Offered tools take at most this part of the model's context, where its size is known.",
        "Tools",
        minimum=1,
        maximum=50,
        unit="%",
    )
    env_allowlist: tuple[str, ...] = setting(
        _ENVIRONMENT,
        "Environment variables",
        "names",
        "Only these variables reach the programs that tools start. Leave secrets out.",
        "Tools",
    )


@dataclass(frozen=True, slots=True)
class Security:
    """What agents may touch."""

    allowed_paths: tuple[str, ...] = setting(
        ("{home}/workspace", "/tmp/agent"),
        "Allowed folders",
        "paths",
        "File tools may read and, after you agreed, write here and below.",
        "Filesystem",
    )
    denied_paths: tuple[str, ...] = setting(
        _DENIED,
        "Denied folders",
        "paths",
        "Never read or written by file tools, also inside an allowed folder.",
        "Filesystem",
    )
    auto_approve_workspace_writes: bool = setting(
        False,
        "Write in the workspace without asking",
        "flag",
        "File tools write inside the workspace without a request. Everything else still asks.",
        "Approvals",
    )
    auto_approve_reading_commands: bool = setting(
        False,
        "Run commands that only read without asking",
        "flag",
        "A command of which every part is known and only reads, such as ls -la, runs at once: without network, and "
        "with every folder read-only to it. Everything else still asks.",
        "Approvals",
    )
    blocklist_extra: tuple[str, ...] = setting(
        (),
        "More blocked commands",
        "patterns",
        "Regular expressions; a shell command that one of them matches is refused. "
        "This is an extra safeguard: it cannot stop every way to do the same.",
        "Approvals",
    )
    rm_without_recursion: Literal["block", "ask"] = setting(
        "block",
        "rm of single files",
        "choice",
        "Refuse plain rm, or ask for each as an admin call.",
        "Approvals",
        choices=(("block", "Refuse"), ("ask", "Ask each time")),
    )
    admin_jobs: bool = setting(
        False,
        "Admin calls of scheduled jobs",
        "flag",
        "Lets a job make admin calls of tools that it allows by exact name, with nobody there to ask.",
        "Approvals",
    )
    approval_timeout_s: float = setting(
        0,
        "Requests end by themselves",
        "number",
        "A request that nobody answers for this long is denied. 0: it waits until you answer.",
        "Approvals",
        minimum=0,
        maximum=86_400,
        unit="seconds",
        zero="Never",
    )


@dataclass(frozen=True, slots=True)
class Chat:
    """Settings of chats: limits of an answer, titles, context."""

    max_iterations: int = setting(
        20,
        "Most rounds for one answer",
        "whole",
        "A round is one request to the model. One message may lead to this many.",
        "Chats",
        minimum=1,
        maximum=1_000,
    )
    summaries: bool = setting(
        False,
        "Summarise older messages",
        "flag",
        "When a chat outgrows the model's window, the model writes a summary of its older part instead of dropping it.",
        "Chats",
    )
    model_titles: bool = setting(
        True,
        "Titles by the model",
        "flag",
        "After the first answer of a chat its model is asked for a title, which counts among the chat's tokens and "
        "cost. Off: the first words are the title.",
        "Chats",
    )
    agent_threads: Literal["none", "run", "closing", "permanent"] = setting(
        "run",
        "Chats of called agents",
        "choice",
        "How long the chat of an agent that another one called is kept.",
        "Chats",
        choices=(
            ("none", "Not at all"),
            ("run", "Until the run ends"),
            ("closing", "Until Assent is closed"),
            ("permanent", "Until you delete it"),
        ),
    )
    send_on_enter: bool = setting(
        True, "Enter sends", "flag", "Off: Enter breaks the line and Ctrl+Enter sends.", "Chats"
    )


@dataclass(frozen=True, slots=True)
class Limits:
    """How much at once."""

    concurrent_runs: int = setting(
        4, "Runs at the same time", "whole", "Further runs wait for their turn.", "Chats", minimum=1, maximum=32
    )
    run_tokens: int = setting(
        0,
        "Tokens of a run",
        "whole",
        "What one message may use with all agents that work on it; the Run panel can give more. 0: no limit.",
        "Chats",
        minimum=0,
        maximum=1_000_000_000,
        unit="tokens",
        zero="No limit",
    )
    run_cost_usd: float = setting(
        0,
        "Cost of a run",
        "number",
        "The same in money, where the provider says what it costs. 0: no limit.",
        "Chats",
        minimum=0,
        maximum=100_000,
        unit="USD",
        zero="No limit",
    )
    run_rounds: int = setting(
        RUN_ROUNDS,
        "Most rounds for one run",
        "whole",
        "All agents of a run together, however they call each other.",
        "Chats",
        minimum=1,
        maximum=100_000,
    )
    thread_rounds: int = setting(
        5_000,
        "Most rounds for one chat",
        "whole",
        "All answers of one chat together, with those of its branches.",
        "Chats",
        minimum=1,
        maximum=1_000_000,
    )
    run_minutes: float = setting(
        0,
        "Time of a run",
        "number",
        "How long a run may work; while it waits for you no time passes. 0: no limit.",
        "Chats",
        minimum=0,
        maximum=100_000,
        unit="minutes",
        zero="No limit",
    )

    @property
    def run(self) -> ExecutionBudget:
        """What a run that begins now may use."""
        return ExecutionBudget(
            self.run_tokens or None, self.run_cost_usd or None, self.run_rounds, self.run_minutes * 60 or None
        )


@dataclass(frozen=True, slots=True)
class Skills:
    """Where skills are looked for beside your own folder and the library."""

    projects: tuple[str, ...] = setting(
        (),
        "Project folders",
        "paths",
        "Folders you work in; the skills in their .agent, .agents and .claude folders are listed.",
        "Skills",
    )
    trusted_projects: tuple[str, ...] = setting(
        (),
        "Trusted project folders",
        "paths",
        "Project folders whose skills agents may use and that may run. Trust only what you would run yourself.",
        "Skills",
    )


@dataclass(frozen=True, slots=True)
class RateLimit:
    """Settings of the library's middleware ``rate-limit``."""

    per_minute: int = setting(
        10,
        "Starts of one agent a minute",
        "whole",
        "Yours count and never wait. A job, and a model that calls the agent, wait, say so, and can be stopped.",
        "Middleware",
        minimum=1,
        maximum=10_000,
    )
    skills_per_minute: int = setting(
        60,
        "Starts of one skill a minute",
        "whole",
        "Of a skill that an agent works on; the next one waits.",
        "Middleware",
        minimum=1,
        maximum=10_000,
    )


@dataclass(frozen=True, slots=True)
class ContentFilterSettings:
    """Settings of the library's middleware ``content-filter``."""

    patterns: tuple[str, ...] = setting(
        (),
        "What the content filter looks for",
        "expressions",
        "Regular expressions, upper and lower case alike. Answers are held against them before you see them.",
        "Middleware",
    )
    action: Literal["replace", "refuse"] = setting(
        "replace",
        "What it does",
        "choice",
        "Replace: the place is replaced; calls of tools stay as the model wrote them. Refuse: the answer ends there, "
        "and a call whose arguments fit is not made.",
        "Middleware",
        choices=(("replace", "Replace"), ("refuse", "Refuse")),
    )
    replacement: str = setting(
        "[removed]", "Put in its place", "text", "Stands where something was. Empty: [removed].", "Middleware"
    )


@dataclass(frozen=True, slots=True)
class ResponseCacheSettings:
    """Settings of the library's middleware ``response-cache``."""

    minutes: float = setting(
        60,
        "Cached answers are kept",
        "number",
        "In memory, until Assent ends at the latest. An answer is given again only for the very same request to the "
        "same model with the same key.",
        "Middleware",
        minimum=1,
        maximum=10_000,
        unit="minutes",
    )
    entries: int = setting(
        200, "Cached answers", "whole", "The oldest go first.", "Middleware", minimum=1, maximum=1_000, unit="answers"
    )


@dataclass(frozen=True, slots=True)
class MiddlewareSettings:
    """What stands around agents, requests and calls."""

    switched_on: tuple[str, ...] = setting(
        (), "Switched on", "texts", "Middleware that is off at first: its name, or the file it is in.", "Middleware"
    )
    switched_off: tuple[str, ...] = setting(
        (), "Switched off", "texts", "Middleware that is on at first: its name, or the file it is in.", "Middleware"
    )
    rate_limit: RateLimit = field(default_factory=RateLimit)
    content_filter: ContentFilterSettings = field(default_factory=ContentFilterSettings)
    response_cache: ResponseCacheSettings = field(default_factory=ResponseCacheSettings)


@dataclass(frozen=True, slots=True)
class Notifications:
    """Settings of notifications: how Assent calls a person who looks elsewhere."""

    desktop: bool = setting(
        True,
        "Desktop notifications",
        "flag",
        "Say that a request waits while the window is in the background; never what it is about.",
        "Approvals",
    )


@dataclass(frozen=True, slots=True)
class Settings:
    """An immutable snapshot of all settings; a change makes a new one."""

    appearance: Appearance = field(default_factory=Appearance)
    """How the app looks."""
    models: ModelSettings = field(default_factory=ModelSettings)
    """Which model is asked."""
    tools: ToolSettings = field(default_factory=ToolSettings)
    """What holds for tools."""
    security: Security = field(default_factory=Security)
    """What holds for approvals."""
    chat: Chat = field(default_factory=Chat)
    """How chats behave."""
    limits: Limits = field(default_factory=Limits)
    """What runs may use."""
    skills: Skills = field(default_factory=Skills)
    """Where skills are searched."""
    middleware: MiddlewareSettings = field(default_factory=MiddlewareSettings)
    """Settings of the library's middleware."""
    notifications: Notifications = field(default_factory=Notifications)
    """How Assent calls a person who looks elsewhere."""

    def value(self, key: str) -> Any:
        """By full key, for pages made from the schema. Raises KeyError."""
        return flat(self)[key]


@functools.cache
def schema() -> dict[str, Setting]:
    """Every setting by key, in the order of the file."""
    return {item.key: item for item in settings_of(Settings)}


def pages() -> dict[str, list[Setting]]:
    """The settings of each page, in order."""
    found: dict[str, list[Setting]] = {}
    for item in schema().values():
        found.setdefault(item.page, []).append(item)
    return found


def default_values(home: Path) -> dict[str, Any]:
    """What holds where the file says nothing."""
    return {key: _here(item, home_text(home)) for key, item in schema().items()}


def defaults(home: Path) -> Settings:
    """The snapshot of an empty file."""
    return snapshot(default_values(home))


def snapshot(values: dict[str, Any]) -> Settings:
    """From values by full key."""
    made: Settings = build(Settings, values)
    return made


def home_text(home: Path) -> str:
    """The home as a person would write it: ``~/.agent`` rather than ``/home/ann/.agent``."""
    try:
        return "~/" + home.expanduser().relative_to(Path.home()).as_posix()
    except (ValueError, RuntimeError):
        return home.as_posix()


def _here(item: Setting, home: str) -> Any:
    """The default on this system with this home."""
    value = item.default
    if item.key == "security.denied_paths":
        value = value + _DENIED_HERE.get(sys.platform, ())
    if item.key == "tools.env_allowlist" and sys.platform == "win32":
        value = value + _ENVIRONMENT_WINDOWS
    if isinstance(value, tuple):
        return tuple(v.replace("{home}", home) if isinstance(v, str) else v for v in value)
    return value
