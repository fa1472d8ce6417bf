"""The repository: metadata that is signed, and beside it the files that the metadata names.

A client of the framework takes nothing that is not signed by as many keys as the root says, that is older than what it
has seen, whose time is over, or that is a mixture of two states. So each publishing counts all versions up, and one has
to be made (``dev.py publish`` without packages) before the shortest time is over.
"""

import json
import shutil
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from securesystemslib.signer import CryptoSigner
from tuf.api.metadata import Metadata, MetaFile, Root, Snapshot, TargetFile, Targets, Timestamp

from .keys import ROLES
from .packages import Package

VALID_DAYS = {"root": 365, "targets": 180, "snapshot": 30, "timestamp": 14}
"""For how long each is signed: a server that is kept from giving out anything newer is noticed after the last."""


class Repository:
    """``folder`` is what is served; ``keys`` those that are at hand. ``now`` is the time from which it is valid."""

    def __init__(self, folder: Path, keys: Mapping[str, CryptoSigner], now: datetime | None = None) -> None:
        self.metadata, self.targets = folder / "metadata", folder / "targets"
        self._keys, self._now = keys, now or datetime.now(UTC)

    def publish(self, packages: Sequence[Package]) -> list[str]:
        """Add packages and sign; says what was done. Without packages only the times are renewed. Raises ValueError
        where a key is missing."""
        for folder in (self.metadata, self.targets):
            folder.mkdir(parents=True, exist_ok=True)
        said = [] if self._newest("root") else [self._make_root()]
        targets = self._load("targets") or Metadata(Targets())
        for package in packages:
            said.append(self._add(targets, package))
        if packages or not self._newest("targets"):
            self._sign("targets", targets)
        snapshot = self._load("snapshot") or Metadata(Snapshot())
        snapshot.signed.meta["targets.json"] = MetaFile(self._newest("targets"))
        self._sign("snapshot", snapshot)
        timestamp = self._load("timestamp") or Metadata(Timestamp())
        timestamp.signed.snapshot_meta = MetaFile(self._newest("snapshot"))
        self._sign("timestamp", timestamp)
        return said

    def for_builds(self, folder: Path, address: str) -> str:
        """What `dev.py package --updates` puts into a build: whose signatures count, and where is looked. Raises
        ValueError without an address that is encrypted."""
        if not address.startswith("https://"):
            raise ValueError("--address has to begin with https://")
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(self._path("root", self._newest("root")), folder / "root.json")
        (folder / "source.json").write_text(json.dumps({"address": address}) + "\n", "utf-8")
        return f"for `dev.py package --updates {folder}`: {address}"

    def _make_root(self) -> str:
        root = Root(consistent_snapshot=True)
        for role in ROLES:
            root.add_key(self._key(role).public_key, role)
        self._sign("root", Metadata(root))
        return f"a new root of trust: {self._path('root', 1)}"

    def _add(self, targets: Metadata[Targets], package: Package) -> str:
        rights = f"assent-{package.version}-{package.system}.rights.json"
        newest = f"{package.system}.json"
        shutil.copyfile(package.path, self.targets / package.path.name)
        (self.targets / rights).write_bytes(package.rights)
        said: dict[str, Any] = {
            "version": package.version,
            "date": package.date,
            "unpacked": package.unpacked,
            "package": package.path.name,
            "rights": rights,
            "news": list(package.news),
        }
        (self.targets / newest).write_text(json.dumps(said, ensure_ascii=False), "utf-8")
        for name in (package.path.name, rights, newest):
            targets.signed.targets[name] = TargetFile.from_file(name, str(self.targets / name))
        return f"{package.version} for {package.system}: {package.path.stat().st_size:,} bytes"

    def _key(self, role: str) -> CryptoSigner:
        if role not in self._keys:
            raise ValueError(f"the key {role}.pem is missing")
        return self._keys[role]

    def _sign(self, role: str, metadata: Metadata[Any]) -> None:
        number = self._newest(role) + 1
        metadata.signed.version = number
        metadata.signed.expires = (self._now + timedelta(days=VALID_DAYS[role])).replace(microsecond=0)
        metadata.sign(self._key(role))
        metadata.to_file(str(self._path(role, number)))

    def _path(self, role: str, number: int) -> Path:
        return self.metadata / (f"{role}.json" if role == "timestamp" else f"{number}.{role}.json")

    def _newest(self, role: str) -> int:
        """The number of the newest metadata of a role; 0: there is none."""
        if role == "timestamp":
            path = self.metadata / "timestamp.json"
            return int(json.loads(path.read_bytes())["signed"]["version"]) if path.exists() else 0
        numbers = [path.name.partition(".")[0] for path in self.metadata.glob(f"*.{role}.json")]
        return max((int(number) for number in numbers if number.isdigit()), default=0)

    def _load(self, role: str) -> Metadata[Any] | None:
        number = self._newest(role)
        return Metadata.from_file(str(self._path(role, number))) if number else None
