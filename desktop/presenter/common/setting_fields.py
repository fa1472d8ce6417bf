"""The settings of a model as fields of a form: what stands in each, what was written, and what a model takes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.model_settings import EFFORTS, KINDS, SPELLINGS, ModelTraits
from desktop.domain.text.json_text import read_json

MAX_TEXT = 4_000
"""Characters of a field that are read."""


@dataclass(frozen=True, slots=True)
class SettingField:
    """One field: the setting's name, what stands above it, how files spell it, an example, and what is said below."""

    name: str
    caption: str
    key: str
    hint: str = ""
    about: str = ""


FIELDS = (
    SettingField("temperature", "Temperature", "temperature", "0.2", "0 to 2: how freely it chooses its words"),
    SettingField("top_p", "Top p", "topP", "0.9", "0 to 1: from which part of the likely words"),
    SettingField("max_tokens", "Longest answer", "maxTokens", "2000", "In tokens"),
    SettingField("seed", "Seed", "seed", "7", "The same seed asks for the same answer"),
    SettingField("effort", "Effort", "effort", "", "How much it thinks"),
    SettingField("region", "Region", "region", "eu-central-1", "Where a cloud asks it"),
    SettingField("stop", "Stop at", "stop", "END", "Texts that end an answer, one a line; \\n is a line break"),
)
"""In the order in which they are shown."""
BY_NAME = {field.name: field for field in FIELDS}
LEFT_OUT = "left out"


def spelled(values: Mapping[str, Any], name: str) -> str:
    """The key under which ``values`` say a setting, or that which files usually have."""
    kind = KINDS[name]
    return next((key for key in kind.spellings if values.get(key) is not None), BY_NAME[name].key)


def text_of(name: str, value: Any) -> str:
    """A value as its field shows it."""
    if value is None:
        return ""
    if name == "stop":
        texts = [value] if isinstance(value, str) else value if isinstance(value, (list, tuple)) else [str(value)]
        return "\n".join(str(text).replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t") for text in texts)
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return value if isinstance(value, str) else json.dumps(value, default=str)


def value_in(name: str, text: str) -> tuple[Any, str]:
    """(value, what is wrong with it) of a field; None where it is empty. What is wrong is given as it was written."""
    text = text[:MAX_TEXT]
    if not text.strip():
        return None, ""
    value: Any = _stops(text) if name == "stop" else text.strip()
    if name in ("temperature", "top_p", "max_tokens", "seed"):
        value = _number(value)
    return value, "" if KINDS[name].fits(value) else f"This has to be {KINDS[name].wanted}."


def _stops(text: str) -> list[str]:
    held = "\0"
    plain = (line.replace("\\\\", held).replace("\\n", "\n").replace("\\t", "\t") for line in text.split("\n"))
    return [line.replace(held, "\\") for line in plain if line]


def _number(text: str) -> Any:
    """A number, written with a point or a comma; anything else stays what it is."""
    plain = text.replace(" ", "").replace("_", "")
    plain = plain.replace(",", ".") if plain.count(",") == 1 and "." not in plain else plain
    try:
        value = read_json(plain, parse_constant=lambda _name: text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else text


def not_taken(traits: ModelTraits, name: str, value: Any) -> str:
    """That the model does not take a setting, or that level of it; "" where it does, or nothing is known."""
    if name == "effort" and traits.efforts is not None:
        if not traits.efforts:
            return f"This model does not think: {LEFT_OUT}."
        if value is not None and value not in traits.efforts:
            return f"This model has {', '.join(traits.efforts)}."
        return ""
    return f"This model does not take it: {LEFT_OUT}." if traits.settings.get(name) is False else ""


def levels(traits: ModelTraits) -> tuple[str, ...]:
    """The levels of effort to choose from."""
    return traits.efforts or EFFORTS


def settings_words(values: Mapping[str, Any]) -> str:
    """What is said, in a line: ``temperature 0.2, effort low``."""
    said = []
    for field in FIELDS:
        value = values.get(spelled(values, field.name))
        if value is not None:
            text = text_of(field.name, value).replace("\n", " ")
            said.append(f"{field.caption.lower()} {text[:24]}{'…' if len(text) > 24 else ''}")
    return ", ".join(said)


def wrong_in(problems: Mapping[str, str]) -> dict[str, str]:
    """Sentences by a setting's name, out of those by the key as it was written."""
    return {SPELLINGS[key]: text for key, text in problems.items() if key in SPELLINGS and text}
