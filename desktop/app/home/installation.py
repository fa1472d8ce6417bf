"""Reads which Assent this is: from what the package command wrote, else from what lies around the code.

It is asked when somebody wants to know it, never on the way to the first paint.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from desktop import __version__
from desktop.domain.errors import ConfigurationError
from desktop.domain.installation import (
    BUILD_FILE,
    COMMIT,
    LAUNCHER,
    Build,
    Installation,
    Installer,
    Kind,
    build_from_plain,
    folder_root,
)
from desktop.domain.text.json_text import read_json

MAX_READ = 64 * 1024
"""Bytes of one of these files; each has a few hundred."""
EXTRACTED, EXTRACT = "appimage_extracted_", "--appimage-extract-and-run"
"""An AppImage that was not mounted lies in a folder called so, and what says that it is not to be mounted."""


@functools.cache
def this_installation() -> Installation:
    """This very program's, read once. Reads a few small files."""
    return read_installation(Path(__file__).resolve().parents[3], Path(sys.prefix), os.environ)


def own_start(*options: str) -> tuple[str, ...]:
    """Starts this very program once more by its own Python, in the folder of its code; as deaf to the variables and the
    packages of the person as this process is."""
    deaf = ("-I",) if sys.flags.isolated else ()
    return (sys.executable, *deaf, "-m", "desktop", *options)


def read_installation(code: Path, prefix: Path, environment: Mapping[str, str]) -> Installation:
    """Of the program whose packages lie in ``code``, with the interpreter of ``prefix``. Never raises: an installation
    that is damaged has to be able to say so."""
    try:
        build = _build(code / "resources" / BUILD_FILE)
    except (OSError, ValueError, RecursionError, ConfigurationError) as error:
        why = f"resources/{BUILD_FILE} cannot be used: {error}"
        return Installation("unknown", __version__, str(code), root=str(code), trouble=why)
    if build is None:
        return _without_build(code, prefix)
    root, command = _places(build.kind, prefix, environment)
    installer = _installer(code, prefix) if build.kind == "wheel" else ""
    return Installation(build.kind, __version__, str(code), build.commit, build.built, installer, root, command)


def _build(file: Path) -> Build | None:
    try:
        return build_from_plain(read_json(_text(file)))
    except FileNotFoundError:
        return None


def _text(file: Path) -> str:
    with file.open("rb") as opened:
        read = opened.read(MAX_READ + 1)
    if len(read) > MAX_READ:
        raise ConfigurationError("it is far too long")
    return read.decode()


def _without_build(code: Path, prefix: Path) -> Installation:
    if (code / "pyproject.toml").is_file():
        return Installation("checkout", __version__, str(code), _commit_of(code), root=str(code))
    if _distribution(code) is not None:
        installer = _installer(code, prefix)
        return Installation("wheel", __version__, str(code), installer=installer, root=str(prefix))
    why = "its code lies neither in a checkout nor where an installer put it"
    return Installation("unknown", __version__, str(code), root=str(code), trouble=why)


def _places(kind: Kind, prefix: Path, environment: Mapping[str, str]) -> tuple[str, tuple[str, ...]]:
    """(root, command) of a package."""
    if kind == "folder":
        root = folder_root(os.path.realpath(prefix))
        return (root, (os.path.join(root, LAUNCHER),)) if root else (str(prefix), ())
    if kind in ("deb", "rpm"):
        return str(prefix), (f"/usr/bin/{LAUNCHER}",)
    if kind == "appimage":
        image = environment.get("APPIMAGE", "")
        if not (os.path.isabs(image) and os.path.isfile(image)):
            return str(prefix), ()
        extracted = any(part.startswith(EXTRACTED) for part in prefix.parts)
        return str(prefix), (image, EXTRACT) if extracted else (image,)
    if kind == "flatpak":
        name = environment.get("FLATPAK_ID", "")
        return str(prefix), ("flatpak", "run", name) if name else ()
    if kind == "windows":
        return str(prefix), (str(prefix / "pythonw.exe"), "-I", "-m", "desktop")
    if kind == "macos":  # the prefix is the bundle's Contents
        return str(prefix.parent), (str(prefix / "MacOS" / LAUNCHER),)
    return str(prefix), ()


def _distribution(code: Path) -> Path | None:
    """What an installer wrote beside the code."""
    return next(iter(sorted(code.glob("assent-*.dist-info"))), None)


def _installer(code: Path, prefix: Path) -> Installer:
    """By the marks that each of them leaves; pipx may have left the work to uv."""
    if (prefix / "uv-receipt.toml").is_file():
        return "uv-tool"
    if (prefix / "pipx_metadata.json").is_file():
        return "pipx" if prefix.parent.name == "venvs" else "pipx-run"
    found = _distribution(code)
    try:
        name = _text(found / "INSTALLER").strip() if found else ""
    except (OSError, ValueError, ConfigurationError):
        return ""
    if name == "uv":
        cached = prefix.parent.name.startswith(("archive-v", "environments-v"))
        return "uvx" if cached else "uv"
    return "pip" if name == "pip" else ""


def _commit_of(checkout: Path) -> str:
    """What git has checked out here, without starting it; empty when that is not to be read in a few files."""
    try:
        found = _resolved(_git_folder(checkout / ".git"))
    except (OSError, ValueError, ConfigurationError):
        return ""
    return found if COMMIT.fullmatch(found) else ""


def _git_folder(entry: Path) -> Path:
    """A work tree beside the first one has a file there that names its folder."""
    return entry if entry.is_dir() else entry.parent / _text(entry).removeprefix("gitdir:").strip()


def _resolved(folder: Path) -> str:
    head = _text(folder / "HEAD").strip()
    if not head.startswith("ref: "):
        return head
    shared = folder / "commondir"
    common = folder / _text(shared).strip() if shared.is_file() else folder
    name = head.removeprefix("ref: ")
    loose = common / name
    if loose.is_file():
        return _text(loose).strip()
    lines = (line.partition(" ") for line in _text(common / "packed-refs").splitlines())
    return next((commit for commit, _, ref in lines if ref == name), "")
