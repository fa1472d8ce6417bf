"""What a server may ask a person for, and what a person may answer: plain fields, checked, and never a password."""

from collections.abc import Callable
from typing import Any

import pytest

from desktop.domain.servers.questions import AskedField
from desktop.tools.mcp.asking.form import (
    CHOICES_MAX,
    FIELDS_MAX,
    MESSAGE_MAX,
    Refused,
    answers,
    checked,
    fields_of,
    page_of,
    refuse_secrets,
    typed,
    words_of,
)

pytestmark = pytest.mark.spec("R-MCP-4")


def form(*required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


def one(part: dict[str, Any], name: str = "answer", *, required: bool = True) -> AskedField:
    return fields_of(form(*([name] if required else []), **{name: part}))[0]


def test_each_plain_field_is_taken_with_its_title_bounds_and_choices() -> None:
    titled = [{"const": "q1", "title": "Quay 1"}, {"const": "q3", "title": "Quay 3"}]
    fields = fields_of(
        {
            **form(
                "name",
                name={"type": "string", "title": "Your name", "description": "As on the list", "minLength": 2},
                mail={"type": "string", "format": "email"},
                count={"type": "integer", "minimum": 1, "maximum": 5, "default": 2},
                depth={"type": "number"},
                stop={"type": "boolean", "default": True},
                quay={"type": "string", "oneOf": titled, "default": "q3"},
                plain={"type": "string", "enum": ["low", "high"]},
                old={"type": "string", "enum": ["a", "b"], "enumNames": ["First", "Second"]},
                days={"type": "array", "items": {"type": "string", "enum": ["mon", "tue"]}, "minItems": 1},
                boats={"type": "array", "items": {"anyOf": titled}, "default": ["q1"]},
            ),
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "Visit",
            "additionalProperties": False,
        }
    )
    assert [one.kind for one in fields] == [
        "text",
        "text",
        "integer",
        "number",
        "boolean",
        "one",
        "one",
        "one",
        "many",
        "many",
    ]
    name, mail, count, _, stop, quay, low, old, days, boats = fields
    assert (name.label, name.words, name.required, name.shortest) == ("Your name", "As on the list", True, 2)
    assert (mail.label, mail.format, mail.required) == ("mail", "email", False)
    assert (count.low, count.high, count.default) == (1, 5, 2)
    assert (stop.default, quay.default, boats.default) == (True, "q3", ["q1"])
    assert quay.choices == boats.choices == (("q1", "Quay 1"), ("q3", "Quay 3"))
    assert low.choices == (("low", "low"), ("high", "high"))
    assert old.choices == (("a", "First"), ("b", "Second"))
    assert (days.shortest, days.choices) == (1, (("mon", "mon"), ("tue", "tue")))


@pytest.mark.parametrize(
    "part",
    [
        {"type": "object", "properties": {}},
        {"type": "array", "items": {"type": "string"}},
        {"type": "array", "items": {"type": "object"}},
        {"type": "array"},
        {"type": ["string", "null"]},
        {"type": "null"},
        {"anyOf": [{"type": "string"}, {"type": "null"}]},
        {"$ref": "#/$defs/Name"},
        {"type": "string", "pattern": "(a+)+$"},
        {"type": "string", "format": "password"},
        {"type": "string", "format": "ipv4"},
        {"type": "string", "const": "yes"},
        {"type": "string", "enum": []},
        {"type": "string", "enum": [1, 2]},
        {"type": "string", "enum": ["a", "a"]},
        {"type": "string", "enum": ["pay", "pay\u200b"], "enumNames": ["Pay", "Pay\u200b"]},
        {"type": "string", "enum": ["a"], "enumNames": ["A", "B"]},
        {"type": "string", "enum": [str(at) for at in range(CHOICES_MAX + 1)]},
        {"type": "string", "enum": ["x" * 201]},
        {"type": "string", "oneOf": [{"const": "a", "title": "A", "format": "x"}]},
        {"type": "string", "minLength": 5, "maxLength": 2},
        {"type": "string", "maxLength": -1},
        {"type": "integer", "minimum": "1"},
        {"type": "number", "minimum": float("nan")},
        {"type": "number", "multipleOf": 2},
        {"type": "string", "title": "x" * 201},
        {"type": "string", "description": 7},
        "string",
        None,
    ],
)
def test_a_field_that_is_not_plain_is_refused(part: Any) -> None:
    with pytest.raises(Refused):
        fields_of(form(answer=part))


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("password", {"type": "string"}),
        ("passwd", {"type": "string"}),
        ("answer", {"type": "string", "title": "Your Password"}),
        ("apiKey", {"type": "string"}),
        ("api_key", {"type": "string"}),
        ("accessToken", {"type": "string"}),
        ("github-token", {"type": "string"}),
        ("clientSecret", {"type": "string"}),
        ("key", {"type": "string"}),
        ("pin", {"type": "integer"}),
        ("otp", {"type": "string"}),
        ("answer", {"type": "string", "title": "Seed phrase"}),
        ("answer", {"type": "string", "title": "Пароль"}),
        ("answer", {"type": "string", "title": "Ｐａｓｓｗｏｒｄ"}),
        ("answer", {"type": "string", "title": "Yоur раssword"}),
        ("answer", {"type": "string", "title": "Pass\u200bword"}),
        ("answer", {"type": "string", "title": "Sua senha"}),
        ("answer", {"type": "string", "title": "Wachtwoord"}),
        ("answer", {"type": "string", "title": "비밀번호"}),
        ("answer", {"type": "string", "title": "كلمة المرور"}),
        ("answer", {"type": "string", "description": "Enter the ｐａｓｓｐｈｒａｓｅ"}),
        ("answer", {"type": "string", "description": "Enter your passphrase here"}),
        ("answer", {"type": "string", "description": "Paste the API key of your account"}),
    ],
)
def test_a_field_that_asks_for_a_password_or_a_key_is_refused(name: str, part: dict[str, Any]) -> None:
    with pytest.raises(Refused, match="password or a key"):
        fields_of(form(**{name: part}))


