"""Models as rows to choose from: what is said of each, how they are found, and names that a server made to deceive."""

import pytest

from desktop.domain.model_settings import ModelTraits
from desktop.domain.models import ModelInfo, ModelRef
from desktop.presenter.common.model_rows import LIMIT, NAME, ModelRow, ModelRows, best_row, facts_words, price_words


def model(name: str, connection: str = "lab", **more) -> ModelInfo:
    return ModelInfo(ModelRef(connection, name), more.pop("title", name), **more)


def rows(*models: ModelInfo, text: str = "", **more) -> list[ModelRow]:
    found = list(ModelRows(models, {"lab": "Lab server", "work": "Anthropic, work key"}.get, **more).find(text))
    assert found[:-1] == [None] * (len(found) - 1), "at last the rows, before it nothing"
    return found[-1]


@pytest.mark.parametrize(
    ("prices", "locality", "said"),
    [
        ((2, 6), "provider", "$2 in, $6 out"),
        ((0.1, 0.3), "provider", "$0.10 in, $0.30 out"),
        ((1.25, 10), "provider", "$1.25 in, $10 out"),
        ((0.075, 0.3), "provider", "$0.075 in, $0.30 out"),
        ((1_000, 2_500), "provider", "$1,000 in, $2,500 out"),
        ((None, 6), "provider", "price unknown"),
        ((None, None), "provider", "price unknown"),
        ((1e300, 1), "provider", "price unknown"),
        ((float("inf"), 1), "provider", "price unknown"),
        ((0, 0), "local", ""),
        ((0, 0), "demo", ""),
    ],
)
def test_a_price_is_for_a_million_tokens_and_an_unknown_one_is_never_none(prices, locality, said) -> None:
    assert price_words(model("m", input_price=prices[0], output_price=prices[1], locality=locality)) == said


def test_what_a_model_can_is_words_and_what_is_not_known_is_left_out() -> None:
    thinks = ModelTraits({}, ("low", "high"))
    able = model("m", vision=True, tools=True, hearing=True, context_window=131_072, takes=thinks)
    assert facts_words(able) == "pictures, sounds, tools, thinking, 131k"
    assert facts_words(model("m")) == ""
    assert facts_words(model("m", tools=False, vision=False, takes=ModelTraits({}, ()))) == "no tools"
    assert facts_words(model("m", input_price=0, output_price=0, locality="local", tools=True)) == "no charge, tools"
    assert facts_words(model("demo", input_price=0, output_price=0, locality="demo")) == "not an AI"


def test_models_stand_under_their_connections_and_one_that_is_too_small_says_so() -> None:
    found = rows(
        model("a", context_window=32_000),
        model("b", context_window=200_000),
        model("c", "work"),
        used=lambda _ref: 44_600,
    )
    assert [row.heading or row.name for row in found] == ["Lab server", "a", "b", "Anthropic, work key", "c"]
    assert [row.warning for row in found if row.can] == ["too small: chat has 44.6k", "", ""]
    assert found[1].said == "a, price unknown, 32.0k, too small: chat has 44.6k"


def test_every_word_has_to_be_in_the_name_the_connection_or_what_it_can() -> None:
    models = (model("mistral-large", vision=True), model("mistral-small"), model("sonnet", "work", vision=True))
    names = {
        text: [row.name for row in rows(*models, text=text) if row.can]
        for text in ("mistral", "LARGE mis", "work", "pictures", "lab pictures", "nothing", "  ")
    }
    assert names == {
        "mistral": ["mistral-large", "mistral-small"],
        "LARGE mis": ["mistral-large"],
        "work": ["sonnet"],
        "pictures": ["mistral-large", "sonnet"],
        "lab pictures": ["mistral-large"],
        "nothing": [],
        "  ": ["mistral-large", "mistral-small", "sonnet"],
    }
    assert rows(*models, text="nothing") == []


def test_a_chosen_model_that_is_in_no_list_stays_and_says_so() -> None:
    found = rows(model("a"), current="gone/some/model")
    assert [(row.heading, row.name, row.warning) for row in found[:2]] == [
        ("Chosen", "", ""),
        ("", "some/model", "not available now"),
    ]
    assert found[1].ref == "gone/some/model"
    assert ModelRows((), str, current="gone/m").empty is False
    assert ModelRows((), str).empty is True


def test_the_mark_stands_on_the_model_in_use_and_then_on_what_is_called_so() -> None:
    models = [model(name) for name in ("gpt-4o-mini", "big-gpt-4o", "gpt-4o")]
    found = rows(*models)
    assert found[best_row(found, "", "lab/big-gpt-4o")].name == "big-gpt-4o"
    assert found[best_row(found, "", "lab/other")].name == "gpt-4o-mini"
    assert found[best_row(found, "GPT-4o ", "")].name == "gpt-4o"
    assert found[best_row(found, "big", "")].name == "big-gpt-4o"
    assert best_row([ModelRow(heading="x")], "", "") == -1


def test_names_made_to_deceive_are_shown_for_what_they_are() -> None:
    strange = "safe\u202egnihton\u2066<b>bold</b>\n\x1b[2J" + "x" * 5_000
    found = rows(model(strange, title=strange))[1]
    assert found.name.startswith("safe\\u{202e}gnihton\\u{2066}<b>bold</b>\\n\\e[2J")
    assert len(found.name) <= NAME * 8
    assert found.name.endswith("…")
    assert found.ref == f"lab/{strange}"


def test_of_ten_thousand_models_some_are_shown_the_others_are_found_and_work_goes_on_in_between() -> None:
    many = [model(f"model-{n}") for n in range(10_000)]
    source = ModelRows(many, lambda _: "Lab server")
    steps = list(source.find(""))
    assert len(steps) > 40, "it lets other work in"
    assert (sum(row.can for row in steps[-1]), steps[-1][-1].note) == (LIMIT, "9,600 more: type a part of the name")
    assert [row.name for row in list(source.find("model-9999"))[-1] if row.can] == ["model-9999"]


def test_a_choice_that_is_no_model_stands_first() -> None:
    found = rows(model("a"), first=("", "The model of the chat"))
    assert next((row.can, row.ref, row.name) for row in found) == (True, "", "The model of the chat")
    assert rows(model("a"), first=("", "The model of the chat"), text="zzz") == []
