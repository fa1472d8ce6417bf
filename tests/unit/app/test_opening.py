"""Opening the services: all or nothing."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from pathlib import Path

import pytest

from desktop.app.wiring.runtime import build_services
from desktop.domain.approval.permission import Decision, PermissionRequest
from desktop.domain.errors import BugError
from desktop.settings import SettingsService
from desktop.store import Store
from tests.harness.timeouts import WAIT_S


class Nobody:
    async def ask(self, request: PermissionRequest) -> Decision:
        raise AssertionError(request)


def _open() -> bool:
    return any(thread.name == "assent-store" for thread in threading.enumerate())


@pytest.mark.spec("R-PRM-9")
async def test_an_opening_that_is_cancelled_or_fails_half_way_leaves_no_database_open(tmp_path: Path) -> None:
    settings = SettingsService(tmp_path)
    await settings.load()
    (tmp_path / "data").mkdir()
    opening = asyncio.ensure_future(build_services(tmp_path, settings, Nobody(), windows=lambda _ref: None))
    async with asyncio.timeout(WAIT_S):
        while not _open():
            await asyncio.sleep(0)
    opening.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await opening
    assert opening.cancelled()
    assert not _open()

    store = Store(tmp_path / "data" / "assent.db")
    await store.open()
    await store._thread.write(lambda connection: connection.execute("DROP TABLE rules"))
    await store.close()
    with pytest.raises(BugError, match="no such table"):
        await build_services(tmp_path, settings, Nobody(), windows=lambda _ref: None)
    assert not _open()
