"""The set-up: out of the box, wrong and right, and what each side would be given."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from desktop.domain.definitions import AgentDefinition, SideDefinition
from desktop.domain.errors import ConfigurationError
from desktop.domain.models import LocalServer, ModelInfo, ModelRef
from desktop.models.scripted import ScriptedModel, says
from desktop.presenter.debates.cost import ANSWER, PROMPT, in_all, in_all_words, per_turn
from desktop.presenter.debates.words import conditions, model_hint
from desktop.presenter.settings.agents_editing import ChatAgents
from desktop.presenter.shell.window import COMMANDS
from desktop.services.debates.setup import templates
from desktop.services.definitions.book import AgentBook
from tests.gui.debates.kit import said, watched
from tests.harness import help_pages
from tests.unit.services.debates.kit import answering, prompt, setup
from tests.unit.services.kit import MODEL


def words(pieces: list[tuple[str, str]]) -> str:
    return "".join(text for text, _ in pieces)


@pytest.mark.spec("R-SES-22", "R-SES-24")
async def test_a_template_starts_with_two_keys_and_runs(theme: Any, tmp_path: Path) -> None:
    model = ScriptedModel([says("for"), says("against")], repeat=True)
    async with watched(tmp_path, model) as w:
        page = w.page.setup
        await w.until(lambda: len(page._cards) == 5 and w.setup.prompts, "the templates")
        w.setup.take(setup(max_turns=2))
        page.topic.setPlainText("Should it rain?")
        for side in ("a", "b"):
            w.setup.set_side(side, model=MODEL)  # type: ignore[arg-type]
        QTest.keyClick(page, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        await w.until(lambda: w.state is not None and w.state.status == "ended", "the debate ended")
        await w.until(lambda: [said(t) for t in w.turns] == ["for", "against"], "both turns")
        assert "Should it rain?" in w.texts[0]


async def test_what_was_wrong_before_the_last_change_does_not_hold_up_the_keys(theme: Any, tmp_path: Path) -> None:
    """Whoever types the topic and presses Ctrl+Enter at once is faster than the check of what is typed."""
    model = ScriptedModel([says("for"), says("against")], repeat=True)
    async with watched(tmp_path, model) as w:
        page, told = w.page.setup, list[str]()
        w.setup.said.connect(told.append)
        w.setup.take(setup(topic="", max_turns=2, a={"model": MODEL}, b={"model": MODEL}))
        await w.until(lambda: w.setup.errors, "the problem")
        QTest.keyClick(page, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        await w.until(lambda: told, "the problem is said")
        assert w.debates.open.thread_id == ""
        page.topic.setPlainText("Should it rain?")
        assert w.setup.errors, "the check has not been made yet"
        QTest.keyClick(page, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        await w.until(lambda: w.state is not None and w.state.status == "ended", "the debate ended")


async def test_sides_follow_the_model_of_new_chats_until_one_is_chosen(theme: Any, tmp_path: Path) -> None:
    async with watched(tmp_path, ScriptedModel([says("for")], repeat=True)) as w:
        page: Any = w.page.setup
        await w.until(lambda: len(page._cards) == 5 and w.setup.prompts, "the templates")

        def new_chats_get(model: str) -> tuple[str, str]:
            page._models.default_model = model
            page._models.changed.emit()
            return w.setup.setup.a.model, w.setup.setup.b.model

        assert new_chats_get("demo/demo") == ("demo/demo", "demo/demo")
        assert new_chats_get("ollama/qwen3:30b") == ("ollama/qwen3:30b", "ollama/qwen3:30b")
        w.setup.set_side("b", model="mistral/large")
        assert new_chats_get("demo/demo") == ("demo/demo", "mistral/large")


@pytest.mark.spec("R-SES-3", "R-DEF-16")
async def test_an_agent_of_two_sides_is_begun_with_beside_the_templates(theme: Any, tmp_path: Path) -> None:
    duel = AgentDefinition(
        "duel_agent", SideDefinition("pro", "Pro"), "The duel", "dual_ai", SideDefinition("con"), max_turns=2
    )
    model = ScriptedModel([says("for"), says("against")], repeat=True)
    async with watched(tmp_path, model, agents=AgentBook({"duel_agent": duel})) as w:
        page = w.page.setup
        await w.until(lambda: page.agents.box.count() == 2, "the agents")
        assert page.agents.isVisible()
        assert page._cards["debate"].isChecked()
        page.agents.box.setCurrentIndex(1)
        page.agents.box.activated.emit(1)
        await w.until(lambda: w.setup.setup.agent == "duel_agent", "its set-up")
        assert (w.setup.setup.a.prompt, w.setup.setup.max_turns, w.setup.setup.topic) == ("pro", 2, "")
        assert not any(card.isChecked() for card in page._cards.values())
        page.topic.setPlainText("Should it rain?")
        for side in ("a", "b"):
            w.setup.set_side(side, model=MODEL)  # type: ignore[arg-type]
        w.setup.check()
        await w.until(lambda: not w.setup.errors, "nothing is wrong")
        page.start()
        await w.until(lambda: w.state is not None and w.state.status == "ended", "the debate ended")
        assert w.state.setup.agent == "duel_agent"
        w.page.begin_with("gone_agent")
        await w.until(lambda: any("not there any more" in text for text in w.said), "it says so")
        assert w.page._stack.currentWidget() is page


async def written(w: Any, name: str) -> None:
    """A skill that the app's watch has seen."""
    prompt(w.world.prompts, name)
    await asyncio.to_thread(w.world.skills.fabric.refresh)


