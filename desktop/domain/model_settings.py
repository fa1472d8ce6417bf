"""What a request says to a model beside the conversation (temperature, effort and the like), and what a model takes.

``read_settings`` is the one reader of such settings, whoever says them: the file of a skill or an agent, a side, a
chat, a job, a form or the command line.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import field, fields
from typing import Any

from desktop.domain.errors import ConfigurationError
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.loading.lazy_pattern import lazy_pattern

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
"""How much a model may think, the least first."""
MAX_TOKENS = 10_000_000
MAX_STOPS, MAX_STOP = 16, 200
_REGION = lazy_pattern(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?")
_WHOLE = 2**63


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """Settings of a request; None: not said, so that the model's own hold."""

    temperature: float | None = None
    """How freely it chooses its words."""
    top_p: float | None = None
    """From which part of the likely words it chooses."""
    top_k: int | None = None
    """From how many of the likely words it chooses."""
    max_tokens: int | None = None
    """The most tokens of one answer."""
    seed: int | None = None
    """The same seed asks for the same answer."""
    stop: tuple[str, ...] | None = None
    """Texts that end an answer."""
    effort: str | None = None
    """How much it thinks, one of ``EFFORTS``."""
    region: str | None = None
    """Where a cloud asks it."""

    def over(self, other: ModelSettings) -> ModelSettings:
        """These settings, and the other ones for what they leave open."""
        return ModelSettings(*(mine if mine is not None else theirs for mine, theirs in zip(self, other, strict=True)))

    def plain(self) -> dict[str, Any]:
        """What is said, by name, as plain data."""
        said = {name: value for name, value in zip(NAMES, self, strict=True) if value is not None}
        return said | ({"stop": list(self.stop)} if self.stop is not None else {})

    def __iter__(self) -> Any:
        return iter([getattr(self, name) for name in NAMES])


NAMES = tuple(one.name for one in fields(ModelSettings))
"""The names of the settings."""
UNSAID = ModelSettings()


@dataclass(frozen=True, slots=True)
class WrongSetting:
    """A value that no model takes: its key as it was written, and what is wrong."""

    key: str
    text: str


@dataclass(frozen=True, slots=True)
class _Kind:
    """One setting: how it may be spelled, what fits, and what would, in words."""

    spellings: tuple[str, ...]
    fits: Callable[[Any], bool]
    wanted: str
    read: Callable[[Any], Any] = lambda value: value


def _number(least: float, most: float) -> Callable[[Any], bool]:
    def fits(value: Any) -> bool:
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return number and math.isfinite(value) and least <= value <= most

    return fits


def _whole(least: int, most: int) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _stops(value: Any) -> bool:
    texts = [value] if isinstance(value, str) else value
    fits = isinstance(texts, (list, tuple)) and 0 < len(texts) <= MAX_STOPS
    return fits and all(isinstance(one, str) and 0 < len(one) <= MAX_STOP for one in texts)


KINDS: Mapping[str, _Kind] = {
    "temperature": _Kind(("temperature",), _number(0, 2), "a number from 0 to 2", float),
    "top_p": _Kind(("top_p", "topP"), _number(0, 1), "a number from 0 to 1", float),
    "top_k": _Kind(("top_k", "topK"), _whole(1, 1_000_000), "a whole number of at least 1"),
    "max_tokens": _Kind(("max_tokens", "maxTokens"), _whole(1, MAX_TOKENS), f"a whole number from 1 to {MAX_TOKENS:,}"),
    "seed": _Kind(("seed",), _whole(-_WHOLE, _WHOLE - 1), "a whole number"),
    "stop": _Kind(
        ("stop",),
        _stops,
        f"a text or up to {MAX_STOPS} texts, each of 1 to {MAX_STOP} characters",
        lambda value: (value,) if isinstance(value, str) else tuple(value),
    ),
    "effort": _Kind(
        ("effort", "reasoning_effort", "reasoningEffort"),
        lambda value: isinstance(value, str) and value in EFFORTS,
        f"{', '.join(EFFORTS[:-1])} or {EFFORTS[-1]}",
    ),
    "region": _Kind(
        ("region",),
        lambda value: isinstance(value, str) and _REGION.fullmatch(value) is not None,
        "the name of a region, such as eu-central-1",
    ),
}
"""By name what each setting takes."""
SPELLINGS: Mapping[str, str] = {spelled: name for name, kind in KINDS.items() for spelled in kind.spellings}
"""The setting that each key means."""


def read_settings(given: Mapping[str, Any]) -> tuple[ModelSettings, tuple[WrongSetting, ...]]:
    """The settings that a mapping holds, and each value in it that is wrong; other keys are none of its business. A key
    without a value is one that is not given."""
    found: dict[str, Any] = {}
    wrong: list[WrongSetting] = []
    for key, name in SPELLINGS.items():
        value, kind = given.get(key), KINDS[name]
        if value is None:
            continue
        if not kind.fits(value):
            wrong.append(WrongSetting(key, f"{key} has to be {kind.wanted}, not {_shown(value)}"))
        elif name in found:
            wrong.append(WrongSetting(key, f"{key} is said twice, the second time as {_shown(value)}"))
        else:
            found[name] = kind.read(value)
    return ModelSettings(**found), tuple(wrong)


