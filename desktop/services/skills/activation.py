"""Which skills a person's message brings in: named with ``/name`` or ``$name``, else the one it
certainly means (S-SK-5).

Their text joins the system text of the run (S-SK-4); they are not called.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from desktop.domain.skills import SkillDef
from desktop.services.skills.matching import MAX_SHOWN, SkillMatch

MAX_NAMED = 10
"""Skills that a message may name."""

_NAMED = re.compile(r"(?<![^\s(\"'\[,;])(?:/skill:|/|\$)([a-z0-9]+(?:-[a-z0-9]+)*)(?![\w/-])")


_WORDS = re.compile(r"""(?:[^\s"']|"[^"]*"|'[^']*'|["'])+""")
_ASKED = re.compile(r":arg\[([\w-]+)\]")


def named_in(text: str) -> list[str]:
    """The names a message calls for, in order, each once: ``/name``, ``/skill:name``, ``$name``."""
    return list(dict.fromkeys(_NAMED.findall(text)))[:MAX_NAMED]


def arguments_in(text: str, name: str) -> str:
    """What follows a skill's name in a message that begins with it; "" where it is named in passing."""
    first = _NAMED.match(text.lstrip())
    return text.lstrip()[first.end() :].strip() if first is not None and first[1] == name else ""


def given_in(text: str, name: str, wanted: Sequence[str]) -> dict[str, str]:
    """The arguments that follow a skill's name, as text: ``x=…`` wherever it stands, then a word, or what stands in
    quotes, for each of ``wanted`` in their order; the last one takes the rest."""
    found: dict[str, str] = {}
    rest = arguments_in(text, name)
    for word in _WORDS.finditer(rest):
        key, is_given, value = word[0].partition("=")
        if is_given and key in wanted and key not in found:
            found[key] = _unquoted(value)
            rest = rest.replace(word[0], " ", 1)
    left = [one for one in wanted if one not in found]
    for number, one in enumerate(left, 1):
        rest = rest.strip()
        first = _WORDS.match(rest)
        if first is None:
            break
        value = rest if number == len(left) else first[0]
        found[one], rest = _unquoted(value), rest[len(value) :]
    return found


def arguments_of(definition: SkillDef, body: str) -> dict[str, Any]:
    """What a skill in words can be given, in its order: the properties of ``params`` with their schemas, then what only
    its text asks for."""
    params = definition.metadata.get("params")
    declared = params.get("properties") if isinstance(params, Mapping) else None
    found: dict[str, Any] = dict(declared) if isinstance(declared, Mapping) else {}
    for asked in _ASKED.findall(body):
        found.setdefault(asked, {})
    return found


def _unquoted(text: str) -> str:
    whole = _WORDS.fullmatch(text) and len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1] if whole and text.count(text[0]) == 2 else text


def chosen(text: str, skills: Iterable[SkillDef]) -> list[SkillDef]:
    """What a message brings in, of the skills there are: those it names, else the one context skill that it certainly
    means. Only ready ones that are text."""
    usable = {skill.name: skill for skill in skills if skill.state == "ready" and skill.kind in ("markdown", "folder")}
    named = [usable[name] for name in named_in(text) if name in usable and usable[name].user_invocable]
    if named:
        return named
    found = SkillMatch(_offered(usable.values())).certain(text)
    return [] if found is None else [found]


def fitting(text: str, skills: Iterable[SkillDef]) -> list[SkillDef]:
    """The skills in words that a model may choose from for a message, best first: all where they are few."""
    offered = _offered(skills)
    return offered if len(offered) <= MAX_SHOWN else SkillMatch(offered).ranked(text)[:MAX_SHOWN]


def _offered(skills: Iterable[SkillDef]) -> list[SkillDef]:
    """The skills that a model may activate by itself."""
    found = [one for one in skills if one.state == "ready" and one.is_words and one.model_invocable]
    return sorted((one for one in found if one.visibility != "hidden"), key=lambda one: one.name)
