"""What five edits in a file of 520 lines cost a model in tokens: it looks, reads five places, and edits once."""

from pathlib import Path
from typing import Any, cast

import pytest

from desktop.domain.estimates import estimate
from desktop.domain.messages import ToolResultBlock
from desktop.models.scripted import ScriptedModel, says
from desktop.safety.boundary.searching import BoundarySearch
from desktop.services.rules.trust import TrustRules
from desktop.tools.builtin.edit_file import EditFile
from desktop.tools.builtin.edits.versions import ReadVersions
from desktop.tools.builtin.files import ReadFile
from desktop.tools.builtin.finding import FindText
from desktop.workers.file_search_child import file_search
from tests.harness.changes import KeepsNothing
from tests.unit.pipeline.kit import FakeTool, Person
from tests.unit.safety.world import World as SafeWorld
from tests.unit.services.kit import world

LINES, PLACES = 520, (41, 130, 208, 333, 470)
MOST = 9_000
"""Tokens of all that the model says and is told, each round with what went before it. With whole files: 79,390."""


def source() -> str:
    lines = [f"    value_{number} = compute({number}, station, levels)" for number in range(1, LINES + 1)]
    for place in PLACES:
        lines[place - 1] = f"    rows_{place} = read_csv(path, parse_dates=[0])"
    return "\n".join(lines) + "\n"


def called(*calls: tuple[str, dict[str, Any]]) -> list[Any]:
    return [{"call": {"tool": tool, "arguments": arguments}} for tool, arguments in calls]


@pytest.mark.spec("R-EDT-1", "R-EDT-2")
async def test_five_edits_cost_a_ninth_of_whole_files(tmp_path: Path) -> None:
    safe = SafeWorld(tmp_path / "safe")
    (safe.workspace / "ingest.py").write_text(source())
    files, versions, child = safe.files(), ReadVersions(), file_search()
    reads = [("read_file", {"path": "ingest.py", "offset": place - 10, "limit": 20}) for place in PLACES]
    edits = [
        {"old": f"rows_{place} = read_csv(path, parse_dates=[0])", "new": f'rows_{place} = read(path, ["time"], str)'}
        for place in PLACES
    ]
    model = ScriptedModel(
        [
            called(("find_text", {"pattern": r"parse_dates=\[0\]", "path": "ingest.py"})),
            called(*reads),
            called(("edit_file", {"path": "ingest.py", "edits": edits})),
            says("All five places read the time column now."),
        ]
    )

    def settings() -> Any:
        return safe.settings

    tools = [
        ReadFile(files, settings, versions),
        FindText(BoundarySearch(safe.policy), child, settings, TrustRules()),
        EditFile(files, KeepsNothing(), versions),
    ]
    async with world(tmp_path, model, *cast(list[FakeTool], tools), person=Person("allow_once")) as w:
        thread = await w.thread()
        await w.ask(thread, "Read the time column by name everywhere.")
    await child.stop()
    assert (safe.workspace / "ingest.py").read_text().count('read(path, ["time"], str)') == len(PLACES)
    last = model.requests[-1].messages
    results = [block for message in last for block in message.blocks if isinstance(block, ToolResultBlock)]
    assert [block.is_error for block in results] == [False] * 7
    again = sum(estimate(message) for request in model.requests for message in request.messages)
    once = sum(estimate(message) for message in last)
    print(f"tokens: {once} once, {again} with what is sent again")
    assert again <= MOST
