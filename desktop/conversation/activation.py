"""Which skills a person's message brings in: named with ``/name`` or ``$name``, else context skills that fit (S-SK-5).

Their text joins the system text of the run (S-SK-4); they are not called.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from desktop.domain.skills import SkillDef

MOST = 3
"""Context skills that come in by themselves; named ones are all taken, up to ``MOST_NAMED``."""
MOST_NAMED = 10
ENOUGH = 2
"""Words that a context skill has to share with the message."""

_NAMED = re.compile(r"(?<![^\s(\"'\[,;])(?:/skill:|/|\$)([a-z0-9]+(?:-[a-z0-9]+)*)(?![\w/-])")
_WORD = re.compile(r"[^\W\d_]{3,}")
_COMMON = frozenset(
    "and are but can for from has have how into its not one our out that the their them then there this use uses "
    "was what when where which who why will with you your all any".split()
)


def named_in(text: str) -> list[str]:
    """The names a message calls for, in order, each once: ``/name``, ``/skill:name``, ``$name``."""
    return list(dict.fromkeys(_NAMED.findall(text)))[:MOST_NAMED]


def arguments_in(text: str, name: str) -> str:
    """What follows a skill's name in a message that begins with it; "" where it is named in passing."""
    first = _NAMED.match(text.lstrip())
    return text.lstrip()[first.end() :].strip() if first is not None and first[1] == name else ""


def chosen(text: str, skills: Iterable[SkillDef]) -> list[SkillDef]:
    """What a message brings in, of the skills there are: those it names, else context skills with at least two words
    in common, the best three. Only ready ones that are text."""
    usable = {skill.name: skill for skill in skills if skill.state == "ready" and skill.kind in ("markdown", "folder")}
    named = [usable[name] for name in named_in(text) if name in usable and usable[name].user_invocable]
    if named:
        return named
    return _fitting(text, [skill for skill in usable.values() if skill.role == "context" and skill.model_invocable])


def _fitting(text: str, skills: Sequence[SkillDef]) -> list[SkillDef]:
    words = _words(text)
    scored = [(len(words & _words(f"{skill.name} {skill.description}")), skill) for skill in skills]
    fitting = [pair for pair in scored if pair[0] >= ENOUGH]
    fitting.sort(key=lambda pair: (-pair[0], pair[1].name))
    return [skill for _, skill in fitting[:MOST]]


def _words(text: str) -> set[str]:
    return {word for word in _WORD.findall(text.replace("-", " ").casefold()) if word not in _COMMON}
