"""Agents of other makers that are known by name: which program, how it is started so that it speaks the protocol, and
where it keeps its settings and its login. Data; nothing here is run or fetched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from desktop.domain.loading.lazy_dataclass import dataclass

FETCHERS: Mapping[str, tuple[str, ...]] = {"npx": ("npx", "-y"), "uvx": ("uvx",)}
"""Programs that fetch what they run, and how they are told to."""


@dataclass(frozen=True, slots=True)
class AcpAgent:
    """An agent of another maker: what would be run for it."""

    name: str
    """The name it is kept under."""
    title: str
    """The name that a person reads."""
    command: str
    """The program: a name on the PATH, or a path."""
    args: tuple[str, ...] = ()
    """With which it speaks the protocol."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Variables that it needs beside those that every process gets."""
    folders: tuple[str, ...] = ()
    """Where it keeps its settings, its login and its sessions."""
    asking: Mapping[str, str] = field(default_factory=dict)
    """Variables by which it asks for permission before it writes or runs something by itself; they are set where it
    may write by itself."""
    leaving: Mapping[str, str] = field(default_factory=dict)
    """Variables by which it leaves its own tools for writing out; they are set where it may not write by itself. Its
    model then has ours alone: else it would have a file written here, write it again by itself, and hear that it
    failed."""
    origin: str = "known"
    """Where it was found: ``known``, ``added`` by a person, or ``registry``."""
    note: str = ""
    """What a person has to know before it runs, or ""."""


KNOWN: tuple[AcpAgent, ...] = (
    AcpAgent(
        "opencode",
        "opencode",
        "opencode",
        ("acp",),
        folders=("~/.config/opencode", "~/.local/share/opencode", "~/.local/state/opencode", "~/.cache/opencode"),
        asking={"OPENCODE_PERMISSION": '{"edit": "ask", "bash": "ask"}'},
        leaving={"OPENCODE_PERMISSION": '{"edit": "deny"}'},
    ),
    AcpAgent("gemini", "Gemini CLI", "gemini", ("--experimental-acp",), folders=("~/.gemini",)),
    AcpAgent("claude-agent", "Claude Agent", "claude-agent-acp", folders=("~/.claude", "~/.claude.json")),
    AcpAgent("claude-code", "Claude Code", "claude-code-acp", folders=("~/.claude", "~/.claude.json")),
    AcpAgent("codex", "Codex", "codex-acp", folders=("~/.codex",)),
    AcpAgent(
        "goose", "goose", "goose", ("acp",), folders=("~/.config/goose", "~/.local/share/goose", "~/.local/state/goose")
    ),
    AcpAgent("kiro", "Kiro", "kiro-cli", ("acp",), folders=("~/.kiro", "~/.local/share/kiro-cli")),
    AcpAgent("qwen", "Qwen Code", "qwen", ("--acp",), folders=("~/.qwen",)),
    AcpAgent("auggie", "Auggie", "auggie", ("--acp",), {"AUGMENT_DISABLE_AUTO_UPDATE": "1"}, folders=("~/.augment",)),
    AcpAgent("kimi", "Kimi", "kimi", ("acp",), folders=("~/.kimi",)),
    AcpAgent("vibe", "Mistral Vibe", "vibe-acp", folders=("~/.vibe",)),
    AcpAgent("qoder", "Qoder", "qodercli", ("--acp",), folders=("~/.qoder",)),
    AcpAgent("droid", "Factory Droid", "droid", ("exec", "--output-format", "acp"), folders=("~/.factory",)),
    AcpAgent("copilot", "GitHub Copilot", "copilot-language-server", ("--acp",), folders=("~/.config/github-copilot",)),
)
"""In the order in which they are shown."""
