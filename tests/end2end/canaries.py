"""Canaries: secrets made for one test, every writing in which they may turn up, and the search for them in files and
processes. The writings are listed here on their own, not taken from the code that is tested."""

import base64
import contextlib
import glob
import html
import json
import os
import secrets
import stat
import threading
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import re2

PLACES = {
    "provider key": "cnp",
    "tool secret": "cnt",
    "another program's secret": "cnf",
    "host variable": "cnh",
    "password in an address": "cnb",
    "key in an address": "cnu",
    "key in config.yaml": "cnc",
    "key pasted into a chat": "sk-cnm",
}


_BLANKS = b" \t\n\r\x0b\f"
"""What ``bytes.split`` parts at."""


def make() -> dict[str, str]:
    """One value for each place where a secret can come in; letters, digits, and signs that are escaped somewhere."""
    made = {place: f"{mark}-{secrets.token_hex(9)}+/&{secrets.token_hex(9)}" for place, mark in PLACES.items()}
    for place in ("password in an address", "key in an address", "key in config.yaml", "key pasted into a chat"):
        made[place] = made[place].replace("+/&", "Xy")
    return made


def writings(value: str) -> dict[str, bytes]:
    """How a value may be written, by the name of the writing."""
    raw = value.encode()
    found = {
        "plain": value,
        "json": json.dumps(value)[1:-1],
        "json, slashes": json.dumps(value)[1:-1].replace("/", "\\/"),
        "html": html.escape(value),
        "url": urllib.parse.quote(value, safe=""),
        "url path": urllib.parse.quote(value),
        "url form": urllib.parse.quote_plus(value),
        "url, every byte": "".join(f"%{b:02X}" for b in raw),
        "hex": raw.hex(),
        "HEX": raw.hex().upper(),
        "hex, colons": raw.hex(":"),
        "backwards": value[::-1],
        "escapes": "".join(f"\\x{b:02x}" for b in raw),
        "base32": base64.b32encode(raw).decode().rstrip("="),
    }
    for at in range(3):
        core = base64.b64encode(b"\0" * at + raw).decode()[(at * 4 + 2) // 3 + (1 if at else 0) : -4]
        found[f"base64, place {at}"] = core
        found[f"base64 for urls, place {at}"] = core.replace("+", "-").replace("/", "_")
    return {name: text.encode() for name, text in found.items()} | {"utf-16": value.encode("utf-16-le")}


def said(value: str) -> list[str]:
    """What programs say of a value: whole writings, alone and inside longer ones."""
    raw = value.encode()
    longer = [base64.b64encode(before + raw).decode() for before in (b"", b"x", b"me:", b"X=")]
    broken = base64.encodebytes(b"x" * 50 + raw).decode()
    texts = [
        text.decode("utf-16-le" if name == "utf-16" else "utf-8")
        for name, text in writings(value).items()
        if "place" not in name
    ]
    return [*texts, *longer, base64.urlsafe_b64encode(raw).decode(), broken, "\0".join(value), "\n  ".join(value)]


@dataclass
class Search:
    """Looks for canaries. ``hits`` are (canary, writing, where); ``looked_at`` counts what was looked through."""

    canaries: Mapping[str, str]
    hits: set[tuple[str, str, str]] = field(default_factory=set)
    looked_at: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.wanted = [
            (place, name, text) for place, value in self.canaries.items() for name, text in writings(value).items()
        ]
        parts = {place: max(value.replace("+/&", " ").split(), key=len) for place, value in self.canaries.items()}
        self.parts = [(place, part.split("-")[-1].encode()) for place, part in parts.items()]
        # One look in place of hundreds, where there is nothing: each writing by itself is looked for only after a hit.
        options = re2.Options()
        options.never_nl, options.max_mem = False, 64 << 20
        options.encoding = re2.Options.Encoding.LATIN1
        self._any_writing = re2.compile(b"|".join(re2.escape(text) for _, _, text in self.wanted), options)
        self._any_part = re2.compile(b"|".join(re2.escape(part.lower()) for _, part in self.parts), options)

    def text(self, data: bytes, where: str, kind: str) -> None:
        """Look through bytes as they are, without white space and line ends, and for a part in small letters, which is
        what a search index keeps."""
        self.looked_at[kind] = self.looked_at.get(kind, 0) + 1
        close = data.translate(None, _BLANKS).replace(b"\\n", b"")
        if self._any_writing.search(data) or self._any_writing.search(close):
            for place, name, text in self.wanted:
                if text in data or text in close:
                    self.hits.add((place, name, where))
        small = data.lower()
        if self._any_part.search(small):
            for place, part in self.parts:
                if part.lower() in small:
                    self.hits.add((place, "a half of it", where))

    def folder(self, folder: Path) -> None:
        """Every byte of every file below, and every name."""
        for path in sorted(folder.rglob("*")):
            self.text(str(path).encode(), f"the name {path}", "names")
            if path.is_file() and not path.is_symlink():
                self.text(path.read_bytes(), str(path), "files")
                self.looked_at["bytes"] = self.looked_at.get("bytes", 0) + path.stat().st_size

    def shared(self, folder: Path, since: float, without: tuple[str, ...]) -> None:
        """What is new in a folder that others use, too, such as /tmp; ``without`` begins names that are not ours.
        Nor is a disk that somebody mounted there, or a /proc, in which reading may take for ever."""
        waiting, disk = [folder], folder.stat().st_dev  # others have folders so deep in there that os.walk gives up
        while waiting:
            place = waiting.pop()
            with contextlib.suppress(OSError), os.scandir(place) as entries:  # what vanishes meanwhile is others', too
                for entry in entries:
                    if place == folder and entry.name.startswith(without):
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        with contextlib.suppress(OSError):
                            waiting += [Path(entry.path)] if entry.stat(follow_symlinks=False).st_dev == disk else []
                        continue
                    found = entry.stat(follow_symlinks=False)
                    if stat.S_ISREG(found.st_mode) and found.st_mtime >= since and found.st_size < 5_000_000:
                        with contextlib.suppress(OSError):
                            self.text(Path(entry.path).read_bytes(), entry.path, "new files in /tmp")

    def figures(self) -> str:
        """places x canaries x writings."""
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in sorted(self.looked_at.items()))
        return f"{len(self.canaries)} canaries x {len(self.wanted) // len(self.canaries)} writings in {kinds}"


