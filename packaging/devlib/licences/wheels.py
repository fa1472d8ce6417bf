"""What installed wheels say of themselves: licence, texts, files, lists of parts, and what their machine code names."""

from __future__ import annotations

import csv
import importlib.metadata
import json
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path

from ..words import Stop

LOCKED = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^\s;\\]+)\s*(?P<marker>;[^\\]*)?", re.MULTILINE)
LEGAL = re.compile(r"(licen[cs]e|copying|notice|copyright|authors)[^/]*$|/licen[cs]es/", re.IGNORECASE)
NATIVE_SUFFIXES = (".so", ".dll", ".pyd", ".dylib", ".exe", ".a", ".lib", ".wasm", ".jar")
MAGIC = (b"\x7fELF", b"MZ", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"\x00asm", b"!<arch>")
FOREIGN_SUFFIXES = (".ttf", ".otf", ".woff", ".woff2", ".js", ".mjs", ".css", ".html", ".pem", ".icc", ".pfb")
CRATE = re.compile(
    rb"registry[/\\]src[/\\][^/\\\x00]{1,80}[/\\]([A-Za-z0-9_-]{1,60}?)-(\d+\.\d+[0-9A-Za-z.+-]{0,30})[/\\]"
)
MAX_TEXT = 400_000


@dataclass(frozen=True)
class Locked:
    """One line of a lock file."""

    name: str
    version: str
    conditional: bool
    """It is not for every system or Python."""


@dataclass(frozen=True)
class Listed:
    """One entry of a wheel's own list of parts (CycloneDX)."""

    name: str
    version: str
    licence: str
    authors: str
    source: str
    purl: str


class InstalledWheel:
    """One wheel as it lies in an environment."""

    def __init__(self, distribution: importlib.metadata.Distribution, site: Path) -> None:
        self._distribution = distribution
        self._metadata = distribution.metadata
        self.site = site
        self.shown_name = str(self._metadata["Name"])
        self.name = canonical(self.shown_name)
        self.version = str(self._metadata["Version"])

    @cached_property
    def files(self) -> list[str]:
        """What it laid down below the folder of packages."""
        lines = (self._distribution.read_text("RECORD") or "").splitlines()
        paths = [row[0] for row in csv.reader(lines) if row]
        return sorted(path for path in paths if not path.endswith(".pyc") and not path.startswith(("..", "/")))

    def declared(self) -> list[str]:
        """What it says its licence is, the clearest first; each may be an expression, words or a whole text."""
        said = [self._field("License-Expression"), self._field("License")]
        classifiers = self._metadata.get_all("Classifier") or []
        said += [one.rpartition(" :: ")[2] for one in classifiers if one.startswith("License ::")]
        return [one.strip() for one in said if one and one.strip() and "\n" not in one.strip() and len(one) < 200]

    def summary(self) -> str:
        """One line of what it is."""
        return self._field("Summary").strip()

    def source(self) -> str:
        """Where it says that its source is."""
        links = {}
        for line in self._metadata.get_all("Project-URL") or []:
            name, _, address = line.partition(",")
            links[name.strip().lower()] = address.strip()
        wanted = ("source", "repository", "source code", "github", "code", "homepage")
        found = next((links[name] for name in wanted if links.get(name)), "")
        return found or self._field("Home-page")

    def _field(self, name: str) -> str:
        return str((self._metadata.get_all(name) or [""])[0])

    def texts(self, without: tuple[str, ...] = ()) -> list[tuple[str, str]]:
        """Name and words of each file about its licence, in their order, ``without`` what the patterns cover."""
        found = []
        for path in self.files:
            folder, _, rest = path.partition("/")
            legal = folder.endswith(".dist-info") and LEGAL.search("/" + rest) and "/sboms/" not in path
            if legal and not matches(path, without):
                found.append((path.rpartition("/")[2], read_text(self.site / path)))
        return [(name, text) for name, text in found if text]

    @cached_property
    def natives(self) -> list[str]:
        """Files of machine code, also those without a suffix."""
        return [path for path in self.files if is_native(os.path.join(self.site, path))]

    @property
    def foreign(self) -> list[str]:
        """Fonts, pages, scripts, certificates: what seldom comes from the author of the wheel."""
        return [path for path in self.files if path.lower().endswith(FOREIGN_SUFFIXES)]

    def listed(self) -> Iterator[Listed]:
        """What its own lists of parts name."""
        for path in self.files:
            if "/sboms/" in path and path.endswith(".json"):
                yield from _listed(self.site / path)

    def crates(self, path: str) -> set[str]:
        """The Rust crates that the machine code of a file names in its messages."""
        return {name.decode() for name, _version in CRATE.findall((self.site / path).read_bytes())}