async def test_a_prompt_that_is_written_meanwhile_is_offered_when_the_page_comes_back(
    theme: Any, tmp_path: Path
) -> None:
    async with watched(tmp_path, ScriptedModel([says("x")])) as w:
        await w.until(lambda: w.setup.prompts, "the prompts")
        await written(w, "late-comer")
        w.page.hide()
        w.page.show()
        box = w.page.setup.sides["a"].prompt
        await w.until(lambda: box.findData("late-comer") >= 0, "the new prompt")
        thread = await w.world.debates.create(setup())
        await w.open(thread)
        w.running.begin_fork(0)
        await written(w, "later-still")
        w.setup.reload()
        dialog = w.running.fork_dialog
        await w.until(lambda: dialog.prompt_box.findData("later-still") >= 0, "in the fork's list as well")
        assert dialog.setup.a.prompt == "pro"
        dialog.answer("cancel")


@pytest.mark.spec("R-DEF-14")
async def test_what_refuses_a_set_up_ends_with_one_full_stop(theme: Any, tmp_path: Path) -> None:
    async with watched(tmp_path, ScriptedModel([says("x")])) as w:
        with pytest.raises(ConfigurationError) as refused:
            await w.world.debates.create(setup(a={"prompt": "no-such-skill"}))
        assert str(refused.value).startswith("This debate cannot start: sideA.prompt: ")
        assert not str(refused.value).endswith("..")


def test_the_menu_of_agents_has_their_names_and_not_their_labels_in_a_debate() -> None:
    checker = AgentDefinition("fact_checker", SideDefinition("pro", "Checker"), "Fact checker")
    assert list(ChatAgents(AgentBook({checker.name: checker}))) == [("fact_checker", "Fact checker")]


@pytest.mark.spec("R-DEF-14")
async def test_what_is_wrong_stands_beside_its_field_while_it_is_typed(theme: Any, tmp_path: Path) -> None:
    async with watched(tmp_path, ScriptedModel([says("x")])) as w:
        page = w.page.setup
        w.setup.take(setup(a={"prompt": "no-such-skill"}))
        await w.until(lambda: w.setup.errors, "the problem")
        assert page.sides["a"].places["prompt"]._below.text()
        assert not page.start_button.isEnabled()
        page.start()
        assert w.debates.open.thread_id == ""
        w.setup.set_side("a", prompt="pro")
        await w.until(lambda: not w.setup.errors, "it is right again")
        assert page.start_button.isEnabled()
        assert not page.sides["a"].places["prompt"]._below.isVisible()


async def test_tools_are_taken_away_and_added_again_and_the_dry_run_asks_no_model(theme: Any, tmp_path: Path) -> None:
    model = ScriptedModel([says("x")])
    tools = (answering("look"), answering("weigh"))
    async with watched(tmp_path, model, *tools, allowed="look weigh") as w:
        card = w.page.setup.sides["a"]
        w.setup.take(setup())
        await w.until(lambda: len(w.setup.offers["a"]) == 2, "the tools that the prompt allows")
        first = card.chips._items[0]
        first.click()
        assert w.setup.setup.a.tools == ("weigh",)
        card.add_tool("look")
        assert w.setup.setup.a.tools is None, "all of them is what the prompt allows"
        w.page.setup.preview_button.click()
        await w.until(lambda: w.page.setup.dialog is not None, "the dry run")
        assert not model.requests
        w.page.setup.dialog.answer("close")