class Watch:
    """Looks at the arguments and the environment of a process and of all below it, again and again, until it is
    closed. ``environments`` are the hits there, by what the process is."""

    def __init__(self, root: int, search: Search) -> None:
        self._root = root
        self._search = search
        self._seen: set[tuple[int, bytes]] = set()
        self._stop = threading.Event()
        self.environments: set[tuple[str, str]] = set()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(0.01):
            for process in self._tree():
                with contextlib.suppress(OSError):
                    self._look(process)

    def _look(self, process: int) -> None:
        place = Path(f"/proc/{process}")
        command, environment = place.joinpath("cmdline").read_bytes(), place.joinpath("environ").read_bytes()
        key = (process, command)
        if not environment or key in self._seen:
            return
        self._seen.add(key)
        self._search.text(command, f"the arguments of {command[:60]!r}", "processes' arguments")
        mine = Search(self._search.canaries)
        mine.text(environment, "", "")
        self._search.looked_at["processes' environments"] = self._search.looked_at.get("processes' environments", 0) + 1
        own = (
            process == self._root or command == Path(f"/proc/{self._root}/cmdline").read_bytes()
        )  # about to be another
        what = "app" if own else "tool" if b"TOKEN=" in environment else command.decode("utf-8", "replace")
        self.environments |= {(place, what) for place, _, _ in mine.hits}

    def _tree(self) -> list[int]:
        """Itself and all below it, without a look at the processes of others, which takes ten times as long."""
        found, waiting = [self._root], [self._root]
        while waiting:
            for thread in glob.glob(f"/proc/{waiting.pop()}/task/*/children"):
                with contextlib.suppress(OSError):
                    below = list(map(int, Path(thread).read_bytes().split()))
                    found += below
                    waiting += below
        return found
