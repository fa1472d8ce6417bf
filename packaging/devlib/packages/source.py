"""The sources that a package is made of: what is committed, and nothing else that lies in the folder."""

import io
import json
import subprocess
import tarfile
import tomllib
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from ..environment import ROOT
from ..words import Stop, say
from .archive import normalise

BUILD_FILE = "resources/build.json"
"""As `desktop/domain/installation.py` reads it."""
FORMAT = 1
TIME = "%Y-%m-%dT%H:%M:%SZ"
UPDATES = ("root.json", "source.json")
_BUILT = ("PKG-INFO", "setup.cfg")
"""What setuptools adds at the top of an sdist."""
_NOT_OURS = ("__pycache__", ".venv", ".git", "build", "dist", "assent.egg-info")


@dataclass(frozen=True)
class Source:
    """A copy of the sources that the build may write into."""

    folder: Path
    version: str
    commit: str
    epoch: int
    """The time of the commit: every file in every package has it, so that two builds of it are the same."""

    @property
    def built(self) -> str:
        """That time as it is written into packages."""
        return datetime.fromtimestamp(self.epoch, UTC).strftime(TIME)

    def described(self, kind: str) -> str:
        """What stands in the package's build.json."""
        plain = {"format": FORMAT, "kind": kind, "commit": self.commit, "built": self.built}
        return json.dumps(plain, indent=1) + "\n"


def copied_source(into: Path, updates: Path | None = None, root: Path = ROOT, out: Path | None = None) -> Source:
    """The committed sources in a new folder; of an unpacked sdist its files, but for ``out``, where packages go.
    ``updates``: a folder with what the build knows of updates: where they are, and whose signature counts."""
    into.mkdir(parents=True)
    commit, epoch = _from_git(root, into) if (root / ".git").exists() else _from_sdist(root, into, out or into)
    project = tomllib.loads((into / "pyproject.toml").read_text("utf-8"))["project"]
    source = Source(into, str(project["version"]), commit, epoch)
    (into / BUILD_FILE).write_text(source.described("wheel"), encoding="utf-8")
    if updates is not None:
        _add_updates(into, updates)
    normalise(into, epoch)
    return source


def _from_git(root: Path, into: Path) -> tuple[str, int]:
    def git(*words: str) -> bytes:
        done = subprocess.run(["git", "-C", str(root), *words], capture_output=True)
        if done.returncode != 0:
            raise Stop(
                f"git cannot read the sources: {done.stderr.decode(errors='replace').strip()[-300:]}",
                "Run this in a checkout with at least one commit, or in an unpacked sdist.",
            )
        return done.stdout

    if git("status", "--porcelain").strip():
        say("what is not committed is not packed")
    with tarfile.open(fileobj=io.BytesIO(git("archive", "--format=tar", "HEAD"))) as archive:
        archive.extractall(into, filter="data")
    commit, seconds = git("log", "-1", "--format=%H %ct").decode().split()
    return commit, int(seconds)


def _from_sdist(root: Path, into: Path, out: Path) -> tuple[str, int]:
    try:
        found = json.loads((root / BUILD_FILE).read_text("utf-8"))
        commit, built = str(found["commit"]), datetime.strptime(found["built"], TIME).replace(tzinfo=UTC)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Stop(
            "This folder is neither a checkout nor an unpacked sdist, so nobody can say what would be packed.",
            "Run this in a checkout, or in what `dev.py package sdist` made.",
        ) from error
    if root.is_relative_to(out):
        raise Stop(f"{out} holds the sources, and is no place for packages of them.", "Name another folder with --out.")
    for path in sorted(root.rglob("*")):
        inside = path.relative_to(root)
        if out in path.parents:
            continue
        if path.is_file() and not any(part in _NOT_OURS for part in inside.parts) and str(inside) not in _BUILT:
            (into / inside).parent.mkdir(parents=True, exist_ok=True)
            (into / inside).write_bytes(path.read_bytes())
            (into / inside).chmod(path.stat().st_mode & 0o777)
    return commit, int(built.timestamp())


def _add_updates(into: Path, updates: Path) -> None:
    missing = [name for name in UPDATES if not (updates / name).is_file()]
    if missing:
        raise Stop(f"{updates} lacks {' and '.join(missing)}.", "Make them with `dev.py publish`, then run this again.")
    place = into / "resources" / "updates"
    place.mkdir(exist_ok=True)
    for name in UPDATES:
        (place / name).write_bytes((updates / name).read_bytes())
