"""What a repository brings beside what was taken of it: the same, other text, more reach, new, gone. Blocks."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.text.places import FormatError
from desktop.pipeline.skill_tool import category_of
from desktop.skills.catalogue.pins import Difference, FileDifference
from desktop.skills.catalogue.scan import FOLDER_FILES
from desktop.skills.formats.folder import FolderFile
from desktop.skills.formats.loader import decode, read_bytes
from desktop.skills.formats.markdown import first_section
from desktop.skills.importing.staging import Candidate, looked_at
from desktop.skills.repositories.lock import Taken
from desktop.skills.repositories.offers import Brought, RepositoryOffer
from desktop.skills.repositories.reach import ROWS, Reach, Row, reach_of
from desktop.skills.repositories.shelf import Source, main_of

Status = Literal["same", "text", "reach", "new", "gone", "problem"]
"""``text``: other words, and it may reach no more than before; ``reach``: it may, or code of it is another."""


@dataclass(frozen=True, slots=True)
class Item:
    """One thing of a repository."""

    key: tuple[str, str]
    """What names it, in every commit."""
    kind: str
    """skill | agent | command | server."""
    status: Status
    """How the newest is beside what was taken."""
    offer: RepositoryOffer | None = None
    """As it is in the newest commit; None: gone from it."""
    taken: Taken | None = None
    """As it was taken; None: not taken."""
    before: Reach | None = None
    """What it could reach as it was taken."""
    more: frozenset[Row] = frozenset()
    """The rows of its reach that grew."""
    behind: str = ""
    """The source of another skill of its name, which agents go on getting."""
    instead: str = ""
    """The source of another skill of its name, which they would no longer get."""
    kept: bool = False
    """Whether the person said that they keep what they have."""

    @property
    def name(self) -> str:
        return self.key[1]

    @property
    def rel(self) -> str:
        """Its file in the repository."""
        return self.offer.rel if self.offer is not None else self.taken.rel if self.taken is not None else ""

    @property
    def category(self) -> str:
        """What its calls would be, "" for what is no skill."""
        found = self.offer.definition if self.offer is not None else None
        return category_of(replace(found, source="shared")).value if found is not None else ""

    @property
    def takeable(self) -> bool:
        """Whether it can be taken as it is now."""
        return self.offer is not None and self.offer.usable

    @property
    def changed(self) -> bool:
        """Whether it waits for the person's word."""
        return self.taken is not None and self.status in ("text", "reach", "gone") and not self.kept

    @property
    def in_order(self) -> bool:
        """Whether nothing speaks against taking it unseen beside many others."""
        return self.takeable and self.taken is None and not self.behind and not self.instead and self.kind != "server"


