"""What the value of a key of frontmatter can be. Another one acts as if the key were not there, and is said (D-12)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from desktop.domain.model_settings import KINDS, SPELLINGS
from desktop.skills.names import is_bare_name
from desktop.skills.problems import shown

Check = tuple[Callable[[Any], bool], str]
"""Whether a value can be meant, and what can, for a person."""


def odd_values(place: str, given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(key, sentence) of each value that cannot be meant. A key without a value is one that is not given, and a text
    with ``${…}`` is filled in when the skill is called."""
    checks = _VALUES[place]
    if checks.keys().isdisjoint(given):  # as in nearly all files
        return
    for key, (fits, wanted) in checks.items():
        value = given.get(key)
        if value is not None and not _is_filled_in(value) and not fits(value):
            stops = place == "model" and key != "model"
            then = "its agent does not start with that" if stops else "it counts as not given"
            yield key, f"{key} is {wanted}, not {shown(value)}; {then}"


def _is_filled_in(value: Any) -> bool:
    return isinstance(value, str) and "${" in value


def _is_flag(value: Any) -> bool:
    """Whether the value is a boolean, also as a text, which is how some files of other apps have it."""
    return isinstance(value, bool) or (isinstance(value, str) and value.strip().lower() in ("true", "false"))


def _is_count(value: Any) -> bool:
    return not isinstance(value, bool) and (value == math.inf or (isinstance(value, int) and value > 0))


def _is_names(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and all(isinstance(one, str) for one in value))


def _is_mapping(value: Any) -> bool:
    return isinstance(value, Mapping)


def _one_of(*words: str) -> Check:
    return lambda value: isinstance(value, str) and value in words, " or ".join(words)


_FLAG: Check = (_is_flag, "true or false")
_BOOL: Check = (lambda value: isinstance(value, bool), "true or false")
_COUNT: Check = (_is_count, "a whole number of at least 1")
_MAPPING: Check = (_is_mapping, "a mapping")
_NAMES: Check = (_is_names, "a name or a list of names")
_MODEL: Check = (lambda value: isinstance(value, str) and value.strip().find("/") > 0, "connection/model")
_SETTINGS: Check = (lambda value: _is_mapping(value) or _MODEL[0](value), "a mapping of settings, or connection/model")
_INHERITED: Check = (lambda value: value is False or _is_names(value), "a name, a list of names, or false")
_HINT: Check = (lambda value: not isinstance(value, (bool, int, float, Mapping)), "a text or a list")
_HISTORY: Check = (lambda value: isinstance(value, str) and is_bare_name(value), "thread, none or the name of a skill")
_STRATEGIES: Check = (
    lambda value: all(
        isinstance(one, str) and is_bare_name(one) for one in (value if isinstance(value, list) else [value])
    ),
    "shrink-results, or names of skills that choose the messages that stay",
)
_PROVIDER: Check = (lambda value: isinstance(value, str) and is_bare_name(value), "the name of a provider skill")

_VALUES: Mapping[str, Mapping[str, Check]] = {
    "": {
        "disable-model-invocation": _FLAG,
        "user-invocable": _FLAG,
        "argument-hint": _HINT,
        "context": _one_of("fork"),
    },
    "metadata": {
        "model": _SETTINGS,
        "$inherit": _INHERITED,
        "$order": _MAPPING,
        "$remove": _NAMES,
        "$local": _MAPPING,
        "$global": _MAPPING,
        "order": _MAPPING,
        "hook": _one_of("$next", "$invoke"),
        "network": _BOOL,
        "retries": _BOOL,
        "main": _BOOL,
        "off": _BOOL,
    },
    "model": {
        "agent": _PROVIDER,
        "maxTurns": _COUNT,
        "maxSteps": _COUNT,
        "persistent": _BOOL,
        "contextEdit": _BOOL,
        "history": _HISTORY,
        "compaction": _STRATEGIES,
        "toolMode": _one_of("direct", "code", "both"),
        "memory": _MAPPING,
        "model": _MODEL,
        **{spelled: (KINDS[name].fits, KINDS[name].wanted) for spelled, name in SPELLINGS.items()},
    },
}
