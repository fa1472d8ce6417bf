"""Reads ``resources/licences``: what the app is made of, and the words of each licence.

The package command writes it (``packaging/devlib/licences``); a self-contained folder adds a second list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from desktop.domain.errors import KnownError
from desktop.domain.licences.part import LicencedPart
from desktop.domain.text.json_text import read_json

LISTS = ("components.json", "folder.json")
TEXT_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,150}")
MAX_LIST = 4_000_000
MAX_TEXT = 500_000
"""Bytes; the longest has 70,000."""
MAX_PARTS = 10_000
AGAIN = "Install Assent again; its own files are damaged."


class LicenceList:
    """The lists and texts below one folder. Each method blocks."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def parts(self) -> tuple[LicencedPart, ...]:
        """Every part by its name. Raises KnownError when the list is not to be used."""
        found: list[LicencedPart] = []
        for name in LISTS:
            path = self._folder / name
            if name != LISTS[0] and not path.exists():
                continue
            found += self._read(path)
        return tuple(sorted(found[:MAX_PARTS], key=lambda part: (part.name.lower(), part.version)))

    def text(self, name: str) -> str:
        """The words of a licence. Raises KnownError when they are not there."""
        if not TEXT_NAME.fullmatch(name):
            raise KnownError(f"“{name[:80]}” is no name of a licence.", code="licences.text", next_step=AGAIN)
        return _words(self._folder / "texts" / f"{name}.txt", MAX_TEXT)

    def _read(self, path: Path) -> Iterator[LicencedPart]:
        try:
            read = read_json(_words(path, MAX_LIST))
        except (ValueError, RecursionError):
            raise KnownError("The list of licences is damaged.", code="licences.list", next_step=AGAIN) from None
        rows = read.get("components") if isinstance(read, Mapping) else None
        if not isinstance(rows, list):
            raise KnownError("The list of licences is damaged.", code="licences.list", next_step=AGAIN)
        for row in rows:
            if isinstance(row, Mapping) and row.get("name"):
                yield _part(row)


def _part(row: Mapping[str, Any]) -> LicencedPart:
    return LicencedPart(
        name=_text(row, "name"),
        version=_text(row, "version"),
        kind=_text(row, "kind"),
        licence=_text(row, "licence"),
        used=" AND ".join(_texts(row, "used")),
        inside=_texts(row, "inside"),
        copyright=_text(row, "copyright"),
        source=_text(row, "source"),
        about=_text(row, "about"),
        texts=_texts(row, "texts"),
    )


def _text(row: Mapping[str, Any], key: str) -> str:
    return str(row.get(key) or "")[:10_000]


def _texts(row: Mapping[str, Any], key: str) -> tuple[str, ...]:
    found = row.get(key)
    return tuple(str(one)[:200] for one in found[:100]) if isinstance(found, list) else ()


def _words(path: Path, most: int) -> str:
    try:
        with path.open("rb") as file:
            read = file.read(most + 1)
    except OSError as error:
        raise KnownError(
            f"{path.name} cannot be read: {error.strerror}.", code="licences.read", next_step=AGAIN
        ) from None
    if len(read) > most:
        raise KnownError(f"{path.name} is far too long.", code="licences.read", next_step=AGAIN)
    return read.decode("utf-8", "replace")