def settings_from(given: Mapping[str, Any], where: str, path: str = "") -> ModelSettings:
    """The same, for whoever cannot go on with a wrong value. ``where`` says whose it is, ``path`` what stands before
    its key. Raises ConfigurationError that names every wrong one."""
    settings, wrong = read_settings(given)
    if wrong:
        texts = "; ".join(path + one.text for one in wrong)
        raise ConfigurationError(f"{texts} ({where}).", next_step="Correct it and try again.")
    return settings


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


@dataclass(frozen=True, slots=True)
class ModelTraits:
    """What a model takes and can do beside text and tools, as far as it is known; None: unknown."""

    settings: Mapping[str, bool] = field(default_factory=dict)
    """By name of a setting whether it takes it."""
    efforts: tuple[str, ...] | None = None
    """The levels of effort that it has, the least first; (): it does not think."""
    structured: bool | None = None
    """Whether it can be held to a JSON Schema."""
    pictures: bool | None = None
    """Whether it takes images, as a person knows."""
    tools: bool | None = None
    """Whether it calls tools, as a person knows."""
    context: int | None = None
    """Tokens that it reads, as a person knows."""

    def over(self, other: ModelTraits) -> ModelTraits:
        """What is known here, and of the rest what the other knows."""
        names = ("efforts", "structured", "pictures", "tools", "context")
        own = {name: getattr(self if getattr(self, name) is not None else other, name) for name in names}
        return ModelTraits({**other.settings, **self.settings}, **own)

    def plain(self) -> dict[str, Any]:
        """As plain data, for the process that asks models."""
        efforts = None if self.efforts is None else list(self.efforts)
        return {"settings": dict(self.settings), "efforts": efforts, "structured": self.structured}


UNKNOWN = ModelTraits()
MAX_CONTEXT = 100_000_000
_FLAGS = {"schema": "structured", "pictures": "pictures", "tools": "tools"}
"""What else can be corrected with yes or no, and what it is called here."""


def correction_in(line: str) -> tuple[str, ModelTraits, str]:
    """What a person knows better of a model: ``connection/model effort=low,high temperature=no pictures=yes
    context=32000``. Its name, what is known, and what is wrong with the line, or ""."""
    name, *words = line.split()
    if name.find("/") < 1 or not words:
        return name, UNKNOWN, "write connection/model, and then what it takes"
    known = UNKNOWN
    for word in words:
        key, _, said = word.partition("=")
        found, wrong = _corrected(key, said)
        if wrong:
            return name, UNKNOWN, wrong if wrong != word else _not_one(word)
        known = found.over(known)
    return name, known, ""


def _corrected(key: str, said: str) -> tuple[ModelTraits, str]:
    """What one word of a correction says, or what is wrong with it; the word itself where it is no correction."""
    setting, is_so = SPELLINGS.get(key), said == "yes"
    if setting == "effort" and said not in ("yes", "no"):
        levels = said.split(",")
        efforts = tuple(one for one in EFFORTS if one in levels)
        if len(efforts) != len(levels):
            return UNKNOWN, f"{key} is no, or levels among {', '.join(EFFORTS)}"
        return ModelTraits({"effort": True}, efforts), ""
    if key == "context":
        fits = said.isascii() and said.isdecimal() and len(said) < 12 and 1 <= int(said) <= MAX_CONTEXT
        return (ModelTraits(context=int(said)), "") if fits else (UNKNOWN, "context is a whole number of tokens")
    if said not in ("yes", "no") or (setting is None and key not in _FLAGS):
        return UNKNOWN, f"{key}={said}" if said else key
    if setting is not None:
        return ModelTraits({setting: is_so}, () if setting == "effort" and not is_so else None), ""
    made = {"schema": ModelTraits(structured=is_so), "pictures": ModelTraits(pictures=is_so)}
    return made.get(key, ModelTraits(tools=is_so)), ""


def _not_one(word: str) -> str:
    names = ", ".join((*NAMES, *_FLAGS))
    return f"{word[:40]} is no correction: write yes or no for one of {names}"


def correction_line(ref: str, traits: ModelTraits) -> str:
    """The line that says so; "" where nothing is known better, or the name cannot stand in one."""
    words = [f"{name}={'yes' if is_so else 'no'}" for name, is_so in traits.settings.items() if name != "effort"]
    if traits.efforts is not None:
        words.append(f"effort={','.join(traits.efforts) or 'no'}")
    elif "effort" in traits.settings:
        words.append(f"effort={'yes' if traits.settings['effort'] else 'no'}")
    flags = ((key, getattr(traits, name)) for key, name in _FLAGS.items())
    words += [f"{key}={'yes' if is_so else 'no'}" for key, is_so in flags if is_so is not None]
    words += [f"context={traits.context}"] if traits.context is not None else []
    return " ".join((ref, *words)) if words and len(ref.split()) == 1 else ""
