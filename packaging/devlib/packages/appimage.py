"""AppImage: one file that a person makes executable and starts.

It begins with a small program that mounts the rest (`packaging/appimage/runtime.sh` builds it); no registry of packages
has that program, so whoever makes an AppImage hands it over.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ..words import Stop
from .archive import normalise
from .calling import call
from .folder import Version
from .system_packages import lay_system

ID = "app.assent.Assent"
START = """#!/bin/sh
# What begins an AppImage takes a folder beside the file, called like it with .home or .config behind, for the person's.
# Whoever may write there, an agent perhaps, could so hand Assent settings and rules of its own making.
if [ -n "$APPIMAGE" ] && [ "$HOME" = "$APPIMAGE.home" ]; then
    unset HOME
    own=$(getent passwd "$(id -u)" 2> /dev/null | cut -d: -f6)
    [ -z "$own" ] || export HOME="$own"
fi
[ "$XDG_CONFIG_HOME" != "$APPIMAGE.config" ] || unset XDG_CONFIG_HOME
exec "$(dirname -- "$(readlink -f -- "$0")")/usr/lib/assent/bin/assent" "$@"
"""
"""By its own path: APPDIR is that of another AppImage where one, a terminal perhaps, has started an unpacked one."""
MAGIC = b"\x7fELF", b"AI\x02"
"""What a program begins with, and after 8 bytes what makes it that of an AppImage."""
WHERE = '#!/bin/sh\necho "$APPDIR"\n'
TIMEOUT_S = 60


def make_appimage(version: Version, runtime: Path | None, work: Path, out: Path) -> Path:
    """``Assent-VERSION-x86_64.AppImage``."""
    runtime = refuse_runtime(runtime)
    _refuse_shared_folder(runtime, work)
    root = lay_system(version, work / "appimage", "appimage")
    (root / "AppRun").write_text(START, encoding="utf-8")
    (root / "AppRun").chmod(0o755)
    share = root / "usr" / "share"
    shutil.copy(share / "applications" / f"{ID}.desktop", root)
    icon = max((share / "icons").rglob(f"256x256/apps/{ID}.png"))
    shutil.copy(icon, root / f"{ID}.png")
    (root / ".DirIcon").symlink_to(f"{ID}.png")
    normalise(root, version.source.epoch)
    made = out / f"Assent-{version.source.version}-x86_64.AppImage"
    _write_image(runtime, root, work / "appimage.squashfs", made, version.source.epoch)
    return made


def refuse_runtime(runtime: Path | None) -> Path:
    """What was given, when it is one."""
    if runtime is None or not _is_runtime(runtime):
        raise Stop(
            "An AppImage needs the program that stands at its beginning, and it was not given.",
            "Build it with packaging/appimage/runtime.sh and name it: dev.py package appimage --runtime FILE.",
        )
    return runtime


def _write_image(runtime: Path, root: Path, image: Path, made: Path, epoch: int) -> None:
    times = ["-mkfs-time", str(epoch), "-all-time", str(epoch)]
    packed = ["-comp", "zstd", "-Xcompression-level", "19", "-b", "256K", "-root-owned", "-no-xattrs", "-noappend"]
    environment = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ}
    step = "Install squashfs-tools (apt install squashfs-tools)."
    call(["mksquashfs", root, image, *packed, *times, "-quiet", "-no-progress"], "pack the image", step, environment)
    with made.open("wb") as file:
        for part in (runtime, image):
            with part.open("rb") as content:
                shutil.copyfileobj(content, file)
    made.chmod(0o755)


def _refuse_shared_folder(runtime: Path, work: Path) -> None:
    """Raises Stop for a runtime as it comes from its authors."""
    root = work / "apart"
    root.mkdir()
    (root / "AppRun").write_text(WHERE, encoding="utf-8")
    (root / "AppRun").chmod(0o755)
    tiny = work / "apart.AppImage"
    _write_image(runtime, root, work / "apart.squashfs", tiny, 0)
    if not starts_apart([str(tiny)]):
        raise Stop(
            "Where nothing can be mounted, this runtime extracts every start into one folder that anybody can foresee.",
            "Build it with packaging/appimage/runtime.sh, which changes that.",
        )


def starts_apart(command: Sequence[str]) -> bool:
    """Whether two starts of a program that says where it was extracted to have a folder each."""
    with tempfile.TemporaryDirectory() as place:
        environment = {"PATH": "/usr/bin:/bin", "TMPDIR": place, "APPIMAGE_EXTRACT_AND_RUN": "1"}
        said = set()
        for _ in range(2):
            done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S)
            if done.returncode != 0:
                raise Stop(f"A program begun by this runtime fails: {done.stderr.strip()[-300:]}", "Build it anew.")
            said.add(done.stdout)
    return len(said) == 2


def _is_runtime(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        head = file.read(11)
    return head[:4] == MAGIC[0] and head[8:] == MAGIC[1]
