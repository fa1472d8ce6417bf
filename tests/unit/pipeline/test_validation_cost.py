"""Gate 7 answers at once, whatever a schema says and whatever arguments come."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.errors import ConfigurationError, ValidationFailure
from desktop.domain.tools import ToolSpec
from desktop.pipeline.validation import Validator
from tests.harness.timeouts import HELD_S, Beat
from tests.unit.pipeline.kit import FakeTool
from tests.unit.pipeline.skill_kit import SkillBench
from tests.unit.skills.schemas.test_cost import doubling


def spec(params: dict[str, Any]) -> ToolSpec:
    return ToolSpec("t", "", params, Category.READ)


@pytest.mark.spec("R-TOOL-2", "R-LOOP-3")
async def test_a_tool_whose_schema_never_ends_is_refused_and_the_loop_goes_on() -> None:
    endless, other = FakeTool("endless", params=doubling(40)), FakeTool("other")
    bench = SkillBench(tools=(endless, other))
    beat = Beat()
    beating = asyncio.ensure_future(beat.run())
    outcome = await bench.call("endless", {"a": 1})
    assert (outcome.state, outcome.result.is_error, endless.calls) == ("failed", True, [])
    assert "10,000 steps" in outcome.result.text
    assert (await bench.call("other", {"path": "a"})).state == "done"
    beating.cancel()
    assert beat.longest < HELD_S
    with pytest.raises(ConfigurationError, match="10,000 steps"):
        await Validator().check(spec({"$ref": "#"}), {})
    with pytest.raises(ConfigurationError, match="10,000 steps"):
        await Validator().check_result(ToolSpec("t", "", {}, Category.READ, returns=doubling(40)), {})


@pytest.mark.spec("R-TOOL-2")
async def test_arguments_too_deep_for_a_schema_that_comes_back_to_itself_are_refused() -> None:
    branch = {"properties": {"next": {"$ref": "#"}}}
    params = {"type": "object", "allOf": [branch, {**branch}]}
    value: dict[str, Any] = {}
    for _ in range(50):
        value = {"next": value}
    with pytest.raises(ValidationFailure, match="too deeply nested"):
        await Validator().check(spec(params), value)
    await Validator().check(spec(params), {"next": {"next": {}}})


@pytest.mark.spec("R-TOOL-2")
async def test_of_very_many_mistakes_the_first_is_told() -> None:
    params = {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string"}}}}
    with pytest.raises(ValidationFailure) as caught:
        await Validator().check(spec(params), {"a": list(range(200_000))})
    assert str(caught.value).count("is not of type") == 1
    assert "a[0]" in str(caught.value)
    with pytest.raises(ValidationFailure) as few:
        await Validator().check(spec(params), {"a": list(range(5))})
    assert str(few.value).count("is not of type") == 5
