"""`dev.py package [KIND…]`: makes packages of what is committed, proves the folder, and lists and sums what was made.

Runs in an environment of its own (`tools.py`); each kind says what of this machine it needs.
"""

import argparse
import hashlib
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..ending import nothing_goes_on
from ..environment import ROOT
from ..words import Stop, fail, say
from .appimage import make_appimage, refuse_runtime
from .archive import pack
from .beforehand import HALF_MADE, alone_in, refuse_what_cannot_be_made
from .calling import call
from .flatpak import make_flatpak
from .folder import Version, described_glibc, lay_folder, make_version
from .macos import make_macos
from .proving import prove
from .source import Source, copied_source
from .system_packages import make_deb, make_rpm
from .wheels import make_sdist, make_wheel
from .windows import make_windows

SUMS, FIGURES = "SHA256SUMS", "figures.json"


@dataclass
class Build:
    """One run: what several kinds share is made once."""

    source: Source
    work: Path
    out: Path
    runtime: Path | None = None
    """What an AppImage begins with."""
    python: Path | None = None
    """What a package for another system brings along."""
    figures: dict[str, object] = field(default_factory=dict)
    others: dict[str, tuple[str, Path]] = field(default_factory=dict)
    """Of packages for other systems, by kind: the name of the list of its parts, and where its packages were laid."""
    _sdist: Path | None = None
    _wheel: Path | None = None
    _version: Version | None = None
    _folder: Path | None = None

    @property
    def has_wheel(self) -> bool:
        """Whether one was made."""
        return self._wheel is not None

    @property
    def has_version(self) -> bool:
        """The same for what the folder holds."""
        return self._version is not None

    def sdist(self) -> Path:
        """The sdist."""
        if self._sdist is None:
            say("making the sdist")
            self._sdist = make_sdist(self.source, self.work, self.out)
        return self._sdist

    def wheel(self) -> Path:
        """The wheel, and the sdist that it is made of."""
        if self._wheel is None:
            sdist = self.sdist()
            say("making the wheel")
            self._wheel = make_wheel(self.source, sdist, self.work, self.out)
        return self._wheel

    def version(self) -> Version:
        """Interpreter, packages and Assent, proved."""
        if self._version is None:
            wheel = self.wheel()
            self.figures["python"] = platform.python_version()
            say(f"bringing along the Python that runs this: {platform.python_version()}")
            made = make_version(self.source, wheel, self.work / "version")
            say("starting every process of it")
            self.figures["first_start"] = prove(made)
            self.figures["glibc"] = described_glibc(made)
            self._version = made
        return self._version

    def folder(self) -> Path:
        """`assent/`, packed."""
        if self._folder is None:
            root = self.work / "assent"
            lay_folder(self.version(), root)
            made = self.out / f"assent-{self.source.version}-linux-x86_64.tar.xz"
            say("packing the folder")
            pack(root, made, self.source.epoch, top="assent")
            self._folder = made
        return self._folder


def deb(build: Build) -> Path:
    """For Debian, Ubuntu and what is made of them."""
    version = build.version()
    say("making the deb")
    return make_deb(version, build.work, build.out)


def rpm(build: Build) -> Path:
    """For Fedora, openSUSE and their like."""
    version = build.version()
    say("making the rpm")
    return make_rpm(version, build.work, build.out)


def appimage(build: Build) -> Path:
    """One file for any Linux that is new enough."""
    version = build.version()
    say("making the AppImage")
    return make_appimage(version, build.runtime, build.work, build.out)


def flatpak(build: Build) -> Path:
    """The manifest, and the folder that it names."""
    return make_flatpak(build.source, build.folder(), build.out)


def windows(build: Build) -> Path:
    """For Windows 10 and newer, on x86_64."""
    made, packages = make_windows(build.source, build.wheel(), build.python, build.work, build.out)
    build.others["windows"] = made.name.removesuffix(".exe"), packages
    return made


def macos(build: Build) -> Path:
    """For this kind of Mac."""
    made, packages = make_macos(build.source, build.wheel(), build.python, build.work, build.out)
    build.others["macos"] = made.name.removesuffix(".dmg").removesuffix(".tar.gz"), packages
    return made


KINDS: dict[str, Callable[[Build], Path]] = {
    "sdist": Build.sdist,
    "wheel": Build.wheel,
    "folder": Build.folder,
    "deb": deb,
    "rpm": rpm,
    "appimage": appimage,
    "flatpak": flatpak,
    "windows": windows,
    "macos": macos,
}
ASKED_FOR = ("windows", "macos")
"""Made only when they are named: each brings a Python of another system along."""


