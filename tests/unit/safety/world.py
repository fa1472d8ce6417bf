"""A small world for the boundary: a person's home, the app's home in it, a workspace, and a place outside."""

import dataclasses
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from desktop.domain.safety import DEFAULT_ENVIRONMENT, SafetySettings
from desktop.safety.boundary.opening import BoundaryFiles, PathWalker
from desktop.safety.boundary.policy import BoundaryPolicy
from desktop.safety.shell.network.own_settings import Places
from desktop.safety.shell.reader import BashReader


@dataclass
class World:
    """Real folders under a temporary root; `settings` is what the policy sees at its next call."""

    root: Path
    settings: SafetySettings = field(init=False)
    found: dict[str, str] = field(default_factory=dict)
    """What commands find in their environment beside what is there anyway."""
    fresh: bool = True
    """Whether the folders are made; else they are there."""

    def __post_init__(self) -> None:
        self.root = Path(os.path.realpath(self.root))
        self.person = self.root / "person"
        self.home = self.person / ".agent"
        self.workspace = self.home / "workspace"
        self.outside = self.root / "outside"
        self.ssh = self.person / ".ssh"
        self.settings = SafetySettings(workspace=str(self.workspace), allowed=(str(self.workspace),))
        if not self.fresh:
            return
        for folder in (self.workspace, self.outside, self.ssh, self.home / "data", self.home / "agents"):
            folder.mkdir(parents=True)
        (self.ssh / "id_rsa").write_text("PRIVATE")
        (self.outside / "secret.txt").write_text("OUTSIDE")
        (self.home / "data" / "assent.db").write_text("CONVERSATIONS")
        (self.workspace / "note.txt").write_text("note\n")

    def change(self, **fields: Any) -> None:
        self.settings = dataclasses.replace(self.settings, **fields)

    @property
    def policy(self) -> BoundaryPolicy:
        return BoundaryPolicy(str(self.home), lambda: self.settings)

    def files(self, walker: PathWalker | None = None) -> BoundaryFiles:
        return BoundaryFiles(self.policy, walker)

    @property
    def reader(self) -> BashReader:
        places = Places((str(self.person),), (str(self.root / "etc"),))
        return BashReader(self.policy, lambda: self.settings, lambda: {**os.environ, **self.found}, places)

    def let_find(self, found: dict[str, str]) -> None:
        """Commands get these variables, too."""
        self.found = found
        self.change(environment_allowlist=(*DEFAULT_ENVIRONMENT, *found))
