"""How each kind of package is installed, started and removed, by the words of its own page for users."""

import os
import re
import shlex
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trials.trees import HOME, Tree, TrialFailed

ROOT = Path(__file__).resolve().parents[2]
BUNDLE = "assent.bundle"
"""What the checkout is cloned from."""
DOWNLOADS = "/home/stranger/Downloads"
NEEDS = re.compile(r"(?:sudo )?(apt(?:-get)? install [^\n`]+)")
"""The command that the app names where a library is missing."""


@dataclass(frozen=True)
class Kind:
    """``files``: what it is called among the packages; ``before``: Debian's packages that a person needs for it.
    ``install``, ``remove``, ``replace`` (by another version; "": as it is installed) and ``forget`` (what a first start
    has fetched; "": it fetches nothing) are shell scripts in which FILE is the package; ``start`` is the command."""

    name: str
    files: str
    install: str
    start: Sequence[str]
    remove: str
    replace: str = ""
    forget: str = ""
    before: Sequence[str] = ()
    as_root: bool = False
    tools: Sequence[str] = ()
    values: dict[str, Any] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        """Of its values those that are the program's own."""
        return {name: value for name, value in self.values.items() if name.isupper()}

    @property
    def fetches(self) -> bool:
        """Its first start fetches what it needs, and keeps it for the next one."""
        return bool(self.forget)

    def package(self, folder: Path, store: Path) -> Path | None:
        """The newest package of this kind in the folder. That of the checkout is made, of what is committed here."""
        if self.files == BUNDLE:
            command = ["git", "bundle", "create", "--quiet", str(store / BUNDLE), "HEAD"]
            subprocess.run(command, cwd=ROOT, check=True)
            return store / BUNDLE
        return max(folder.glob(self.files), key=lambda path: path.stat().st_mtime_ns, default=None)


KINDS = [
    Kind(
        "checkout",
        BUNDLE,
        "git clone --quiet FILE ~/assent",
        ("python3", f"{HOME}/assent/packaging/dev.py", "run"),
        "rm -rf ~/assent",
        forget="rm -rf ~/assent/.venv ~/.cache",
        before=["git", "python3-venv"],
    ),
    Kind(
        "wheel",
        "assent-*.whl",
        "python3 -m venv ~/assent && ~/assent/bin/pip install --quiet FILE",
        (f"{HOME}/assent/bin/assent",),
        "rm -rf ~/assent",
        "~/assent/bin/pip install --quiet FILE",
        before=["python3-venv"],
    ),
    Kind(
        "pipx",
        "assent-*.whl",
        "pipx install FILE",
        (f"{HOME}/.local/bin/assent",),
        "pipx uninstall assent",
        "pipx install --force FILE",
        before=["pipx"],
    ),
    Kind(
        "pipx run",
        "assent-*.whl",
        "true",
        ("pipx", "run", "--spec", "FILE", "assent"),
        "rm -rf ~/.cache",
        forget="rm -rf ~/.cache",
        before=["pipx"],
    ),
    Kind(
        "uv tool",
        "assent-*.whl",
        "uv tool install --quiet FILE",
        (f"{HOME}/.local/bin/assent",),
        "uv tool uninstall assent",
        "uv tool install --quiet --force FILE",
        before=["python3"],
        tools=["uv"],
    ),
    Kind(
        "uvx",
        "assent-*.whl",
        "true",
        ("uvx", "--from", "FILE", "assent"),
        "rm -rf ~/.cache",
        forget="rm -rf ~/.cache",
        before=["python3"],
        tools=["uv", "uvx"],
    ),
    Kind(
        "folder",
        "assent-*-linux-*.tar.*",
        "tar -xf FILE -C ~",
        (f"{HOME}/assent/assent",),
        "chmod -R u+w ~/assent && rm -rf ~/assent",
        before=["xz-utils"],
    ),
    Kind(
        "deb",
        "assent_*.deb",
        "apt-get install -y -q FILE",
        ("assent",),
        "apt-get purge -y -q --auto-remove assent",
        "apt-get install -y -q --allow-downgrades FILE",
        as_root=True,
    ),
    Kind(
        "rpm",
        "assent-*.rpm",
        "rpm --install --nodeps FILE",
        ("assent",),
        "rpm --erase assent",
        "rpm --upgrade --oldpackage --nodeps FILE",
        before=["rpm"],
        as_root=True,
    ),
    Kind(
        "appimage",
        "[Aa]ssent-*.AppImage",
        "mkdir -p ~/Applications && cp --remove-destination FILE ~/Applications/Assent.AppImage && chmod +x ~/App*/*",
        (f"{HOME}/Applications/Assent.AppImage",),
        "rm ~/Applications/Assent.AppImage",
        before=["fuse3"],
        values={"setuid": True},
    ),
    Kind(
        "appimage extracted",
        "[Aa]ssent-*.AppImage",
        "mkdir -p ~/Applications && cp --remove-destination FILE ~/Applications/Assent.AppImage && chmod +x ~/App*/*",
        (f"{HOME}/Applications/Assent.AppImage",),
        "rm ~/Applications/Assent.AppImage",
        values={"APPIMAGE_EXTRACT_AND_RUN": "1"},
    ),
]


