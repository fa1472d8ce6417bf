"""How the model of a skill answers, as fields of its form: each is written into the text, every other byte kept."""

import pytest

TEXT = """\
---
name: works
description: Works.
metadata:
  # who works on it
  model:
    maxTurns: 3  # enough
    topP: 0.5
---
Work.
"""


def write(form, name: str, text: str) -> None:
    field = form.settings.places[name].control
    field.setText(text)
    field.textEdited.emit(text)
    field.editingFinished.emit()


@pytest.mark.spec("R-MOD-1", "R-SK-11")
async def test_a_setting_is_written_beside_the_others_and_comments_stay(open_page, bench) -> None:
    bench.put("works.skill.md", TEXT)
    window = await open_page(bench)
    await window.edit("works", "form")
    form = window.skill.edit.form
    assert form.settings.places["top_p"].control.text() == "0.5"
    form.settings.fold.click()
    write(form, "temperature", "0.1")
    await window.bench.rest()
    write(form, "top_p", "0.4")
    await window.bench.rest()
    changed = TEXT.replace("topP: 0.5\n", "topP: 0.4\n    temperature: 0.1\n")
    assert bench.editor.text == changed
    write(form, "seed", "many")
    await window.bench.rest()
    assert "a whole number" in form.settings.places["seed"].control.accessibleDescription()
    write(form, "seed", "")
    await window.bench.rest()
    assert bench.editor.text == changed