def canonical(name: str) -> str:
    """The name by which locks know it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def matches(path: str, patterns: tuple[str, ...]) -> bool:
    """Whether one of the patterns covers the path; a star also covers folders."""
    return any(fnmatch(path, pattern) for pattern in patterns)


def read_lock(path: Path) -> dict[str, Locked]:
    """Every wheel of a lock by its name."""
    found = {}
    for match in LOCKED.finditer(path.read_text("utf-8")):
        name = canonical(match["name"])
        found[name] = Locked(name, match["version"], bool(match["marker"]))
    if not found:
        raise Stop(f"{path} names no wheel.", "Make the lock again.")
    return found


def installed(site: Path, wanted: Iterable[str]) -> dict[str, InstalledWheel]:
    """The wheels of an environment that are wanted, by their names."""
    names = set(wanted)
    found = {}
    for one in importlib.metadata.distributions(path=[str(site)]):
        wheel = InstalledWheel(one, site)
        if wheel.name in names:
            found[wheel.name] = wheel
    return found


def is_native(path: str) -> bool:
    """Whether the file is machine code, by its name or its first bytes."""
    name = os.path.basename(path)
    if name.endswith(NATIVE_SUFFIXES) or ".so." in name:
        return True
    if "." in name or not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.read(8).startswith(MAGIC)


def read_text(path: Path) -> str:
    """The words of a file: one form of line ends, no spaces at the ends of lines."""
    try:
        raw = path.read_bytes()[:MAX_TEXT]
    except OSError:
        return ""
    return tidy(raw.decode("utf-8", "replace"))


def tidy(text: str) -> str:
    """The same words written the same way."""
    lines = [line.rstrip() for line in text.replace("\ufeff", "").replace("\r\n", "\n").replace("\f", "\n").split("\n")]
    return "\n".join(lines).strip("\n")


def _listed(path: Path) -> Iterator[Listed]:
    try:
        read = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise Stop(f"{path} is no list of parts: {error}", "Install the wheel again.") from None
    for entry in read.get("components", []):
        if entry.get("scope") == "excluded":
            continue
        licences = [said for one in entry.get("licenses") or [] if (said := _licence(one))]
        several = len(licences) > 1
        yield Listed(
            name=str(entry.get("name", "")),
            version=str(entry.get("version") or ""),
            licence=" AND ".join(f"({one})" if several and " OR " in one else one for one in licences),
            authors=str(entry.get("author") or ""),
            source=_source(entry),
            purl=str(entry.get("purl") or ""),
        )


def _licence(one: dict[str, object]) -> str:
    inner = one.get("license")
    named = inner if isinstance(inner, dict) else {}
    return str(one.get("expression") or named.get("id") or named.get("name") or "")


def _source(entry: dict[str, object]) -> str:
    links = entry.get("externalReferences")
    rows = [row for row in links if isinstance(row, dict)] if isinstance(links, list) else []
    found = {str(row.get("type")): str(row.get("url")) for row in rows}
    return found.get("vcs") or found.get("website") or found.get("distribution") or ""
