"""What a model is offered is one answer for chats, called skills, called agents, debate sides and jobs (D-1)."""

from pathlib import Path

import pytest

from desktop.agents.skill.offers import Offers
from desktop.domain.approval.judgement import Category
from desktop.domain.definitions import AgentDefinition, SideDefinition
from desktop.domain.jobs import JobPolicy
from desktop.domain.runs.supervision import ExecutionBudget
from desktop.models.scripted import ScriptedModel, calls, says
from desktop.services.definitions.book import AgentBook
from desktop.services.turns.unattended import terms_of
from desktop.skills.catalogue.roots import SearchRoot
from desktop.skills.patterns.paths import Where
from tests.unit.pipeline.kit import FakeTool
from tests.unit.services.debates.kit import debate_world, prompt, setup
from tests.unit.services.kit import ROOT, World, world

pytestmark = pytest.mark.spec("D-1")

EXPLORE = ["skill_list", "skill_describe", "skill_invoke"]
LIST = '"secret write-file read-file"'
NAMED = ["secret", "write_file", "read_file"]


def tools() -> list[FakeTool]:
    secret = FakeTool("secret", visibility="hidden")
    return [FakeTool(), FakeTool("write-file", Category.WRITE), FakeTool("fetch"), secret]


def skills(folder: Path, **lists: str) -> tuple[SearchRoot, ...]:
    folder.mkdir()
    for name, text in lists.items():
        prompt(folder, name, text)
    return (SearchRoot(str(folder), "mine"), SearchRoot(str(ROOT / "skills"), "library"))


def book(prompt_name: str) -> AgentBook:
    return AgentBook({"assistant": AgentDefinition("assistant", SideDefinition(prompt_name), title="Assistant")})


def offered(w: World, at: int) -> list[str]:
    client = w.runtime.client
    assert isinstance(client, ScriptedModel)
    return [str(tool["name"]) for tool in client.requests[at].tools]


async def test_a_chat_without_a_list_gets_what_is_declared_with_its_parameters(tmp_path: Path) -> None:
    model = ScriptedModel([says("hello")])
    async with world(tmp_path, model, *tools()) as w:
        await w.ask(await w.thread(), "hi")
        assert offered(w, 0) == ["read_file", "write_file", "fetch", *EXPLORE]  # the assistant names the first two
        assert all(tool["parameters"]["properties"] for tool in model.requests[0].tools[:3])


async def test_as_much_as_the_settings_and_the_window_allow(tmp_path: Path) -> None:
    model = ScriptedModel([says("one")])
    offers = {"offers": lambda: Offers(3), "context_window": lambda _ref: 200_000}
    async with world(
        tmp_path, model, *tools(), **offers, agents=book("free"), roots=skills(tmp_path / "s", free='"*"')
    ) as w:
        await w.ask(await w.thread(), "hi")
        assert offered(w, 0) == ["fetch", "read_file", "write_file", *EXPLORE]
    model = ScriptedModel([says("two")])
    small = {**offers, "offers": lambda: Offers(3, share=0.0001)}
    async with world(
        tmp_path / "s", model, *tools(), **small, agents=book("free"), roots=skills(tmp_path / "t", free='"*"')
    ) as w:
        await w.ask(await w.thread(), "hi")
        assert offered(w, 0) == EXPLORE


async def test_what_a_called_skill_names_is_offered_to_it_in_its_order_hidden_or_not(tmp_path: Path) -> None:
    ask = calls("skill_invoke", {"ref": "task"})
    model = ScriptedModel([ask, calls("secret", {"path": "a"}), says("inner"), says("done")])
    roots = skills(tmp_path / "s", free='"*"', task=LIST)
    async with world(tmp_path, model, *(given := tools()), agents=book("free"), roots=roots) as w:
        await w.ask(await w.thread(), "hi")
        assert offered(w, 1) == NAMED
        assert "secret" not in offered(w, 0)
        assert given[-1].calls == [{"path": "a"}]


async def test_what_the_list_of_a_caller_denies_stays_denied_below_it_also_where_it_is_named(tmp_path: Path) -> None:
    model = ScriptedModel([calls("skill_invoke", {"ref": "task"}), says("inner"), says("done")])
    roots = skills(tmp_path / "s", free='"* secret($deny)"', task=LIST)
    async with world(tmp_path, model, *tools(), agents=book("free"), roots=roots) as w:
        await w.ask(await w.thread(), "hi")
        assert offered(w, 1) == ["write_file", "read_file"]


@pytest.mark.spec("C-20")
async def test_a_debate_side_is_offered_what_its_list_names_narrowed_to_its_tools(tmp_path: Path) -> None:
    model = ScriptedModel([says("a"), says("b")])
    async with debate_world(tmp_path, model, *tools(), allowed=LIST) as w:
        await w.run(setup(max_turns=2, b={"tools": ("read-file", "secret")}))
        assert [[tool["name"] for tool in one.tools] for one in model.requests] == [NAMED, ["secret", "read_file"]]


async def test_a_job_is_offered_what_its_list_names(tmp_path: Path) -> None:
    model = ScriptedModel([says("done"), says("done")])
    roots = skills(tmp_path / "s", free='"*"', listed=LIST)
    async with world(tmp_path, model, *tools(), agents=book("listed"), roots=roots) as w:
        policy = JobPolicy(allowed_tools=("read-file", "secret", "fetch"))
        terms = terms_of(policy, ExecutionBudget(), lambda: False, Where())
        thread = await w.thread()
        await w.service.run_job(thread, "do it", terms)
        await w.settled(thread)
        assert offered(w, 0) == ["secret", "read_file"]


async def test_the_dry_run_says_how_tools_are_called_that_are_not_offered_one_by_one(tmp_path: Path) -> None:
    async with debate_world(tmp_path, ScriptedModel([]), *tools(), allowed='"* read-file"') as w:
        narrow = {"end_session_tool": "fetch", "tools": ("fetch", "read-file")}
        found = await w.debates.preview(setup(a={"end_session_tool": "accept"}, b=narrow))
        assert "accept is called through skill_invoke, which counts" in found["a"].limits
        assert not any("is called" in words or "are called" in words for words in found["b"].limits)
