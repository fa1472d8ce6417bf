"""What a version of Assent may do, and how that differs between two versions.

The build works the manifest out from its own code and signs it with the package; here it is read with care, because
the one of a new version was written elsewhere. What is not known of it counts as the graver case.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal

from desktop.domain.approval.judgement import Category
from desktop.domain.errors import KnownError
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.text.hidden_characters import has_half_letters
from desktop.domain.text.json_text import read_json

FORM = 1
"""The form of the manifest that is written and read here."""
BYTES = 512 * 1024
MOST = 2000
"""Rights in one manifest."""
_ID, _TITLE, _DETAIL = 120, 160, 400
"""Characters of one right."""
Change = Literal["new", "more", "other", "less", "gone"]


@dataclass(frozen=True, slots=True)
class Right:
    """One thing that a version may do."""

    id: str
    """Its name, the same in each version that has it: ``tool:bash``."""
    category: str
    """How grave it is: read, network, write or admin; what is none of them counts as admin."""
    title: str
    """What it is, in a sentence."""
    detail: str = ""
    """What holds it, or when it happens."""
    facts: tuple[str, ...] = ()
    """What belongs to it, as code has it: hosts, tools, switches that are on."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """All that a version may do."""

    version: str
    """The number of the version."""
    rights: Mapping[str, Right] = field(default_factory=dict)
    """By their names."""
    formats: Mapping[str, int] = field(default_factory=dict)
    """The newest form that it reads of what it keeps: ``database``."""


@dataclass(frozen=True, slots=True)
class RightChange:
    """One thing that another version may do and this one not, or the other way round."""

    change: Change
    """new: it may; more or less: it may more or less of it; other: the same, said in other words; gone: no longer."""
    right: Right
    """As the other version has it; of what is gone, as this one has it."""
    added: tuple[str, ...] = ()
    """Facts that the other version has besides."""
    lost: tuple[str, ...] = ()
    """Facts that it has no longer."""
    before: Right | None = None
    """As this version has it, where its words are others."""


class BadManifest(KnownError):
    """A manifest that cannot be read."""

    code = "updates.rights"


GRAVITY = ("read", "network", "write", "admin")
"""From the least grave on."""


def gravity(category: str) -> int:
    """How grave; what is not known is the gravest."""
    return GRAVITY.index(category) if category in GRAVITY else len(GRAVITY) - 1


def category_of(tool: Category) -> str:
    """The category of a tool's calls as manifests have it."""
    return {Category.READ: "read", Category.WRITE: "write"}.get(tool, "admin")


def read_manifest(text: bytes) -> Manifest:
    """Raises BadManifest for anything but a manifest of this form."""
    if len(text) > BYTES:
        raise BadManifest("The list of what this version may do is too long to be read.")
    try:
        said = read_json(text.decode("utf-8"))  # and in no other way of writing, which would be found by guessing
    except (ValueError, RecursionError):
        raise BadManifest("The list of what this version may do cannot be read.") from None
    if not isinstance(said, dict) or said.get("form") != FORM or not isinstance(said.get("rights"), list):
        raise BadManifest("The list of what this version may do has a form that this one does not know.")
    if len(said["rights"]) > MOST:
        raise BadManifest("The list of what this version may do is too long to be read.")
    rights = [_right(one) for one in said["rights"]]
    known = {right.id: right for right in rights}
    if len(known) != len(rights):
        raise BadManifest("The list of what this version may do names something twice.")
    return Manifest(str(said.get("version", ""))[:40], known, _formats(said.get("formats")))


def _formats(said: Any) -> dict[str, int]:
    found = said if isinstance(said, dict) else {}
    return {str(name)[:40]: number for name, number in list(found.items())[:20] if type(number) is int}


def _right(said: Any) -> Right:
    if not isinstance(said, dict):
        raise BadManifest("The list of what this version may do cannot be read.")
    name, title, detail = (said.get(key, "") for key in ("id", "title", "detail"))
    category, facts = said.get("category", ""), said.get("facts", [])
    texts = [name, category, title, detail, *(facts if isinstance(facts, list) else [None])]
    if not all(isinstance(one, str) for one in texts) or not all(one.strip() for one in (name, title, *facts)):
        raise BadManifest("The list of what this version may do cannot be read.")
    if max(map(len, texts)) > _DETAIL or len(name) > _ID or len(title) > _TITLE or len(facts) > 200:
        raise BadManifest("The list of what this version may do has an entry that is too long.")
    if any(map(has_half_letters, texts)):
        raise BadManifest("The list of what this version may do cannot be read.")
    return Right(name, category if category in GRAVITY else "admin", title, detail, tuple(sorted(set(facts))))


def written(manifest: Manifest) -> str:
    """The manifest as a file holds it: the same text for the same rights."""
    rights = [
        {"id": one.id, "category": one.category, "title": one.title, "detail": one.detail, "facts": list(one.facts)}
        for one in sorted(manifest.rights.values(), key=lambda one: one.id)
    ]
    said = {"form": FORM, "version": manifest.version, "formats": dict(manifest.formats), "rights": rights}
    return json.dumps(said, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def differences(here: Manifest, there: Manifest) -> tuple[RightChange, ...]:
    """What ``there`` may do otherwise than ``here``: the gravest of what is new first, at the end what is gone."""
    found = [_new(right, here.rights.get(name)) for name, right in there.rights.items()]
    gone = [RightChange("gone", right) for name, right in here.rights.items() if name not in there.rights]
    changed = [one for one in found if one is not None]
    return tuple(sorted([*changed, *gone], key=_order))


def _order(one: RightChange) -> tuple[int, int, str]:
    rank = {"other": 1, "less": 2, "gone": 3}.get(one.change, 0)
    return (rank, -gravity(one.right.category), one.right.id)


def _new(right: Right, before: Right | None) -> RightChange | None:
    if before is None:
        return RightChange("new", right, right.facts)
    other_words = (right.title, right.detail) != (before.title, before.detail)
    said = before if other_words else None
    here, there = set(before.facts), set(right.facts)
    added = tuple(one for one in right.facts if one not in here)
    lost = tuple(one for one in before.facts if one not in there)
    if added or gravity(right.category) > gravity(before.category):
        return RightChange("more", right, added, lost, said)
    if lost or gravity(right.category) < gravity(before.category):
        return RightChange("less", right, added, lost, said)
    return RightChange("other", right, before=said) if other_words else None
