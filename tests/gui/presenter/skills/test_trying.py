"""Trying a skill: through the real pipeline, with its questions, its results, and Stop."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.models import ModelRef
from desktop.domain.tools import ToolResult
from desktop.models.scripted import ScriptedModel
from desktop.presenter.events.bridge import Bridge
from desktop.presenter.skills.forms import default_text, fields_of, parse_object, read
from desktop.presenter.skills.trying import SkillTrials
from desktop.presenter.skills.words import table_of, type_words
from desktop.services.skills.editing import SkillService
from desktop.services.turns.runtime import host_of
from desktop.skills.catalogue.roots import SearchRoot
from desktop.supervision.budgets import BudgetTracker
from tests.gui.skills.kit import SkillsBench, skill
from tests.harness.timeouts import until
from tests.unit.pipeline.kit import FakeTool
from tests.unit.services.kit import ROOT, world


def held(_args: Any, _context: Any) -> Any:
    async def wait() -> ToolResult:
        await asyncio.Event().wait()
        raise AssertionError

    return wait()


@pytest.fixture
async def make_skill_service(tmp_path: Path) -> AsyncIterator[Callable[..., Any]]:
    made: list[SkillsBench] = []

    async def make(*tools: FakeTool) -> SkillsBench:
        bench = SkillsBench(tmp_path, tools, lambda: None)
        bench.put("plain", skill("plain"))
        await bench.open()
        await bench.listed()
        made.append(bench)
        return bench

    yield make
    for bench in made:
        await bench.end()


async def done(bench: SkillsBench) -> Any:
    await until(lambda: bench.trials.trial is not None and bench.trials.trial.over, "the end")
    return bench.trials.trial


@pytest.mark.spec("R-UI-2")
async def test_a_tool_that_is_tried_runs_through_the_pipeline_and_its_result_is_shown(make_skill_service: Any) -> None:
    tool = FakeTool("read-file", body=lambda args, _: ToolResult("read", structured={"path": args["path"]}))
    bench = await make_skill_service(tool)
    bench.trials.run("read-file", {"path": "/a"})
    assert bench.trials.running
    trial = await done(bench)
    assert (trial.state, trial.code, trial.is_json) == ("done", "", True)
    assert '"path": "/a"' in trial.text
    assert tool.calls == [{"path": "/a"}]


async def test_arguments_that_do_not_fit_the_schema_are_refused_with_a_code(make_skill_service: Any) -> None:
    tool = FakeTool("read-file")
    bench = await make_skill_service(tool)
    bench.trials.run("read-file", {})
    trial = await done(bench)
    assert trial.state == "failed"
    assert trial.code
    assert "path" in trial.text
    assert tool.calls == []


@pytest.mark.spec("R-PRM-1")
async def test_a_write_that_is_tried_asks_the_person_like_any_call(make_skill_service: Any) -> None:
    bench = await make_skill_service(FakeTool("write-file", Category.WRITE))
    bench.person_answers.answers.append("deny")
    bench.trials.run("write-file", {"path": "/a"})
    trial = await done(bench)
    assert trial.state == "denied"


async def test_what_a_skill_called_is_listed_with_its_result(make_skill_service: Any) -> None:
    bench = await make_skill_service(FakeTool("read-file", body=lambda *_: ToolResult("the text")))
    bench.trials.run("skill-invoke", {"ref": "read-file", "args": {"path": "/a"}})
    trial = await done(bench)
    assert trial.state == "done", trial
    assert [(call.tool, call.state) for call in trial.calls] == [("read-file", "done")]


async def test_stop_ends_a_try_as_stopped(make_skill_service: Any) -> None:
    tool = FakeTool("read-file", body=held)
    bench = await make_skill_service(tool)
    bench.trials.run("read-file", {"path": "/a"})
    await until(lambda: tool.calls, "it runs")
    bench.trials.stop()
    trial = await done(bench)
    assert trial.state == "aborted"
    bench.trials.forget()
    assert bench.trials.trial is None


async def test_only_one_try_runs_at_a_time(make_skill_service: Any) -> None:
    tool = FakeTool("read-file", body=held)
    bench = await make_skill_service(tool)
    bench.trials.run("read-file", {"path": "/a"})
    await until(lambda: tool.calls, "it runs")
    bench.trials.run("read-file", {"path": "/b"})
    await asyncio.sleep(0.02)
    assert len(tool.calls) == 1
    bench.trials.stop()
    await done(bench)


async def test_text_for_a_model_says_that_there_is_none(make_skill_service: Any) -> None:
    bench = await make_skill_service()
    await bench.show("plain")
    assert bench.trials.needs_model(bench.skills.detail.definition)
    bench.trials.run("plain", {})
    trial = await done(bench)
    assert trial.state == "failed"
    assert "model" in trial.text.lower()


@pytest.mark.spec("R-AG-1")
async def test_text_for_a_model_is_worked_on_by_the_model_that_is_lent(tmp_path: Path) -> None:
    (tmp_path / "skills").mkdir()
    (tmp_path / "skills" / "poem.skill.md").write_text(skill("poem", body="Write a poem.\n"))
    roots = (SearchRoot(str(tmp_path / "skills"), "mine"), SearchRoot(str(ROOT / "skills"), "library"))
    model = ScriptedModel([[{"text": "Roses are red."}]])
    async with world(tmp_path, model, roots=roots) as made:
        runtime = made.runtime
        bench = SkillService(
            made.skills,
            runtime.pipeline,
            runtime.agents,
            mine=tmp_path / "skills",
            trash=tmp_path / "trash",
            host=lambda _own: host_of(runtime, ModelRef("test", "scripted"), BudgetTracker(runtime.budget)),
        )
        bridge = Bridge()
        trials = SkillTrials(bench, bridge, lambda: "Scripted")
        trials.run("poem", {})
        await until(lambda: trials.trial is not None and trials.trial.over, "the poem")
        assert trials.trial.state == "done", trials.trial
        assert "Roses are red." in trials.trial.text
        await bridge.shutdown(2.0)


# -- forms ------------------------------------------------------------------------------------------------------------

NUMBER = {"type": "number"}
SCHEMA = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "What."},
        "depth": {"type": "integer", "minimum": 1, "maximum": 9, "default": 2},
        "share": {"type": "number"},
        "dry": {"type": "boolean"},
        "mode": {"enum": ["fill", "drop", 3]},
        "names": {"type": "array", "items": {"type": "string"}},
        "sizes": {"type": "array", "items": {"type": "integer"}},
        "place": {"type": "object", "properties": {"x": NUMBER, "y": NUMBER}, "required": ["x"]},
        "any": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    },
    "required": ["path"],
}


def test_every_kind_of_argument_has_its_control() -> None:
    fields = fields_of(SCHEMA)
    assert fields is not None
    kinds = [field.kind for field in fields]
    assert kinds == ["text", "integer", "number", "boolean", "choice", "list", "list", "group", "json"]
    assert [field.name for field in fields if field.required] == ["path"]
    assert default_text(fields[1]) == "2"


def test_what_was_filled_in_becomes_arguments_and_what_is_empty_is_left_out() -> None:
    fields = fields_of(SCHEMA) or ()
    raw = {
        "path": "a",
        "depth": "3",
        "share": "0.5",
        "dry": True,
        "mode": 2,
        "names": "a\n\nb",
        "sizes": "1\n2",
        "place": {"x": "1", "y": ""},
        "any": '{"a": [1]}',
    }
    assert read(fields, raw) == (
        {
            "path": "a",
            "depth": 3,
            "share": 0.5,
            "dry": True,
            "mode": 3,
            "names": ["a", "b"],
            "sizes": [1, 2],
            "place": {"x": 1},
            "any": {"a": [1]},
        },
        {},
    )
    assert read(fields, {"path": "a", "mode": -1, "dry": None}) == ({"path": "a"}, {})


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("path", "", "required"),
        ("depth", "x", "no whole number"),
        ("depth", "0", "at least 1"),
        ("depth", "10", "at most 9"),
        ("share", "inf", "infinite"),
        ("sizes", "1\nb", "no whole number"),
        ("any", "{", "Line 1, column 2"),
        ("any", "[" * 100_000, "deep"),
        ("any", "NaN", "not a JSON number"),
    ],
)
def test_a_mistake_is_named_at_its_field(name: str, text: str, said: str) -> None:
    values, errors = read(fields_of(SCHEMA) or (), {"path": "a", name: text})
    assert set(errors) == {name}
    assert said in errors[name]
    assert name not in values


def test_a_group_that_is_begun_has_to_be_whole() -> None:
    _, errors = read(fields_of(SCHEMA) or (), {"path": "a", "place": {"x": "", "y": "1"}})
    assert errors == {"place.x": "This is required."}


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#/x"},
        {"anyOf": []},
        {"type": "array"},
        {"type": "object", "properties": 3},
        {"type": "object", "additionalProperties": {"type": "string"}},
        {"type": "object", "properties": {str(n): {} for n in range(100)}},
    ],
)
def test_what_a_form_cannot_show_is_json(schema: dict[str, Any]) -> None:
    assert fields_of(schema) is None
    assert parse_object("  ") == {}
    with pytest.raises(ValueError, match="object"):
        parse_object("[1]")


@pytest.mark.parametrize(
    "part",
    [
        None,
        3,
        [],
        {"type": ["string", "null"]},
        {"type": "strange"},
        {"enum": []},
        {"type": "array", "items": 3},
        {"properties": {"a": 1}, "type": "object"},
    ],
)
def test_a_schema_of_any_shape_is_shown_and_never_breaks_the_page(part: Any) -> None:
    schema = {"type": "object", "properties": {"a": part}}
    fields = fields_of(schema)
    assert fields is not None
    read(fields, {"a": "x"})
    assert table_of(schema)[0][0] == "a"


def test_types_are_said_in_words() -> None:
    assert type_words({"type": "array", "items": {"type": "integer"}}) == "list of whole numbers"
    assert type_words({"enum": ["a", 1]}) == "one of a, 1"
    assert type_words({"type": ["string", "null"]}) == "text or nothing"
    assert table_of({"type": "object", "properties": {"a": {"type": "string", "default": "x"}}, "required": ["a"]}) == (
        ("a", "text, required, else x", ""),
    )
    assert table_of({"type": "object"}) == ()
    assert table_of(None) == ()
