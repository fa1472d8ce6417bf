"""The code sandbox of the running app: JavaScript skills run in it, and nothing of it is left at the end."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from desktop.app.wiring.runtime import build_services
from desktop.settings import SettingsService
from tests.harness.timeouts import WAIT_S
from tests.unit.app.test_opening import Nobody

SKILL = """export const frontmatter = {
  name: 'js-sum', description: 'Adds numbers.',
  metadata: { category: 'read', params: { type: 'object', properties: { all: { type: 'array' } } } },
}
export default async (ctx, args) => {
  let sum = 0
  for (const one of args.all) sum += one
  return { sum, skills: (await ctx.manager.invoke('skill-list', { query: 'js-sum' })) !== null }
}
"""


@pytest.mark.spec("R-SK-14", "R-COD-16")
async def test_a_javascript_skill_of_ones_own_runs_in_the_app(tmp_path: Path) -> None:
    settings = SettingsService(tmp_path)
    await settings.load()
    (tmp_path / "data").mkdir()
    (tmp_path / "skills").mkdir()
    (tmp_path / "skills" / "js-sum.skill.js").write_text(SKILL)
    services = await build_services(tmp_path, settings, Nobody(), windows=lambda _ref: None)
    try:
        await asyncio.to_thread(services.skills.fabric.refresh)
        outcome = services.skill_service.try_it("js-sum", {"all": [1, 2, 3]}, lambda _event: None).work
        async with asyncio.timeout(WAIT_S):
            done = await outcome
        assert done.result.structured == {"sum": 6, "skills": True}, done.result.text
        ready = services.code._made()._ready
        assert ready is not None
        pid = (await ready).pid
        folder = services.code._folder
        assert folder is not None
        assert Path(folder.path).is_dir()
    finally:
        await services.stop_children()
        await services.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert not Path(folder.path).exists()