@dataclass
class Installed:
    """A kind, in a tree."""

    kind: Kind
    tree: Tree
    file: str
    figures: dict[str, object]

    @property
    def command(self) -> list[str]:
        """How it is started."""
        return [self.file if word == "FILE" else word for word in self.kind.start]

    def filled(self, text: str, file: str = "") -> str:
        """A script with the package in it."""
        return text.replace("FILE", shlex.quote(file or self.file))

    def script(self, text: str, file: str = "") -> None:
        """One of the kind's scripts, by whoever may."""
        self.tree.run(["sh", "-ec", self.filled(text, file)], root=self.kind.as_root, **self.kind.values)

    def replace(self, file: str) -> None:
        """Another version takes its place, by its package."""
        self.script(self.kind.replace or self.kind.install, file)

    def remove(self) -> None:
        """Take it off the machine."""
        self.script(self.kind.remove)


def install(kind: Kind, tree: Tree, package: Path, tools: Path, said: Callable[[str], None]) -> Installed:
    """The package on the machine, with the figures of it. What a person has to have before is not counted."""
    if kind.before:
        tree.apt(*kind.before)
    elif kind.as_root:
        tree.apt()
    for tool in kind.tools:
        tree.give(tools / tool, f"/usr/local/bin/{tool}")
    tree.give(package, f"{DOWNLOADS}/{package.name}")
    before = used_mb(tree.root)
    installed = Installed(kind, tree, f"{DOWNLOADS}/{package.name}", {})
    begun = time.monotonic()
    installed.script(kind.install)
    installed.figures |= {
        "package MB": round(package.stat().st_size / 1e6, 1),
        "install s": round(time.monotonic() - begun, 1),
        "installed MB": round(used_mb(tree.root) - before),
    }
    installed.figures["libraries"] = " ".join(_libraries(installed, said))
    if kind.fetches:
        installed.figures["fetched MB"] = round(used_mb(tree.home))
        installed.script(kind.forget)  # the first start is measured with it
    return installed


def _libraries(installed: Installed, said: Callable[[str], None]) -> list[str]:
    """Install what the app says is missing, by its own command; once has to do."""
    done = installed.tree.tried([*installed.command, "--check"], **installed.kind.values)
    named = NEEDS.search(done.stdout)
    if named is None:
        return []
    words = [word for word in shlex.split(named[1]) if word not in ("-y", "--no-install-recommends")]
    said(f"it names {' '.join(words)}")
    installed.tree.apt(*words[2:])
    again = installed.tree.tried([*installed.command, "--check"], **installed.kind.values)
    if NEEDS.search(again.stdout):
        raise TrialFailed(f"after its own command it still misses: {again.stdout[:800]}")
    return words[2:]


def used_mb(root: Path) -> float:
    """What all files of a tree take, in MB of the disk; a file with two names counts once."""
    seen: set[int] = set()
    total = 0
    for folder, _, names in os.walk(root):
        for name in names:
            found = os.lstat(os.path.join(folder, name))
            if found.st_ino not in seen:
                seen.add(found.st_ino)
                total += found.st_blocks * 512
    return total / 1e6


def tools_of(store: Path, python: str) -> Path:
    """The folder with `uv` and `uvx`, out of uv's wheel."""
    place = store / "tools"
    if not (place / "uv").exists():
        target = store / "tools.making"
        command = [python, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(target), "uv"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        place.mkdir(exist_ok=True)
        for name in ("uv", "uvx"):
            (target / "bin" / name).rename(place / name)
    return place
