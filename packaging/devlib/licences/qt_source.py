"""The third-party code inside Qt, read from Qt's own sources: its wheels say nothing of it.

``python3 packaging/dev.py licences --qt-source DIR`` writes ``packaging/licences/qt.json`` from an unpacked source of
qtbase (and of qtsvg) of the version that the lock has, or the nearest one to be had.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from ..words import Stop

NOT_IN_LINUX = {
    "D3D12MemoryAllocator": "Windows",
    "android": "Android",
    "gradle": "Android",
    "wasm": "the web",
    "cocoa": "macOS",
    "rhi": "Windows",
    "kernel": "macOS",
}
"""Folders of what is built for another system alone, and for which."""
NOT_TAKEN = ("qttestlib", "qttestinternals_private")
"""Modules that are never handed out."""


def read_sources(folders: list[Path]) -> list[dict[str, str]]:
    """What the libraries that we hand out contain: name, version, licence, copyright, text."""
    found: dict[str, dict[str, str]] = {}
    for folder in folders:
        for path in sorted(folder.rglob("qt_attribution.json")):
            if {"tests", "examples"} & set(path.relative_to(folder).parts):
                continue
            for entry in _entries(path):
                if _is_taken(path, entry):
                    found[str(entry["Id"])] = _part(folder, path.parent, entry)
    if not found:
        raise Stop(f"No qt_attribution.json below {folders[0]}.", "Unpack the sources of qtbase there.")
    return [found[name] for name in sorted(found)]


def _entries(path: Path) -> list[dict[str, object]]:
    read = json.loads(path.read_text("utf-8"), strict=False)
    return read if isinstance(read, list) else [read]


def _is_taken(path: Path, entry: dict[str, object]) -> bool:
    tools = entry.get("QtParts") == ["tools"]
    return not tools and entry.get("QDocModule") not in NOT_TAKEN and path.parent.name not in NOT_IN_LINUX


def _part(root: Path, folder: Path, entry: dict[str, object]) -> dict[str, str]:
    licence = str(entry["LicenseId"])
    copyright_lines = _lines(entry.get("Copyright"))
    if "CopyrightFile" in entry:
        copyright_lines = (folder / str(entry["CopyrightFile"])).read_text("utf-8", "replace").strip()
    return {
        "name": str(entry["Name"]),
        "version": str(entry.get("Version") or ""),
        "licence": licence,
        "copyright": copyright_lines.replace("&lt;", "<").replace("&gt;", ">"),
        "source": str(entry.get("Homepage") or ""),
        "text": _text(root, folder, entry, licence),
    }


def _lines(value: object) -> str:
    return "\n".join(str(line) for line in value) if isinstance(value, list) else str(value or "").strip()


def _text(root: Path, folder: Path, entry: dict[str, object], licence: str) -> str:
    named = entry.get("LicenseFiles") or entry.get("LicenseFile") or []
    files = [folder / str(name) for name in (named if isinstance(named, list) else [named])]
    if not files:
        names = re.findall(r"[A-Za-z][A-Za-z0-9.-]+", re.sub(r"\b(AND|OR|WITH)\b", " ", licence))
        files = [root / "LICENSES" / f"{name}.txt" for name in names]
        files = [file for file in files if file.is_file()]
    return "\n\n".join(file.read_text("utf-8", "replace").strip() for file in files)