async def test_the_foot_says_of_each_side_what_waits_for_the_person(theme: Any, tmp_path: Path) -> None:
    tools = (answering("sweep"), answering("paint"))
    async with watched(tmp_path, ScriptedModel([says("x")]), *tools, allowed="sweep paint") as w:
        made = setup()
        w.setup.take(made)
        await w.until(lambda: all(len(w.setup.offers[side]) == 2 for side in ("a", "b")), "the tools")
        for side in ("a", "b"):
            w.setup.offers[side] = tuple(replace(one, category="write") for one in w.setup.offers[side])
        w.setup.check()
        await w.until(lambda: not w.bridge.task_names, "it is checked")
        w.page.setup.show_problems()
        first, second = (offer.name for offer in w.setup.offers["a"])
        told = f"Pro may use {first} and {second}; Con may use {first} and {second}: each call waits for you."
        assert w.page.setup._note.text() == told


async def test_ends_are_numbers_or_nothing(theme: Any, tmp_path: Path) -> None:
    async with watched(tmp_path, ScriptedModel([says("x")])) as w:
        w.setup.take(setup(max_turns=4))
        ends = w.page.setup.ends
        assert ends.turns_box.text() == "4"
        ends.turns_box.clear()
        QTest.keyClicks(ends.turns_box, "6")
        assert w.setup.setup.max_turns == 6
        ends.cost.click()
        assert w.setup.setup.max_cost == 0.5
        ends.turns.click()
        assert w.setup.setup.max_turns is None
        assert not ends.turns_box.isEnabled()


@pytest.mark.spec("R-SES-22")
def test_what_ends_it_is_a_sentence_and_the_unknown_says_so() -> None:
    made = setup(a={"end_session_tool": "agree"}, max_cost=0.5)
    assert words(conditions(made)).startswith("Ends after 4 turns, when a side calls agree, or at $0.50.")
    assert words(conditions(setup(max_turns=None))).startswith("Ends after 50 turns.")
    assert model_hint(None) == "context size and price unknown"
    dear = ModelInfo(ModelRef("m", "x"), "x", 131_000, input_price=2.0, output_price=6.0)
    assert model_hint(dear) == "131k context, $2 in and $6 out per million tokens"
    assert model_hint(replace(dear, output_price=None)) == "131k context, cost unknown"
    assert model_hint(dear, 0.0087) == "131k context, about $0.009 a turn"
    assert model_hint(replace(dear, output_price=None), 0.0087) == "131k context, cost unknown"


@pytest.mark.spec("R-SES-22")
def test_what_it_may_cost_is_counted_from_known_prices_or_is_unknown() -> None:
    made = setup(max_turns=3)
    dear = ModelInfo(ModelRef("m", "x"), "x", 131_000, input_price=2.0, output_price=6.0)
    local = ModelInfo(ModelRef("o", "y"), "y", locality="local")
    begin = PROMPT + len(made.topic) // 4
    turns = [(begin + before * ANSWER) * 2e-6 + ANSWER * 6e-6 for before in range(3)]
    assert per_turn(made, "a", dear) == pytest.approx((turns[0] + turns[2]) / 2)
    assert per_turn(made, "b", dear) == pytest.approx(turns[1])
    assert in_all(made, {"a": dear, "b": dear}) == pytest.approx(sum(turns))
    assert in_all_words(made, {"a": dear, "b": local}) == f"About ${turns[0] + turns[2]:.3f} in all"
    assert in_all_words(made, {"a": local, "b": local}) == "No cost: both run on this machine"
    assert in_all_words(setup(max_turns=400, max_cost=0.5), {"a": dear, "b": dear}) == "Ends at $0.50"
    for unknown in (None, replace(dear, input_price=None)):
        assert in_all_words(made, {"a": dear, "b": unknown}) == "Cost in all unknown"
    endless = setup(max_turns=None, max_cost=0.5)
    assert in_all_words(endless, {"a": dear, "b": dear}) == "Cost in all unknown, ends at $0.50"
    assert per_turn(endless, "a", dear) is None


