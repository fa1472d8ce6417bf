"""A server of updates, and an installation that has 1.2.4."""

import os
import shutil
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from desktop.domain.processes import Child
from desktop.safety.confinement.linux import launcher
from desktop.services.updates.installing import Server
from desktop.services.updates.memory import Memory
from desktop.services.updates.versions import Versions
from desktop.workers.web_child import update_host
from tests.servers.raw_web import raw_web
from tests.servers.updates import SmallAssent, UpdateServer

ROOT = Path(__file__).resolve().parents[4]


def installed(top: Path, version: str = "1.2.4", **how: object) -> Versions:
    """An installation as a person unpacks it."""
    SmallAssent(version, **how).lay(top)  # type: ignore[arg-type]
    shutil.copy(ROOT / "packaging/launcher/assent", top / "assent")
    os.symlink(version, top / "versions/current")
    return Versions(top, version)


@pytest.fixture
def versions(tmp_path: Path) -> Versions:
    return installed(tmp_path / "assent")


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[UpdateServer]:
    async with raw_web() as web:
        yield UpdateServer(tmp_path / "server", web)


def confined(folders: Sequence[str]) -> Child:
    return update_host(folders, launcher=launcher.__file__)


@pytest.fixture
def asking(server: UpdateServer, tmp_path: Path) -> Server:
    """Asks the server, as 1.2.4 does."""
    return Server(server.source, Memory(tmp_path / "home"), confined, "1.2.4")
