"""One row of the list of licences, and the texts that the rows share."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from .wheels import read_text, tidy

WHEEL, CRATE, LIBRARY, FONT, RUNTIME = "Python package", "Rust crate", "library", "font", "runtime"


@dataclass(frozen=True)
class Component:
    """Something of other makers that is handed out."""

    name: str
    version: str
    kind: str
    licence: str
    """What its authors offer, as an expression."""
    used: tuple[str, ...]
    """What we take up of it."""
    inside: tuple[str, ...] = ()
    """The packages that it came in; empty for a package."""
    copyright: str = ""
    source: str = ""
    purl: str = ""
    about: str = ""
    texts: tuple[str, ...] = ()
    """Names of texts."""


class Texts:
    """The words of licences, each kept once however often it is handed out."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._names: dict[str, str] = {}
        self.kept: dict[str, str] = {}
        for path in sorted(folder.glob("*.txt")):
            self._names[_known_by(read_text(path))] = path.stem

    def standard(self, name: str) -> str:
        """The name of SPDX's text of a licence; empty when there is none."""
        path = self._folder / f"{_plain(name)}.txt"
        if not path.is_file():
            return ""
        self.kept[path.stem] = read_text(path)
        return path.stem

    def add(self, owner: str, title: str, text: str) -> str:
        """The name under which these words are kept."""
        known_by = _known_by(text)
        name = self._names.get(known_by)
        if name is None:
            name = f"{_plain(owner)}-{_plain(title)}"
            while name in self.kept:
                name += "-2"
            self._names[known_by] = name
        self.kept.setdefault(name, self._standard_words(name) or tidy(text))
        return name

    def _standard_words(self, name: str) -> str:
        path = self._folder / f"{name}.txt"
        return read_text(path) if path.is_file() else ""


def merged(components: Iterable[Component]) -> list[Component]:
    """What came in several packages stands there once. Packages come first, each part below."""
    found: dict[tuple[str, ...], Component] = {}
    for one in components:
        key = (one.kind, one.name.lower(), one.version, one.licence)
        before = found.get(key)
        if before is None:
            found[key] = one
            continue
        inside = tuple(sorted({*before.inside, *one.inside}))
        texts = tuple(dict.fromkeys(before.texts + one.texts))
        found[key] = replace(
            before,
            inside=inside,
            texts=texts,
            copyright=before.copyright or one.copyright,
            source=before.source or one.source,
        )
    return sorted(found.values(), key=lambda one: (one.name.lower(), one.version, one.licence, one.kind))


def _known_by(text: str) -> str:
    return hashlib.sha256(re.sub(r"\W+", " ", text.lower()).strip().encode()).hexdigest()


def _plain(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9.]+", "-", name.removesuffix(".txt").removesuffix(".md")).strip("-.") or "text"
