"""What a person allowed is this code: not a name, which another file may bear, nor a file, which may change."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.approval.permission import AuditEntry, Decision, PermissionRequest
from desktop.domain.files.work_place import NOWHERE
from desktop.domain.safety import SafetySettings
from desktop.domain.skills import SkillDef
from desktop.pipeline.skill_tool import SkillTool
from desktop.safety.permission.gate import PermissionGate
from desktop.services.rules.trust import TrustRules
from tests.unit.pipeline.skill_kit import SkillBench, file_skill, skill


class Worker:
    """Code skills that only note what they would have run."""

    def __init__(self) -> None:
        self.ran: list[tuple[str, str]] = []

    async def run(self, definition: SkillDef, context: Any, args: Any) -> str:
        self.ran.append((definition.path, Path(definition.path).read_text()))
        return "ran"

    def refusal(self, _definition: SkillDef) -> None:
        return None


class EffectRequest:
    """A person who always answers the same."""

    def __init__(self, choice: Any) -> None:
        self.choice = choice
        self.requests: list[PermissionRequest] = []

    async def ask(self, request: PermissionRequest) -> Decision:
        self.requests.append(request)
        return Decision(self.choice, request.digest)


async def _log(_entry: AuditEntry) -> int:
    return 1


class Place:
    """Skill files, one at a time under one name, before one gate that remembers."""

    def __init__(self, folder: Path, choice: str) -> None:
        self.folder = folder
        self.person, self.worker = EffectRequest(choice), Worker()
        self.gate = PermissionGate(self.person, TrustRules(), _log, lambda: SafetySettings(workspace="/w"))

    def write(self, text: str, name: str = "a", source: str = "mine") -> SkillDef:
        path = self.folder / name / "deploy.skill.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return file_skill(path, skill("deploy", kind="python", category="write", source=source))

    async def call(self, definition: SkillDef, args: Any = None) -> int:
        """How many questions it took."""
        before = len(self.person.requests)
        bench = SkillBench(definition, person=self.gate, runs={"python": self.worker})  # type: ignore[arg-type]
        outcome = await bench.call("deploy", args or {})
        await bench.owner.close()
        assert outcome.result.text == "ran"
        return len(self.person.requests) - before


@pytest.mark.spec("R-PRM-3", "R-SK-14")
@pytest.mark.parametrize("choice", ["allow_run", "allow_always"])
async def test_allowed_for_the_run_is_this_file_as_it_is_for_these_arguments(tmp_path: Path, choice: str) -> None:
    place = Place(tmp_path, choice)
    first = place.write("one")
    assert await place.call(first) == 1
    assert await place.call(first) == 0
    assert await place.call(first, {"to": "production"}) == 1
    stamp = os.stat(first.path)
    changed = place.write("two")
    os.utime(changed.path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert await place.call(changed) == 1
    assert await place.call(place.write("one")) == 0
    assert await place.call(place.write("one", "b")) == 1


@pytest.mark.spec("R-PRM-3")
async def test_a_markdown_skill_is_remembered_by_its_file_too(tmp_path: Path) -> None:
    found = []
    for name in ("a", "b"):
        path = tmp_path / f"{name}.skill.md"
        path.write_text("x")
        made = SkillTool(file_skill(path, skill("x", kind="markdown", category="write")), None)  # type: ignore[arg-type]
        found.append((await made.precheck({}, NOWHERE)).constraint)
    assert found[0] != found[1]
    assert all(found)
