"""The build-time index of a folder: names and files, written when a library is packed (R-RES-6).

It saves a bare name from a walk over the folder. It is only a hint: a file that is not as it was packed is not
believed, one that is must declare the name, and a name that it does not have is looked for on the disk.
"""

from __future__ import annotations

import hashlib
import os

from desktop.domain.text.json_text import read_json
from desktop.domain.text.places import FormatError
from desktop.skills.catalogue.scan import BUILD_INDEX, is_skill_file
from desktop.skills.catalogue.snapshot import below
from desktop.skills.formats.loader import read_bytes
from desktop.skills.names import is_bare_name

MAX_BYTES = 16_000_000
VERSION = 2


def read_build_index(folder: str) -> dict[str, str] | None:
    """Name to absolute path, or None when there is none or it cannot be used. Never raises."""
    try:
        with open(os.path.join(folder, BUILD_INDEX), "rb") as file:
            data = file.read(MAX_BYTES + 1)
        found = read_json(data) if len(data) <= MAX_BYTES else None
    except (OSError, ValueError, RecursionError):
        return None
    names = found.get("names") if isinstance(found, dict) and found.get("version") == VERSION else None
    files = found.get("files") if isinstance(found, dict) else None
    if not isinstance(names, dict) or not isinstance(files, dict):
        return None
    inside = {name: rel for name, rel in names.items() if is_bare_name(name) and _is_inside(rel)}
    as_packed = {rel for rel in set(inside.values()) if _digest(below(folder, rel)) == files.get(rel, "")}
    return {name: below(folder, rel) for name, rel in inside.items() if rel in as_packed}


def _digest(path: str) -> str:
    """Digest of a file's content; "absent" where it cannot be read."""
    try:
        return hashlib.sha256(read_bytes(path)[0]).hexdigest()
    except FormatError:
        return "absent"


def _is_inside(rel: object) -> bool:
    """Whether it names a skill file of the folder itself, with nothing that leads out of it."""
    if not isinstance(rel, str) or "\0" in rel or "\\" in rel or not is_skill_file(rel.rpartition("/")[2]):
        return False
    return not any(part in ("", ".", "..") for part in rel.split("/"))
