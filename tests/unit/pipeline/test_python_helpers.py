"""``import assent`` in a skill's own process: the helpers (S-RES-1), and nothing else of the app."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from desktop.pipeline.skills.python_worker import PythonWorker
from desktop.safety.confinement.select import SystemConfinement
from desktop.skills.values import for_skills
from tests.unit.pipeline.skill_kit import SkillBench, file_skill, skill
from tests.unit.safety.world import World

pytestmark = pytest.mark.spec("S-RES-1")

CODE = """
import assent

def run(ctx, args):
    made = {}
    assent.path_set(made, "a.b", 1)
    try:
        assent.ctx_target(ctx)
    except Exception as error:
        made["served"] = type(error).__name__
    try:
        import desktop.safety
    except ImportError:
        made["closed"] = True
    made["names"] = sorted(name for name in assent.__all__ if callable(getattr(assent, name)))
    made["found"] = assent.path_query({"x": [{"y": 1}, {"y": 2}]}, "$.x[*].y")
    made["text"] = assent.stringify({"at": {1, 2}})
    return made
"""


@pytest.mark.parametrize("kind", ["bubblewrap", "landlock"])
async def test_the_helpers_work_inside_the_walls_and_nothing_else_is_there(tmp_path: Path, kind: Any) -> None:
    world = World(tmp_path)
    confinement = SystemConfinement(world.policy, lambda: world.settings, kinds=(kind,))
    if confinement.probe().kind == "none":
        pytest.skip("it is not to be had here")
    path = world.home / "skills" / "mine.skill.py"
    path.parent.mkdir(exist_ok=True)
    path.write_text(CODE)
    worker = PythonWorker(confinement, lambda: world.settings.workspace, lambda one: Path(one.path).read_text())
    bench = SkillBench(file_skill(path, skill("mine", kind="python", category="read")), runs={"python": worker})
    outcome = await bench.call("mine")
    made = outcome.result.structured
    assert made is not None, outcome.result.text
    assert (made["a"], made["served"], made["closed"]) == ({"b": 1}, "ConfigurationError", True)
    assert made["names"] == sorted(for_skills.__all__)
    assert (made["found"], made["text"]) == ([1, 2], '{"at":[1,2]}')
    confinement.close()
