"""deb and rpm: one version of Assent below `/usr`, made by nFPM, without scripts that run at installation.

What they depend on follows from the files: each library that something in the tree asks for and that is not in it is in
the table of the app (`desktop/app/desktop/libraries.py`), or is named here with why nobody needs it.
"""

import gzip
import json
import os
import re
import shutil
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path
from typing import Any

from desktop.app.desktop.libraries import PACKAGES

from ..licences import notices
from ..words import Stop
from . import elf
from .archive import normalise
from .calling import call
from .folder import Version, as_kind
from .source import Source

MAINTAINER = "The authors of Assent <assent@localhost.invalid>"
"""Nobody has named an address yet."""
SUMMARY = "People and AI agents at work, with every effect approved"
TEXT = f"""{SUMMARY}
 Assent is a desktop app in which people and AI agents work together. Whatever
 an agent does, from reading a file to running a command, goes through rules
 and questions that the person controls. It brings its own Python."""
OPTIONAL = re.compile(
    r"lib(gtk-3|gdk-3|gdk_pixbuf-2\.0|pango-1\.0|pangocairo-1\.0|cairo|cairo-gobject|atk-1\.0|gio-2\.0|gobject-2\.0"
    r"|harfbuzz|wayland-egl)\.so\.\d+"
)
"""Only the plugins for GTK's dialogs and for Wayland with OpenGL ask for them, and Qt goes on without those."""
ALWAYS = re.compile(r"ld-linux.*|lib(c|m|dl|rt|pthread)\.so\.\d+|libgcc_s\.so\.1")
RENAMED = {"libglib2.0-0": "libglib2.0-0t64 | libglib2.0-0"}
"""By Debian since its change to 64 bits of time, and by Ubuntu."""


def make_deb(version: Version, work: Path, out: Path) -> Path:
    """``assent_VERSION_amd64.deb``."""
    root = lay_system(version, work / "deb", "deb")
    major, minor = elf.newest_glibc(version.prefix)
    packages = {PACKAGES[library][0] for library in needed_libraries(version)}
    needed = sorted(RENAMED.get(name, name) for name in packages)
    special = {
        "depends": [f"libc6 (>= {major}.{minor})", "libgcc-s1", *needed],
        "recommends": ["bubblewrap", "xdg-desktop-portal", "gnome-keyring | kwalletmanager | keepassxc"],
        "deb": {"compression": "zstd"},
    }
    return _packed(version.source, root, special, "deb", work, out / f"assent_{version.source.version}_amd64.deb")


def make_rpm(version: Version, work: Path, out: Path) -> Path:
    """``assent-VERSION-1.x86_64.rpm``."""
    root = lay_system(version, work / "rpm", "rpm")
    versions = [f"{library}({needed})(64bit)" for library, needed in elf.newest_versions(version.prefix)]
    special = {
        "depends": [*versions, *(f"{library}()(64bit)" for library in needed_libraries(version))],
        "recommends": ["bubblewrap", "xdg-desktop-portal"],
        "rpm": {"compression": "zstd", "buildhost": "assent", "summary": SUMMARY, "group": "Applications"},
    }
    return _packed(version.source, root, special, "rpm", work, out / f"assent-{version.source.version}-1.x86_64.rpm")


def lay_system(version: Version, root: Path, kind: str) -> Path:
    """Everything as it will lie below `/`."""
    usr = root / "usr"
    made = as_kind(version, usr / "lib" / "assent", kind)
    shutil.move(made.prefix / "share", usr / "share")
    if kind == "rpm":
        completions = usr / "share" / "zsh"
        (completions / "vendor-completions").rename(completions / "site-functions")
    (usr / "bin").mkdir()
    (usr / "bin" / "assent").symlink_to("../lib/assent/bin/assent")
    _write_documents(made, usr / "share" / "doc" / "assent", kind)
    normalise(root, version.source.epoch)
    return root


def needed_libraries(version: Version) -> list[str]:
    """Those of the system without which the window does not open."""
    outside = elf.from_outside(version.prefix)
    needed = sorted(name for name in outside if not ALWAYS.fullmatch(name) and not OPTIONAL.fullmatch(name))
    unknown = [name for name in needed if name not in PACKAGES]
    if unknown:
        raise Stop(
            f"Nobody knows which package has {', '.join(unknown)}.",
            "Add it to desktop/app/desktop/libraries.py, or say in system_packages.py why nobody needs it.",
        )
    return needed


def _write_documents(version: Version, folder: Path, kind: str) -> None:
    """Licences and what is new, where the system's tools look for them."""
    folder.mkdir(parents=True)
    licences = version.packages / "resources" / "licences"
    own = "LicenseRef-not-chosen"
    text = notices.debian_copyright(licences, "Assent", own) if kind == "deb" else notices.notices(licences, "Assent")
    (folder / "copyright").write_text(text, encoding="utf-8")
    _write_gzip(folder / "NEWS.gz", (version.source.folder / "CHANGELOG.md").read_bytes())
    if kind == "deb":
        _write_gzip(folder / "changelog.gz", _changelog(version.source).encode())


def _write_gzip(path: Path, content: bytes) -> None:
    path.write_bytes(gzip.compress(content, 9, mtime=0))


def _changelog(source: Source) -> str:
    day = format_datetime(datetime.fromtimestamp(source.epoch, UTC))
    return (
        f"assent ({source.version}) unstable; urgency=medium\n\n"
        f"  * Made of commit {source.commit}; NEWS.gz says what is new.\n\n"
        f" -- {MAINTAINER}  {day}\n"
    )


def _packed(source: Source, root: Path, special: Mapping[str, Any], kind: str, work: Path, out: Path) -> Path:
    """nFPM reads YAML, of which JSON is a part."""
    when = source.built
    plain = {
        "name": "assent",
        "arch": "amd64",
        "platform": "linux",
        "version": source.version,
        "version_schema": "none",
        "release": "1" if kind == "rpm" else "",
        "section": "utils",
        "priority": "optional",
        "maintainer": MAINTAINER,
        "description": TEXT,
        "license": "LicenseRef-not-chosen",
        "mtime": when,
        "contents": _contents(root),
        **special,
    }
    settings = work / f"nfpm-{kind}.yaml"
    settings.write_text(json.dumps(plain), encoding="utf-8")
    command = [str(Path(sys.executable).parent / "nfpm"), "package", "-f", str(settings), "-p", kind, "-t", str(out)]
    environment = {"PATH": os.environ["PATH"], "SOURCE_DATE_EPOCH": str(source.epoch), "HOME": str(work)}
    call(command, f"make the {kind}", "Remove build/package-tools, then run this again.", environment)
    return out


def _contents(root: Path) -> list[dict[str, Any]]:
    """Every file and link by itself, so that their rights are written here; folders of the system are not claimed."""
    owned = {"owner": "root", "group": "root"}
    found: list[dict[str, Any]] = []
    for path in sorted(root.rglob("*")):
        place = f"/{path.relative_to(root).as_posix()}"
        if path.is_symlink():
            found.append({"src": os.readlink(path), "dst": place, "type": "symlink", "file_info": owned})
        elif path.is_file():
            mode = path.stat().st_mode & 0o777
            found.append({"src": str(path), "dst": place, "file_info": {**owned, "mode": mode}})
        elif place.startswith(("/usr/lib/assent", "/usr/share/doc/assent")):
            found.append({"dst": place, "type": "dir", "file_info": {**owned, "mode": 0o755}})
    return found
