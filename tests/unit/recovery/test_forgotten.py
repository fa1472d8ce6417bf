"""Calls inside one that goes on, of which it is known only that they were done."""

from __future__ import annotations

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.runs.call_keys import inside_key, likeness
from desktop.domain.runs.effects import EffectRecord, digest_value
from desktop.domain.tools import ToolSpec
from desktop.recovery.history import CallHistory
from desktop.recovery.past import NEVER_BEGUN, VALUE_UNKNOWN, Done


@pytest.mark.spec("R-JRN-2")
@pytest.mark.parametrize(("tool", "category"), [("read-file", Category.READ), ("write-file", Category.WRITE)])
def test_a_forgotten_read_is_made_again_and_of_a_write_it_is_said_that_its_value_is_not_known(
    tool: str, category: Category
) -> None:
    key = inside_key("m:c", likeness(tool, {}), 1)
    summary = "" if category is Category.READ else tool
    begun = EffectRecord("r", 1, key, 1, "tool", tool, "d", "begun", 0.0, "", summary)
    done = EffectRecord("r", 2, key, 1, "tool", tool, "d", "completed", 0.0, digest_value("ab"))
    before = CallHistory()
    before.join(CallHistory.of([begun, done]), ["m:c"])
    past = before.past_inside(key, {}, ToolSpec(tool, "", {}, category))
    if category is Category.READ:
        assert past == NEVER_BEGUN
    else:
        assert isinstance(past, Done)
        assert past.result.code == VALUE_UNKNOWN
