"""What a build says of itself: what it may do, and where its new versions are looked for, if anywhere."""

from __future__ import annotations

from pathlib import Path

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.text.json_text import read_json
from desktop.domain.updates.rights import BYTES, BadManifest, Manifest, read_manifest
from desktop.systems import current

RIGHTS, ROOT, SOURCE = "rights.json", "updates/root.json", "updates/source.json"
"""In the folder of resources. The last two are put there by whoever builds, and are in no checkout."""
_MOST = 64 * 1024


@dataclass(frozen=True, slots=True)
class UpdateSource:
    """Where new versions are looked for, and whose signatures count."""

    address: str
    """The address of the repository."""
    root: bytes
    """The root of trust, as The Update Framework has it."""


def system() -> str:
    """What packages for this computer are called after."""
    found = current.processor().lower()
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(found, found)
    return f"{current.NAME.lower()}-{machine}"


def source_of(resources: Path) -> UpdateSource | None:
    """None: this build looks nowhere. Blocks."""
    try:
        said = read_json(_read(resources / SOURCE, _MOST))
        root = _read(resources / ROOT, 10 * _MOST)
    except (OSError, ValueError, RecursionError):
        return None
    address = said.get("address") if isinstance(said, dict) else None
    return UpdateSource(address, root) if isinstance(address, str) and address else None


def manifest_of(resources: Path) -> Manifest:
    """What the build with these resources may do. Blocks. Raises BadManifest."""
    try:
        return read_manifest(_read(resources / RIGHTS, BYTES))
    except OSError:
        raise BadManifest("The list of what this version may do is not there.") from None


def _read(path: Path, most: int) -> bytes:
    with open(path, "rb") as file:
        return file.read(most + 1)
