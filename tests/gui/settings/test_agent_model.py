"""Settings, Agents: the model that an agent names, and how it is to answer, written into its file."""

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QLineEdit
from shots.samples import LISTED, SampleSetup

from desktop.domain.model_settings import ModelTraits
from desktop.ui.settings.agents.form import AgentForm
from tests.gui.settings.agents_kit import MINE, Shown


@pytest.fixture
def shown(agents_shown: Shown) -> Shown:
    return agents_shown


def write(side, name: str, text: str) -> None:
    """As a person does: typed, and the field left."""
    field: QLineEdit = side.models.fields.places[name].control
    field.setText(text)
    field.textEdited.emit(text)
    field.editingFinished.emit()


def said_at(side, name: str) -> str:
    return side.models.fields.places[name].control.accessibleDescription()


@pytest.mark.spec("R-MOD-1", "R-DEF-16")
async def test_settings_go_into_the_file_and_everything_else_stays(shown: Shown) -> None:
    await shown.choose("night_watch_agent.yaml")
    side = shown.page.editor.form.sides[0]
    assert not side.models.fields.is_open
    side.models.fields.fold.click()
    write(side, "temperature", "0,2")
    write(side, "seed", "7")
    side.models.fields.places["stop"].control.setPlainText("END\nthe\\nend")
    side.models.fields.finish()
    await shown.rest()
    text = shown.agents.text
    assert text == MINE + '  model:\n    temperature: 0.2\n    seed: 7\n    stop: [END, "the\\nend"]\n'
    shown.agents.save()
    await shown.rest()
    assert (shown.mine / "night_watch_agent.yaml").read_text() == text
    write(side, "temperature", "")
    write(side, "seed", "")
    side.models.fields.places["stop"].control.setPlainText("")
    side.models.fields.finish()
    await shown.rest()
    assert shown.agents.text == MINE, "what says nothing any more goes, with all around it"


@pytest.mark.spec("R-MOD-1", "R-DEF-16")
@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        ("temperature", "hot", "a number from 0 to 2"),
        ("top_p", "7", "a number from 0 to 1"),
        ("max_tokens", "-1", "a whole number from 1 to"),
        ("seed", "1.5", "a whole number"),
        ("region", "The Moon", "the name of a region"),
    ],
)
async def test_a_wrong_value_is_named_at_its_field_and_is_not_lost(
    shown: Shown, name: str, text: str, wanted: str
) -> None:
    await shown.choose("night_watch_agent.yaml")
    side = shown.page.editor.form.sides[0]
    write(side, name, text)
    await shown.rest()
    assert wanted in said_at(side, name)
    assert side.models.fields.places[name].control.text() == text
    assert side.models.fields.is_open
    assert "Correct what is marked" in shown.words
    write(side, name, "")
    await shown.rest()
    assert wanted not in said_at(side, name)
    assert shown.agents.text == MINE


@pytest.mark.spec("R-MOD-1", "R-DEF-16")
async def test_a_model_that_stands_alone_in_the_file_stays_when_a_setting_joins_it(shown: Shown) -> None:
    file = Path(shown.mine / "night_watch_agent.yaml")
    file.write_text(MINE + "  model: lab/some model  # the fast one\n")
    await shown.choose("night_watch_agent.yaml")
    side = shown.page.editor.form.sides[0]
    write(side, "seed", "1")
    write(side, "temperature", "0")
    await shown.rest()
    below = "  model:  # the fast one\n    model: lab/some model\n    seed: 1\n    temperature: 0\n"
    assert shown.agents.text == MINE + below


@pytest.mark.spec("R-MOD-1", "R-MOD-2")
def test_the_model_is_chosen_from_the_list_and_what_it_does_not_take_is_said(theme, qtbot) -> None:
    models = SampleSetup()
    models.more = (replace(LISTED[0], takes=ModelTraits({"seed": False}, ("low", "high"))),)
    form = AgentForm(models)
    qtbot.addWidget(form)
    told = []
    form.changed.connect(lambda path, value: told.append((path, value)))

    def load(model) -> None:
        form.load({"sideA": {"model": model}}, (), {}, {}, writable=True)

    side = form.sides[0]
    load(None)
    assert side.models.model.accessibleName() == "Side A: model: The chat's model"
    side.models.model._take("mistral/mistral-large")
    assert told == [(("sideA", "model"), "mistral/mistral-large")]
    load({"model": "mistral/mistral-large", "seed": 7, "effort": "medium"})
    assert side.models.model.accessibleName() == "Side A: model: mistral-large, mistral"
    assert said_at(side, "seed") == "This model does not take it: left out."
    assert said_at(side, "effort") == "This model has low, high."
    side.models.model._take("")
    assert told[-1] == (("sideA", "model", "model"), None)
    load({"model": "gone/m"})
    assert "not available now" in side.models.model.accessibleName()
