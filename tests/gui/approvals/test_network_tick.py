"""*With network* in the request of a command that nobody can judge (D-4)."""

from dataclasses import replace

import pytest

from desktop.domain.approval.permission import PermissionRequest
from desktop.ui.widgets.controls.toggles import CheckBox
from tests.gui.approvals.conftest import DialogBench


def ticks(bench: DialogBench) -> list[CheckBox]:
    return [box for box in bench.dialog.findChildren(CheckBox) if box.text() == "With network"]


@pytest.mark.spec("R-PRM-2")
@pytest.mark.parametrize("ticked", [False, True])
async def test_an_answer_carries_the_tick_of_the_request_that_offers_it(
    bench: DialogBench, shell: PermissionRequest, ticked: bool
) -> None:
    question = await bench.ask(replace(shell, preview={**shell.preview, "network_offered": True}))
    (box,) = ticks(bench)
    assert not box.isChecked()
    if ticked:
        box.click()
    bench.approvals.answer(shell.request_id, "deny", digest="another")  # void: the tick is of the request on the screen
    view = bench.dialog.view
    view._answer("allow_once")
    assert (await question).with_network is ticked


async def test_a_request_that_offers_none_has_no_tick(bench: DialogBench, shell: PermissionRequest) -> None:
    await bench.ask(replace(shell, preview={**shell.preview, "network": True, "network_asked": True}))
    assert ticks(bench) == []
