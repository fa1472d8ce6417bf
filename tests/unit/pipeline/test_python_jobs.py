"""Python code skills in a job: what a person opened for the session is not open to them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from desktop.pipeline.skills.python_worker import PythonWorker
from desktop.safety.confinement.select import SystemConfinement
from tests.unit.pipeline.kit import Person
from tests.unit.pipeline.skill_kit import SkillBench, file_skill, skill
from tests.unit.safety.world import World


@pytest.mark.parametrize("kind", ["bubblewrap", "landlock"])
@pytest.mark.spec("R-FS-8", "R-CRON-5")
async def test_in_a_job_it_writes_in_no_folder_that_is_open_for_the_session_only(tmp_path: Path, kind: Any) -> None:
    world = World(tmp_path)
    opened, path = world.root / "opened", world.home / "skills" / "mine.skill.py"
    opened.mkdir()
    path.parent.mkdir(exist_ok=True)
    world.change(granted=(str(opened),))
    confinement = SystemConfinement(world.policy, lambda: world.settings, kinds=(kind,))
    if confinement.probe().kind == "none":
        pytest.skip("it is not to be had here")
    path.write_text(f"def run(ctx, args):\n    open({str(opened / 'new.txt')!r}, 'w').close()\n")
    worker = PythonWorker(confinement, lambda: world.settings.workspace, lambda one: Path(one.path).read_text())
    mine, job = file_skill(path, skill("mine", kind="python", category="write")), object()
    bench = SkillBench(mine, person=Person("allow_once", "allow_once"), runs={"python": worker})
    attended = bench.root
    bench.root = replace(attended, meta=replace(attended.meta, unattended=job))  # type: ignore[arg-type]  # any job
    assert ((await bench.call("mine")).state, (opened / "new.txt").exists()) == ("failed", False)
    bench.root = attended
    await bench.call("mine")
    assert (opened / "new.txt").exists()
    confinement.close()
