"""The settings of a model as fields: what is read of each, what is wrong with it, and what a model does not take."""

import pytest

from desktop.domain.model_settings import ModelTraits, read_settings
from desktop.presenter.common.setting_fields import (
    FIELDS,
    not_taken,
    settings_words,
    spelled,
    text_of,
    value_in,
    wrong_in,
)


@pytest.mark.spec("R-MOD-1")
@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("temperature", "0.2", 0.2),
        ("temperature", " 0,5 ", 0.5),
        ("temperature", "1e-1", 0.1),
        ("top_p", "1", 1),
        ("max_tokens", "2 000", 2_000),
        ("max_tokens", "2_000", 2_000),
        ("seed", "-7", -7),
        ("effort", "low", "low"),
        ("region", "eu-central-1", "eu-central-1"),
        ("stop", "END\n\nthe\\nend\\\\n", ["END", "the\nend\\n"]),
        ("stop", " leading blank", [" leading blank"]),
        ("seed", "   ", None),
        ("stop", "\n \n", None),
    ],
)
def test_what_a_person_writes_is_read_as_they_mean_it(name, text, value) -> None:
    assert value_in(name, text) == (value, "")
    assert value is None or read_settings({name: value})[1] == ()


@pytest.mark.spec("R-MOD-1")
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("temperature", "hot"),
        ("temperature", "2.1"),
        ("temperature", "-0.1"),
        ("temperature", "NaN"),
        ("temperature", "Infinity"),
        ("temperature", "true"),
        ("temperature", "1,000.5"),
        ("top_p", "1.5"),
        ("max_tokens", "0"),
        ("max_tokens", "1.5"),
        ("max_tokens", "99999999999"),
        ("max_tokens", "9" * 5_000),
        ("seed", "9" * 30),
        ("seed", "0x10"),
        ("seed", "[" * 3_000),
        ("effort", "enormous"),
        ("region", "EU West"),
        ("region", "../../etc"),
        ("stop", "x" * 300),
        ("stop", "\n".join("abcdefghijklmnopqrstuvwxyz")),
    ],
)
def test_a_wrong_value_is_named_and_kept_as_it_was_written(name, text) -> None:
    value, wrong = value_in(name, text)
    assert wrong.startswith("This has to be ")
    assert read_settings({name: value})[1], "whoever reads it says so, too"


@pytest.mark.parametrize("field", FIELDS, ids=[field.name for field in FIELDS])
def test_a_field_shows_what_it_reads(field) -> None:
    values = {"temperature": 0.2, "top_p": 1.0, "max_tokens": 7, "seed": -1, "effort": "low", "region": "eu-west-1"}
    value = values.get(field.name, ["END", "a\nb\\n\tc"])
    assert value_in(field.name, text_of(field.name, value))[0] == value
    assert text_of(field.name, None) == ""
    assert text_of("temperature", {"odd": [1]}) == '{"odd": [1]}'


def test_a_file_keeps_its_own_spelling() -> None:
    assert spelled({"top_p": 1}, "top_p") == "top_p"
    assert spelled({}, "top_p") == "topP"
    assert spelled({"reasoning_effort": "low"}, "effort") == "reasoning_effort"


def test_what_the_chosen_model_does_not_take_is_said() -> None:
    takes = ModelTraits({"temperature": False, "seed": True}, ("low", "high"))
    assert not_taken(takes, "temperature", 1.0) == "This model does not take it: left out."
    assert not_taken(takes, "seed", 1) == ""
    assert not_taken(takes, "top_p", 1) == "", "nothing is known"
    assert not_taken(takes, "effort", "medium") == "This model has low, high."
    assert not_taken(takes, "effort", "low") == ""
    assert not_taken(ModelTraits({}, ()), "effort", "low") == "This model does not think: left out."


def test_what_is_said_stands_in_a_line() -> None:
    said = settings_words({"temperature": 0.2, "stop": ["END" * 20, "x"], "maxTokens": 5, "model": "lab/m"})
    assert said == f"temperature 0.2, longest answer 5, stop at {'END' * 8}…"
    assert settings_words({"model": "lab/m", "maxTurns": 3}) == ""


def test_problems_stand_at_the_settings_whatever_they_are_spelled_as() -> None:
    assert wrong_in({"topP": "no", "seed": "", "agent": "no"}) == {"top_p": "no"}
