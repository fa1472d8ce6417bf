"""Tools and the programs they start."""

from __future__ import annotations

from dataclasses import field
from typing import Literal

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.settings.spec import setting

_ENVIRONMENT = ("PATH", "HOME", "USER", "LANG", "LC_ALL", "TERM", "SHELL", "TMPDIR", "TZ")
ENVIRONMENT_WINDOWS = (
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
    commands_first: Literal["show", "ask"] = setting(
        "show",
        "Commands",
        "choice",
        "Show what they did: a command that would be asked about runs at once in a copy of the folders that it may "
        "write, without the network. You see what it did and take it over or drop it; until then nothing has changed. "
        "Where no copy can be made you are asked before, and so you are about admin commands.",
        "Tools",
        choices=(("show", "Show what they did"), ("ask", "Ask before they run")),
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
    own_hosts: tuple[str, ...] = setting(
        (),
        "Hosts of your own network",
        "texts",
        "Agents may ask to read pages of these hosts, such as wiki.lan or localhost:8080, although they are inside "
        "this computer or its network. Each still asks. No other host there is ever read.",
        "Tools",
    )
    env_allowlist: tuple[str, ...] = setting(
        _ENVIRONMENT,
        "Environment variables",
        "names",
        "Only these variables reach the programs that tools start. Leave secrets out.",
        "Tools",
    )
