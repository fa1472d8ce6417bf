"""`Assent.app`: laid on any system; the launcher is built, and all is signed and packed as a disk image, on a Mac by
`packaging/macos/finish.sh`."""

import platform
import plistlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

from desktop.app.desktop.identity import APP_ID

from ..words import Stop, say
from .archive import normalise, pack
from .other_systems import Laying, copy_interpreter, given_python, install_packages, target
from .source import Source

OLDEST = "13.0"
"""As the wheels of the lock are chosen, and the launcher is built."""
MACHINES = {"arm64": "macosx_arm64", "x86_64": "macosx_x86_64"}
SCHEME = "assent"
"""Of the links that open the app; on other systems the menu entry says it."""
_NAME = re.compile(r"python(3\.\d+)")


def make_macos(
    source: Source, wheel: Path, python: Path | None, work: Path, out: Path, machine: str = ""
) -> tuple[Path, Path]:
    """``assent-VERSION-macos-MACHINE.dmg``; elsewhere the bundle as ``.tar.gz``, which starts nothing yet. And where
    the packages in it lie in ``work``."""
    machine = machine or platform.machine()
    if machine not in MACHINES:
        raise Stop(f"There is no package for a Mac with {machine}.", f"Known are {' and '.join(MACHINES)}.")
    found = given_python(python, "bin/python3", "macos")
    app = work / "Assent.app"
    version = lay_bundle(source, found, app)
    library = app / "Contents/lib" / f"python{version}"
    place = Laying(app / "Contents", library, target(MACHINES[machine]), version, "macos")
    install_packages(source, wheel, place, {"Python": full_version(found, version)})
    normalise(app, source.epoch)
    name = f"assent-{source.version}-macos-{machine}"
    if sys.platform != "darwin":
        say("no Mac: the bundle is laid, but has no launcher, no signature and no disk image")
        made = out / f"{name}-unfinished.tar.gz"
        pack(app, made, source.epoch, top="Assent.app")
        return made, place.packages
    made = out / f"{name}.dmg"
    done = subprocess.run([str(source.folder / "packaging/macos/finish.sh"), str(app), str(made)])
    if done.returncode != 0:
        raise Stop("The bundle could not be finished; why stands above.", "See packaging/macos/finish.sh.")
    return made, place.packages


def lay_bundle(source: Source, python: Path, app: Path) -> str:
    """All but the packages and the launcher. Returns Python's version.

    Python's prefix is ``Contents`` itself: so the boundary closes all of the bundle to agents, the launcher too."""
    names = [match[1] for path in (python / "bin").iterdir() if (match := _NAME.fullmatch(path.name))]
    if len(names) != 1:
        raise Stop(f"{python}/bin has no python3.NN, or several.", "Give the folder of one Python.")
    if (python / "bin" / f"python{names[0]}").is_symlink():
        raise Stop(f"{python}/bin/python{names[0]} is a link.", "Give the folder in which the program itself lies.")
    contents = app / "Contents"
    copy_interpreter(python, contents)
    for path in list((contents / "bin").iterdir()):
        if path.name != f"python{names[0]}":
            path.unlink()
    (contents / "Resources").mkdir()
    shutil.copy(source.folder / "packaging/macos/assent.icns", contents / "Resources")
    with (contents / "Info.plist").open("wb") as file:
        plistlib.dump(information(source.version), file)
    return names[0]


def full_version(python: Path, series: str) -> str:
    """As 3.11.16; the series alone where its headers do not say more."""
    try:
        said = (python / "include" / f"python{series}" / "patchlevel.h").read_text("utf-8")
    except OSError:
        return series
    found = re.search(r'#define PY_VERSION\s+"([^"]+)"', said)
    return found[1] if found else series


def information(version: str) -> dict[str, object]:
    """What macOS is told of the bundle."""
    return {
        "CFBundleDevelopmentRegion": "en",
        "CFBundleDisplayName": "Assent",
        "CFBundleExecutable": "assent",
        "CFBundleIconFile": "assent",
        "CFBundleIdentifier": APP_ID,
        "CFBundleInfoDictionaryVersion": "6.0",
        "CFBundleName": "Assent",
        "CFBundlePackageType": "APPL",
        "CFBundleShortVersionString": version,
        "CFBundleURLTypes": [{"CFBundleURLName": APP_ID, "CFBundleURLSchemes": [SCHEME], "CFBundleTypeRole": "Viewer"}],
        "CFBundleVersion": version,
        "LSApplicationCategoryType": "public.app-category.productivity",
        "LSMinimumSystemVersion": OLDEST,
        "LSMultipleInstancesProhibited": True,
        "NSHighResolutionCapable": True,
        "NSPrincipalClass": "NSApplication",
    }
