"""What ``model`` in a skill's frontmatter says about its agent, checked before anything runs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal

from desktop.domain.errors import ConfigurationError
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.model_settings import UNSAID, ModelSettings, settings_from
from desktop.domain.models import ModelRef
from desktop.domain.runs.agent import SHRINK_RESULTS
from desktop.domain.runs.limits import Limit, positive_int
from desktop.domain.skills import SkillDef
from desktop.skills.names import is_bare_name

MAX_TURNS = 30
MAX_STEPS = 30
PROVIDER = "agent-litellm"
MODES = ("direct", "code", "both")
THREAD, NO_HISTORY = "thread", "none"

ToolMode = Literal["direct", "code", "both"]


@dataclass(frozen=True, slots=True)
class PolicySettings:
    """The keys below ``model`` in a skill's frontmatter. The limits name where they were set (R-LIM-5); both are
    infinite for a persistent agent unless it says otherwise (R-PER-2)."""

    rounds: Limit
    """``maxTurns``."""
    calls: Limit
    """``maxSteps`` (C-17)."""
    provider: str = PROVIDER
    """The skill that works for the agent."""
    mode: ToolMode = "direct"
    """How the agent calls its tools."""
    persistent: bool = False
    """Whether it waits for messages when it has answered."""
    context_edit: bool = False
    """Whether it gives up for good what its window left out (S-AG-2)."""
    memory: Mapping[str, Any] = field(default_factory=dict)
    """What its code starts out knowing (R-COD-11)."""
    history: str = THREAD
    """What the agent reads of what was said before: the thread, nothing (``none``), or what a skill gives."""
    compaction: tuple[str, ...] = ()
    """Names of strategies, and of skills that are ones."""
    model: ModelRef | None = None
    """The model that it names; None: whoever calls it, or the thread, says which."""
    request: ModelSettings = UNSAID
    """Temperature, effort and the like."""

    @classmethod
    def of(cls, config: Mapping[str, Any], where: str, *, returns: bool = False) -> PolicySettings:
        """Raises ConfigurationError that names the key (R-LIM-7, R-RET-7)."""
        persistent = _flag(config, "persistent")
        if persistent and returns:
            raise ConfigurationError(
                "persistent and returns exclude each other: a persistent agent never ends with a value.",
                next_step="Take one of the two out of the skill's metadata.",
            )
        provider, mode = config.get("agent", PROVIDER), config.get("toolMode", "direct")
        if not isinstance(provider, str) or not is_bare_name(provider):
            raise ConfigurationError(f"model.agent has to be the name of a provider skill, not {provider!r:.80}.")
        if mode not in MODES:
            raise ConfigurationError(f"model.toolMode has to be one of {', '.join(MODES)}, not {mode!r:.80}.")
        rounds = _limit(config, "maxTurns", MAX_TURNS, where)
        if persistent:
            rounds = Limit("maxTurns", math.inf, "persistent mode")
        calls = _limit(config, "maxSteps", math.inf if persistent else MAX_STEPS, where)
        memory = config.get("memory", {})
        if not isinstance(memory, Mapping):
            raise ConfigurationError(
                f"model.memory has to be a mapping of what code starts out with, not {memory!r:.80}."
            )
        history = config.get("history", THREAD)
        if not isinstance(history, str) or not is_bare_name(history):
            raise ConfigurationError(
                f"model.history has to be thread, none or the name of a skill, not {history!r:.80}."
            )
        return cls(
            rounds,
            calls,
            provider,
            mode,
            persistent,
            _flag(config, "contextEdit"),
            memory,
            history,
            strategy_names(config),
            named_model(config),
            settings_from(config, where, "model."),
        )


def named_model(config: Mapping[str, Any]) -> ModelRef | None:
    """The model that ``model`` names, as ``connection/model``; a prompt that names it badly names none (C-20)."""
    text = config.get("model")
    ref = ModelRef.parse(text.strip()) if isinstance(text, str) else ModelRef("", "")
    return ref if ref.connection_id and ref.model else None


def named_by(skill: SkillDef | None) -> ModelRef | None:
    """The model that a skill names in its metadata, as ``model: {model: …}`` (C-20, R-SES-24); None: it names none."""
    given = skill.metadata.get("model") if skill is not None else None
    return named_model(given if isinstance(given, Mapping) else {"model": given})


def standing(skill: SkillDef | None, name: str) -> str:
    """The skill in words, with the file and line where a value of its ``model`` is wrong, as far as that is known."""
    wrong = next((one for one in skill.problems if one.code == "key.value"), None) if skill is not None else None
    return f"the skill {name}, {wrong.path}:{wrong.line}" if wrong is not None else f"the skill {name}"


def strategy_names(config: Mapping[str, Any]) -> tuple[str, ...]:
    """What ``compaction`` names, one or a list. Raises ConfigurationError."""
    asked = config.get("compaction") or ()
    names = (asked,) if isinstance(asked, str) else asked
    if not isinstance(names, (list, tuple)) or not all(isinstance(one, str) and is_bare_name(one) for one in names):
        raise ConfigurationError(
            f"model.compaction has to name {SHRINK_RESULTS} or skills that condense a conversation, not {asked!r:.80}."
        )
    return tuple(names)


def _flag(config: Mapping[str, Any], name: str) -> bool:
    value = config.get(name, False)
    if not isinstance(value, bool):
        raise ConfigurationError(f"model.{name} has to be true or false, not {value!r:.80}.")
    return value


def _limit(config: Mapping[str, Any], name: str, default: float, where: str) -> Limit:
    asked = config.get(name)
    if asked is None:
        return Limit(name, default, "the agent's default")
    if asked == math.inf and not isinstance(asked, bool):
        return Limit(name, math.inf, where)
    return Limit(name, positive_int(asked, f"model.{name}"), where)
