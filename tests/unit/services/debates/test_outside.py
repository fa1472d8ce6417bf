"""What one side of a debate read from outside is before the other, too, also in a later run."""

from pathlib import Path

import pytest

from desktop.domain.approval.audit import AuditEntry
from desktop.domain.safety import SafetySettings
from desktop.models.scripted import ScriptedModel, says
from desktop.safety.permission.gate import PermissionGate
from desktop.services.rules.trust import TrustRules
from tests.unit.services.chats.test_outside_texts import FOLLOWS, READ, WRITE, Watcher, page, pen
from tests.unit.services.debates.kit import debate_world, setup


@pytest.mark.spec("R-WEB-3")
async def test_what_a_side_read_marks_the_other_in_a_later_run_until_the_moderator_speaks(tmp_path: Path) -> None:
    person = Watcher()

    async def audit(_entry: AuditEntry) -> int:
        return 1

    gate = PermissionGate(person, TrustRules(), audit, lambda: SafetySettings(str(tmp_path)))
    model = ScriptedModel([READ, says("It says so."), WRITE, says("I wrote."), WRITE, says("Again.")])
    tools = page(), pen()
    async with debate_world(tmp_path, model, *tools, allowed="read-page write-file", person=gate) as w:
        thread = await w.debates.create(setup(max_turns=3))
        for _ in range(2):
            await w.debates.step(thread)
            await w.rest(thread)
        assert person.follows == [FOLLOWS]
        await w.debates.speak(thread, "Go on.")
        await w.debates.step(thread)
        await w.rest(thread)
        assert person.follows == [FOLLOWS, ""]
