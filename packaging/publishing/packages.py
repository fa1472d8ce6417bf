"""What a package says of itself: its version and system by its name, what it may do and what is new by its content."""

import json
import re
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

_NAME = re.compile(r"assent-(?P<version>[0-9.]+)-(?P<system>[a-z]+-[a-z0-9_]+)\.tar\.(gz|xz|bz2)")
NEWS = 200


@dataclass(frozen=True)
class Package:
    """A package that is to be published."""

    path: Path
    """Its file."""
    version: str
    """Its number."""
    system: str
    """What it runs on, as linux-x86_64."""
    date: str
    """The day on which it was built."""
    unpacked: int
    """Bytes of its files."""
    rights: bytes
    """The list of what it may do."""
    news: Sequence[str]
    """What is new, a line each."""


def packages_in(folder: Path) -> list[Package]:
    """All of a folder. Raises ValueError where there is none, or one that cannot be published."""
    found = [(path, name) for path in sorted(folder.iterdir()) if (name := _NAME.fullmatch(path.name))]
    if not found:
        raise ValueError(f"{folder} holds no package that is called like assent-1.3-linux-x86_64.tar.gz")
    return [_read(path, name["version"], name["system"]) for path, name in found]


def _read(path: Path, version: str, system: str) -> Package:
    begin = f"assent/versions/{version}/"
    unpacked, rights, news, latest = 0, b"", "", 0.0
    with tarfile.open(path) as archive:
        for member in archive:
            if member.isreg() and member.name.startswith(begin):
                unpacked, latest = unpacked + member.size, max(latest, float(member.mtime))
                if member.name.endswith("/resources/rights.json"):
                    rights = _content(archive, member)
                elif member.name.endswith(("/resources/CHANGELOG.md", "/desktop/CHANGELOG.md")):
                    news = _content(archive, member).decode("utf-8")
    if not rights:
        raise ValueError(f"{path.name} holds no resources/rights.json below {begin}")
    if json.loads(rights)["version"] != version:
        raise ValueError(f"{path.name} holds the rights of {json.loads(rights)['version']}")
    return Package(path, version, system, _day(latest), unpacked, rights, lines_of(news))


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = archive.extractfile(member)
    assert file is not None
    return file.read()


def _day(seconds: float) -> str:
    return str(datetime.fromtimestamp(seconds, UTC).date())


def lines_of(changelog: str) -> list[str]:
    """The lines of the newest version in a list of changes, each as one."""
    _, _, rest = changelog.partition("\n## ")
    section = rest.partition("\n## ")[0].partition("\n")[2]
    entries = re.split(r"^- ", section, flags=re.MULTILINE)[1:]
    return [" ".join(entry.split()) for entry in entries][:NEWS]
