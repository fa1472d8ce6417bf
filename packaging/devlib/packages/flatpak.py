"""The manifest by which `flatpak-builder` makes a Flatpak of the self-contained folder."""

import hashlib
import json
from pathlib import Path
from typing import Any

from .appimage import ID
from .source import Source

RUNTIME = "25.08"
"""Of the newest two, which are those that get security fixes."""
RIGHTS = (
    "--share=ipc",
    "--share=network",
    "--socket=wayland",
    "--socket=fallback-x11",
    "--filesystem=~/.agent:create",
    "--talk-name=org.freedesktop.secrets",
    "--talk-name=org.freedesktop.Notifications",
)
"""Windows (what they hold is painted without the graphics card), the models' network, Assent's own folder, which is
that of every other kind and outlives the removal of the Flatpak, the keyring, notifications. Of the person's files
nothing more: a project's folder is shared by its name (`flatpak override --user --filesystem=DIR app.assent.Assent`),
for the stand-ins that Flatpak's file dialog makes below /run belong to the system, and are closed to agents."""


def make_flatpak(source: Source, folder: Path, out: Path) -> Path:
    """``app.assent.Assent.json``, which names the packed folder beside it by its digest."""
    with folder.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    made = out / f"{ID}.json"
    made.write_text(json.dumps(_manifest(source, folder.name, digest), indent=2) + "\n", encoding="utf-8")
    return made


def _manifest(source: Source, name: str, digest: str) -> dict[str, Any]:
    place = f"versions/{source.version}"
    kinds = f"{place}/lib/python3*/site-packages/resources/build.json"
    return {
        "id": ID,
        "runtime": "org.freedesktop.Platform",
        "runtime-version": RUNTIME,
        "sdk": "org.freedesktop.Sdk",
        "command": "assent",
        "finish-args": list(RIGHTS),
        "modules": [
            {
                "name": "assent",
                "buildsystem": "simple",
                "build-options": {"no-debuginfo": True, "strip": False},
                "build-commands": [
                    f'sed -i \'s/"kind": "folder"/"kind": "flatpak"/\' {kinds}',
                    "mkdir -p /app/lib /app/bin",
                    f"cp -a {place} /app/lib/assent",
                    "mv /app/lib/assent/share/* /app/share/",
                    "ln -s ../lib/assent/bin/assent /app/bin/assent",
                ],
                "sources": [{"type": "archive", "path": name, "sha256": digest}],
            }
        ],
    }
