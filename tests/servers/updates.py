"""A server of updates: real packages with a very small Assent in them, signed with real keys by the publisher of
packaging/publishing, served by a real HTTP server that can also be a bad one."""

import io
import json
import tarfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from publishing.keys import make_keys, read_keys
from publishing.packages import packages_in
from publishing.repository import Repository

from desktop.domain.updates.rights import Manifest, Right, written
from desktop.services.updates.build import UpdateSource, system
from tests.servers.raw_web import RawWeb

BASH = Right("tool:bash", "admin", "Runs shell commands", "Each is judged.")
INSIDE = "lib/site-packages/resources"
"""Where in a version its resources lie."""
START = (
    '#!/bin/sh\nif [ "$1" = --version ]; then echo "assent {version}"; exit 0; fi\necho "{version}:$*"\nexit {code}\n'
)
Change = Callable[[tarfile.TarInfo, bytes], tuple[tarfile.TarInfo, bytes] | None]


def manifest(version: str, *rights: Right, database: int = 19) -> Manifest:
    return Manifest(version, {one.id: one for one in (BASH, *rights)}, {"database": database})


@dataclass
class SmallAssent:
    """A version of a few small files, as a package holds it."""

    version: str
    rights: Manifest | None = None
    news: str = "- One thing is\n  better.\n- Another, too.\n"
    code: int = 0
    """With what its start ends."""
    start: str = ""
    """What starts it instead of the usual."""
    more: Mapping[str, bytes] = field(default_factory=dict)

    def files(self) -> dict[str, bytes]:
        """By their path below the folder of the version."""
        start = self.start or START.format(version=self.version, code=self.code)
        changelog = f"# What is new\n\n## {self.version}\n\n{self.news}\n## 1.0\n\n- The first.\n"
        return {
            "bin/assent": start.encode(),
            f"{INSIDE}/rights.json": written(self.rights or manifest(self.version)).encode(),
            f"{INSIDE}/CHANGELOG.md": changelog.encode(),
            **self.more,
        }

    def lay(self, top: Path) -> Path:
        """As a person has it unpacked: beside others, not current."""
        place = top / "versions" / self.version
        for name, content in self.files().items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_bytes(content)
        (place / "bin/assent").chmod(0o755)
        return place

    def members(self) -> Iterator[tuple[tarfile.TarInfo, bytes]]:
        begin = f"assent/versions/{self.version}"
        for folder in ("assent", "assent/versions", begin, f"{begin}/bin"):
            yield _member(folder, tarfile.DIRTYPE, 0o755), b""
        yield _member("assent/assent", tarfile.REGTYPE, 0o755), b"#!/bin/sh\n"
        link = _member("assent/versions/current", tarfile.SYMTYPE, 0o777)
        link.linkname = self.version
        yield link, b""
        for name, content in self.files().items():
            mode = 0o755 if name.startswith("bin/") else 0o644
            yield _member(f"{begin}/{name}", tarfile.REGTYPE, mode, len(content)), content

    def pack(self, folder: Path, *more: tuple[tarfile.TarInfo, bytes], change: Change | None = None) -> Path:
        """The package in a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"assent-{self.version}-{system()}.tar.gz"
        with tarfile.open(path, "w:gz") as archive:
            for member, content in (*self.members(), *more):
                changed = change(member, content) if change is not None else (member, content)
                if changed is not None:
                    archive.addfile(changed[0], io.BytesIO(changed[1]))
        return path


def _member(name: str, kind: bytes, mode: int, size: int = 0) -> tarfile.TarInfo:
    found = tarfile.TarInfo(name)
    found.type, found.mode, found.size, found.mtime = kind, mode, size, 1_795_132_800  # 20 November 2026
    return found


class UpdateServer:
    """The repository in ``folder``, served by ``web`` under ``/updates/``."""

    def __init__(self, folder: Path, web: RawWeb) -> None:
        self.folder, self.web = folder, web
        self.served = folder / "served"
        self.keys = folder / "keys"
        make_keys(self.keys)
        self.publish()

    def publish(self, *packages: Path, now: datetime | None = None) -> None:
        """Publish and serve what is there then."""
        found = packages_in(packages[0].parent) if packages else []
        Repository(self.served, read_keys(self.keys), now or datetime.now(UTC)).publish(found)
        self.serve()

    def offer(self, assent: SmallAssent, *more: tuple[tarfile.TarInfo, bytes], change: Change | None = None) -> Path:
        """Publish one version."""
        package = assent.pack(self.folder / "packages" / assent.version, *more, change=change)
        self.publish(package)
        return package

    def serve(self) -> None:
        """Serve what lies in the folder now, and nothing else."""
        self.web.answers.clear()
        for path in self.served.rglob("*"):
            if path.is_file():
                self.web.page(f"/updates/{path.relative_to(self.served)}", path.read_bytes(), kind="application/json")

    def path(self, end: str) -> str:
        """The path of the one file that ends so."""
        (found,) = [path for path in self.web.answers if path.endswith(end)]
        return found

    @property
    def source(self) -> UpdateSource:
        """What a build that looks here carries."""
        return UpdateSource(self.web.url("/updates/"), (self.served / "metadata/1.root.json").read_bytes())

    def asked(self) -> list[str]:
        """The paths that were asked for."""
        return [head.split(" ")[1] for head in self.web.seen]

    def newest(self) -> dict[str, object]:
        """What names the newest version."""
        found: dict[str, object] = json.loads((self.served / "targets" / f"{system()}.json").read_bytes())
        return found
