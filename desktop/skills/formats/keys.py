"""Every key of a skill's frontmatter: where it acts, or why it does nothing here. Silence would be a defect (D-12).

A key that does nothing, or that nobody knows, is a warning and never keeps a skill from running. Public skills carry
keys that describe them for people and for other apps: those are fine as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

from desktop.domain.model_settings import SPELLINGS
from desktop.domain.text.places import Keys, Locate
from desktop.domain.text.suggestions import nearest
from desktop.skills.formats.key_values import odd_values
from desktop.skills.names import is_bare_name
from desktop.skills.problems import Report

Place = Literal["", "metadata", "model"]
"""At the top, in ``metadata``, or in its ``model``."""

_FORMATS, _CASCADE = "skills/formats/build.py", "skills/cascade/effective.py"
_SKILLS, _POLICY = "domain/skills.py", "agents/skill/settings.py"
_INTERFACE = {"params": _SKILLS, "returns": _SKILLS, "model": "pipeline/skills/run.py"}
_OURS = dict.fromkeys(("tags", "visibility", "role", "main", "category"), _FORMATS)

ACTS: Mapping[Place, Mapping[str, str]] = {
    "": {
        **dict.fromkeys(("name", "description", "allowed-tools", "metadata"), _FORMATS),
        **dict.fromkeys(("disable-model-invocation", "user-invocable", "argument-hint", "context"), _SKILLS),
        "entry": "skills/formats/code.py",
    },
    "metadata": {
        **_OURS,
        **_INTERFACE,
        **dict.fromkeys(("activatable", "level"), _FORMATS),
        **dict.fromkeys(("$inherit", "$order", "$remove", "$local", "$global", "order", "hook"), _CASCADE),
        "network": _SKILLS,
        "retries": "pipeline/skills/wrapping.py",
        "off": "services/skills/levels.py",
    },
    "model": {
        **dict.fromkeys(("agent", "maxTurns", "maxSteps", "persistent", "contextEdit", "toolMode", "memory"), _POLICY),
        **dict.fromkeys(("history", "compaction"), "agents/skill/settings.py"),
        "model": _POLICY,
        **dict.fromkeys(SPELLINGS, "domain/model_settings.py"),
    },
}
"""By place and key the file of ``desktop`` that reads it. A middleware of one's own handles the key of its name."""

MIDDLEWARE = frozenset({"cache", "delegate", "retry", "session", "timeout"})
"""The library's: each handles the key of its name."""

_FOLDERS = "nothing acts on it in this version: relative paths start in the workspace, and all folders are searched"
_STEP = "it names a step of every call, which no skill sets"
_STEPS = (
    "event",
    "gateway",
    "frontmatter",
    "directives",
    "limits",
    "safety",
    "validate-args",
    "validate-allowed-tools",
)

IDLE: Mapping[Place, Mapping[str, str]] = {
    "": {
        "hooks": "programs are not started around calls here",
        "agent": "a skill's provider is named in metadata: {model: {agent: …}}",
        "effort": "how much a skill's model thinks is said in metadata: {model: {effort: …}}",
        "model": "a skill's model is named in metadata: {model: {model: connection/model}}",
    },
    "metadata": {
        **dict.fromkeys(("paths", "cwd", "workspace"), _FOLDERS),
        "include": "nothing acts on it in this version: put the text into the skill, or :inline[FILE]",
        "mcp": "nothing acts on it in this version: servers are declared in mcp.yaml; allowed-tools names their tools",
        "trust": "what may run unasked is for a person to say, in Approvals, Rules",
        **dict.fromkeys(_STEPS, _STEP),
    },
    "model": {"thinking": "how much a model thinks is said with effort"},
}
"""Keys that are known and do nothing, each with why, or with what to write instead."""

FOREIGN = frozenset(
    "license compatibility requires source author version tags risk dependencies date_added triggers trigger type "
    "command tools agents repo color displayName compatible_tools priority usage input output bundle homepage tier "
    "not_for skill-author updated domain frameworks python-tools short-description tech-stack connector target-market "
    "repository skill-version docs npm term-introduced mcp-server documentation support status website github "
    "skill-source skill-contributors trigger-keywords when_to_use keywords language title created date maintainer "
    "maintainers contributors copyright icon examples platforms os model-hint last-updated last_updated url "
    "category argument-hint".split()
)
"""What public skills carry for people and for other apps (counted in 2,449 of them)."""

