"""The one reader of settings, and how they stand over each other."""

import math
from typing import Any

import pytest

from desktop.domain.errors import ConfigurationError
from desktop.domain.model_settings import (
    EFFORTS,
    UNSAID,
    ModelSettings,
    ModelTraits,
    correction_in,
    read_settings,
    settings_from,
)


@pytest.mark.spec("R-MOD-1")
def test_settings_are_read_in_every_spelling():
    given = {"temperature": 1, "topP": 0.5, "top_k": 3, "maxTokens": 10, "seed": -1, "stop": "END", "effort": "max"}
    assert read_settings({**given, "region": "eu-central-1", "maxTurns": 3, "model": "a/b", "memory": {}}) == (
        ModelSettings(1.0, 0.5, 3, 10, -1, ("END",), "max", "eu-central-1"),
        (),
    )
    assert read_settings({"stop": ["a", "b"], "reasoning_effort": "low", "seed": None})[0] == ModelSettings(
        stop=("a", "b"), effort="low"
    )


WRONG: dict[str, list[Any]] = {
    "temperature": ["hot", True, -0.1, 2.1, math.nan, math.inf, [], {}, "0.5"],
    "top_p": [-1, 1.01, "0.5", False],
    "topK": [0, -1, 1.5, True, "3", 10**12],
    "max_tokens": [0, 1.0, "100", True, 10**9],
    "seed": [1.5, "7", True, 2**63],
    "stop": ["", [], [""], [1], {}, 3, ["x"] * 17, "y" * 201],
    "effort": ["hot", "High", False, 3, ["low"], ""],
    "region": ["", "EU", "a/b", "evil.example", "eu-central-1/", "-a", "a-", "a" * 41, 3, "eu central", "eu\n"],
}


@pytest.mark.parametrize(("key", "value"), [(key, value) for key, values in WRONG.items() for value in values])
@pytest.mark.spec("R-MOD-1")
def test_a_wrong_value_is_named_with_its_key_and_what_would_fit(key: str, value: Any):
    settings, wrong = read_settings({key: value})
    assert settings == UNSAID
    assert [(one.key, one.text.startswith(f"{key} has to be ")) for one in wrong] == [(key, True)]


@pytest.mark.spec("R-MOD-1")
def test_all_wrong_values_are_named_at_once_with_where_they_stand():
    with pytest.raises(ConfigurationError) as caught:
        settings_from({"temperature": "hot", "seed": "x", "effort": "low"}, "the skill s, /s.skill.md:4", "model.")
    assert str(caught.value) == (
        "model.temperature has to be a number from 0 to 2, not 'hot'; model.seed has to be a whole number, not 'x' "
        "(the skill s, /s.skill.md:4)."
    )


def test_a_setting_that_is_said_twice_is_wrong():
    assert [one.key for one in read_settings({"top_p": 0.1, "topP": 0.2})[1]] == ["topP"]


def test_what_is_said_above_holds_and_what_it_leaves_open_comes_from_below():
    above, below = ModelSettings(temperature=0.0, effort="low"), ModelSettings(temperature=1.0, seed=3)
    assert above.over(below) == ModelSettings(temperature=0.0, seed=3, effort="low")
    assert UNSAID.over(below) == below


def test_settings_are_the_same_read_back_from_plain_data():
    whole = ModelSettings(0.0, 0.5, 3, 10, 0, ("a", "b"), EFFORTS[0], "eu-west-1")
    assert read_settings(whole.plain()) == (whole, ())
    assert UNSAID.plain() == {}


def test_what_a_person_knows_of_a_model_stands_over_what_a_server_says():
    person, server = ModelTraits({"seed": True}, (), None), ModelTraits({"seed": False, "stop": True}, ("low",), True)
    assert person.over(server) == ModelTraits({"seed": True, "stop": True}, (), True)


@pytest.mark.spec("R-MOD-1")
def test_what_a_person_corrects_of_a_model_is_read_from_a_line() -> None:
    line = "lab/some/model effort=high,low temperature=no topP=yes schema=no"
    traits = ModelTraits({"effort": True, "temperature": False, "top_p": True}, ("low", "high"), False)
    assert correction_in(line) == ("lab/some/model", traits, "")
    assert correction_in("lab/m effort=no")[1] == ModelTraits({"effort": False}, (), None)
    assert correction_in("lab/m effort=yes")[1] == ModelTraits({"effort": True}, None, None)


@pytest.mark.parametrize(
    "line", ["lab/m", "m effort=no", "lab/m temprature=no", "lab/m seed", "lab/m seed=maybe", "lab/m effort=low,huge"]
)
def test_a_line_that_corrects_nothing_says_why(line: str) -> None:
    assert correction_in(line)[2]
