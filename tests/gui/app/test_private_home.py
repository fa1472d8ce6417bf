"""Everything that the app makes in its home is for the person alone."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop.presenter.settings.cli_example import EXAMPLE
from desktop.tools.person_file import ABSENT
from tests.gui.app.kit import call


@pytest.fixture
def usual_rights() -> Iterator[None]:
    """Of a system on which everybody may read what is made."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def open_to_others(home: Path) -> list[str]:
    found = [path for path in home.rglob("*") if "workspace" not in path.parts and not path.is_symlink()]
    assert len(found) > 20
    return [str(path.relative_to(home)) for path in found if stat.S_IMODE(path.lstat().st_mode) & 0o077]


@pytest.mark.usefixtures("usual_rights")
async def test_nothing_in_a_home_that_was_used_can_be_read_by_others(start):
    app = await start(call("write_file", path="a.txt", content="x"), [{"text": "Written."}])
    home, services, models = app.home.path, app.startup._services, app.models
    (home / "config.yaml").chmod(0o600)  # the test's own file; its rights stay as they are
    app.say("write it")
    request = await app.asked()
    models.approvals.answer(request.request_id, "allow_once", digest=request.digest)
    await app.answered("Written.")
    models.settings.set("appearance.theme", "dark")
    await app.until(lambda: "dark" in (home / "config.yaml").read_text(), "the settings")
    services.cli.save(EXAMPLE, ABSENT)
    skill = await services.skill_service.create("tides")
    copy = await services.skill_service.duplicate(skill, "tides-too")
    await services.skill_service.delete(copy, "tides-too")
    agents = services.agent_services.service
    path, text = agents.draft()
    agents.file(path).save(text, ABSENT)
    agents.delete(agents.duplicate(path))
    assert (home / "workspace" / "a.txt").read_text() == "x"
    assert open_to_others(home) == []
    await app.end()
    assert open_to_others(home) == []