@dataclass(frozen=True, slots=True)
class SourceView:
    """A repository with what it brings."""

    source: Source
    """What is known of it."""
    items: tuple[Item, ...] = ()
    """What it brings, and what was taken of it."""
    looked: bool = True
    """Whether it was looked at to the end at all."""
    paths: tuple[str, ...] = ()
    """The file of each skill that was taken."""
    hooks: int = 0
    """Events on which its plugins would run something, which is never taken."""
    modules: int = 0
    """Other repositories inside it, which are not followed."""
    more: bool = False
    """Whether it brings more than is listed."""

    @property
    def changed(self) -> int:
        """How many of what was taken wait for the person's word."""
        return sum(item.changed for item in self.items)

    @property
    def taken(self) -> int:
        """How many were taken."""
        return sum(item.taken is not None for item in self.items)

    @property
    def can_go_back(self) -> bool:
        """Whether there is something else that was taken before the last change."""
        return self.source.before is not None and self.source.before != self.source.taken

    def seen(self, keys: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
        """The digests of these as they are shown, "" for one that cannot be taken."""
        shown = {one.key: one.offer.digest for one in self.items if one.offer is not None and one.takeable}
        return {key: shown.get(key, "") for key in keys}


Stands = Callable[[RepositoryOffer], tuple[str, bool]]


def compared(source: Source, found: Brought | None, place: Path, stands: Stands) -> SourceView:
    """What was taken, beside the newest."""
    have = {one.key: one for one in source.taken}
    lying = _lying(place)
    items: list[Item] = []
    seen: set[tuple[str, str]] = set()
    for offer in found.offers if found is not None else ():
        first = offer.key not in seen
        taken = (
            have.get(offer.key) if first and (offer.usable or found is None or found.find(offer.key) is offer) else None
        )
        if taken is not None:
            seen.add(offer.key)
        items.append(_item(source, offer, taken, lying, place, stands))
    for key, taken in have.items():
        if key not in seen:
            kept = source.kept.get("/".join(key)) == "gone"
            items.append(Item(key, taken.kind, "gone", None, taken, _reach(lying, place, taken), kept=kept))
    order = {"reach": 0, "text": 1, "gone": 1, "same": 2, "new": 3, "problem": 4}
    items.sort(key=lambda one: (one.taken is None, order[one.status] if one.taken is None else 0, one.name))
    facts = found.facts if found is not None else None
    return SourceView(
        source,
        tuple(items),
        found is not None,
        tuple(str(main_of(place, one)) for one in source.taken if one.kind != "server"),
        found.hooks if found is not None else 0,
        facts.modules if facts is not None else 0,
        facts.more if facts is not None else False,
    )


def _item(
    source: Source,
    offer: RepositoryOffer,
    taken: Taken | None,
    lying: Mapping[str, Candidate],
    place: Path,
    stands: Stands,
) -> Item:
    if taken is None:
        behind, before = stands(offer) if offer.usable else ("", False)
        status: Status = "new" if offer.usable else "problem"
        where = ("", behind) if before else (behind, "")
        return Item(offer.key, offer.kind, status, offer, behind=where[0], instead=where[1])
    if not offer.usable:
        return Item(offer.key, offer.kind, "problem", offer, taken, _reach(lying, place, taken))
    kept = source.kept.get("/".join(offer.key)) == offer.digest
    before_reach = _reach(lying, place, taken)
    if offer.digest == taken.digest:
        return Item(offer.key, offer.kind, "same", offer, taken, before_reach)
    more = _more(offer, taken, before_reach, lying, place)
    status = "reach" if more else "text"
    return Item(offer.key, offer.kind, status, offer, taken, before_reach, more, kept=kept)


def _more(
    offer: RepositoryOffer, taken: Taken, before: Reach | None, lying: Mapping[str, Candidate], place: Path
) -> frozenset[Row]:
    if before is None:  # nothing to compare it with: then it may be anything
        return frozenset(ROWS)
    more = set(offer.reach.more_than(before))
    main = main_of(place, taken)
    old = lying.get(_rel(place, main))
    if offer.definition is not None and offer.definition.is_code:
        more.add("Scripts")
    if old is not None and offer.main is not None:
        both = set(offer.scripts) & set(old.scripts)
        changed = any(_bytes(offer.main.parent / one) != _bytes(main.parent / one) for one in both)
        more |= {"Scripts"} if changed else set()
    return frozenset(more)


def _lying(place: Path) -> dict[str, Candidate]:
    """What was taken as it lies there now, by its file."""
    if not place.is_dir():
        return {}
    return {one.rel: one for one in looked_at(place, most=10_000).candidates}


def _reach(lying: Mapping[str, Candidate], place: Path, taken: Taken) -> Reach | None:
    found = lying.get(_rel(place, main_of(place, taken)))
    if found is None or found.definition is None:
        return None
    return reach_of(found.definition, found.scripts)


def _rel(place: Path, path: Path) -> str:
    return os.path.relpath(path, place).replace(os.sep, "/")


# -- text -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ItemDetail:
    """One item, read. ``text`` is what its own file says below its frontmatter, as it is newest, else as it was taken;
    ``files`` have their sizes, and its own is the first."""

    difference: Difference
    text: str
    files: tuple[FolderFile, ...]


def detail_of(item: Item, place: Path) -> ItemDetail:
    """File by file, the skill's own first: what was taken as it lies there, and what is newest."""
    before: dict[str, Path] = {}
    if item.taken is not None and item.kind != "server":
        main = main_of(place, item.taken)
        found = _lying(place).get(_rel(place, main))
        before = _files(main, found.files if found is not None else ())
    after: dict[str, Path] = {}
    offer = item.offer
    if offer is not None and offer.main is not None:
        after = _files(offer.main, offer.files)
    parts = [FileDifference(name, _text(before.get(name)), _text(after.get(name))) for name in _ordered(before, after)]
    if offer is not None and offer.server is not None:
        parts = [FileDifference(os.path.basename(offer.rel), None, offer.text)]
    changed = [one for one in parts if one.before != one.after or one.before is None]
    if item.taken is not None:
        changed = [one for one in changed if _differs(before.get(one.name), after.get(one.name))]
    difference = Difference(item.rel, offer.digest if offer is not None else "", tuple(changed))
    now = after or before
    own = next(iter(_ordered(now)), "")
    text = offer.text if offer is not None and offer.server is not None else _body(_text(now.get(own)) or "")
    sizes = tuple(FolderFile(name, _size(now[name])) for name in _ordered(now))
    return ItemDetail(difference, text, sizes)


def _body(text: str) -> str:
    """Without its frontmatter."""
    try:
        return text[first_section(text).body_at :]
    except FormatError:
        return text


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _files(main: Path, files: Iterable[FolderFile]) -> dict[str, Path]:
    own = "SKILL.md" if main.name in FOLDER_FILES else main.name
    return {own: main, **{one.path: main.parent / one.path for one in files}}


def _ordered(*maps: Mapping[str, Path]) -> list[str]:
    names = {name for one in maps for name in one}
    return sorted(names, key=lambda name: (name != "SKILL.md", name.count("/"), name))


def _differs(before: Path | None, after: Path | None) -> bool:
    if before is None or after is None:
        return True
    return _bytes(before) != _bytes(after)


def _bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _text(path: Path | None) -> str | None:
    """None for no file, or none that can be shown."""
    if path is None:
        return None
    try:
        return decode(read_bytes(str(path))[0])
    except FormatError:
        return None
