"""Which programs agents may change, by the real boundary and the folders that chats work in."""

from pathlib import Path

import pytest

from desktop.services.projects.writing import AgentsWriting
from tests.unit.services.projects.test_service import chosen


async def test_agents_may_change_what_lies_in_their_folders_or_is_reached_by_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with chosen(tmp_path, monkeypatch) as at:
        writing = AgentsWriting(at.service, at.places.files())
        project, apart = at.work / "tides" / "bin", at.places.person / "tools"
        for folder in (project, apart):
            folder.mkdir(parents=True)
            (folder / "llama-server").touch()
        link = at.places.workspace / "tools"
        link.symlink_to(apart)
        assert not await writing(str(apart / "llama-server"))
        assert await writing(str(link / "llama-server")), "the link can lead elsewhere tomorrow"
        assert await writing(str(at.places.workspace / "llama-server"))
        assert not await writing(str(project / "llama-server"))
        await at.service.choose(await at.world.thread(), str(at.work / "tides"))
        assert await writing(str(project / "llama-server"))
