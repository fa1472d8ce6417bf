"""``assent menu add`` and ``remove``: the entry in the desktop's menu of an Assent that no package manager has put
there, with its icons and its links. Written into the person's own ``share``, and only when they ask for it."""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from desktop.app.desktop.identity import APP_ID
from desktop.app.home.installation import this_installation
from desktop.domain.errors import KnownError

DONE, REFUSED = 0, 2
ENTRY = f"applications/{APP_ID}.desktop"
PACKED = "Exec=assent"
ICONS = f"icons/hicolor/*/apps/{APP_ID}.*"
INSTALLED = ("deb", "rpm", "flatpak")
TELLS = "update-desktop-database"
PLAIN = "/.,_+:@=-"
"""Signs that mean nothing in an entry, beside letters and digits."""
TIMEOUT = 10.0
"""Seconds for the desktop to look at it."""


def main(arguments: Sequence[str]) -> int:
    """The whole command; returns its exit code."""
    asked = parser().parse_args(arguments)
    own = own_share(os.environ)
    try:
        found = remove(own) if asked.act == "remove" else add(_packed(), own, this_installation().command)
    except KnownError as error:
        sys.stderr.write(f"assent: {error}\n  {error.next_step}\n")
        return REFUSED
    except OSError as error:
        sys.stderr.write(f"assent: {error.filename} cannot be changed: {error.strerror}.\n  Look at its permissions.\n")
        return REFUSED
    _tell_desktop(own)
    for path in found:
        sys.stdout.write(f"{'removed' if asked.act == 'remove' else 'written'}: {path}\n")
    return DONE


def parser() -> argparse.ArgumentParser:
    """What `assent menu` takes."""
    made = argparse.ArgumentParser(
        prog="assent menu",
        description="Put Assent into the desktop's menu, with its icon and its links, or take it out.",
    )
    made.add_argument("act", choices=("add", "remove"), metavar="ACT", help="add or remove")
    return made


def own_share(environment: Mapping[str, str]) -> Path:
    """Where a person's own entries are."""
    wanted = environment.get("XDG_DATA_HOME", "")
    return Path(wanted if os.path.isabs(wanted) else os.path.expanduser("~/.local/share"))


def _packed() -> Path:
    """The ``share`` that this package brings. Raises KnownError where there is none to be put anywhere."""
    kind = this_installation().kind
    if kind in INSTALLED:
        raise KnownError("This Assent is in the menu: its package put it there.", next_step="There is nothing to do.")
    prefix = Path(sys.prefix)
    for share in (prefix / "share", prefix.parent.parent / "share"):
        if this_installation().command and (share / ENTRY).is_file():
            return share
    raise KnownError(
        "This Assent brings no entry for a menu: only the self-contained folder and the AppImage do.",
        next_step="Start it by its command.",
    )


def add(share: Path, own: Path, command: Sequence[str]) -> list[Path]:
    """Copy the entry, which then starts ``command``, and its icons. Raises OSError and KnownError."""
    text = (share / ENTRY).read_text("utf-8")
    starts = " ".join(map(quoted, command))
    lines = [line for line in text.splitlines() if not line.startswith("TryExec=")]
    lines = [f"Exec={starts}{line.removeprefix(PACKED)}" if line.startswith(PACKED) else line for line in lines]
    written = [own / ENTRY]
    _write(own / ENTRY, ("\n".join(lines) + "\n").encode())
    for icon in sorted(share.glob(ICONS)):
        written.append(own / icon.relative_to(share))
        _write(written[-1], icon.read_bytes())
    return written


def remove(own: Path) -> list[Path]:
    """Take away what ``add`` has written. Raises OSError."""
    found = [path for path in (own / ENTRY, *sorted(own.glob(ICONS))) if os.path.lexists(path)]
    for path in found:
        path.unlink()
    return found


def quoted(word: str) -> str:
    """A word of a command as it stands in an entry of a menu. Raises KnownError for what cannot stand there.

    Quoted only where it has to be: `xdg-open`, where no desktop does its work, takes quotes for a part of the name.
    """
    if not word.isprintable() or "%" in word:  # doubled, as the specification has it, GLib does not find the program
        raise KnownError(
            "The path of this Assent has signs that no menu takes.", next_step="Move it to another folder."
        )
    if word and all(sign.isalnum() or sign in PLAIN for sign in word):
        return word
    shell = "".join(f"\\{sign}" if sign in '"`$\\' else sign for sign in word)
    return '"' + shell.replace("\\", "\\\\") + '"'


def _write(path: Path, content: bytes) -> None:
    """In one step, so that no desktop reads half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        new.write_bytes(content)
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)


def _tell_desktop(own: Path) -> None:
    """Most desktops see it by themselves; links are known once this has run."""
    program = shutil.which(TELLS)
    if program is not None:
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            command = [program, os.fspath(own / "applications")]
            subprocess.run(command, capture_output=True, timeout=TIMEOUT, check=False, env={"PATH": os.defpath})