def main(arguments: Sequence[str]) -> int:
    """The exit code."""
    options = parser().parse_args(arguments)
    try:
        unknown = sorted(set(options.kinds) - KINDS.keys())
        if unknown:
            raise Stop(f"There is no kind {', '.join(unknown)}.", f"The kinds are {', '.join(KINDS)}.")
        kinds = options.kinds or _all(options.runtime)
        make(kinds, options.out.resolve(), options.updates, options.runtime, options.python)
    except Stop as stop:
        fail(stop)
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        fail(
            Stop(
                f"{error.strerror or error}{where}.", "All kinds together need 4 GB where --out leads; then try again."
            )
        )
    return 0


def parser() -> argparse.ArgumentParser:
    """What may be said."""
    made = argparse.ArgumentParser(prog="dev.py package", description=str(__doc__).splitlines()[0], allow_abbrev=False)
    made.add_argument("kinds", nargs="*", metavar="KIND", help=f"{', '.join(KINDS)}; else all for Linux")
    made.add_argument("--out", type=Path, default=Path("dist"), metavar="DIR", help="where they go (dist)")
    made.add_argument("--updates", type=Path, metavar="DIR", help="root.json and source.json of updates")
    made.add_argument("--runtime", type=Path, metavar="FILE", help="what an AppImage begins with")
    made.add_argument("--python", type=Path, metavar="DIR", help="the Python that windows and macos bring along")
    return made


def _all(runtime: Path | None) -> list[str]:
    """Every kind that can be made with what was given."""
    if runtime is None:
        say("no AppImage: it needs --runtime")
    return [kind for kind in KINDS if kind not in ASKED_FOR and (kind != "appimage" or runtime is not None)]


def make(
    kinds: Sequence[str],
    out: Path,
    updates: Path | None = None,
    runtime: Path | None = None,
    python: Path | None = None,
) -> None:
    """The packages in ``out``, their sums and figures. What is not finished is not in ``out``."""
    if "appimage" in kinds:
        refuse_runtime(runtime)
    out.mkdir(parents=True, exist_ok=True)
    refuse_what_cannot_be_made(kinds, out, (ROOT / ".git").exists())
    with alone_in(out), tempfile.TemporaryDirectory(prefix=HALF_MADE, dir=out) as place, nothing_goes_on():
        work, done = Path(place) / "work", Path(place) / "out"
        work.mkdir()
        done.mkdir()
        build = Build(copied_source(work / "source", updates, out=out), work, done, runtime, python)
        for kind in kinds:
            began = time.monotonic()
            made = KINDS[kind](build)
            say(f"{made.name}: {made.stat().st_size / 1e6:.1f} MB, {time.monotonic() - began:.0f} s")
        list_parts(build)
        (done / FIGURES).write_text(json.dumps(build.figures, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        for path in sorted(done.iterdir()):
            path.replace(out / path.name)
        write_sums(out)


def list_parts(build: Build) -> None:
    """What is inside, as CycloneDX: a file for the wheel, one for the folder and all that is made of it, and one for
    each package of another system."""
    source = build.source
    if build.has_wheel:
        _list_parts(source, "wheel", source.folder, build.out / f"assent-{source.version}-py3-none-any.cdx.json")
    if build.has_version:
        name = f"assent-{source.version}-linux-x86_64.cdx.json"
        _list_parts(source, "folder", build.version().packages, build.out / name)
    for kind, (name, packages) in build.others.items():
        _list_parts(source, kind, packages, build.out / f"{name}.cdx.json")


def _list_parts(source: Source, kind: str, holder: Path, out: Path) -> None:
    say(f"listing the parts: {out.name}")
    command = [sys.executable, "-m", "devlib.licences.bom", "--list", str(holder / "resources" / "licences")]
    command += ["--out", str(out), "--version", source.version]
    command += ["--commit", source.commit, "--built", source.built, "--kind", kind]
    call(command, "list the parts", "See packaging/devlib/licences.", dict(os.environ))


def write_sums(out: Path) -> None:
    """SHA-256 of everything there, as `sha256sum -c` reads it."""
    lines = []
    for path in sorted(out.iterdir()):
        if path.is_file() and path.name not in (SUMS, FIGURES) and not path.name.startswith("."):
            with path.open("rb") as file:
                lines.append(f"{hashlib.file_digest(file, 'sha256').hexdigest()}  {path.name}\n")
    fresh = out / f".{SUMS}"
    fresh.write_text("".join(lines), encoding="utf-8")
    fresh.replace(out / SUMS)