async def test_the_estimate_follows_what_is_chosen(theme: Any, tmp_path: Path) -> None:
    async with watched(tmp_path, ScriptedModel([says("x")])) as w:
        page = w.page.setup
        cheap = ModelInfo(ModelRef("m", "cheap"), "cheap", 9_000, input_price=1.0, output_price=1.0)
        page._models.servers = (LocalServer("ollama", "", "", True, (cheap,)),)
        w.setup.take(setup(max_turns=4, a={"model": "m/cheap"}, b={"model": "m/cheap"}))
        first = page.cost.text()
        assert first.startswith("About $0.0")
        w.setup.set(max_turns=40)
        await w.until(lambda: page.cost.text() not in ("", first), "another estimate")
        assert page.cost.text().startswith("About $0.")
        w.setup.set_side("b", model="m/other")
        await w.until(lambda: page.cost.text() == "Cost in all unknown", "nothing is invented")


def test_what_the_page_says_of_debates_is_so() -> None:
    told = " ".join(help_pages.page("debates").split())
    assert all(template.title.lower() in told for template in templates())
    keys = {command.title: command.shortcut for command in COMMANDS}
    assert f"(`{keys['Go to Debates']}`, a new one with `{keys['New debate']}`)" in told
    assert f"`{keys['Find in this chat']}` finds in its turns, and `{keys['Search all chats']}`" in told
    assert f"answers of {ANSWER} tokens" in told


@pytest.mark.spec("R-SES-24", "R-DEF-14")
async def test_a_sides_prompt_is_written_in_the_set_up_and_switching_keeps_it(theme: Any, tmp_path: Path) -> None:
    model = ScriptedModel([says("tea"), says("coffee")])
    async with watched(tmp_path, model, answering("look"), allowed="look") as w:
        page = w.page.setup
        card = page.sides["a"]
        w.setup.take(setup(max_turns=2))
        await w.until(lambda: w.setup.setup.a.prompt == "pro" and len(w.setup.offers["a"]) == 1, "the tools")
        skill, here = (card.choice.way._group.button(number) for number in (0, 1))
        here.click()
        await w.until(lambda: card.places["prompt"]._below.text() == "choose a prompt, or write one", "what is missing")
        assert (card.choice.area.isVisibleTo(card), card.prompt.isVisibleTo(card)) == (True, False)
        assert w.setup.setup.a.tools == (), "none until a person adds one"
        QTest.keyClicks(card.choice.area, "You are for tea.")
        await w.until(lambda: any(offer.name == "look" for offer in w.setup.offers["a"]), "what there is to add")
        card.add_tool("look")
        skill.click()
        assert (w.setup.setup.a.prompt, w.setup.setup.a.prompt_text, w.setup.setup.a.tools) == ("pro", "", None)
        here.click()
        assert w.setup.setup.a == replace(
            setup().a, prompt="", prompt_text="You are for tea.", tools=("look",), model=w.setup.setup.a.model
        )
        await w.until(lambda: not w.setup.errors and page.start_button.isEnabled(), "all is well")
        page.start_button.click()
        await w.until(lambda: w.state is not None and w.state.status == "ended", "the debate ended")
        assert "You are for tea." in model.requests[0].system
        assert [tool["name"] for tool in model.requests[0].tools] == ["look"]
        assert w.running.meters.sides["a"]._who.text().startswith("its own prompt, ")
        w.running._act(w.turns[1].message_id, "branch")
        dialog = w.running.fork_dialog
        assert (dialog.prompt_box.currentText(), dialog.text.toPlainText()) == ("Written below", "You are for tea.")
        dialog.text.setPlainText("You are for milk.")
        assert (dialog.setup.a.prompt, dialog.setup.a.prompt_text) == ("", "You are for milk.")
        dialog.answer("cancel")


@pytest.mark.spec("R-MOD-1")
async def test_how_the_model_of_a_side_answers_is_set_up_with_it_and_a_wrong_value_keeps_it_from_starting(
    theme: Any, tmp_path: Path
) -> None:
    model = ScriptedModel([says("for"), says("against")])
    async with watched(tmp_path, model) as w:
        w.setup.take(setup(topic="Rain?", max_turns=2, a={"model": MODEL}, b={"model": MODEL}))
        fields = w.page.setup.sides["a"].settings
        fields.fold.click()
        field = fields.places["temperature"].control
        field.setText("hot")
        field.editingFinished.emit()
        await w.until(lambda: w.setup.errors, "the problem")
        assert "a number from 0 to 2" in field.accessibleDescription()
        field.setText("0.7")
        field.editingFinished.emit()
        await w.until(lambda: not w.setup.errors and w.setup.setup.a.settings == {"temperature": 0.7}, "no problem")
        w.page.setup.start()
        await w.until(lambda: w.state is not None and w.state.status == "ended", "the debate ended")
    assert [request.settings.temperature for request in model.requests] == [0.7, None]