UNCLAIMED = "key.unclaimed."
"""Begins the code of a key that a middleware of that name could handle: who knows all skills asks whether one does."""

_SAID_ELSEWHERE = ("allowedtools", "allowedtool")
"""In other spellings and places they are read all the same, with a warning of its own."""

_DEPENDS = frozenset({"entry", "order", "hook", "network", "retries"})
"""Keys that act in some skills only."""
_QUIET: Mapping[Place, frozenset[str]] = {
    place: frozenset({*acts, *((FOREIGN | MIDDLEWARE) - IDLE[place].keys())} - _DEPENDS) for place, acts in ACTS.items()
}
"""Keys about which there is nothing to say, whatever skill they are in: nearly all."""

_ALIKE = 0.84
_SHORT = 4


Given = Mapping[str, Any]


def check_keys(
    definition: Mapping[Place, Given],
    origin: tuple[str, str, str],
    where: Callable[[str], Keys],
    locate: Locate,
    report: Report,
) -> None:
    """Warn of each key that does nothing, or that nobody knows. ``definition`` has the keys by place, ``origin`` the
    skill's kind, source and role, ``where`` in the file a key of metadata stands."""
    above: dict[Place, Callable[[str], Keys]] = {
        "": lambda key: (key,),
        "metadata": where,
        "model": lambda key: (*where("model"), key),
    }
    for place, given in definition.items():
        quiet = _QUIET[place]
        for key in sorted(key for key in given if key not in quiet and isinstance(key, str)):
            code, message = _wrong(place, key, given[key], origin)
            if code:
                report.add(code, message, locate(above[place](key)), "warning")
        for key, message in odd_values(place, given):
            report.add("key.value", message, locate(above[place](key)), "warning")


def _wrong(place: Place, key: str, value: Any, origin: tuple[str, str, str]) -> tuple[str, str]:
    """(code, sentence) of a key, or two empty texts."""
    if key in ACTS[place]:
        why = _at_odds(place, key, *origin)
    else:
        why = IDLE[place].get(key, "")
    if why:
        return "key.idle", f"{key} does nothing here: {why}"
    if key in ACTS[place] or key in FOREIGN or key in MIDDLEWARE or _plain(key) in _SAID_ELSEWHERE:
        return "", ""
    like = _alike(key, (*ACTS[place], *MIDDLEWARE))
    if like:
        return "key.unknown", f"there is no key {key[:60]}; did you mean {like}?"
    # A folder may be for other apps, too: what they read is text, a mapping would configure something; x- is one's own.
    if key.startswith("x-") or (origin[0] == "folder" and not (place == "metadata" and isinstance(value, Mapping))):
        return "", ""
    if place == "metadata" and is_bare_name(key):
        return f"{UNCLAIMED}{key}", f"nothing acts on {key}: there is no key and no middleware of that name"
    return "key.unknown", f"there is no key {key[:60]}, so nothing acts on it"


def _at_odds(place: Place, key: str, kind: str, source: str, role: str) -> str:
    """Why a key that acts does not act in this skill."""
    if place == "" and key == "entry":
        return "it is for skills in code" if kind in ("markdown", "folder") else ""
    if place != "metadata":
        return ""
    if key in ("order", "hook") and role != "middleware":
        return "it is for skills with role: middleware; $order says where middleware stands around this one"
    if key == "network" and (kind not in ("python", "javascript") or role == "agent"):
        return "an agent in code reaches the world by its calls" if role == "agent" else "it is for skills in code"
    return "it is for the library's own skills" if key == "retries" and source != "library" else ""


def _alike(key: str, known: Iterable[str]) -> str:
    """The key that was probably meant: the same letters, or nearly."""
    folded = {_plain(name): name for name in known}
    if (plain := _plain(key)) in folded:
        return folded[plain]
    suggested = nearest(plain, folded, cutoff=_ALIKE) if len(plain) > _SHORT else []
    return folded[suggested[0]] if suggested else ""


def _plain(key: str) -> str:
    return key.lower().replace("_", "").replace("-", "")