@pytest.mark.parametrize(
    "message",
    [
        "Please type your password.",
        "Your pass phrase, please",
        "Pass\u200bword?",
        "P a s s w o r d:",
        "p.a.s.s.w.o.r.d",
        "Enter the ｐａｓｓｗｏｒｄ",
        "Yоur раssword",
        "Paste an API key of your account",
        "Your access token",
        "The PIN code of your card",
        "Your PIN?",
        "The recovery phrase of the wallet",
        "The one-time code that was sent to you",
        "Bitte das Passwort eingeben",
        "Votre mot de passe",
        "Введите пароль",
        "请输入密码",
        "パスワードを入力",
        "Enter your GitHub token",
        "Please paste the token from github.com/settings/tokens",
        "Enter a PIN",
        "What is your OTP?",
        "Enter the 2FA code",
        "Enter your OpenAI key",
        "Paste your license key here",
        "Enter the 6-digit code we sent you",
        "Enter your passw0rd",
        "Your p@$$word",
        "your pass\nword",
        "Ihr Paßwort",
        "Geben Sie Ihre PIN ein",
        "Podaj hasło",
        "Enter your seed words",
        "sudo pw",
    ],
)
def test_a_question_whose_own_words_ask_for_a_password_is_refused_where_something_can_be_typed(message: str) -> None:
    for part in ({"type": "string"}, {"type": "integer"}, {"type": "string", "format": "uri"}):
        with pytest.raises(Refused, match="Its question asks for what looks like a password or a key"):
            refuse_secrets(message, fields_of(form(answer=part)))
    for part in ({"type": "boolean"}, {"type": "string", "enum": ["a", "b"]}, {"type": "string", "format": "date"}):
        refuse_secrets(message, fields_of(form(answer=part)))


@pytest.mark.parametrize(
    "message",
    [
        "Which key of the table?",
        "How many tokens at most?",
        "The name of the ship",
        "A passenger's name",
        "Pin it where?",
        "Which secretary?",
        "Enter the issue key, such as ABC-12",
        "The token limit of an answer",
        "Name of the key in the JSON",
        "Which code of the country, two letters?",
        "Where does the pin go on the map?",
        "Which pass over the Alps?",
    ],
)
def test_an_ordinary_question_is_asked(message: str) -> None:
    fields = fields_of(form(answer={"type": "string"}))
    refuse_secrets(message, fields)
    assert fields[0].name == "answer"


@pytest.mark.parametrize("name", ["keyboard", "monkey", "passenger", "compass", "tokenizer", "spinner", "opinion"])
def test_words_that_only_look_alike_are_no_passwords(name: str) -> None:
    assert fields_of(form(**{name: {"type": "string"}}))[0].name == name


@pytest.mark.parametrize(
    "schema",
    [
        None,
        [],
        {"type": "array"},
        {"type": "object"},
        {"type": "object", "properties": []},
        {"type": "object", "properties": {}, "required": "name"},
        {"type": "object", "properties": {}, "required": ["name"]},
        {"type": "object", "properties": {}, "allOf": []},
        {"type": "object", "properties": {}, "additionalProperties": {"type": "string"}},
        {"type": "object", "properties": {str(at): {"type": "string"} for at in range(FIELDS_MAX + 1)}},
        {"type": "object", "properties": {"a\u202eb": {"type": "string"}}},
        {"type": "object", "properties": {" ": {"type": "string"}}},
        {"type": "object", "properties": {"x" * 101: {"type": "string"}}},
    ],
)
def test_a_form_that_is_none_or_is_too_large_is_refused(schema: Any) -> None:
    with pytest.raises(Refused):
        fields_of(schema)


def test_a_question_has_words_and_not_too_many() -> None:
    assert words_of("Which quay?\u202e\x1b[2J") == "Which quay?[2J"
    for bad in (None, "", "  ", 7, "x" * (MESSAGE_MAX + 1)):
        with pytest.raises(Refused):
            words_of(bad)


