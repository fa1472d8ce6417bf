"""Everything that belongs into `share`: menu entry, icons, AppStream data, manual page, completions."""

import datetime
import gzip
from collections.abc import Iterator
from pathlib import Path

from desktop import __version__
from desktop.app.desktop.identity import APP_ID
from linux import completion, icons
from linux.command_line import commands
from linux.manual import manual

HERE = Path(__file__).parent


def write_share(share: Path, date: datetime.date) -> list[Path]:
    """Write all files below ``share``; returns them in order. ``date``: of this version."""
    written = []
    for name, content in sorted(files(date)):
        path = share / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(0o644)
        written.append(path)
    return written


def files(date: datetime.date) -> Iterator[tuple[str, bytes]]:
    """(path below `share`, content)."""
    for name, text in _texts(date):
        yield name, text.encode()
    yield "man/man1/assent.1.gz", gzip.compress(manual(commands(), __version__, date).encode(), mtime=0)
    for side, picture in icons.pictures():
        yield f"icons/hicolor/{side}x{side}/apps/{APP_ID}.png", picture


def _texts(date: datetime.date) -> Iterator[tuple[str, str]]:
    yield f"applications/{APP_ID}.desktop", _here(".desktop")
    metainfo = _here(".metainfo.xml").replace("@VERSION@", __version__).replace("@DATE@", date.isoformat())
    yield f"metainfo/{APP_ID}.metainfo.xml", metainfo
    yield f"icons/hicolor/scalable/apps/{APP_ID}.svg", icons.drawing()
    known = commands()
    yield "bash-completion/completions/assent", completion.bash(known)
    yield "zsh/vendor-completions/_assent", completion.zsh(known)
    yield "fish/vendor_completions.d/assent.fish", completion.fish(known)


def _here(ending: str) -> str:
    return (HERE / f"{APP_ID}{ending}").read_text("utf-8")