def test_only_a_plain_protected_address_may_be_opened() -> None:
    assert page_of("https://visits.example/confirm?x=1") == "https://visits.example/confirm?x=1"
    assert page_of("http://127.0.0.1:8000/x")
    for bad in (
        "http://visits.example/",
        "file:///etc/shadow",
        "javascript:alert(1)",
        "https://bank.example@evil.example/",
        "https://bаnk.example/",
        "https://visits.example/a b",
        "https://visits.example/\n",
        "https:///x",
        "https://evil.example\\.bank.example/",
        "https://bank%2eexample/",
        "https://bank.example;evil.example/",
        "https://visits.example/" + "x" * 2_000,
        "",
        None,
    ):
        with pytest.raises(Refused):
            page_of(bad)


DAY = {"type": "string", "format": "date"}


@pytest.mark.parametrize(
    ("part", "raw", "value"),
    [
        ({"type": "string"}, " as typed ", " as typed "),
        ({"type": "string", "format": "email"}, " ida@harbour.example ", "ida@harbour.example"),
        ({"type": "string", "format": "uri"}, "https://harbour.example/quay", "https://harbour.example/quay"),
        (DAY, "2026-04-01", "2026-04-01"),
        ({"type": "integer"}, "\u221212", -12),
        ({"type": "number"}, "0.5", 0.5),
    ],
)
def test_what_is_typed_becomes_the_value_of_its_kind(part: dict[str, Any], raw: str, value: object) -> None:
    assert typed(one(part), raw) == value


def test_a_moment_without_a_zone_is_one_of_this_computer() -> None:
    found = typed(one({"type": "string", "format": "date-time"}), "2026-04-01 14:30")
    assert isinstance(found, str)
    assert found.startswith("2026-04-01T14:30:00")
    assert found[-6] in "+-"
    assert typed(one({"type": "string", "format": "date-time"}), "2026-04-01T14:30:00Z") == "2026-04-01T14:30:00+00:00"


@pytest.mark.parametrize(
    ("part", "raw"),
    [
        ({"type": "string"}, ""),
        ({"type": "string", "minLength": 3}, "ab"),
        ({"type": "string", "maxLength": 3}, "abcd"),
        ({"type": "string"}, "a\u202eb"),
        ({"type": "string"}, "x" * 4_001),
        ({"type": "string", "format": "email"}, "quay office"),
        ({"type": "string", "format": "email"}, "a@b@c"),
        ({"type": "string", "format": "uri"}, "quay"),
        (DAY, "2026-02-30"),
        (DAY, "20260401"),
        (DAY, "1 April"),
        ({"type": "string", "format": "date-time"}, "2026-04-01 25:00"),
        ({"type": "integer"}, "1.5"),
        ({"type": "integer"}, "twelve"),
        ({"type": "integer", "minimum": 1}, "0"),
        ({"type": "number", "maximum": 1}, "1.1"),
        ({"type": "number"}, "nan"),
        ({"type": "number"}, "inf"),
    ],
)
def test_what_does_not_fit_is_said_in_a_sentence(part: dict[str, Any], raw: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        typed(one(part), raw)


def test_what_may_be_left_out_is_nothing_when_it_is_empty() -> None:
    assert typed(one({"type": "string"}, required=False), "  ") is None
    assert typed(one({"type": "integer"}, required=False), "") is None
    assert typed(one(DAY, required=False), " ") is None


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ({"type": "boolean"}, "yes"),
        ({"type": "integer"}, True),
        ({"type": "integer"}, 1.5),
        ({"type": "string"}, 5),
        ({"type": "string", "enum": ["a"]}, "b"),
        ({"type": "array", "items": {"enum": ["a", "b"]}}, ["a", "a"]),
        ({"type": "array", "items": {"enum": ["a", "b"]}}, ["c"]),
        ({"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 1}, []),
        ({"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 1}, ["a", "b"]),
    ],
)
def test_a_value_of_another_kind_is_never_sent(part: dict[str, Any], value: object) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        checked(one(part), value)


def test_an_answer_is_checked_as_a_whole() -> None:
    fields = fields_of(form("name", name={"type": "string"}, count={"type": "integer"}))
    assert answers(fields, {"name": "Ida", "count": 3}) == {"name": "Ida", "count": 3}
    bad: list[Callable[[], object]] = [
        lambda: answers(fields, {"count": 3}),
        lambda: answers(fields, {"name": "Ida", "other": 1}),
        lambda: answers(fields, {"name": 1}),
    ]
    for call in bad:
        with pytest.raises(ValueError, match=r"\w"):
            call()


def test_a_proposal_that_does_not_fit_is_left_out() -> None:
    assert one({"type": "integer", "maximum": 3, "default": 9}).default is None
    assert one({"type": "string", "enum": ["a"], "default": "z"}).default is None
